"""Sparse designs: CSR; column by column once more where passes or coordinate probes need it."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bblr._numeric.arrays import plain_view
from bblr.designs._kernels import sparse_passes as kernels
from bblr.designs._kernels.softmax_passes import csr_softmax
from bblr.designs.base import Curvature, Floats, Moments, Pass
from bblr.designs.columns import ColumnBlocks, column_blocks
from bblr.designs.matrix import MatrixDesign

# Where the variance is less than this share of the mean square, their difference has lost digits.
_NEAR = 1e-3


def _unsigned(index: NDArray[Any]) -> NDArray[Any]:
    # An unsigned index cannot count from the end, so numba drops a test in the innermost loop:
    # a third of the time of a pass.
    return plain_view(index).view(np.uint32 if index.dtype.itemsize == 4 else np.uint64)


class SparseDesign(MatrixDesign):
    """A scipy sparse matrix or array.

    Parameters
    ----------
    X : CSR or CSC matrix or array of shape (n_rows, n_features), float32 or float64
        CSR is used as it is. A pass runs over rows, so CSC is converted once.

    Notes
    -----
    Where the columns are long, the passes with gradients run over a second form of the entries,
    :class:`~bblr.designs.columns.ColumnBlocks`, made when it is first needed. It takes 2 bytes an
    entry where all values are equal and 2 more than a value elsewhere.
    """

    def __init__(self, X: Any) -> None:
        self._csc_source = X if X.format == "csc" else None
        X = X.tocsr()
        if not X.has_canonical_format:
            # An entry in several pieces is their sum; the caller's matrix stays as it is.
            X = X.copy()
            X.sum_duplicates()
            self._csc_source = None
        self.X = X
        self.n_rows, self.n_features = X.shape

    @cached_property
    def _arrays(self) -> tuple[Any, Any, Any]:
        X = self.X
        return plain_view(X.data), _unsigned(X.indices), _unsigned(X.indptr)

    def taken(self, rows: NDArray[np.intp]) -> SparseDesign:
        """Return the design of some rows, a copy."""
        return SparseDesign(self.X[rows])

    def of_columns(self, columns: NDArray[np.intp]) -> SparseDesign:
        """Return the design of some columns, a copy."""
        return SparseDesign(self.X[:, columns])

    def __getstate__(self) -> dict[str, Any]:
        # Views would be pickled as copies; what is made when needed can be made again.
        return {k: v for k, v in self.__dict__.items() if k not in ("_arrays", "_blocks", "_csc")}

    @cached_property
    def _csc(self) -> Any:
        csc = self._csc_source if self._csc_source is not None else self.X.tocsc()
        return csc.data, csc.indices, csc.indptr

    @cached_property
    def _blocks(self) -> ColumnBlocks | None:
        # Made by the first pass with gradients: a fit has dozens of them, a prediction has none.
        return column_blocks(*self._arrays, self.n_features)

    _passes = kernels.BY_ENTRIES

    @property
    def _entries(self) -> int:
        return int(self.X.nnz)

    @property
    def _work(self) -> int:
        # An entry that is looked up costs several of a dense row, and so does the end of a row.
        return 6 * self._entries + 64 * self.n_rows

    def _one_value_gradient(self, *args: Any) -> tuple[float, Floats, Floats]:
        if self._blocks is None:
            return super()._one_value_gradient(*args)
        return self._blocks.value_gradient(*args)

    def _several_value_gradient(
        self, coef: Floats, intercepts: Floats, y: Any, weight: Floats, fused: Any
    ) -> Pass:
        raw = np.empty((self.n_rows, len(coef)))
        gradient, value = self._sum_parts(
            csr_softmax, (self.n_features + 1, len(coef)),
            np.ascontiguousarray(coef.T), intercepts, y, weight, fused, raw,
        )  # fmt: skip
        return Pass(value, np.ascontiguousarray(gradient[:-1].T), gradient[-1], raw)

    def table(self) -> Floats:
        """Return all numbers as one dense, row-major float64 array."""
        return np.ascontiguousarray(self.X.toarray(), dtype=np.float64)

    def column(self, j: int) -> tuple[NDArray[np.intp], Floats]:
        """Return the stored values of column j and their rows."""
        data, indices, indptr = self._csc
        span = slice(indptr[j], indptr[j + 1])
        return indices[span].astype(np.intp), data[span].astype(np.float64)

    def moments(self, weight: Floats) -> Moments:
        """Return the weighted moments of the columns."""
        sums, _ = self._sum_parts(self._passes.moments, (3, self.n_features), weight)
        total = float(weight.sum())
        mean, square, nonzero = sums / total
        variance = np.maximum(0.0, square - mean**2)
        if np.any(variance < _NEAR * square):
            variance = self._variance(weight, mean, total)
        return Moments(total, mean, square, variance, nonzero)

    def _variance(self, weight: Floats, mean: Floats, total: float) -> Floats:
        """Return the variance by a second pass, for columns far from zero beside their spread."""
        sums, _ = self._sum_parts(kernels.csr_squares_about, (2, self.n_features), weight, mean)
        square, stored = sums / total
        # What is stored in every row has no zeros, whatever the rounding.
        zeros = np.where(stored > 1.0 - 1e-12, 0.0, 1.0 - stored)
        return square + zeros * mean**2

    def curvature(self, rows: NDArray[np.intp], weight: Floats, centre: Floats) -> Curvature:
        """Return the second moments about the centre over the given rows."""
        half, edge = np.zeros((self.n_features, self.n_features)), np.zeros(self.n_features)
        kernels.csr_curvature(*self._arrays, rows, weight, half, edge)
        cross = half + half.T
        total = float(weight.sum())
        if np.any(centre):
            moved = np.outer(edge - 0.5 * total * centre, centre)
            cross -= moved + moved.T
        return Curvature(cross, edge - total * centre, total)

    def column_squares(self, weight: Floats, centre: Floats) -> Floats:
        """Return the weighted sum of squares about the centre, a number for each column."""
        shape = (2, self.n_features)
        square, stored = self._sum_parts(kernels.csr_squares_about, shape, weight, centre)[0]
        zeros = np.maximum(float(weight.sum()) - stored, 0.0)
        return square + zeros * centre**2
