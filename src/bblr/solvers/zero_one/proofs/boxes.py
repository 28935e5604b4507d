"""Proofs by dividing parameter space into boxes.

Only the direction of the parameters counts, so they may lie on the surface of a cube. Boxes of it
are halved until the rows that are wrong all over a box weigh enough. The cube stands where the
best hyperplane known is in the middle of a face, and is measured by the rows near that hyperplane,
so that a step costs about as many rows in every direction.

The more errors, the better this is; with few, branch and cut takes far less time. So the two take
turns, as long as branch and cut is ahead.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from bblr._numeric.threads import num_threads
from bblr.solvers.zero_one.certificates import independent, whole_numbers
from bblr.solvers.zero_one.problem import ZeroOneProblem
from bblr.solvers.zero_one.progress import Floats, Progress, ZeroOneSolution
from bblr.solvers.zero_one.proofs.box_walk import ROUNDING, walk_boxes
from bblr.solvers.zero_one.proofs.mip import CLOSED, BranchAndCut, CutTree

# Boxes looked into between two looks at the clock, by each of the shares, whatever the threads:
# so many, or as many as there are of these numbers in the table.
_LOOKS, _NUMBERS, _SHARES = 5_000, 50_000_000, 4
# A box in which the scores change by less than this is not divided any more.
_LEAST = 1e-8
_MOST_STUCK = 20
# Where so many boxes cannot be divided any more, many rows pass through one point, line or plane.
_MOST_SETTLED = 500
# Nodes of branch and cut at its turn, and in all; its turn comes after so many looks at boxes.
_NODES, _TURN, _MOST_NODES = 16, 8, 10_000_000
# The first number to be proved is this share of the loss. The next is such that the work grows by
# this factor, if it goes on to grow as it did.
_FIRST, _GROWTH = 0.25, 3.0
# Steps off a box that cannot be divided, to a cell next to it.
_STEPS = (1e-6, 1e-4, 1e-2)


@dataclass(frozen=True)
class Boxes:
    """Prove larger and larger bounds until one meets the loss.

    Attributes
    ----------
    max_size : int
        Parameters beyond which there are too many boxes.
    """

    max_size: ClassVar[int] = 12

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
        tree = CutTree(problem, progress, n_jobs)
        cube = None
        if problem.size <= self.max_size and not progress.expired:
            cube = _Cube.around(problem, np.asarray(progress.theta))
        if cube is not None:
            threads = n_jobs if n_jobs is not None and n_jobs > 0 else num_threads()
            with ThreadPoolExecutor(min(threads, _SHARES)) as pool:
                reason = _Proof(problem, progress, cube, tree, pool).raise_bounds()
            if progress.proved:
                return progress.solution(reason)
        return progress.solution(tree.grow(_MOST_NODES))


class _Proof:
    """What is known of the boxes."""

    def __init__(
        self,
        problem: ZeroOneProblem,
        progress: Progress,
        cube: _Cube,
        tree: CutTree,
        pool: ThreadPoolExecutor,
    ) -> None:
        self.problem, self.progress, self.cube = problem, progress, cube
        self.tree, self.pool = tree, pool
        self.work: list[tuple[float, int]] = [(0.0, 1)]
        # The least loss of sets of rows.
        self.least: dict[tuple[int, ...], float] = {}
        self.settled = self.batches = 0
        # Least bound of the boxes that rounding keeps from being settled.
        self.doubtful = np.inf

    def raise_bounds(self) -> str:
        problem, progress = self.problem, self.progress
        while not progress.proved:
            stopped = self._show(self._next())
            if stopped:
                return stopped
            shown = min(self.work[-1][0], self.doubtful)
            if shown >= self._goal():
                progress.raise_bound(progress.loss)
            else:
                progress.raise_bound(problem.round_up(shown))
            if self.doubtful <= shown and not progress.proved:
                return "rounding hides the rest"
        return "proved optimal"

    def _goal(self) -> float:
        """Return what the rows must be shown to lose if the loss is the least."""
        return self.progress.loss - self.problem.base - CLOSED * self.problem.slack

    def _next(self) -> float:
        goal, step = self._goal(), self.problem.step
        need, least = _FIRST * goal, step
        if len(self.work) > 1:
            (before, less), (now, more) = self.work[-2:]
            rate = np.log(max(more / less, 1.1)) / (now - before)
            need, least = now + np.log(_GROWTH) / rate, now + step
        if step:
            need = max(least, step * np.round(need / step))
        return float(min(need, goal))

    def _show(self, need: float) -> str:
        """Show that no box has a loss below a number, or say why that was stopped."""
        cube, boxes, looks = self.cube, self.cube.faces(), 0

        most = max(10, min(_LOOKS, _NUMBERS // cube.rows.size))

        def walk(share: Floats, need: float) -> tuple[Floats, int, Floats]:
            stuck = np.empty((_MOST_STUCK, 2, self.problem.size))
            left, looks, count = walk_boxes(
                cube.rows, self.problem.weight, cube.error, need, share, most, _LEAST, stuck
            )
            return left, looks, stuck[:count]

        while len(boxes):
            stopped = self.progress.stop()
            if stopped:
                return stopped
            need = min(need, self._goal())
            shares = [np.ascontiguousarray(boxes[k::_SHARES]) for k in range(_SHARES)]
            done = list(self.pool.map(walk, shares, [need] * _SHARES))
            boxes = np.concatenate([left for left, _, _ in done])
            looks += sum(count for _, count, _ in done)
            for box in np.concatenate([stuck for _, _, stuck in done]):
                self._settle(box, need)
            if self.settled > _MOST_SETTLED:
                return "too many rows through one point"
            ahead = self.tree.bound >= self.problem.base + self.work[-1][0]
            if ahead and self.batches % _TURN == 0:
                self.tree.grow(self.tree.count + _NODES)
            self.batches += 1
            if self.progress.proved:
                return "proved optimal"
        self.work.append((need, looks))
        return ""

    def _settle(self, box: Floats, need: float) -> None:
        """Ask for the least loss of the rows that are undecided where a box cannot be divided."""
        problem, progress, cube = self.problem, self.progress, self.cube
        self.settled += 1
        low, high = box
        up = cube.error + np.maximum(cube.rows * low, cube.rows * high).sum(axis=1)
        down = np.minimum(cube.rows * low, cube.rows * high).sum(axis=1) - cube.error
        rows = np.flatnonzero((up > 0) & (down <= 0))
        wrong = float(problem.weight[up <= 0].sum())
        theta = cube.axes @ (0.5 * (low + high))
        progress.found(theta, problem.loss(theta))
        key = tuple(rows.tolist())
        if wrong < need and key and key not in self.least:
            part = replace(
                problem, rows=problem.rows[rows], given=problem.given[rows], base=0.0,
                label=problem.label[rows], weight=problem.weight[rows],
            )  # fmt: skip
            clock = Progress(progress.left)
            found = BranchAndCut().minimise(part, part.rows.sum(axis=0), clock)
            self.least[key] = found.bound
            for step in _STEPS:
                near = theta / np.linalg.norm(theta)
                near = near + step * found.theta / np.linalg.norm(found.theta)
                progress.found(near, problem.loss(near))
        shown = wrong + self.least.get(key, 0.0)
        if shown < need:
            self.doubtful = min(self.doubtful, shown)


@dataclass(frozen=True, eq=False)
class _Cube:
    """The rows in coordinates in which the parameters lie on a cube.

    Parameters are `axes` times coordinates; `rows` are multiples of the rows in coordinates, each
    entry rounded once, and `error` is more than what that and sums over the entries are off by.
    """

    rows: Floats
    error: Floats
    axes: Floats

    @classmethod
    def around(cls, problem: ZeroOneProblem, theta: Floats) -> _Cube | None:
        """Return a cube that has theta in the middle of a face, if that is possible."""
        scores = problem.rows @ theta
        width = 2.0 * np.median(np.abs(scores))
        near = problem.weight * np.exp(-0.5 * (scores / width) ** 2) if width > 0 else None
        cloud = problem.rows * np.sqrt(near)[:, None] if near is not None else problem.rows
        metric = cloud.T @ cloud
        strength = np.diag(metric).max()
        if not 0 < strength < np.inf:
            return None
        size = problem.size
        values, vectors = np.linalg.eigh(metric / strength + 1e-9 * np.eye(size))
        root = (vectors * np.sqrt(values)) @ vectors.T
        first = root @ theta / np.linalg.norm(root @ theta)
        basis = np.linalg.qr(np.column_stack([first, np.eye(size)]))[0]
        axes = np.linalg.solve(root, basis)
        planes = [problem.unpack(axis) for axis in axes.T]
        given = np.array([[*coef, intercept][:size] for coef, intercept in planes])
        # Every theta is on a ray through the cube only if the axes span all of them.
        if not np.all(np.isfinite(given)) or not independent(given):
            return None
        rows = _product(problem.given, given)
        return cls(rows, ROUNDING * np.abs(rows).sum(axis=1), axes)

    def faces(self) -> Floats:
        size = len(self.axes)
        boxes = np.tile([[-1.0], [1.0]], (2 * size, 1, size))
        for face in range(2 * size):
            boxes[face, :, face // 2] = 1.0 if face % 2 else -1.0
        return boxes


def _product(rows: Floats, axes: Floats) -> Floats:
    """Return scores of rows for axes, each row divided by its largest and rounded only then."""
    size = len(axes)
    whole = np.array(whole_numbers(axes.ravel()), dtype=object).reshape(size, size)
    table = np.empty((len(rows), size))
    for i, row in enumerate(rows):
        exact = whole @ np.array(whole_numbers(row), dtype=object)
        largest = max(map(abs, exact))
        table[i] = [v / largest for v in exact]
    return table
