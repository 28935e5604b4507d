"""Kernel designs: features are similarities to centres, computed a block of rows at a time."""

from __future__ import annotations

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
from bblr.designs.centres import Basis
from bblr.designs.dense import DenseDesign
from bblr.designs.kernel_function import Gram

# Numbers in a block that is computed and thrown away: 32 MiB.
_BLOCK = 4 * 2**20


def kernel_design(gram: Gram, basis: Basis, cache_bytes: float) -> Design:
    """Return the features K(x, centres) @ transform of all rows as a design.

    Where they fit into the cache this is a dense design; otherwise the rows beyond it are computed
    anew in each pass.
    """
    if gram.device is not None:
        from bblr.designs.torch_kernel import device_design

        return device_design(gram, basis)
    n, m = gram.n_rows, basis.transform.shape[1]
    cached = min(n, int(cache_bytes // (8 * max(m, 1))))
    features = np.empty((cached, m))
    step = max(1, _BLOCK // max(len(basis.centres), m, 1))
    for s in range(0, cached, step):
        rows = slice(s, min(s + step, cached))
        np.matmul(gram.block(rows, basis.centres), basis.transform, out=features[rows])
    dense = DenseDesign(features)
    return dense if cached == n else KernelDesign(gram, basis, dense, step)


class KernelDesign(Design):
    """Features of which the first rows are kept, and the others computed as they are needed.

    Parameters
    ----------
    gram : Gram
        The kernel and the rows.
    basis : Basis
        Centres and coordinates.
    cached : DenseDesign
        Features of the first rows.
    step : int
        Rows of the other blocks.
    """

    def __init__(self, gram: Gram, basis: Basis, cached: DenseDesign, step: int) -> None:
        self.gram = gram
        self.basis = basis
        self.cached = cached
        self.step = step
        self.n_rows = gram.n_rows
        self.n_features = basis.transform.shape[1]

    def _features(self, rows: Any) -> Floats:
        return self.gram.block(rows, self.basis.centres) @ self.basis.transform

    def _blocks(self) -> Iterator[tuple[slice, DenseDesign]]:
        start = self.cached.n_rows
        if start:
            yield slice(0, start), self.cached
        for s in range(start, self.n_rows, self.step):
            rows = slice(s, min(s + self.step, self.n_rows))
            yield rows, DenseDesign(self._features(rows))

    def scores(self, coef: Floats, intercept: float) -> Floats:
        """Return the features @ coef + intercept."""
        parts = [block.scores(coef, intercept) for _, block in self._blocks()]
        return np.concatenate(parts)

    def pull(self, residual: Floats) -> Floats:
        """Return the transpose product with the features."""
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

    def many_scores(self, coef: Floats, intercepts: Floats) -> Floats:
        """Return the features @ coef.T + intercepts, each block made once."""
        return np.concatenate([b.many_scores(coef, intercepts) for _, b in self._blocks()])

    def table(self) -> Floats:
        """Return all features as one dense array."""
        return np.concatenate([block.table() for _, block in self._blocks()])

    def column(self, j: int) -> tuple[None, Floats]:
        """Return the values of feature j."""
        values = np.empty(self.n_rows)
        for rows, block in self._blocks():
            values[rows] = block.column(j)[1]
        return None, values

    def moments(self, weight: Floats) -> Moments:
        """Return the weighted moments of the features."""
        total = float(weight.sum())
        mean, square, nonzero = np.zeros((3, self.n_features))
        for rows, block in self._blocks():
            w = weight[rows]
            mean += w @ block.X / total
            square += w @ block.X**2 / total
            nonzero += w @ (block.X != 0) / total
        return Moments(total, mean, square, np.maximum(square - mean**2, 0.0), nonzero)

    def square_norm(self, centre: Floats, scale: Floats) -> Floats:
        """Return the squared length of each row, centred and scaled."""
        return np.concatenate([block.square_norm(centre, scale) for _, block in self._blocks()])

    def curvature(self, rows: NDArray[np.intp], weight: Floats, centre: Floats) -> Curvature:
        """Return the second moments about the centre over the given rows."""
        d = self.n_features
        cross, edge = np.zeros((d, d)), np.zeros(d)
        for s in range(0, len(rows), self.step):
            part = DenseDesign(self._features(rows[s : s + self.step]))
            own = weight[s : s + self.step]
            done = part.curvature(np.arange(part.n_rows), own, centre)
            cross += done.cross
            edge += done.edge
        return Curvature(cross, edge, float(weight.sum()))

    def square_pull(self, weight: Floats, centre: Floats) -> Floats:
        """Return the weighted sum of squares about the centre, a number a feature."""
        total = np.zeros(self.n_features)
        for rows, block in self._blocks():
            total += block.square_pull(weight[rows], centre)
        return total
