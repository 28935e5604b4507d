"""The compiled loss of many classes agrees with the one that it is written for."""

import numpy as np
import pytest
from scipy import sparse

from bblr.designs import make_design
from bblr.losses import BetaBernoulli, Plateaus
from bblr.losses.fused_softmax import softmax_residual

LOWS = {
    "even": (0.02,) * 10,
    "none": (0.0,) * 10,
    "uneven": (0.3, 0.0, 0.1, 0.05),
    "more than a block": (0.001,) * 70,
}


@pytest.fixture(params=LOWS.values(), ids=LOWS)
def low(request):
    return request.param


@pytest.mark.parametrize("gamma", [1e-3, 1.0, 40.0])
@pytest.mark.parametrize("n", [1, 7, 500])
def test_fisher_information(low, gamma, n):
    rng = np.random.default_rng(n)
    raw, weight = 4.0 * rng.standard_normal((n, len(low))), rng.random(n)
    loss = BetaBernoulli(Plateaus(low), gamma)
    found = loss.fisher(raw, weight)
    expected = weight[:, None] * loss.curvature(raw)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-13 * expected.max())
    assert found.min() >= 0


@pytest.mark.parametrize("gamma", [1e-3, 1.0, 40.0])
@pytest.mark.parametrize("n", [1, 7, 500])
def test_value_and_residual(low, gamma, n):
    rng = np.random.default_rng(n)
    raw, weight = 4.0 * rng.standard_normal((n, len(low))), rng.random(n)
    y, loss = rng.integers(0, len(low), n), BetaBernoulli(Plateaus(low), gamma)
    residual = np.empty_like(raw)
    value = softmax_residual(loss.fused, raw, y, weight, residual)
    expected, slope = loss.value_gradient(y, raw)
    assert value == pytest.approx(expected @ weight, rel=1e-12)
    np.testing.assert_allclose(residual, weight[:, None] * slope, rtol=1e-9, atol=1e-13 * gamma)


# Five columns: several blocks of a dense table, and several groups of sparse rows.
@pytest.mark.parametrize("convert", [np.ascontiguousarray, np.asfortranarray, sparse.csr_array])
def test_passes_over_several_blocks(low, convert):
    rng = np.random.default_rng(0)
    n, classes = 2500, len(low)
    X, y = rng.standard_normal((n, 5)), rng.integers(0, classes, n)
    coef, intercepts = rng.standard_normal((classes, 5)), rng.standard_normal(classes)
    weight, loss = rng.random(n), BetaBernoulli(Plateaus(low), 1.5)
    done = make_design(convert(X)).value_gradient(coef, intercepts, y, weight, loss)
    raw = X @ coef.T + intercepts
    values, slopes = loss.value_gradient(y, raw)
    value, residual = values @ weight, weight[:, None] * slopes
    np.testing.assert_allclose(done.raw, raw, rtol=1e-10, atol=1e-12)
    assert done.value == pytest.approx(value, rel=1e-10)
    np.testing.assert_allclose(done.gradient, residual.T @ X, rtol=1e-7, atol=1e-10 * value)
    np.testing.assert_allclose(done.slopes, residual.sum(axis=0), rtol=1e-7, atol=1e-10 * value)
