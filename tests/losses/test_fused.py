"""The fused losses say what the loss objects say, to rounding, everywhere."""

import numpy as np
import pytest

from bblr.losses import LOSSES, BetaBernoulli, Sigmoid
from bblr.losses.fused import (
    fisher_weights,
    positive_weights,
    value_residual,
)

FUSED = [loss.sharpened(g) for loss in LOSSES.values() if loss.fused for g in (0.3, 1.0, 20.0)]
FUSED += [
    BetaBernoulli.binary(a, b, gamma)
    for a, b in [(0.0, 1.0), (0.0, 0.7), (0.25, 0.75), (0.05, 0.6), (1e-9, 0.5), (0.1, 0.9)]
    for gamma in (1.0, 64.0)
]
EXTREMES = np.array([0.0, -0.0, 1e-300, -1e-300, 30.0, -30.0, 36.9, -745.0, 745.0, 1e9, -1e9])


def by_name(loss):
    return repr(loss)


def scores(rng, n=200):
    return np.concatenate([rng.normal(size=n), 40 * rng.normal(size=n), EXTREMES])


@pytest.fixture
def rows(rng):
    raw = scores(rng)
    return raw, rng.choice([-1.0, 1.0], len(raw)), rng.uniform(0.1, 3.0, len(raw))


@pytest.fixture
def rng():
    return np.random.default_rng(5)


@pytest.mark.parametrize("loss", FUSED, ids=by_name)
def test_each_row_equals_the_loss(loss, rows):
    for raw, y, weight in zip(*rows, strict=True):
        for label in (y, -y):
            out = np.empty(1)
            value = value_residual(
                loss.fused, np.array([raw]), np.array([label]), np.array([weight]), out
            )
            expected, slope = loss.value_gradient(label, raw)
            assert value == pytest.approx(weight * expected, rel=1e-13, abs=1e-15)
            assert out[0] == pytest.approx(weight * slope, rel=1e-12, abs=1e-290)


@pytest.mark.parametrize("loss", FUSED, ids=by_name)
@pytest.mark.parametrize("n", [1, 7, 211])
def test_sum_over_rows_equals_the_loss(loss, n, rows):
    raw, y, weight = (own[:n] for own in rows)
    out = np.full(n + 1, np.nan)
    value = value_residual(loss.fused, raw, y, weight, out)
    expected, slope = loss.value_gradient(y, raw)
    assert value == pytest.approx(float(expected @ weight), rel=1e-13)
    np.testing.assert_allclose(out[:n], weight * slope, rtol=1e-12, atol=1e-290)
    assert np.isnan(out[n])


@pytest.mark.parametrize("loss", FUSED, ids=by_name)
def test_zero_weight_is_exactly_nothing(loss, rows):
    raw, y, _ = rows
    out = np.empty(len(raw))
    assert value_residual(loss.fused, raw, y, np.zeros(len(raw)), out) == 0.0
    assert np.all(out == 0.0)


@pytest.mark.parametrize("loss", FUSED, ids=by_name)
def test_fisher_weights_equal_the_curvature(loss, rows):
    raw, _, weight = rows
    out = np.empty(len(raw))
    fisher_weights(loss.fused, raw, weight, out)
    np.testing.assert_allclose(out, weight * loss.curvature(raw), rtol=1e-12, atol=1e-290)


@pytest.mark.parametrize("loss", FUSED, ids=by_name)
def test_no_curvature_is_so_small_that_arithmetic_slows_down(loss):
    raw = np.linspace(-1_000.0, 1_000.0, 20_001) / loss.fused.gamma
    y, weight, out = np.where(np.arange(len(raw)) % 2, 1.0, -1.0), np.ones(len(raw)), raw.copy()
    tiny = np.finfo(np.float64).tiny
    fisher_weights(loss.fused, raw, weight, out)
    assert not np.any((out != 0.0) & (np.abs(out) < tiny))
    positive_weights(loss.fused, raw, y, weight, out)
    assert not np.any((out != 0.0) & (np.abs(out) < tiny))


@pytest.mark.parametrize("loss", FUSED, ids=by_name)
def test_positive_weights_lie_between_what_is_expected_and_what_is_there(loss, rows):
    """Mostly the second derivative; where that is negative, a share of the Fisher information."""
    raw, y, weight = rows
    raw = np.clip(raw, -30.0, 30.0)
    out = np.empty(len(raw))
    positive_weights(loss.fused, raw, y, weight, out)
    h = 1e-5
    second = (loss.value_gradient(y, raw + h)[1] - loss.value_gradient(y, raw - h)[1]) / (2 * h)
    expected = loss.curvature(raw)
    if loss.name != "sigmoid":
        expected = 0.3 * expected + 0.7 * np.maximum(second, 0.0)
    np.testing.assert_allclose(out, weight * expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "loss", [BetaBernoulli.binary(0, 1, 2), Sigmoid(2), LOSSES["logistic"]], ids=by_name
)
def test_fused_parameters_are_floats(loss):
    # An integer among them would compile every kernel once more.
    assert [type(field) for field in loss.fused[1:]] == [float] * 4
