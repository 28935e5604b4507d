"""The weights about a fit as a normal distribution, and what that says of single rows.

Its covariance is the inverse of the Fisher information plus the penalty's curvature. From it come
the effective number of parameters, and the score that a row would have had if it had not been
trained on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dtrmm
from scipy.linalg.lapack import dpotrf, dtrtri

from bblr._numeric.threads import one_blas_thread
from bblr.curvature import shared_eigenvectors
from bblr.losses import BetaBernoulli
from bblr.losses.fused import value_residual
from bblr.losses.fused_softmax import softmax_residual
from bblr.training.compiled.settling import inverse_factor, row_variances
from bblr.training.start import Fitted

Floats = NDArray[np.float64]

# Up to this many parameters of a class a matrix of their covariances is cheap beside a descent.
MAX_PARAMETERS = 1500
# Rows whose scores are corrected, at most and at least, and the work that may be spent on them.
MOST_ROWS, _LEAST_ROWS, _MOST_WORK = 4096, 1000, 1e8
# Rows from which the information is estimated, for each parameter.
_ROWS_PER_PARAMETER, _MIN_ROWS = 16, 4096
# Up to this many parameters plain loops are as fast as BLAS, and wait for no thread.
_SLIM = 128
# A row that would fix its own score but for so little is not followed any further.
LEAST_REST = 0.1


class Covariance(Protocol):
    """The covariance of the weights about a fit, wherever it is."""

    @property
    def effective(self) -> float:
        """How many of the weights the data have settled, rather than the penalty."""

    @property
    def precondition(self) -> Callable[[Floats], Floats]:
        """The covariance times a vector: an approximate Newton step."""

    def variance(self, Z: Floats) -> Floats:
        """Return the variance of each raw score of each row."""


class Drawn(NamedTuple):
    """Some of the training rows, as an array in the coordinates of the solvers.

    `Z` is column-major, with a last column of ones where there is an intercept, `weight` adds up
    to that of all rows, and `unit` is the weight that is taken away with a row: 1, or all of it if
    less.
    `counted` are the weights before any bound.
    """

    Z: Floats
    y: NDArray[Any]
    weight: Floats
    unit: Floats
    counted: Floats


def some_of(n_rows: int, most: int) -> NDArray[np.intp]:
    """Return the numbers of all rows, or in ascending order those of a sample of them."""
    if n_rows <= most:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(0).choice(n_rows, most, replace=False))


def draw_rows(objective: Fitted) -> Drawn | None:
    """Return all rows that count, or a sample; None where they cannot be had."""
    rows, design = objective.rows, objective.design
    most = int(min(MOST_ROWS, max(_LEAST_ROWS, _MOST_WORK / max(1, design.size) ** 2)))
    n = objective.n_rows
    # By number, wherever the rows are: the same ones on a cluster and on a device.
    chosen = some_of(n, most)
    every = n <= most and not design.design.is_remote
    Z = design.columns.T if every and design.columns is not None else None
    if Z is None:
        table = design.design.table() if every else design.design.some_rows(chosen)
        if table is None:
            return None
        Z = design.coordinates(table).T
    weight = rows.local(rows.pick(objective.weight, chosen)).astype(np.float64)
    whole = weight
    if objective.counted is not None:
        whole = rows.local(rows.pick(objective.counted, chosen)).astype(np.float64)
    some = weight > 0
    if not some.all():
        Z, weight = np.ascontiguousarray(Z.T[:, some]).T, weight[some]
        whole, chosen = whole[some], chosen[some]
    y = rows.local(rows.pick(objective.y, chosen))
    share = rows.total(objective.weight) / float(weight.sum()) if n > most else 1.0
    # One of so many equal rows is left out, with what the bound on leverage leaves of it.
    one: Any = 1.0
    if objective.each is not None:
        one = np.array(objective.each)[class_codes(y, objective.n_scores)]
    unit = np.minimum(whole, one) * (weight / whole)
    return Drawn(Z, y, weight * share, unit, whole)


@dataclass(frozen=True, eq=False)
class Laplace:
    """The covariance of the weights of two classes.

    Parameters
    ----------
    inverse : ndarray of shape (n_parameters, n_parameters)
        Inverse of the lower Cholesky factor of the information; the covariance is its transpose
        times itself.
    effective : float
        How many of the weights the data have settled, rather than the penalty.
    """

    inverse: Floats
    effective: float

    def precondition(self, vector: Floats) -> Floats:
        """Return the covariance times a vector: an approximate Newton step."""
        return (self.inverse @ vector) @ self.inverse

    def variance(self, Z: Floats) -> Floats:
        """Return the variance of the raw score of each row; `Z` is column-major."""
        if len(self.inverse) > _SLIM:
            # The inverse is triangular: half the work of a plain product.
            along = dtrmm(1.0, self.inverse.T, Z, side=1)
            return np.einsum("ij,ij->i", along, along)
        out = np.empty(len(Z))
        row_variances(Z.T, self.inverse, out)
        return out


@dataclass(frozen=True, eq=False)
class MulticlassLaplace:
    """The same for many classes, which share eigenvectors and know nothing of one another.

    Parameters
    ----------
    precondition : callable
        The same as an approximate inverse Hessian.
    vectors : ndarray of shape (n_features, n_features)
        Eigenvectors of the second moments of the features.
    inverse : ndarray of shape (n_classes, n_features)
        Variance along each of them.
    intercepts : ndarray of shape (n_classes,)
        Variance of the intercepts.
    effective : float
        How many of the weights the data have settled.
    """

    precondition: Any
    vectors: Floats
    inverse: Floats
    intercepts: Floats
    effective: float

    def variance(self, Z: Floats) -> Floats:
        """Return the variance of each raw score of each row."""
        along = Z[:, : len(self.vectors)] @ self.vectors
        return np.square(along, out=along) @ self.inverse.T + self.intercepts


def laplace(objective: Fitted, theta: Floats, raw: Any) -> Covariance:
    """Return the distribution of the weights about a fit."""
    if objective.n_scores > 1:
        return _multiclass(objective, theta, raw)
    design, total = objective.design, objective.total
    if objective.columns is not None and objective.n_rows <= _MIN_ROWS:
        fisher = objective.fisher(raw)
        l2 = objective.penalty.curvature(np.zeros(1))[0]
        inverse, effective = inverse_factor(
            objective.columns, fisher, l2, design.n_features, total
        )
        return Laplace(_existing(inverse, effective < 0), effective)
    rows = max(_MIN_ROWS, _ROWS_PER_PARAMETER * objective.size)
    near = objective.beside_rows()
    if near is not None:
        found: Covariance = near.covariance(raw, rows)
        return found
    fisher = objective.fisher(raw)
    penalty = objective.penalty.curvature(objective.weights(theta))
    d = len(penalty)
    with one_blas_thread(objective.size):
        matrix = design.curvature(fisher, max_rows=rows)
        matrix.flat[:: len(matrix) + 1] += 1e-9 * max(total, 1.0)
        matrix.flat[: d * len(matrix) : len(matrix) + 1] += penalty
        factor, failed = dpotrf(matrix, lower=1, overwrite_a=1, clean=1)
        # Not dpotri, whose threads may wait for one another thousands of times as long.
        inverse = dtrtri(_existing(factor, failed), lower=1, overwrite_c=1)[0]
    variances = np.einsum("ij,ij->j", inverse, inverse)[:d]
    effective = float(np.clip(1.0 - penalty * variances, 0.0, 1.0).sum())
    return Laplace(np.ascontiguousarray(inverse), effective)


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


def leave_one_out(objective: Fitted, theta: Floats, drawn: Drawn, about: Covariance) -> Floats:
    """Return the raw scores of rows as if each had not been trained on, to first order.

    Without its pull the score of a row moves by h * slope / (1 - h * curvature), h being the
    variance of the score.
    """
    loss = objective.loss
    with one_blas_thread(max(drawn.Z.shape)):
        raw = _plain(drawn.Z @ objective.by_score(theta).T)
        variance = _plain(about.variance(drawn.Z))
    unit = drawn.unit if raw.ndim == 1 else drawn.unit[:, None]
    h = unit * variance
    slope, curvature = _slope_curvature(loss, drawn.y, raw)
    return raw + h * slope / np.maximum(1.0 - h * curvature, LEAST_REST)


def class_codes(y: NDArray[Any], n_scores: int) -> NDArray[np.intp]:
    """Return class numbers for labels as the losses have them."""
    return (y > 0).astype(np.intp) if n_scores == 1 else np.asarray(y, dtype=np.intp)


def _plain(values: Floats) -> Floats:
    """Return one score a row without a second axis."""
    return values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values


def _slope_curvature(loss: BetaBernoulli, y: NDArray[Any], raw: Floats) -> tuple[Floats, Floats]:
    # Compiled: NumPy would take longer than the products before.
    slope, ones = np.empty_like(raw), np.ones(len(raw))
    if raw.ndim == 1:
        value_residual(loss.fused, raw, y, ones, 0, len(raw), slope)
    else:
        softmax_residual(loss.fused, raw, y, ones, slope)
    return slope, loss.fisher(raw, ones)
