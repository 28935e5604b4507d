"""What a design is: how rows become raw scores, and residuals become gradients."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bblr._numeric.layouts import layout
from bblr._numeric.sampling import systematic
from bblr.designs.rows import Rows, Vector
from bblr.losses import Loss

Floats = NDArray[np.float64]
Look = tuple[int | None, float, int, Floats]
"""A column (None for a column of ones), its centre, the score it moves, and steps along it."""


class Moments(NamedTuple):
    """Weighted sums over the rows, a number for each column."""

    total: float
    mean: Floats
    mean_square: Floats
    variance: Floats
    nonzero: Floats


class Pass(NamedTuple):
    """The results of one pass over the data.

    Value, gradient (score x feature), slopes by the intercepts, raw scores.
    """

    value: float
    gradient: Floats
    slopes: Floats
    raw: Vector


class Curvature(NamedTuple):
    """Z'WZ, Z'W1 and 1'W1 of some row weights W, with Z = X - centre."""

    cross: Floats
    edge: Floats
    total: float


def varying(scale: Floats) -> NDArray[np.intp]:
    """Return which columns have a parameter: those of finite scale, or the first if none has."""
    some = np.flatnonzero(np.isfinite(scale))
    return some if len(some) else np.arange(1)


class Design(ABC):
    """A matrix of n_rows x n_features seen only through products and two fused fast paths.

    A row has one score or more; labels are -1 and +1 in float64 with one, class numbers with more.
    Weights are float64. Methods keep nothing between calls.
    Per-row vectors are those of `rows`: NumPy arrays unless the design says otherwise.
    """

    n_rows: int
    n_features: int
    rows: Rows = Rows()
    # How many parameters to evaluate together; many where each evaluation is a round trip.
    batch: int = 1
    # Whether the rows are on another device or machine, which other processes cannot share.
    is_remote: bool = False
    # Whether a pass over all rows takes no longer than one over a sample.
    is_quick: bool = False
    # Whether the matrix is in memory and dense, so that copying a few entries is cheap.
    is_dense: bool = False

    # Whether the numbers are known to be double, so that there is nothing to narrow.
    is_double: bool = False

    @abstractmethod
    def scores(self, coef: Floats, intercepts: Floats) -> Vector:
        """Return X @ coef.T + intercepts; a single score per row has no second axis."""

    @abstractmethod
    def rmatvec(self, residual: Vector) -> Floats:
        """Return X.T @ residual of a per-row vector."""

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
    def column_squares(self, weight: Floats, centre: Floats) -> Floats:
        """Return the weighted sum of squares about the centre, a number for each column."""

    def sampled_curvature(
        self, weight: Vector, size: Vector, most: int, centre: Floats
    ) -> Curvature:
        """Return the second moments about the centre, of a sample where there are many rows.

        Beyond `most` rows of positive weight, about that many are drawn in proportion to
        weight * size: heavy tails make evenly drawn rows useless.
        """
        rows = np.flatnonzero(weight > 0.0)
        # Without a draw there is nothing to compile for one.
        rows, own = systematic(weight, size, most) if len(rows) > most else (rows, weight[rows])
        return self.curvature(rows, own, centre)

    def on_device(
        self,
        square_norm: Vector,
        centre: Floats,
        scale: Floats,
        fit_intercept: bool,
        dense: bool,
        **settings: Any,
    ) -> Any:
        """Return the objective as a function of parameters on the rows' device.

        None if the rows are in this process, or if it is not written for them. `dense` says
        whether the curvature of one score is a matrix; only then are lengths needed. `settings`
        are those of the objective.
        """
        return None

    def drawn(
        self, rows: NDArray[np.intp], centre: Floats, scale: Floats, fit_intercept: bool
    ) -> Any:
        """Return some rows in unit-free coordinates on their own device, None if that is here."""
        return None

    def taken(self, rows: NDArray[np.intp]) -> Design | None:
        """Return the design of some rows in ascending order, or None if that does not pay."""
        return None

    def some_rows(self, rows: NDArray[np.intp]) -> Floats | None:
        """Return a few rows in ascending order as an array, or None if they cannot be read."""
        taken = self.taken(rows)
        return None if taken is None else taken.table()

    def of_columns(self, columns: NDArray[np.intp]) -> Design | None:
        """Return the design of some columns, a copy, or None where that is not to be had."""
        return None

    def narrowed(self) -> Design:
        """Return the design at its fastest precision, for columns that are not far from zero."""
        return self

    def value_gradient(
        self, coef: Floats, intercepts: Floats, y: Vector, weight: Vector, loss: Loss
    ) -> Pass:
        """Return the weighted loss, its derivatives and the scores they were made of."""
        raw = self.scores(coef, intercepts)
        value, residual = loss.value_gradient(y, raw)
        # Row by row of the transpose: one score per row is one column.
        residual = np.ascontiguousarray(residual.T) * weight
        columns = np.atleast_2d(residual)
        gradient = np.stack([self.rmatvec(column) for column in columns])
        return Pass(float(value @ weight), gradient, columns.sum(axis=1), raw)

    def _probe(self, raw: Vector, look: Look, y: Vector, weight: Vector, loss: Loss) -> Floats:
        """Return the weighted loss with a score moved by each step along X[:, j] - centre."""
        j, centre, k, steps = look
        rows, values = self.direction(j, centre)
        if rows is None:
            return self.rows.probe(raw, values, k, steps, y, weight, loss)
        rest = weight.copy()
        rest[rows] = 0.0
        constant = float(loss.value_gradient(y, raw)[0] @ rest)
        some = self.rows.probe(raw[rows], values, k, steps, y[rows], weight[rows], loss)
        return constant + some

    def probes(
        self, raw: Vector, looks: Sequence[Look], y: Vector, weight: Vector, loss: Loss
    ) -> list[Floats]:
        """Return the weighted loss with a score moved by each step along X[:, j] - centre."""
        return [self._probe(raw, look, y, weight, loss) for look in looks]

    def direction(self, j: int | None, centre: float) -> tuple[NDArray[np.intp] | None, Floats]:
        """Return X[:, j] - centre, and the rows where it is not zero (None for all rows).

        The column None is one of ones.
        """
        if j is None:
            return None, self.rows.ones(range(self.n_rows))
        rows, values = self.column(j)
        if rows is not None and centre != 0.0:
            full = np.zeros(self.n_rows)
            full[rows] = values
            rows, values = None, full
        return rows, values - centre if centre != 0.0 else values

    def along(self, j: int | None, centre: float) -> Vector:
        """Return X[:, j] - centre as a per-row vector."""
        rows, values = self.direction(j, centre)
        if rows is None:
            return values
        full = np.zeros(self.n_rows)
        full[rows] = values
        return full

    def shifted(self, raw: Vector, j: int | None, centre: float, k: int, step: float) -> Vector:
        """Return the scores with score k moved by a step along X[:, j] - centre."""
        rows, values = self.direction(j, centre)
        if rows is None:
            return self.rows.moved(raw, values, k, step)
        raw = raw.copy()
        layout(raw).score(raw, k)[rows] += step * values
        return raw

    def axis_line(
        self, decision: Vector, j: int | None, centre: float, k: int, y: Vector, weight: Vector
    ) -> tuple[float, float, float]:
        """Return the best step of the zero-one loss along X[:, j] - centre, and what it saves.

        The errors before and after leave out the rows that do not move.
        """
        rows, values = self.direction(j, centre)
        where: Any = slice(None) if rows is None else rows
        some = decision[where]
        return self.rows.line(some, self.rows.lifted(values, k, some), y[where], weight[where])
