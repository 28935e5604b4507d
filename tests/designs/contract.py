"""What every design must do, for one score per row and for three: the plain formula."""

import numpy as np
import pytest

from bblr._numeric.sampling import systematic
from bblr._numeric.zero_one import zero_one_line
from bblr.losses import BetaBernoulli, Hinge, Logistic, Plateaus, Sigmoid
from tests.designs.cases import N_ROWS

STEPS = np.linspace(-1.0, 1.0, 9)


class Unfused(BetaBernoulli):
    """A loss that no kernel knows."""

    fused = None


LOSSES = {
    1: [
        Logistic(),
        BetaBernoulli.binary(0.05, 0.7, 3.0),
        BetaBernoulli.binary(0.0, 0.9),
        Sigmoid(4.0),
        Hinge(),
    ],
    3: [
        BetaBernoulli(Plateaus.symmetric(0.3, 3), 1.5),
        BetaBernoulli(Plateaus((0.1, 0.05, 0.0)), 2.0),
        BetaBernoulli(Plateaus.none(3)),
        Unfused(Plateaus((0.1, 0.05, 0.2))),
    ],
}


class Problem:
    """Weights of as many scores as asked for, labels, and weights of which many are zero."""

    def __init__(self, case, n_scores):
        rng = np.random.default_rng(n_scores)
        X, d = case.X, case.X.shape[1]
        self.coef = rng.normal(size=(n_scores, d)) / np.maximum(1.0, np.abs(X).max(axis=0))
        self.coef[0, 2] = 0.0
        self.intercepts = rng.normal(size=n_scores)
        self.weight = rng.uniform(0.5, 2.0, N_ROWS) * (rng.random(N_ROWS) < 0.9)
        self.weight[:250] = 0.0  # whole blocks that do not count
        self.y = rng.integers(0, 3, N_ROWS) if n_scores > 1 else rng.choice([-1.0, 1.0], N_ROWS)
        raw = X @ self.coef.T + self.intercepts
        self.raw = raw if n_scores > 1 else raw[:, 0]
        self.losses = LOSSES[n_scores]


def close(found, expected, rtol=1e-10, reach=0.0):
    scale = max(np.max(np.abs(expected), initial=0.0), reach)
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=rtol * scale)


def moved(raw, k, change):
    raw = raw.copy()
    (raw[:, None] if raw.ndim == 1 else raw)[:, k] += change
    return raw


def centre_scale(case):
    rng, d = np.random.default_rng(4), case.X.shape[1]
    return rng.normal(size=d), rng.uniform(0.5, 2, d)


def assert_moments_about(found, Z, weight):
    close(found.cross, Z.T @ (weight[:, None] * Z))
    close(found.edge, weight @ Z, reach=np.abs(weight @ np.abs(Z)).max())
    assert found.total == pytest.approx(weight.sum())


