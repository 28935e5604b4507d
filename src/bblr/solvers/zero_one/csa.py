"""CSA, combinatorial search approximation (Nguyen and Sanner, 2013)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bblr.solvers.zero_one.pcs import SubsetWalk
from bblr.solvers.zero_one.problem import ZeroOneProblem
from bblr.solvers.zero_one.progress import Floats, Progress, ZeroOneSolution


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
        # The start itself does not count: the swaps begin from the best hyperplane through points.
        near = SubsetWalk(problem, theta0, progress, rng, self.extra)
        if near.too_few:
            return progress.solution("too few points for a hyperplane")
        while near.more and not progress.expired:
            near.go_on()
        quiet = 0
        while quiet < near.size and near.best > 0:
            for place in range(near.size):
                if progress.expired:
                    return progress.solution(progress.limit)
                quiet = 0 if near.swap(place) else quiet + 1
        return progress.solution("no swap gains")
