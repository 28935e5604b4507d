"""The normal approximation of the weights around a fit, and what it implies for single rows.

Its covariance is the inverse of the Fisher information plus the penalty's curvature. It gives the
effective number of parameters, and the score that a row would have had if it had been left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dtrmm
from scipy.linalg.lapack import dpotrf, dtrtri

from bblr._numeric.tensors import beside, is_tensor, local
from bblr._numeric.threads import one_blas_thread
from bblr.curvature import shared_eigenvectors
from bblr.designs.rows import Rows
from bblr.training.compiled.settling import alone_scores
from bblr.training.start import Fitted

Floats = NDArray[np.float64]

# Up to this many parameters per class a covariance matrix is cheap compared with a descent.
MAX_PARAMETERS = 1500
# Bounds on the number of rows whose scores are corrected, and on the work spent on them.
MOST_ROWS, _LEAST_ROWS, _MOST_WORK = 4096, 1000, 1e8
# Rows from which the information is estimated, for each parameter.
_ROWS_PER_PARAMETER, _MIN_ROWS = 16, 4096
# The correction of a row that determines its own score is cut off here.
LEAST_REST = 0.1
# What can be done with arrays.
_HERE = Rows()


class Covariance(Protocol):
    """The covariance of the weights around a fit, on whichever device it is."""

    @property
    def effective(self) -> float:
        """Effective number of parameters: how many the data determine, rather than the penalty."""

    @property
    def precondition(self) -> Callable[[Floats], Floats]:
        """The covariance times a vector: an approximate Newton step."""

    def variance(self, Z: Any) -> Any:
        """Return the variance of each raw score of each row."""


class Drawn(NamedTuple):
    """A sample of the training rows, in the coordinates of the solvers.

    `Z` is column-major, with a last column of ones where there is an intercept, `weight` adds up
    to that of all rows, and `unit` is the weight that is taken away with a row: 1, or all of it if
    less.
    `counted` are the weights before any bound. `every` says whether none was left out that counts.
    Rows that are on a device stay there, and `Z` is a tensor; `beside` are the labels, the units
    and ones where `Z` is, and `rows` what can be done with them.
    """

    Z: Any
    y: NDArray[Any]
    weight: Floats
    unit: Floats
    counted: Floats
    every: bool
    beside: tuple[Any, ...]
    rows: Rows

    @property
    def columns(self) -> Floats:
        """The rows as an array, a column after the other."""
        columns: Floats = self.Z.T if self.rows is _HERE else local(self.Z.T.contiguous())
        return columns


def some_of(n_rows: int, most: int) -> NDArray[np.intp]:
    """Return the numbers of all rows, or in ascending order those of a sample of them."""
    if n_rows <= most:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(0).choice(n_rows, most, replace=False))


def draw_rows(objective: Fitted) -> Drawn | None:
    """Return all rows of positive weight, or a sample; None if they cannot be read."""
    rows, design = objective.rows, objective.design
    most = int(min(MOST_ROWS, max(_LEAST_ROWS, _MOST_WORK / max(1, design.size) ** 2)))
    n = objective.n_rows
    # By number, wherever the rows are: the same ones on a cluster and on a device.
    chosen = some_of(n, most)
    every = n <= most and not design.design.is_remote
    Z: Any = None
    near = _HERE
    if every and design.columns is not None:
        Z = design.columns.T
    elif (there := design.drawn(chosen)) is not None:
        Z, near = there, rows
    if Z is None:
        table = design.design.table() if every else design.design.some_rows(chosen)
        if table is None:
            return None
        Z = design.coordinates(table).T

    def drawn(vector: Any) -> Any:
        return rows.local(vector if n <= most else rows.pick(vector, chosen))

    weight = drawn(objective.weight).astype(np.float64, copy=False)
    whole = weight
    if objective.counted is not None:
        whole = drawn(objective.counted).astype(np.float64, copy=False)
    y, some = drawn(objective.y), weight > 0
    if not some.all():
        kept = np.flatnonzero(some)
        weight, whole, y = weight[kept], whole[kept], y[kept]
        Z = np.ascontiguousarray(Z.T[:, kept]).T if near is _HERE else Z[near.vector(kept)]
    share = rows.total(objective.weight) / float(weight.sum()) if n > most else 1.0
    # What is left out is one example, with the weight that the bound on leverage leaves it.
    one: Any = 1.0
    if objective.each is not None:
        one = np.array(objective.each)[objective.loss.layout.codes(y)]
    unit = np.minimum(whole, one) * (weight / whole)
    own: tuple[Any, ...] = y, unit, np.ones(len(y))
    if near is not _HERE:
        own = tuple(map(near.vector, own))
    return Drawn(Z, y, weight * share, unit, whole, every, own, near)


@dataclass(frozen=True, eq=False)
class Laplace:
    """The covariance of the weights with two classes.

    Parameters
    ----------
    inverse : ndarray of shape (n_parameters, n_parameters)
        Inverse of the lower Cholesky factor of the information; the covariance is its transpose
        times itself.
    effective : float
        Effective number of parameters: how many the data determine, rather than the penalty.
    information : ndarray of shape (n_parameters, n_parameters)
        Lower half of what the data add to the information.
    weight : float
        Sum of the weights of the rows in it.
    """

    inverse: Floats
    effective: float
    information: Floats
    weight: float

    def precondition(self, vector: Floats) -> Floats:
        """Return the covariance times a vector: an approximate Newton step."""
        return (self.inverse @ vector) @ self.inverse

    def variance(self, Z: Any) -> Any:
        """Return the variance of the raw score of each row; an array `Z` is column-major."""
        if is_tensor(Z):
            return (Z @ beside(self.inverse.T, Z)).square_().sum(dim=1)
        # The inverse is triangular: half the work of a plain product.
        along = dtrmm(1.0, self.inverse.T, Z, side=1)
        return np.einsum("ij,ij->i", along, along)


@dataclass(frozen=True, eq=False)
class MulticlassLaplace:
    """The covariance with more than two classes, which share eigenvectors and are independent.

    Parameters
    ----------
    precondition : callable
        An approximate inverse Hessian.
    vectors : ndarray of shape (n_features, n_features)
        Eigenvectors of the second moments of the features.
    inverse : ndarray of shape (n_classes, n_features)
        Variance along each of them.
    intercepts : ndarray of shape (n_classes,)
        Variance of the intercepts.
    effective : float
        Effective number of parameters.
    """

    precondition: Any
    vectors: Floats
    inverse: Floats
    intercepts: Floats
    effective: float

    def variance(self, Z: Any) -> Any:
        """Return the variance of each raw score of each row."""
        own, inverse, intercepts = (
            beside(part, Z) if is_tensor(Z) else part
            for part in (self.vectors, self.inverse, self.intercepts)
        )
        along = Z[:, : len(own)] @ own
        along *= along
        return along @ inverse.T + intercepts


def laplace(
    objective: Fitted, theta: Floats, raw: Any, known: Laplace | None = None
) -> Covariance:
    """Return the normal approximation of the weights around a fit.

    What is known of another fit serves again, with the weights of the rows changed in the mean
    alone: to form the information takes longer than the rest of a round.
    """
    if objective.n_scores > 1:
        return _multiclass(objective, theta, raw)
    design, total = objective.design, objective.total
    rows = max(_MIN_ROWS, _ROWS_PER_PARAMETER * objective.size)
    near = objective.on_device()
    if near is not None:
        found: Covariance = near.covariance(raw, rows)
        return found
    fisher = objective.fisher(raw)
    penalty = objective.penalty.curvature(objective.weights(theta))
    d = len(penalty)
    with one_blas_thread(objective.size):
        weight = objective.rows.total(fisher)
        if known is None or not known.weight > 0.0:
            information = design.curvature(fisher, max_rows=rows)
        else:
            information = known.information * (weight / known.weight)
        matrix = information.copy()
        matrix.flat[:: len(matrix) + 1] += 1e-9 * max(total, 1.0)
        matrix.flat[: d * len(matrix) : len(matrix) + 1] += penalty
        factor, failed = dpotrf(matrix, lower=1, overwrite_a=1, clean=1)
        # Not dpotri, whose threads may wait for one another thousands of times as long.
        inverse = dtrtri(_existing(factor, failed), lower=1, overwrite_c=1)[0]
    variances = np.einsum("ij,ij->j", inverse, inverse)[:d]
    effective = float(np.clip(1.0 - penalty * variances, 0.0, 1.0).sum())
    return Laplace(np.ascontiguousarray(inverse), effective, information, weight)


def _existing(factor: Floats, failed: bool) -> Floats:
    if failed:
        raise FloatingPointError("the information is not positive definite")
    return factor


def _multiclass(objective: Fitted, theta: Floats, raw: Any) -> MulticlassLaplace:
    preconditioner = shared_eigenvectors(objective, theta, raw)
    classes, d = preconditioner.diagonal.shape
    penalty = objective.penalty.curvature(objective.weights(theta)).reshape(classes, d)
    inverse = 1.0 / np.maximum(preconditioner.diagonal, 1e-300)
    vectors = np.eye(d) if preconditioner.vectors is None else preconditioner.vectors
    # A constant added to the scores of all classes changes nothing: one of them is not free.
    free = (classes - 1) / classes
    effective = free * float(np.clip(1.0 - penalty * inverse, 0.0, 1.0).sum())
    intercepts = 1.0 / preconditioner.totals
    if not objective.design.fit_intercept:
        intercepts = np.zeros(classes)
    return MulticlassLaplace(preconditioner, vectors, inverse, intercepts, effective)


def scores_alone(
    objective: Fitted, theta: Floats, raw: Any, drawn: Drawn, known: Laplace | None = None
) -> Floats:
    """Return the raw scores of the drawn rows as if each had not been trained on."""
    if objective.newton_columns is None or not drawn.every:
        return leave_one_out(objective, theta, drawn, laplace(objective, theta, raw, known))
    Zt, d = drawn.Z.T, objective.design.n_features
    alone, settled = alone_scores(
        Zt, theta @ Zt, drawn.y, drawn.weight, drawn.unit, objective.loss.fused,
        objective.l2, d, objective.total, LEAST_REST,
    )  # fmt: skip
    return _existing(alone, settled < 0)


def leave_one_out(objective: Fitted, theta: Floats, drawn: Drawn, about: Covariance) -> Floats:
    """Return the raw scores of rows as if each had not been trained on, to first order.

    Leaving a row out moves its score by h * slope / (1 - h * curvature), where h is the variance
    of the score.
    """
    loss, rows = objective.loss, drawn.rows
    y, unit, ones = drawn.beside
    theta = objective.by_score(theta)
    with one_blas_thread(max(drawn.Z.shape)):
        raw = loss.layout.joined(drawn.Z @ (rows.vector(theta).T))
        variance = about.variance(drawn.Z)
    h = loss.layout.by_row(unit) * variance
    # Compiled: NumPy would take longer than the products before.
    slope, curvature = rows.residual(loss, y, raw, ones), rows.fisher(loss, raw, ones)
    rest = rows.xp.clip(1.0 - h * curvature, LEAST_REST, None)
    return rows.local(raw + h * slope / rest)
