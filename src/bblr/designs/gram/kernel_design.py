"""Kernel designs: features are similarities to centres, computed a block of rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from bblr.designs.base import Curvature, Design, Floats
from bblr.designs.blocked import BlockedDesign, RowNumbers
from bblr.designs.dense import DenseDesign
from bblr.designs.gram.centres import Basis
from bblr.designs.gram.kernel_function import Gram

# Numbers in a block that is computed and thrown away: 32 MiB.
_BLOCK = 4 * 2**20


def kernel_design(gram: Gram, basis: Basis, cache_bytes: float) -> Design:
    """Return the features K(x, centres) @ transform of all rows as a design.

    Where they fit into the cache this is a dense design; otherwise the rows beyond it are computed
    anew in each pass.
    """
    if gram.device is not None:
        from bblr.designs.torch.tensor_kernel import device_design

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


class KernelDesign(BlockedDesign):
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

    def _blocks(self, needed: RowNumbers | None = None) -> Iterator[tuple[slice, DenseDesign]]:
        start = self.cached.n_rows
        if start:
            yield slice(0, start), self.cached
        for s in range(start, self.n_rows, self.step):
            rows = slice(s, min(s + self.step, self.n_rows))
            yield rows, DenseDesign(self._features(rows))

    def curvature(self, rows: RowNumbers, weight: Floats, centre: Floats) -> Curvature:
        """Return the second moments about the centre over the given rows, which alone are made."""
        d = self.n_features
        cross, edge = np.zeros((d, d)), np.zeros(d)
        for s in range(0, len(rows), self.step):
            part = DenseDesign(self._features(rows[s : s + self.step]))
            own = weight[s : s + self.step]
            done = part.curvature(np.arange(part.n_rows), own, centre)
            cross += done.cross
            edge += done.edge
        return Curvature(cross, edge, float(weight.sum()))
