"""A step length that satisfies the weak Wolfe conditions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bblr.solvers.protocols import Floats, Smooth

ARMIJO = 1e-4
WOLFE = 0.9
TRIES = 25


class Point(NamedTuple):
    """Parameters with the value, the gradient and the raw scores there."""

    theta: Floats
    value: float
    gradient: Floats
    raw: Floats


def evaluate(objective: Smooth, theta: Floats) -> Point:
    """Return the point at theta, by one pass over the data."""
    return Point(theta, *objective.value_gradient(theta))


def wolfe_step(
    objective: Smooth, start: Point, direction: Floats, tries: int = TRIES
) -> Point | None:
    """Return a point along the direction that is low and flat enough.

    After the last trial it is the lowest point seen that decreases enough; None if there is none,
    which happens only where rounding hides the descent.
    """
    slope = float(start.gradient @ direction)
    low, high, t = 0.0, np.inf, 1.0
    best: Point | None = None
    for _ in range(TRIES):
        point = evaluate(objective, start.theta + t * direction)
        if not point.value <= start.value + ARMIJO * t * slope:
            # Halving, not interpolation: a fitted parabola would turn rounding errors into
            # different steps, and equivalent inputs into different fits.
            high = t
            t = 0.5 * (low + high)
        else:
            best = point
            if float(point.gradient @ direction) >= WOLFE * slope or t > 1e6:
                break
            low = t
            t = 2.0 * t if np.isinf(high) else 0.5 * (low + high)
        if high - low < 1e-12 * max(1.0, low):
            break
    return best
