"""Compiled sums over many classes agree with the loss that they are written for."""

import numpy as np
import pytest
from scipy import sparse

from bblr.designs import make_design
from bblr.designs.rows import Rows
from bblr.losses import BetaBernoulli

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
    loss = BetaBernoulli(low, gamma)
    found = Rows().fisher(loss, raw, weight)
    expected = weight[:, None] * loss.curvature(raw)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-13 * expected.max())
    assert found.min() >= 0


# Five columns: several blocks of a dense table, and several groups of sparse rows.
@pytest.mark.parametrize("convert", [np.ascontiguousarray, np.asfortranarray, sparse.csr_array])
@pytest.mark.parametrize("gamma", [1e-3, 1.0, 40.0])
def test_passes(low, gamma, convert):
    rng = np.random.default_rng(0)
    n, classes = 2500, len(low)
    X, y = rng.standard_normal((n, 5)), rng.integers(0, classes, n)
    coef, intercepts = rng.standard_normal((classes, 5)), rng.standard_normal(classes)
    weight, loss = rng.random(n), BetaBernoulli(low, gamma)
    done = make_design(convert(X)).many_value_gradient(coef, intercepts, y, weight, loss)
    raw = X @ coef.T + intercepts
    values, slopes = loss.value_gradient(y, raw)
    value, residual = values @ weight, weight[:, None] * slopes
    np.testing.assert_allclose(done.raw, raw, rtol=1e-10, atol=1e-12)
    assert done.value == pytest.approx(value, rel=1e-10)
    np.testing.assert_allclose(done.gradient, residual.T @ X, rtol=1e-7, atol=1e-10 * value)
    np.testing.assert_allclose(done.slopes, residual.sum(axis=0), rtol=1e-7, atol=1e-10 * value)
