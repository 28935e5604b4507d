"""Proofs by branch and cut over contradictions.

Of rows that contradict each other (no theta has a positive score on all of them) every classifier
gets at least one wrong. So the zero-one loss is the least weight of a set of rows that meets every
contradiction: a covering problem in zeros and ones, without a margin and without "big M", in which
theta does not appear at all. There are far too many contradictions to list; those that the present
solution of the relaxed problem overlooks are found by linear programming and added as cuts.

Fractions can be small on every row of a contradiction of many rows, so these cuts alone are weak.
Unions of contradictions on which every classifier errs twice or more make far stronger ones.
"""

from __future__ import annotations

import heapq
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from bblr._numeric.threads import num_threads
from bblr.solvers.zero_one.certificates import widest
from bblr.solvers.zero_one.problem import ZeroOneProblem
from bblr.solvers.zero_one.progress import Floats, Progress, ZeroOneSolution
from bblr.solvers.zero_one.proofs.cover import Cover, Pool
from bblr.solvers.zero_one.proofs.oracle import Oracle

# A z this close to 0 or 1 is whole.
_FRACTION = 1e-6
# The highest rank of sets, and when to leave the rest to branching: after so many rounds, when the
# last few raised the bound by less than this. Cuts of the first node serve all others.
_RANK, _ROUNDS, _TAIL, _RAISED = 5, 12, 4, 0.03
_FIRST_RANK, _FIRST_TAIL = 6, 12
# So few new contradictions are not worth another round by themselves.
_FEW = 2
# Nodes looked into at a time, whatever the threads.
_SHARES = 2
# Share of the slack of the problem within which a bound meets a loss.
CLOSED = 0.9


@dataclass(frozen=True)
class BranchAndCut:
    """Cover all contradictions at least weight.

    Every contradiction is proved on the data as given, in floating point with a bound of its
    rounding or else in whole numbers, and every bound is weak duality: a sum over cuts, lowered by
    a millionth of the largest weight, that holds however badly the linear programmes are solved.
    No tolerance and no margin enters a proof.

    Parameters
    ----------
    max_nodes : int, default=10_000_000
        Most nodes of the tree.
    """

    max_nodes: int = 10_000_000

    def minimise(
        self,
        problem: ZeroOneProblem,
        theta0: Floats,
        progress: Progress,
        *,
        n_jobs: int | None = None,
        **_: Any,
    ) -> ZeroOneSolution:
        """Search from theta0 until the best is proved or the time is up."""
        progress.found(theta0, problem.loss(theta0))
        return progress.solution(CutTree(problem, progress, n_jobs).grow(self.max_nodes))


@dataclass(order=True)
class _Node:
    bound: float
    # The latest comes first: its linear programme is next to the last one solved.
    order: int
    wrong: tuple[int, ...] = field(compare=False)
    right: tuple[int, ...] = field(compare=False)


class _Seen(NamedTuple):
    """A node after a look: its bound, the row to branch on if any, and parameters worth trying."""

    bound: float
    wrong: tuple[int, ...]
    right: tuple[int, ...]
    row: int | None = None
    doubtful: bool = False
    theta: Floats | None = None


