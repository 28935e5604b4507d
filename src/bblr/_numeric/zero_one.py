"""The exact minimum of the zero-one loss along a line: a sort and a running sum."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from bblr._numeric.elementary import JIT
from bblr._numeric.threads import map_ranges

Floats = NDArray[np.float64]

# Beyond this a breakpoint plus or minus 1 is the breakpoint itself.
_FAR = 2.0**52


# From so many rows on NumPy's sort, several times as fast as numba's, is worth its calls.
_MANY = 2048


@njit(**JIT)
def _points(raw, direction, y, weight, at, gain):
    """Write where rows change sign, and what errors they add there.

    Returns how many do, the errors at step 0, and those far to the left.
    """
    m = 0
    here = 0.0
    left = 0.0
    for i in range(len(raw)):
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
            left += weight[i] if rising else 0.0
            m += 1
        elif wrong:
            left += weight[i]
    return m, here, left


@njit(**JIT)
def _merge(at, gain, more_at, more_gain):
    """Return two sorted runs of points as one."""
    n, m = len(at), len(more_at)
    all_at, all_gain = np.empty(n + m), np.empty(n + m)
    i = j = 0
    for k in range(n + m):
        if j == m or (i < n and at[i] <= more_at[j]):
            all_at[k], all_gain[k] = at[i], gain[i]
            i += 1
        else:
            all_at[k], all_gain[k] = more_at[j], more_gain[j]
            j += 1
    return all_at, all_gain


@njit(**JIT)
def _lowest(at, gain, here, left, slack):
    """Return the middle of the stretch of fewest errors between sorted points, nearest first."""
    best = here
    step = 0.0
    running = left
    m = len(at)
    if m and running < best - slack:
        best = running
        step = at[0] - 1.0
    k = 0
    while k < m:
        point = at[k]
        while k < m and at[k] == point:
            running += gain[k]
            k += 1
        middle = 0.5 * (point + at[k]) if k < m else point + 1.0
        nearer = best < here and running <= best + slack and abs(middle) < abs(step)
        if running < best - slack or nearer:
            best = running
            step = middle
    return step


@njit(**JIT)
def _errors(raw, direction, y, weight, step):
    total = 0.0
    for i in range(len(raw)):
        if y[i] * (raw[i] + step * direction[i]) <= 0.0:
            total += weight[i]
    return total


@njit(**JIT)
def _short_line(raw, direction, y, weight, slack):
    at, gain = np.empty(len(raw)), np.empty(len(raw))
    m, here, left = _points(raw, direction, y, weight, at, gain)
    order = np.argsort(at[:m])
    step = _lowest(at[order], gain[order], here, left, slack)
    return step, _errors(raw, direction, y, weight, step), here


def _long_line(
    raw: Floats, direction: Floats, y: Floats, weight: Floats, slack: float
) -> tuple[float, float, float]:
    def points(_: int, start: int, stop: int) -> tuple[Floats, Floats, float, float]:
        own = slice(start, stop)
        at, gain = np.empty(stop - start), np.empty(stop - start)
        m, here, left = _points(raw[own], direction[own], y[own], weight[own], at, gain)
        order = np.argsort(at[:m])
        return at[order], gain[order], here, left

    def errors(_: int, start: int, stop: int) -> float:
        own = slice(start, stop)
        return float(_errors(raw[own], direction[own], y[own], weight[own], step))

    work = 32 * len(raw)
    parts = map_ranges(points, len(raw), work)
    at, gain = parts[0][:2]
    for more_at, more_gain, _, _ in parts[1:]:
        at, gain = _merge(at, gain, more_at, more_gain)
    here, left = sum(part[2] for part in parts), sum(part[3] for part in parts)
    step = _lowest(at, gain, here, left, slack)
    return step, sum(map_ranges(errors, len(raw), work // 8)), here


def exact_line(
    raw: Floats, direction: Floats, y: Floats, weight: Floats
) -> tuple[float, float, float]:
    """Return (step, errors there, errors at step 0) of the strict zero-one loss along a line."""
    # Sums of weights in another order differ in the last digits; that is no gain.
    slack = 1e-12 * float(weight.sum())
    line = _short_line if len(raw) < _MANY else _long_line
    step, best, here = line(raw, direction, y, weight, slack)
    # A stretch may be too narrow for any float to lie inside: believe only what is there.
    if best < here - slack:
        return float(step), float(best), float(here)
    return 0.0, float(here), float(here)


def zero_one_line(
    decision: Floats, change: Floats, y: NDArray[Any], weight: Floats
) -> tuple[float, float, float]:
    """Return the step of fewest errors along a change of the scores, the errors there and here.

    A score on the boundary, or a tie between classes, is an error.
    """
    line = exact_line if decision.ndim == 1 else several_line
    step, errors, here = line(decision, change, y, weight)
    return float(step), float(errors), float(here)


def several_line(
    raw: Floats, change: Floats, y: NDArray[np.intp], weight: Floats
) -> tuple[float, float, float]:
    """Return (step, errors there, errors at step 0) of the loss of many classes along a line.

    An example is right while its own score exceeds every other one: on one open stretch of steps.
    Sorting the ends of the stretches finds the best step, chosen as in :func:`exact_line`.
    """
    low, high, right_here = right_stretch(raw, change, y)
    can = low < high
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
    still = float(weight[right_here].sum())
    best = float(right.max())
    if not best > still * (1.0 + 1e-12):
        return 0.0, total - still, total - still
    bounds = np.concatenate([[-np.inf], ends, [np.inf]])
    steps = [_middle(bounds[k], bounds[k + 1]) for k in np.flatnonzero(right == right.max())]
    return min(steps, key=abs), total - best, total - still


def right_stretch(
    raw: Floats, change: Floats, y: NDArray[np.intp]
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Return between which steps each example is right, and whether it is at step 0.

    Where it never is, the stretch ends before it begins.
    """
    rows = np.arange(len(y))
    lead = raw[rows, y][:, None] - raw
    gain = change[rows, y][:, None] - change
    gain[rows, y], lead[rows, y] = 0.0, 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        cross = -lead / gain
    low = np.where(gain > 0, cross, -np.inf).max(axis=1)
    high = np.where(gain < 0, cross, np.inf).min(axis=1)
    never = ((gain == 0) & (lead <= 0)).any(axis=1)
    right = np.asarray((lead > 0).all(axis=1))
    return np.where(never, np.inf, low), np.asarray(high), right


def _middle(low: float, high: float) -> float:
    if np.isinf(low) and np.isinf(high):
        return 0.0
    if np.isinf(low):
        return high - max(1.0, abs(high))
    if np.isinf(high):
        return low + max(1.0, abs(low))
    return 0.5 * (low + high)
