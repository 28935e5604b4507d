"""Every loss, on every backend that knows it, for any number of scores."""

import numpy as np
import pytest
from scipy import sparse

from bblr.designs import DenseDesign, SparseDesign, columns
from bblr.losses import BetaBernoulli, Loss
from bblr.losses.fused import EXPECTED
from tests.losses.cases import EVERY, named, rows

try:
    import torch

    from bblr.losses import torch_forms
except ModuleNotFoundError:  # PyTorch is optional
    torch = None

STEPS = np.linspace(-2.0, 2.0, 9)
GRIDS = {"even": STEPS, "uneven": STEPS**3, "one": STEPS[:1]}
DESIGNS = {
    "dense": DenseDesign,
    "column-major": lambda X: DenseDesign(np.asfortranarray(X)),
    "sparse": lambda X: SparseDesign(sparse.csr_array(X)),
}


@pytest.fixture(params=EVERY, ids=named)
def loss(request):
    return request.param


def close(found, expected, rtol=1e-10):
    expected = np.asarray(expected)
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=rtol * np.abs(expected).max())


def tensors(*arrays):
    if torch is None:
        pytest.skip("PyTorch is not installed")
    return [torch.from_numpy(np.ascontiguousarray(array)) for array in arrays]


def by_score(raw):
    return raw[:, None] if raw.ndim == 1 else raw


def moved(raw, k, change):
    raw = raw.copy()
    by_score(raw)[:, k] += change
    return raw


@pytest.mark.parametrize("seed", range(3))
def test_the_gradient_is_the_slope_of_the_value(loss, seed):
    y, raw, _ = rows(loss, seed=seed)
    value, gradient = loss.value_gradient(y, raw)
    np.testing.assert_array_equal(value, loss.value(y, raw))
    step = 1e-6
    for k in range(loss.n_scores):
        up, down = (loss.value(y, moved(raw, k, s)) for s in (step, -step))
        slope = (up - down) / (2 * step)
        reach = 1e-9 * (1 + np.abs(value).max()) * getattr(loss, "gamma", 1.0) / step * 1e-3
        np.testing.assert_allclose(by_score(gradient)[:, k], slope, rtol=1e-5, atol=reach)


@pytest.mark.parametrize("loss", [loss for loss in EVERY if loss.has_probability], ids=named)
def test_the_curvature_is_the_expected_square_of_the_gradient(loss):
    y, raw, _ = rows(loss)
    labels = range(loss.n_scores) if raw.ndim == 2 else (-1.0, 1.0)
    expected = 0.0
    for label in labels:
        value, gradient = loss.value_gradient(np.full(len(y), label), raw)
        chance = np.exp(-value)
        expected = expected + (chance if raw.ndim == 1 else chance[:, None]) * gradient**2
    np.testing.assert_allclose(loss.curvature(raw), expected, rtol=1e-9, atol=1e-14)


def test_curvatures_are_finite_and_never_negative(loss):
    y, raw, weight = rows(loss, scale=300.0)
    for found in (
        loss.curvature(raw),
        loss.fisher(raw, weight),
        loss.positive_curvature(y, raw, weight),
    ):
        assert found.shape == raw.shape
        assert np.all(np.isfinite(found)) and np.all(found >= 0)


def test_fisher_is_the_weighted_curvature(loss):
    _, raw, weight = rows(loss)
    close(by_score(loss.fisher(raw, weight)), weight[:, None] * by_score(loss.curvature(raw)))


def test_the_positive_curvature_is_mostly_the_second_derivative(loss):
    """Of Beta-Bernoulli losses of one score; where it is negative, and elsewhere, of Fisher's."""
    y, raw, weight = rows(loss)
    expected, step = loss.fisher(raw, weight), 1e-5
    if isinstance(loss, BetaBernoulli) and raw.ndim == 1:
        up, down = (loss.value_gradient(y, raw + s)[1] for s in (step, -step))
        second = weight * np.maximum((up - down) / (2 * step), 0.0)
        expected = EXPECTED * expected + (1 - EXPECTED) * second
    found = loss.positive_curvature(y, raw, weight)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize("scale", [1.0, 400.0])
