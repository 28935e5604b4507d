"""PCS, prioritised combinatorial search (Nguyen and Sanner, 2013)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bblr._numeric.subsets import swap_sweep, walk_subsets
from bblr.solvers.zero_one.problem import ZeroOneProblem
from bblr.solvers.zero_one.progress import Floats, Progress, ZeroOneSolution

# Numbers to process between two checks of the time.
_NUMBERS_A_BATCH = 10_000_000


@dataclass(frozen=True)
class CombinatorialSearch:
    """Try the hyperplane through every subset of D - 1 points, nearest to the start first.

    There are of the order of n^(D-1) of them: beyond a handful of features the time limit ends the
    search long before the last one.
    """

    def minimise(
        self,
        problem: ZeroOneProblem,
        theta0: Floats,
        progress: Progress,
        *,
        rng: np.random.Generator,
        **_: Any,
    ) -> ZeroOneSolution:
        """Search from theta0."""
        start = SubsetWalk(problem, theta0, progress, rng)
        if start.too_few:
            return progress.solution("too few points for a hyperplane")
        start.best, stopped = progress.loss - problem.base, ""
        while start.more and start.best > 0 and not stopped:
            stopped = progress.stop()
            if not stopped:
                start.go_on()
        return progress.solution(stopped or "every subset tried")


class SubsetWalk:
    """Hyperplanes through subsets of points, those nearest to a start first.

    `best` is the least loss of one, `theta` and `members` are that hyperplane and its points.

    Parameters
    ----------
    problem, theta0, progress, rng
        As solvers have them.
    extra : int or None, default=None
        Choose from so many more of the nearest points than a hyperplane takes; None for all.
    """

    def __init__(
        self,
        problem: ZeroOneProblem,
        theta0: Floats,
        progress: Progress,
        rng: np.random.Generator,
        extra: int | None = None,
    ) -> None:
        self.problem, self.progress, self.rng = problem, progress, rng
        progress.found(theta0, problem.loss(theta0))
        self.lengths = np.linalg.norm(problem.rows, axis=1)
        self.size = problem.size - 1
        scores = np.abs(problem.rows @ theta0) / np.maximum(self.lengths, 1e-300)
        order = np.argsort(scores, kind="stable")
        self.order = order if extra is None else order[: self.size + extra]
        self.too_few = len(self.order) < self.size or self.size == 0
        if self.too_few:
            for theta in (np.ones(problem.size), -np.ones(problem.size)):
                progress.found(theta, problem.loss(theta))
        self.places, self.members = np.arange(self.size), self.order[: self.size].copy()
        self.best, self.theta, self.more = np.inf, np.array(theta0), True

    def go_on(self) -> None:
        """Try as many subsets as take a moment."""
        problem = self.problem
        batch = max(1, _NUMBERS_A_BATCH // problem.rows.size)
        self.more, self.best = walk_subsets(
            problem.rows, self.lengths, problem.weight, self.order, self.places, batch, self.rng,
            self.best, self.theta, self.members,
        )  # fmt: skip
        self.progress.found(self.theta, problem.loss(self.theta))

    def swap(self, place: int) -> bool:
        """Try every point at one place of the best subset; return whether that gains."""
        problem, before = self.problem, self.best
        self.best = swap_sweep(
            problem.rows, self.lengths, problem.weight, self.members, place, self.rng,
            self.best, self.theta,
        )  # fmt: skip
        self.progress.found(self.theta, problem.loss(self.theta))
        return bool(self.best < before)
