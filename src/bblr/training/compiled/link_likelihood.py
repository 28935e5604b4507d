"""Likelihoods of links and where they are greatest, compiled."""

from __future__ import annotations

from math import exp, log, sqrt

import numpy as np

from bblr._numeric.compiling import njit
from bblr._numeric.elementary import INLINE, JIT, exp_minus_abs, logarithm


@njit(**INLINE)
def _two_plateaus(low, high, gamma, decision, y, weight, slope, bend):
    """Minus the log-likelihood of mu = low + (high - low) * sigmoid(gamma * decision + offset).

    The offset makes mu = 1/2 at a decision value of 0. Writes the derivatives by low, high and
    gamma to `slope` and `bend`, of which the lower half is left alone.
    """
    span, up, down = high - low, 0.5 - low, high - 0.5
    offset = log(up) - log(down)
    # The offset moves with the plateaus.
    by_low, by_high = -1.0 / up, -1.0 / down
    value = 0.0
    g0, g1, g2, h00, h01, h02, h11, h12, h22 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(len(decision)):
        d, w, positive = decision[i], weight[i], y[i] > 0.0
        z = gamma * d + offset
        e = exp_minus_abs(z)
        s = (1.0 if z >= 0.0 else e) / (1.0 + e)
        mu = low + span * s
        own = mu if positive else 1.0 - mu
        value -= w * logarithm(own)
        s1 = s * (1.0 - s)
        s2 = span * s1 * (1.0 - 2.0 * s)
        first = (-w if positive else w) / own
        second = w / (own * own)
        m0, m1 = 1.0 - s + span * s1 * by_low, s + span * s1 * by_high
        m2 = span * s1 * d
        g0 += first * m0
        g1 += first * m1
        g2 += first * m2
        mm = -2.0 * s1 * by_low + s2 * by_low * by_low - span * s1 * by_low * by_low
        h00 += second * m0 * m0 + first * mm
        mm = 2.0 * s1 * by_high + s2 * by_high * by_high + span * s1 * by_high * by_high
        h11 += second * m1 * m1 + first * mm
        h22 += second * m2 * m2 + first * s2 * d * d
        mm = s1 * (by_low - by_high) + s2 * by_low * by_high
        h01 += second * m0 * m1 + first * mm
        h02 += second * m0 * m2 + first * (s2 * by_low - s1) * d
        h12 += second * m1 * m2 + first * (s2 * by_high + s1) * d
    slope[0], slope[1], slope[2] = g0, g1, g2
    bend[0, 0], bend[0, 1], bend[0, 2] = h00, h01, h02
    bend[1, 1], bend[1, 2], bend[2, 2] = h11, h12, h22
    return value


# Steps of a descent, halvings of a step, and what one must move by to go on.
_STEPS, _HALVINGS, _STILL = 100, 40, 1e-10
# A rise by this share of the value may be rounding.
_HIDDEN = 1e-14
_SWEEPS = 30
# Free parameters that are so close lead to the same place.
_CLOSE = 1e-3
# Likelihoods that are closer, as a share of themselves, are equal.
_EQUAL = 1e-12
# Smallest error rate that is safe in floating point.
LEAST_RATE = 1e-13
# Free parameters of plateaus beyond these are those of plateaus at 0 or 1, and at 1/2: closer to
# it, the offset that ties 1/2 to a decision value of 0 would be made of rounding errors.
_FAR, _HALF = 30.0, 15.0
# Width of a vague prior on log gamma about the scale of the scores: where the classes separate
# the likelihood alone would send gamma to infinity.
LOG_GAMMA_SCALE = 3.0


@njit(**INLINE)
def plateaus_of(free):
    """Plateaus in (0, 1/2) and (1/2, 1), whatever the free parameters, and however large."""
    first = min(max(free[0], -_FAR), _HALF)
    second = min(max(free[1], -_FAR), _HALF)
    return 0.5 / (1.0 + exp(-first)), 1.0 - 0.5 / (1.0 + exp(-second))


@njit(**INLINE)
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


@njit(**INLINE)
def _turned_step(bend, slope, least, step):
    """Write a Newton step with negative curvature turned over; return its slope and its reach.

    Jacobi's rotations find the eigenvectors of so small a matrix. No step is longer than 2.
    """
    size = len(slope)
    vectors, matrix = np.empty((size, size)), bend.copy()
    for j in range(size):
        for k in range(size):
            vectors[j, k] = 1.0 if j == k else 0.0
    for _ in range(_SWEEPS):
        still = True
        for j in range(size):
            for k in range(j + 1, size):
                own, other, both = matrix[j, j], matrix[k, k], matrix[j, k]
                if abs(both) <= 1e-17 * (abs(own) + abs(other)):
                    continue
                still = False
                half = 0.5 * (other - own) / both
                t = (1.0 if half >= 0.0 else -1.0) / (abs(half) + sqrt(half * half + 1.0))
                c = 1.0 / sqrt(t * t + 1.0)
                s = t * c
                for i in range(size):
                    a, b = matrix[i, j], matrix[i, k]
                    matrix[i, j], matrix[i, k] = c * a - s * b, s * a + c * b
                    matrix[j, i], matrix[k, i] = matrix[i, j], matrix[i, k]
                    a, b = vectors[i, j], vectors[i, k]
                    vectors[i, j], vectors[i, k] = c * a - s * b, s * a + c * b
                matrix[j, j], matrix[k, k] = own - t * both, other + t * both
                matrix[j, k], matrix[k, j] = 0.0, 0.0
        if still:
            break
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
    reach, downhill = 0.0, 0.0
    for j in range(size):
        reach = max(reach, abs(step[j]))
    shorter = min(1.0, 2.0 / max(reach, 1e-300))
    for j in range(size):
        step[j] *= shorter
        downhill += step[j] * slope[j]
    return downhill, shorter * reach


