"""What a design is: how rows become raw scores, and residuals become gradients."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from bblr._numeric.fused import FusedLoss

Floats = NDArray[np.float64]


class ElementwiseLoss(Protocol):
    """What a design asks of a loss."""

    def value_gradient(self, y: Any, raw: Any) -> tuple[Floats, Floats]:
        """Return the cost of each example and its derivative by the raw score."""

    @property
    def fused(self) -> FusedLoss | None:
        """The loss as the fused kernels know it, or None."""


class Moments(NamedTuple):
    """Weighted sums over the rows, a number a column."""

    total: float
    mean: Floats
    mean_square: Floats
    variance: Floats
    nonzero: Floats


class Pass(NamedTuple):
    """What one pass over the data yields: value, gradient, slope by the intercept, raw scores."""

    value: float
    gradient: Floats
    slope: float
    raw: Floats


class ManyPass(NamedTuple):
    """The same for many classes: value, gradient (class x feature), slopes, raw scores."""

    value: float
    gradient: Floats
    slopes: Floats
    raw: Floats


class SoftmaxLoss(Protocol):
    """What a design asks of a loss of many classes."""

    @property
    def low(self) -> tuple[float, ...]:
        """Least probability of each class."""

    @property
    def gamma(self) -> float:
        """Sharpness."""

    @property
    def b(self) -> float:
        """Height above the plateaus."""

    def value_gradient(self, y: Any, raw: Any) -> tuple[Floats, Floats]:
        """Return the cost of each example and its derivatives by the raw scores."""


class Curvature(NamedTuple):
    """Z'WZ, Z'W1 and 1'W1 of some row weights W, with Z = X - centre."""

    cross: Floats
    edge: Floats
    total: float


class Design(ABC):
    """A matrix of n_rows x n_features seen only through products and two fused fast paths.

    Labels are -1 and +1 in float64, weights are float64. No method keeps anything between calls.
    """

    n_rows: int
    n_features: int

    @abstractmethod
    def scores(self, coef: Floats, intercept: float) -> Floats:
        """Return X @ coef + intercept."""

    @abstractmethod
    def pull(self, residual: Floats) -> Floats:
        """Return X.T @ residual."""

    @abstractmethod
    def table(self) -> Floats:
        """Return all numbers as one dense, row-major float64 array."""

    @abstractmethod
    def column(self, j: int) -> tuple[NDArray[np.intp] | None, Floats]:
        """Return a copy of the values of column j, and their rows (None for all rows)."""

    @abstractmethod
    def moments(self, weight: Floats) -> Moments:
        """Return the weighted moments of the columns."""

    @abstractmethod
    def square_norm(self, centre: Floats, scale: Floats) -> Floats:
        """Return the squared length of each row, centred and scaled."""

    @abstractmethod
    def curvature(self, rows: NDArray[np.intp], weight: Floats, centre: Floats) -> Curvature:
        """Return the second moments about the centre over the given rows.

        `weight` holds the weights of those rows alone.
        """

    @abstractmethod
    def square_pull(self, weight: Floats, centre: Floats) -> Floats:
        """Return the weighted sum of squares about the centre, a number a column."""

    def narrowed(self) -> Design:
        """Return the design at its fastest precision, where no column is far from zero."""
        return self

    def value_gradient(
        self, coef: Floats, intercept: float, y: Floats, weight: Floats, loss: ElementwiseLoss
    ) -> Pass:
        """Return the weighted loss, its derivatives and the scores they were made of."""
        raw = self.scores(coef, intercept)
        value, residual = loss.value_gradient(y, raw)
        residual = residual * weight
        return Pass(float(value @ weight), self.pull(residual), float(residual.sum()), raw)

    def many_scores(self, coef: Floats, intercepts: Floats) -> Floats:
        """Return X @ coef.T + intercepts, a column a class."""
        columns = [self.scores(c, float(v)) for c, v in zip(coef, intercepts, strict=True)]
        return np.column_stack(columns)

    def many_value_gradient(
        self, coef: Floats, intercepts: Floats, y: Any, weight: Floats, loss: SoftmaxLoss
    ) -> ManyPass:
        """Return the weighted loss of many classes, its derivatives and the scores."""
        raw = self.many_scores(coef, intercepts)
        value, residual = loss.value_gradient(y, raw)
        residual = residual * weight[:, None]
        gradient = np.stack([self.pull(np.ascontiguousarray(column)) for column in residual.T])
        return ManyPass(float(value @ weight), gradient, residual.sum(axis=0), raw)

    def probe(
        self,
        raw: Floats,
        j: int,
        centre: float,
        steps: Floats,
        y: Floats,
        weight: Floats,
        loss: ElementwiseLoss,
    ) -> Floats:
        """Return the weighted loss at raw + step * (X[:, j] - centre) for each of the steps."""
        rows, values = self.column(j)
        if rows is not None and centre != 0.0:
            full = np.zeros(self.n_rows)
            full[rows] = values
            rows, values = None, full
        if rows is None:
            values -= centre
            return probe_vector(raw, values, steps, y, weight, loss)
        rest = weight.copy()
        rest[rows] = 0.0
        constant = float(loss.value_gradient(y, raw)[0] @ rest)
        return constant + probe_vector(raw[rows], values, steps, y[rows], weight[rows], loss)


def probe_vector(
    raw: Floats, x: Floats, steps: Floats, y: Floats, weight: Floats, loss: ElementwiseLoss
) -> Floats:
    """Return the weighted loss at raw + step * x for each step, by the fastest way there is."""
    from bblr.designs._kernels.probe import probe_grid, probe_supported

    fused = loss.fused
    spacing = np.diff(steps)
    uniform = len(steps) > 1 and np.allclose(spacing, spacing[0], rtol=1e-9, atol=0.0)
    if fused is not None and uniform and probe_supported(fused):
        return probe_grid(fused, raw, x, y, weight, float(steps[0]), float(spacing[0]), len(steps))
    return np.array([float(loss.value_gradient(y, raw + step * x)[0] @ weight) for step in steps])
