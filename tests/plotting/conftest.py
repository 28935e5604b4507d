"""Fitted classifiers to draw, made once."""

from __future__ import annotations

import matplotlib
import numpy as np
import pytest
from sklearn.datasets import load_iris, make_moons
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bblr import BBLRClassifier, KernelBBLRClassifier, SLAClassifier, ZeroOneClassifier
from bblr.datasets import load_uci

matplotlib.use("Agg")


@pytest.fixture(scope="session")
def heart():
    return load_uci("heart", return_X_y=True)


@pytest.fixture(scope="session")
def linear(heart):
    return BBLRClassifier("robust", l2=3.0).fit(*heart)


@pytest.fixture(scope="session")
def uneven(heart):
    """A classifier whose classes have different plateaus."""
    return BBLRClassifier("empirical").fit(*heart)


@pytest.fixture(scope="session")
def iris():
    return load_iris(return_X_y=True)


@pytest.fixture(scope="session")
def many(iris):
    return BBLRClassifier().fit(*iris)


@pytest.fixture(scope="session")
def moons():
    return make_moons(150, noise=0.25, random_state=0)


@pytest.fixture(scope="session")
def sparse(moons):
    return KernelBBLRClassifier(sparsity="backward", max_vectors=7, random_state=0).fit(*moons)


@pytest.fixture(scope="session")
def sla(heart):
    return SLAClassifier().fit(*heart)


@pytest.fixture(scope="session")
def proved():
    """A classifier with a proof, behind a scaler."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = X[:, 0] + 0.8 * rng.normal(size=40) > 0
    model = make_pipeline(StandardScaler(), ZeroOneClassifier("exact", random_state=0))
    return model.fit(X, y)
