"""Likelihoods of links and where they are greatest, compiled."""

from __future__ import annotations

from math import exp, log, sqrt

import numpy as np
from numba import njit

from bblr._numeric.elementary import JIT, exp_minus_abs, log_in_place

# Rows of a block: its work space stays in the first cache.
_ROWS = 256


@njit(**JIT)
def _clear(slope, bend):
    for j in range(len(slope)):
        slope[j] = 0.0
        for k in range(len(slope)):
            bend[j, k] = 0.0


@njit(**JIT)
def _two_plateaus(low, high, gamma, decision, y, weight, slope, bend):
    """Minus the log-likelihood of mu = low + (high - low) * sigmoid(gamma * decision + offset).

    The offset makes mu = 1/2 at a decision value of 0. Writes the derivatives by low, high and
    gamma to `slope` and `bend`, of which the lower half is left alone.
    """
    span, up, down = high - low, 0.5 - low, high - 0.5
    offset = log(up) - log(down)
    # The offset moves with the plateaus.
    by_low, by_high = -1.0 / up, -1.0 / down
    z, e, own = np.empty(_ROWS), np.empty(_ROWS), np.empty(_ROWS)
    bits = np.empty(_ROWS, np.int64)
    value = 0.0
    _clear(slope, bend)
    for start in range(0, len(decision), _ROWS):
        n = min(_ROWS, len(decision) - start)
        d, label, w = decision[start:], y[start:], weight[start:]
        for i in range(n):
            z[i] = gamma * d[i] + offset
        exp_minus_abs(z, e, bits, n)
        g0, g1, g2, h00, h01, h02, h11, h12, h22 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for i in range(n):
            s = (1.0 if z[i] >= 0.0 else e[i]) / (1.0 + e[i])
            mu = low + span * s
            own[i] = mu if label[i] > 0.0 else 1.0 - mu
            s1 = s * (1.0 - s)
            s2 = span * s1 * (1.0 - 2.0 * s)
            first = (-w[i] if label[i] > 0.0 else w[i]) / own[i]
            second = w[i] / (own[i] * own[i])
            m0, m1 = 1.0 - s + span * s1 * by_low, s + span * s1 * by_high
            m2 = span * s1 * d[i]
            g0 += first * m0
            g1 += first * m1
            g2 += first * m2
            mm = -2.0 * s1 * by_low + s2 * by_low * by_low - span * s1 * by_low * by_low
            h00 += second * m0 * m0 + first * mm
            mm = 2.0 * s1 * by_high + s2 * by_high * by_high + span * s1 * by_high * by_high
            h11 += second * m1 * m1 + first * mm
            h22 += second * m2 * m2 + first * s2 * d[i] * d[i]
            mm = s1 * (by_low - by_high) + s2 * by_low * by_high
            h01 += second * m0 * m1 + first * mm
            h02 += second * m0 * m2 + first * (s2 * by_low - s1) * d[i]
            h12 += second * m1 * m2 + first * (s2 * by_high + s1) * d[i]
        log_in_place(own, bits, n)
        for i in range(n):
            value -= w[i] * own[i]
        slope[0] += g0
        slope[1] += g1
        slope[2] += g2
        bend[0, 0] += h00
        bend[0, 1] += h01
        bend[0, 2] += h02
        bend[1, 1] += h11
        bend[1, 2] += h12
        bend[2, 2] += h22
    return value


# Steps of a descent, halvings of a step, and what one must move by to go on.
_STEPS, _HALVINGS, _STILL = 100, 40, 1e-10
_SWEEPS = 30
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
    by_low, by_high = low * (1.0 - 2.0 * low), -rest * (1.0 - 2.0 * rest)
    once = (by_low, by_high, gamma)
    twice = (by_low * (1.0 - 4.0 * low), by_high * (1.0 - 4.0 * rest), gamma)
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
def _turned_step(bend, slope, least, step):
    """Write a Newton step with negative curvature turned over; return its slope.

    Jacobi's rotations find the eigenvectors of so small a matrix. No step is longer than 2.
    """
    size = len(slope)
    vectors = np.eye(size)
    matrix = np.empty((size, size))
    for j in range(size):
        for k in range(size):
            matrix[j, k] = bend[j, k]
    for _ in range(_SWEEPS):
        off, on = 0.0, 0.0
        for j in range(size):
            on += matrix[j, j] ** 2
            for k in range(j):
                off += matrix[j, k] ** 2
        if off <= 1e-34 * on:
            break
        for j in range(size):
            for k in range(j + 1, size):
                _rotate(matrix, vectors, j, k)
    largest = 0.0
    for j in range(size):
        largest = max(largest, abs(matrix[j, j]))
        step[j] = 0.0
    for j in range(size):
        along = 0.0
        for k in range(size):
            along += vectors[k, j] * slope[k]
        along /= max(abs(matrix[j, j]), 1e-8 * largest + least)
        for k in range(size):
            step[k] -= along * vectors[k, j]
    shorter = min(1.0, 2.0 / max(_largest(step), 1e-300))
    downhill = 0.0
    for j in range(size):
        step[j] *= shorter
        downhill += step[j] * slope[j]
    return downhill


