"""Fused passes for many classes: softmax scores, their loss and its residuals."""

from __future__ import annotations

import numpy as np
from numba import njit

from bblr._numeric.elementary import BLOCK, JIT, exp_minus_abs

# Residuals of sparse rows that are made together; they stay in a cache until they are used.
_TOGETHER = 4096


@njit(**JIT)
def softmax_residual(scores, y, weight, low, b, gamma, residual):
    """Write the derivatives of the weighted Dirichlet-discrete loss by the scores.

    Returns the value. `residual` is row-major without gaps.
    """
    n, classes = scores.shape
    log_b = np.log(b)
    _powers(scores, gamma, residual)
    value = 0.0
    for i in range(n):
        own = y[i]
        others = 0.0
        for k in range(classes):
            others += 0.0 if k == own else residual[i, k]
        total = others + residual[i, own]
        if low[own] == 0.0:
            top = scores[i, 0]
            for k in range(1, classes):
                top = max(top, scores[i, k])
            value += weight[i] * (np.log(total) - gamma * (scores[i, own] - top) - log_b)
            share = 1.0
        else:
            rising = b * residual[i, own] / total
            p = low[own] + rising
            value -= weight[i] * np.log(p)
            share = rising / p
        factor = gamma * share * weight[i] / total
        for k in range(classes):
            residual[i, k] *= factor
        residual[i, own] = -factor * others
    return value


@njit(**JIT)
def _powers(scores, gamma, out):
    """Write exp(gamma * score), over that of the largest score of the row."""
    n, classes = scores.shape
    for i in range(n):
        top = scores[i, 0]
        for k in range(1, classes):
            top = max(top, scores[i, k])
        for k in range(classes):
            out[i, k] = gamma * (scores[i, k] - top)
    # None is above 0. By blocks, from one array into another, it takes a quarter of the time.
    flat = out.reshape(-1)
    below, bits = np.empty(BLOCK), np.empty(BLOCK, np.int64)
    for start in range(0, flat.size, BLOCK):
        part = flat[start : start + BLOCK]
        below[: part.size] = part
        exp_minus_abs(below, part, bits, part.size)


@njit(**JIT)
def softmax_fisher(scores, weight, low, b, gamma, out):
    """Write the weight of each row times the Fisher information by each score, the diagonal."""
    n, classes = scores.shape
    _powers(scores, gamma, out)
    shares = np.empty(classes)
    for i in range(n):
        total = 0.0
        for k in range(classes):
            total += out[i, k]
        whole = 0.0
        for k in range(classes):
            s = out[i, k] / total
            p = low[k] + b * s
            q = s * s / p if p > 0.0 else 0.0
            out[i, k], shares[k] = s, q
            whole += q
        factor = weight[i] * (gamma * b) ** 2
        for k in range(classes):
            s, q = out[i, k], shares[k]
            out[i, k] = factor * (q * (1.0 - s) ** 2 + s * s * max(whole - q, 0.0))


@njit(**JIT)
def csr_softmax(
    data, indices, indptr, coef, intercept, y, weight, low, b, gamma, raw, start, stop, gradient
):
    """Add the gradient over some rows to `gradient`, the intercepts' row last; return the value.

    `coef` and `gradient` hold a row a feature, a column a class. The scores are written to `raw`.
    """
    d, classes = coef.shape
    rows = max(1, _TOGETHER // classes)
    residual = np.empty((rows, classes))
    value = 0.0
    for s in range(start, stop, rows):
        e = min(s + rows, stop)
        for i in range(s, e):
            for k in range(classes):
                raw[i, k] = intercept[k]
            for m in range(indptr[i], indptr[i + 1]):
                v = data[m]
                j = indices[m]
                for k in range(classes):
                    raw[i, k] += v * coef[j, k]
        value += softmax_residual(raw[s:e], y[s:e], weight[s:e], low, b, gamma, residual[: e - s])
        for i in range(s, e):
            for m in range(indptr[i], indptr[i + 1]):
                v = data[m]
                j = indices[m]
                for k in range(classes):
                    gradient[j, k] += v * residual[i - s, k]
            for k in range(classes):
                gradient[d, k] += residual[i - s, k]
    return value