def test_along_is_the_value_at_each_step(loss, grid, scale):
    y, raw, weight = rows(loss, scale=scale)
    change = np.random.default_rng(7).standard_t(2, size=len(y)) * scale
    for k in range(loss.n_scores):
        found = loss.along(y, raw, change, k, GRIDS[grid], weight)
        direct = [loss.value(y, moved(raw, k, s * change)) @ weight for s in GRIDS[grid]]
        plain = Loss.along(loss, y, raw, change, k, GRIDS[grid], weight)
        np.testing.assert_allclose(plain, direct, rtol=1e-12)
        np.testing.assert_allclose(found, direct, rtol=1e-10)


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("by_columns", [False, True])
def test_compiled_passes_agree(loss, design, by_columns, monkeypatch):
    """Scores and residuals of each row are read off a pass over the scores and an identity."""
    monkeypatch.setattr(columns, "_ENTRIES", 0 if by_columns else 10**9)
    for scale in (1.0, 100.0):
        y, raw, weight = rows(loss, scale=scale)
        n, K = len(y), loss.n_scores
        X = np.hstack([by_score(raw), np.eye(n)])
        coef = np.hstack([np.eye(K), np.zeros((K, n))])
        done = DESIGNS[design](X).value_gradient(coef, np.zeros(K), y, weight, loss)
        value, gradient = loss.value_gradient(y, raw)
        residual = weight[:, None] * by_score(gradient)
        assert done.value == pytest.approx(value @ weight, rel=1e-10, abs=1e-300)
        np.testing.assert_array_equal(done.raw, raw)
        close(done.gradient[:, K:], residual.T)
        close(done.gradient[:, :K], residual.T @ by_score(raw))
        close(done.slopes, residual.sum(axis=0))


@pytest.mark.parametrize("scale", [1.0, 100.0])
def test_tensors_agree(loss, scale):
    y, raw, weight = rows(loss, scale=scale)
    change = np.random.default_rng(7).normal(size=len(y))
    ty, traw, tweight, tchange = tensors(y, raw, weight, change)
    value, residual = torch_forms.value_residual(loss, ty, traw, tweight)
    expected, gradient = loss.value_gradient(y, raw)
    assert float(value) == pytest.approx(expected @ weight, rel=1e-10, abs=1e-300)
    close(by_score(residual.numpy()), weight[:, None] * by_score(gradient))
    on_tensors = torch_forms.on_tensors(loss)
    close(on_tensors.fisher(traw, tweight).numpy(), loss.fisher(raw, weight))
    np.testing.assert_array_equal(on_tensors.wrong(ty, traw).numpy(), loss.wrong(y, raw))
    np.testing.assert_array_equal(on_tensors.predicted(traw).numpy(), loss.predicted(raw))
    found = torch_forms.positive_curvature(loss, ty, traw, tweight).numpy()
    close(found, loss.positive_curvature(y, raw, weight))
    for k in range(loss.n_scores):
        for steps in GRIDS.values():
            found = on_tensors.along(ty, traw, tchange, k, steps, tweight).numpy()
            close(found, loss.along(y, raw, change, k, steps, weight))


def test_labels_and_shift_have_the_shape_of_the_scores(loss):
    y, raw, _ = rows(loss)
    assert len(loss.shift) == loss.n_scores
    assert loss.decision(raw).shape == raw.shape
    predicted = loss.predicted(raw)
    codes = y if raw.ndim == 2 else (y > 0).astype(int)
    assert predicted.min() >= 0 and predicted.max() < loss.n_classes
    np.testing.assert_array_equal(loss.wrong(y, raw), predicted != codes)
