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
def _write_variances(Zt, factor, scales, out):
    """Write the variance of the score of each row, whose covariance has the factor's inverse.

    That is the squared length of what forward substitution makes of the row. Four steps of it at
    a time share one look at the row: from its diagonal on the factor holds zeros, and `scales` is
    the inverse of what stood there.
    """
    size, n = Zt.shape
    along, own = np.empty((size + 3, _ROWS)), np.empty(_ROWS)
    for j in range(size + 3):
        for i in range(_ROWS):
            along[j, i] = 0.0
    for start in range(0, n, _ROWS):
        stop = min(start + _ROWS, n)
        total = out[start:stop]
        for i in range(len(total)):
            total[i] = 0.0
        for j in range(size):
            column, scale = Zt[j, start:stop], scales[j]
            for i in range(len(total)):
                own[i] = column[i]
            for k in range(0, j, 4):
                a, b, c, d = factor[j, k], factor[j, k + 1], factor[j, k + 2], factor[j, k + 3]
                p, q, r, s = along[k], along[k + 1], along[k + 2], along[k + 3]
                for i in range(len(total)):
                    own[i] -= a * p[i] + b * q[i] + c * r[i] + d * s[i]
            last = along[j]
            for i in range(len(total)):
                last[i] = scale * own[i]
                total[i] += last[i] * last[i]


@njit(**JIT)
def alone_scores(Zt, raw, y, weight, unit, fused, l2, penalised, total, least_rest):
    """Return the scores that rows would have if they had not been trained on, to first order.

    A row may be taken away by no more than leaves `least_rest` to others; `unit` is the weight
    that goes with it. With the scores comes the number of weights that the data have settled
    rather than the penalty, -1 where the information has no factor.
    """
    size, n = Zt.shape
    slope, curvature, ones = np.empty(n), np.empty(n), np.empty(n)
    for i in range(n):
        ones[i] = 1.0
    fisher_weights(fused, raw, ones, curvature)
    for i in range(n):
        slope[i] = weight[i] * curvature[i]
    # The information is Zt diag(slope) Zt' plus the penalty's.
    factor, units = np.empty((size, size + 3)), np.empty((size, size))
    second_moments(Zt, slope, factor)
    for j in range(size):
        factor[j, j] += 1e-9 * max(total, 1.0) + (l2 if j < penalised else 0.0)
        for k in range(j + 1, size + 3):
            factor[j, k] = 0.0
        for k in range(size):
            units[j, k] = 1.0 if j == k else 0.0
    found, settled, of, scales = cholesky(factor), -1.0, units, np.empty(size)
    for j in range(size):
        scales[j] = 1.0 / factor[j, j]
        factor[j, j] = 0.0
    for _ in range(2 if found else 0):
        # First of the weights themselves, then of the rows: what is called twice is compiled twice.
        alone = np.empty(of.shape[1])
        _write_variances(of, factor, scales, alone)
        if settled < 0.0:
            settled, of = 0.0, Zt
            for j in range(penalised):
                settled += min(max(1.0 - l2 * alone[j], 0.0), 1.0)
    if not found:
        return slope, -1.0
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
