"""The objective: loss, penalty and design as one function of theta, for any number of scores."""

import numpy as np
import pytest
from scipy import optimize

from bblr.losses import LOSSES, BetaBernoulli, Logistic, Plateaus, Sigmoid
from bblr.penalties import Gaussian, GaussLaplace
from bblr.solvers import LBFGS, ZeroOneSearch
from tests.problems import EVEN, STORED, THREE, objective, somewhere

SMOOTH = ["logistic", "squared", "beta-bernoulli", "generalized-logistic", "sigmoid", "tanh"]
UNEVEN = BetaBernoulli.binary(0.1, 0.7, 3.0)
PENALTIES = {"none": Gaussian(0.0), "gaussian": Gaussian(7.0), "mixture": GaussLaplace()}


@pytest.fixture(params=STORED)
def stored(request):
    return request.param


@pytest.fixture(params=[True, False], ids=["intercept", "no intercept"])
def fit_intercept(request):
    return request.param


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("loss", [*map(LOSSES.get, SMOOTH), THREE, EVEN], ids=str)
def test_gradient_against_differences(loss, penalty, fit_intercept, stored):
    problem = objective(loss, PENALTIES[penalty], fit_intercept, stored)
    theta = somewhere(problem)
    value, gradient, raw = problem.value_gradient(theta)
    assert value == pytest.approx(problem.value(theta), rel=1e-12)
    assert value == pytest.approx(problem.value(theta, raw), rel=1e-12)
    differences = optimize.approx_fprime(theta, problem.value, 1e-6)
    np.testing.assert_allclose(gradient, differences, rtol=1e-3, atol=2e-3)


@pytest.mark.parametrize("loss", [UNEVEN, THREE], ids=str)
def test_the_value_is_that_of_the_loss_and_the_penalty(loss, fit_intercept):
    problem = objective(loss, Gaussian(3.0), fit_intercept)
    theta = somewhere(problem)
    table = theta.reshape(loss.n_scores, -1)
    np.testing.assert_array_equal(problem.by_score(theta), table)
    weights = table[:, :4]
    np.testing.assert_array_equal(problem.weights(theta), weights.ravel())
    Z = (problem.design.design.table() - problem.design.centre) / problem.design.scale
    raw = np.squeeze(Z @ weights.T + (table[:, 4:].T if fit_intercept else 0.0))
    np.testing.assert_allclose(problem.scores(theta), raw, atol=1e-10)
    cost = loss.value(problem.y, raw) @ problem.weight
    assert problem.value(theta) == pytest.approx(cost + 1.5 * np.sum(weights**2), rel=1e-12)
    assert problem.errors(theta) == pytest.approx(problem.weight @ loss.wrong(problem.y, raw))


@pytest.mark.parametrize("loss", [Logistic(), EVEN], ids=str)
def test_the_penalty_never_sees_an_intercept(loss):
    strong, none = objective(loss, Gaussian(1e6)), objective(loss, Gaussian(0.0))
    theta = np.zeros((loss.n_scores, 5))
    theta[:, -1] = np.arange(5.0, 5.0 + loss.n_scores)
    theta = theta.ravel()
    assert strong.value(theta) == none.value(theta)
    np.testing.assert_array_equal(strong.value_gradient(theta)[1], none.value_gradient(theta)[1])
    steps = np.linspace(-1, 1, 5)
    np.testing.assert_array_equal(strong.probe(theta, 4, steps), none.probe(theta, 4, steps))


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("loss", [UNEVEN, Sigmoid(3.0), Logistic(), THREE], ids=str)
def test_probe_is_the_value_after_each_step(loss, penalty, fit_intercept, stored):
    problem = objective(loss, PENALTIES[penalty], fit_intercept, stored)
    theta, steps = somewhere(problem), np.linspace(-3, 3, 7)
    raw = problem.scores(theta)
    together = problem.probes(theta, range(problem.size), steps, raw)
    for j, axis in enumerate(np.eye(problem.size)):
        direct = [problem.value(theta + step * axis) for step in steps]
        np.testing.assert_allclose(problem.probe(theta, j, steps), direct, rtol=1e-10)
        np.testing.assert_allclose(together[j], direct, rtol=1e-10)


