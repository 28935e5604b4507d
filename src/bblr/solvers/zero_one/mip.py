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

_FRACTION = 1e-6
_ROUNDS = 30
_CUTS_A_ROUND = 20
_PRESENT = 1e-9


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
        reason = _Tree(problem, progress).grow(self.max_nodes)
        return progress.solution(reason)


@dataclass(order=True)
class _Node:
    bound: float
    number: int
    wrong: tuple[int, ...] = field(compare=False)
    right: tuple[int, ...] = field(compare=False)


class _Tree:
    """Nodes yet to look into, by their bounds, and the cuts found so far."""

    def __init__(self, problem: ZeroOneProblem, progress: Progress) -> None:
        self.problem, self.progress = problem, progress
        self.cover = _Cover(problem.weight)
        self.oracle = _Oracle(problem)
        self.count = 0
        # Least bound of the nodes that rounding keeps from being settled either way.
        self.doubtful = np.inf

    def grow(self, max_nodes: int) -> str:
        heap = [_Node(self.problem.round_up(0.0), 0, (), ())]
        while heap:
            # The least bound of an open node bounds the whole.
            self.progress.raise_bound(min(heap[0].bound, self.doubtful))
            if self.progress.proved:
                return "proved optimal"
            if self.progress.expired:
                return "time limit"
            if self.count >= max_nodes:
                return "node limit"
            node = heapq.heappop(heap)
            for child in self._look_into(node):
                if child.bound < self.progress.loss:
                    heapq.heappush(heap, child)
        least = self.progress.loss - 0.5 * self.problem.slack
        self.progress.raise_bound(min(least, self.doubtful))
        return "proved optimal" if self.doubtful == np.inf else "rounding hides the rest"

    def _look_into(self, node: _Node) -> list[_Node]:
        problem, cover = self.problem, self.cover
        cover.fix(node.wrong, node.right)
        bound, z = node.bound, None
        for _ in range(_ROUNDS):
            z, value = cover.solve()
            bound = max(bound, problem.round_up(value))
            if bound >= self.progress.loss:
                return []
            if self.progress.expired:
                return [_Node(bound, node.number, node.wrong, node.right)]
            cuts = self.oracle.overlooked(z, node.wrong)
            if not cuts:
                break
            cover.add(cuts)
        assert z is not None
        self._try_incumbent(z)
        open_rows = np.flatnonzero((z > _FRACTION) & (z < 1.0 - _FRACTION))
        if len(open_rows) == 0:
            if self.progress.loss <= problem.base + float(problem.weight @ (z > 0.5)):
                return []
            # A whole solution that covers all the oracle can prove, but no classifier shows it.
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
        """See whether the rows that the relaxed solution gets right can be right together."""
        kept = z < 0.5
        if float(self.problem.weight[~kept].sum()) + self.problem.base >= self.progress.loss:
            return
        theta, margin = widest(self.problem.rows[kept])
        if margin > 0:
            self.progress.found(theta, self.problem.loss(theta))


class _Cover:
    """The relaxed covering problem: min weight @ z, 0 <= z <= 1, the z of each cut sum to >= 1."""

    def __init__(self, weight: Floats) -> None:
        import highspy

        self.weight = weight
        self.n = len(weight)
        self.low, self.high = np.zeros(self.n), np.ones(self.n)
        self.cuts: list[tuple[int, ...]] = []
        self.model = highspy.Highs()
        self.model.setOptionValue("output_flag", False)
        self.model.setOptionValue("threads", 1)
        self.model.setOptionValue("presolve", "off")
        none = np.empty(0)
        self.model.addCols(
            self.n, weight, self.low, self.high, 0,
            np.zeros(self.n, np.int32), none.astype(np.int32), none,
        )  # fmt: skip

    def fix(self, wrong: tuple[int, ...], right: tuple[int, ...]) -> None:
        low, high = np.zeros(self.n), np.ones(self.n)
        low[list(wrong)] = 1.0
        high[list(right)] = 0.0
        changed = np.flatnonzero((low != self.low) | (high != self.high)).astype(np.int32)
        if len(changed):
            self.model.changeColsBounds(len(changed), changed, low[changed], high[changed])
        self.low, self.high = low, high

    def add(self, cuts: list[tuple[int, ...]]) -> None:
        starts = np.cumsum([0, *map(len, cuts)])[:-1].astype(np.int32)
        members = np.concatenate([np.array(cut, np.int32) for cut in cuts])
        self.model.addRows(
            len(cuts), np.ones(len(cuts)), np.full(len(cuts), np.inf),
            len(members), starts, members, np.ones(len(members)),
        )  # fmt: skip
        self.cuts += cuts

    def solve(self) -> tuple[Floats, float]:
        """Return a solution and a bound that weak duality proves."""
        self.model.run()
        found = self.model.getSolution()
        z = np.clip(np.array(found.col_value), self.low, self.high)
        dual = np.maximum(np.array(found.row_dual), 0.0)
        if len(dual) != len(self.cuts) or len(z) != self.n:
            middle = np.clip(np.full(self.n, 0.5), self.low, self.high)
            return middle, float(self.weight @ self.low)
        reduced = self.weight.copy()
        for price, cut in zip(dual, self.cuts, strict=True):
            if price > 0.0:
                reduced[list(cut)] -= price
        self.reduced = reduced
        bound = float(dual.sum() + np.minimum(reduced * self.low, reduced * self.high).sum())
        return z, bound

    def branching_row(self, z: Floats, rows: Ints) -> int:
        """Return the row in most cuts among those most undecided."""
        degree = np.zeros(self.n)
        for cut in self.cuts:
            degree[list(cut)] += 1.0
        score = np.minimum(z, 1.0 - z)[rows] * (1.0 + degree[rows])
        return int(rows[int(np.argmax(score))])


class _Oracle:
    """Finds contradictions among rows, those that a relaxed solution overlooks most first."""

    def __init__(self, problem: ZeroOneProblem) -> None:
        import highspy

        self.given = problem.given
        n, d = problem.rows.shape
        self.n = n
        lengths = np.linalg.norm(problem.rows, axis=1, keepdims=True)
        table = np.hstack([problem.rows / np.where(lengths > 0, lengths, 1.0), np.ones((n, 1))])
        self.model = highspy.Highs()
        self.model.setOptionValue("output_flag", False)
        self.model.setOptionValue("threads", 1)
        self.model.setOptionValue("presolve", "off")
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
            if float(z[members].sum()) >= 1.0 - 1e-6:
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
