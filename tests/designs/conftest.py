"""One matrix in every storage the designs take."""

import numpy as np
import pytest
from scipy import sparse

from bblr._numeric import threads

N_ROWS, N_FEATURES = 1100, 5  # more than one block of rows, row-major (64) and column-major (1024)


def matrix(dtype, seed=0):
    """A full column, two with zeros, one of large numbers, one constant."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N_ROWS, N_FEATURES))
    X[:, 1] *= rng.random(N_ROWS) < 0.3
    X[:, 2] = (rng.random(N_ROWS) < 0.7) * np.abs(X[:, 2])
    X[:, 3] = 50 + 10 * X[:, 3]
    X[:, 4] = 3.0
    return X.astype(dtype)


def _read_only(X):
    X.flags.writeable = False
    return X


def _strided(X):
    wide = np.zeros((2 * X.shape[0], 3 * X.shape[1]), X.dtype)
    wide[::2, ::3] = X
    return wide[::2, ::3]


def _long(X):
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


def _frozen(X):
    for array in (X.data, X.indices, X.indptr):
        array.flags.writeable = False
    return X


DENSE = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "read-only": lambda X: _read_only(X.copy()),
    "read-only-F": lambda X: _read_only(np.asfortranarray(X).copy(order="F")),
    "strided": _strided,
    "slice-of-rows": lambda X: np.vstack([X, X])[len(X) :],
    "slice-of-columns": lambda X: np.hstack([X, X])[:, : X.shape[1]],
    "reversed": lambda X: X[::-1].copy()[::-1],
}
SPARSE = {
    "csr-array": sparse.csr_array,
    "csr-matrix": sparse.csr_matrix,
    "csc-array": sparse.csc_array,
    "csc-matrix": sparse.csc_matrix,
    "csr-int64": lambda X: _long(sparse.csr_array(X)),
    "csc-int64": lambda X: _long(sparse.csc_array(X)),
    "csr-read-only": lambda X: _frozen(sparse.csr_array(X)),
    "csr-unsorted": lambda X: sparse.csc_array(sparse.csr_array(X)[:, ::-1])[:, ::-1].tocsr(),
}
STORAGES = {**DENSE, **SPARSE}


@pytest.fixture(params=[np.float64, np.float32], ids=["f64", "f32"])
def X(request):
    return matrix(request.param)


@pytest.fixture(params=sorted(STORAGES))
def stored(request, X):
    return STORAGES[request.param](X)


@pytest.fixture
def rows():
    """Labels and unequal weights, some of them zero."""
    rng = np.random.default_rng(1)
    weight = rng.uniform(0.5, 2.0, N_ROWS)
    weight[rng.random(N_ROWS) < 0.1] = 0.0
    return rng.choice([-1.0, 1.0], N_ROWS), weight


@pytest.fixture(params=[False, True], ids=["serial", "threaded"])
def threaded(request, monkeypatch):
    monkeypatch.setattr(threads, "MIN_WORK", 1 if request.param else 10**12)
    return request.param
