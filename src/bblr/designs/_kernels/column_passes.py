"""Fused passes over sparse rows that are stored column by column, in blocks of rows.

A loop over a row of a dozen entries ends before the processor has guessed its length; one over a
column of a block runs on. The scores of a block stay in a cache, so that their places, and those
of its residuals, may be visited in any order.
"""

from __future__ import annotations

import numpy as np

from bblr._numeric.compiling import njit
from bblr._numeric.elementary import EXACT, JIT
from bblr.losses.fused import value_residual


@njit(**EXACT)
def fill_columns(data, indices, indptr, bounds, start, stop, pointer, rows, values):
    """Write the places and values of the blocks `start` to `stop`, column by column.

    Block b holds the rows bounds[b] to bounds[b + 1], and pointer[b] says where its columns begin.
    `values` may be empty, where all of them are equal.
    """
    d = pointer.shape[1] - 1
    place = np.empty(d, np.uint64)
    for b in range(start, stop):
        first, last = bounds[b], bounds[b + 1]
        place[:] = 0
        for k in range(indptr[first], indptr[last]):
            place[indices[k]] += np.uint64(1)
        at = np.uint64(indptr[first])
        for j in range(d):
            pointer[b, j] = at
            at += place[j]
            place[j] = pointer[b, j]
        pointer[b, d] = at
        for i in range(first, last):
            for k in range(indptr[i], indptr[i + 1]):
                at = place[indices[k]]
                rows[at] = i - first
                if len(values):
                    values[at] = data[k]
                place[indices[k]] = at + np.uint64(1)


# Not re-ordered: a vector of sums and scattered stores is slower than one entry after the other.
@njit(**EXACT)
def _add_columns(rows, pointer, values, equal, coef, raw):
    for j in range(len(coef)):
        low, high = pointer[j], pointer[j + 1]
        if len(values):
            t = coef[j]
            for k in range(low, high):
                raw[rows[k]] += t * values[k]
        else:
            t = equal * coef[j]
            for k in range(low, high):
                raw[rows[k]] += t


@njit(**JIT)
def _pull_columns(rows, pointer, values, equal, residual, gradient):
    for j in range(len(pointer) - 1):
        low, high = pointer[j], pointer[j + 1]
        total = 0.0
        if len(values):
            for k in range(low, high):
                total += values[k] * residual[rows[k]]
        else:
            for k in range(low, high):
                total += residual[rows[k]]
            total *= equal
        gradient[j] += total


@njit(**JIT)
def blocks_value_gradient(
    rows, pointer, values, equal, bounds, coef, intercept, y, weight, fused, raw, start, stop,
    gradient,
):  # fmt: skip
    """Add the gradient over some blocks to `gradient`, the intercept's last; return the value.

    The raw scores are written to `raw`.
    """
    d = len(coef)
    residual = np.empty(bounds[1] + 1)
    value = 0.0
    for b in range(start, stop):
        first, last = bounds[b], bounds[b + 1]
        n = last - first
        own = raw[first:last]
        own[:] = intercept
        _add_columns(rows, pointer[b], values, equal, coef, own)
        value += value_residual(fused, own, y[first:last], weight[first:last], residual)
        _pull_columns(rows, pointer[b], values, equal, residual, gradient)
        slope = 0.0
        for i in range(n):
            slope += residual[i]
        gradient[d] += slope
    return value
