"""Each descent on problems whose minimum is known."""

import numpy as np
import pytest
from scipy import optimize, sparse
from sklearn.linear_model import LogisticRegression

from bblr.losses import LOSSES, BetaBernoulli, Sigmoid
from bblr.solvers import LBFGS, FisherScoring, GradientDescent
from bblr.solvers.line_search import evaluate, wolfe_step

# The paper's rates stop early by design; finer ones must arrive as well.
PATIENT = GradientDescent(rates=(1e-2, 1e-3), min_gain=1e-12, min_gradient=1e-7)
TIGHT = [LBFGS(tol=1e-12), FisherScoring(tol=1e-12), PATIENT]
NAMED = pytest.mark.parametrize("solver", TIGHT, ids=lambda s: type(s).__name__)


def reference(objective):
    found = optimize.minimize(
        lambda theta: objective.value_gradient(theta)[:2], np.zeros(objective.size), jac=True,
        method="L-BFGS-B", options={"maxiter": 5000, "ftol": 1e-15, "gtol": 1e-9},
    )  # fmt: skip
    return found.x, found.fun


@NAMED
@pytest.mark.parametrize("l2", [0.1, 10.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_logistic_regression(make_objective, solver, l2, fit_intercept):
    objective = make_objective(l2=l2, fit_intercept=fit_intercept)
    theta, value = reference(objective)
    found = solver.minimise(objective, np.full(objective.size, 0.5))
    assert found.value == pytest.approx(value, rel=1e-9)
    np.testing.assert_allclose(found.theta, theta, atol=1e-4)
    assert found.value == pytest.approx(objective.value(found.theta), rel=1e-12)
    assert found.reason in (
        "converged", "flat gradient", "no descent within rounding",
        "smallest rate gains too little",
    )  # fmt: skip


@NAMED
@pytest.mark.parametrize("wrap", [np.asarray, sparse.csr_array])
def test_same_as_scikit_learn(make_objective, solver, wrap):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, 3)) * [1, 100, 0.01] + [0, 1000, 5]
    y = np.where((X - X.mean(0)) / X.std(0) @ [1, -1, 2] + rng.normal(size=150) > 0, 1.0, -1.0)
    weight = rng.uniform(0.2, 2, 150)
    objective = make_objective(wrap(X), y, weight, l2=2.0)
    design = objective.design
    Z = (X - design.centre) / design.scale
    baseline = LogisticRegression(C=0.5, tol=1e-10, max_iter=1000).fit(Z, y, weight)
    found = solver.minimise(objective, np.zeros(4)).theta
    np.testing.assert_allclose(found, [*baseline.coef_[0], *baseline.intercept_], atol=1e-4)


@NAMED
@pytest.mark.parametrize(
    "loss", [BetaBernoulli.binary(0.1, 0.8, 2.0), Sigmoid(2.0), LOSSES["tanh"]]
)
def test_non_convex_losses_end_in_a_stationary_point(make_objective, solver, loss):
    objective = make_objective(loss=loss, l2=0.5)
    start = np.array([0.3, -0.3, 0.0, 0.0])
    found = solver.minimise(objective, start)
    assert found.value < objective.value(start)
    assert np.abs(objective.value_gradient(found.theta)[1]).max() < 1e-2


@NAMED
@pytest.mark.parametrize("origin", [1e3, 1e6, 1e8])
def test_the_origin_of_a_column_does_not_stop_a_descent(make_objective, solver, origin):
    """An informative column of large numbers (a time stamp) must be used, not given up."""
    plain = make_objective()
    X = plain.design.design.X.copy()
    X[:, 0] += origin
    moved = make_objective(X, plain.y)
    found = solver.minimise(moved, np.zeros(4))
    assert found.value == pytest.approx(reference(plain)[1], rel=5e-3)


@NAMED
def test_start_is_left_alone_and_bits_are_reproduced(make_objective, solver):
    objective, start = make_objective(), np.full(4, 0.3)
    one, two = (solver.minimise(objective, start) for _ in range(2))
    assert np.all(start == 0.3)
    assert one.theta.tobytes() == two.theta.tobytes()
    assert (one.value, one.n_iter, one.reason) == (two.value, two.n_iter, two.reason)


