"""Direct zero-one solvers against brute force, and what they may claim."""

import random
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import linprog

from bblr.solvers.zero_one import (
    Boxes,
    BranchAndBound,
    BranchAndCut,
    CombinatorialApproximation,
    CombinatorialSearch,
    Enumeration,
    Progress,
    VertexSearch,
    ZeroOneProblem,
    sweep,
    widest,
)
from bblr.solvers.zero_one.certificates import (
    _dependence,
    contradiction,
    contradictory,
    whole_numbers,
)
from bblr.solvers.zero_one.problem import distinct
from bblr.solvers.zero_one.proofs.mip import CutTree

PROVERS = [BranchAndCut(), BranchAndBound(), Boxes(), Enumeration()]
SEARCH = VertexSearch(legs=2, steps=400)
SEARCHES = [SEARCH, CombinatorialSearch(), CombinatorialApproximation()]


def brute_force(problem):
    """The least loss, by the sets of rows that can be right together, the lightest rest first."""
    rows, weight = problem.given, problem.weight
    n = len(weight)
    sets = [list(c) for k in range(n + 1) for c in combinations(range(n), k)]
    free = [(None, None)] * rows.shape[1]
    for wrong in sorted(sets, key=lambda c: weight[c].sum()):
        kept = np.delete(rows, wrong, axis=0)
        if (
            len(kept) == 0
            or linprog(
                np.zeros(rows.shape[1]), A_ub=-kept, b_ub=-np.ones(len(kept)), bounds=free
            ).status
            == 0
        ):
            return problem.base + weight[wrong].sum()
    raise AssertionError("the empty set of right rows is always possible")


def tiny(seed, dimensions=(1, 2, 3)):
    """A random problem: on a grid, with duplicates and weights, or in general position."""
    rng = np.random.default_rng(seed)
    while True:
        made = draw(rng, dimensions)
        # Where every row contradicts an equal one, nothing is left to solve.
        if len(made[3].weight):
            return made


def draw(rng, dimensions):
    n, d = int(rng.integers(2, 15)), int(rng.choice(dimensions))
    grid = rng.random() < 0.6
    X = rng.integers(-2, 3, (n, d)).astype(float) if grid else rng.normal(size=(n, d))
    y = rng.choice([-1.0, 1.0], n)
    weight = rng.integers(1, 4, n).astype(float) if rng.random() < 0.5 else np.ones(n)
    problem = ZeroOneProblem.from_data(X, y, weight, fit_intercept=bool(rng.integers(0, 4)))
    return X, y, weight, problem, rng.normal(size=problem.size)


@pytest.mark.parametrize("seed", range(40))
def test_solvers_equal_brute_force_on_tiny_problems(seed):
    *_, problem, start = tiny(seed)
    least = brute_force(problem)
    for solver in [*PROVERS, *SEARCHES]:
        if isinstance(solver, Enumeration) and problem.size > 3:
            continue
        found = solver.minimise(problem, start, Progress(60), rng=np.random.default_rng(0))
        assert found.loss == problem.loss(found.theta)
        assert found.bound <= least <= found.loss
        if solver in PROVERS:
            assert found.loss == found.bound == least
        if solver is SEARCH:
            assert found.loss == least


@pytest.mark.parametrize("seed", range(100, 140))
def test_boxes_by_themselves_prove_nothing_false(seed, monkeypatch):
    """On a grid many rows pass through one point, and boxes may give up with a lesser bound."""
    monkeypatch.setattr(CutTree, "grow", lambda *_: "left to the boxes")
    *_, problem, start = tiny(seed, (1, 2, 3, 4))
    least = brute_force(problem)
    found = Boxes().minimise(problem, start, Progress(60), n_jobs=1)
    assert found.bound <= least <= found.loss == problem.loss(found.theta)
    assert (found.bound == found.loss) == (found.reason == "proved optimal")


@pytest.mark.parametrize("seed", range(3))
def test_boxes_and_branch_and_cut_agree(seed):
    problem, start = overlapping(60, 3, seed)
    losses = {
        solver.minimise(problem, start, Progress(60)).bound for solver in (Boxes(), BranchAndCut())
    }
    assert len(losses) == 1


