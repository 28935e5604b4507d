"""Backward elimination: drop the weights whose loss costs least, one at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Drop(NamedTuple):
    """One step: which weight went, what that cost, and the weights that are left."""

    dropped: int
    cost: float
    kept: NDArray[np.intp]
    weights: Floats


def eliminate(weights: Floats, covariance: Floats) -> Iterator[Drop]:
    """Drop one weight after another from a quadratic model of an objective.

    With H the second derivatives at the minimum and `covariance` their inverse, the least rise of
    the objective when weight j is forced to zero and the others make up for it is
    w_j^2 / (2 C_jj). Both the weights and the covariance are brought up to date exactly after each
    step, so the result is that of solving the smaller problem afresh.

    Parameters
    ----------
    weights : ndarray of shape (m,)
        Minimum of the model.
    covariance : ndarray of shape (m, m)
        Inverse of the second derivatives.

    Yields
    ------
    Drop
        Until no weight is left.
    """
    w = np.array(weights, dtype=np.float64)
    C = np.array(covariance, dtype=np.float64)
    kept = np.arange(len(w))
    diagonal = np.array(np.diagonal(C))
    tiny = 1e-14 * float(diagonal.max(initial=0.0))
    alive = np.ones(len(w), dtype=bool)
    for _ in range(len(w)):
        variance = np.maximum(diagonal, tiny)
        costs = np.where(alive, w**2 / (2.0 * variance), np.inf)
        j = int(np.argmin(costs))
        column = C[:, j] / variance[j]
        w -= column * w[j]
        C -= np.outer(column, C[j])
        diagonal = np.array(np.diagonal(C))
        alive[j] = False
        w[j] = 0.0
        kept = np.flatnonzero(alive)
        yield Drop(j, float(costs[j]), kept, w[kept])
