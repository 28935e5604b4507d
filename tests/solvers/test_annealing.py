"""Annealing over gamma: stages, trace, and the best so far."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bblr.losses import BetaBernoulli, Sigmoid
from bblr.solvers import (
    LBFGS,
    Annealing,
    FisherScoring,
    GradientDescent,
    RangeSearch,
    Solution,
    geometric,
)

GAMMAS = (1.0, 2.0, 4.0, 8.0)


class Scripted:
    """A descent that visits given points, one per stage."""

    def __init__(self, points):
        self.points = iter(points)
        self.starts = []

    def minimise(self, objective, theta0, **_):
        self.starts.append((objective.loss.gamma, theta0.copy()))
        theta = np.array(next(self.points), float)
        return Solution(theta, objective.value(theta), float("nan"), "scripted", 1)


@pytest.fixture
def objective(make_objective):
    return make_objective(loss=BetaBernoulli.binary(0.1, 0.8), l2=0.1)


POINTS = [[2, -1, 0, 0.5], [2.2, -1, 0.1, 0.4], [-1, 0, 0, 0], [2, -1, 0.5, 1]]


def test_trace_tells_each_stage(objective):
    seen = []
    found = Annealing(GAMMAS, Scripted(POINTS)).minimise(
        objective, np.zeros(4), callback=lambda stage, best: seen.append(stage)
    )
    assert seen == found.trace
    assert [stage.gamma for stage in found.trace] == list(GAMMAS)
    for stage, point in zip(found.trace, POINTS, strict=True):
        sharp = objective.with_gamma(stage.gamma)
        assert stage.errors == sharp.errors(np.array(point))
        assert stage.value == pytest.approx(sharp.value(np.array(point)))
        assert (stage.n_iter, stage.reason) == (1, "scripted")
    assert found.n_iter == 4


def test_each_stage_starts_where_the_last_ended(objective):
    descent = Scripted(POINTS)
    Annealing(GAMMAS, descent).minimise(objective, np.full(4, 9.0))
    assert [gamma for gamma, _ in descent.starts] == list(GAMMAS)
    np.testing.assert_array_equal(
        [start for _, start in descent.starts], [[9.0] * 4, *POINTS[:-1]]
    )


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [2, 0, 1, 2], [3, 2, 0, 2], [2, 2, 2, 0]])
def test_best_is_no_worse_than_any_stage(objective, order):
    points = [POINTS[k] for k in order]
    found = Annealing(GAMMAS, Scripted(points), keep="best").minimise(objective, np.zeros(4))
    errors = [stage.errors for stage in found.trace]
    assert found.errors == min(errors) == objective.errors(found.theta)
    # Among equals the sharper one.
    chosen = max(k for k, count in enumerate(errors) if count == min(errors))
    np.testing.assert_array_equal(found.theta, points[chosen])
    assert found.gamma == GAMMAS[chosen]
    last = Annealing(GAMMAS, Scripted(points), keep="last").minimise(objective, np.zeros(4))
    np.testing.assert_array_equal(last.theta, points[-1])
    assert (last.errors, last.gamma) == (errors[-1], GAMMAS[-1])


@pytest.mark.parametrize("descent", [LBFGS(), FisherScoring(), GradientDescent()])
@pytest.mark.parametrize(
    "search", [None, RangeSearch(2.0, 0.2), RangeSearch(2.0, 0.2, first=True)]
)
@pytest.mark.parametrize(
    "loss", [BetaBernoulli.binary(0.1, 0.8), Sigmoid()], ids=["bb", "sigmoid"]
)
def test_same_input_same_bits(make_objective, descent, search, loss):
    objective, start = make_objective(loss=loss, l2=0.1), np.zeros(4)
    one, two = (Annealing(GAMMAS, descent, search).minimise(objective, start) for _ in range(2))
    assert np.all(start == 0)
    assert one.theta.tobytes() == two.theta.tobytes()
    assert one.trace == two.trace
    assert one.errors == objective.with_gamma(one.gamma).errors(one.theta)
    assert one.errors <= min(stage.errors for stage in one.trace)
    assert one.errors < 50


def test_search_shrinks_from_stage_to_stage(objective):
    used = []

    class Watched(RangeSearch):
        def minimise(self, problem, theta0, **options):
            used.append((problem.loss.gamma, self.radius, self.spacing))
            return super().minimise(problem, theta0, **options)

    search = Watched(radius=8.0, spacing=0.2)
    Annealing((2.0, 20.0, 200.0), search=search).minimise(objective, np.zeros(4))
    expected = [(2.0, 8.0, 0.2), (20.0, 4.0, 0.1), (200.0, 2.0, 0.05)]
    np.testing.assert_allclose(sorted(set(used)), expected)
    assert (search.radius, search.spacing) == (8.0, 0.2)


class Stay:
    """A descent that never moves."""

    def __init__(self):
        self.starts = []

    def minimise(self, objective, theta0, **_):
        self.starts.append(theta0.copy())
        return Solution(theta0, objective.value(theta0), float("nan"), "stayed", 1)


def test_a_search_that_gains_starts_the_descent_again(objective):
    descent, bad = Stay(), np.array([-4.0, 4.0, 0.0, -3.0])
    found = Annealing((8.0,), descent, RangeSearch()).minimise(objective, bad)
    assert len(descent.starts) == found.n_iter > 1
    np.testing.assert_array_equal(found.theta, descent.starts[-1])
    values = [objective.with_gamma(8.0).value(theta) for theta in descent.starts]
    assert all(after <= before - 0.1 for before, after in pairwise(values))
    assert found.reason == "stayed"


def test_the_round_limit_is_named_and_the_last_step_kept(objective):
    bad = np.array([-4.0, 4.0, 0.0, -3.0])
    found = Annealing((8.0,), Stay(), RangeSearch(), max_rounds=1).minimise(objective, bad)
    assert found.reason == "round limit"
    assert found.value < objective.with_gamma(8.0).value(bad) - 0.1


def test_loose_stages_but_the_last(objective):
    tight = Annealing(GAMMAS, LBFGS(tol=1e-10)).minimise(objective, np.zeros(4))
    loose = Annealing(GAMMAS, LBFGS(tol=1e-10), loose=1e8).minimise(objective, np.zeros(4))
    assert sum(s.n_iter for s in loose.trace[:-1]) < sum(s.n_iter for s in tight.trace[:-1])
    assert loose.trace[-1].value == pytest.approx(tight.trace[-1].value, rel=1e-6)


def test_no_stage_is_an_error(objective):
    with pytest.raises(ValueError, match="gammas"):
        Annealing(()).minimise(objective, np.zeros(4))


def test_an_unknown_choice_to_keep_is_an_error(objective):
    with pytest.raises(ValueError, match="keep"):
        Annealing(GAMMAS, keep="bset").minimise(objective, np.zeros(4))


@pytest.mark.parametrize("method", ["with_gamma", "errors", "scores"])
def test_missing_methods_are_named(method):
    class Bare:
        with_gamma = scores = errors = staticmethod(lambda *_: None)

    setattr(Bare, method, None)
    with pytest.raises(TypeError, match=f"annealing.*{method}.*Bare"):
        Annealing(GAMMAS).minimise(Bare(), np.zeros(2))


@settings(max_examples=200)
@given(low=st.floats(0.1, 10), times=st.floats(1, 1e4), growth=st.floats(1.05, 50))
def test_geometric_schedule(low, times, growth):
    high = low * times
    gammas = geometric(low, high, growth)
    assert gammas[0] == low
    assert gammas[-1] == pytest.approx(high, rel=1e-8)
    assert all(a < b for a, b in pairwise(gammas))
    ratios = np.array(gammas[1:]) / np.array(gammas[:-1])
    np.testing.assert_allclose(ratios[:-1], growth, rtol=1e-9)
    assert np.all(ratios <= growth * (1 + 1e-8))


def test_geometric_ends_exactly_at_the_top():
    assert geometric(1, 3, 3 ** (1 / 3))[-1] == 3.0
    assert geometric(4, 4, 2) == (4.0,)


class Impatient(float):
    """A growth that counts its uses, so that a loop without an end is noticed and left."""

    used = 0

    def __rmul__(self, other):
        Impatient.used += 1
        assert Impatient.used < 1000, "the schedule does not end"
        return other * float(self)


@pytest.mark.parametrize(
    ("low", "high", "growth"), [(1, 8, 1.0), (1, 8, 0.5), (8, 1, 2), (0, 8, 2)]
)
def test_geometric_refuses_schedules_that_lead_nowhere(low, high, growth):
    Impatient.used = 0
    with pytest.raises(ValueError, match=r"gamma_min|growth"):
        geometric(low, high, Impatient(growth))


def test_only_descents_that_remember_steps_are_told_of_them(objective):
    class Still:
        def minimise(self, problem, theta0):
            return Solution(theta0, problem.value(theta0), float("nan"), "still", 1)

    known = LBFGS().minimise(objective, np.zeros(4)).pairs
    found = Annealing((1.0, 2.0), descent=Still(), pairs=known).minimise(objective, np.ones(4))
    np.testing.assert_array_equal(found.theta, np.ones(4))
