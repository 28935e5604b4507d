"""Small objectives of one score per row and of three."""

import numpy as np
from scipy import sparse

from bblr.designs import ScaledDesign, make_design
from bblr.losses import BetaBernoulli, Plateaus
from bblr.objective import Objective
from bblr.penalties import Gaussian

STORED = {"C": np.asarray, "F": np.asfortranarray, "csr": sparse.csr_array}
THREE = BetaBernoulli(Plateaus((0.1, 0.05, 0.0)), 2.0)
EVEN = BetaBernoulli(Plateaus.symmetric(0.2, 3))


def data(n_classes=2, n=300, seed=0):
    """Columns of several units, one far from zero, one rare; labels that overlap."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)) * [1, 10, 0.1, 1] + [0, 50, 0, 0]
    X[:, 3] *= rng.random(n) < 0.3
    leaning = X @ [1, 0.05, 5, 1] - 2.5 + rng.normal(size=n)
    y = np.where(leaning > 0, 1.0, -1.0)
    if n_classes > 2:
        y = np.digitize(leaning, [-0.7, 0.7])
    return X, y, rng.uniform(0.2, 2.0, n) * (rng.random(n) < 0.95)


def objective(loss, penalty=None, fit_intercept=True, stored="C", **options):
    X, y, weight = data(loss.n_classes, **options)
    design = ScaledDesign(make_design(STORED[stored](X)), weight, fit_intercept)
    return Objective(loss, penalty or Gaussian(1.0), design, y, weight)


def somewhere(problem, scale=1.0, seed=1):
    return scale * np.random.default_rng(seed).normal(size=problem.size)
