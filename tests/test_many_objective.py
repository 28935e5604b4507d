"""The objective of many classes: designs agree, derivatives are right, lines are exact."""

import numpy as np
import pytest
import scipy.sparse as sp

from bblr import Plateaus
from bblr._numeric.zero_one import several_line
from bblr.designs import ScaledDesign, make_design
from bblr.designs.centres import Basis
from bblr.designs.kernel import kernel_design
from bblr.designs.kernel_function import Gram, KernelFunction
from bblr.losses import BetaBernoulli
from bblr.objective import Objective
from bblr.penalties import Gaussian, GaussLaplace
from bblr.solvers import LBFGS, FisherScoring, ZeroOneCoordinates

PRIOR = Plateaus((0.1, 0.05, 0.0))
L2 = Gaussian(0.7)


def _data(n=700, d=5):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.4)
    return X, rng.integers(0, 3, n), rng.random(n) * (rng.random(n) < 0.9)


def _objective(X, y, weight, *, prior=PRIOR, penalty=L2, intercept=True, gamma=2.0):
    design = ScaledDesign(make_design(X), weight, intercept)
    loss = BetaBernoulli(prior, gamma)
    return Objective(loss, penalty, design, y, weight)


STORED = {
    "rows": np.ascontiguousarray,
    "columns": np.asfortranarray,
    "csr": sp.csr_array,
    "csc": sp.csc_matrix,
    "strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
}


@pytest.mark.parametrize("stored", STORED)
def test_designs_agree_with_the_plain_loss(stored):
    X, y, weight = _data()
    design = make_design(STORED[stored](X))
    rng = np.random.default_rng(2)
    coef, intercepts = rng.standard_normal((3, 5)), rng.standard_normal(3)
    loss = BetaBernoulli(PRIOR, 1.7)
    raw = X @ coef.T + intercepts
    value, residual = loss.value_gradient(y, raw)
    residual *= weight[:, None]
    done = design.many_value_gradient(coef, intercepts, y, weight, loss)
    assert done.value == pytest.approx(value @ weight, rel=1e-12)
    np.testing.assert_allclose(done.raw, raw, atol=1e-12)
    np.testing.assert_allclose(done.gradient, residual.T @ X, atol=1e-10)
    np.testing.assert_allclose(done.slopes, residual.sum(axis=0), atol=1e-11)
    np.testing.assert_allclose(design.many_scores(coef, intercepts), raw, atol=1e-12)


def test_float32_rows():
    X, y, weight = _data()
    loss = BetaBernoulli(PRIOR)
    coef, intercepts = np.ones((3, 5)) * [[1], [0], [-1]], np.zeros(3)
    wide = make_design(X).many_value_gradient(coef, intercepts, y, weight, loss)
    for narrow in (X.astype(np.float32), sp.csr_array(X.astype(np.float32))):
        done = make_design(narrow).many_value_gradient(coef, intercepts, y, weight, loss)
        np.testing.assert_allclose(done.gradient, wide.gradient, rtol=1e-5, atol=1e-4)


def test_a_kernel_beyond_its_cache():
    X, y, weight = _data(300)
    gram = Gram(KernelFunction("rbf", 0.3), X)
    basis = Basis(np.arange(20), np.eye(20))
    coef, intercepts = np.random.default_rng(0).standard_normal((3, 20)), np.arange(3.0)
    loss = BetaBernoulli(PRIOR)
    kept = kernel_design(gram, basis, 1e9)
    part = kernel_design(gram, basis, 8 * 20 * 100)
    one = kept.many_value_gradient(coef, intercepts, y, weight, loss)
    two = part.many_value_gradient(coef, intercepts, y, weight, loss)
    assert one.value == pytest.approx(two.value, rel=1e-12)
    np.testing.assert_allclose(two.gradient, one.gradient, atol=1e-10)
    np.testing.assert_allclose(part.many_scores(coef, intercepts), one.raw, atol=1e-12)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("penalty", [L2, GaussLaplace()], ids=["gaussian", "mixture"])
