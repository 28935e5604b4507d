"""Fused passes over compressed sparse rows."""

from __future__ import annotations

import numpy as np
from numba import njit

from bblr._numeric.elementary import BLOCK, JIT
from bblr._numeric.fused import block_value_residual


@njit(**JIT)
def _row_dot(data, indices, low, high, coef):
    total = 0.0
    for k in range(low, high):
        total += data[k] * coef[indices[k]]
    return total


@njit(**JIT)
def csr_value_gradient(
    data, indices, indptr, coef, intercept, y, weight, fused, raw_out, start, stop, gradient
):
    """Add the gradient over some rows to `gradient`, the intercept's last; return the value.

    The raw scores are written to `raw_out`.
    """
    d = len(coef)
    residual = np.empty(BLOCK)
    work = np.empty((3, BLOCK))
    bits = np.empty(BLOCK, np.int64)
    value = 0.0
    slope = 0.0
    for s in range(start, stop, BLOCK):
        n = min(BLOCK, stop - s)
        raw = raw_out[s : s + n]
        for i in range(n):
            raw[i] = intercept + _row_dot(data, indices, indptr[s + i], indptr[s + i + 1], coef)
        value += block_value_residual(
            fused, raw, y[s : s + n], weight[s : s + n], n, work, bits, residual
        )
        for i in range(n):
            r = residual[i]
            slope += r
            for k in range(indptr[s + i], indptr[s + i + 1]):
                gradient[indices[k]] += r * data[k]
    gradient[d] += slope
    return value


@njit(**JIT)
def csr_scores(data, indices, indptr, coef, intercept, start, stop, raw):
    """Write X @ coef + intercept of some rows."""
    for i in range(start, stop):
        raw[i] = intercept + _row_dot(data, indices, indptr[i], indptr[i + 1], coef)


@njit(**JIT)
def csr_pull(data, indices, indptr, residual, start, stop, gradient):
    """Add X.T @ residual of some rows to `gradient`."""
    for i in range(start, stop):
        r = residual[i]
        for k in range(indptr[i], indptr[i + 1]):
            gradient[indices[k]] += r * data[k]


@njit(**JIT)
def csr_moments(data, indices, indptr, weight, start, stop, sums):
    """Add to `sums`, a row each: sum c x, sum c x^2, sum c [x != 0]."""
    for i in range(start, stop):
        c = weight[i]
        for k in range(indptr[i], indptr[i + 1]):
            v = np.float64(data[k])
            j = indices[k]
            sums[0, j] += c * v
            sums[1, j] += c * v * v
            sums[2, j] += c if v != 0.0 else 0.0


@njit(**JIT)
def csr_square_pull(data, indices, indptr, weight, start, stop, out):
    """Add the diagonal of X'WX over some rows to `out`."""
    for i in range(start, stop):
        c = weight[i]
        for k in range(indptr[i], indptr[i + 1]):
            out[indices[k]] += c * data[k] * data[k]


@njit(**JIT)
def csr_square_norm(data, indices, indptr, centre, inverse, start, stop, out):
    """Write sum_j ((x_ij - centre_j) * inverse_j)^2 of some rows, zeros included."""
    base = 0.0
    for j in range(len(centre)):
        base += (centre[j] * inverse[j]) ** 2
    for i in range(start, stop):
        total = base
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            m, t = centre[j], inverse[j]
            u = (data[k] - m) * t
            total += u * u - (m * t) ** 2
        out[i] = max(total, 0.0)


@njit(**JIT)
def csr_curvature(data, indices, indptr, rows, weight, half, edge):
    """Add X'WX over the given rows, less its transpose's share, to `half`, and X'w to `edge`.

    `half` plus its transpose is the whole.
    """
    for i in range(len(rows)):
        low, high = indptr[rows[i]], indptr[rows[i] + 1]
        for k in range(low, high):
            j = indices[k]
            pull = weight[i] * data[k]
            edge[j] += pull
            half[j, j] += 0.5 * pull * data[k]
            for m in range(low, k):
                half[j, indices[m]] += pull * data[m]
