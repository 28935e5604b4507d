"""A small cluster in this process, shared by the tests; and data with traps in them."""

import numpy as np
import pytest

pytest.importorskip("distributed")


@pytest.fixture(scope="session")
def client():
    """A client of two workers in this process."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(scope="session")
def rows():
    """A column far from zero, a rare one, a heavy tail, some labels wrong; 9,000 rows."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((9_000, 5))
    y = X @ [2.0, -1.0, 0.5, 0.0, 0.0] + 0.5 * rng.standard_normal(9_000) > 0
    X[:, 1] += 1_000.0
    X[:, 2] *= 1.0 + np.abs(rng.standard_cauchy(9_000))
    X[:, 3] = rng.random(9_000) < 0.1
    y ^= rng.random(9_000) < 0.05
    return X, y.astype(int)


@pytest.fixture(scope="session")
def few():
    """300 rows of two classes that overlap."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((300, 4))
    y = (X @ [2.0, -1.0, 0.5, 0.0] + rng.standard_normal(300) > 0).astype(int)
    return X, y


@pytest.fixture(scope="session")
def three():
    """600 rows of three classes."""
    rng = np.random.default_rng(2)
    y = rng.integers(0, 3, 600)
    X = rng.standard_normal((600, 4)) + 1.5 * np.eye(3, 4)[y]
    return X, y
