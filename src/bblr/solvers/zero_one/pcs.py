"""PCS, prioritised combinatorial search (Nguyen and Sanner, 2013)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bblr._numeric.subsets import walk_subsets
from bblr.solvers.zero_one.problem import ZeroOneProblem
from bblr.solvers.zero_one.progress import Floats, Progress, ZeroOneSolution

# Numbers to look at between two looks at the clock.
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
        progress.found(theta0, problem.loss(theta0))
        lengths = np.linalg.norm(problem.rows, axis=1)
        batch = max(1, _NUMBERS_A_BATCH // problem.rows.size)
        order = nearest(problem, theta0)
        size = problem.size - 1
        if len(order) < size or size == 0:
            for theta in (np.ones(size + 1), -np.ones(size + 1)):
                progress.found(theta, problem.loss(theta))
            return progress.solution("too few points for a hyperplane")
        places = np.arange(size)
        best, theta = progress.loss - problem.base, np.array(theta0)
        members = order[:size].copy()
        more, stopped = True, ""
        while more and best > 0:
            stopped = progress.stop()
            if stopped:
                break
            more, best = walk_subsets(
                problem.rows, lengths, problem.weight, order, places, batch, rng,
                best, theta, members,
            )  # fmt: skip
            progress.found(theta, problem.loss(theta))
        return progress.solution(stopped or "every subset tried")


def nearest(problem: ZeroOneProblem, theta: Floats) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return the numbers of the rows, those nearest to the hyperplane first."""
    lengths = np.maximum(np.linalg.norm(problem.rows, axis=1), 1e-300)
    return np.argsort(np.abs(problem.rows @ theta) / lengths, kind="stable")
