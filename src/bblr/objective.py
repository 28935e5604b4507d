"""The objective joins the rooms: sum of weighted losses plus the prior, over one design."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Generic, Self, TypeVar

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from bblr._numeric.threads import one_blas_thread
from bblr.designs.base import Floats
from bblr.designs.rows import Rows, Vector
from bblr.designs.scaled import ScaledDesign
from bblr.losses.base import Loss
from bblr.penalties import Prior

LossT = TypeVar("LossT", bound=Loss)
OtherLoss = TypeVar("OtherLoss", bound=Loss)

# Up to this many parameters a dense matrix of second derivatives is cheap beside a pass.
_MAX_DENSE = 1500
# Rows of the sample from which that matrix is made, as a multiple of the parameters.
_ROWS_PER_PARAMETER = 16
_MIN_ROWS = 4096


@dataclass(frozen=True, eq=False)
class Objective(Generic[LossT]):
    """sum_i weight_i * loss(y_i, raw_i(theta)) + prior(theta), as a pure function of theta.

    No score is kept between calls; a caller that holds the scores of theta may hand them in.

    Parameters
    ----------
    loss : Loss
        Elementwise loss.
    prior : Prior
        Prior on the weights; it never sees the intercept.
    design : ScaledDesign
        The data in unit-free coordinates.
    y : row vector
        Labels, -1 or +1.
    weight : row vector
        Weight of each row.
    counted : row vector or None
        Weights before the pull of far rows was bounded; None where it was not.
    each : tuple of float or None
        What one example of each class weighs, by its class alone; None for 1.

    Notes
    -----
    Labels, weights and scores are vectors of the design's own kind, see `designs/rows.py`.
    """

    loss: LossT
    prior: Prior
    design: ScaledDesign
    y: Vector
    weight: Vector
    counted: Vector | None = None
    each: tuple[float, ...] | None = None

    @property
    def size(self) -> int:
        """Number of parameters."""
        return self.design.size

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.design.design.n_rows

    @property
    def rows(self) -> Rows:
        """What can be done with a number a row."""
        return self.design.rows

    @property
    def batch(self) -> int:
        """How many parameters or directions are best looked at together."""
        return self.design.design.batch

    def weights(self, theta: Floats) -> Floats:
        """Return the parameters that the prior sees."""
        return theta[: self.design.n_features]

    def scores(self, theta: Floats) -> Vector:
        """Return the raw score of every row."""
        return self.design.scores(theta)

    def value(self, theta: Floats, raw: Vector | None = None) -> float:
        """Return the objective."""
        raw = self.scores(theta) if raw is None else raw
        cost = self.rows.cost(self.loss, self.y, raw, self.weight)
        return cost + self.prior.value(self.weights(theta))

    def value_gradient(self, theta: Floats) -> tuple[float, Floats, Vector]:
        """Return the objective, its gradient and the raw scores, in one pass over the data."""
        value, gradient, raw = self.design.value_gradient(theta, self.y, self.weight, self.loss)
        weights = self.weights(theta)
        gradient[: len(weights)] += self.prior.gradient(weights)
        return value + self.prior.value(weights), gradient, raw

    def probe(self, theta: Floats, j: int, steps: Floats, raw: Vector | None = None) -> Floats:
        """Return the objective with each of the steps added to parameter j."""
        return self.probe_many(theta, (j,), steps, raw)[0]

    def probe_many(
        self, theta: Floats, js: Sequence[int], steps: Floats, raw: Vector | None = None
    ) -> list[Floats]:
        """Return the same for each of several parameters, looked at together."""
        raw = self.scores(theta) if raw is None else raw
        costs = self.design.probe_many(raw, js, steps, self.y, self.weight, self.loss)
        weights = self.weights(theta)
        return [
            cost + (
                self.prior.value(weights)
                if j == len(weights)
                else self.prior.along(weights, j, steps)
            )
            for j, cost in zip(js, costs, strict=True)
        ]  # fmt: skip

    def errors(self, theta: Floats, raw: Vector | None = None) -> float:
        """Return the weighted zero-one loss, strict: a score on the threshold is an error."""
        raw = self.scores(theta) if raw is None else raw
        return self.rows.errors(self.loss, self.y, raw, self.weight)

    def pull(self, residual: Vector) -> Floats:
        """Return the transpose product of the data in parameter space with a number a row."""
        return self.design.pull(residual)

    def shifted(self, raw: Vector, j: int, step: float) -> Vector:
        """Return the raw scores after a step along parameter j."""
        return self.design.shifted(raw, j, step)

    def line(self, raw: Vector, change: Vector) -> tuple[float, float]:
        """Return the step of fewest errors along a change of the scores, and the errors there."""
        return self.rows.line(raw, change, self.y, self.weight, self.loss.threshold)[:2]

    def axis_line(self, raw: Vector, j: int) -> tuple[float, float]:
        """Return the step of fewest errors along parameter j, and how many fewer they are."""
        step, errors, before = self.design.axis_line(
            raw, j, self.y, self.weight, self.loss.threshold
        )
        return step, before - errors

    def lines(self, raw: Vector, directions: Floats) -> list[tuple[float, float]]:
        """Return the same for each of several directions of the parameters."""
        changes = [self.scores(direction) for direction in directions]
        lines = self.rows.lines(raw, changes, self.y, self.weight, self.loss.threshold)
        return [(step, errors) for step, errors, _ in lines]

    def with_gamma(self, gamma: float) -> Self:
        """Return the same objective with the loss sharpened."""
        return replace(self, loss=self.loss.sharpened(gamma))

    def bounded(self, limit: float) -> Self:
        """Return the same objective with the pull of far rows bounded (Mallows' weights)."""
        weight = self.weight * self.design.leverage(limit, self.weight)
        counted = self.weight if self.counted is None else self.counted
        return replace(self, weight=weight, counted=counted)

    def unbounded(self) -> Self:
        """Return the same objective with all rows counted alike again."""
        if self.counted is None:
            return self
        return replace(self, weight=self.counted, counted=None)

    def training_errors(self, theta: Floats, raw: Vector | None = None) -> float:
        """Return the zero-one loss by the weights that rows have before any bound."""
        raw = self.scores(theta) if raw is None else raw
        weight = self.weight if self.counted is None else self.counted
        return self.rows.errors(self.loss, self.y, raw, weight)

    def with_loss(self, loss: OtherLoss) -> Objective[OtherLoss]:
        """Return the same objective under another loss."""
        return Objective(
            loss, self.prior, self.design, self.y, self.weight, self.counted, self.each
        )

    def with_prior(self, prior: Prior) -> Self:
        """Return the same objective under another prior."""
        return replace(self, prior=prior)

    def information(self, theta: Floats) -> list[Floats]:
        """Return the Fisher information plus the prior's curvature, over all rows.

        It is the only one in a list: of many classes there is one for each.
        """
        weights = self.weights(theta)
        matrix = self.design.curvature(self.fisher(self.scores(theta)), max_rows=self.n_rows)
        matrix[np.diag_indices(len(weights))] += self.prior.curvature(weights)
        return [matrix]

    def preconditioner(
        self, theta: Floats, raw: Vector | None = None
    ) -> Callable[[Floats], Floats]:
        """Return the inverse of a curvature at theta that is never negative, prior included.

        Where it is but a diagonal the Fisher information serves.
        """
        raw = self.scores(theta) if raw is None else raw
        dense = self.size <= _MAX_DENSE and not self.design.uncorrelated
        weight = self.rows.bend(self.loss, self.y, raw, self.weight) if dense else self.fisher(raw)
        floor = np.zeros(self.size)
        weights = self.weights(theta)
        floor[: len(weights)] = self.prior.curvature(weights)
        # Where every example has left the slope of the loss nothing is known of the curvature; a
        # thousandth of its mean keeps the step finite.
        least = 1e-6 * self._whole / self.size
        rows = max(_MIN_ROWS, _ROWS_PER_PARAMETER * self.size)
        solve = self.design.newton(weight, rows, floor, least) if dense else None
        if solve is not None:
            return solve
        floor += max(1e-3 * self.rows.total(weight) / self.size, least)
        if not dense:
            return Preconditioner(diagonal=self.design.square_pull(weight) + floor)
        matrix = self.design.curvature(weight, max_rows=rows)
        matrix.flat[:: len(matrix) + 1] += floor
        diagonal = np.maximum(matrix.diagonal(), floor)
        with one_blas_thread(self.size):
            # LAPACK itself: scipy's wrappers cost more than a small factorisation.
            factor, failed = dpotrf(matrix, lower=1, overwrite_a=1)
        if failed:
            return Preconditioner(diagonal=diagonal)
        return Preconditioner(factor=factor)

    @cached_property
    def unit(self) -> float:
        """The largest weight of a row, or 1 if less: what a tolerance is counted in."""
        return min(1.0, self.rows.largest(self.weight))

    @cached_property
    def _whole(self) -> float:
        return self.rows.total(self.weight)

    def fisher(self, raw: Vector) -> Vector:
        """Return the weight of each row times the Fisher information of its raw score."""
        return self.rows.fisher(self.loss, raw, self.weight)


@dataclass(frozen=True, eq=False)
class Preconditioner:
    """An approximate inverse Hessian: a lower Cholesky factor, or a diagonal where d is large."""

    factor: Floats | None = None
    diagonal: Floats | None = None

    def __call__(self, vector: Floats) -> Floats:
        """Return the product with a vector."""
        if self.factor is not None:
            return np.asarray(dpotrs(self.factor, vector, lower=1)[0])
        return vector / np.asarray(self.diagonal)