@pytest.mark.parametrize("loss", [Logistic(), UNEVEN, THREE], ids=str)
def test_a_step_of_a_parameter_is_one_of_the_scores(loss, fit_intercept, stored):
    problem = objective(loss, fit_intercept=fit_intercept, stored=stored)
    theta = somewhere(problem)
    raw = problem.scores(theta)
    before, gains = raw.copy(), []
    for j, axis in enumerate(np.eye(problem.size)):
        expected = problem.scores(theta + 0.7 * axis)
        np.testing.assert_allclose(problem.shifted(raw, j, 0.7), expected, atol=1e-10)
        step, saved = problem.axis_line(raw, j)
        line = problem.line(raw, problem.scores(axis))
        assert line[1] == pytest.approx(problem.errors(theta, raw) - saved)
        assert problem.errors(theta + step * axis) == pytest.approx(line[1])
        gains.append(saved)
    assert max(gains) > 0
    np.testing.assert_array_equal(raw, before)


@pytest.mark.parametrize("loss", [Logistic(), UNEVEN, THREE, EVEN], ids=str)
def test_a_line_finds_the_fewest_errors(loss):
    problem = objective(loss, n=60)
    directions = np.random.default_rng(5).normal(size=(6, problem.size))
    theta = somewhere(problem)
    raw = problem.scores(theta)
    for direction, line in zip(directions, problem.lines(raw, directions), strict=True):
        step, errors = problem.line(raw, problem.scores(direction))
        assert line == (step, errors)
        assert problem.errors(theta + step * direction) == pytest.approx(errors)
        for t in np.linspace(-20, 20, 801):
            assert problem.errors(theta + t * direction) >= errors - 1e-9


@pytest.mark.parametrize("loss", [Logistic(), UNEVEN, THREE], ids=str)
def test_coefficients_are_those_of_the_decision_in_the_units_of_the_data(loss, fit_intercept):
    problem = objective(loss, fit_intercept=fit_intercept)
    theta = somewhere(problem)
    coef, intercept = problem.unpack(theta)
    assert (coef.shape, intercept.shape) == ((loss.n_scores, 4), (loss.n_scores,))
    decision = np.squeeze(problem.design.design.table() @ coef.T + intercept)
    np.testing.assert_allclose(decision, loss.decision(problem.scores(theta)), atol=1e-9)
    np.testing.assert_allclose(problem.pack(coef, intercept), theta, atol=1e-10)


@pytest.mark.parametrize("loss", [Logistic(), BetaBernoulli.binary(0.1, 0.6, 2.0)], ids=str)
def test_errors_are_strict_and_weighted(loss):
    problem = objective(loss, fit_intercept=False)
    t, y, weight = -loss.shift[0], problem.y, problem.weight
    theta = np.zeros(problem.size)
    assert problem.errors(theta, np.full(len(y), t)) == pytest.approx(weight.sum())
    assert problem.errors(theta, t + 1e-9 * y) == 0.0
    assert problem.errors(theta, t - 1e-9 * y) == pytest.approx(weight.sum())
    assert problem.errors(theta, np.full(len(y), t + 1e-9)) == pytest.approx(weight[y < 0].sum())
    # Between the threshold and zero it is the probability that decides, not the sign.
    if t != 0:
        between = np.full(len(y), t / 2)
        more = loss.probability(t / 2) > 0.5
        assert problem.errors(theta, between) == pytest.approx(weight[(y > 0) != more].sum())


@pytest.mark.parametrize("loss", [Logistic(), EVEN], ids=str)
def test_zero_parameters_without_an_intercept_are_all_wrong(loss):
    problem = objective(loss, fit_intercept=False)
    assert problem.errors(np.zeros(problem.size)) == pytest.approx(problem.weight.sum())


