"""Fused passes over dense matrices, row-major and column-major, float32 and float64.

Products are formed in the precision of `coef` and of the residuals handed in. With float32 for
both, a float32 matrix is limited by memory alone, since its numbers need not be widened one by
one; sums over rows are float64 in any case.
"""

from __future__ import annotations

import numpy as np

from bblr._numeric.compiling import njit
from bblr._numeric.elementary import JIT
from bblr.designs._kernels.passes import Passes
from bblr.losses.fused import value_residual

# Rows of a row-major block: they stay in the second cache between scores and gradient.
WIDE = 128
# Rows come from memory one at a time, in the order in which they lie there: the processor fetches
# ahead of one stream of addresses, and four at once take two to three times as long. Only where
# `coef` outgrows the first cache, at this many numbers, do four rows that share its loads pay.
_LONG = 2048
# Four rows of at most this many numbers lie close enough to be one stream.
_SHORT = 64
# Column-major blocks: long enough to amortise the loop over columns, short enough for L1.
TALL = 1024


@njit(**JIT)
def _rows_times(X, coef, intercept, start, n, raw):
    if X.shape[1] > _LONG:
        four = n - n % 4
        _four_rows_times(X, coef, intercept, start, four, raw)
        _each_row_times(X, coef, intercept, start + four, n - four, raw[four:])
    else:
        _each_row_times(X, coef, intercept, start, n, raw)


@njit(**JIT)
def _each_row_times(X, coef, intercept, start, n, raw):
    # A function of its own: beside another loop the same code took up to 1.7 times as long.
    d = X.shape[1]
    for i in range(n):
        x = X[start + i]
        s = coef.dtype.type(0)
        for j in range(d):
            s += x[j] * coef[j]
        raw[i] = s + intercept


@njit(**JIT)
def _four_rows_times(X, coef, intercept, start, n, raw):
    zero = coef.dtype.type(0)
    for i in range(0, n, 4):
        x0, x1, x2, x3 = X[start + i], X[start + i + 1], X[start + i + 2], X[start + i + 3]
        s0 = s1 = s2 = s3 = zero
        for j in range(X.shape[1]):
            t = coef[j]
            s0 += x0[j] * t
            s1 += x1[j] * t
            s2 += x2[j] * t
            s3 += x3[j] * t
        raw[i] = s0 + intercept
        raw[i + 1] = s1 + intercept
        raw[i + 2] = s2 + intercept
        raw[i + 3] = s3 + intercept


@njit(**JIT)
def _rows_pull(X, residual, kind, start, n, near, gradient):
    # `near`: the rows are in a cache, where four that share the gradient's loads are fastest.
    d = X.shape[1]
    whole = n - n % 4 if near or d > _LONG else 0
    for i in range(0, whole, 4):
        x0, x1, x2, x3 = X[start + i], X[start + i + 1], X[start + i + 2], X[start + i + 3]
        r0, r1 = kind(residual[i]), kind(residual[i + 1])
        r2, r3 = kind(residual[i + 2]), kind(residual[i + 3])
        for j in range(d):
            gradient[j] += r0 * x0[j] + r1 * x1[j] + r2 * x2[j] + r3 * x3[j]
    for i in range(whole, n):
        x0 = X[start + i]
        r0 = kind(residual[i])
        for j in range(d):
            gradient[j] += r0 * x0[j]


@njit(**JIT)
def rows_value_gradient(X, coef, intercept, y, weight, fused, raw_out, start, stop, gradient):
    """Add the gradient over some rows to `gradient`, the intercept's last; return the value.

    The raw scores are written to `raw_out`.
    """
    d = X.shape[1]
    residual = np.empty(WIDE)
    value = 0.0
    slope = 0.0
    for s in range(start, stop, WIDE):
        n = min(WIDE, stop - s)
        raw = raw_out[s : s + n]
        _rows_times(X, coef, intercept, s, n, raw)
        value += value_residual(fused, raw, y[s : s + n], weight[s : s + n], residual)
        _rows_pull(X, residual, coef.dtype.type, s, n, True, gradient)
        for i in range(n):
            slope += residual[i]
    gradient[d] += slope
    return value


@njit(**JIT)
def _columns_times(X, coef, intercept, start, n, raw):
    for i in range(n):
        raw[i] = intercept
    for j in range(X.shape[1]):
        t = coef[j]
        x = X[start : start + n, j]
        for i in range(n):
            raw[i] += x[i] * t


@njit(**JIT)
def _columns_pull(X, residual, start, n, gradient):
    for j in range(X.shape[1]):
        x = X[start : start + n, j]
        total = 0.0
        for i in range(n):
            total += residual[i] * x[i]
        gradient[j] += total


@njit(**JIT)
def columns_value_gradient(X, coef, intercept, y, weight, fused, raw_out, start, stop, gradient):
    """As `rows_value_gradient`, for a column-major matrix."""
    d = X.shape[1]
    residual = np.empty(TALL)
    value = 0.0
    slope = 0.0
    for s in range(start, stop, TALL):
        n = min(TALL, stop - s)
        raw = raw_out[s : s + n]
        _columns_times(X, coef, intercept, s, n, raw)
        value += value_residual(fused, raw, y[s : s + n], weight[s : s + n], residual)
        _columns_pull(X, residual, s, n, gradient)
        for i in range(n):
            slope += residual[i]
    gradient[d] += slope
    return value