class Contract:
    """The tests; a subclass brings the fixture `case`."""

    @pytest.fixture(params=[1, 3], ids=["one score", "three scores"])
    def n_scores(self, request):
        return request.param

    @pytest.fixture
    def problem(self, case, n_scores):
        return Problem(case, n_scores)

    @pytest.fixture
    def weight(self, case):
        return Problem(case, 1).weight

    def test_shape(self, case):
        assert (case.design.n_rows, case.design.n_features) == case.X.shape
        np.testing.assert_allclose(case.design.table(), case.X, rtol=1e-12, atol=1e-14)

    def test_scores(self, case, problem):
        found = case.local(case.design.scores(problem.coef, problem.intercepts))
        assert found.shape == problem.raw.shape and found.dtype == np.float64
        close(found, problem.raw, case.products)

    def test_value_gradient(self, case, problem):
        y, weight = case.vector(problem.y), case.vector(problem.weight)
        for loss in problem.losses:
            done = case.design.value_gradient(problem.coef, problem.intercepts, y, weight, loss)
            raw = case.local(done.raw)
            close(raw, problem.raw, case.products)
            # From the scores onwards everything but the products with X is float64.
            value, gradient = loss.value_gradient(problem.y, raw)
            assert done.value == pytest.approx(value @ problem.weight, rel=1e-11)
            residual = problem.weight * np.atleast_2d(gradient.T)
            assert done.gradient.shape == problem.coef.shape
            size = np.abs(residual) @ np.abs(case.X)
            close(done.gradient, residual @ case.X, case.products, size.max())
            close(
                done.slopes,
                residual.sum(axis=1),
                case.products,
                np.abs(residual).sum(axis=1).max(),
            )

    def test_rmatvec(self, case, weight):
        vector = weight * np.random.default_rng(5).normal(size=N_ROWS)
        size = np.abs(vector) @ np.abs(case.X)
        found = case.design.rmatvec(case.vector(vector))
        close(found, vector @ case.X, case.products, size.max())

    def test_columns(self, case):
        for j in range(case.design.n_features):
            for centre in (0.0, 1.5):
                found = case.local(case.design.along(j, centre))
                close(found, case.X[:, j] - centre, 1e-12)
            rows, values = case.design.column(j)
            column = np.zeros(N_ROWS)
            column[slice(None) if rows is None else rows] = case.local(values)
            close(column, case.X[:, j], 1e-12)
            assert column.dtype == np.float64

    def test_probes(self, case, problem):
        raw, y, weight = (case.vector(v) for v in (problem.raw, problem.y, problem.weight))
        looks = [(None, 0.0, 0, STEPS)]
        for k in range(len(problem.coef)):
            looks += [(j, centre, k, STEPS / 3) for j in (0, 1, 3) for centre in (0.0, 1.5)]
        looks.append((2, 0.0, 0, STEPS**3))
        for loss in problem.losses[1:]:
            found = case.design.probes(raw, looks, y, weight, loss)
            for (j, centre, k, steps), costs in zip(looks, found, strict=True):
                change = np.ones(N_ROWS) if j is None else case.X[:, j] - centre
                values = [loss.value(problem.y, moved(problem.raw, k, s * change)) for s in steps]
                np.testing.assert_allclose(costs, np.array(values) @ problem.weight, rtol=1e-9)
            (single,) = case.design.probes(raw, looks[2:3], y, weight, loss)
            np.testing.assert_allclose(single, found[2], rtol=1e-12)

    def test_shifted(self, case, problem):
        raw = case.vector(problem.raw)
        for k in range(len(problem.coef)):
            for j in range(case.design.n_features):
                for centre in (0.0, 1.5):
                    found = case.local(case.design.shifted(raw, j, centre, k, 0.3))
                    expected = moved(problem.raw, k, 0.3 * (case.X[:, j] - centre))
                    close(found, expected, 1e-12)
        np.testing.assert_array_equal(case.local(raw), problem.raw)

    def test_axis_line(self, case, problem):
        decision, y, weight = (case.vector(v) for v in (problem.raw, problem.y, problem.weight))
        loss = problem.losses[0]
        here = problem.weight @ loss.wrong(problem.y, problem.raw)
        gains = []
        for k in range(len(problem.coef)):
            for j in range(case.design.n_features):
                for centre in (0.0, 1.5):
                    step, errors, before = case.design.axis_line(decision, j, centre, k, y, weight)
                    change = moved(np.zeros_like(problem.raw), k, case.X[:, j] - centre)
                    best = zero_one_line(problem.raw, change, problem.y, problem.weight)
                    assert before - errors == pytest.approx(here - best[1], abs=1e-9)
                    there = problem.weight @ loss.wrong(problem.y, problem.raw + step * change)
                    assert here - there == pytest.approx(before - errors, abs=1e-9)
                    gains.append(before - errors)
        assert max(gains) > 0

    def test_moments(self, case, weight):
        found = case.design.moments(case.vector(weight))
        mean = np.average(case.X, axis=0, weights=weight)
        assert found.total == pytest.approx(weight.sum(), rel=1e-14)
        close(found.mean, mean)
        close(found.mean_square, np.average(case.X**2, axis=0, weights=weight))
        close(found.variance, np.average((case.X - mean) ** 2, axis=0, weights=weight))
        # A constant column has no variance, whatever the rounding of its mean.
        constant = np.ptp(case.X, axis=0) == 0
        assert np.all(found.variance[constant] <= 1e-25)
        close(found.nonzero, np.average(case.X != 0, axis=0, weights=weight))

    def test_square_norm(self, case):
        centre, scale = centre_scale(case)
        expected = np.sum(((case.X - centre) / scale) ** 2, axis=1)
        close(case.local(case.design.square_norm(centre, scale)), expected)

    def test_column_squares(self, case, weight):
        centre, _ = centre_scale(case)
        expected = weight @ (case.X - centre) ** 2
        close(case.design.column_squares(case.vector(weight), centre), expected)

    def test_curvature(self, case, weight):
        centre, _ = centre_scale(case)
        weight = weight + 0.1
        for some in (np.array([3, 1000, 7, 64, 65]), np.arange(N_ROWS)):
            found = case.design.curvature(some, weight[some], centre)
            assert_moments_about(found, case.X[some] - centre, weight[some])

    @pytest.mark.parametrize("most", [50, N_ROWS])
    def test_sampled_curvature(self, case, weight, most):
        """The sample is that of a single machine, wherever the rows are."""
        centre, _ = centre_scale(case)
        size = np.linspace(1, 5, N_ROWS)
        found = case.design.sampled_curvature(case.vector(weight), case.vector(size), most, centre)
        rows, own = systematic(weight, size, most)
        assert_moments_about(found, case.X[rows] - centre, own)

    def test_some_rows(self, case):
        rows = np.array([0, 3, 4, 500, 1099])
        found = case.design.some_rows(rows)
        if found is not None:  # a design may decline
            close(found, case.X[rows], 1e-12)
