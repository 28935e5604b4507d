"""Compiled searches: likelihoods of links, and penalty with plateaus of small tables at once."""

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


@njit(**JIT)
def _two_plateaus(low, high, gamma, decision, y, weight, slope, bend):
    """Minus the log-likelihood of mu = low + (high - low) * sigmoid(gamma * decision + offset).

    The offset makes mu = 1/2 at a decision value of 0. Writes the derivatives by low, high and
    gamma to `slope` and `bend`.
    """
    span, up, down = high - low, 0.5 - low, high - 0.5
    offset = log(up) - log(down)
    # The offset moves with the plateaus.
    by_low, by_high = -1.0 / up, -1.0 / down
    value, m, mm = 0.0, np.empty(3), np.empty((3, 3))
    slope[:], bend[:] = 0.0, 0.0
    for i in range(len(decision)):
        d = decision[i]
        z = gamma * d + offset
        if z >= 0.0:
            s = 1.0 / (1.0 + exp(-z))
        else:
            e = exp(z)
            s = e / (1.0 + e)
        mu = low + span * s
        positive = y[i] > 0.0
        own = mu if positive else 1.0 - mu
        value -= weight[i] * log(own)
        s1 = s * (1.0 - s)
        s2 = span * s1 * (1.0 - 2.0 * s)
        m[0], m[1], m[2] = 1.0 - s + span * s1 * by_low, s + span * s1 * by_high, span * s1 * d
        mm[0, 0] = -2.0 * s1 * by_low + s2 * by_low**2 - span * s1 / up**2
        mm[1, 1] = 2.0 * s1 * by_high + s2 * by_high**2 + span * s1 / down**2
        mm[2, 2] = s2 * d * d
        mm[0, 1] = s1 * (by_low - by_high) + s2 * by_low * by_high
        mm[0, 2] = (s2 * by_low - s1) * d
        mm[1, 2] = (s2 * by_high + s1) * d
        first = -weight[i] / own if positive else weight[i] / own
        second = weight[i] / (own * own)
        for j in range(3):
            slope[j] += first * m[j]
            for k in range(j, 3):
                bend[j, k] += second * m[j] * m[k] + first * mm[j, k]
    return value


# Free parameters of plateaus beyond this are those of plateaus at 0, 1/2 or 1.
_FAR = 30.0
# Width of a vague prior on log gamma about the scale of the scores: where the classes separate
# the likelihood alone would send gamma to infinity.
LOG_GAMMA_SCALE = 3.0


@njit(**JIT)
def plateaus_of(free):
    """Plateaus in (0, 1/2) and (1/2, 1), whatever the free parameters, and however large."""
    first = min(max(free[0], -_FAR), _FAR)
    second = min(max(free[1], -_FAR), _FAR)
    return 0.5 / (1.0 + exp(-first)), 1.0 - 0.5 / (1.0 + exp(-second))


@njit(**JIT)
def _penalised(free, decision, y, weight, slope, bend):
    """Minus the log-posterior of the free parameters, with its gradient and Hessian."""
    low, high = plateaus_of(free)
    gamma, rest = exp(free[2]), 1.0 - high
    value = _two_plateaus(low, high, gamma, decision, y, weight, slope, bend)
    # One imagined example on the wrong side of each plateau keeps it off 0 and 1.
    value += 0.5 * (free[2] / LOG_GAMMA_SCALE) ** 2 - log(low) - log(rest)
    slope[0] -= 1.0 / low
    slope[1] += 1.0 / rest
    bend[0, 0] += 1.0 / low**2
    bend[1, 1] += 1.0 / rest**2
    once = np.array([low * (1.0 - 2.0 * low), -rest * (1.0 - 2.0 * rest), gamma])
    twice = np.array([once[0] * (1.0 - 4.0 * low), once[1] * (1.0 - 4.0 * rest), gamma])
    for j in range(3):
        for k in range(j, 3):
            bend[j, k] *= once[j] * once[k]
            bend[k, j] = bend[j, k]
        bend[j, j] += slope[j] * twice[j]
        slope[j] *= once[j]
    slope[2] += free[2] / LOG_GAMMA_SCALE**2
    bend[2, 2] += 1.0 / LOG_GAMMA_SCALE**2
    return value


@njit(**JIT)
def likeliest(free, decision, y, weight):
    """Descend from free parameters to the likeliest ones; return them and their value.

    The likelihood is flat in places, and only a second-order method ends at the same point for
    the same data presented in another way. Negative curvature is turned over.
    """
    x, slope, bend = free.copy(), np.empty(3), np.empty((3, 3))
    new_slope, new_bend = np.empty(3), np.empty((3, 3))
    value = _penalised(x, decision, y, weight, slope, bend)
    for _ in range(100):
        values, vectors = np.linalg.eigh(bend)
        size = np.abs(values)
        along = vectors.T @ slope / np.maximum(size, 1e-8 * size.max() + 1e-12)
        step = -(vectors @ along)
        length = np.abs(step).max()
        if not length > 0.0:
            break
        step *= min(1.0, 2.0 / length)
        downhill, t, found = step @ slope, 1.0, False
        for _ in range(40):
            new = _penalised(x + t * step, decision, y, weight, new_slope, new_bend)
            if new <= value + 1e-4 * t * downhill:
                found = True
                break
            t *= 0.5
        if not found:
            break
        x, value = x + t * step, new
        slope[:], bend[:] = new_slope, new_bend
        if np.abs(t * step).max() < 1e-10:
            break
    return x, value