def test_boxes_keep_their_bounds_under_rounding():
    """Far from the origin few digits of the features are left, but all of them count."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(40, 2))
    y = np.where(X[:, 0] + rng.normal(size=40) > 0, 1.0, -1.0)
    far = 1e8 + np.round(X, 3)
    problem = ZeroOneProblem.from_data(far, y, np.ones(40))
    exact = Enumeration().minimise(problem, problem.rows.mean(axis=0), Progress(60))
    found = Boxes().minimise(problem, problem.rows.mean(axis=0), Progress(60))
    assert found.bound == exact.bound == exact.loss


@pytest.mark.parametrize("seed", range(30))
def test_a_problem_keeps_the_loss_of_the_data(seed):
    """Merging equal rows changes no loss, and weights stand for copies."""
    X, y, weight, problem, theta = tiny(seed)
    coef, intercept = problem.unpack(theta)
    raw = X @ coef + intercept
    if np.all(np.abs(raw) > 1e-9):
        assert problem.loss(theta) == weight @ (y * raw <= 0)
    np.testing.assert_allclose(problem.pack(coef, intercept), theta, atol=1e-9)
    copies = np.repeat(np.arange(len(y)), weight.astype(int))
    again = ZeroOneProblem.from_data(
        X[copies], y[copies], np.ones(len(copies)), problem.fit_intercept
    )
    for name in ("rows", "given", "weight", "label"):
        np.testing.assert_array_equal(getattr(again, name), getattr(problem, name))
    assert again.base == problem.base


@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (60, 1), (60, 3), (60, 12), (300, 14)])
@pytest.mark.parametrize("values", [2, 4, 10**6])
def test_distinct_rows_are_those_of_numpy(shape, values):
    """With equal rows and without, and where only late columns tell rows apart."""
    rng = np.random.default_rng(values)
    points = rng.integers(-values, values, shape).astype(float)
    points[: len(points) // 3] = points[len(points) - len(points) // 3 :]
    for early in (points, np.hstack([np.zeros((len(points), 11)), points])):
        expected = np.unique(early, axis=0, return_inverse=True)
        for found, other in zip(distinct(early), expected, strict=True):
            np.testing.assert_array_equal(found, other.reshape(found.shape))


def test_a_row_of_zeros_is_wrong_without_an_intercept():
    X = np.array([[0.0], [1.0]])
    assert ZeroOneProblem.from_data(X, np.ones(2), np.ones(2), fit_intercept=False).base == 1.0
    assert ZeroOneProblem.from_data(X, np.ones(2), np.ones(2)).base == 0.0


def test_contradictions_are_proved_exactly():
    """Three points on a line, the middle one of the other class, contradict each other."""
    third = 1.0 / 3.0
    rows = np.array([[0.0, 1.0], [-1.0, -1.0], [2.0, 1.0]])
    assert contradiction(rows, [0, 1, 2]) == (0, 1, 2)
    assert contradiction(rows, [0, 1]) is None
    # In floating point 3 * (1/3) is 1, but the number called 1/3 is a little less than a third.
    exact = np.array([[third, 1.0], [-1.0, -3.0]])
    assert third * 3.0 == 1.0
    assert contradiction(exact, [0, 1]) is None
    opposite = np.array([[third, 1.0], [-third, -1.0]])
    assert contradiction(opposite, [0, 1]) == (0, 1)


def test_whole_numbers_are_the_row_times_a_power_of_two():
    row = np.array([0.1, -3.0, 1e-300, 7e200])
    numbers = whole_numbers(row)
    factors = {Fraction(v) / Fraction(float(x)) for v, x in zip(numbers, row, strict=True)}
    factor = factors.pop()
    assert not factors
    assert factor.denominator == 1
    assert factor.numerator & (factor.numerator - 1) == 0


def rank(rows):
    rows = [[Fraction(v) for v in row] for row in rows]
    found = 0
    for column in range(len(rows[0])):
        pivot = next((k for k in range(found, len(rows)) if rows[k][column]), None)
        if pivot is not None:
            rows[found], rows[pivot] = rows[pivot], rows[found]
            for k in range(found + 1, len(rows)):
                factor = rows[k][column] / rows[found][column]
                rows[k] = [b - factor * a for a, b in zip(rows[found], rows[k], strict=True)]
            found += 1
    return found


@pytest.mark.parametrize("seed", range(20))
def test_a_dependence_vanishes_and_is_the_only_one(seed):
    rng = random.Random(seed)
    for _ in range(20):
        d = rng.randint(1, 6)
        large = rng.choice([3, 10**18])
        count = rng.randint(1, d + 2)
        rows = [[rng.randint(-large, large) for _ in range(d)] for _ in range(count)]
        rows[rng.randrange(count)] = [a + 2 * b for a, b in zip(rows[0], rows[-1], strict=True)]
        found = _dependence(rows)
        assert (found is not None) == (len(rows) - rank(rows) == 1)
        if found is not None:
            assert any(found)
            sums = [sum(v * row[j] for v, row in zip(found, rows, strict=True)) for j in range(d)]
            assert not any(sums)


@pytest.mark.parametrize("seed", range(10))
def test_widest_or_contradictory(seed):
    """Gordan: either a theta with positive scores, or a combination that vanishes."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(8, 3)) + rng.normal(size=3)
    theta, margin = widest(rows)
    assert (margin > 1e-9) != contradictory(rows, rows)
    if margin > 1e-9:
        assert np.all(rows @ theta > 0)