@pytest.mark.parametrize("loss", [BetaBernoulli.binary(0.1, 0.8), EVEN], ids=str)
def test_with_gamma_sharpens_the_loss_alone(loss):
    problem = objective(loss)
    sharp = problem.with_gamma(9.0)
    assert sharp.loss == loss.sharpened(9.0)
    assert problem.loss == loss
    assert sharp.design is problem.design
    assert sharp.with_loss(Logistic()).loss == Logistic()
    theta = np.ones(problem.size)
    theta[0] = 0.3
    free = problem.with_penalty(Gaussian(0.0))
    assert free.with_gamma(2.0).value(theta) == pytest.approx(free.value(2 * theta), rel=1e-12)
    assert problem.value(theta) > free.value(theta)


@pytest.mark.parametrize("loss", [UNEVEN, THREE], ids=str)
def test_far_rows_weigh_less_where_leverage_is_bounded(loss):
    problem = objective(loss)
    bounded = problem.bounded(0.5)
    theta = somewhere(problem)
    assert np.all(bounded.weight <= problem.weight) and np.any(bounded.weight < problem.weight)
    assert bounded.bounded(0.5).counted is problem.weight
    assert bounded.errors(theta) < problem.errors(theta)
    assert bounded.training_errors(theta) == problem.training_errors(theta)
    assert bounded.unbounded().value(theta) == problem.value(theta)
    assert problem.unbounded() is problem
    assert bounded.total == pytest.approx(bounded.weight.sum())


@pytest.mark.parametrize("loss", [BetaBernoulli.binary(0.1, 0.8), THREE], ids=str)
def test_pure(loss):
    """No call changes the argument, the data or what another call returns."""
    problem = objective(loss)
    theta = somewhere(problem)
    copy, y, weight = theta.copy(), problem.y.copy(), problem.weight.copy()
    first = problem.value_gradient(theta)
    raw = first[2].copy()
    problem.probe(theta, 0, np.linspace(-1, 1, 7), first[2])
    problem.preconditioner(theta, first[2])(theta)
    problem.axis_line(first[2], 1)
    problem.line(first[2], first[2])
    problem.value_gradient(theta + 1)
    again = problem.value_gradient(theta)
    assert again[0] == first[0]
    np.testing.assert_array_equal(again[1], first[1])
    for found, expected in (
        (theta, copy), (problem.y, y), (problem.weight, weight), (first[2], raw)
    ):  # fmt: skip
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("loss", [UNEVEN, THREE.sharpened(1.0), EVEN], ids=str)
def test_a_descent_ends_where_the_gradient_vanishes(loss):
    problem = objective(loss)
    theta = LBFGS(tol=1e-13).minimise(problem, np.zeros(problem.size)).theta
    assert np.abs(problem.value_gradient(theta)[1]).max() < 1e-4


@pytest.mark.parametrize("low", [(0.1, 0.1), (0.1, 0.3), (0.1, 0.1, 0.1), (0.1, 0.05, 0.2)])
def test_zero_one_lines_lower_the_errors(low):
    """Plateaus that differ are in the decision, and lines know of them."""
    problem = objective(BetaBernoulli(Plateaus(low)))
    start = np.zeros(problem.size)
    found = ZeroOneSearch(max_lines=200).minimise(problem, start)
    assert found.errors == pytest.approx(problem.errors(found.theta))
    assert found.errors < problem.errors(start)


def test_the_gamma_that_it_has_changes_nothing():
    problem = objective(UNEVEN, Gaussian(1.0))
    assert problem.with_gamma(UNEVEN.gamma) is problem
    assert problem.with_gamma(4.0).loss.gamma == 4.0
    assert objective(Logistic(), Gaussian(1.0)).with_gamma(4.0).loss == Logistic()
