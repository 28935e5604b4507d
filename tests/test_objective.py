"""The objective: loss, prior and design as one function of theta."""

import numpy as np
import pytest
from scipy import optimize, sparse

from bblr.designs import ScaledDesign, make_design
from bblr.losses import LOSSES, BetaBernoulli, Logistic, Sigmoid
from bblr.objective import Objective, Preconditioner
from bblr.penalties import Gaussian

SMOOTH = ["logistic", "squared", "beta-bernoulli", "generalized-logistic", "sigmoid", "tanh"]


def data(n=300, wrap=np.asarray, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)) * [1, 10, 0.1, 1] + [0, 50, 0, 0]
    X[:, 3] *= rng.random(n) < 0.3
    y = np.where(X @ [1, 0.05, 5, 1] - 2.5 + rng.normal(size=n) > 0, 1.0, -1.0)
    return wrap(X), y, rng.uniform(0.2, 2.0, n)


def objective(loss, l2=1.0, fit_intercept=True, **options):
    X, y, weight = data(**options)
    return Objective(
        loss, Gaussian(l2), ScaledDesign(make_design(X), weight, fit_intercept), y, weight
    )


@pytest.fixture(params=[np.asarray, np.asfortranarray, sparse.csr_array], ids=["C", "F", "csr"])
def wrap(request):
    return request.param


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("l2", [0.0, 7.0])
@pytest.mark.parametrize("name", SMOOTH)
def test_gradient_against_differences(name, l2, fit_intercept, wrap):
    problem = objective(LOSSES[name], l2, fit_intercept, wrap=wrap)
    theta = np.random.default_rng(1).normal(size=problem.size)
    value, gradient, raw = problem.value_gradient(theta)
    assert value == pytest.approx(problem.value(theta), rel=1e-12)
    assert value == pytest.approx(problem.value(theta, raw), rel=1e-12)
    differences = optimize.approx_fprime(theta, problem.value, 1e-6)
    np.testing.assert_allclose(gradient, differences, rtol=1e-3, atol=2e-3)


def test_the_prior_never_sees_the_intercept():
    strong, none = objective(Logistic(), l2=1e6), objective(Logistic(), l2=0.0)
    theta = np.array([0.0, 0.0, 0.0, 0.0, 5.0])
    assert strong.value(theta) == none.value(theta)
    np.testing.assert_array_equal(strong.value_gradient(theta)[1], none.value_gradient(theta)[1])
    steps = np.linspace(-1, 1, 5)
    np.testing.assert_array_equal(strong.probe(theta, 4, steps), none.probe(theta, 4, steps))


@pytest.mark.parametrize(
    "loss", [BetaBernoulli.binary(0.1, 0.7, 3.0), Sigmoid(3.0), Logistic()], ids=repr
)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_probe_is_the_value_after_each_step(loss, fit_intercept, wrap):
    problem = objective(loss, 3.0, fit_intercept, wrap=wrap)
    theta, steps = np.random.default_rng(1).normal(size=problem.size), np.linspace(-3, 3, 13)
    raw = problem.scores(theta)
    for j, axis in enumerate(np.eye(problem.size)):
        direct = [problem.value(theta + step * axis) for step in steps]
        np.testing.assert_allclose(problem.probe(theta, j, steps), direct, rtol=1e-10)
        np.testing.assert_allclose(problem.probe(theta, j, steps, raw), direct, rtol=1e-10)


def test_a_step_of_a_parameter_is_one_of_the_scores(wrap):
    problem = objective(Logistic(), wrap=wrap)
    theta = np.random.default_rng(1).normal(size=problem.size)
    raw = problem.scores(theta)
    before = raw.copy()
    for j, axis in enumerate(np.eye(problem.size)):
        expected = problem.scores(theta + 0.7 * axis)
        np.testing.assert_allclose(problem.shifted(raw, j, 0.7), expected, atol=1e-10)
        step, saved = problem.axis_line(raw, j)
        line = problem.line(raw, problem.scores(axis))
        assert line[1] == pytest.approx(problem.errors(theta, raw) - saved)
        assert problem.errors(theta + step * axis) == pytest.approx(line[1])
    np.testing.assert_array_equal(raw, before)


@pytest.mark.parametrize("loss", [Logistic(), BetaBernoulli.binary(0.1, 0.6, 2.0)], ids=repr)
def test_errors_are_strict_and_weighted(loss):
    problem = objective(loss, fit_intercept=False)
    t, y, weight = loss.threshold, problem.y, problem.weight
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


def test_zero_parameters_without_an_intercept_are_all_wrong():
    problem = objective(Logistic(), fit_intercept=False)
    assert problem.errors(np.zeros(problem.size)) == pytest.approx(problem.weight.sum())