@njit(**INLINE)
def _is_better(new, value, t, downhill, slope, step):
    """Whether the end of a step is lower, or flatter where rounding hides what is lower."""
    if new <= value + 1e-4 * t * downhill:
        return True
    along = 0.0
    for j in range(len(step)):
        along += slope[j] * step[j]
    return new <= value + _HIDDEN * abs(value) and abs(along) <= 0.5 * abs(downhill)


@njit(**JIT)
def likeliest_link(decision, y, weight):
    """Return the likeliest plateaus and sharpness of a link, and what the labels then cost.

    The likelihood is flat in places, and only a second-order method ends at the same point for
    the same data presented in another way. Negative curvature is turned over. One descent starts
    from the shares of positives on either side, one from almost no plateaus: either alone may end
    on a plateau at 1/2.
    """
    n = len(decision)
    total, square, up, positive, positive_up = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(n):
        w, above = weight[i], weight[i] if decision[i] > 0.0 else 0.0
        total += w
        square += w * decision[i] * decision[i]
        up += above
        positive += w if y[i] > 0.0 else 0.0
        positive_up += above if y[i] > 0.0 else 0.0
    scale, unit = sqrt(square / total), np.empty(n)
    for i in range(n):
        unit[i] = decision[i] / scale if scale > 0.0 else decision[i]
    low = (positive - positive_up + 1.0) / (total - up + 2.0)
    rest = 1.0 - (positive_up + 1.0) / (up + 2.0)
    best, found, x, slope, bend = np.inf, np.empty(3), np.empty(3), np.empty(3), np.empty((3, 3))
    there, new_slope, new_bend = np.empty(3), np.empty(3), np.empty((3, 3))
    step = np.empty(3)
    for first in (True, False):
        # Plateaus on their own sides of 1/2, and no error rate smaller than is safe.
        low, rest = 2.0 * min(max(low, LEAST_RATE), 0.49), 2.0 * min(max(rest, LEAST_RATE), 0.49)
        x[0], x[1], x[2] = log(low) - log(1.0 - low), log(rest) - log(1.0 - rest), log(2.0)
        # The start itself is the end of a step of length zero: one place for all evaluations.
        value, downhill, reach = np.inf, 0.0, 0.0
        for j in range(3):
            step[j] = 0.0
        for k in range(_STEPS + 1):
            t, lower, apart = 1.0, False, 0.0
            for _ in range(_HALVINGS):
                for j in range(3):
                    there[j] = x[j] + t * step[j]
                new = _penalised(there, unit, y, weight, new_slope, new_bend)
                if _is_better(new, value, t, downhill, new_slope, step):
                    lower = True
                    break
                t *= 0.5
            if not lower or (k > 0 and not downhill < 0.0):
                break
            x, there = there, x
            slope, new_slope = new_slope, slope
            bend, new_bend = new_bend, bend
            value = new
            for j in range(3):
                apart = max(apart, abs(x[j] - found[j]))
            # What comes close to the end of the other descent ends there.
            if k > 0 and (t * reach < _STILL or (not first and apart < _CLOSE)):
                break
            downhill, reach = _turned_step(bend, slope, 1e-12, step)
        # Both may lead to the same place, from two sides: rounding must not choose.
        if first or value < best - _EQUAL * abs(best):
            best = value
            for j in range(3):
                found[j] = x[j]
        low = rest = 1.0 / (total + 2.0)
    low, high = plateaus_of(found)
    gamma, one = exp(found[2]), scale if scale > 0.0 else 1.0
    imagined = 0.5 * (found[2] / LOG_GAMMA_SCALE) ** 2 - log(low) - log(1.0 - high)
    return low, high, gamma / one, best - imagined


@njit(**INLINE)
def _one_plateau(free, below, y, weight, most, slope, bend):
    """Minus the log-posterior of P(k) = w / K + (1 - w) * softmax_k(gamma * below), per weight.

    `below` holds the decision value of each class less the highest of its row. The free
    parameters are the logit of w / `most` and log gamma.
    """
    rows, classes = below.shape
    share = 1.0 / (1.0 + exp(-min(max(free[0], -_FAR), _FAR)))
    w, gamma = most * share, exp(min(max(free[1], -_FAR), _FAR))
    slope[0], slope[1], bend[0, 0], bend[0, 1], bend[1, 1] = 0.0, 0.0, 0.0, 0.0, 0.0
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
    x, slope, bend = free.copy(), free.copy(), np.empty((2, 2))
    there, new_slope, new_bend = free.copy(), free.copy(), np.empty((2, 2))
    # The start itself is the end of a step of length zero: one place for all evaluations.
    value, downhill, reach, step = np.inf, 0.0, 0.0, np.zeros_like(free)
    for n in range(_STEPS + 1):
        t, found = 1.0, False
        for _ in range(_HALVINGS):
            for j in range(2):
                there[j] = x[j] + t * step[j]
            new = _one_plateau(there, below, y, weight, most, new_slope, new_bend)
            if _is_better(new, value, t, downhill, new_slope, step):
                found = True
                break
            t *= 0.5
        if not found or (n > 0 and not downhill < 0.0):
            break
        x, there = there, x
        slope, new_slope = new_slope, slope
        bend, new_bend = new_bend, bend
        value = new
        if n > 0 and t * reach < _STILL:
            break
        downhill, reach = _turned_step(bend, slope, 1e-14, step)
    return x, value