@njit(**JIT)
def _rotate(matrix, vectors, j, k):
    """Make one entry off the diagonal zero."""
    if matrix[j, k] == 0.0:
        return
    half = 0.5 * (matrix[k, k] - matrix[j, j]) / matrix[j, k]
    t = (1.0 if half >= 0.0 else -1.0) / (abs(half) + sqrt(half * half + 1.0))
    c = 1.0 / sqrt(t * t + 1.0)
    s = t * c
    for i in range(len(matrix)):
        a, b = matrix[i, j], matrix[i, k]
        matrix[i, j], matrix[i, k] = c * a - s * b, s * a + c * b
    for i in range(len(matrix)):
        a, b = matrix[j, i], matrix[k, i]
        matrix[j, i], matrix[k, i] = c * a - s * b, s * a + c * b
        a, b = vectors[i, j], vectors[i, k]
        vectors[i, j], vectors[i, k] = c * a - s * b, s * a + c * b


@njit(**JIT)
def _largest(step):
    size = 0.0
    for j in range(len(step)):
        size = max(size, abs(step[j]))
    return size


@njit(**JIT)
def likeliest(free, decision, y, weight):
    """Descend from free parameters to the likeliest ones; return them and their value.

    The likelihood is flat in places, and only a second-order method ends at the same point for
    the same data presented in another way. Negative curvature is turned over.
    """
    x, slope, bend = free.copy(), np.empty(3), np.empty((3, 3))
    there, new_slope, new_bend = np.empty(3), np.empty(3), np.empty((3, 3))
    step = np.empty(3)
    value = _penalised(x, decision, y, weight, slope, bend)
    for _ in range(_STEPS):
        downhill = _turned_step(bend, slope, 1e-12, step)
        t, found = 1.0, False
        for _ in range(_HALVINGS):
            for j in range(3):
                there[j] = x[j] + t * step[j]
            new = _penalised(there, decision, y, weight, new_slope, new_bend)
            if new <= value + 1e-4 * t * downhill:
                found = True
                break
            t *= 0.5
        if not found or not downhill < 0.0:
            break
        x, there = there, x
        slope, new_slope = new_slope, slope
        bend, new_bend = new_bend, bend
        value = new
        if t * _largest(step) < _STILL:
            break
    return x, value


@njit(**JIT)
def _one_plateau(free, below, y, weight, most, slope, bend):
    """Minus the log-posterior of P(k) = w / K + (1 - w) * softmax_k(gamma * below), per weight.

    `below` holds the decision value of each class less the highest of its row. The free
    parameters are the logit of w / `most` and log gamma.
    """
    rows, classes = below.shape
    share = 1.0 / (1.0 + exp(-min(max(free[0], -_FAR), _FAR)))
    w, gamma = most * share, exp(min(max(free[1], -_FAR), _FAR))
    _clear(slope, bend)
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
    for j in range(2):
        slope[j] /= total
        for k in range(2):
            bend[j, k] /= total
    return value / total


@njit(**JIT)
def likeliest_plateau(free, below, y, weight, most):
    """Descend to the likeliest weight and sharpness of a link with one plateau for all classes."""
    x, slope, bend = free.copy(), np.empty(2), np.empty((2, 2))
    there, new_slope, new_bend = np.empty(2), np.empty(2), np.empty((2, 2))
    step = np.empty(2)
    value = _one_plateau(x, below, y, weight, most, slope, bend)
    for _ in range(_STEPS):
        downhill = _turned_step(bend, slope, 1e-14, step)
        t, found = 1.0, False
        for _ in range(_HALVINGS):
            for j in range(2):
                there[j] = x[j] + t * step[j]
            new = _one_plateau(there, below, y, weight, most, new_slope, new_bend)
            if new <= value + 1e-4 * t * downhill:
                found = True
                break
            t *= 0.5
        if not found or not downhill < 0.0:
            break
        x, there = there, x
        slope, new_slope = new_slope, slope
        bend, new_bend = new_bend, bend
        value = new
        if t * _largest(step) < _STILL:
            break
    return x, value
