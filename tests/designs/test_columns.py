"""The passes over a sparse matrix, row by row and column by column in blocks of rows."""

import pickle

import numpy as np
import pytest
from scipy import sparse

from bblr.designs import DenseDesign, SparseDesign, columns
from bblr.losses import BetaBernoulli, Sigmoid


def scattered(n_rows, n_features, kind, seed=0):
    """Short rows, some of them empty; columns from frequent to never seen."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n_rows, n_features)) < np.linspace(0.6, 0.0, n_features)).astype(float)
    if kind == "counts":
        X *= rng.integers(1, 5, X.shape)
    return 3.0 * X


@pytest.fixture(params=["by-columns", "in-one-block", "by-rows"])
def form(request, monkeypatch):
    monkeypatch.setattr(columns, "_ENTRIES", 10**9 if request.param == "by-rows" else 0)
    monkeypatch.setattr(columns, "_ROWS", 100 if request.param == "by-columns" else 8192)
    return request.param


@pytest.mark.parametrize("kind", ["indicators", "counts"])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("loss", [BetaBernoulli.binary(0.05, 0.7, 3.0), Sigmoid(2.0)], ids=repr)
@pytest.mark.parametrize("n_rows", [1, 101, 1100])
def test_a_pass_is_that_of_the_dense_matrix(form, kind, index, dtype, loss, n_rows, threaded):
    rng = np.random.default_rng(1)
    X = scattered(n_rows, 20, kind)
    stored = sparse.csr_array(X, dtype=dtype)
    stored.indices, stored.indptr = stored.indices.astype(index), stored.indptr.astype(index)
    y, weight = rng.choice([-1.0, 1.0], n_rows), rng.uniform(0.0, 2.0, n_rows)
    plane = rng.normal(size=(1, 20)), np.array([0.3])
    design = SparseDesign(stored)
    found = design.value_gradient(*plane, y, weight, loss)
    expected = DenseDesign(X).value_gradient(*plane, y, weight, loss)
    assert (design._blocks is None) is (form == "by-rows" or not stored.nnz)
    assert found.value == pytest.approx(expected.value, rel=1e-12)
    for name in ("gradient", "slopes", "raw"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), atol=1e-11)


def test_blocks_are_made_where_columns_are_long_only():
    many = sparse.csr_array(scattered(2000, 20, "counts"))
    assert SparseDesign(many)._blocks is not None
    assert SparseDesign(many[:40].T.tocsr())._blocks is None
    assert SparseDesign(sparse.csr_array((50, 3)))._blocks is None


@pytest.mark.parametrize(("kind", "each"), [("indicators", 2), ("counts", 10)])
def test_blocks_take_what_they_say(kind, each):
    X = sparse.csr_array(scattered(9000, 20, kind))
    blocks = SparseDesign(X)._blocks
    taken = sum(part.nbytes for part in (blocks.rows, blocks.values))
    assert taken == each * X.nnz
    assert blocks.pointer.nbytes + blocks.bounds.nbytes < 0.1 * X.data.nbytes


def test_a_prediction_makes_no_blocks_and_a_copy_by_pickle_carries_none():
    design = SparseDesign(sparse.csr_array(scattered(2000, 20, "counts")))
    design.scores(np.ones((1, 20)), np.zeros(1))
    assert "_blocks" not in vars(design)
    y = np.ones(2000)
    done = design.value_gradient(np.ones((1, 20)), np.zeros(1), y, y, Sigmoid(1.0))
    copy = pickle.loads(pickle.dumps(design))
    assert "_blocks" in vars(design) and "_blocks" not in vars(copy)
    again = copy.value_gradient(np.ones((1, 20)), np.zeros(1), y, y, Sigmoid(1.0))
    assert again.value == done.value and np.array_equal(again.gradient, done.gradient)