@njit(**JIT)
def rows_scores(X, coef, intercept, start, stop, raw):
    """Write X @ coef + intercept of some rows."""
    _rows_times(X, coef, intercept, start, stop - start, raw[start:stop])


@njit(**JIT)
def columns_scores(X, coef, intercept, start, stop, raw):
    """As `rows_scores`, for a column-major matrix."""
    for s in range(start, stop, TALL):
        n = min(TALL, stop - s)
        _columns_times(X, coef, intercept, s, n, raw[s : s + n])


@njit(**JIT)
def rows_pull(X, residual, start, stop, gradient):
    """Add X.T @ residual of some rows to `gradient`."""
    kind = residual.dtype.type
    _rows_pull(X, residual[start:stop], kind, start, stop - start, False, gradient)


@njit(**JIT)
def columns_pull(X, residual, start, stop, gradient):
    """As `rows_pull`, for a column-major matrix."""
    for s in range(start, stop, TALL):
        n = min(TALL, stop - s)
        _columns_pull(X, residual[s : s + n], s, n, gradient)


@njit(**JIT)
def rows_moments(X, weight, shift, start, stop, sums):
    """Add to `sums`, a row each: sums of c (x - shift), c (x - shift)^2 and c [x != 0]."""
    d = X.shape[1]
    scratch = np.empty(WIDE)
    for s in range(start, stop, WIDE):
        n = min(WIDE, stop - s)
        if _SHORT < d <= _LONG:
            # For nothing but to bring the rows into the cache in order: half the time of all.
            _each_row_times(X, shift, 0.0, s, n, scratch)
        _add_moments(X, weight, shift, s, s + n, sums)


@njit(**JIT)
def _add_moments(X, weight, shift, start, stop, sums):
    d = X.shape[1]
    first, second, nonzero = sums[0], sums[1], sums[2]
    whole = stop - (stop - start) % 4
    for i in range(start, whole, 4):
        # Four rows at a time share one load and store of the sums.
        x0, x1, x2, x3 = X[i], X[i + 1], X[i + 2], X[i + 3]
        c0, c1, c2, c3 = weight[i], weight[i + 1], weight[i + 2], weight[i + 3]
        for j in range(d):
            v0, v1 = np.float64(x0[j]), np.float64(x1[j])
            v2, v3 = np.float64(x2[j]), np.float64(x3[j])
            u0, u1, u2, u3 = v0 - shift[j], v1 - shift[j], v2 - shift[j], v3 - shift[j]
            w0, w1, w2, w3 = c0 * u0, c1 * u1, c2 * u2, c3 * u3
            first[j] += (w0 + w1) + (w2 + w3)
            second[j] += (w0 * u0 + w1 * u1) + (w2 * u2 + w3 * u3)
            n0, n1 = c0 if v0 != 0.0 else 0.0, c1 if v1 != 0.0 else 0.0
            n2, n3 = c2 if v2 != 0.0 else 0.0, c3 if v3 != 0.0 else 0.0
            nonzero[j] += (n0 + n1) + (n2 + n3)
    for i in range(whole, stop):
        x0, c0 = X[i], weight[i]
        for j in range(d):
            v0 = np.float64(x0[j])
            u0 = v0 - shift[j]
            first[j] += c0 * u0
            second[j] += c0 * u0 * u0
            nonzero[j] += c0 if v0 != 0.0 else 0.0


@njit(**JIT)
def columns_moments(X, weight, shift, start, stop, sums):
    """As `rows_moments`, for a column-major matrix."""
    for j in range(X.shape[1]):
        x = X[start:stop, j]
        t0 = t1 = t2 = 0.0
        for i in range(stop - start):
            c = weight[start + i]
            v = np.float64(x[i])
            u = v - shift[j]
            t0 += c * u
            t1 += c * u * u
            t2 += c if v != 0.0 else 0.0
        sums[0, j] += t0
        sums[1, j] += t1
        sums[2, j] += t2


@njit(**JIT)
def add_up(x):
    """Return the sum of some numbers: finite unless one of them is not, or it overflows."""
    total = 0.0
    for i in range(len(x)):
        total += x[i]
    return total


@njit(**JIT)
def rows_square_norm(X, centre, inverse, start, stop, out):
    """Write sum_j ((x_ij - centre_j) * inverse_j)^2 of some rows."""
    d = X.shape[1]
    for i in range(start, stop):
        x = X[i]
        total = 0.0
        for j in range(d):
            u = (x[j] - centre[j]) * inverse[j]
            total += u * u
        out[i] = total


@njit(**JIT)
def columns_square_norm(X, centre, inverse, start, stop, out):
    """As `rows_square_norm`, for a column-major matrix."""
    for i in range(start, stop):
        out[i] = 0.0
    for j in range(X.shape[1]):
        m, t = centre[j], inverse[j]
        x = X[start:stop, j]
        for i in range(stop - start):
            u = (x[i] - m) * t
            out[start + i] += u * u


BY_ROWS = Passes(rows_scores, rows_pull, rows_value_gradient, rows_moments, rows_square_norm)
BY_COLUMNS = Passes(
    columns_scores, columns_pull, columns_value_gradient, columns_moments, columns_square_norm
)
