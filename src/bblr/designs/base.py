"""What a design is: how rows become raw scores, and residuals become gradients."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from bblr._numeric.fused import FusedLoss
from bblr._numeric.zero_one import exact_line
from bblr.designs.rows import Rows, Vector, sample

Floats = NDArray[np.float64]
Look = tuple[int | None, float, Floats]
"""A column (None for a column of ones), its centre, and steps along it."""


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
    raw: Vector


class ManyPass(NamedTuple):
    """The same for many classes: value, gradient (class x feature), slopes, raw scores."""

    value: float
    gradient: Floats
    slopes: Floats
    raw: Vector


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
    What is a number a row is a vector of `rows`: a NumPy array unless the design says otherwise.
    """

    n_rows: int
    n_features: int
    rows: Rows = Rows()
    # How many parameters are best looked at together; many where each look is a journey.
    batch: int = 1
    # Whether the rows are on another chip or machine, which other processes cannot share.
    elsewhere: bool = False

    @abstractmethod
    def scores(self, coef: Floats, intercept: float) -> Vector:
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
    def square_norm(self, centre: Floats, scale: Floats) -> Vector:
        """Return the squared length of each row, centred and scaled."""

    @abstractmethod
    def curvature(self, rows: NDArray[np.intp], weight: Floats, centre: Floats) -> Curvature:
        """Return the second moments about the centre over the given rows.

        `weight` holds the weights of those rows alone.
        """

    @abstractmethod
    def square_pull(self, weight: Floats, centre: Floats) -> Floats:
        """Return the weighted sum of squares about the centre, a number a column."""

    def sampled_curvature(
        self, weight: Vector, size: Vector, most: int, centre: Floats
    ) -> Curvature:
        """Return the second moments about the centre, of a sample where there are many rows.

        Beyond `most` rows of positive weight, about that many are drawn in proportion to
        weight * size: heavy tails make evenly drawn rows useless.
        """
        return self.curvature(*sample(weight, size, most), centre)

    def newton(
        self,
        weight: Vector,
        size: Vector,
        most: int,
        centre: Floats,
        scale: Floats,
        floor: Floats,
        least: float,
        fit_intercept: bool,
    ) -> Callable[[Floats], Floats] | None:
        """Return what solves systems of a sampled, scaled curvature plus a diagonal.

        None leaves it to the caller: only a device gains by keeping the matrix where the rows are.
        """
        return None

    def taken(self, rows: NDArray[np.intp]) -> Design | None:
        """Return the design of some rows in ascending order, or None where that is no gain."""
        return None

    def some_rows(self, rows: NDArray[np.intp]) -> Floats | None:
        """Return a few rows in ascending order as an array, or None where they cannot be had."""
        taken = self.taken(rows)
        return None if taken is None else taken.table()

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

    def many_scores(self, coef: Floats, intercepts: Floats) -> Vector:
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
        rows, values = self.direction(j, centre)
        if rows is None:
            return self.rows.probe(raw, values, steps, y, weight, loss)
        rest = weight.copy()
        rest[rows] = 0.0
        constant = float(loss.value_gradient(y, raw)[0] @ rest)
        some = self.rows.probe(raw[rows], values, steps, y[rows], weight[rows], loss)
        return constant + some

    def probes(
        self, raw: Vector, looks: Sequence[Look], y: Vector, weight: Vector, loss: ElementwiseLoss
    ) -> list[Floats]:
        """Return the same for several columns."""
        rows = self.rows
        return [
            rows.probe(raw, rows.ones(raw), steps, y, weight, loss)
            if j is None
            else self.probe(raw, j, centre, steps, y, weight, loss)
            for j, centre, steps in looks
        ]

    def direction(self, j: int, centre: float) -> tuple[NDArray[np.intp] | None, Floats]:
        """Return X[:, j] - centre, and the rows where it is not zero (None for all rows)."""
        rows, values = self.column(j)
        if rows is not None and centre != 0.0:
            full = np.zeros(self.n_rows)
            full[rows] = values
            rows, values = None, full
        return rows, values - centre if centre != 0.0 else values

    def along(self, j: int, centre: float) -> Vector:
        """Return X[:, j] - centre as a row vector."""
        rows, values = self.direction(j, centre)
        if rows is None:
            return values
        full = np.zeros(self.n_rows)
        full[rows] = values
        return full

    def shifted(self, raw: Vector, j: int, centre: float, step: float) -> Vector:
        """Return raw + step * (X[:, j] - centre)."""
        rows, values = self.direction(j, centre)
        if rows is None:
            return raw + step * values
        raw = raw.copy()
        raw[rows] += step * values
        return raw

    def axis_line(
        self, raw: Vector, j: int, centre: float, y: Vector, weight: Vector, threshold: float
    ) -> tuple[float, float, float]:
        """Return the best step of the zero-one loss along X[:, j] - centre, and what it saves.

        The errors there and here leave out the rows that do not move.
        """
        rows, values = self.direction(j, centre)
        where: Any = slice(None) if rows is None else rows
        step, errors, before = exact_line(raw[where] - threshold, values, y[where], weight[where])
        return float(step), float(errors), float(before)