def overlapping(n=120, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where(X @ rng.normal(size=d) + rng.normal(size=n) > 0, 1.0, -1.0)
    problem = ZeroOneProblem.from_data(X, y, np.ones(n))
    return problem, problem.rows.mean(axis=0)


def compiled(solver):
    """Let a solver do a little work, lest what it compiles count against its time."""
    solver.minimise(*overlapping(12, 2), Progress(60), rng=np.random.default_rng(0))


def test_a_seed_decides_the_search_whatever_the_threads():
    problem, start = overlapping()
    found = [
        VertexSearch(legs=3, steps=300).minimise(
            problem, start, Progress(), rng=np.random.default_rng(7), n_jobs=jobs
        )
        for jobs in (1, 2, 4)
    ]
    for other in found[1:]:
        np.testing.assert_array_equal(other.theta, found[0].theta)
    assert found[0].loss < problem.loss(start)


@pytest.mark.parametrize("solver", [*PROVERS[:3], *SEARCHES], ids=lambda s: type(s).__name__)
def test_the_best_so_far_comes_back_when_time_is_up(solver):
    compiled(solver)
    problem, start = overlapping(400, 8)
    progress = Progress(0.3)
    found = solver.minimise(problem, start, progress, rng=np.random.default_rng(0))
    assert found.loss <= problem.loss(start)
    assert found.bound <= found.loss
    assert progress.seconds < 30
    losses = [moment.loss for moment in progress.trace]
    bounds = [moment.bound for moment in progress.trace]
    assert losses == sorted(losses, reverse=True)
    assert bounds == sorted(bounds)


@pytest.mark.parametrize("seed", range(5))
def test_a_sweep_notes_what_it_finds(seed):
    problem, start = overlapping(80, 3, seed)
    progress = Progress()
    progress.found(start, problem.loss(start))
    sweep(problem, start, progress)
    assert progress.loss == problem.loss(progress.theta)
    assert len(progress.trace) > 1
    # The last direction is the strongest: no point along it is better any more.
    strongest = np.linalg.eigh(problem.rows.T @ problem.rows)[1][:, -1]
    along = progress.theta + np.linspace(-9, 9, 999)[:, None] * strongest
    assert min(problem.loss(theta) for theta in along) == progress.loss


def test_search_is_at_least_as_good_as_the_others():
    compiled(VertexSearch())
    problem, start = overlapping()
    losses = [
        solver.minimise(problem, start, Progress(3), rng=np.random.default_rng(0)).loss
        for solver in (VertexSearch(), CombinatorialSearch(), CombinatorialApproximation())
    ]
    assert losses[0] == min(losses)


def test_rows_that_do_not_span_the_parameters():
    """A feature twice, and a constant one, leave directions in which nothing happens."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(60, 2))
    y = np.where(x[:, 0] + 0.5 * rng.normal(size=60) > 0, 1.0, -1.0)
    plain = ZeroOneProblem.from_data(x, y, np.ones(60))
    twice = ZeroOneProblem.from_data(np.c_[x, x[:, 0], np.full(60, 4.0)], y, np.ones(60))
    for solver in (VertexSearch(legs=2), BranchAndCut()):
        results = [
            solver.minimise(p, p.rows.mean(axis=0), Progress(30), rng=np.random.default_rng(0))
            for p in (plain, twice)
        ]
        assert results[0].loss == results[1].loss


def test_enumeration_is_for_few_features():
    problem, start = overlapping()
    with pytest.raises(ValueError, match=r"one or two features.*use solver='mip'"):
        Enumeration().minimise(problem, start, Progress())


def test_bounds_of_weights_that_are_not_whole():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(12, 2))
    y, weight = rng.choice([-1.0, 1.0], 12), rng.uniform(0.5, 2.0, 12)
    problem = ZeroOneProblem.from_data(X, y, weight)
    least = brute_force(problem)
    for solver in PROVERS:
        found = solver.minimise(problem, problem.rows.mean(axis=0), Progress(30))
        assert found.loss == pytest.approx(least, abs=1e-12)
        assert least - 3e-6 <= found.bound <= least + 1e-12
