"""The objective of many classes: a score for each, the Dirichlet-discrete loss, a prior."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logsumexp

from bblr._numeric.threads import one_blas_thread
from bblr.designs.base import Floats
from bblr.designs.scaled import ScaledDesign
from bblr.losses import DirichletDiscrete
from bblr.priors import Prior

Codes = NDArray[np.intp]

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
    y : ndarray of shape (n_rows,)
        Class numbers.
    weight : ndarray of shape (n_rows,)
        Weight of each row.
    """

    loss: DirichletDiscrete
    prior: Prior
    design: ScaledDesign
    y: Codes
    weight: Floats

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.loss.low)

    @property
    def size(self) -> int:
        """Number of parameters."""
        return self.n_classes * self.design.size

    def by_class(self, theta: Floats) -> Floats:
        """Return theta with a row a class."""
        return theta.reshape(self.n_classes, self.design.size)

    def weights(self, theta: Floats) -> Floats:
        """Return the parameters that the prior sees."""
        return self.by_class(theta)[:, : self.design.n_features].ravel()

    def scores(self, theta: Floats) -> Floats:
        """Return the raw scores of every row, a column a class."""
        return self.design.many_scores(self.by_class(theta))

    def value(self, theta: Floats, raw: Floats | None = None) -> float:
        """Return the objective."""
        raw = self.scores(theta) if raw is None else raw
        cost = float(self.loss.value(self.y, raw) @ self.weight)
        return cost + self.prior.value(self.weights(theta))

    def value_gradient(self, theta: Floats) -> tuple[float, Floats, Floats]:
        """Return the objective, its gradient and the raw scores, in one pass over the data."""
        value, gradient, raw = self.design.many_value_gradient(
            self.by_class(theta), self.y, self.weight, self.loss
        )
        weights = self.weights(theta)
        slope = self.prior.gradient(weights)
        gradient[:, : self.design.n_features] += slope.reshape(self.n_classes, -1)
        return value + self.prior.value(weights), gradient.ravel(), raw

    def probe(self, theta: Floats, j: int, steps: Floats, raw: Floats | None = None) -> Floats:
        """Return the objective with each of the steps added to parameter j.

        Only the score of one class moves, so the others are summed up once: with z the score less
        the log of that sum, the class has softmax sigmoid(z) and the others share the rest.
        """
        raw = self.scores(theta) if raw is None else raw
        k, p = divmod(j, self.design.size)
        change = self._change(p)
        scores = self.loss.gamma * raw
        rest = logsumexp(np.delete(scores, k, axis=1), axis=1)
        own = self.y == k
        place = np.arange(len(self.y))
        # Of the others none exceeds their sum; what this says of the class itself is not used.
        share = np.exp(np.minimum(scores[place, self.y] - rest, 0.0))
        low, b = np.array(self.loss.low)[self.y], self.loss.b
        cost = np.empty(len(steps))
        for m, step in enumerate(steps):
            z = scores[:, k] + self.loss.gamma * step * change - rest
            risen = np.where(own, expit(z), share * expit(-z))
            with np.errstate(divide="ignore"):
                cost[m] = -float(self.weight @ np.log(np.maximum(low + b * risen, 1e-300)))
        weights = self.weights(theta)
        if p == self.design.n_features:
            return cost + self.prior.value(weights)
        return cost + self.prior.along(weights, k * self.design.n_features + p, steps)

    def _change(self, p: int) -> Floats:
        rows, values = self.design.direction(p)
        if rows is None:
            return values
        change = np.zeros(len(self.y))
        change[rows] = values
        return change

    def shifted(self, raw: Floats, j: int, step: float) -> Floats:
        """Return the raw scores after a step along parameter j."""
        k, p = divmod(j, self.design.size)
        raw = raw.copy()
        raw[:, k] += step * self._change(p)
        return raw

    def errors(self, theta: Floats, raw: Floats | None = None) -> float:
        """Return the weighted zero-one loss, strict: a tie is an error."""
        raw = self.scores(theta) if raw is None else raw
        return float(self.weight @ self.loss.wrong(self.y, raw))

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
        return replace(self, weight=self.weight * self.design.leverage(limit, self.weight))

    def fisher(self, raw: Floats) -> Floats:
        """Return the weight of each row times the Fisher information of its raw scores."""
        return self.weight[:, None] * self.loss.curvature(raw)

    def information(self, theta: Floats) -> list[Floats]:
        """Return, class by class, the Fisher information plus the prior's curvature."""
        d = self.design.n_features
        curvature = self.prior.curvature(self.weights(theta)).reshape(self.n_classes, d)
        found = []
        for own, floor in zip(self.fisher(self.scores(theta)).T, curvature, strict=True):
            matrix = self.design.curvature(np.ascontiguousarray(own), max_rows=len(self.y))
            matrix[np.diag_indices(d)] += floor
            found.append(matrix)
        return found

    def preconditioner(self, theta: Floats, raw: Floats | None = None) -> Any:
        """Return an approximate inverse of the Fisher information plus the prior's curvature.

        Classes share the eigenvectors of the second moments of the features; each has its own
        scale. What they have to do with one another is left out.
        """
        raw = self.scores(theta) if raw is None else raw
        fisher = self.fisher(raw)
        totals = fisher.sum(axis=0)
        # Where every example has left the slope nothing is known of the curvature.
        totals = np.maximum(totals, 1e-3 * max(float(totals.max()), 1e-3 * self.weight.sum()))
        mean = np.ascontiguousarray(fisher.mean(axis=1))
        if not mean.sum() > 1e-12 * self.weight.sum():
            mean = 1e-3 * self.weight
        scale = totals / float(mean.sum())
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
