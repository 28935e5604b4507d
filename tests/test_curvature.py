"""Curvatures to precondition with, and the Fisher information that they stand for."""

import numpy as np
import pytest
from scipy import sparse

from bblr.curvature import Cholesky, Diagonal, SharedEigenvectors, curvature_of, newton
from bblr.curvature import shared_eigenvectors as shared
from bblr.designs import ScaledDesign, make_design
from bblr.losses import BetaBernoulli, Logistic, Plateaus
from bblr.objective import Objective
from bblr.penalties import Gaussian, GaussLaplace
from tests.problems import EVEN, STORED, THREE, data, objective, somewhere


@pytest.fixture(params=STORED)
def stored(request):
    return request.param


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


def inverse(problem, theta):
    """Return the preconditioner as a matrix."""
    solve = problem.preconditioner(theta)
    return np.array([solve(axis) for axis in np.eye(problem.size)])


@pytest.mark.parametrize("l2", [0.1, 10.0])
def test_one_score_has_the_inverse_hessian_of_the_logistic_loss(l2, stored):
    problem = objective(Logistic(), Gaussian(l2), stored=stored, n=3000)
    theta = somewhere(problem, 0.5)
    product = hessian(problem, theta) @ inverse(problem, theta)
    assert np.abs(np.linalg.eigvals(product) - 1).max() < 0.5


def test_one_score_has_an_exact_inverse_on_few_rows():
    problem = objective(Logistic(), n=60)
    theta = somewhere(problem, 0.5)
    product = hessian(problem, theta) @ inverse(problem, theta)
    # All that is missing is the small constant on the diagonal.
    assert np.abs(np.linalg.eigvals(product) - 1).max() < 0.02


@pytest.mark.parametrize("loss", [Logistic(), BetaBernoulli.binary(0.1, 0.6), THREE], ids=str)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_information_is_the_weighted_second_moments_and_the_penalty(loss, fit_intercept, stored):
    problem = objective(loss, Gaussian(0.7), fit_intercept, stored)
    theta = somewhere(problem, 0.5)
    Z = (problem.design.design.table() - problem.design.centre) / problem.design.scale
    Z = np.column_stack([Z, np.ones(len(Z))]) if fit_intercept else Z
    fisher = (problem.weight * np.atleast_2d(loss.curvature(problem.scores(theta)).T)).T
    floor = np.diag([0.7] * 4 + [0.0] * fit_intercept)
    found = problem.information(theta)
    assert len(found) == loss.n_scores
    for k, matrix in enumerate(found):
        np.testing.assert_allclose(matrix, Z.T @ (fisher[:, [k]] * Z) + floor, atol=1e-8)


@pytest.mark.parametrize("loss", [EVEN, BetaBernoulli(Plateaus((0.2, 0.1, 0.0)), 2.0)], ids=str)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_several_scores_share_eigenvectors_exactly_where_all_rows_bend_alike(loss, fit_intercept):
    """At zero they do; what is missing is what scores have to do with one another."""
    problem = objective(loss, Gaussian(0.5), fit_intercept)
    theta = np.zeros(problem.size)
    matrix, size = np.linalg.inv(inverse(problem, theta)), problem.design.size
    for k, expected in enumerate(problem.information(theta)):
        block = matrix[k * size : (k + 1) * size, k * size : (k + 1) * size]
        np.testing.assert_allclose(block[:4, :4], expected[:4, :4], rtol=5e-3, atol=1e-6)
        if fit_intercept:
            assert block[-1, -1] == pytest.approx(expected[-1, -1])
            assert np.abs(block[-1, :4]).max() < 1e-8
    off = matrix.copy()
    for k in range(3):
        off[k * size : (k + 1) * size, k * size : (k + 1) * size] = 0.0
    assert np.abs(off).max() < 1e-8 * np.abs(matrix).max()


@pytest.mark.parametrize("loss", [Logistic(), BetaBernoulli.binary(0.1, 0.6), THREE], ids=str)
@pytest.mark.parametrize("origin", [0.0, 1e6, 1e8, 1e9])
@pytest.mark.parametrize("constant", [True, False])
def test_it_is_positive_definite_for_far_columns(loss, origin, constant, stored):
    """A column of time stamps, constant or not, must not turn the descent around."""
    X, y, weight = data(loss.n_classes)
    X[:, 0] = origin + 0.1 if constant else X[:, 0] + origin
    design = ScaledDesign(make_design(STORED[stored](X)), weight, True)
    problem = Objective(loss, Gaussian(1.0), design, y, weight)
    precondition = problem.preconditioner(np.zeros(problem.size))
    rng = np.random.default_rng(0)
    for vector in [*np.eye(problem.size), *rng.normal(size=(20, problem.size))]:
        assert float(vector @ precondition(vector)) > 0