@njit(**JIT)
def stray_share(own, codes, weight, low, pseudo, total, most, steps):
    """Rates of labels that have nothing to do with their row, by expectation and maximisation.

    `own` is the probability of each label before the plateaus `low`, `pseudo` what imagined rows
    add to each class, `total` the weight of all rows, imagined ones included. Of two classes no
    rate exceeds `most`; of more their sum does not.
    """
    classes = len(low)
    low = low.copy()
    for _ in range(steps):
        span = 1.0 - low.sum()
        new = pseudo.copy()
        for i in range(len(own)):
            floor = low[codes[i]]
            if floor > 0.0:
                new[codes[i]] += weight[i] * floor / (floor + span * own[i])
        for k in range(classes):
            low[k] = new[k] / total
            if classes == 2 and low[k] > most:
                low[k] = most
        if classes > 2 and low.sum() > most:
            low *= most / low.sum()
    return low


@njit(**JIT)
def _one_plateau(free, below, y, weight, most, slope, bend):
    """Minus the log-posterior of P(k) = w / K + (1 - w) * softmax_k(gamma * below), per weight.

    `below` holds the decision value of each class less the highest of its row. The free
    parameters are the logit of w / `most` and log gamma.
    """
    rows, classes = below.shape
    share = 1.0 / (1.0 + exp(-min(max(free[0], -_FAR), _FAR)))
    w, gamma = most * share, exp(min(max(free[1], -_FAR), _FAR))
    slope[:], bend[:] = 0.0, 0.0
    value, total = 0.0, 0.0
    for i in range(rows):
        norm, first, second = 0.0, 0.0, 0.0
        for k in range(classes):
            e = exp(gamma * below[i, k])
            norm += e
            first += e * below[i, k]
            second += e * below[i, k] * below[i, k]
        mean = first / norm
        spread = second / norm - mean * mean
        apart = below[i, y[i]] - mean
        s = exp(gamma * below[i, y[i]]) / norm
        p = w / classes + (1.0 - w) * s
        value -= weight[i] * log(p)
        total += weight[i]
        by_w, by_gamma = 1.0 / classes - s, (1.0 - w) * s * apart
        first, second = -weight[i] / p, weight[i] / (p * p)
        slope[0] += first * by_w
        slope[1] += first * by_gamma
        bend[0, 0] += second * by_w * by_w
        bend[0, 1] += second * by_w * by_gamma - first * s * apart
        bend[1, 1] += second * by_gamma**2 + first * (1.0 - w) * s * (apart**2 - spread)
    # An imagined example of each class on the wrong side keeps the plateaus off 0.
    value += 0.5 * (free[1] / LOG_GAMMA_SCALE) ** 2 - classes * log(w)
    slope[0] -= classes / w
    bend[0, 0] += classes / (w * w)
    once = w * (1.0 - share)
    twice = once * (1.0 - 2.0 * share)
    bend[0, 0] = bend[0, 0] * once * once + slope[0] * twice
    bend[0, 1] = bend[1, 0] = bend[0, 1] * once * gamma
    bend[1, 1] = bend[1, 1] * gamma * gamma + slope[1] * gamma + 1.0 / LOG_GAMMA_SCALE**2
    slope[0] *= once
    slope[1] = slope[1] * gamma + free[1] / LOG_GAMMA_SCALE**2
    slope /= total
    bend /= total
    return value / total


@njit(**JIT)
def likeliest_plateau(free, below, y, weight, most):
    """Descend to the likeliest weight and sharpness of a link with one plateau for all classes."""
    x, slope, bend = free.copy(), np.empty(2), np.empty((2, 2))
    new_slope, new_bend = np.empty(2), np.empty((2, 2))
    value = _one_plateau(x, below, y, weight, most, slope, bend)
    for _ in range(100):
        values, vectors = np.linalg.eigh(bend)
        size = np.abs(values)
        along = vectors.T @ slope / np.maximum(size, 1e-8 * size.max() + 1e-14)
        step = -(vectors @ along)
        length = np.abs(step).max()
        if not length > 0.0:
            break
        step *= min(1.0, 2.0 / length)
        downhill, t, found = step @ slope, 1.0, False
        for _ in range(40):
            new = _one_plateau(x + t * step, below, y, weight, most, new_slope, new_bend)
            if new <= value + 1e-4 * t * downhill:
                found = True
                break
            t *= 0.5
        if not found:
            break
        x, value = x + t * step, new
        slope[:], bend[:] = new_slope, new_bend
        if np.abs(t * step).max() < 1e-10:
            break
    return x, value


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
