"""The fused pass over sparse rows with more than two classes."""

from __future__ import annotations

import numpy as np

from bblr._numeric.compiling import njit
from bblr._numeric.elementary import JIT
from bblr.losses.fused_softmax import softmax_residual

# Residuals that are made together; they stay in a cache until they are used.
_TOGETHER = 4096


@njit(**JIT)
def csr_softmax(
    data, indices, indptr, coef, intercept, y, weight, fused, raw, start, stop, gradient
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
        value += softmax_residual(fused, raw[s:e], y[s:e], weight[s:e], residual[: e - s])
        for i in range(s, e):
            for m in range(indptr[i], indptr[i + 1]):
                v = data[m]
                j = indices[m]
                for k in range(classes):
                    gradient[j, k] += v * residual[i - s, k]
            for k in range(classes):
                gradient[d, k] += residual[i - s, k]
    return value
