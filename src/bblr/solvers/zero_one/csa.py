"""CSA, combinatorial search approximation (Nguyen and Sanner, 2013)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bblr._numeric.subsets import swap_sweep, walk_subsets
from bblr.solvers.zero_one.pcs import nearest
from bblr.solvers.zero_one.problem import ZeroOneProblem
from bblr.solvers.zero_one.progress import Floats, Progress, ZeroOneSolution

_NUMBERS_A_BATCH = 10_000_000


@dataclass(frozen=True)
class CombinatorialApproximation:
    """The best hyperplane through points near the start, then single points swapped.

    Parameters
    ----------
    extra : int, default=8
        All subsets of D - 1 of the nearest D - 1 + extra points are tried first.
    """

    extra: int = 8

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
        progress.found(theta0, problem.loss(theta0))
        lengths = np.linalg.norm(problem.rows, axis=1)
        batch = max(1, _NUMBERS_A_BATCH // problem.rows.size)
        size = problem.size - 1
        order = nearest(problem, theta0)[: size + self.extra]
        if len(order) < size or size == 0:
            for theta in (np.ones(size + 1), -np.ones(size + 1)):
                progress.found(theta, problem.loss(theta))
            return progress.solution("too few points for a hyperplane")
        places, members = np.arange(size), order[:size].copy()
        # The start itself does not count: the swaps begin from the best hyperplane through points.
        best, theta, more = np.inf, np.array(theta0), True
        while more and not progress.expired:
            more, best = walk_subsets(
                problem.rows, lengths, problem.weight, order, places, batch, rng,
                best, theta, members,
            )  # fmt: skip
            progress.found(theta, problem.loss(theta))
        quiet = 0
        while quiet < size and best > 0:
            for place in range(size):
                if progress.expired:
                    return progress.solution(progress.limit)
                before = best
                best = swap_sweep(
                    problem.rows, lengths, problem.weight, members, place, rng, best, theta
                )
                progress.found(theta, problem.loss(theta))
                quiet = 0 if best < before else quiet + 1
        return progress.solution("no swap gains")
