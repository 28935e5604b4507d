"""Cuts of branch and cut: no classifier violates one, and what proves them is right."""

from itertools import combinations

import numpy as np
import pytest

from bblr.solvers.zero_one import Progress, ZeroOneProblem, widest
from bblr.solvers.zero_one.certificates import contradiction
from bblr.solvers.zero_one.proofs.cover import Cover, Cut, Pool
from bblr.solvers.zero_one.proofs.elimination import shown
from bblr.solvers.zero_one.proofs.mip import BranchAndCut, CutTree
from bblr.solvers.zero_one.proofs.oracle import Oracle


def noisy(n, d, seed, grid=False):
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, (n, d)).astype(float) if grid else rng.normal(size=(n, d))
    y = np.where(X[:, 0] + 1.5 * rng.normal(size=n) > 0, 1.0, -1.0)
    return ZeroOneProblem.from_data(X, y, np.ones(n))


def errors(problem):
    """What each of the classifiers next to the vertices gets wrong, and some more."""
    rng = np.random.default_rng(0)
    rows, size = problem.rows, problem.size
    found = list(rng.normal(size=(200, size)))
    for some in list(combinations(range(len(rows)), size - 1))[:2000]:
        normal = np.linalg.svd(rows[list(some)])[2][-1]
        found += [s * normal + 1e-6 * rng.normal(size=size) for s in (1, -1) for _ in range(2)]
    return {tuple(np.flatnonzero(rows @ theta <= 0)) for theta in found}


@pytest.mark.parametrize("grid", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_no_classifier_violates_a_cut(seed, grid):
    problem = noisy(24, 2, seed, grid)
    tree = CutTree(problem, Progress())
    tree.grow(50)
    oracle, rng = Oracle(problem, {}), np.random.default_rng(seed)
    n = len(problem.weight)
    for _ in range(10):
        # Rows that a node has decided to be right have factors of their own.
        right = tuple(rng.choice(n, 3, replace=False).tolist())
        z = rng.uniform(0, 0.2, n)
        z[list(right)] = 0.0
        tree.pool.add(oracle.contradictions(z, ()) + oracle.sets(z, (), right, 5))
    if not grid:  # where few rows are left
        assert {1.0, 2.0} <= {cut.demand for cut in tree.pool.cuts}
        assert any(cut.factors.max() > 1 for cut in tree.pool.cuts)
    for wrong in errors(problem):
        z = np.zeros(n)
        z[list(wrong)] = 1.0
        assert np.all(tree.pool.missing(z) <= 0)


@pytest.mark.parametrize("seed", range(5))
def test_a_set_has_the_rank_it_is_said_to_have(seed):
    problem = noisy(20, 2, seed)
    z = np.zeros(len(problem.weight))
    cuts = Oracle(problem, {}).sets(z, (), (), 3)
    assert cuts
    for rows, factors, demand in cuts:
        assert set(factors) == {1.0}
        for fewer in combinations(rows, int(demand) - 1):
            rest = np.setdiff1d(rows, fewer)
            assert widest(problem.rows[rest])[1] <= 1e-9


@pytest.mark.parametrize("seed", range(20))
def test_what_floating_point_shows_whole_numbers_show_too(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(2, 9))
    given = np.hstack([rng.normal(size=(40, d - 1)), np.ones((40, 1))])
    if seed % 2:
        given[:, 0] = rng.integers(0, 2, 40)
    if seed % 3 == 0:
        given[:, :-1] *= 10.0 ** rng.integers(-8, 8, d - 1)
    given *= rng.choice([-1.0, 1.0], (40, 1))
    sets = np.array([rng.choice(40, d + 1, replace=False) for _ in range(300)])
    sizes = np.where(rng.random(300) < 0.7, d + 1, d)
    verdicts = shown(given, sets, sizes)
    for rows, size, verdict in zip(sets, sizes, verdicts, strict=True):
        proof = contradiction(given, rows[:size].tolist())
        if size == d + 1 and not seed % 2:
            # In general position, far from all bounds of rounding, both can tell.
            assert verdict == (proof is not None and len(proof) == size)
        assert not verdict or proof is not None


def test_rounding_that_decides_is_left_to_whole_numbers():
    """The middle point is off the line of the others by less than any product can tell."""
    ends = np.array([[0.1, 0.3, 1.0], [0.7, 0.9, 1.0]])
    middle = -(ends[0] + ends[1])
    middle[0] = np.nextafter(middle[0], 0.0)
    given = np.vstack([ends, middle, [0.3, -5.0, 1.0]])
    sets, sizes = np.array([[0, 1, 2, 3]]), np.array([4])
    assert not shown(given, sets, sizes)[0]
    # Numbers whose products leave the range of floats are not decided either.
    assert not shown(given * [1e150, 1.0, 1.0], sets, sizes)[0]
    clear = np.array([[1.0, 0.0, 1.0], [-1.0, 0.5, 1.0], [-1.0, -0.5, 1.0], [0.1, 0.0, -1.0]])
    assert shown(clear, sets, sizes)[0]


def test_cuts_leave_and_come_back():
    pool = Pool()
    cover = Cover(np.ones(6), pool)
    cuts = [Cut(np.array([i, i + 1]), np.ones(2), 1.0) for i in range(0, 6, 2)]
    cover.add(cuts)
    z, value = cover.solve()
    assert value == 3.0 == z.sum()
    cover.hand_over(0)
    cover.add([*cuts, Cut(np.arange(6), np.ones(6), 4.0)])
    cover.hand_over(len(pool.cuts))
    assert len(pool.cuts) == 4
    other = Cover(np.ones(6), pool)
    z, value = other.solve()
    assert value == 0.0
    assert other.recall(z)
    z, value = other.solve()
    assert value == 4.0
    assert not other.recall(z)
    other.fix((0,), (2,))
    assert other.solve()[1] == 4.0


@pytest.mark.parametrize("solver", [BranchAndCut(400)])
def test_a_proof_is_the_same_whatever_the_threads(solver):
    problem = noisy(70, 4, 1)
    start = problem.rows.sum(axis=0)
    traces = []
    for jobs in (1, 2, 3):
        progress = Progress()
        solver.minimise(problem, start, progress, n_jobs=jobs)
        traces.append([(moment.loss, moment.bound) for moment in progress.trace])
    assert traces[0] == traces[1] == traces[2]
    assert len(traces[0]) > 5