@pytest.mark.parametrize(
    "solver",
    [
        LBFGS(max_iter=2, tol=1e-14),
        FisherScoring(tol=0, max_iter=2),
        GradientDescent(rates=(1e-3,), min_gain=0, max_iter=2),
    ],
)
def test_iteration_limit_is_named(make_objective, solver):
    found = solver.minimise(make_objective(), np.zeros(4))
    assert found.reason == "iteration limit"
    assert found.n_iter == 2


@pytest.mark.parametrize("solver", [LBFGS(), FisherScoring()])
def test_at_the_minimum_it_stops_at_once(make_objective, solver):
    objective = make_objective()
    theta = reference(objective)[0]
    found = solver.minimise(objective, theta)
    assert (found.reason, found.n_iter) == ("converged", 0)
    np.testing.assert_array_equal(found.theta, theta)


def test_what_another_descent_remembers_saves_steps(make_objective):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 40)) @ rng.normal(size=(40, 40))
    y = np.where(X[:, 0] + rng.normal(size=300) > 0, 1.0, -1.0)
    # Sparse: of tables that are compiled whole nothing is remembered.
    objective = make_objective(sparse.csr_array(X), y)
    solver, start = LBFGS(tol=1e-9), np.zeros(objective.size)
    plain = solver.minimise(objective, start, precondition=np.copy)
    again = solver.minimise(objective, start, precondition=np.copy, pairs=plain.pairs)
    assert len(plain.pairs) == solver.memory
    assert again.n_iter < plain.n_iter
    assert again.value == pytest.approx(plain.value, rel=1e-7)


def test_tolerance_is_a_promise_about_the_value(make_objective):
    objective = make_objective()
    least = reference(objective)[1]
    for solver in (LBFGS, FisherScoring):
        for tol in (1e-3, 1e-5, 1e-7):
            gap = solver(tol=tol).minimise(objective, np.zeros(4)).value - least
            assert gap <= 3 * tol * (1 + least)


def test_reasons_of_gradient_descent(make_objective):
    objective = make_objective()
    stalled = GradientDescent().minimise(objective, np.zeros(4))
    assert stalled.reason in ("smallest rate gains too little", "flat gradient")
    flat = GradientDescent(min_gradient=1e9).minimise(objective, np.zeros(4))
    assert (flat.reason, flat.n_iter) == ("flat gradient", 0)
    rates = GradientDescent(min_gain=1e9).minimise(objective, np.zeros(4))
    assert (rates.reason, rates.n_iter) == ("smallest rate gains too little", 6)
    np.testing.assert_array_equal(rates.theta, np.zeros(4))


@pytest.mark.parametrize(
    ("solver", "method"),
    [(LBFGS(), "value_gradient"), (LBFGS(), "preconditioner"),
     (FisherScoring(), "preconditioner"), (GradientDescent(), "value_gradient")],
)  # fmt: skip
def test_missing_methods_are_named(solver, method):
    class Bare:
        value_gradient = preconditioner = staticmethod(lambda *_: None)

    setattr(Bare, method, None)
    with pytest.raises(TypeError, match=f"{method}.*Bare"):
        solver.minimise(Bare(), np.zeros(2))


class Bumpy:
    """One dimension, many valleys."""

    def value_gradient(self, theta):
        x = theta[0]
        value = -2 * np.sin(3 * x) - 0.2 * x
        return float(value), np.array([-6 * np.cos(3 * x) - 0.2]), theta


@pytest.mark.parametrize("length", np.geomspace(1e-6, 1e3, 19))
@pytest.mark.parametrize("start", [0.0, 0.2, 1.9])
def test_wolfe_step_is_low_and_flat_enough(length, start):
    here = evaluate(Bumpy(), np.array([start]))
    direction = -length * np.sign(here.gradient)
    there = wolfe_step(Bumpy(), here, direction)
    slope = float(here.gradient @ direction)
    t = float(there.theta[0] - here.theta[0]) / float(direction[0])
    assert there.value <= here.value + 1e-4 * t * slope
    assert float(there.gradient @ direction) >= 0.9 * slope


def test_wolfe_step_gives_up_uphill():
    here = evaluate(Bumpy(), np.array([0.0]))
    bottom = evaluate(Bumpy(), np.array([0.5]))
    assert wolfe_step(Bumpy(), here, np.array([1.0])) is not None
    assert wolfe_step(Bumpy(), bottom._replace(value=-1e9), np.array([1.0])) is None
