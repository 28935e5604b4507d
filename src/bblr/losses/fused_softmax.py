"""The Beta-Bernoulli loss for more than two classes, compiled: value, residuals, curvature."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bblr._numeric.compiling import njit
from bblr._numeric.elementary import INLINE, JIT, exp_minus_abs

Floats = NDArray[np.float64]


class FusedSoftmax(NamedTuple):
    """What a kernel must know of the loss for more than two classes."""

    low: Floats
    b: float
    gamma: float

    def fisher(self, raw: Floats, weight: Floats) -> Floats:
        """Return the weight of each row times the Fisher information of each of its scores."""
        out = np.empty(raw.shape)
        softmax_fisher(self, raw, weight, out)
        return out

    def residual(self, raw: Floats, y: Any, weight: Floats) -> Floats:
        """Return the derivative of the weighted loss by each score."""
        out = np.empty_like(raw)
        softmax_residual(self, raw, y, weight, out)
        return out

    def positive_curvature(self, y: Any, raw: Floats, weight: Floats) -> Floats:
        """Return the same, which is never negative."""
        return self.fisher(raw, weight)


@njit(**JIT)
def softmax_residual(fused, scores, y, weight, residual):
    """Write the derivatives of the weighted loss by the scores.

    Returns the value. `residual` is row-major without gaps.
    """
    low, b, gamma = fused
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


@njit(**INLINE)
def _powers(scores, gamma, out):
    """Write exp(gamma * score), over that of the largest score of the row."""
    n, classes = scores.shape
    for i in range(n):
        top = scores[i, 0]
        for k in range(1, classes):
            top = max(top, scores[i, k])
        for k in range(classes):
            out[i, k] = gamma * (scores[i, k] - top)
    # None is above 0. In one long loop it takes a quarter of the time.
    flat = out.reshape(-1)
    for i in range(len(flat)):
        flat[i] = exp_minus_abs(flat[i])


@njit(**JIT)
def softmax_fisher(fused, scores, weight, out):
    """Write the weight of each row times the Fisher information by each score, the diagonal."""
    low, b, gamma = fused
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
