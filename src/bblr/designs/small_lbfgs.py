"""L-BFGS on a small dense table, compiled whole: for more than two classes, and for kernels.

The steps are those that L-BFGS takes on any other design. With several scores a row products are
large enough to be left to BLAS. All of them have the transposes of two row-major matrices as
factors and a third one to write to, so that one form is compiled. Where `vectors` is None the
coordinates are uncorrelated.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numba.extending import overload

from bblr._numeric.compiling import njit
from bblr._numeric.elementary import INLINE, INNER, JIT
from bblr.designs.small_tables import CONVERGED, LIMIT, STUCK, value_gradient
from bblr.losses.fused import FusedLoss
from bblr.losses.fused_softmax import softmax_residual


def _one_score(Zt, y, weight, fused, l2, penalised, theta, raw, residual, gradient):
    own, slopes = raw.reshape(raw.size), residual.reshape(raw.size)
    return value_gradient(Zt, y, weight, fused, l2, penalised, theta[0], own, slopes, gradient[0])


def _several_scores(Zt, y, weight, fused, l2, penalised, theta, raw, residual, gradient):
    np.dot(Zt.T, theta.T, raw)
    value = softmax_residual(fused, raw, y, weight, residual)
    np.dot(residual.T, Zt.T, gradient)
    for k in range(len(theta)):
        for j in range(penalised):
            gradient[k, j] += l2 * theta[k, j]
            value += 0.5 * l2 * theta[k, j] ** 2
    return value


def _value_gradient(Zt, y, weight, fused, l2, penalised, theta, raw, residual, gradient):
    """Return the objective; write the scores, their residuals and the gradient."""
    raise NotImplementedError  # compiled code has the one that suits the loss


@overload(_value_gradient, jit_options=JIT)
def _suited(Zt, y, weight, fused, l2, penalised, theta, raw, residual, gradient):
    return _one_score if fused.instance_class is FusedLoss else _several_scores


@njit(**JIT, **INNER)
def _product(one, other):
    total = 0.0
    for k in range(one.shape[0]):
        for j in range(one.shape[1]):
            total += one[k, j] * other[k, j]
    return total


@njit(**JIT, **INNER)
def _add(out, factor, other):
    for k in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[k, j] += factor * other[k, j]


@njit(**JIT, **INNER)
def _precondition(vector, vectors, diagonal, totals, out):
    """Write the product with a diagonal in the coordinates of shared eigenvectors.

    Intercepts, where there are any, have one of their own.
    """
    if vectors is None:
        for k in range(len(vector)):
            for j in range(vector.shape[1]):
                out[k, j] = vector[k, j] / diagonal[k, j]
        return
    d, scores = len(vectors), len(vector)
    own, along = np.empty((scores, d)), np.empty((d, scores))
    for k in range(scores):
        for j in range(d):
            own[k, j] = vector[k, j]
    np.dot(vectors.T, own.T, along)
    for j in range(d):
        for k in range(scores):
            along[j, k] /= max(diagonal[k, j], 1e-300)
    np.dot(along.T, vectors.T, own)
    for k in range(scores):
        for j in range(d):
            out[k, j] = own[k, j]
        if vector.shape[1] > d:
            out[k, d] = vector[k, d] / totals[k]


@njit(**INLINE)
def _direction(
    gradient, steps, changes, rhos, count, newest, vectors, diagonal, totals, out
):  # fmt: skip
    """Write minus the quasi-Newton step: the two-loop recursion over remembered steps."""
    memory = len(rhos)
    q, along = gradient.copy(), np.empty(memory)
    for age in range(count):
        i = (newest - age) % memory
        along[i] = rhos[i] * _product(steps[i], q)
        _add(q, -along[i], changes[i])
    _precondition(q, vectors, diagonal, totals, out)
    if count > 0:
        # The curvature along the last step sets the scale: at the start, where the first guess was
        # made, examples were on the slope that have left it since.
        _precondition(changes[newest], vectors, diagonal, totals, q)
        scale = 1.0 / (rhos[newest] * _product(changes[newest], q))
        _add(out, scale - 1.0, out)
    for age in range(count - 1, -1, -1):
        i = (newest - age) % memory
        _add(out, along[i] - rhos[i] * _product(changes[i], out), steps[i])
    _add(out, -2.0, out)


@njit(**JIT)
def lbfgs_descent(
    Zt, y, weight, fused, l2, penalised, start, vectors, diagonal, totals, rules, unit, memory
):  # fmt: skip
    """Descend from a start; return where, the value and scores there, the steps and the reason."""
    classes, size = start.shape
    n = len(y)
    shape = (classes, size)
    residual, step = np.empty((n, classes)), np.zeros(shape)
    theta, raw, gradient = start.copy(), np.empty((n, classes)), np.zeros(shape)
    there, there_raw, there_gradient = np.empty(shape), np.empty((n, classes)), np.empty(shape)
    best, best_raw, best_gradient = np.empty(shape), np.empty((n, classes)), np.empty(shape)
    steps, changes = np.empty((memory, classes, size)), np.empty((memory, classes, size))
    rhos, count, newest = np.empty(memory), 0, -1
    moved, changed = np.empty(shape), np.empty(shape)
    # The start itself is the end of a step of length zero: one place for all evaluations.
    n_iter, value, slope = -1, np.inf, 0.0
    while True:
        low, high, t, best_value = 0.0, np.inf, 1.0, np.inf
        for _ in range(rules.tries):
            for k in range(classes):
                for j in range(size):
                    there[k, j] = theta[k, j] + t * step[k, j]
            new = _value_gradient(
                Zt, y, weight, fused, l2, penalised, there, there_raw, residual, there_gradient
            )
            if not new <= value + rules.armijo * t * slope:
                high = t
                t = 0.5 * (low + high)
            else:
                best, there = there, best
                best_raw, there_raw = there_raw, best_raw
                best_gradient, there_gradient = there_gradient, best_gradient
                best_value = new
                if _product(best_gradient, step) >= rules.wolfe * slope or t > 1e6:
                    break
                low = t
                t = 2.0 * t if high == np.inf else 0.5 * (low + high)
            if high - low < 1e-12 * max(1.0, low):
                break
        n_iter += 1
        if best_value == np.inf:
            if count == 0:
                return theta, value, raw, n_iter, STUCK
            count = 0  # what is remembered misleads; only the first guess is left
        else:
            if n_iter > 0:
                for k in range(classes):
                    for j in range(size):
                        moved[k, j] = best[k, j] - theta[k, j]
                        changed[k, j] = best_gradient[k, j] - gradient[k, j]
                product = _product(moved, changed)
                length = sqrt(_product(moved, moved)) * sqrt(_product(changed, changed))
                if product > 1e-10 * length:
                    newest, count = (newest + 1) % memory, min(count + 1, memory)
                    rhos[newest] = 1.0 / product
                    for k in range(classes):
                        for j in range(size):
                            steps[newest, k, j] = moved[k, j]
                            changes[newest, k, j] = changed[k, j]
            theta, best = best, theta
            raw, best_raw = best_raw, raw
            gradient, best_gradient = best_gradient, gradient
            value = best_value
        if n_iter >= rules.max_iter:
            return theta, value, raw, n_iter, LIMIT
        _direction(gradient, steps, changes, rhos, count, newest, vectors, diagonal, totals, step)
        slope = _product(step, gradient)
        if rules.caution * -0.5 * slope <= rules.tol * (unit + abs(value)):
            return theta, value, raw, n_iter, CONVERGED
