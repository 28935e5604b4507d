"""The loss at many steps along one coordinate.

On a uniform grid exp(-gamma y (raw + k h x)) is a geometric sequence in k, so a step costs one
multiplication instead of an exponential; and where the rows weigh the same, the sum of logarithms
is the logarithm of a product, taken once for every sixteen rows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bblr._numeric.compiling import njit
from bblr._numeric.elementary import JIT, exp_minus_abs, logarithm
from bblr._numeric.threads import map_ranges
from bblr.losses.fused import SIGMOID, FusedLoss

Floats = NDArray[np.float64]

# A table of the first powers serves every stretch of this many steps.
STRETCH = 16
# exp(-z) is cut here before it enters a product of sixteen: (1e15)^16 is still finite. A plateau
# of at least MIN_PLATEAU makes the cut invisible in double precision.
_CAP = 1e15
_ROWS_IN_PRODUCT = 16
# Rows that are prepared together.
_ROWS = 64
MIN_PLATEAU = 1e-6
# The sequence starts from exp(-z) itself and must not overflow on its way along the grid.
_REACH = 600.0


@njit(**JIT)
def _exp_minus(z):
    # exp(-z) with both signs, out of exp(-|z|).
    e = exp_minus_abs(z)
    return e if z >= 0.0 else 1.0 / e


@njit(**JIT)
def _powers(q, table):
    # By doubling, so that the multiplications run side by side.
    table[0] = 1.0
    size = 1
    while size < len(table):
        for i in range(min(size, len(table) - size)):
            table[size + i] = table[i] * q
        q *= q
        size *= 2


@njit(**JIT)
def _row_steps(z, slope, e, q, steps):
    # exp(-z) of one row at every step, cut.
    if max(abs(z), abs(z + len(steps) * slope)) > _REACH:
        for k in range(len(steps)):
            steps[k] = _exp_minus(z + k * slope)
    else:
        _powers(q, steps)
        for k in range(len(steps)):
            steps[k] *= e
    for k in range(len(steps)):
        steps[k] = min(steps[k], _CAP)


@njit(**JIT)
def _multiply_four(
    e0, e1, e2, e3, q0, q1, q2, q3, l0, l1, l2, l3, h0, h1, h2, h3, top, bottom
):  # fmt: skip
    # Four rows share one load and store of the products. Numbers, not tuples or a table of them,
    # are what the compiler keeps in registers: both together are twice as fast.
    for k in range(len(top)):
        u0, u1 = min(e0 * q0[k], _CAP), min(e1 * q1[k], _CAP)
        u2, u3 = min(e2 * q2[k], _CAP), min(e3 * q3[k], _CAP)
        top[k] *= ((1.0 + u0) * (1.0 + u1)) * ((1.0 + u2) * (1.0 + u3))
        bottom[k] *= ((h0 + l0 * u0) * (h1 + l1 * u1)) * ((h2 + l2 * u2) * (h3 + l3 * u3))


@njit(**JIT)
def _add_logarithms(top, bottom, weight, out):
    # Adds the logarithms of the quotients and starts the products afresh.
    for k in range(len(top)):
        out[k] += weight * logarithm(top[k] / bottom[k])
        top[k] = bottom[k] = 1.0


@njit(**JIT)
def _add_row(code, u, low, high, weight, out):
    if code == SIGMOID:
        for k in range(len(u)):
            out[k] += weight * (u[k] / (1.0 + u[k]))
        return
    for k in range(len(u)):
        out[k] += weight * logarithm((1.0 + u[k]) / (high + low * u[k]))


@njit(**JIT)
def _four_rows(rows, g, table, top, bottom):
    e, q, low, high = rows[2], rows[3], rows[4], rows[5]
    for i in range(4):
        _powers(q[g + i], table[i])
    e0, e1, e2, e3 = e[g], e[g + 1], e[g + 2], e[g + 3]
    s0, s1 = table[0, STRETCH - 1] * q[g], table[1, STRETCH - 1] * q[g + 1]
    s2, s3 = table[2, STRETCH - 1] * q[g + 2], table[3, STRETCH - 1] * q[g + 3]
    for k in range(0, len(top), STRETCH):
        _multiply_four(
            e0, e1, e2, e3,
            table[0], table[1], table[2], table[3],
            low[g], low[g + 1], low[g + 2], low[g + 3],
            high[g], high[g + 1], high[g + 2], high[g + 3],
            top[k : k + STRETCH], bottom[k : k + STRETCH],
        )  # fmt: skip
        e0 *= s0
        e1 *= s1
        e2 *= s2
        e3 *= s3


@njit(**JIT)
def _probe_range(fused, raw, x, y, weight, equal, first, spacing, start, stop, out):
    # `out` is a whole number of stretches long.
    code, gamma, low_positive, low_negative, span = fused
    count = len(out)
    rows = np.empty((6, _ROWS))
    z, slope, e, q, low, high = rows[0], rows[1], rows[2], rows[3], rows[4], rows[5]
    u = np.empty(count)
    table = np.empty((4, STRETCH))
    top, bottom = np.ones(count), np.ones(count)
    products = equal and code != SIGMOID
    pending = 0
    for s in range(start, stop, _ROWS):
        n = min(_ROWS, stop - s)
        for i in range(n):
            t = gamma * y[s + i]
            slope[i] = t * x[s + i] * spacing
            z[i] = t * (raw[s + i] + first * x[s + i])
            low[i] = low_positive if y[s + i] > 0.0 else low_negative
            high[i] = low[i] + span
            e[i], q[i] = _exp_minus(z[i]), _exp_minus(slope[i])
        near = products
        for i in range(n):
            near &= max(abs(z[i]), abs(z[i] + count * slope[i])) < _REACH
        whole = n - n % 4 if near else 0
        for i in range(0, whole, 4):
            _four_rows(rows, i, table, top, bottom)
            pending += 4
            if pending == _ROWS_IN_PRODUCT:
                _add_logarithms(top, bottom, weight[start], out)
                pending = 0
        for i in range(whole, n):
            _row_steps(z[i], slope[i], e[i], q[i], u)
            _add_row(code, u, low[i], high[i], weight[s + i], out)
    if pending:
        _add_logarithms(top, bottom, weight[start], out)


def along_grid(
    fused: object,
    raw: Floats,
    change: Floats,
    y: Floats,
    weight: Floats,
    steps: Floats,
) -> Floats | None:
    """Return the weighted loss at raw + step * change for each of the steps.

    None where the recurrence does not hold: the loss must be a :class:`FusedLoss`, a likelihood
    have plateaus, and the steps be evenly spaced.
    """
    spacing = np.diff(steps)
    even = len(steps) > 1 and np.allclose(spacing, spacing[0], rtol=1e-9, atol=0.0)
    if not (even and isinstance(fused, FusedLoss) and _has_plateaus(fused)):
        return None
    n, count = len(raw), len(steps)
    if n == 0:
        return np.zeros(count)
    equal = bool(weight.min() == weight.max())
    padded = -(-count // STRETCH) * STRETCH
    first, apart = float(steps[0]), float(spacing[0])

    def part(_: int, start: int, stop: int) -> Floats:
        out = np.zeros(padded)
        _probe_range(fused, raw, change, y, weight, equal, first, apart, start, stop, out)
        return out[:count]

    return np.asarray(sum(map_ranges(part, n, n * count // 4)))


def _has_plateaus(fused: FusedLoss) -> bool:
    return fused.code == SIGMOID or min(fused.low_positive, fused.low_negative) > MIN_PLATEAU
