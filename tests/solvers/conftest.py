"""Objectives small enough to know the answer."""

import numpy as np
import pytest

from bblr.designs import ScaledDesign, make_design
from bblr.losses import Logistic
from bblr.objective import Objective
from bblr.penalties import Gaussian


@pytest.fixture
def make_objective():
    """Make an objective from data, or from the default noisy problem."""

    def make(X=None, y=None, weight=None, loss=None, l2=1.0, fit_intercept=True):
        if X is None:
            rng = np.random.default_rng(0)
            X = rng.normal(size=(200, 3))
            y = np.where(X @ [2, -1, 0] + 0.5 + rng.normal(size=200) > 0, 1.0, -1.0)
        weight = np.ones(len(y)) if weight is None else weight
        design = ScaledDesign(make_design(X), weight, fit_intercept)
        return Objective(loss or Logistic(), Gaussian(l2), design, y, weight)

    return make
