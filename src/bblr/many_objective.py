"""The objective of many classes: a score for each, the Dirichlet-discrete loss, a prior."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from bblr._numeric.threads import one_blas_thread
from bblr.designs.base import Floats
from bblr.designs.rows import Rows, Vector
from bblr.designs.scaled import ScaledDesign
from bblr.losses import DirichletDiscrete
from bblr.penalties import Prior

# Up to this many features the eigenvectors of their second moments are cheap beside a descent.
_MAX_DENSE = 600
_ROWS_PER_FEATURE = 16
_MIN_ROWS = 4096


@dataclass(frozen=True, eq=False)
class ManyObjective:
    """sum_i weight_i * loss(y_i, raw_i(theta)) + prior(theta) with a row of theta for each class.

    Solvers see theta as one vector, class after class, each with its intercept last. Otherwise it
    is an :class:`~bblr.objective.Objective`, and every solver that asks for the methods of one
    runs on it.

    Parameters
    ----------
    loss : DirichletDiscrete
        Loss of all scores of an example.
    prior : Prior
        Prior on the weights of all classes; it never sees the intercepts.
    design : ScaledDesign
        The data in unit-free coordinates.
    y : row vector
        Class numbers.
    weight : row vector
        Weight of each row.
    counted : row vector or None
        Weights before the pull of far rows was bounded; None where it was not.
    each : tuple of float or None
        What one example of each class weighs, by its class alone; None for 1.
    """

    loss: DirichletDiscrete
    prior: Prior
    design: ScaledDesign
    y: Vector
    weight: Vector
    counted: Vector | None = None
    each: tuple[float, ...] | None = None

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.loss.low)

    @property
    def size(self) -> int:
        """Number of parameters."""
        return self.n_classes * self.design.size

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.design.design.n_rows

    @cached_property
    def unit(self) -> float:
        """The largest weight of a row, or 1 if less: what a tolerance is counted in."""
        return min(1.0, self.rows.largest(self.weight))

    @property
    def rows(self) -> Rows:
        """What can be done with a number a row."""
        return self.design.rows

    @property
    def batch(self) -> int:
        """How many parameters or directions are best looked at together."""
        return self.design.design.batch

    def by_class(self, theta: Floats) -> Floats:
        """Return theta with a row a class."""
        return theta.reshape(self.n_classes, self.design.size)

    def weights(self, theta: Floats) -> Floats:
        """Return the parameters that the prior sees."""
        return self.by_class(theta)[:, : self.design.n_features].ravel()

    def scores(self, theta: Floats) -> Vector:
        """Return the raw scores of every row, a column a class."""
        return self.design.many_scores(self.by_class(theta))

    def value(self, theta: Floats, raw: Vector | None = None) -> float:
        """Return the objective."""
        raw = self.scores(theta) if raw is None else raw
        cost = self.rows.cost(self.loss, self.y, raw, self.weight)
        return cost + self.prior.value(self.weights(theta))

    def value_gradient(self, theta: Floats) -> tuple[float, Floats, Vector]:
        """Return the objective, its gradient and the raw scores, in one pass over the data."""
        value, gradient, raw = self.design.many_value_gradient(
            self.by_class(theta), self.y, self.weight, self.loss
        )
        weights = self.weights(theta)
        slope = self.prior.gradient(weights)
        gradient[:, : self.design.n_features] += slope.reshape(self.n_classes, -1)
        return value + self.prior.value(weights), gradient.ravel(), raw

    def probe(self, theta: Floats, j: int, steps: Floats, raw: Vector | None = None) -> Floats:
        """Return the objective with each of the steps added to parameter j."""
        return self.probe_many(theta, (j,), steps, raw)[0]

    def probe_many(
        self, theta: Floats, js: Sequence[int], steps: Floats, raw: Vector | None = None
    ) -> list[Floats]:
        """Return the same for each of several parameters, looked at together."""
        raw = self.scores(theta) if raw is None else raw
        places = [divmod(j, self.design.size) for j in js]
        costs = self.design.many_probe(raw, places, steps, self.y, self.weight, self.loss)
        weights, d = self.weights(theta), self.design.n_features
        return [
            cost + (
                self.prior.value(weights)
                if p == d
                else self.prior.along(weights, k * d + p, steps)
            )
            for (k, p), cost in zip(places, costs, strict=True)
        ]  # fmt: skip

    def shifted(self, raw: Vector, j: int, step: float) -> Vector:
        """Return the raw scores after a step along parameter j."""
        k, p = divmod(j, self.design.size)
        return self.rows.moved(raw, self.design.along(p, self.weight), k, step)

    def line(self, raw: Vector, change: Vector) -> tuple[float, float]:
        """Return the step of fewest errors along a change of the scores, and the errors there."""
        decision = self.rows.decision(self.loss, raw)
        return self.rows.line(decision, change, self.y, self.weight, 0.0)[:2]

    def errors(self, theta: Floats, raw: Vector | None = None) -> float:
        """Return the weighted zero-one loss, strict: a tie is an error."""
        raw = self.scores(theta) if raw is None else raw
        return self.rows.errors(self.loss, self.y, raw, self.weight)

    def lines(self, raw: Vector, directions: Floats) -> list[tuple[float, float]]:
        """Return the same for each of several directions of the parameters."""
        changes = [self.scores(direction) for direction in directions]
        decision = self.rows.decision(self.loss, raw)
        lines = self.rows.lines(decision, changes, self.y, self.weight, 0.0)
        return [(step, errors) for step, errors, _ in lines]

    def with_gamma(self, gamma: float) -> Self:
        """Return the same objective with the loss sharpened."""
        return replace(self, loss=self.loss.sharpened(gamma))

    def with_loss(self, loss: DirichletDiscrete) -> Self:
        """Return the same objective under other plateaus."""
        return replace(self, loss=loss)

    def with_prior(self, prior: Prior) -> Self:
        """Return the same objective under another prior."""
        return replace(self, prior=prior)

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

    def fisher(self, raw: Vector) -> Vector:
        """Return the weight of each row times the Fisher information of its raw scores."""
        return self.rows.fisher(self.loss, raw, self.weight)

    def information(self, theta: Floats) -> list[Floats]:
        """Return, class by class, the Fisher information plus the prior's curvature."""
        d = self.design.n_features
        curvature = self.prior.curvature(self.weights(theta)).reshape(self.n_classes, d)
        found = []
        fisher = self.fisher(self.scores(theta))
        for k, floor in enumerate(curvature):
            own = self.rows.column(fisher, k)
            matrix = self.design.curvature(own, max_rows=self.n_rows)
            matrix[np.diag_indices(d)] += floor
            found.append(matrix)
        return found

    def preconditioner(self, theta: Floats, raw: Vector | None = None) -> Any:
        """Return an approximate inverse of the Fisher information plus the prior's curvature.

        Classes share the eigenvectors of the second moments of the features; each has its own
        scale. What they have to do with one another is left out.
        """
        raw = self.scores(theta) if raw is None else raw
        fisher = self.fisher(raw)
        totals = self.rows.sums(fisher)
        whole = self.rows.total(self.weight)
        # Where every example has left the slope nothing is known of the curvature.
        totals = np.maximum(totals, 1e-3 * max(float(totals.max()), 1e-3 * whole))
        mean = self.rows.means(fisher)
        total = self.rows.total(mean)
        if not total > 1e-12 * whole:
            mean, total = self.weight * 1e-3, 1e-3 * whole
        scale = totals / total
        d = self.design.n_features
        curvature = self.prior.curvature(self.weights(theta)).reshape(self.n_classes, d)
        even = bool(np.ptp(curvature) == 0.0)
        if d > _MAX_DENSE or self.design.uncorrelated or not even:
            square = self.design.square_pull(mean)[:d]
            diagonal = scale[:, None] * (square + 1e-3 * float(square.mean())) + curvature
            return _Precondition(None, diagonal, totals, self.design.fit_intercept)
        rows = max(_MIN_ROWS, _ROWS_PER_FEATURE * d)
        with one_blas_thread(d):
            moments = self.design.curvature(mean, max_rows=rows)[:d, :d]
            values, vectors = np.linalg.eigh(moments)
        values = np.maximum(values, 0.0) + 1e-3 * max(float(values.mean()), 0.0)
        diagonal = scale[:, None] * values + curvature
        return _Precondition(vectors, diagonal, totals, self.design.fit_intercept)


@dataclass(frozen=True, eq=False)
class _Precondition:
    """Per class: a diagonal in the coordinates of shared eigenvectors, and the intercept's own."""

    vectors: Floats | None
    diagonal: Floats
    totals: Floats
    fit_intercept: bool

    def __call__(self, vector: Floats) -> Floats:
        """Return the product with a vector."""
        classes, d = self.diagonal.shape
        theta = vector.reshape(classes, -1)
        out = np.empty_like(theta)
        own = theta[:, :d] if self.vectors is None else theta[:, :d] @ self.vectors
        own = own / np.maximum(self.diagonal, 1e-300)
        out[:, :d] = own if self.vectors is None else own @ self.vectors.T
        if self.fit_intercept:
            out[:, -1] = theta[:, -1] / self.totals
        return out.ravel()
