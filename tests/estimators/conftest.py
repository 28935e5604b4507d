"""Small data that the estimator tests share."""

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.preprocessing import StandardScaler

from bblr.datasets import load_uci


@pytest.fixture(scope="session")
def noisy_data():
    """Return 200 rows of two overlapping classes, twenty of them far out with the wrong label."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 4))
    y = (X @ [2.0, -1.0, 0.5, 0.0] + 0.5 * rng.standard_normal(200) > 0).astype(int)
    X[:20] = 5.0 * X[:20]
    y[:20] = 1 - y[:20]
    return X, y


@pytest.fixture(scope="module")
def moons():
    """Return 150 rows of two classes with a bent boundary."""
    return make_moons(150, noise=0.25, random_state=0)


@pytest.fixture(scope="module")
def pima():
    """Return Pima with standardised features."""
    X, y = load_uci("pima", return_X_y=True)
    return StandardScaler().fit_transform(X), y
