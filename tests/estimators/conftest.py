"""Small data with outliers that the estimator tests share."""

import numpy as np
import pytest


@pytest.fixture(scope="session")
def noisy_data():
    """Return 200 rows of two overlapping classes, twenty of them far out with the wrong label."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 4))
    y = (X @ [2.0, -1.0, 0.5, 0.0] + 0.5 * rng.standard_normal(200) > 0).astype(int)
    X[:20] = 5.0 * X[:20]
    y[:20] = 1 - y[:20]
    return X, y
