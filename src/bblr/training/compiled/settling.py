"""Penalty and plateaus of a small table, and scores without a row's own pull, compiled."""

from __future__ import annotations

from math import exp
from typing import NamedTuple

import numpy as np
from numba import njit

from bblr._numeric.elementary import JIT
from bblr.designs.small_tables import cholesky, second_moments
from bblr.losses.fused import fisher_weights, value_residual

# Rows of a block: its work space stays in the first cache.
_ROWS = 256


class Limits(NamedTuple):
    """How far penalty and plateaus may go.

    `total` is the weight of all rows, `imagined` that of rows which are added to them, and
    `least_rest` the least that a row leaves to others.
    """

    least_l2: float
    most_l2: float
    total: float
    imagined: float
    most_low: float
    em_steps: int
    least_rest: float


@njit(**JIT)
def stray_share(own, codes, weight, low, pseudo, total, most, steps):
    """Rates of labels that have nothing to do with their row, by expectation and maximisation.

    `own` is the probability of each label before the plateaus `low`, `pseudo` what imagined rows
    add to each class, `total` the weight of all rows, imagined ones included. Of two classes no
    rate exceeds `most`; of more their sum does not.
    """
    classes = len(low)
    low = low.copy()
    # Class after class, so that inner loops look up nothing.
    ends = np.zeros(classes + 1, np.int64)
    for i in range(len(codes)):
        ends[codes[i] + 1] += 1
    for k in range(classes):
        ends[k + 1] += ends[k]
    place, grouped = ends[:classes].copy(), np.empty((2, len(own)))
    for i in range(len(codes)):
        k = codes[i]
        grouped[0, place[k]], grouped[1, place[k]] = own[i], weight[i]
        place[k] += 1
    for _ in range(steps):
        span = 1.0 - low.sum()
        for k in range(classes):
            floor, found = low[k], 0.0
            p, w = grouped[0, ends[k] : ends[k + 1]], grouped[1, ends[k] : ends[k + 1]]
            if floor > 0.0:
                for i in range(len(p)):
                    found += w[i] * floor / (floor + span * p[i])
            low[k] = (pseudo[k] + found) / total
            if classes == 2 and low[k] > most:
                low[k] = most
        if classes > 2 and low.sum() > most:
            low *= most / low.sum()
    return low


@njit(**JIT)
def inverse_factor(Zt, weight, l2, penalised, total):
    """Return the inverse of the Cholesky factor of the information, and how much is settled.

    The information is Zt diag(weight) Zt' plus the penalty's; settled is the number of weights
    that the data have determined rather than the penalty, or -1 where there is no factor.
    """
    size = len(Zt)
    matrix = np.empty((size, size))
    second_moments(Zt, weight, matrix)
    for j in range(size):
        matrix[j, j] += 1e-9 * max(total, 1.0) + (l2 if j < penalised else 0.0)
    inverse = np.zeros((size, size))
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


@njit(**JIT)
def row_variances(Zt, inverse, out):
    """Write the variance of the score of each row under the covariance inverse' inverse."""
    size, n = Zt.shape
    along = np.empty(_ROWS)
    for start in range(0, n, _ROWS):
        stop = min(start + _ROWS, n)
        own, part = out[start:stop], along[: stop - start]
        for i in range(len(own)):
            own[i] = 0.0
        for j in range(size):
            for i in range(len(part)):
                part[i] = 0.0
            for k in range(j + 1):
                column = Zt[k, start:stop]
                for i in range(len(part)):
                    part[i] += inverse[j, k] * column[i]
            for i in range(len(part)):
                own[i] += part[i] * part[i]


@njit(**JIT)
def alone_scores(fused, Zt, raw, y, unit, inverse, least_rest):
    """Return the scores that rows would have if they had not been trained on, to first order."""
    n = len(raw)
    slope, curvature, alone, ones = np.empty(n), np.empty(n), np.empty(n), np.ones(n)
    value_residual(fused, raw, y, ones, 0, n, slope)
    fisher_weights(fused, raw, ones, curvature)
    row_variances(Zt, inverse, alone)
    for i in range(n):
        h = unit[i] * alone[i]
        alone[i] = raw[i] + h * slope[i] / max(1.0 - h * curvature[i], least_rest)
    return alone


@njit(**JIT)
def settle_round(Zt, raw, y, weight, unit, fused, square, penalised, l2, low, pseudo, limits):
    """Return the penalty and the plateaus that suit a fit to two classes.

    `square` is the squared length of its weights, `pseudo` what imagined rows add to each class.
    """
    n, gamma = len(raw), fused[1]
    fisher, own, codes = np.empty(n), np.empty(n), np.empty(n, np.int64)
    fisher_weights(fused, raw, weight, fisher)
    inverse, settled = inverse_factor(Zt, fisher, l2, penalised, limits.total)
    new_l2 = max(max(settled, 0.0) / max(square, 1e-300), limits.least_l2)
    alone = alone_scores(fused, Zt, raw, y, unit, inverse, limits.least_rest)
    for i in range(n):
        z = gamma * y[i] * alone[i]
        own[i] = 1.0 / (1.0 + exp(-z)) if z >= 0.0 else exp(z) / (1.0 + exp(z))
        codes[i] = 1 if y[i] > 0.0 else 0
    total = limits.total + limits.imagined
    new_low = stray_share(own, codes, weight, low, pseudo, total, limits.most_low, limits.em_steps)
    return min(new_l2, limits.most_l2), new_low
