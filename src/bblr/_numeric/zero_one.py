"""The exact minimum of the zero-one loss along a line: a sort and a running sum."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from bblr._numeric.elementary import JIT

Floats = NDArray[np.float64]

# Beyond this a breakpoint plus or minus 1 is the breakpoint itself.
_FAR = 2.0**52


@njit(**JIT)
def exact_line(raw, direction, y, weight):
    """Return (step, errors there, errors at step 0) of the strict zero-one loss along a line."""
    n = len(raw)
    at = np.empty(n)
    gain = np.empty(n)
    m = 0
    here = 0.0
    running = 0.0
    for i in range(n):
        wrong = y[i] * raw[i] <= 0.0
        if wrong:
            here += weight[i]
        point = -raw[i] / direction[i] if direction[i] != 0.0 else np.inf
        # A row that changes sign only beyond every float, or never, stands still.
        if weight[i] > 0.0 and abs(point) < _FAR:
            at[m] = point
            # Far to the left exactly the rows that improve with the step are wrong.
            rising = y[i] * direction[i] > 0.0
            gain[m] = -weight[i] if rising else weight[i]
            running += weight[i] if rising else 0.0
            m += 1
        elif wrong:
            running += weight[i]
    if m == 0:
        return 0.0, here, here
    order = np.argsort(at[:m])
    # Sums of weights in another order differ in the last digits; that is no gain.
    slack = 1e-12 * weight.sum()
    best = here
    step = 0.0
    if running < best - slack:
        best = running
        step = at[order[0]] - 1.0
    k = 0
    while k < m:
        point = at[order[k]]
        while k < m and at[order[k]] == point:
            running += gain[order[k]]
            k += 1
        middle = 0.5 * (point + at[order[k]]) if k < m else point + 1.0
        nearer = best < here and running <= best + slack and abs(middle) < abs(step)
        if running < best - slack or nearer:
            best = running
            step = middle
    # A stretch may be too narrow for any float to lie inside: believe only what is there.
    best = 0.0
    for i in range(n):
        if y[i] * (raw[i] + step * direction[i]) <= 0.0:
            best += weight[i]
    if best < here - slack:
        return step, best, here
    return 0.0, here, here


def many_line(
    raw: Floats, change: Floats, y: NDArray[np.intp], weight: Floats
) -> tuple[float, float, float]:
    """Return (step, errors there, errors at step 0) of the loss of many classes along a line.

    An example is right while its own score exceeds every other one: on one open stretch of steps.
    Sorting the ends of the stretches finds the best step, chosen as in :func:`exact_line`.
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
        return 0.0, total - still, total - still
    bounds = np.concatenate([[-np.inf], ends, [np.inf]])
    steps = [_middle(bounds[k], bounds[k + 1]) for k in np.flatnonzero(right == right.max())]
    return min(steps, key=abs), total - best, total - still


def _middle(low: float, high: float) -> float:
    if np.isinf(low) and np.isinf(high):
        return 0.0
    if np.isinf(low):
        return high - max(1.0, abs(high))
    if np.isinf(high):
        return low + max(1.0, abs(low))
    return 0.5 * (low + high)
