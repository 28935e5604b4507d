"""Newton's method on a small dense table, compiled whole: a fit costs little but its arithmetic.

The rows lie as columns of unit-free coordinates, one feature after the other, so that every inner
loop runs along rows, and nothing is handed to BLAS, whose threads would wait for one another.
The steps are those that Fisher scoring takes on any other design.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from bblr._numeric.compiling import njit
from bblr._numeric.elementary import INLINE, JIT
from bblr._numeric.sampling import systematic
from bblr.losses.fused import FusedLoss, positive_weights, value_residual

# Why a descent ended: its steps were used up, it has converged, or rounding hides any descent.
LIMIT, CONVERGED, STUCK = 0, 1, 2
# Rows of a block: its scores, labels and weights stay in the first cache.
_ROWS = 256


class Rules(NamedTuple):
    """When a descent is done, and what a step must achieve.

    `caution` is a factor on the decrease that a step promises, `tries` how many lengths of a step
    are tried, `armijo` and `wolfe` what they must achieve. A curvature is kept while steps by it
    promise less than `kept` of what the last one did.
    """

    tol: float
    max_iter: int
    caution: float
    armijo: float
    wolfe: float
    tries: int
    kept: float


@njit(**INLINE)
def value_gradient(Zt, y, weight, fused, l2, penalised, theta, raw, residual, gradient):
    """Return the objective; write the scores, their residuals and the gradient."""
    size, n = Zt.shape
    value = 0.0
    for j in range(size):
        gradient[j] = l2 * theta[j] if j < penalised else 0.0
        value += 0.5 * gradient[j] * theta[j]
    for start in range(0, n, _ROWS):
        stop = min(start + _ROWS, n)
        own, slopes = raw[start:stop], residual[start:stop]
        for i in range(len(own)):
            own[i] = 0.0
        for j in range(size):
            column = Zt[j, start:stop]
            for i in range(len(own)):
                own[i] += theta[j] * column[i]
        value += value_residual(fused, own, y[start:stop], weight[start:stop], slopes)
        for j in range(size):
            column = Zt[j, start:stop]
            total = 0.0
            for i in range(len(own)):
                total += column[i] * slopes[i]
            gradient[j] += total
    return value


@njit(**JIT)
def second_moments(Zt, weight, matrix):
    """Write the lower half of Zt diag(weight) Zt' to the matrix.

    Sixteen products at a time, of four columns with four others, share one look at both.
    """
    size, n = Zt.shape
    last = size - 1
    whole, weighted = np.empty((size + 3, size + 3)), np.empty((4, _ROWS))
    for j in range(size + 3):
        for k in range(size + 3):
            whole[j, k] = 0.0
    for start in range(0, n, _ROWS):
        own = weight[start : min(start + _ROWS, n)]
        stop = start + len(own)
        for j in range(0, size, 4):
            for p in range(4):
                column = Zt[min(j + p, last), start:stop]
                for i in range(len(own)):
                    weighted[p, i] = own[i] * column[i]
            a, b, c, d = weighted[0], weighted[1], weighted[2], weighted[3]
            for k in range(0, j + 1, 4):
                t, u = Zt[k, start:stop], Zt[min(k + 1, last), start:stop]
                v, w = Zt[min(k + 2, last), start:stop], Zt[min(k + 3, last), start:stop]
                at = au = av = aw = bt = bu = bv = bw = 0.0
                ct = cu = cv = cw = dt = du = dv = dw = 0.0
                for i in range(len(own)):
                    at += a[i] * t[i]
                    au += a[i] * u[i]
                    av += a[i] * v[i]
                    aw += a[i] * w[i]
                    bt += b[i] * t[i]
                    bu += b[i] * u[i]
                    bv += b[i] * v[i]
                    bw += b[i] * w[i]
                    ct += c[i] * t[i]
                    cu += c[i] * u[i]
                    cv += c[i] * v[i]
                    cw += c[i] * w[i]
                    dt += d[i] * t[i]
                    du += d[i] * u[i]
                    dv += d[i] * v[i]
                    dw += d[i] * w[i]
                sums = (at, au, av, aw), (bt, bu, bv, bw), (ct, cu, cv, cw), (dt, du, dv, dw)
                for p in range(4):
                    for q in range(4):
                        whole[j + p, k + q] += sums[p][q]
    for j in range(size):
        for k in range(j + 1):
            matrix[j, k] = whole[j, k]


@njit(**INLINE)
def cholesky(matrix):
    """Replace the lower half of a matrix by its Cholesky factor; False if it has none."""
    size = len(matrix)
    for j in range(size):
        for i in range(j, size):
            total = matrix[i, j]
            for k in range(j):
                total -= matrix[i, k] * matrix[j, k]
            if i > j:
                matrix[i, j] = total / matrix[j, j]
            elif total > 0.0:
                matrix[j, j] = sqrt(total)
            else:
                return False
    return True


@njit(**INLINE)
def cholesky_solve(factor, vector):
    """Replace a vector by the solution of the system that the factor stands for."""
    size = len(vector)
    for i in range(size):
        for k in range(i):
            vector[i] -= factor[i, k] * vector[k]
        vector[i] /= factor[i, i]
    for i in range(size - 1, -1, -1):
        vector[i] /= factor[i, i]
        for k in range(i):
            vector[k] -= factor[i, k] * vector[i]


@njit(**INLINE)
def _sampled_moments(Zt, length, bend, most, matrix):
    """Write the second moments of about `most` rows, drawn in proportion to what they add."""
    rows, weight = systematic(bend, length, most)
    few = np.empty((len(Zt), len(rows)))
    for j in range(len(Zt)):
        for i in range(len(rows)):
            few[j, i] = Zt[j, rows[i]]
    second_moments(few, weight, matrix)


@njit(**INLINE)
def _add_floor(matrix, bend, l2, penalised, least):
    """Add the penalty's curvature to a matrix, and what keeps a step finite.

    Where every row has left the slope of the loss nothing is known of the curvature; a thousandth
    of its mean stands in.
    """
    size = len(matrix)
    total = 0.0
    for i in range(len(bend)):
        total += bend[i]
    floor = max(1e-3 * total / size, least)
    for j in range(size):
        matrix[j, j] += floor + (l2 if j < penalised else 0.0)


@njit(**INLINE)
def _factor(matrix, diagonal):
    """Replace a matrix by its Cholesky factor, or by that of its diagonal where it has none."""
    size = len(matrix)
    for j in range(size):
        diagonal[j] = matrix[j, j]
    if not cholesky(matrix):
        for j in range(size):
            for k in range(j):
                matrix[j, k] = 0.0
            matrix[j, j] = sqrt(diagonal[j])


@njit(**JIT)
def newton_descent(Zt, length, y, weight, fused, l2, penalised, start, rules, unit, total, most):
    """Descend from a start; return where, the value and scores there, the steps and the reason.

    `most` rows at most make up a curvature, drawn by the squared `length` of each; None, where
    there are no more, saves compiling what draws them. Tolerances are counted in `unit`, and
    `total` is the weight of all rows.
    """
    size, n = Zt.shape
    residual, bend, matrix = np.empty(n), np.empty(n), np.empty((size, size))
    diagonal = np.empty(size)
    theta, raw, gradient, step = np.empty(size), np.empty(n), np.empty(size), np.empty(size)
    for j in range(size):
        theta[j], step[j] = start[j], 0.0
    there, there_raw, there_gradient = np.empty(size), np.empty(n), np.empty(size)
    best, best_raw, best_gradient = np.empty(size), np.empty(n), np.empty(size)
    # The start itself is the end of a step of length zero: one place for all evaluations.
    n_iter, value, slope = -1, np.inf, 0.0
    while True:
        low, high, t, best_value = 0.0, np.inf, 1.0, np.inf
        for _ in range(rules.tries):
            for j in range(size):
                there[j] = theta[j] + t * step[j]
            new = value_gradient(
                Zt, y, weight, fused, l2, penalised, there, there_raw, residual, there_gradient
            )
            if not new <= value + rules.armijo * t * slope:
                high = t
                t = 0.5 * (low + high)
            else:
                best, there = there, best
                best_raw, there_raw = there_raw, best_raw
                best_gradient, there_gradient = there_gradient, best_gradient
                best_value, along = new, 0.0
                for j in range(size):
                    along += best_gradient[j] * step[j]
                if along >= rules.wolfe * slope or t > 1e6:
                    break
                low = t
                t = 2.0 * t if high == np.inf else 0.5 * (low + high)
            if high - low < 1e-12 * max(1.0, low):
                break
        n_iter += 1
        if best_value == np.inf:
            return theta, value, raw, n_iter, STUCK
        theta, best = best, theta
        raw, best_raw = best_raw, raw
        gradient, best_gradient = best_gradient, gradient
        value = best_value
        if n_iter >= rules.max_iter:
            return theta, value, raw, n_iter, LIMIT
        # The last curvature may tell that this is the end, and serve for one more step.
        new_curvature, before = n_iter == 0 or rules.kept == 0.0, slope
        while True:
            if new_curvature:
                positive_weights(fused, raw, y, weight, bend)
                if length is None:
                    second_moments(Zt, bend, matrix)
                else:
                    _sampled_moments(Zt, length, bend, most, matrix)
                _add_floor(matrix, bend, l2, penalised, 1e-6 * total / size)
                _factor(matrix, diagonal)
            slope = 0.0
            for j in range(size):
                step[j] = -gradient[j]
            cholesky_solve(matrix, step)
            for j in range(size):
                slope += step[j] * gradient[j]
            if rules.caution * -0.5 * slope <= rules.tol * (unit + abs(value)):
                return theta, value, raw, n_iter, CONVERGED
            if new_curvature or slope > rules.kept * before:
                break
            new_curvature = True


@njit(**JIT)
def newton_path(
    Zt, length, y, weight, first_weight, fused, gammas, l2, penalised, rules, first_rules, unit,
    first_unit, total, most, scored,
):  # fmt: skip
    """Descend at each gamma from where the last descent ended; return all ends.

    With them come the scores that the rows to be `scored` have there. The first descent starts
    from the fit under other weights, or from zero where that is to take no step.
    """
    size, n = scored.shape
    thetas, raws = np.empty((len(gammas), size)), np.empty((len(gammas), n))
    code, low_positive, low_negative, span = fused[0], fused[2], fused[3], fused[4]
    theta = np.zeros(size)
    # One call for all: what is called twice is compiled twice.
    for k in range(0 if first_rules.max_iter == 0 else -1, len(gammas)):
        stage = FusedLoss(code, gammas[max(k, 0)], low_positive, low_negative, span)
        own, ruled, counted = weight, rules, unit
        if k < 0:
            own, ruled, counted = first_weight, first_rules, first_unit
        theta, _, _, _, _ = newton_descent(
            Zt, length, y, own, stage, l2, penalised, theta, ruled, counted, total, most
        )
        if k >= 0:
            thetas[k], raw = theta, raws[k]
            for i in range(n):
                raw[i] = 0.0
            for j in range(size):
                column = scored[j]
                for i in range(n):
                    raw[i] += theta[j] * column[i]
    return thetas, raws
