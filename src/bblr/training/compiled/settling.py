"""Penalty and plateaus of a small table, and scores without a row's own pull, compiled."""

from __future__ import annotations

import numpy as np

from bblr._numeric.compiling import njit
from bblr._numeric.elementary import INLINE, JIT, exp_minus_abs
from bblr.designs.small_tables import cholesky, second_moments
from bblr.losses.fused import fisher_weights, value_residual

# Rows of a block: its work space stays in the first cache.
_ROWS = 256


@njit(**INLINE)
def stray_share(own, codes, weight, low, pseudo, total, most, steps):
    """Rates of labels that have nothing to do with their row, by expectation and maximisation.

    `own` is the probability of each label before the plateaus `low`, `pseudo` what imagined rows
    add to each class, `total` the weight of all rows, imagined ones included. Of two classes no
    rate exceeds `most`; of more their sum does not.
    """
    classes, low = len(low), low.copy()
    # Class after class, so that inner loops look up nothing.
    ends, grouped, filled = np.empty(classes + 1, np.int64), np.empty((2, len(own))), 0
    for k in range(classes):
        ends[k] = filled
        for i in range(len(codes)):
            if codes[i] == k:
                grouped[0, filled], grouped[1, filled] = own[i], weight[i]
                filled += 1
    ends[classes] = filled
    taken = 0.0
    for k in range(classes):
        taken += low[k]
    for _ in range(steps):
        span, taken = 1.0 - taken, 0.0
        for k in range(classes):
            floor, found = low[k], 0.0
            p, w = grouped[0, ends[k] : ends[k + 1]], grouped[1, ends[k] : ends[k + 1]]
            if floor > 0.0:
                for i in range(len(p)):
                    found += w[i] * floor / (floor + span * p[i])
            low[k] = (pseudo[k] + found) / total
            if classes == 2:
                low[k] = min(low[k], most)
            taken += low[k]
        if classes > 2 and taken > most:
            for k in range(classes):
                low[k] *= most / taken
            taken = most
    return low


@njit(**INLINE)
def _inverse_factor(Zt, weight, l2, penalised, total):
    """Return the inverse of the Cholesky factor of the information, and how much is settled.

    The information is Zt diag(weight) Zt' plus the penalty's; settled is the number of weights
    that the data have determined rather than the penalty, or -1 where there is no factor.
    """
    size = len(Zt)
    matrix = np.empty((size, size))
    second_moments(Zt, weight, matrix)
    inverse = np.empty((size, size))
    for j in range(size):
        matrix[j, j] += 1e-9 * max(total, 1.0) + (l2 if j < penalised else 0.0)
        for k in range(size):
            inverse[j, k] = 0.0
    if not cholesky(matrix):
        return inverse, -1.0
    for j in range(size):
        inverse[j, j] = 1.0 / matrix[j, j]
        for i in range(j + 1, size):
            found = 0.0
            for k in range(j, i):
                found -= matrix[i, k] * inverse[k, j]
            inverse[i, j] = found / matrix[i, i]
    settled = 0.0
    for j in range(penalised):
        variance = 0.0
        for i in range(j, size):
            variance += inverse[i, j] ** 2
        settled += min(max(1.0 - l2 * variance, 0.0), 1.0)
    return inverse, settled


@njit(**INLINE)
def _row_variances(Zt, inverse, out):
    """Write the variance of the score of each row under the covariance inverse' inverse.

    Four rows of the factor and four columns at a time share one look at both.
    """
    size, n = Zt.shape
    last, along = size - 1, np.empty((4, _ROWS))
    # Beyond the diagonal and beyond the last row the factor is zero.
    padded = np.empty((size + 3, size + 3))
    for j in range(size + 3):
        for k in range(size + 3):
            padded[j, k] = inverse[j, k] if j < size and k <= j else 0.0
    for start in range(0, n, _ROWS):
        own = out[start : min(start + _ROWS, n)]
        stop = start + len(own)
        p, q, r, s = along[0], along[1], along[2], along[3]
        for i in range(len(own)):
            own[i] = 0.0
        for j in range(0, size, 4):
            for i in range(len(own)):
                p[i] = q[i] = r[i] = s[i] = 0.0
            for k in range(0, j + 1, 4):
                t, u = Zt[k, start:stop], Zt[min(k + 1, last), start:stop]
                v, w = Zt[min(k + 2, last), start:stop], Zt[min(k + 3, last), start:stop]
                f = padded[j : j + 4, k : k + 4]
                pt, pu, pv, pw = f[0, 0], f[0, 1], f[0, 2], f[0, 3]
                qt, qu, qv, qw = f[1, 0], f[1, 1], f[1, 2], f[1, 3]
                rt, ru, rv, rw = f[2, 0], f[2, 1], f[2, 2], f[2, 3]
                st, su, sv, sw = f[3, 0], f[3, 1], f[3, 2], f[3, 3]
                for i in range(len(own)):
                    p[i] += pt * t[i] + pu * u[i] + pv * v[i] + pw * w[i]
                    q[i] += qt * t[i] + qu * u[i] + qv * v[i] + qw * w[i]
                    r[i] += rt * t[i] + ru * u[i] + rv * v[i] + rw * w[i]
                    s[i] += st * t[i] + su * u[i] + sv * v[i] + sw * w[i]
            for i in range(len(own)):
                own[i] += p[i] * p[i] + q[i] * q[i] + r[i] * r[i] + s[i] * s[i]


@njit(**JIT)
def alone_scores(Zt, raw, y, weight, unit, fused, l2, penalised, total, least_rest):
    """Return the scores that rows would have if they had not been trained on, to first order.

    A row may be taken away by no more than leaves `least_rest` to others; `unit` is the weight
    that goes with it. With the scores comes the number of weights that the data have settled, -1
    where the information has no factor.
    """
    n = len(raw)
    slope, curvature, alone, ones = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    for i in range(n):
        ones[i] = 1.0
    fisher_weights(fused, raw, ones, curvature)
    for i in range(n):
        slope[i] = weight[i] * curvature[i]
    inverse, settled = _inverse_factor(Zt, slope, l2, penalised, total)
    _row_variances(Zt, inverse, alone)
    value_residual(fused, raw, y, ones, slope)
    for i in range(n):
        h = unit[i] * alone[i]
        alone[i] = raw[i] + h * slope[i] / max(1.0 - h * curvature[i], least_rest)
    return alone, settled


@njit(**JIT)
def stray_rates_of_two(alone, y, weight, gamma, low, pseudo, total, most, steps):
    """Return the plateaus that scores say which were not trained on; see `stray_share`."""
    own, codes = np.empty(len(y)), np.empty(len(y), np.int64)
    for i in range(len(y)):
        z = gamma * y[i] * alone[i]
        e = exp_minus_abs(z)
        own[i] = (1.0 if z >= 0.0 else e) / (1.0 + e)
        codes[i] = 1 if y[i] > 0.0 else 0
    return stray_share(own, codes, weight, low, pseudo, total, most, steps)
