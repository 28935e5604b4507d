"""Exact zero-one line searches, along coordinates and beyond."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bblr.solvers.protocols import Counted
from bblr.solvers.solution import Floats, Solution, require

# Sums of weights in another order differ in the last digits; that is no gain.
_SLACK = 1e-12


class Walker:
    """Parameters, their scores and their errors."""

    def __init__(self, objective: Counted, theta: Floats) -> None:
        self.objective = objective
        self.slack = _SLACK * objective.total
        self.move_to(theta)

    def move_to(self, theta: Floats) -> None:
        """Move to other parameters and recompute their scores."""
        self.theta = np.array(theta, dtype=np.float64)
        self.raw = self.objective.scores(self.theta)
        self.errors = self.objective.errors(self.theta, self.raw)

    def follow(self, direction: Floats) -> bool:
        """Go to the best point along a direction; say whether that gains."""
        # Scores are linear in the parameters, so a direction has scores of its own.
        change = self.objective.scores(direction)
        step, errors = self.objective.line(self.raw, change)
        if not errors < self.errors - self.slack:
            return False
        self._go(direction, change, step)
        return True

    def follow_each(self, directions: Floats) -> bool:
        """Follow the directions, a row each, in turn; say whether any of them gains.

        Where the rows are far away several are evaluated together. Up to the first that gains this
        is what following them one by one would find; those after it are looked at again.
        """
        gained, k = False, 0
        while k < len(directions):
            some = directions[k : k + self.objective.batch]
            if len(some) == 1:
                gained |= self.follow(some[0])
                k += 1
                continue
            lines = self.objective.lines(self.raw, some)
            better = [i for i, line in enumerate(lines) if line[1] < self.errors - self.slack]
            if not better:
                k += len(some)
                continue
            direction = some[better[0]]
            self._go(direction, self.objective.scores(direction), lines[better[0]][0])
            gained, k = True, k + better[0] + 1
        return gained

    def follow_axis(self, j: int) -> bool:
        """Go to the best point along parameter j, looking only at the rows it concerns."""
        step, saved = self.objective.axis_line(self.raw, j)
        if not saved > 0:
            return False
        self.theta[j] += step
        self.raw = self.objective.shifted(self.raw, j, step)
        self.errors -= saved
        return True

    def _go(self, direction: Floats, change: Any, step: float) -> None:
        self.theta += step * direction
        self.raw = self.raw + change * step
        # With many classes a stretch may be too narrow for its errors to be those of any float.
        self.errors = self.objective.errors(self.theta, self.raw)


@dataclass(frozen=True)
class ZeroOneSearch:
    """Exact line searches along coordinates and random directions, with kicks.

    When neither gains, the best parameters so far are kicked and the search goes on from there.

    Parameters
    ----------
    max_lines : int, default=8000
        Line searches to spend.
    kick : float, default=0.1
        Size of the smallest kick, as a share of the length of the parameters; it grows up to
        fivefold while nothing is found.
    """

    max_lines: int = 8000
    kick: float = 0.1

    def minimise(
        self,
        objective: Counted,
        theta0: Floats,
        *,
        rng: np.random.Generator | None = None,
        **_: Any,
    ) -> Solution:
        """Lower the training errors from theta0; the smooth objective is not looked at."""
        require(objective, "zero-one search", "scores", "errors", "value", "line")
        rng = np.random.default_rng(0) if rng is None else rng
        walker = Walker(objective, theta0)
        best, best_errors = walker.theta.copy(), walker.errors
        size = len(best)
        axes = np.eye(size)
        lines, failures = 0, 0
        while lines < self.max_lines and best_errors > 0:
            gained = walker.follow_each(axes)
            for _round in range(2):
                gained |= walker.follow_each(rng.standard_normal((size, size)))
            lines += 3 * size
            if walker.errors < best_errors - walker.slack:
                best, best_errors, failures = walker.theta.copy(), walker.errors, 0
            if not gained:
                length = self.kick * (1 + failures % 5) * np.linalg.norm(best) / np.sqrt(size)
                walker.move_to(best + length * rng.standard_normal(size))
                failures += 1
        reason = "no errors left" if best_errors == 0 else "line searches spent"
        return Solution(best, objective.value(best), best_errors, reason, lines)
