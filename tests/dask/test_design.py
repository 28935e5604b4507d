"""The contract of a design, for rows on a cluster."""

import numpy as np
import pytest

from bblr.designs import DenseDesign, make_design
from tests.designs.cases import N_ROWS, Case, matrix
from tests.designs.contract import Contract

pytest.importorskip("distributed")

import dask.array as da
from scipy import sparse

from bblr.dask import DaskBBLRClassifier
from bblr.inputs import adapter_of

CHUNK = 130


def dense(dtype):
    return da.from_array(matrix(dtype), chunks=(CHUNK, -1))


KINDS = {
    "f64": lambda: dense(np.float64),
    "f32": lambda: dense(np.float32),
    "csr": lambda: dense(np.float64).map_blocks(sparse.csr_array, dtype=float),
}


class TestCluster(Contract):
    @pytest.fixture(params=KINDS)
    def case(self, request, client):
        X = KINDS[request.param]()
        y = da.from_array(np.arange(N_ROWS) % 2, chunks=CHUNK)
        with adapter_of(DaskBBLRClassifier(client=client), X) as rows:
            training = rows.training(y, None)
            dtype = np.float32 if request.param == "f32" else np.float64
            yield Case(training.design, matrix(dtype).astype(float))

    def test_shape(self, case):
        assert (case.design.n_rows, case.design.n_features) == case.X.shape
        with pytest.raises(TypeError, match="not brought to one machine"):
            case.design.table()

    def test_columns(self, case):
        for j in range(case.design.n_features):
            for centre in (0.0, 1.5):
                found = case.local(case.design.along(j, centre))
                np.testing.assert_allclose(found, case.X[:, j] - centre, rtol=1e-12, atol=1e-12)
        with pytest.raises(TypeError, match="not brought to one machine"):
            case.design.column(0)

    def test_curvature(self, case):
        with pytest.raises(TypeError, match="not brought to one machine"):
            case.design.curvature(np.arange(5), np.ones(5), np.zeros(5))

    def test_some_rows_are_fetched_as_they_are_stored(self, case):
        rows = np.array([0, 129, 130, 700, 1099])
        taken = case.design.taken(rows)
        assert type(taken) in (DenseDesign, type(make_design(sparse.csr_array((1, 1)))))
        np.testing.assert_array_equal(taken.table(), case.X[rows])

    def test_narrow_products(self, case):
        coef = np.array([[0.3, -1.0, 0.5, 0.01, 0.2], [0.0, 1.0, -0.5, 0.02, 0.1]])
        found = case.local(case.design.narrowed().scores(coef, np.ones(2)))
        np.testing.assert_allclose(found, case.X @ coef.T + 1, rtol=1e-5, atol=1e-5)