def test_with_gamma_sharpens_the_loss_alone():
    problem = objective(BetaBernoulli.binary(0.1, 0.8))
    sharp = problem.with_gamma(9.0)
    assert sharp.loss == BetaBernoulli.binary(0.1, 0.8, 9.0)
    assert problem.loss == BetaBernoulli.binary(0.1, 0.8, 1.0)
    assert sharp.design is problem.design
    assert sharp.with_loss(Logistic()).loss == Logistic()
    theta = np.ones(problem.size)
    doubled = problem.with_gamma(2.0).value(theta) - problem.prior.value(theta[:-1])
    plain = problem.value(2 * theta) - problem.prior.value(2 * theta[:-1])
    assert doubled == pytest.approx(plain, rel=1e-12)


def test_pure():
    """No call changes the argument, the data or what another call returns."""
    problem = objective(BetaBernoulli.binary(0.1, 0.8))
    theta = np.random.default_rng(1).normal(size=problem.size)
    copy, y, weight = theta.copy(), problem.y.copy(), problem.weight.copy()
    first = problem.value_gradient(theta)
    raw = first[2].copy()
    problem.probe(theta, 0, np.linspace(-1, 1, 7), first[2])
    problem.preconditioner(theta, first[2])(theta)
    problem.value_gradient(theta + 1)
    again = problem.value_gradient(theta)
    assert again[0] == first[0]
    np.testing.assert_array_equal(again[1], first[1])
    for found, expected in (
        (theta, copy), (problem.y, y), (problem.weight, weight), (first[2], raw)
    ):  # fmt: skip
        np.testing.assert_array_equal(found, expected)


def hessian(problem, theta, step=1e-5):
    columns = [
        (
            problem.value_gradient(theta + step * axis)[1]
            - problem.value_gradient(theta - step * axis)[1]
        )
        / (2 * step)
        for axis in np.eye(len(theta))
    ]
    return np.array(columns)


@pytest.mark.parametrize("l2", [0.1, 10.0])
def test_preconditioner_is_the_inverse_hessian_of_the_logistic_loss(l2, wrap):
    problem = objective(Logistic(), l2, n=3000, wrap=wrap)
    theta = 0.5 * np.random.default_rng(1).normal(size=problem.size)
    product = np.array([problem.preconditioner(theta)(row) for row in hessian(problem, theta)])
    assert np.abs(np.linalg.eigvals(product) - 1).max() < 0.5


def test_preconditioner_is_exact_on_few_rows():
    problem = objective(Logistic(), 1.0, n=60)
    theta = 0.5 * np.random.default_rng(1).normal(size=problem.size)
    product = np.array([problem.preconditioner(theta)(row) for row in hessian(problem, theta)])
    # All that is missing is the small constant on the diagonal.
    assert np.abs(np.linalg.eigvals(product) - 1).max() < 0.02


@pytest.mark.parametrize("origin", [0.0, 1e6, 1e8, 1e9])
@pytest.mark.parametrize("constant", [True, False])
def test_preconditioner_is_positive_definite_for_far_columns(origin, constant, wrap):
    """A column of time stamps, constant or not, must not turn the descent around."""
    X, y, weight = data()
    X[:, 0] = origin + 0.1 if constant else X[:, 0] + origin
    problem = Objective(
        Logistic(), Gaussian(1.0), ScaledDesign(make_design(wrap(X)), weight, True), y, weight
    )
    precondition = problem.preconditioner(np.zeros(problem.size))
    for vector in [*np.eye(5), *np.random.default_rng(0).normal(size=(20, 5))]:
        assert float(vector @ precondition(vector)) > 0


def test_preconditioner_where_every_slope_is_gone():
    problem = objective(BetaBernoulli.binary(0.1, 0.8, 1e6), l2=0.0)
    step = problem.preconditioner(np.full(problem.size, 50.0))(np.ones(problem.size))
    assert np.all(np.isfinite(step))


def test_wide_problems_get_a_diagonal():
    rng = np.random.default_rng(0)
    X = sparse.random_array((50, 2000), density=0.05, rng=rng, format="csr")
    y, weight = rng.choice([-1.0, 1.0], 50), np.ones(50)
    problem = Objective(
        Logistic(), Gaussian(1.0), ScaledDesign(make_design(X), weight, True), y, weight
    )
    precondition = problem.preconditioner(np.zeros(problem.size))
    assert precondition.factor is None
    expected = 1.0 / (0.25 * problem.design.column_squares(weight) + np.append(np.ones(2000), 0.0))
    found = precondition(np.ones(problem.size))
    np.testing.assert_allclose(found, expected, rtol=1e-2)


def test_preconditioner_multiplies_by_the_inverse():
    matrix = np.array([[4.0, 1.0], [1.0, 3.0]])
    factor = np.linalg.cholesky(matrix)
    np.testing.assert_allclose(Preconditioner(factor=factor)(matrix @ [1.0, 2.0]), [1.0, 2.0])
    np.testing.assert_allclose(
        Preconditioner(diagonal=np.array([2.0, 4.0]))(np.ones(2)), [0.5, 0.25]
    )
