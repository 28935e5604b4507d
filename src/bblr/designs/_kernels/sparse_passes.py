"""Fused passes over compressed sparse rows."""

from __future__ import annotations

import numpy as np

from bblr._numeric.compiling import njit
from bblr._numeric.elementary import EXACT, JIT
from bblr.designs._kernels.passes import Passes
from bblr.losses.fused import value_residual

# Rows of a block: many, for the loss is the faster for it, few enough to stay in a cache.
_ROWS = 256


# Rows of a sparse matrix are short: a loop that handles two entries at a time, with two sums, is
# faster than one that the compiler turns into vectors with all their preparations. A call a row
# would cost as much as the row, since it counts references to the arrays.
@njit(**EXACT)
def csr_scores(data, indices, indptr, coef, intercept, start, stop, raw):
    """Write X @ coef + intercept of some rows."""
    for i in range(start, stop):
        k, high = np.int64(indptr[i]), np.int64(indptr[i + 1])
        even, odd = intercept, 0.0
        while k + 1 < high:
            even += data[k] * coef[indices[k]]
            odd += data[k + 1] * coef[indices[k + 1]]
            k += 2
        if k < high:
            even += data[k] * coef[indices[k]]
        raw[i] = even + odd


@njit(**EXACT)
def csr_pull(data, indices, indptr, residual, start, stop, gradient):
    """Add X.T @ residual of some rows to `gradient`."""
    for i in range(start, stop):
        r = residual[i]
        if r == 0.0:
            continue  # a row that is held out
        k, high = np.int64(indptr[i]), np.int64(indptr[i + 1])
        while k + 1 < high:
            # The columns of a row differ, so that no load need wait for the other's store.
            a, b = indices[k], indices[k + 1]
            first, second = gradient[a] + r * data[k], gradient[b] + r * data[k + 1]
            gradient[a] = first
            gradient[b] = second
            k += 2
        if k < high:
            gradient[indices[k]] += r * data[k]


@njit(**EXACT)
def csr_value_gradient(
    data, indices, indptr, coef, intercept, y, weight, fused, raw, start, stop, gradient
):
    """Add the gradient over some rows to `gradient`, the intercept's last; return the value.

    The raw scores are written to `raw`.
    """
    residual = np.empty(_ROWS)
    value = 0.0
    slope = 0.0
    for s in range(start, stop, _ROWS):
        n = min(_ROWS, stop - s)
        own = indptr[s : s + n + 1]
        csr_scores(data, indices, own, coef, intercept, 0, n, raw[s : s + n])
        value += value_residual(fused, raw[s : s + n], y[s : s + n], weight[s : s + n], residual)
        csr_pull(data, indices, own, residual, 0, n, gradient)
        for i in range(n):
            slope += residual[i]
    gradient[len(coef)] += slope
    return value


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
def csr_squares_about(data, indices, indptr, weight, centre, start, stop, sums):
    """Add to `sums`, a row each: sum c (x - centre)^2 and sum c, over the stored entries."""
    for i in range(start, stop):
        c = weight[i]
        if c == 0.0:
            continue
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            v = np.float64(data[k]) - centre[j]
            sums[0, j] += c * v * v
            sums[1, j] += c


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


BY_ENTRIES = Passes(csr_scores, csr_pull, csr_value_gradient, csr_moments, csr_square_norm)
