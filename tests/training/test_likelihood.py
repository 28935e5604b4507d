"""The compiled likelihood of a link, and the rates of stray labels."""

import numpy as np
import pytest

from bblr.training.compiled.link_likelihood import _penalised, likeliest, plateaus_of
from bblr.training.compiled.settling import stray_share


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
    data = _problem(seed, 200)
    nowhere = np.full(3, np.nan)
    found, value = likeliest(np.array([-1.0, -1.0, 0.5]), *data, nowhere)
    assert value <= _value(np.array([-1.0, -1.0, 0.5]), data)
    # A plateau may end next to 1/2, where it is held.
    np.testing.assert_allclose(_slope(found, data), 0.0, atol=1e-5)


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
