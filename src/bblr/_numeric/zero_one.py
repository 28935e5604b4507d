"""The exact minimum of the zero-one loss along a line: a sort and a running sum."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bblr._numeric.compiling import njit
from bblr._numeric.elementary import JIT
from bblr._numeric.layouts import FAR, layout
from bblr._numeric.tensors import beside, is_tensor, namespace
from bblr._numeric.threads import map_ranges

Floats = NDArray[np.float64]


# Up to so many rows threads cost more than they gain. NumPy sorts several times as fast as numba.
_MANY = 2048
# Steps closer to one another than this share of them are equal but for rounding.
_ROUNDING = 1e-11


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
        if weight[i] > 0.0 and abs(point) < FAR:
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
def _lowest_compiled(at, gain, here, left, slack):
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
        # Points that rounding alone tells apart are one: their order is that of the rows.
        while True:
            point = at[k]
            running += gain[k]
            k += 1
            if k == m or at[k] - point > _ROUNDING * abs(at[k]):
                break
        middle = 0.5 * (point + at[k]) if k < m else point + 1.0
        nearer = best < here and running <= best + slack and abs(middle) < abs(step)
        if running < best - slack or nearer:
            best = running
            step = middle
    return step


@njit(**JIT)
def _errors_compiled(raw, direction, y, weight, step):
    total = 0.0
    for i in range(len(raw)):
        if y[i] * (raw[i] + step * direction[i]) <= 0.0:
            total += weight[i]
    return total


def _short_line(
    raw: Floats, direction: Floats, y: Floats, weight: Floats, slack: float
) -> tuple[float, float, float]:
    at, gain = np.empty(len(raw)), np.empty(len(raw))
    m, here, left = _points(raw, direction, y, weight, at, gain)
    order = np.argsort(at[:m])
    step = _lowest_compiled(at[order], gain[order], here, left, slack)
    return step, _errors_compiled(raw, direction, y, weight, step), here


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
        return float(_errors_compiled(raw[own], direction[own], y[own], weight[own], step))

    work = 32 * len(raw)
    parts = map_ranges(points, len(raw), work)
    at, gain = parts[0][:2]
    for more_at, more_gain, _, _ in parts[1:]:
        at, gain = _merge(at, gain, more_at, more_gain)
    here, left = sum(part[2] for part in parts), sum(part[3] for part in parts)
    step = _lowest_compiled(at, gain, here, left, slack)
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


def zero_one_line(decision: Any, change: Any, y: Any, weight: Any) -> tuple[float, float, float]:
    """Return the step of fewest errors along a change of the scores, the errors there and here.

    A score on the boundary, or a tie between classes, is an error. The vectors are arrays or
    tensors.
    """
    if decision.ndim == 1 and not is_tensor(decision):
        return exact_line(decision, change, y, weight)
    ends = line_ends(decision, change, y, weight)
    xp, slack = namespace(decision), 1e-12 * ends.total
    points, gain = merged(ends.at, ends.gain)
    bounds = xp.cat([beside([-np.inf], points), points, beside([np.inf], points)])
    losses = xp.cat([beside([0.0], gain), gain]).cumsum(0) + ends.left
    step = lowest(losses, middles(bounds[:-1], bounds[1:], ends.far), ends.here, slack)
    # A stretch may be too narrow for any float to lie inside: believe only what is there.
    there = errors(y, decision + step * change, weight)
    return (step, there, ends.here) if there < ends.here - slack else (0.0, ends.here, ends.here)


class Ends(NamedTuple):
    """Where the loss changes along a line, and by how much.

    `left` is the loss far to the left, `here` at step 0, `total` the weight of all rows. Beyond
    the first and the last change a step goes on by 1, of many classes (`far` = 1) by as much as it
    has come.
    """

    at: Any
    gain: Any
    left: float
    here: float
    total: float
    far: float


def line_ends(decision: Any, change: Any, y: Any, weight: Any) -> Ends:
    """Return the changes of the loss along a line, in any order."""
    form = layout(decision)
    with np.errstate(divide="ignore", invalid="ignore"):
        at, gain, left = form.ends(decision, change, y, weight)
    here, total = errors(y, decision, weight), float(weight.sum())
    return Ends(at, gain, float(left), here, total, form.far)


def merged(at: Any, gain: Any) -> tuple[Any, Any]:
    """Return the steps at which the loss changes, in order, and the sum of its changes at each.

    Steps that rounding alone tells apart are one: the stretches between them are not there, and
    their order is that of the rows.
    """
    xp = namespace(at)
    points, place = xp.unique(at, return_inverse=True)
    apart = points[1:] - points[:-1] > _ROUNDING * abs(points[1:])
    # The first point, if there is one, has none before it.
    starts = xp.cat([points[:1] == points[:1], apart])
    place = (starts.cumsum(0) - 1)[place]
    points = points[starts]
    return points, xp.bincount(place, gain, len(points))


def middles(low: Any, high: Any, far: float) -> Any:
    """Return the middle of each stretch of steps; one without an end is left a little way in."""
    xp = namespace(low)
    reach = [abs(xp.where(abs(ends) < np.inf, ends, 0.0)) for ends in (high, low)]
    before, after = (xp.where(far * size > 1, far * size, 1.0) for size in reach)
    with np.errstate(invalid="ignore"):
        inside = xp.where(high < np.inf, 0.5 * (low + high), low + after)
    whole = xp.where(high < np.inf, high - before, 0.0)
    return xp.where(low > -np.inf, inside, whole)


def lowest(losses: Any, steps: Any, here: float, slack: float) -> float:
    """Return the step of the least loss, the nearest to 0 among equals; 0 if none gains."""
    least = float(losses.min())
    if not least < here - slack:
        return 0.0
    equal = steps[losses <= least + slack]
    return float(equal[abs(equal).argmin()])


def errors(y: Any, decision: Any, weight: Any) -> float:
    """Return the weight of the rows that are errors, strictly: a tie is one."""
    return float((weight * layout(decision).is_wrong(y, decision)).sum())
