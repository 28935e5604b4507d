"""One matrix in every storage the designs take, with labels and weights."""

import numpy as np
import pytest

from bblr._numeric import threads
from tests.designs.cases import N_ROWS, STORAGES, matrix


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
