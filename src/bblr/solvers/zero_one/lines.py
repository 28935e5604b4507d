"""Exact line searches of the zero-one loss on data too large, or too sparse, for vertices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bblr.solvers.solution import require
from bblr.solvers.zero_one.progress import Floats, Progress, ZeroOneSolution
from bblr.solvers.zero_one_line import Walker


@dataclass(frozen=True)
class LineSearch:
    """Global minima along coordinates, pulls of misclassified rows and random directions.

    A line costs a pass over the data and a sort; a coordinate of sparse data only the rows that
    have it. Where no line gains, the best parameters so far are kicked and the search goes on from
    there. The same seed gives the same result unless the time limit cuts the search short.

    Parameters
    ----------
    rounds : int, default=40
        Kicks to spend.
    directions : int, default=20
        Directions of either kind that are not coordinates, between kicks.
    kick : float, default=0.05
        Size of a kick, as a share of the length of the parameters; it doubles up to eightfold
        while nothing is found.
    """

    rounds: int = 40
    directions: int = 20
    kick: float = 0.05

    @property
    def n_steps(self) -> int:
        """Called after each step."""
        return self.rounds

    def minimise(
        self,
        objective: Any,
        theta0: Floats,
        progress: Progress,
        *,
        rng: np.random.Generator,
        **_: Any,
    ) -> ZeroOneSolution:
        """Search from theta0 on an objective of strict zero-one loss."""
        require(objective, "zero-one line search", "scores", "axis_line", "rmatvec")
        walker = Walker(objective, theta0)
        progress.found(walker.theta, walker.errors)
        failures = 0
        for _round in range(self.rounds):
            self._descend(walker, progress, rng)
            progress.step()
            if progress.loss == 0 or progress.expired:
                break
            failures = 0 if progress.found(walker.theta, walker.errors) else failures + 1
            best = np.asarray(progress.theta)
            length = self.kick * 2 ** (failures % 4) * np.linalg.norm(best) / np.sqrt(len(best))
            walker.move_to(best + length * rng.standard_normal(len(best)))
        reason = progress.limit if progress.expired else "rounds spent"
        return progress.solution("no errors left" if progress.loss == 0 else reason)

    def _descend(self, walker: Walker, progress: Progress, rng: np.random.Generator) -> None:
        """Follow lines until none gains."""
        before = np.inf
        # An apparent gain may be rounding drift.
        while walker.errors < before:
            before = walker.errors
            for j in rng.permutation(len(walker.theta)):
                if progress.expired:
                    return
                walker.follow_axis(int(j))
            progress.found(walker.theta, walker.errors)
            for _ in range(self.directions):
                if progress.expired:
                    return
                walker.follow(_pull_of_wrong_rows(walker, rng))
                walker.follow(rng.standard_normal(len(walker.theta)))
            # Sums of many steps drift from the scores of the parameters.
            walker.move_to(walker.theta)
            progress.found(walker.theta, walker.errors)


def _pull_of_wrong_rows(walker: Walker, rng: np.random.Generator) -> Floats:
    """Return the direction that helps some of the misclassified rows most."""
    objective: Any = walker.objective
    wrong = objective.rows.wrong(objective.loss, objective.y, walker.raw)
    some = wrong[rng.random(len(wrong)) < rng.random()]
    direction = objective.rmatvec(objective.rows.only(objective.y * objective.weight, some))
    return direction if np.any(direction) else rng.standard_normal(len(walker.theta))
