"""The loss at many steps along one coordinate.

On a uniform grid exp(-gamma y (raw + k h x)) is a geometric sequence in k, so a step costs one
multiplication instead of an exponential; and where the rows weigh the same, the sum of logarithms
is the logarithm of a product, taken once for every sixteen rows.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from bblr._numeric.elementary import BLOCK, JIT, exp_minus_abs, log_in_place
from bblr._numeric.fused import BETA_BERNOULLI, SIGMOID, FusedLoss
from bblr._numeric.threads import map_ranges

LANES = 8
# exp(-z) is cut here before it enters a product of sixteen: (1e15)^16 is still finite. A plateau
# of at least MIN_PLATEAU makes the cut invisible in double precision.
_CAP = 1e15
MIN_PLATEAU = 1e-6
# The recurrence starts from exp(-z) itself and must not overflow on its way along the grid.
_REACH = 600.0


def probe_supported(fused: FusedLoss) -> bool:
    """Say whether the recurrence holds for this loss: it needs plateaus."""
    if fused.code == SIGMOID:
        return True
    plateau = min(fused.low_positive, fused.low_negative)
    return fused.code == BETA_BERNOULLI and plateau > MIN_PLATEAU


@njit(**JIT)
def _exp_minus(z, out, work, bits, n):
    # exp(-z) with both signs, out of exp(-|z|).
    exp_minus_abs(z, work, bits, n)
    for i in range(n):
        out[i] = work[i] if z[i] >= 0.0 else 1.0 / work[i]


@njit(**JIT)
def _probe_range(fused, raw, x, y, weight, equal, first, spacing, count, start, stop, out):
    code, gamma, low_positive, low_negative, span = fused
    z = np.empty(BLOCK)
    slope = np.empty(BLOCK)
    e = np.empty(BLOCK)
    q = np.empty(BLOCK)
    low = np.empty(BLOCK)
    high = np.empty(BLOCK)
    c = np.empty(BLOCK)
    work = np.empty(BLOCK)
    top = np.empty(BLOCK)
    bottom = np.empty(BLOCK)
    bits = np.empty(BLOCK, np.int64)
    tops = np.ones((count, LANES))
    bottoms = np.ones((count, LANES))
    pending = 0
    for s in range(start, stop, BLOCK):
        n = min(BLOCK, stop - s)
        reach = 0.0
        for i in range(BLOCK):
            # A short last block is filled up with rows that cost nothing on every step.
            inside = i < n
            r = s + i if inside else s
            t = gamma * y[r]
            slope[i] = t * x[r] * spacing if inside else 0.0
            z[i] = t * (raw[r] + first * x[r]) if inside else 0.0
            low[i] = (low_positive if y[r] > 0.0 else low_negative) if inside else 1.0
            high[i] = low[i] + (span if inside else 0.0)
            c[i] = weight[r] if inside else 0.0
            reach = max(reach, abs(z[i]) + count * abs(slope[i]))
        far = reach > _REACH
        _exp_minus(z, e, work, bits, BLOCK)
        _exp_minus(slope, q, work, bits, BLOCK)
        for k in range(count):
            if far:
                for i in range(BLOCK):
                    top[i] = z[i] + k * slope[i]
                _exp_minus(top, e, work, bits, BLOCK)
            if code == SIGMOID:
                total = 0.0
                for i in range(BLOCK):
                    u = min(e[i], _CAP)
                    total += c[i] * (u / (1.0 + u))
                    e[i] *= q[i]
                out[k] += total
                continue
            for i in range(BLOCK):
                u = min(e[i], _CAP)
                top[i] = 1.0 + u
                bottom[i] = high[i] + low[i] * u
                e[i] *= q[i]
            if equal:
                half = BLOCK // 2
                while half >= LANES:
                    for i in range(half):
                        top[i] *= top[i + half]
                        bottom[i] *= bottom[i + half]
                    half //= 2
                for i in range(LANES):
                    tops[k, i] *= top[i]
                    bottoms[k, i] *= bottom[i]
            else:
                for i in range(BLOCK):
                    work[i] = top[i] / bottom[i]
                log_in_place(work, bits, BLOCK)
                total = 0.0
                for i in range(BLOCK):
                    total += c[i] * work[i]
                out[k] += total
        pending += 1
        if pending == 2 or s + BLOCK >= stop:
            pending = 0
            if code != SIGMOID and equal:
                for k in range(count):
                    for i in range(LANES):
                        work[i] = tops[k, i] / bottoms[k, i]
                        tops[k, i] = 1.0
                        bottoms[k, i] = 1.0
                    log_in_place(work, bits, LANES)
                    for i in range(LANES):
                        out[k] += weight[start] * work[i]


def probe_grid(
    fused: FusedLoss,
    raw: NDArray[np.float64],
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    weight: NDArray[np.float64],
    first: float,
    spacing: float,
    count: int,
) -> NDArray[np.float64]:
    """Return the weighted loss at raw + (first + k * spacing) * x for k in range(count)."""
    n = len(raw)
    if n == 0:
        return np.zeros(count)
    equal = bool(weight.min() == weight.max())

    def part(_: int, start: int, stop: int) -> NDArray[np.float64]:
        out = np.zeros(count)
        _probe_range(fused, raw, x, y, weight, equal, first, spacing, count, start, stop, out)
        return out

    return np.asarray(sum(map_ranges(part, n, n * count // 4)))
