"""Sparse designs: CSR; column by column once more where passes or coordinate probes need it."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bblr._numeric.arrays import plain_view
from bblr._numeric.threads import map_ranges
from bblr.designs._kernels import sparse_passes as kernels
from bblr.designs._kernels.softmax_passes import csr_softmax
from bblr.designs.base import Curvature, Design, Floats, Moments, Pass
from bblr.designs.columns import ColumnBlocks, column_blocks
from bblr.designs.rows import Vector
from bblr.losses import Loss

# Where the variance is less than this share of the mean square, their difference has lost digits.
_NEAR = 1e-3


def _unsigned(index: NDArray[Any]) -> NDArray[Any]:
    # An unsigned index cannot count from the end, so numba drops a test in the innermost loop:
    # a third of the time of a pass.
    return plain_view(index).view(np.uint32 if index.dtype.itemsize == 4 else np.uint64)


class SparseDesign(Design):
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
        self._view()

    def _view(self) -> None:
        X = self.X
        self._arrays = (plain_view(X.data), _unsigned(X.indices), _unsigned(X.indptr))

    def taken(self, rows: NDArray[np.intp]) -> SparseDesign:
        """Return the design of some rows, a copy."""
        return SparseDesign(self.X[rows])

    def __getstate__(self) -> dict[str, Any]:
        # Views would be pickled as copies; what is made when needed can be made again.
        return {k: v for k, v in self.__dict__.items() if k not in ("_arrays", "_blocks", "_csc")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._view()

    @cached_property
    def _csc(self) -> Any:
        csc = self._csc_source if self._csc_source is not None else self.X.tocsc()
        return csc.data, csc.indices, csc.indptr

    @cached_property
    def _blocks(self) -> ColumnBlocks | None:
        # Made by the first pass with gradients: a fit has dozens of them, a prediction has none.
        return column_blocks(*self._arrays, self.n_features)

    def _sum_parts(self, kernel: Any, shape: tuple[int, ...], *args: Any) -> tuple[Floats, float]:
        # Private accumulators are the price of threads here: weights and sums travel from core to
        # core. With six to eight entries a column, as in wide text, two threads gain nothing.
        enough = int(self.X.nnz) >= 16 * int(np.prod(shape))

        def part(_: int, start: int, stop: int) -> tuple[Floats, float | None]:
            own = np.zeros(shape)
            return own, kernel(*self._arrays, *args, start, stop, own)

        parts = map_ranges(part, self.n_rows, self._work if enough else 0)
        total = parts[0][0]
        for own, _ in parts[1:]:
            total += own
        return total, sum(value for _, value in parts if value is not None)

    @property
    def _work(self) -> int:
        # An entry that is looked up costs several of a dense row, and so does the end of a row.
        return 6 * int(self.X.nnz) + 64 * self.n_rows

    def scores(self, coef: Floats, intercepts: Floats) -> Floats:
        """Return X @ coef.T + intercepts; a single score a row has no second axis."""
        columns = [self._scores(c, float(v)) for c, v in zip(coef, intercepts, strict=True)]
        return columns[0] if len(columns) == 1 else np.column_stack(columns)

    def _scores(self, coef: Floats, intercept: float) -> Floats:
        raw = np.empty(self.n_rows)

        def part(_: int, start: int, stop: int) -> None:
            kernels.csr_scores(*self._arrays, coef, intercept, start, stop, raw)

        map_ranges(part, self.n_rows, self._work // 2)
        return raw

    def rmatvec(self, residual: Floats) -> Floats:
        """Return X.T @ residual of a per-row vector."""
        return self._sum_parts(kernels.csr_pull, (self.n_features,), residual)[0]

    def value_gradient(
        self, coef: Floats, intercepts: Floats, y: Vector, weight: Floats, loss: Loss
    ) -> Pass:
        """Return the weighted loss and its derivatives and the scores, reading X once."""
        fused: Any = loss.fused
        if fused is None:
            return super().value_gradient(coef, intercepts, y, weight, loss)
        if len(coef) > 1:
            scores = np.empty((self.n_rows, len(coef)))
            gradient, value = self._sum_parts(
                csr_softmax, (self.n_features + 1, len(coef)),
                np.ascontiguousarray(coef.T), intercepts, y, weight, fused, scores,
            )  # fmt: skip
            return Pass(value, np.ascontiguousarray(gradient[:-1].T), gradient[-1], scores)
        own, intercept = np.ascontiguousarray(coef[0]), float(intercepts[0])
        if self._blocks is not None:
            value, gradient, raw = self._blocks.value_gradient(own, intercept, y, weight, fused)
        else:
            raw = np.empty(self.n_rows)
            gradient, value = self._sum_parts(
                kernels.csr_value_gradient,
                (self.n_features + 1,), own, intercept, y, weight, fused, raw,
            )  # fmt: skip
        return Pass(value, gradient[None, :-1], gradient[-1:], raw)

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
        sums, _ = self._sum_parts(kernels.csr_moments, (3, self.n_features), weight)
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

    def square_norm(self, centre: Floats, scale: Floats) -> Floats:
        """Return the squared length of each row, centred and scaled."""
        out = np.empty(self.n_rows)

        def part(_: int, start: int, stop: int) -> None:
            kernels.csr_square_norm(*self._arrays, centre, 1.0 / scale, start, stop, out)

        map_ranges(part, self.n_rows, self._work // 2)
        return out

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
        square = self._sum_parts(kernels.csr_square_pull, (self.n_features,), weight)[0]
        if np.any(centre):
            square += centre * (float(weight.sum()) * centre - 2.0 * self.rmatvec(weight))
        return np.maximum(square, 0.0)
