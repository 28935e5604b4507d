"""Designs that never hold all rows: each pass reads one block after the other."""

from __future__ import annotations

import operator
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bblr.designs.base import Curvature, Design, Floats, Moments, Pass
from bblr.designs.dense import DenseDesign, moments_of
from bblr.designs.rows import Vector
from bblr.losses import Loss

RowNumbers = NDArray[np.intp]


class BlockedDesign(Design):
    """A matrix read in blocks of rows, each a dense design.

    Per-row vectors (labels, weights, scores) are kept for all rows; features only for one block.
    """

    @abstractmethod
    def _blocks(self, needed: RowNumbers | None = None) -> Iterator[tuple[slice, DenseDesign]]:
        """Yield the rows in order; blocks without any of the `needed` rows may be left out.

        `needed` is sorted. A block is valid until the next one is asked for.
        """

    def _stacked(self, parts: Iterable[Floats]) -> Floats:
        """Return the results of all blocks, concatenated."""
        out, start = np.empty(0), 0
        for part in parts:
            if start == 0:
                out = np.empty((self.n_rows, *part.shape[1:]))
            out[start : start + len(part)] = part
            start += len(part)
        return out

    def scores(self, coef: Floats, intercepts: Floats) -> Floats:
        """Return X @ coef.T + intercepts; a single score per row has no second axis."""
        return self._stacked(block.scores(coef, intercepts) for _, block in self._blocks())

    def rmatvec(self, residual: Floats) -> Floats:
        """Return X.T @ residual of a per-row vector."""
        return np.asarray(sum(block.rmatvec(residual[rows]) for rows, block in self._blocks()))

    def value_gradient(
        self, coef: Floats, intercepts: Floats, y: Vector, weight: Floats, loss: Loss
    ) -> Pass:
        """Return the weighted loss and its derivatives and the scores, block by block."""
        sums: Any = [0.0, np.zeros_like(coef), np.zeros(len(coef))]

        def scores() -> Iterator[Floats]:
            for rows, block in self._blocks():
                done = block.value_gradient(coef, intercepts, y[rows], weight[rows], loss)
                sums[:] = map(operator.add, sums, done[:3])
                yield done.raw

        raw = self._stacked(scores())
        value, gradient, slopes = sums
        return Pass(value, gradient, slopes, raw)

    def table(self) -> Floats:
        """Return all numbers as one dense array: they must fit into memory."""
        return self._stacked(block.X for _, block in self._blocks())

    def column(self, j: int) -> tuple[None, Floats]:
        """Return the values of column j."""
        return None, self._stacked(block.column(j)[1] for _, block in self._blocks())

    def moments(self, weight: Floats) -> Moments:
        """Return the weighted moments of the columns, stable for columns far from zero."""
        sums, shift = np.zeros((3, self.n_features)), None
        for rows, block in self._blocks():
            own = weight[rows]
            if shift is None and np.any(own > 0):
                # One shift for all blocks: a constant column then has a variance of exactly 0.
                shift = block.X[int(np.argmax(own > 0))].astype(np.float64)
            if shift is not None:
                sums += block.moment_sums(own, shift)
        shift = np.zeros(self.n_features) if shift is None else shift
        return moments_of(sums, float(weight.sum()), shift)

    def square_norm(self, centre: Floats, scale: Floats) -> Floats:
        """Return the squared length of each row, centred and scaled."""
        return self._stacked(block.square_norm(centre, scale) for _, block in self._blocks())

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
        parts = (block.column_squares(weight[rows], centre) for rows, block in self._blocks())
        return np.asarray(sum(parts))
