"""Fused passes for many classes: softmax scores, their loss and its residuals."""

from __future__ import annotations

import numpy as np
from numba import njit

from bblr._numeric.elementary import JIT


@njit(**JIT)
def softmax_residual(scores, y, weight, low, b, gamma, residual):
    """Write the derivatives of the weighted Dirichlet-discrete loss by the scores.

    Returns the value.
    """
    n, classes = scores.shape
    log_b = np.log(b)
    value = 0.0
    for i in range(n):
        top = scores[i, 0]
        for k in range(1, classes):
            top = max(top, scores[i, k])
        total = 0.0
        for k in range(classes):
            e = np.exp(gamma * (scores[i, k] - top))
            residual[i, k] = e
            total += e
        own = y[i]
        others = 0.0
        for k in range(classes):
            residual[i, k] /= total
            if k != own:
                others += residual[i, k]
        if low[own] == 0.0:
            value += weight[i] * (
                np.log(total) - gamma * (scores[i, own] - top) - log_b
            )
            share = 1.0
        else:
            rising = b * residual[i, own]
            p = low[own] + rising
            value -= weight[i] * np.log(p)
            share = rising / p
        factor = gamma * share * weight[i]
        for k in range(classes):
            residual[i, k] *= factor
        residual[i, own] = -factor * others
    return value


@njit(**JIT)
def csr_softmax(
    data, indices, indptr, coef, intercept, y, weight, low, b, gamma, raw, start, stop, gradient
):
    """Add the gradient over some rows to `gradient`, the intercepts' row last; return the value.

    `coef` and `gradient` hold a row a feature, a column a class. The scores are written to `raw`.
    """
    d, classes = coef.shape
    residual = np.empty((1, classes))
    value = 0.0
    for i in range(start, stop):
        for k in range(classes):
            raw[i, k] = intercept[k]
        for m in range(indptr[i], indptr[i + 1]):
            v = data[m]
            j = indices[m]
            for k in range(classes):
                raw[i, k] += v * coef[j, k]
        value += softmax_residual(
            raw[i : i + 1], y[i : i + 1], weight[i : i + 1], low, b, gamma, residual
        )
        for m in range(indptr[i], indptr[i + 1]):
            v = data[m]
            j = indices[m]
            for k in range(classes):
                gradient[j, k] += v * residual[0, k]
        for k in range(classes):
            gradient[d, k] += residual[0, k]
    return value
