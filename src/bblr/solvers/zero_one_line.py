"""Exact zero-one line searches, along coordinates and beyond."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bblr._numeric.zero_one import exact_line
from bblr.solvers.solution import Floats, Solution, require

_NEEDS = ("scores", "value")


def zero_one_line(
    raw: Floats, direction: Floats, y: Floats, weight: Floats
) -> tuple[float, float]:
    """Return the step that minimises the strict zero-one loss of raw + step * direction.

    The loss is constant between the steps at which a score changes sign. Sorting those and summing
    up the changes finds the global minimum along the line. The step returned is the middle of the
    best stretch, the nearest to 0 among equals, and 0 itself where no stretch is better.

    Returns
    -------
    step : float
        Step.
    errors : float
        Weighted errors at that step.
    """
    step, errors, _ = exact_line(raw, direction, y, weight)
    return float(step), float(errors)


def many_line(
    raw: Floats, change: Floats, y: NDArray[np.intp], weight: Floats
) -> tuple[float, float]:
    """Return the step that minimises the strict zero-one loss of many classes along a line.

    An example is right while its own score exceeds every other one: on one open stretch of steps.
    Sorting the ends of the stretches finds the best step, chosen as in :func:`zero_one_line`.
    """
    rows = np.arange(len(y))
    lead = raw[rows, y][:, None] - raw
    gain = change[rows, y][:, None] - change
    gain[rows, y], lead[rows, y] = 0.0, 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        cross = -lead / gain
    low = np.where(gain > 0, cross, -np.inf).max(axis=1)
    high = np.where(gain < 0, cross, np.inf).min(axis=1)
    can = (low < high) & ~((gain == 0) & (lead <= 0)).any(axis=1)
    low, high, held = low[can], high[can], weight[can]
    total = float(weight.sum())
    ends = np.unique(np.concatenate([low, high]))
    ends = ends[np.isfinite(ends)]
    right = np.zeros(len(ends) + 1)
    np.add.at(right, np.searchsorted(ends, low, side="right"), held)
    # A stretch that ends at ends[k] covers the gaps up to number k.
    leave = np.searchsorted(ends, high, side="left") + 1
    np.subtract.at(right, leave[np.isfinite(high)], held[np.isfinite(high)])
    right = np.cumsum(right)
    still = float(weight[(lead > 0).all(axis=1)].sum())
    best = float(right.max())
    if not best > still * (1.0 + 1e-12):
        return 0.0, total - still
    bounds = np.concatenate([[-np.inf], ends, [np.inf]])
    steps = [_middle(bounds[k], bounds[k + 1]) for k in np.flatnonzero(right == right.max())]
    return min(steps, key=abs), total - best


def _middle(low: float, high: float) -> float:
    if np.isinf(low) and np.isinf(high):
        return 0.0
    if np.isinf(low):
        return high - max(1.0, abs(high))
    if np.isinf(high):
        return low + max(1.0, abs(low))
    return 0.5 * (low + high)


class ManyWalker:
    """The same for many classes: the largest score wins."""

    def __init__(self, objective: Any, theta: Floats) -> None:
        if not objective.loss.symmetric:
            raise ValueError(
                "Exact zero-one line searches of many classes need the same plateau for each; "
                "choose another prior or another solver."
            )
        self.objective = objective
        self.move_to(theta)

    def move_to(self, theta: Floats) -> None:
        """Take other parameters, and their scores afresh."""
        self.theta = np.array(theta, dtype=np.float64)
        self.raw = self.objective.scores(self.theta)
        self.errors = self.objective.errors(self.theta, self.raw)

    def follow(self, direction: Floats) -> bool:
        """Go to the best point along a direction; say whether that gains."""
        change = self.objective.scores(direction)
        step, errors = many_line(self.raw, change, self.objective.y, self.objective.weight)
        if not errors < self.errors:
            return False
        self.theta += step * direction
        self.raw += step * change
        self.errors = self.objective.errors(self.theta, self.raw)
        return True


def _walker(objective: Any, theta: Floats) -> Walker | ManyWalker:
    many = hasattr(objective, "by_class")
    return ManyWalker(objective, theta) if many else Walker(objective, theta)


class Walker:
    """Parameters, their scores about the threshold, and their errors."""

    def __init__(self, objective: Any, theta: Floats) -> None:
        self.objective = objective
        self.move_to(theta)

    def move_to(self, theta: Floats) -> None:
        """Take other parameters, and their scores afresh."""
        self.theta = np.array(theta, dtype=np.float64)
        objective = self.objective
        self.raw = objective.scores(self.theta) - objective.loss.threshold
        self.errors = float(objective.weight @ (objective.y * self.raw <= 0))

    def follow(self, direction: Floats) -> bool:
        """Go to the best point along a direction; say whether that gains."""
        objective = self.objective
        # Scores are linear in the parameters, so a direction has scores of its own.
        change = objective.scores(direction)
        step, errors = zero_one_line(self.raw, change, objective.y, objective.weight)
        if not errors < self.errors:
            return False
        self.theta += step * direction
        self.raw += step * change
        self.errors = errors
        return True

    def follow_axis(self, j: int) -> bool:
        """Go to the best point along parameter j, looking only at the rows it concerns."""
        rows, change = self.objective.direction(j)
        where: Any = slice(None) if rows is None else rows
        y, weight = self.objective.y[where], self.objective.weight[where]
        step, errors, before = exact_line(self.raw[where], change, y, weight)
        if not errors < before:
            return False
        self.theta[j] += step
        self.raw[where] += step * change
        self.errors += errors - before
        return True


@dataclass(frozen=True)
class ZeroOneCoordinates:
    """Exact zero-one line searches along the coordinates until none of them gains.

    Parameters
    ----------
    max_sweeps : int, default=20
        Most passes over the parameters.
    """

    max_sweeps: int = 20

    def minimise(self, objective: Any, theta0: Floats, **_: Any) -> Solution:
        """Lower the training errors from theta0; the smooth objective is not looked at."""
        require(objective, "zero-one line search", *_NEEDS)
        walker = _walker(objective, theta0)
        axes = np.eye(len(walker.theta))
        reason, sweeps = "sweep limit", 0
        while sweeps < self.max_sweeps:
            sweeps += 1
            if not any([walker.follow(axis) for axis in axes]):
                reason = "no coordinate gains"
                break
        value = objective.value(walker.theta)
        return Solution(walker.theta, value, walker.errors, reason, sweeps)


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
        self, objective: Any, theta0: Floats, *, rng: np.random.Generator | None = None, **_: Any
    ) -> Solution:
        """Lower the training errors from theta0; the smooth objective is not looked at."""
        require(objective, "zero-one search", *_NEEDS)
        rng = np.random.default_rng(0) if rng is None else rng
        walker = _walker(objective, theta0)
        best, best_errors = walker.theta.copy(), walker.errors
        size = len(best)
        axes = np.eye(size)
        lines, failures = 0, 0
        while lines < self.max_lines and best_errors > 0:
            gained = [walker.follow(axis) for axis in axes]
            gained += [walker.follow(rng.standard_normal(size)) for _ in range(2 * size)]
            lines += len(gained)
            if walker.errors < best_errors:
                best, best_errors, failures = walker.theta.copy(), walker.errors, 0
            if not any(gained):
                length = self.kick * (1 + failures % 5) * np.linalg.norm(best) / np.sqrt(size)
                walker.move_to(best + length * rng.standard_normal(size))
                failures += 1
        reason = "no errors left" if best_errors == 0 else "line searches spent"
        return Solution(best, objective.value(best), best_errors, reason, lines)
