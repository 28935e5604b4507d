"""Penalty and plateaus of a small table, compiled: Python between steps would cost the most.

The same steps as in ``training/marginal.py`` for two classes and rows that are all at hand. On
tables of some hundred rows it takes a tenth of the time.
"""

from __future__ import annotations

from math import exp, log

import numpy as np
from numba import njit

from bblr._numeric.elementary import JIT
from bblr.losses.fused import (
    BETA_BERNOULLI,
    FusedLoss,
    fisher_weights,
    positive_weights,
    value_residual,
)
from bblr.training.likelihood import stray_share


@njit(**JIT)
def _second_moments(Z, weight):
    """Z' diag(weight) Z."""
    return np.dot(Z.T, Z * weight.reshape(-1, 1))


@njit(**JIT)
def _descend(Z, y, weight, fused, l2, penalised, theta, steps, tol):
    """Take some Newton steps; return the parameters, the raw scores and the number of steps."""
    n, m = Z.shape
    raw, residual, bend = np.dot(Z, theta), np.empty(n), np.empty(n)
    own = theta[:penalised]
    value = value_residual(fused, raw, y, weight, 0, n, residual) + 0.5 * l2 * (own @ own)
    total, done = weight.sum(), 0
    while done < steps:
        gradient = np.dot(Z.T, residual)
        gradient[:penalised] += l2 * theta[:penalised]
        positive_weights(fused, raw, y, weight, 0, n, bend)
        matrix = _second_moments(Z, bend)
        # A thousandth of the mean curvature keeps a step finite where rows have left the slope.
        floor = max(1e-3 * bend.sum(), 1e-6 * total) / m
        for j in range(m):
            matrix[j, j] += floor + (l2 if j < penalised else 0.0)
        direction = -np.linalg.solve(matrix, gradient)
        promised = -0.5 * (direction @ gradient)
        if promised <= tol * (1.0 + abs(value)):
            break
        t, found = 1.0, False
        change = np.dot(Z, direction)
        for _ in range(30):
            there, moved = theta + t * direction, raw + t * change
            new = value_residual(fused, moved, y, weight, 0, n, residual)
            new += 0.5 * l2 * (there[:penalised] @ there[:penalised])
            if new <= value - 1e-4 * t * 2.0 * promised:
                found = True
                break
            t *= 0.5
        if not found:
            break
        theta, raw, value, done = there, moved, new, done + 1
    return theta, raw, done


@njit(**JIT)
def settle_two(
    Z, y, weight, unit, penalised, theta, l2, low, gamma, find_l2, find_low, pseudo, limits
):
    """Find the penalty and the plateaus of two classes, by the steps of `_marginal.settle`.

    `limits` are, in order: rounds, Newton steps a round and their tolerance, steady (of log l2 and
    of the plateaus), least and largest l2, what imagined rows add to the total, the largest
    plateau, steps of expectation and maximisation, and the least that a row leaves to others.
    """
    rounds, steps, tol = int(limits[0]), int(limits[1]), limits[2]
    steady, steady_low, least, most = limits[3], limits[4], limits[5], limits[6]
    n, m = Z.shape
    total = weight.sum()
    fisher, ones, slope, curvature = np.empty(n), np.ones(n), np.empty(n), np.empty(n)
    codes = np.where(y > 0.0, 1, 0)
    n_iter, done = 0, 0
    while done < rounds:
        done += 1
        fused = FusedLoss(BETA_BERNOULLI, gamma, low[1], low[0], 1.0 - low[0] - low[1])
        theta, raw, taken = _descend(Z, y, weight, fused, l2, penalised, theta, steps, tol)
        n_iter += taken
        fisher_weights(fused, raw, weight, fisher)
        matrix = _second_moments(Z, fisher)
        for j in range(m):
            matrix[j, j] += 1e-9 * max(total, 1.0) + (l2 if j < penalised else 0.0)
        covariance = np.linalg.inv(matrix)
        new_l2, new_low = l2, low
        if find_l2:
            settled = 0.0
            for j in range(penalised):
                settled += min(max(1.0 - l2 * covariance[j, j], 0.0), 1.0)
            square = theta[:penalised] @ theta[:penalised]
            new_l2 = min(max(settled / max(square, 1e-300), least), most)
        if find_low:
            value_residual(fused, raw, y, ones, 0, n, slope)
            fisher_weights(fused, raw, ones, curvature)
            reach = np.dot(Z, covariance)
            own = np.empty(n)
            for i in range(n):
                h = 0.0
                for j in range(m):
                    h += reach[i, j] * Z[i, j]
                h *= unit[i]
                alone = raw[i] + h * slope[i] / max(1.0 - h * curvature[i], limits[10])
                z = gamma * y[i] * alone
                own[i] = 1.0 / (1.0 + exp(-z)) if z >= 0.0 else exp(z) / (1.0 + exp(z))
            new_low = stray_share(
                own, codes, weight, low, pseudo, total + limits[7], limits[8], int(limits[9])
            )
        moved = abs(new_low[0] - low[0]) + abs(new_low[1] - low[1])
        is_steady = (new_l2 == l2 or abs(log(new_l2 / l2)) < steady) and moved < steady_low
        l2, low = new_l2, new_low
        if is_steady:
            break
    return theta, l2, low, n_iter, done
