"""Backward elimination: drop the weights whose loss costs least, one at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dger

Floats = NDArray[np.float64]


# Dead rows and columns are updated along; below this share of live ones the matrix is cut down.
_COMPRESS = 0.8


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
    # Fortran order, so that BLAS subtracts the outer products in place.
    C = np.array(covariance, dtype=np.float64, order="F")
    numbers = np.arange(len(w))
    alive = np.ones(len(w), dtype=bool)
    diagonal = np.array(np.diagonal(C))
    tiny = max(1e-14 * float(diagonal.max(initial=0.0)), 1e-300)
    for left in reversed(range(len(w))):
        variance = np.maximum(diagonal, tiny)
        costs = np.where(alive, w**2 / (2.0 * variance), np.inf)
        j = int(np.argmin(costs))
        row = C[:, j].copy()
        column = row / variance[j]
        w -= column * w[j]
        C = dger(-1.0, column, row, a=C, overwrite_a=1)
        diagonal -= column * row
        alive[j] = False
        yield Drop(int(numbers[j]), float(costs[j]), numbers[alive], w[alive])
        if left < _COMPRESS * len(w):
            w, diagonal, numbers = w[alive], diagonal[alive], numbers[alive]
            C = np.asfortranarray(C[np.ix_(alive, alive)])
            alive = np.ones(len(w), dtype=bool)
