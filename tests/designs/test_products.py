"""What designs of arrays and sparse matrices do with the memory they are given."""

import numpy as np
import pytest
from scipy import sparse

from bblr.designs import DenseDesign, SparseDesign, make_design
from bblr.losses import BetaBernoulli, Hinge, Logistic, Plateaus

COEF = np.array([[0.7, -1.1, 0.0, 0.03, -0.4]])
THREE = COEF * [[1.0], [0.0], [-2.0]]
NONE = np.zeros(1)


def close(found, expected, rtol=1e-11, reach=0.0):
    scale = max(np.max(np.abs(expected)), reach)
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=rtol * scale)


def test_make_design_chooses_by_storage(stored):
    design = make_design(stored)
    assert type(design) is (SparseDesign if sparse.issparse(stored) else DenseDesign)


def every_method(design, y, weight):
    codes, softmax = (y > 0).astype(np.intp), BetaBernoulli(Plateaus.weak(3))
    for loss in (Logistic(), Hinge()):
        design.value_gradient(COEF, NONE, y, weight, loss)
    design.value_gradient(THREE, np.zeros(3), codes, weight, softmax)
    zero, steps, loss = np.zeros(5), np.linspace(-1, 1, 9), BetaBernoulli.binary(0.1, 0.8)
    for raw, labels, used in (
        (design.scores(COEF, NONE), y, loss),
        (design.scores(THREE, np.zeros(3)), codes, softmax),
    ):
        before = raw.copy()
        design.probes(raw, [(3, 50.0, 0, steps)], labels, weight, used)
        design.shifted(raw, 3, 50.0, 0, 0.1), design.shifted(raw, 1, 0.0, 0, 0.1)
        design.axis_line(raw, 1, 0.0, 0, labels, weight)
        np.testing.assert_array_equal(raw, before)
    design.moments(weight)
    design.rmatvec(weight)
    design.square_norm(COEF[0], np.ones(5))
    design.curvature(np.arange(50), weight[:50], zero)
    design.column_squares(weight, zero)


def test_nothing_is_ever_written(stored, rows):
    arrays = (stored.data, stored.indices, stored.indptr) if sparse.issparse(stored) else (stored,)
    arrays = (*arrays, *rows, COEF)
    before = [array.copy() for array in arrays]
    every_method(make_design(stored), *rows)
    for array, copy in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(array, copy)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("writeable", [True, False])
def test_dense_memory_is_shared(X, order, writeable):
    X = np.array(X, order=order)
    X.flags.writeable = writeable
    assert np.shares_memory(DenseDesign(X).X, X)
    assert X.flags.writeable is writeable


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix])
def test_csr_memory_is_shared(X, kind):
    stored = kind(X)
    assert np.shares_memory(SparseDesign(stored)._arrays[0], stored.data)
    assert np.shares_memory(SparseDesign(stored)._arrays[1], stored.indices)


@pytest.mark.parametrize("order", ["C", "F"])
def test_memory_maps_stay_on_disk(tmp_path, X, rows, order):
    np.save(tmp_path / "X.npy", np.array(X, order=order))
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    design = DenseDesign(mapped)
    assert np.shares_memory(design.X, mapped)
    every_method(design, *rows)
    close(design.scores(COEF, NONE), X.astype(np.float64) @ COEF[0])


def test_the_view_keeps_its_memory_alive():
    X = np.arange(3e5).reshape(-1, 3)
    X.flags.writeable = False
    design, expected = DenseDesign(X), X.sum(axis=1)
    del X
    junk = [np.zeros((100_000, 3)) for _ in range(3)]
    np.testing.assert_array_equal(design.scores(np.ones((1, 3)), NONE), expected)
    assert len(junk) == 3


@pytest.mark.parametrize("shape", [(1, 1), (1, 4), (70, 1), (3, 2), (66, 3)])
@pytest.mark.parametrize("wrap", [np.asarray, np.asfortranarray, sparse.csr_array])
def test_small_shapes(shape, wrap):
    rng = np.random.default_rng(2)
    X, coef = rng.normal(size=shape), rng.normal(size=(3, shape[1]))
    y, weight = rng.choice([-1.0, 1.0], shape[0]), np.ones(shape[0])
    design, shift = make_design(wrap(X)), np.array([0.2, 0.0, -1.0])
    for used, labels, loss in (
        (coef[:1], y, Logistic()),
        (coef, rng.integers(0, 3, shape[0]), BetaBernoulli(Plateaus.weak(3))),
    ):
        done = design.value_gradient(used, shift[: len(used)], labels, weight, loss)
        raw = np.squeeze(X @ used.T + shift[: len(used)], axis=1 if len(used) == 1 else ())
        value, residual = loss.value_gradient(labels, raw)
        assert done.value == pytest.approx(value.sum(), rel=1e-12)
        close(done.gradient, np.atleast_2d(residual.T) @ X)


def test_duplicate_entries_of_a_sparse_matrix_add_up(rows):
    """CSR may hold an entry in several pieces, and scikit-learn lets that through."""
    data, indices = np.array([1.0, 2.0, 3.0, -4.0]), np.array([0, 0, 1, 1])
    X = sparse.csr_array((data, indices, np.array([0, 2, 3, 4])), shape=(3, 2))
    pieces, whole = SparseDesign(X), DenseDesign(X.toarray())
    one, y = np.ones(3), np.array([1.0, -1.0, 1.0])
    close(pieces.moments(one).variance, whole.moments(one).variance)
    zero = np.zeros(pieces.n_features)
    close(pieces.column_squares(one, zero), whole.column_squares(one, zero))
    steps = np.array([0.0, 1.0, 2.0])
    args = (np.zeros(3), [(0, 0.0, 0, steps)], y, one, Logistic())
    close(pieces.probes(*args), whole.probes(*args))
    assert X.nnz == 4


def test_stored_zeros_are_zeros():
    X = sparse.csr_array(
        (np.array([0.0, 2.0]), np.array([0, 0]), np.array([0, 1, 2])), shape=(2, 1)
    )
    assert SparseDesign(X).moments(np.ones(2)).nonzero == pytest.approx(0.5)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [3, 64, 65, 300, 2050])
def test_rows_of_any_length_give_the_products_of_numpy(d, dtype, order):
    """Row-major passes take one row at a time or four, by the length of the rows."""
    rng = np.random.default_rng(d)
    X = np.array(rng.normal(1.0, 2.0, size=(135, d)), dtype=dtype, order=order)
    X[rng.random(X.shape) < 0.1] = 0.0
    design, wide = DenseDesign(X), X.astype(np.float64)
    coef, y = rng.normal(size=(1, d)) / d, np.where(rng.random(135) < 0.5, 1.0, -1.0)
    weight, centre = rng.random(135), rng.normal(size=d)
    found = design.value_gradient(coef, NONE + 0.3, y, weight, Logistic())
    raw = wide @ coef[0] + 0.3
    value, residual = Logistic().value_gradient(y, raw)
    close(found.raw, raw)
    close(design.scores(coef, NONE + 0.3), raw)
    close(found.value, value @ weight)
    close(found.gradient[0], wide.T @ (residual * weight))
    close(design.rmatvec(weight), wide.T @ weight)
    close(design.column_squares(weight, centre), weight @ (wide - centre) ** 2)
    moments, mean = design.moments(weight), weight @ wide / weight.sum()
    close(moments.mean, mean)
    close(moments.variance, weight @ (wide - mean) ** 2 / weight.sum())
    close(moments.nonzero, weight @ (wide != 0.0) / weight.sum())
