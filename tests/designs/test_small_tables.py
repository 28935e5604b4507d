"""The compiled descent on small tables does what the general one does on any design."""

from dataclasses import replace

import numpy as np
import pytest

from bblr import BBLRClassifier
from bblr.designs import DenseDesign, ScaledDesign
from bblr.designs.small_tables import cholesky, cholesky_solve, second_moments
from bblr.losses import BetaBernoulli, Plateaus
from bblr.objective import Objective
from bblr.penalties import Gaussian, GaussLaplace
from bblr.solvers import LBFGS, FisherScoring


def problem(n, d, *, seed=0, low=(0.1, 0.2), gamma=1.0, fit_intercept=True, weighted=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * rng.uniform(0.1, 50.0, d) + rng.normal(size=d)
    y = np.where(X[:, 0] - X[:, 0].mean() + rng.normal(size=n) > 0, 1.0, -1.0)
    weight = rng.integers(0, 3, n).astype(np.float64) if weighted else np.ones(n)
    design = ScaledDesign(DenseDesign(X), weight, fit_intercept)
    return Objective(BetaBernoulli(Plateaus(low), gamma), Gaussian(0.7), design, y, weight)


def general(objective):
    """Return the same objective without the columns that a compiled descent needs."""
    design = ScaledDesign(
        objective.design.design, objective.weight, objective.design.fit_intercept
    )
    vars(design)["columns"] = None
    return replace(objective, design=design)


@pytest.mark.parametrize("n, d", [(20, 3), (300, 1), (700, 17), (5000, 5)])
@pytest.mark.parametrize("low", [(0.0, 0.0), (0.05, 0.3), (0.2, 0.2)])
@pytest.mark.parametrize("gamma", [1.0, 8.0])
def test_the_same_minimum_as_any_other_design(n, d, low, gamma):
    objective = problem(n, d, low=low, gamma=gamma)
    assert objective.columns is not None
    fast = FisherScoring(tol=1e-10).minimise(objective, np.zeros(objective.size))
    slow = FisherScoring(tol=1e-10).minimise(general(objective), np.zeros(objective.size))
    assert fast.value == pytest.approx(slow.value, rel=1e-9)
    assert np.allclose(fast.raw, objective.scores(fast.theta), atol=1e-9)
    assert fast.value == pytest.approx(objective.value(fast.theta), rel=1e-12)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_the_same_steps_as_any_other_design(fit_intercept, weighted):
    objective = problem(250, 6, fit_intercept=fit_intercept, weighted=weighted)
    fast = FisherScoring().minimise(objective, np.zeros(objective.size))
    slow = FisherScoring().minimise(general(objective), np.zeros(objective.size))
    assert (fast.n_iter, fast.reason) == (slow.n_iter, slow.reason)
    assert np.allclose(fast.theta, slow.theta, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("low, gamma", [((0.0, 0.0), 1.0), ((0.05, 0.3), 4.0)])
def test_a_curvature_that_is_kept_leads_to_the_same_minimum(low, gamma, monkeypatch):
    objective, formed = problem(700, 17, low=low, gamma=gamma), []
    form = Objective.preconditioner
    monkeypatch.setattr(
        Objective, "preconditioner", lambda self, *at: formed.append(1) or form(self, *at)
    )
    counts, ends = [], []
    for kept in (0.0, 0.2):
        for each in (objective, general(objective)):
            descent = FisherScoring(tol=1e-10, kept=kept)
            ends.append(descent.minimise(each, np.zeros(objective.size)))
        counts.append(len(formed))
        formed.clear()
    assert counts[1] < counts[0] <= ends[1].n_iter + 1
    assert np.allclose([end.value for end in ends], ends[0].value, rtol=1e-9)
    assert ends[2].n_iter == ends[3].n_iter


def test_a_path_is_one_descent_after_the_other():
    objective, gammas = problem(200, 4), (1.0, 2.0, 4.0)
    descent = FisherScoring()
    first = objective.weight * np.linspace(0.1, 1.0, 200)
    some = objective.columns[:, ::3].copy()
    thetas, raws = descent.small_path(objective, first, gammas, some)
    start = replace(objective, weight=first).with_gamma(gammas[0])
    theta = replace(descent, max_iter=20).minimise(start, np.zeros(objective.size)).theta
    for gamma, found, raw in zip(gammas, thetas, raws, strict=True):
        end = descent.minimise(objective.with_gamma(gamma), theta)
        theta = end.theta
        assert np.array_equal(found, theta)
        np.testing.assert_allclose(raw, end.raw[::3], rtol=1e-12, atol=1e-12)


def several(n, d, classes, *, gamma=1.0, fit_intercept=True):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, d)) * rng.uniform(0.1, 50.0, d)
    X[:, 0] += np.arange(n) % classes * X[:, 0].std()
    loss = BetaBernoulli(Plateaus(tuple(np.linspace(0.0, 0.05, classes))), gamma)
    weight = rng.integers(0, 3, n).astype(np.float64)
    design = ScaledDesign(DenseDesign(X), weight, fit_intercept)
    return Objective(loss, Gaussian(0.7), design, np.arange(n) % classes, weight)


@pytest.mark.parametrize("n, d, classes", [(60, 3, 3), (400, 12, 5)])
@pytest.mark.parametrize("gamma", [1.0, 4.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_same_steps_with_several_scores(n, d, classes, gamma, fit_intercept):
    objective = several(n, d, classes, gamma=gamma, fit_intercept=fit_intercept)
    fast = LBFGS(tol=1e-9).minimise(objective, np.zeros(objective.size))
    slow = LBFGS(tol=1e-9).minimise(general(objective), np.zeros(objective.size))
    assert fast.value == pytest.approx(slow.value, rel=1e-8)
    assert fast.value == pytest.approx(objective.value(fast.theta), rel=1e-12)
    assert np.allclose(fast.raw, objective.scores(fast.theta), atol=1e-9)
    few = LBFGS(max_iter=4)
    fast = few.minimise(objective, np.zeros(objective.size))
    slow = few.minimise(general(objective), np.zeros(objective.size))
    assert (fast.n_iter, fast.reason) == (slow.n_iter, slow.reason)
    assert np.allclose(fast.theta, slow.theta, rtol=1e-7, atol=1e-9)


def test_large_tables_and_other_penalties_have_no_compiled_form():
    assert problem(20_000, 60).columns is None
    assert problem(300, 200).columns is None
    assert problem(300, 3).with_penalty(GaussLaplace()).columns is None


@pytest.mark.parametrize("size", [1, 2, 5, 31])
def test_moments_and_systems(size):
    rng = np.random.default_rng(size)
    Zt, weight = rng.normal(size=(size, 700)), rng.random(700)
    matrix = np.empty((size, size))
    second_moments(Zt, weight, matrix)
    whole = (Zt * weight) @ Zt.T
    assert np.allclose(np.tril(matrix), np.tril(whole))
    vector = rng.normal(size=size)
    expected = np.linalg.solve(whole, vector)
    assert cholesky(matrix)
    cholesky_solve(matrix, vector)
    assert np.allclose(vector, expected)
    assert not cholesky(-np.eye(size))


def test_rows_that_dominate_do_not_stop_a_fit():
    X = np.vstack([np.random.default_rng(0).normal(size=(60, 3)), np.full((1, 3), 1e9)])
    y = np.r_[X[:60, 0] > 0, False]
    model = BBLRClassifier().fit(X, y)
    assert np.isfinite(model.coef_).all()
