"""Dense designs: row-major or column-major, float32 or float64, never copied."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bblr._numeric.arrays import plain_view
from bblr._numeric.threads import map_ranges, one_blas_thread
from bblr.designs._kernels import dense_passes as kernels
from bblr.designs._kernels.passes import Passes
from bblr.designs.base import Curvature, Floats, Moments, Pass
from bblr.designs.matrix import MatrixDesign
from bblr.losses.fused_softmax import FusedSoftmax, softmax_residual

_CHUNK = 1024
# Rows of a block of many classes, at least, and numbers of one of few columns: it and its scores
# fit into a cache, and are worth the calls.
_BLOCK, _NUMBERS = 256, 2**16
# Numbers of a table that NumPy sums up as fast.
_FEW = 2**14


class DenseDesign(MatrixDesign):
    """A two-dimensional float32 or float64 array.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Used as it is; only an array that is contiguous in neither order is copied.
    narrow : bool, default=False
        Form the products of a float32 array in float32. It is then limited by memory alone, but
        columns far from zero lose their digits.
    """

    is_dense = True

    def __init__(self, X: NDArray[Any], narrow: bool = False) -> None:
        if not (X.flags.c_contiguous or X.flags.f_contiguous):
            X = np.ascontiguousarray(X)
        self.X = plain_view(X)
        self.n_rows, self.n_features = X.shape
        # A single column or row is contiguous both ways; rows are the default.
        self._by_rows = X.flags.c_contiguous
        self._product = X.dtype if narrow else np.dtype(np.float64)
        self.is_double = X.dtype == np.float64

    def __setstate__(self, state: dict[str, Any]) -> None:
        # joblib's workers unpickle large arrays as read-only memory maps.
        self.__dict__.update(state, X=plain_view(state["X"]))

    def narrowed(self) -> DenseDesign:
        """Return the same design with products in the precision of X."""
        return self if self._product == self.X.dtype else DenseDesign(self.X, narrow=True)

    def taken(self, rows: NDArray[np.intp]) -> DenseDesign:
        """Return the design of some rows, a copy in the same order."""
        some = self.X[rows] if self._by_rows else self.X.T[:, rows].T
        return DenseDesign(some, narrow=self._product == self.X.dtype)

    def of_columns(self, columns: NDArray[np.intp]) -> DenseDesign:
        """Return the design of some columns, a copy in the same order."""
        some = self.X[:, columns] if self._by_rows else self.X.T[columns].T
        return DenseDesign(some, narrow=self._product == self.X.dtype)

    @property
    def _arrays(self) -> tuple[NDArray[Any], ...]:
        return (self.X,)

    @property
    def _passes(self) -> Passes:
        return kernels.BY_ROWS if self._by_rows else kernels.BY_COLUMNS

    @property
    def _entries(self) -> int:
        return self.X.size

    _work = _entries

    def _narrowed(self, values: Floats) -> NDArray[Any]:
        return values.astype(self._product, copy=False)

    def scores(self, coef: Floats, intercepts: Floats) -> Floats:
        """Return X @ coef.T + intercepts; several scores by BLAS, a block of rows at a time."""
        if len(coef) == 1:
            return super().scores(coef, intercepts)
        raw = np.empty((self.n_rows, len(coef)))
        own = np.ascontiguousarray(coef.T, dtype=self._product)
        block = self._block

        def part(_: int, start: int, stop: int) -> None:
            for s in range(start, stop, block):
                e = min(s + block, stop)
                raw[s:e] = self._wide(s, e) @ own + intercepts

        with one_blas_thread(_BLOCK):
            map_ranges(part, self.n_rows, self.X.size * len(coef) // 4)
        return raw

    def _several_value_gradient(
        self, coef: Floats, intercepts: Floats, y: Any, weight: Floats, fused: FusedSoftmax
    ) -> Pass:
        """Multiply blocks of rows by BLAS; they stay in a cache in between."""
        d, classes = self.n_features, len(coef)
        raw = np.empty((self.n_rows, classes))
        own = np.ascontiguousarray(coef.T, dtype=self._product)
        block = self._block

        def part(_: int, start: int, stop: int) -> tuple[float, Floats, Floats]:
            value, gradient, slopes = 0.0, np.zeros((classes, d)), np.zeros(classes)
            residual, ones = np.empty((block, classes)), np.ones(block)
            for s in range(start, stop, block):
                e = min(s + block, stop)
                X, r = self._wide(s, e), residual[: e - s]
                np.matmul(X, own, out=raw[s:e])
                raw[s:e] += intercepts
                value += softmax_residual(fused, raw[s:e], y[s:e], weight[s:e], r)
                gradient += r.T.astype(self._product, copy=False) @ X
                slopes += ones[: e - s] @ r  # a sum over long, narrow columns takes thrice as long
            return value, gradient, slopes

        with one_blas_thread(_BLOCK):
            parts = map_ranges(part, self.n_rows, self.X.size * classes // 4)
        sums: Any = [sum(own) for own in zip(*parts, strict=True)]
        value, gradient, slopes = sums
        return Pass(value, gradient, slopes, raw)

    @property
    def _block(self) -> int:
        return min(max(_BLOCK, _NUMBERS // max(1, self.n_features)), 4 * _BLOCK)

    def _wide(self, start: int, stop: int) -> NDArray[Any]:
        return self.X[start:stop].astype(self._product, copy=False)

    def table(self) -> Floats:
        """Return all numbers as one dense, row-major float64 array."""
        return np.ascontiguousarray(self.X, dtype=np.float64)

    def column(self, j: int) -> tuple[None, Floats]:
        """Return a copy of column j as float64."""
        values = np.empty(self.n_rows)

        def part(_: int, start: int, stop: int) -> None:
            values[start:stop] = self.X[start:stop, j]

        # One entry a cache line: a row-major matrix gives up its column at the pace of its rows.
        map_ranges(part, self.n_rows, 8 * self.n_rows)
        return None, values

    def moments(self, weight: Floats) -> Moments:
        """Return the weighted moments of the columns, stable for columns far from zero."""
        shift = self.X[int(np.argmax(weight > 0))].astype(np.float64)
        return moments_of(self.moment_sums(weight, shift), float(weight.sum()), shift)

    def moment_sums(self, weight: Floats, shift: Floats) -> Floats:
        """Return the weighted sums that moments are made of, about a shift near the columns."""
        if self.X.size <= _FEW:
            # Sooner done than a pass is called, and nothing to compile.
            X = self.X.astype(np.float64, copy=False)
            if not weight.all():
                # Rows that do not count may hold anything: 0 times infinity is no number.
                X, weight = X[weight > 0.0], weight[weight > 0.0]
            apart = X - shift
            return np.array([weight @ apart, weight @ (apart * apart), weight @ (X != 0.0)])
        shape = (3, self.n_features)
        return self._sum_parts(self._passes.moments, shape, weight, shift)[0]

    def _chunks(self, rows: NDArray[np.intp], weight: Floats) -> Any:
        for s in range(0, len(rows), _CHUNK):
            some = self.X[rows[s : s + _CHUNK]]  # a copy, which the caller may change
            yield some.astype(np.float64, copy=False), weight[s : s + _CHUNK]

    def curvature(self, rows: NDArray[np.intp], weight: Floats, centre: Floats) -> Curvature:
        """Return the second moments about the centre over the given rows."""
        d = self.n_features

        def part(_: int, start: int, stop: int) -> tuple[Floats, Floats]:
            cross, edge = np.zeros((d, d)), np.zeros(d)
            for X, w in self._chunks(rows[start:stop], weight[start:stop]):
                X -= centre
                edge += w @ X
                X *= np.sqrt(w)[:, None]
                cross += X.T @ X
            return cross, edge

        with one_blas_thread(d):
            parts = map_ranges(part, len(rows), len(rows) * d * d // 8)
        cross, edge = parts[0]
        for other, more in parts[1:]:
            cross, edge = cross + other, edge + more
        return Curvature(cross, edge, float(weight.sum()))

    def column_squares(self, weight: Floats, centre: Floats) -> Floats:
        """Return the weighted sum of squares about the centre, a number for each column."""
        squares: Floats = self.moment_sums(weight, centre)[1]
        return squares


def moments_of(sums: Floats, total: float, shift: Floats) -> Moments:
    """Return the moments, given the sums of all rows about one shift."""
    offset, square, nonzero = sums / total
    variance = np.maximum(0.0, square - offset**2)
    mean = shift + offset
    return Moments(total, mean, variance + mean**2, variance, nonzero)


def surely_finite(X: Any) -> bool:
    """Whether an array holds finite numbers only; False also where that is not so clear."""
    if not isinstance(X, np.ndarray) or X.dtype not in (np.float32, np.float64):
        return False
    if not (X.flags.c_contiguous or X.flags.f_contiguous):
        return False
    flat = plain_view(X).ravel(order="K")
    sums = map_ranges(lambda _, start, stop: kernels.add_up(flat[start:stop]), X.size, X.size)
    return bool(np.isfinite(sum(sums)))
