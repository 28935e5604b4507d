"""Designs that never hold all rows: each pass goes over blocks of them, one at a time."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bblr.designs.base import (
    Curvature,
    Design,
    ElementwiseLoss,
    Floats,
    ManyPass,
    Moments,
    Pass,
    SoftmaxLoss,
)
from bblr.designs.dense import DenseDesign, moments_of

RowNumbers = NDArray[np.intp]


class BlockedDesign(Design):
    """A matrix seen a block of rows at a time, each as a dense design.

    A number a row (labels, weights, scores) is kept for all rows; features only for one block.
    """

    @abstractmethod
    def _blocks(self, needed: RowNumbers | None = None) -> Iterator[tuple[slice, DenseDesign]]:
        """Yield the rows in order; blocks without any of the `needed` rows may be left out.

        `needed` is sorted. A block is valid until the next one is asked for.
        """

    def scores(self, coef: Floats, intercept: float) -> Floats:
        """Return X @ coef + intercept."""
        raw = np.empty(self.n_rows)
        for rows, block in self._blocks():
            raw[rows] = block.scores(coef, intercept)
        return raw

    def pull(self, residual: Floats) -> Floats:
        """Return X.T @ residual."""
        total = np.zeros(self.n_features)
        for rows, block in self._blocks():
            total += block.pull(residual[rows])
        return total

    def value_gradient(
        self, coef: Floats, intercept: float, y: Floats, weight: Floats, loss: ElementwiseLoss
    ) -> Pass:
        """Return the weighted loss and its derivatives and the scores, each block made once."""
        value, slope, gradient = 0.0, 0.0, np.zeros(self.n_features)
        raw = np.empty(self.n_rows)
        for rows, block in self._blocks():
            done = block.value_gradient(coef, intercept, y[rows], weight[rows], loss)
            value += done.value
            slope += done.slope
            gradient += done.gradient
            raw[rows] = done.raw
        return Pass(value, gradient, slope, raw)

    def many_scores(self, coef: Floats, intercepts: Floats) -> Floats:
        """Return X @ coef.T + intercepts, each block made once."""
        raw = np.empty((self.n_rows, len(coef)))
        for rows, block in self._blocks():
            raw[rows] = block.many_scores(coef, intercepts)
        return raw

    def many_value_gradient(
        self, coef: Floats, intercepts: Floats, y: Any, weight: Floats, loss: SoftmaxLoss
    ) -> ManyPass:
        """Return the weighted loss of many classes and the rest, each block made once."""
        value, slopes, gradient = 0.0, np.zeros(len(coef)), np.zeros_like(coef)
        raw = np.empty((self.n_rows, len(coef)))
        for rows, block in self._blocks():
            done = block.many_value_gradient(coef, intercepts, y[rows], weight[rows], loss)
            value += done.value
            slopes += done.slopes
            gradient += done.gradient
            raw[rows] = done.raw
        return ManyPass(value, gradient, slopes, raw)

    def table(self) -> Floats:
        """Return all numbers as one dense array: they must fit into memory."""
        table = np.empty((self.n_rows, self.n_features))
        for rows, block in self._blocks():
            table[rows] = block.X
        return table

    def column(self, j: int) -> tuple[None, Floats]:
        """Return the values of column j."""
        values = np.empty(self.n_rows)
        for rows, block in self._blocks():
            values[rows] = block.column(j)[1]
        return None, values

    def moments(self, weight: Floats) -> Moments:
        """Return the weighted moments of the columns, stable for columns far from zero."""
        sums, shift = np.zeros((3, self.n_features)), None
        for rows, block in self._blocks():
            own = weight[rows]
            if shift is None and np.any(own > 0):
                # One shift for all: a column that is constant has no variance at all.
                shift = block.X[int(np.argmax(own > 0))].astype(np.float64)
            if shift is not None:
                sums += block.moment_sums(own, shift)
        shift = np.zeros(self.n_features) if shift is None else shift
        return moments_of(sums, float(weight.sum()), shift)

    def square_norm(self, centre: Floats, scale: Floats) -> Floats:
        """Return the squared length of each row, centred and scaled."""
        out = np.empty(self.n_rows)
        for rows, block in self._blocks():
            out[rows] = block.square_norm(centre, scale)
        return out

    def curvature(self, rows: RowNumbers, weight: Floats, centre: Floats) -> Curvature:
        """Return the second moments about the centre over the given rows."""
        d = self.n_features
        cross, edge = np.zeros((d, d)), np.zeros(d)
        order = np.argsort(rows, kind="stable")
        needed, own = rows[order], weight[order]
        for place, block in self._blocks(needed):
            part = slice(*np.searchsorted(needed, [place.start, place.stop]))
            done = block.curvature(needed[part] - place.start, own[part], centre)
            cross += done.cross
            edge += done.edge
        return Curvature(cross, edge, float(weight.sum()))

    def square_pull(self, weight: Floats, centre: Floats) -> Floats:
        """Return the weighted sum of squares about the centre, a number a column."""
        total = np.zeros(self.n_features)
        for rows, block in self._blocks():
            total += block.square_pull(weight[rows], centre)
        return total