class CutTree:
    """Open nodes by their bounds, and the cuts found so far."""

    def __init__(
        self, problem: ZeroOneProblem, progress: Progress, n_jobs: int | None = None
    ) -> None:
        self.problem, self.progress = problem, progress
        self.threads = n_jobs if n_jobs is not None and n_jobs > 0 else num_threads()
        self.pool = Pool()
        self.proved: dict[tuple[int, ...], bool] = {}
        self.workers: list[_Worker] = []
        self.count = self.order = 0
        # Least bound of the nodes that rounding keeps from being settled either way.
        self.doubtful = np.inf
        self.heap = [_Node(problem.round_up(0.0), 0, (), ())]

    @property
    def bound(self) -> float:
        """What the open nodes prove; nothing where there are none, and doubts."""
        return self.heap[0].bound if self.heap else 0.0

    def grow(self, max_nodes: int) -> str:
        """Look into nodes up to a number of them; return why that was the end."""
        heap, progress = self.heap, self.progress
        with ThreadPoolExecutor(min(self.threads, _SHARES)) as threads:
            while heap:
                # The least bound of an open node bounds the whole.
                progress.raise_bound(min(heap[0].bound, self.doubtful))
                if progress.proved:
                    return "proved optimal"
                if self.count >= max_nodes:
                    return "node limit"
                nodes: list[_Node] = []
                while heap and len(nodes) < _SHARES:
                    stopped = progress.stop()
                    if stopped:
                        for node in nodes:
                            heapq.heappush(heap, node)
                        return stopped
                    nodes.append(heapq.heappop(heap))
                self._look_into(nodes, threads)
        least = progress.loss - CLOSED * self.problem.slack
        progress.raise_bound(min(least, self.doubtful))
        return "proved optimal" if self.doubtful == np.inf else "rounding hides the rest"

    def _look_into(self, nodes: list[_Node], threads: ThreadPoolExecutor) -> None:
        """Replace nodes by their children, or by themselves with larger bounds."""
        while len(self.workers) < len(nodes):
            oracle = Oracle(self.problem, self.proved)
            self.workers.append(_Worker(self.problem, self.progress, self.pool, oracle))
        # With cuts of the others only after all have ended, threads change nothing.
        loss, before = self.progress.loss, len(self.pool.cuts)

        def look(worker: _Worker, node: _Node) -> _Seen:
            return worker.look_into(node, loss)

        workers = self.workers[: len(nodes)]
        try:
            together = list(threads.map(look, workers, nodes))
        except BaseException:
            self.progress.halt("interrupted")  # the other looks end before long
            raise
        for worker, seen in zip(workers, together, strict=True):
            worker.cover.hand_over(before)
            if seen.theta is not None:
                self.progress.found(seen.theta, self.problem.loss(seen.theta))
            if seen.doubtful:
                self.doubtful = min(self.doubtful, seen.bound)
            elif seen.bound < loss - CLOSED * self.problem.slack:
                if seen.row is None:
                    self._open(seen.bound, seen.wrong, seen.right)
                else:
                    self._open(seen.bound, seen.wrong, (*seen.right, seen.row))
                    self._open(seen.bound, (*seen.wrong, seen.row), seen.right)
                    self.count += 2

    def _open(self, bound: float, wrong: tuple[int, ...], right: tuple[int, ...]) -> None:
        self.order -= 1
        heapq.heappush(self.heap, _Node(bound, self.order, wrong, right))


class _Worker:
    """A linear programme and an oracle of its own for the nodes that one thread looks into."""

    def __init__(
        self, problem: ZeroOneProblem, progress: Progress, pool: Pool, oracle: Oracle
    ) -> None:
        self.problem, self.progress, self.oracle = problem, progress, oracle
        self.cover = Cover(problem.weight, pool)

    def look_into(self, node: _Node, loss: float) -> _Seen:
        """Raise the bound of a node by cuts, as long as it is the least."""
        problem, cover = self.problem, self.cover
        wrong, right = node.wrong, node.right
        cover.fix(wrong, right)
        first = not (wrong or right)
        rank, tail = (_FIRST_RANK, _FIRST_TAIL) if first else (_RANK, _TAIL)
        bound = node.bound
        values: list[float] = []
        while True:
            z, value = cover.solve()
            bound = max(bound, problem.round_up(value))
            # With a larger bound it is no longer its turn, and may never be again.
            if bound >= loss or bound > node.bound + problem.slack or self.progress.expired:
                return _Seen(bound, wrong, right)
            values.append(value)
            raised = _RAISED * cover.unit
            if len(values) > _ROUNDS and value < values[-tail] + raised:
                break
            if cover.recall(z):
                continue
            more_wrong, more_right = self._decided(value, loss)
            if more_wrong or more_right:
                wrong, right = wrong + more_wrong, right + more_right
                cover.fix(wrong, right)
            cuts = self.oracle.contradictions(z, wrong)
            if len(cuts) <= _FEW:
                cuts += self.oracle.sets(z, wrong, right, rank)
            if not cuts:
                break
            cover.add(cuts)
        theta = self._incumbent(z, loss)
        open_rows = np.flatnonzero((z > _FRACTION) & (z < 1.0 - _FRACTION))
        if len(open_rows) == 0:
            # A whole solution that covers all the oracle can prove, but no classifier shows it, or
            # no prices prove it the least.
            open_rows = np.setdiff1d(np.arange(len(z)), [*wrong, *right])
            if len(open_rows) == 0:
                return _Seen(bound, wrong, right, doubtful=True, theta=theta)
        return _Seen(bound, wrong, right, cover.branching_row(z, open_rows), theta=theta)

    def _decided(self, value: float, loss: float) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the rows that are wrong, and right, wherever the node has less than a loss."""
        problem, cover = self.problem, self.cover

        def all_of(gain: Floats) -> tuple[int, ...]:
            some = np.flatnonzero((gain > 0) & (cover.low < cover.high))
            return tuple(int(i) for i in some if problem.round_up(value + float(gain[i])) >= loss)

        # With the other value, a row adds its reduced cost to the bound.
        return all_of(-cover.reduced), all_of(cover.reduced)

    def _incumbent(self, z: Floats, loss: float) -> Floats | None:
        """Return parameters that get the rows right that the relaxed solution does, if any."""
        kept = z < 0.5
        if float(self.problem.weight[~kept].sum()) + self.problem.base >= loss:
            return None
        theta, margin = widest(self.problem.rows[kept])
        return theta if margin > 0 else None
