"""The exact minimum of the zero-one loss along a line: a sort and a running sum."""

from __future__ import annotations

import numpy as np
from numba import njit

from bblr._numeric.elementary import JIT

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
