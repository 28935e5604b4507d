"""Preconditioners: the curvature that a descent divides the gradient by.

With one score per row it is a dense matrix of second derivatives, where that is cheap; several
scores share the eigenvectors of the second moments of the features, each with its own scale.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from bblr._numeric.threads import one_blas_thread
from bblr.designs.base import Floats
from bblr.designs.rows import Rows, Vector
from bblr.designs.scaled import ScaledDesign
from bblr.losses import Loss
from bblr.penalties import Penalty

__all__ = [
    "Preconditioner",
    "SharedEigenvectors",
    "curvature_of",
    "has_matrix",
    "newton",
    "sample_rows",
    "shared_eigenvectors",
]

Preconditioner = Callable[[Floats], Floats]
"""An approximate inverse Hessian: takes a gradient, returns a step."""

# Up to this many parameters a dense matrix of second derivatives is cheap compared with a pass.
_MAX_DENSE = 1500
# Up to this many features an eigendecomposition is cheap compared with a descent.
_MAX_EIGEN = 600
# Rows of the sample from which a matrix is made, as a multiple of the parameters.
_ROWS_PER_PARAMETER = 16
_MIN_ROWS = 4096


class Curved(Protocol):
    """What a preconditioner needs of an objective."""

    @property
    def loss(self) -> Loss:
        """Loss of the score or scores of a row."""

    @property
    def penalty(self) -> Penalty:
        """Penalty on the weights."""

    @property
    def design(self) -> ScaledDesign:
        """The data."""

    @property
    def y(self) -> Vector:
        """Labels."""

    @property
    def weight(self) -> Vector:
        """Weight of each row."""

    @property
    def rows(self) -> Rows:
        """Operations on per-row vectors."""

    @property
    def n_scores(self) -> int:
        """Number of scores per row."""

    @property
    def size(self) -> int:
        """Number of parameters."""

    @property
    def total(self) -> float:
        """The weight of all rows."""

    def weights(self, theta: Floats) -> Floats:
        """Return the parameters that the penalty sees."""

    def fisher(self, raw: Vector) -> Vector:
        """Return the weighted Fisher information of each score."""


def sample_rows(size: int) -> int:
    """Return how many rows at most make up the curvature of so many parameters."""
    return max(_MIN_ROWS, _ROWS_PER_PARAMETER * size)


def curvature_of(objective: Curved) -> Callable[[Curved, Floats, Vector, float], Preconditioner]:
    """Return the strategy that suits an objective."""
    return newton if objective.n_scores == 1 else shared_eigenvectors


def has_matrix(design: ScaledDesign) -> bool:
    """Whether the curvature of one score per row is a matrix, and not a mere diagonal."""
    return design.size <= _MAX_DENSE and not design.uncorrelated


def newton(objective: Curved, theta: Floats, raw: Vector, least: float = 0.0) -> Preconditioner:
    """Return the inverse of the positive curvature of one score per row.

    A mere diagonal is made of the Fisher information instead. Its own floor makes `least` idle.
    """
    design, rows, size = objective.design, objective.rows, objective.size
    dense = has_matrix(design)
    weight = (
        rows.positive_curvature(objective.loss, objective.y, raw, objective.weight)
        if dense
        else objective.fisher(raw)
    )
    floor = np.zeros(size)
    weights = objective.weights(theta)
    floor[: len(weights)] = objective.penalty.curvature(weights)
    # Where every example sits on a plateau the curvature vanishes; a thousandth of its mean keeps
    # the step finite.
    floor += max(1e-3 * rows.total(weight) / size, 1e-6 * objective.total / size)
    if not dense:
        return Diagonal(design.column_squares(weight) + floor)
    matrix = design.curvature(weight, max_rows=sample_rows(size))
    matrix.flat[:: len(matrix) + 1] += floor
    diagonal = np.maximum(matrix.diagonal(), floor)
    with one_blas_thread(size):
        # LAPACK itself: scipy's wrappers cost more than a small factorisation.
        factor, failed = dpotrf(matrix, lower=1, overwrite_a=1)
    return Diagonal(diagonal) if failed else Cholesky(factor)


@dataclass(frozen=True, eq=False)
class Diagonal:
    """The inverse of a diagonal."""

    diagonal: Floats

    def __call__(self, vector: Floats) -> Floats:
        """Return the product with a vector."""
        return vector / self.diagonal


@dataclass(frozen=True, eq=False)
class Cholesky:
    """The inverse of a matrix, by its lower Cholesky factor."""

    factor: Floats

    def __call__(self, vector: Floats) -> Floats:
        """Return the product with a vector."""
        return np.asarray(dpotrs(self.factor, vector, lower=1)[0])


def shared_eigenvectors(
    objective: Curved, theta: Floats, raw: Vector, least: float = 0.0
) -> SharedEigenvectors:
    """Return an approximate inverse of the Fisher information of several scores per row.

    Interactions between scores are ignored. The curvature by an intercept is not below `least`, as
    a share of the weight of all rows.
    """
    design, rows = objective.design, objective.rows
    fisher = objective.fisher(raw)
    totals = rows.sums(fisher)
    # Where every example sits on a plateau the curvature vanishes.
    totals = np.maximum(totals, 1e-3 * max(float(totals.max()), 1e-3 * objective.total))
    mean = rows.means(fisher)
    total = rows.total(mean)
    if not total > 1e-12 * objective.total:
        mean, total = objective.weight * 1e-3, 1e-3 * objective.total
    scale = totals / total
    totals = np.maximum(totals, least * objective.total)
    d = design.n_features
    penalty = objective.penalty.curvature(objective.weights(theta)).reshape(len(totals), d)
    even = bool(np.ptp(penalty) == 0.0)
    if d > _MAX_EIGEN or design.uncorrelated or not even:
        square = design.column_squares(mean)[:d]
        diagonal = scale[:, None] * (square + 1e-3 * float(square.mean())) + penalty
        return SharedEigenvectors(None, diagonal, totals, design.fit_intercept)
    with one_blas_thread(d):
        most = max(_MIN_ROWS, _ROWS_PER_PARAMETER * d)
        moments = design.curvature(mean, max_rows=most)[:d, :d]
        values, vectors = np.linalg.eigh(moments)
    values = np.maximum(values, 0.0) + 1e-3 * max(float(values.mean()), 0.0)
    diagonal = scale[:, None] * values + penalty
    return SharedEigenvectors(vectors, diagonal, totals, design.fit_intercept)


@dataclass(frozen=True, eq=False)
class SharedEigenvectors:
    """Per score: a diagonal in the coordinates of shared eigenvectors, and the intercept's own.

    Parameters
    ----------
    vectors : ndarray of shape (n_features, n_features) or None
        Eigenvectors; None for the features themselves.
    diagonal : ndarray of shape (n_scores, n_features)
        Curvature along each.
    totals : ndarray of shape (n_scores,)
        Curvature by the intercepts.
    fit_intercept : bool
        Whether there are intercepts.
    """

    vectors: Floats | None
    diagonal: Floats
    totals: Floats
    fit_intercept: bool

    def __call__(self, vector: Floats) -> Floats:
        """Return the product with a vector."""
        scores, d = self.diagonal.shape
        theta = vector.reshape(scores, -1)
        out = np.empty_like(theta)
        own = theta[:, :d] if self.vectors is None else theta[:, :d] @ self.vectors
        own = own / np.maximum(self.diagonal, 1e-300)
        out[:, :d] = own if self.vectors is None else own @ self.vectors.T
        if self.fit_intercept:
            out[:, -1] = theta[:, -1] / self.totals
        return out.ravel()
