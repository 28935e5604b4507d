"""Separable rows are told from others, by equations, by linear programming and a few at a time."""

import numpy as np
import pytest

from bblr.solvers.zero_one import Progress, ZeroOneProblem, separable, separating, widest
from bblr.solvers.zero_one.certificates import contradictory


def drawn(seed):
    """A small problem, on a grid or in general position, separable or not."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 16)), int(rng.integers(1, 6))
    X = rng.integers(-2, 3, (n, d)).astype(float) if seed % 2 else rng.normal(size=(n, d))
    y = np.where(X @ rng.normal(size=d) + rng.normal() > 0, 1.0, -1.0)
    y[rng.permutation(n)[: int(rng.integers(0, 3))]] *= -1
    return ZeroOneProblem.from_data(X, y, np.ones(n), fit_intercept=seed % 3 > 0)


def planted(n, d, seed=0, gap=0.0):
    rng = np.random.default_rng(seed)
    normal = rng.normal(size=d)
    normal /= np.linalg.norm(normal)
    X = rng.normal(size=(n, d))
    y = np.where(X @ normal + 0.1 > 0, 1.0, -1.0)
    return ZeroOneProblem.from_data(X + gap * np.outer(y, normal), y, np.ones(n)).rows


def on_both_sides(rows):
    """The same rows, and one that contradicts them."""
    return np.vstack([rows, -rows[:3].sum(axis=0)])


def right(rows, found):
    return len(found) > 0 and all(np.all(rows @ theta > 0) for theta in found)


@pytest.fixture(params=["both", "equations", "linear programme"])
def means(request, monkeypatch):
    """Each of the two means alone must decide what is not close."""
    if request.param == "equations":
        monkeypatch.setattr(separable, "_MOST_PARAMETERS", 0)
    if request.param == "linear programme":
        monkeypatch.setattr(separable, "_ITERATIONS", 0)
    return request.param


@pytest.mark.parametrize("seed", range(120))
def test_small_problems_are_separated_or_proved_contradictory(means, seed):
    problem = drawn(seed)
    if problem.base > 0 or len(problem.weight) == 0:
        return
    found = separating(problem.rows, Progress())
    if found:
        assert right(problem.rows, found)
    else:
        assert contradictory(problem.rows, problem.given)


@pytest.mark.parametrize(("n", "d"), [(50, 2), (208, 60), (1000, 10), (2000, 40), (40, 90)])
def test_planted_rows_are_separated(means, n, d):
    for seed in range(3):
        rows = planted(n, d, seed)
        assert right(rows, separating(rows, Progress()))
        assert separating(on_both_sides(rows), Progress()) == []


def test_the_first_has_the_widest_margin():
    rows = planted(300, 12)
    best, other = separating(rows, Progress())
    lengths = np.linalg.norm(rows, axis=1)
    margin = (rows @ best / lengths).min()
    assert margin == pytest.approx(widest(rows)[1], rel=1e-6)
    assert margin >= (rows @ other / lengths).min() / np.abs(other).max() * (1 - 1e-9)


def test_of_many_rows_a_few_at_a_time(monkeypatch):
    monkeypatch.setattr(separable, "_ROWS_A_PARAMETER", 2)
    monkeypatch.setattr(separable, "_ROWS_MORE", 10)
    taken = []

    def take(chosen):
        taken.append(len(chosen))
        return rows[chosen]

    rows = planted(4000, 6)
    theta = separable.separate(4000, 7, take, rows.__matmul__, Progress())
    assert np.all(rows @ theta > 0)
    assert len(taken) > 1
    assert taken[-1] < 400
    rows = on_both_sides(rows)
    assert separable.separate(4001, 7, take, rows.__matmul__, Progress()) is None
    assert taken[-1] < 400


@pytest.mark.parametrize("gap", [1e-2, 1e-4, 1e-6, 1e-7])
def test_narrow_gaps_are_found(gap):
    rng = np.random.default_rng(0)
    normal = np.array([1.0, 2.0, -2.0]) / 3
    for n in (10, 200):
        X, y = rng.normal(size=(n, 3)), rng.choice([-1.0, 1.0], n)
        X += np.outer(gap * y * (1 + rng.random(n)) - X @ normal, normal)
        rows = ZeroOneProblem.from_data(X, y, np.ones(n)).rows
        assert right(rows, separating(rows, Progress()))


@pytest.mark.parametrize("gap", [1e-10, 1e-13, 1e-16])
def test_of_gaps_that_rounding_hides_nothing_wrong_is_said(gap):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(50, 2)), rng.choice([-1.0, 1.0], 50)
    X[:, 1] = X[:, 0] + gap * y
    rows = ZeroOneProblem.from_data(X, y, np.ones(50)).rows
    found = separating(rows, Progress())
    assert not found or right(rows, found[-1:])


def test_columns_that_depend_on_each_other():
    X = planted(200, 5)
    rows = np.hstack([X, X, X[:, :2] - X[:, 2:4], np.zeros((200, 3))])
    assert right(rows, separating(rows, Progress()))
    assert separating(on_both_sides(rows), Progress()) == []


def test_work_and_time_are_bounded(monkeypatch):
    rows = planted(300, 12)
    assert separating(rows, Progress(time_limit=1e-9)) == []
    monkeypatch.setattr(separable, "_MOST_PARAMETERS", 0)
    monkeypatch.setattr(separable, "_MOST_WORK", 0.0)
    assert separating(rows, Progress()) == []
    monkeypatch.setattr(separable, "_MOST_NUMBERS", 300)
    monkeypatch.setattr(separable, "_MOST_WORK", 1e12)
    assert separating(rows, Progress()) == []
