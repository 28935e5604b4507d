"""The compiled likelihood of a link, and the rates of stray labels."""

import numpy as np
import pytest

from bblr.losses import Plateaus
from bblr.losses.fused import FusedLoss, fisher_weights, value_residual
from bblr.training.compiled.link_likelihood import (
    _penalised,
    likeliest_link,
    plateaus_of,
)
from bblr.training.compiled.settling import alone_scores, stray_share
from bblr.training.link import Link


def _problem(seed, n=60):
    rng = np.random.default_rng(seed)
    return rng.normal(size=n), np.where(rng.random(n) < 0.5, 1.0, -1.0), rng.random(n)


def _value(free, data):
    return _penalised(free, *data, np.empty(3), np.empty((3, 3)))


def _slope(free, data):
    slope = np.empty(3)
    _penalised(free, *data, slope, np.empty((3, 3)))
    return slope


@pytest.mark.parametrize("seed", range(5))
def test_gradient_and_hessian_by_finite_differences(seed):
    data = _problem(seed)
    free = np.random.default_rng(100 + seed).normal(size=3)
    slope, bend = np.empty(3), np.empty((3, 3))
    _penalised(free, *data, slope, bend)
    steps = 1e-5 * np.eye(3)
    np.testing.assert_allclose(
        slope, [(_value(free + e, data) - _value(free - e, data)) / 2e-5 for e in steps], atol=1e-6
    )
    np.testing.assert_allclose(
        bend, [(_slope(free + e, data) - _slope(free - e, data)) / 2e-5 for e in steps], atol=1e-5
    )


@pytest.mark.parametrize("seed", range(5))
def test_descent_ends_where_the_gradient_is_zero(seed):
    decision, y, weight = _problem(seed, 200)
    scale = np.sqrt(np.average(decision**2, weights=weight))
    low, high, gamma, cost = likeliest_link(decision, y, weight)
    shares = 2.0 * low, 2.0 * (1.0 - high)
    free = np.array([*(np.log(share / (1.0 - share)) for share in shares), np.log(gamma * scale)])
    data = decision / scale, y, weight
    assert _value(free, data) <= _value(np.array([-1.0, -1.0, 0.5]), data)
    # A plateau may end next to 1/2, where it is held.
    np.testing.assert_allclose(_slope(free, data), 0.0, atol=1e-5)
    p = Link(Plateaus.binary(low, high - low), gamma).probability(decision)
    assert cost == pytest.approx(-weight @ np.log(np.where(y > 0, p, 1.0 - p)), rel=1e-9)


def test_plateaus_lie_on_either_side_of_one_half():
    for free in ([-99.0, 99.0, 0.0], [99.0, -99.0, 0.0], [0.0, 0.0, 0.0]):
        low, high = plateaus_of(np.array(free))
        assert 0 < low < 0.5 < high < 1


@pytest.mark.parametrize("rates", [(0.05, 0.2), (0.1, 0.02, 0.15)])
def test_stray_labels_are_counted_class_by_class(rates):
    rng = np.random.default_rng(0)
    rates, n = np.array(rates), 200_000
    shares = rng.dirichlet(np.full(len(rates), 0.3), n)
    stray = rng.random(n) < rates.sum()
    labels = np.where(
        stray,
        rng.choice(len(rates), n, p=rates / rates.sum()),
        (shares.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1),
    )
    own = shares[np.arange(n), labels]
    first = np.full(len(rates), 0.4 / len(rates))
    ones, none = np.ones(n), np.zeros(len(rates))
    found = stray_share(own, labels, ones, first, none, float(n), 0.6, 500)
    np.testing.assert_allclose(found, rates, atol=0.01)
    # As heavy as two of each row.
    both = stray_share(own, labels, 2 * ones, first, none, 2.0 * n, 0.6, 500)
    np.testing.assert_allclose(both, found, rtol=1e-9)


@pytest.mark.parametrize("size", [1, 4, 6, 9])
def test_scores_alone_are_those_of_a_covariance_written_out(size):
    rng, n, l2 = np.random.default_rng(size), 600, 0.7
    Zt = np.vstack([rng.normal(size=(size - 1, n)), np.ones(n)])
    raw, weight, y = 0.5 * Zt.sum(axis=0), rng.random(n), np.sign(rng.normal(size=n))
    fused = FusedLoss(0, 1.0, 0.05, 0.1, 0.85)
    unit, slope, curvature = np.minimum(weight, 0.5), np.empty(n), np.empty(n)
    fisher_weights(fused, raw, np.ones(n), curvature)
    value_residual(fused, raw, y, np.ones(n), slope)
    floor = np.full(size, 1e-9 * weight.sum())
    floor[:-1] += l2
    covariance = np.linalg.inv((Zt * (weight * curvature)) @ Zt.T + np.diag(floor))
    h = unit * np.einsum("ji,jk,ki->i", Zt, covariance, Zt)
    total = float(weight.sum())
    alone, settled = alone_scores(Zt, raw, y, weight, unit, fused, l2, size - 1, total, 0.1)
    expected = raw + h * slope / np.maximum(1.0 - h * curvature, 0.1)
    np.testing.assert_allclose(alone, expected, rtol=1e-9, atol=1e-12)
    assert settled == pytest.approx(float((1.0 - l2 * np.diag(covariance)[:-1]).sum()))