def test_gradient_and_probes_are_those_of_the_value(intercept, penalty):
    X, y, weight = _data(120)
    objective = _objective(X, y, weight, penalty=penalty, intercept=intercept)
    theta = 0.5 * np.random.default_rng(3).standard_normal(objective.size)
    value, gradient, raw = objective.value_gradient(theta)
    assert value == pytest.approx(objective.value(theta), rel=1e-12)
    h = 1e-6
    for j, axis in enumerate(np.eye(objective.size)):
        numeric = (objective.value(theta + h * axis) - objective.value(theta - h * axis)) / (2 * h)
        assert gradient[j] == pytest.approx(numeric, rel=1e-5, abs=1e-5)
        steps = np.array([-2.0, 0.0, 0.4])
        probed = objective.probe(theta, j, steps, raw)
        for step, found in zip(steps, probed, strict=True):
            assert found == pytest.approx(objective.value(theta + step * axis), rel=1e-10)
        np.testing.assert_allclose(
            objective.shifted(raw, j, 0.4), objective.scores(theta + 0.4 * axis), atol=1e-12
        )


def test_two_classes_have_the_minimum_of_the_binary_model():
    X, y, weight = _data(400)
    y = (y > 0).astype(np.intp)
    beta = Plateaus.binary(0.1, 0.7)
    # Two scores of half the size each cost half as much.
    many = _objective(X, y, weight, prior=Plateaus.from_beta(beta), penalty=Gaussian(2.0))
    two = Objective(BetaBernoulli(beta, 2.0), Gaussian(1.0), many.design, 2.0 * y - 1.0, weight)
    theta = many.by_class(LBFGS(tol=1e-14).minimise(many, np.zeros(many.size)).theta)
    expected = FisherScoring(tol=1e-14).minimise(two, np.zeros(two.size))
    np.testing.assert_allclose(theta[1] - theta[0], expected.theta, atol=1e-6)
    assert many.value(theta.ravel()) == pytest.approx(expected.value, rel=1e-10)


@pytest.mark.parametrize("uneven", [False, True])
def test_descent_ends_where_the_gradient_vanishes(uneven):
    X, y, weight = _data()
    prior = PRIOR if uneven else Plateaus.symmetric(0.2, 3)
    objective = _objective(X, y, weight, prior=prior, gamma=1.0)
    theta = LBFGS(tol=1e-13).minimise(objective, np.zeros(objective.size)).theta
    assert np.abs(objective.value_gradient(theta)[1]).max() < 1e-4


def test_exact_line_against_a_fine_grid():
    rng = np.random.default_rng(4)
    for _ in range(200):
        n, classes = rng.integers(1, 15), rng.integers(2, 5)
        # Whole numbers, so that scores tie and lines run parallel.
        raw = rng.integers(-3, 4, (n, classes)).astype(float)
        change = rng.integers(-2, 3, (n, classes)).astype(float)
        y, weight = rng.integers(0, classes, n), rng.integers(0, 3, n).astype(float)
        loss = BetaBernoulli(Plateaus((0.1,)) * classes)

        def errors(step, raw=raw, change=change, y=y, weight=weight, loss=loss):
            return float(weight @ loss.wrong(y, raw + step * change))

        step, found, _ = several_line(raw, change, y, weight)
        # Scores cross at quotients of small whole numbers; between any two there is a point here.
        grid = np.concatenate([np.linspace(-8, 8, 16 * 36 + 1) + 1e-3, [-50.0, 50.0]])
        assert found == min(errors(0.0), *(errors(t) for t in grid))
        assert errors(step) == found


def test_zero_one_lines_lower_the_errors():
    X, y, weight = _data(200)
    objective = _objective(X, y, weight, prior=Plateaus.symmetric(0.2, 3))
    start = np.zeros(objective.size)
    found = ZeroOneCoordinates().minimise(objective, start)
    assert found.errors == pytest.approx(objective.errors(found.theta))
    assert found.errors < objective.errors(start)
    # Plateaus that differ are in the decision, and lines know of them.
    uneven = _objective(X, y, weight, prior=Plateaus((0.1, 0.05, 0.2)))
    found = ZeroOneCoordinates().minimise(uneven, start)
    assert found.errors == pytest.approx(uneven.errors(found.theta))
    assert found.errors < uneven.errors(start)
