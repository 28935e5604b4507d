"""Proofs by branch and cut over contradictions.

Of rows that contradict each other (no theta has a positive score on all of them) every classifier
gets at least one wrong. So the zero-one loss is the least weight of a set of rows that meets every
contradiction: a covering problem in zeros and ones, without a margin and without "big M", in which
theta does not appear at all. There are far too many contradictions to list; those that the present
solution of the relaxed problem overlooks are found by linear programming and added as cuts.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bblr.solvers.zero_one.certificates import contradiction, widest
from bblr.solvers.zero_one.problem import ZeroOneProblem
from bblr.solvers.zero_one.progress import Floats, Progress, ZeroOneSolution

Ints = NDArray[np.int64]

# A z this close to 0 or 1 is whole, and a sum this close to 1 covers a cut.
_FRACTION = 1e-6
_VIOLATION = 1e-6
# A coefficient of a combination below this is rounding; so is a row with it.
_PRESENT = 1e-9
_ROUNDS = 60
# Cuts that raised a bound by less than this in so many rounds leave the rest to branching.
_TAIL, _RAISED = 4, 0.05
_CUTS_A_ROUND = 20
_RECALLED = 50
# A cut without a price in this many solutions is idle; so many idle ones are worth a clean-up.
_IDLE = 15
_FEW_IDLE = 100
# Share of the slack of the problem within which a bound meets a loss.
CLOSED = 0.9


@dataclass(frozen=True)
class BranchAndCut:
    """Cover all contradictions at least weight.

    Every cut is a contradiction proved in whole-number arithmetic on the data as given, and every
    bound is weak duality: a sum over cuts, lowered by a millionth of the largest weight, that
    holds however badly the linear programmes are solved. No tolerance and no margin enters a
    proof.

    Parameters
    ----------
    max_nodes : int, default=10_000_000
        Most nodes of the tree.
    """

    max_nodes: int = 10_000_000

    def minimise(
        self, problem: ZeroOneProblem, theta0: Floats, progress: Progress, **_: Any
    ) -> ZeroOneSolution:
        """Search from theta0 until the best is proved or the time is up."""
        progress.found(theta0, problem.loss(theta0))
        return progress.solution(CutTree(problem, progress).grow(self.max_nodes))


@dataclass(order=True)
class _Node:
    bound: float
    number: int
    wrong: tuple[int, ...] = field(compare=False)
    right: tuple[int, ...] = field(compare=False)


class CutTree:
    """Open nodes by their bounds, and the cuts found so far."""

    def __init__(self, problem: ZeroOneProblem, progress: Progress) -> None:
        self.problem, self.progress = problem, progress
        # A contradiction needs no more rows than there are parameters, and one.
        self.cover = _Cover(problem.weight, problem.size + 1)
        self.oracle = _Oracle(problem)
        self.count = 0
        # Least bound of the nodes that rounding keeps from being settled either way.
        self.doubtful = np.inf
        self.heap = [_Node(problem.round_up(0.0), 0, (), ())]

    @property
    def bound(self) -> float:
        """What the open nodes prove; nothing where there are none, and doubts."""
        return self.heap[0].bound if self.heap else 0.0

    def grow(self, max_nodes: int) -> str:
        """Look into nodes up to a number of them; return why that was the end."""
        heap = self.heap
        while heap:
            # The least bound of an open node bounds the whole.
            self.progress.raise_bound(min(heap[0].bound, self.doubtful))
            if self.progress.proved:
                return "proved optimal"
            stopped = self.progress.stop()
            if stopped:
                return stopped
            if self.count >= max_nodes:
                return "node limit"
            node = heapq.heappop(heap)
            for child in self._look_into(node):
                if child.bound < self.progress.loss:
                    heapq.heappush(heap, child)
        least = self.progress.loss - CLOSED * self.problem.slack
        self.progress.raise_bound(min(least, self.doubtful))
        return "proved optimal" if self.doubtful == np.inf else "rounding hides the rest"

    def _look_into(self, node: _Node) -> list[_Node]:
        problem, cover = self.problem, self.cover
        cover.fix(node.wrong, node.right)
        bound, z = node.bound, None
        values: list[float] = []
        for _ in range(_ROUNDS):
            z, value = cover.solve()
            bound = max(bound, problem.round_up(value))
            if bound >= self.progress.loss:
                return []
            # With a larger bound it is no longer its turn, and may never be again.
            if bound > node.bound + problem.slack or self.progress.expired:
                return [_Node(bound, node.number, node.wrong, node.right)]
            values.append(value)
            if len(values) >= _TAIL and value < values[-_TAIL] + _RAISED * cover.unit:
                break
            if cover.recall(z):
                continue
            cuts = self.oracle.overlooked(z, node.wrong)
            if not cuts:
                break
            cover.add(cuts)
        assert z is not None
        self._try_incumbent(z)
        if bound >= self.progress.loss - CLOSED * problem.slack:
            return []
        open_rows = np.flatnonzero((z > _FRACTION) & (z < 1.0 - _FRACTION))
        if len(open_rows) == 0:
            # A whole solution that covers all the oracle can prove, but no classifier shows it, or
            # no prices prove it the least.
            open_rows = np.setdiff1d(np.arange(len(z)), [*node.wrong, *node.right])
            if len(open_rows) == 0:
                self.doubtful = min(self.doubtful, bound)
                return []
        i = int(cover.branching_row(z, open_rows))
        self.count += 2
        return [
            _Node(bound, self.count, (*node.wrong, i), node.right),
            _Node(bound, self.count + 1, node.wrong, (*node.right, i)),
        ]

    def _try_incumbent(self, z: Floats) -> None:
        """Check whether the rows that the relaxed solution gets right can all be right."""
        kept = z < 0.5
        if float(self.problem.weight[~kept].sum()) + self.problem.base >= self.progress.loss:
            return
        theta, margin = widest(self.problem.rows[kept])
        if margin > 0:
            self.progress.found(theta, self.problem.loss(theta))


class _Cover:
    """The relaxed covering problem: min weight @ z, 0 <= z <= 1, the z of each cut sum to >= 1.

    All cuts stay in a pool; those that have not mattered for a while leave the linear programme,
    and come back when a solution violates them.
    """

    def __init__(self, weight: Floats, longest: int) -> None:
        # Tolerances of the linear solver are absolute: weights of about one suit them.
        self.unit = float(weight.max())
        weight = weight / self.unit
        self.weight = weight
        self.n = len(weight)
        self.low, self.high = np.zeros(self.n), np.ones(self.n)
        # One row per cut, padded with the number n, which stands for a z that is always zero.
        self.pool = np.empty((0, longest), np.int64)
        self.active = np.empty(0, np.int64)
        self.age = np.empty(0, np.int64)
        self.model = _quiet_model()
        none = np.empty(0)
        self.model.addCols(
            self.n, weight, self.low, self.high, 0,
            np.zeros(self.n, np.int32), none.astype(np.int32), none,
        )  # fmt: skip

    def fix(self, wrong: tuple[int, ...], right: tuple[int, ...]) -> None:
        """Set the rows that a node has decided."""
        low, high = np.zeros(self.n), np.ones(self.n)
        low[list(wrong)] = 1.0
        high[list(right)] = 0.0
        changed = np.flatnonzero((low != self.low) | (high != self.high)).astype(np.int32)
        if len(changed):
            self.model.changeColsBounds(len(changed), changed, low[changed], high[changed])
        self.low, self.high = low, high
        self._drop_idle()

    def add(self, cuts: list[tuple[int, ...]]) -> None:
        """Add new cuts to the pool and to the linear programme."""
        padded = np.full((len(cuts), self.pool.shape[1]), self.n)
        for row, cut in zip(padded, cuts, strict=True):
            row[: len(cut)] = cut
        first = len(self.pool)
        self.pool = np.vstack([self.pool, padded])
        self._activate(np.arange(first, len(self.pool)))

    def recall(self, z: Floats) -> bool:
        """Put overlooked cuts of the pool back; return whether there were any."""
        sums = np.append(z, 0.0)[self.pool].sum(axis=1)
        sums[self.active] = 1.0
        overlooked = np.flatnonzero(sums < 1.0 - _VIOLATION)
        if len(overlooked):
            self._activate(overlooked[np.argsort(sums[overlooked])[:_RECALLED]])
        return len(overlooked) > 0

    def solve(self) -> tuple[Floats, float]:
        """Return a solution and a bound that weak duality proves."""
        self.model.run()
        found = self.model.getSolution()
        z, dual = np.array(found.col_value), np.array(found.row_dual)
        if len(dual) != len(self.active) or len(z) != self.n:
            middle = np.clip(np.full(self.n, 0.5), self.low, self.high)
            return middle, self.unit * float(self.weight @ self.low)
        dual = np.maximum(dual, 0.0)
        self.age = np.where(dual > 0, 0, self.age + 1)
        prices = np.repeat(dual, self.pool.shape[1])
        members = self.pool[self.active].ravel()
        reduced = self.weight - np.bincount(members, prices, self.n + 1)[: self.n]
        bound = float(dual.sum() + np.minimum(reduced * self.low, reduced * self.high).sum())
        return np.clip(z, self.low, self.high), self.unit * bound

    def branching_row(self, z: Floats, rows: Ints) -> int:
        """Return the row in most cuts among those most undecided."""
        degree = np.bincount(self.pool.ravel(), minlength=self.n + 1)[rows]
        score = np.minimum(z, 1.0 - z)[rows] * (1.0 + degree)
        return int(rows[int(np.argmax(score))])

    def _activate(self, numbers: Ints) -> None:
        cuts = [row[row < self.n].astype(np.int32) for row in self.pool[numbers]]
        members = np.concatenate(cuts)
        starts = np.cumsum([0, *map(len, cuts)])[:-1].astype(np.int32)
        self.model.addRows(
            len(cuts), np.ones(len(cuts)), np.full(len(cuts), np.inf),
            len(members), starts, members, np.ones(len(members)),
        )  # fmt: skip
        self.active = np.append(self.active, numbers)
        self.age = np.append(self.age, np.zeros(len(numbers), np.int64))

    def _drop_idle(self) -> None:
        idle = np.flatnonzero(self.age > _IDLE)
        if len(idle) > _FEW_IDLE:
            self.model.deleteRows(len(idle), idle.astype(np.int32))
            self.active = np.delete(self.active, idle)
            self.age = np.delete(self.age, idle)


def _quiet_model() -> Any:
    import highspy

    model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    model.setOptionValue("threads", 1)
    model.setOptionValue("presolve", "off")
    return model


class _Oracle:
    """Finds contradictions among rows, those that a relaxed solution overlooks most first."""

    def __init__(self, problem: ZeroOneProblem) -> None:
        self.given = problem.given
        n, d = problem.rows.shape
        self.n = n
        lengths = np.linalg.norm(problem.rows, axis=1, keepdims=True)
        table = np.hstack([problem.rows / np.where(lengths > 0, lengths, 1.0), np.ones((n, 1))])
        self.model = _quiet_model()
        # Primal simplex: only costs change from call to call.
        self.model.setOptionValue("simplex_strategy", 4)
        right = np.zeros(d + 1)
        right[-1] = 1.0
        starts = np.zeros(d + 1, np.int32)
        self.model.addRows(
            d + 1, right, right, 0, starts, np.empty(0, np.int32), np.empty(0)
        )  # fmt: skip
        index = np.tile(np.arange(d + 1, dtype=np.int32), n)
        self.model.addCols(
            n, np.zeros(n), np.zeros(n), np.full(n, np.inf), n * (d + 1),
            np.arange(n, dtype=np.int32) * (d + 1), index, table.ravel(),
        )  # fmt: skip
        self.columns = np.arange(n, dtype=np.int32)
        self.known: set[tuple[int, ...]] = set()

    def overlooked(self, z: Floats, wrong: tuple[int, ...]) -> list[tuple[int, ...]]:
        """Return proved contradictions whose rows z sums to less than one over."""
        import highspy

        found: list[tuple[int, ...]] = []
        cost = z.copy()
        cost[list(wrong)] = 10.0
        for _ in range(_CUTS_A_ROUND):
            self.model.changeColsCost(self.n, self.columns, cost)
            self.model.run()
            if self.model.getModelStatus() != highspy.HighsModelStatus.kOptimal:
                break
            share = np.array(self.model.getSolution().col_value)
            members = np.flatnonzero(share > _PRESENT)
            if float(z[members].sum()) >= 1.0 - _VIOLATION:
                break
            cut = contradiction(self.given, members.tolist())
            if cut is None or cut in self.known:
                # Steer clear of what could not be proved, or is known already.
                cost[members] += 0.1
                if cut is None:
                    continue
                break
            self.known.add(cut)
            found.append(cut)
            cost[members] += 0.2
        return found