@pytest.mark.parametrize("low", [(0.1, 0.1), (0.1, 0.1, 0.1)])
@pytest.mark.parametrize("gamma", [1e6, 1e12])
def test_it_stays_finite_where_every_slope_is_gone(low, gamma):
    problem = objective(BetaBernoulli(Plateaus(low), gamma), Gaussian(0.0))
    for theta in (np.full(problem.size, 50.0), somewhere(problem, 50.0)):
        step = problem.preconditioner(theta)(np.ones(problem.size))
        assert np.all(np.isfinite(step)) and np.all(step > 0)


def wide(loss):
    rng = np.random.default_rng(0)
    X = sparse.csr_array(rng.standard_normal((50, 2000)) * (rng.random((50, 2000)) < 0.05))
    y = rng.choice([-1.0, 1.0], 50) if loss.n_scores == 1 else rng.integers(0, 3, 50)
    design = ScaledDesign(make_design(X), np.ones(50), True)
    return Objective(loss, Gaussian(1.0), design, y, np.ones(50))


def test_wide_problems_of_one_score_get_a_diagonal():
    problem = wide(Logistic())
    precondition = problem.preconditioner(np.zeros(problem.size))
    assert isinstance(precondition, Diagonal)
    floor = np.append(np.ones(problem.size - 1), 0.0)
    expected = 1.0 / (0.25 * problem.design.column_squares(problem.weight) + floor)
    np.testing.assert_allclose(precondition(np.ones(problem.size)), expected, rtol=1e-2)


def test_wide_problems_of_several_scores_get_a_diagonal():
    problem = wide(EVEN)
    precondition = problem.preconditioner(np.zeros(problem.size))
    assert isinstance(precondition, SharedEigenvectors) and precondition.vectors is None
    bend = float(EVEN.curvature(np.zeros((1, 3)))[0, 0])
    square = bend * problem.design.column_squares(problem.weight)[:-1]
    expected = 1.0 / (square + 1.0)
    found = precondition(np.ones(problem.size)).reshape(3, -1)
    np.testing.assert_allclose(found[:, :-1], [expected] * 3, rtol=1e-2)
    np.testing.assert_allclose(found[:, -1], 1.0 / (50 * bend), rtol=1e-9)


def test_rows_on_plateaus_leave_intercepts_some_curvature():
    problem = wide(EVEN)
    theta = np.zeros(problem.size)
    theta[-1] = 40.0  # the third class is sure of every row
    steps = [
        problem.preconditioner(theta, None, least)(np.ones(problem.size)) for least in (0, 0.01)
    ]
    bare, kept = (step.reshape(3, -1) for step in steps)
    np.testing.assert_array_equal(kept[:, :-1], bare[:, :-1])
    np.testing.assert_allclose(kept[:, -1], 1.0 / (0.01 * 50), rtol=1e-12)
    assert bare[:, -1].min() > 10.0 * kept[:, -1].max()


@pytest.mark.parametrize("loss", [Logistic(), EVEN], ids=str)
def test_uncorrelated_columns_need_no_more_than_a_diagonal(loss):
    problem = objective(loss)
    theta = np.zeros(problem.size)
    assert isinstance(problem.preconditioner(theta), Cholesky | SharedEigenvectors)
    problem.design.uncorrelated = True
    matrix = inverse(problem, theta)
    np.testing.assert_array_equal(matrix, np.diag(np.diag(matrix)))


def test_a_penalty_that_differs_by_weight_leaves_no_shared_eigenvectors():
    problem = objective(EVEN, GaussLaplace())
    assert problem.preconditioner(np.zeros(problem.size)).vectors is not None
    assert problem.preconditioner(somewhere(problem)).vectors is None


def test_the_strategy_follows_the_number_of_scores():
    assert curvature_of(objective(Logistic())) is newton
    assert curvature_of(objective(EVEN)) is shared


def test_each_multiplies_by_its_inverse():
    matrix = np.array([[4.0, 1.0], [1.0, 3.0]])
    vector = np.array([1.0, 2.0])
    np.testing.assert_allclose(Cholesky(np.linalg.cholesky(matrix))(matrix @ vector), vector)
    np.testing.assert_allclose(Diagonal(np.array([2.0, 4.0]))(np.ones(2)), [0.5, 0.25])
    values, vectors = np.linalg.eigh(matrix)
    two = SharedEigenvectors(vectors, np.array([values, 2 * values]), np.array([5.0, 10.0]), True)
    found = two(np.concatenate([matrix @ vector, [5.0], 2 * matrix @ vector, [10.0]]))
    np.testing.assert_allclose(found, [1.0, 2.0, 1.0, 1.0, 2.0, 1.0])
