"""Designs that never hold all rows: each pass goes over blocks of them, one at a time."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from bblr.designs.base import Curvature, Design, Floats, Moments, Pass
from bblr.designs.dense import DenseDesign, moments_of
from bblr.designs.rows import Vector
from bblr.losses import Loss

RowNumbers = NDArray[np.intp]


class BlockedDesign(Design):
    """A matrix seen a block of rows at a time, each as a dense design.

    Per-row vectors (labels, weights, scores) are kept for all rows; features only for one block.
    """

    @abstractmethod
    def _blocks(self, needed: RowNumbers | None = None) -> Iterator[tuple[slice, DenseDesign]]:
        """Yield the rows in order; blocks without any of the `needed` rows may be left out.

        `needed` is sorted. A block is valid until the next one is asked for.
        """

    def scores(self, coef: Floats, intercepts: Floats) -> Floats:
        """Return X @ coef.T + intercepts; a single score a row has no second axis."""
        raw = self._room(len(coef))
        for rows, block in self._blocks():
            raw[rows] = block.scores(coef, intercepts)
        return raw

    def _room(self, n_scores: int) -> Floats:
        return np.empty(self.n_rows if n_scores == 1 else (self.n_rows, n_scores))

    def rmatvec(self, residual: Floats) -> Floats:
        """Return X.T @ residual of a per-row vector."""
        total = np.zeros(self.n_features)
        for rows, block in self._blocks():
            total += block.rmatvec(residual[rows])
        return total

    def value_gradient(
        self, coef: Floats, intercepts: Floats, y: Vector, weight: Floats, loss: Loss
    ) -> Pass:
        """Return the weighted loss and its derivatives and the scores, block after block."""
        value, gradient, slopes = 0.0, np.zeros_like(coef), np.zeros(len(coef))
        raw = self._room(len(coef))
        for rows, block in self._blocks():
            done = block.value_gradient(coef, intercepts, y[rows], weight[rows], loss)
            value += done.value
            gradient += done.gradient
            slopes += done.slopes
            raw[rows] = done.raw
        return Pass(value, gradient, slopes, raw)

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

    def column_squares(self, weight: Floats, centre: Floats) -> Floats:
        """Return the weighted sum of squares about the centre, a number for each column."""
        total = np.zeros(self.n_features)
        for rows, block in self._blocks():
            total += block.column_squares(weight[rows], centre)
        return total
