"""Every design computes the plain formula, however the matrix is stored."""

import numpy as np
import pytest
from scipy import sparse

from bblr.designs import DenseDesign, SparseDesign, make_design
from bblr.losses import BetaBernoulli, Hinge, Logistic, Sigmoid

LOSSES = [
    Logistic(),
    BetaBernoulli.binary(0.05, 0.7, 3.0),
    BetaBernoulli.binary(0.0, 0.9),
    Sigmoid(4.0),
    Hinge(),
]
COEF = np.array([0.7, -1.1, 0.0, 0.03, -0.4])


def close(found, expected, rtol=1e-11, reach=0.0):
    scale = max(np.max(np.abs(expected)), reach)
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=rtol * scale)


def precision(stored):
    """Dense float32 matrices are multiplied in float32, everything else in float64."""
    return 1e-11 if sparse.issparse(stored) or stored.dtype == np.float64 else 3e-6


def test_make_design_chooses_by_storage(stored):
    design = make_design(stored)
    assert type(design) is (SparseDesign if sparse.issparse(stored) else DenseDesign)
    assert (design.n_rows, design.n_features) == stored.shape


def test_scores_and_pull(X, stored, rows, threaded):
    X, design = X.astype(np.float64), make_design(stored)
    close(design.scores(COEF, -0.25), X @ COEF - 0.25, precision(stored))
    close(design.pull(rows[1]), X.T @ rows[1], precision(stored))


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_value_gradient(X, stored, rows, loss, threaded):
    (y, weight), X = rows, X.astype(np.float64)
    done = make_design(stored).value_gradient(COEF, 0.5, y, weight, loss)
    close(done.raw, X @ COEF + 0.5, precision(stored))
    # From the scores onwards everything but the products with X is float64.
    value, residual = loss.value_gradient(y, done.raw)
    assert done.value == pytest.approx(float(value @ weight), rel=1e-11)
    size = np.abs(X).T @ np.abs(weight * residual)
    close(done.gradient, X.T @ (weight * residual), 0.1 * precision(stored), size.max())
    close(done.slope, float(weight @ residual), reach=np.abs(weight * residual).sum())


def test_moments(X, stored, rows, threaded):
    weight, X = rows[1], X.astype(np.float64)
    found = make_design(stored).moments(weight)
    mean = np.average(X, axis=0, weights=weight)
    assert found.total == pytest.approx(weight.sum(), rel=1e-14)
    close(found.mean, mean)
    close(found.mean_square, np.average(X**2, axis=0, weights=weight))
    close(found.variance, np.average((X - mean) ** 2, axis=0, weights=weight), rtol=1e-10)
    close(found.nonzero, np.average(X != 0, axis=0, weights=weight))


def test_square_norm(X, stored, threaded):
    rng = np.random.default_rng(4)
    centre, scale = rng.normal(size=X.shape[1]), rng.uniform(0.5, 2, X.shape[1])
    expected = np.sum(((X.astype(np.float64) - centre) / scale) ** 2, axis=1)
    close(make_design(stored).square_norm(centre, scale), expected)


def test_curvature_and_square_pull(X, stored, rows, threaded):
    weight, X, design = rows[1], X.astype(np.float64), make_design(stored)
    centre = np.random.default_rng(6).normal(size=X.shape[1])
    Z = X - centre
    close(design.column_squares(weight, centre), weight @ Z**2)
    chosen = np.array([3, 1000, 7, 64, 65])
    for some in (chosen, np.arange(len(X))):
        cross, edge, total = design.curvature(some, weight[some], centre)
        close(cross, Z[some].T @ (weight[some, None] * Z[some]))
        close(edge, weight[some] @ Z[some])
        assert total == pytest.approx(weight[some].sum())


def test_columns(X, stored):
    design = make_design(stored)
    for j in range(X.shape[1]):
        where, values = design.column(j)
        full = np.zeros(len(X))
        full[slice(None) if where is None else where] = values
        np.testing.assert_array_equal(full, X[:, j].astype(np.float64))
        assert values.dtype == np.float64


def every_method(design, y, weight):
    design.value_gradient(COEF, 0.1, y, weight, Logistic())
    design.value_gradient(COEF, 0.1, y, weight, Hinge())
    raw = design.scores(COEF, 0.1)
    design.moments(weight)
    design.square_norm(COEF, np.ones(len(COEF)))
    design.curvature(np.arange(50), weight[:50], 0 * COEF)
    design.column_squares(weight, 0 * COEF)
    design.probe(raw, 3, 50.0, np.linspace(-1, 1, 9), y, weight, BetaBernoulli.binary(0.1, 0.8))


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
    close(design.scores(COEF, 0.0), X.astype(np.float64) @ COEF, precision(X))


def test_the_view_keeps_its_memory_alive():
    X = np.arange(3e5).reshape(-1, 3)
    X.flags.writeable = False
    design, expected = DenseDesign(X), X.sum(axis=1)
    del X
    junk = [np.zeros((100_000, 3)) for _ in range(3)]
    np.testing.assert_array_equal(design.scores(np.ones(3), 0.0), expected)
    assert len(junk) == 3


@pytest.mark.parametrize("shape", [(1, 1), (1, 4), (70, 1), (3, 2), (66, 3)])
@pytest.mark.parametrize("wrap", [np.asarray, np.asfortranarray, sparse.csr_array])
def test_small_shapes(shape, wrap):
    rng = np.random.default_rng(2)
    X, coef = rng.normal(size=shape), rng.normal(size=shape[1])
    y, weight = rng.choice([-1.0, 1.0], shape[0]), np.ones(shape[0])
    done = make_design(wrap(X)).value_gradient(coef, 0.2, y, weight, Logistic())
    value, residual = Logistic().value_gradient(y, X @ coef + 0.2)
    assert done.value == pytest.approx(value.sum(), rel=1e-12)
    close(done.gradient, X.T @ residual)


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
    args = (np.zeros(3), 0, 0.0, steps, y, one, Logistic())
    close(pieces.probe(*args), whole.probe(*args))
    assert X.nnz == 4


def test_stored_zeros_are_zeros():
    X = sparse.csr_array(
        (np.array([0.0, 2.0]), np.array([0, 0]), np.array([0, 1, 2])), shape=(2, 1)
    )
    assert SparseDesign(X).moments(np.ones(2)).nonzero == pytest.approx(0.5)
