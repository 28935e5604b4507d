"""Backward elimination: drop the weights whose loss costs least, one at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dger

Floats = NDArray[np.float64]


# Dead rows and columns are updated along; below this share of live ones the matrix is cut down.
_COMPRESS = 0.8


class Drop(NamedTuple):
    """One step: the weight dropped, its cost, and the remaining weights."""

    dropped: int
    cost: float
    kept: NDArray[np.intp]
    weights: Floats


def eliminate(weights: Floats, covariance: Any) -> Iterator[Drop]:
    """Drop one weight after another from a quadratic model of an objective.

    With H the second derivatives at the minimum and `covariance` their inverse, the least rise of
    the objective when weight j is forced to zero and the others make up for it is
    w_j^2 / (2 C_jj). Both the weights and the covariance are brought up to date exactly after each
    step, so the result is that of solving the smaller problem afresh.

    Parameters
    ----------
    weights : ndarray of shape (m,) or (m, k)
        Minimum of the model; with k columns, of k models whose weights of a row go together.
    covariance : ndarray of shape (m, m), or k of them
        Inverse of the second derivatives of each.

    Yields
    ------
    Drop
        Until no weight is left.
    """
    flat = np.ndim(weights) == 1
    matrices = (covariance,) if flat else covariance
    models = [
        _Model(np.array(w, dtype=np.float64), np.array(C, dtype=np.float64, order="F"))
        for w, C in zip(np.atleast_2d(np.asarray(weights).T), matrices, strict=True)
    ]
    numbers = np.arange(len(weights))
    alive = np.ones(len(weights), dtype=bool)
    for left in reversed(range(len(weights))):
        costs = np.where(alive, np.sum([model.costs() for model in models], axis=0), np.inf)
        j = int(np.argmin(costs))
        for model in models:
            model.drop(j)
        alive[j] = False
        kept = np.column_stack([model.w[alive] for model in models])
        yield Drop(int(numbers[j]), float(costs[j]), numbers[alive], kept[:, 0] if flat else kept)
        if left < _COMPRESS * len(alive):
            for model in models:
                model.compress(alive)
            numbers = numbers[alive]
            alive = np.ones(len(numbers), dtype=bool)


class _Model:
    """A quadratic model: where its minimum is, and the inverse of its second derivatives."""

    def __init__(self, w: Floats, C: Floats) -> None:
        self.w = w
        # Fortran order, so that BLAS subtracts the outer products in place.
        self.C = C
        self.diagonal = np.array(np.diagonal(C))
        self.tiny = max(1e-14 * float(self.diagonal.max(initial=0.0)), 1e-300)

    def costs(self) -> Floats:
        """Return the rise of the model when each weight is forced to zero."""
        return self.w**2 / (2.0 * np.maximum(self.diagonal, self.tiny))

    def drop(self, j: int) -> None:
        """Force weight j to zero and adjust the others."""
        row = self.C[:, j].copy()
        column = row / max(float(self.diagonal[j]), self.tiny)
        self.w -= column * self.w[j]
        self.C = dger(-1.0, column, row, a=self.C, overwrite_a=1)
        self.diagonal -= column * row

    def compress(self, alive: NDArray[np.bool_]) -> None:
        """Leave the dropped weights out."""
        self.w, self.diagonal = self.w[alive], self.diagonal[alive]
        self.C = np.asfortranarray(self.C[np.ix_(alive, alive)])
