"""Kernels: how similar two rows are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse

from bblr._numeric.arrays import as_dense, square_norms
from bblr._numeric.threads import map_ranges, one_blas_thread
from bblr.designs.gram.algebra import Algebra, Matrix

Floats = NDArray[np.float64]

KERNELS = ("rbf", "poly", "linear", "laplacian", "cosine", "precomputed")

# Rows of a block: large enough for BLAS, small enough to stay in a cache.
_ROWS = 512
# Features of a kernel are squared and added.
_LARGEST = 1e120
# Share of entries from which sparse rows are multiplied as full ones.
_DENSE = 0.05


@dataclass(frozen=True)
class KernelFunction:
    """K(x, z) of rows x and z.

    Parameters
    ----------
    name : str or callable
        "rbf": exp(-gamma |x - z|^2); "laplacian": exp(-gamma |x - z|_1); "poly":
        (gamma x'z + coef0)^degree; "linear": x'z; "cosine": x'z / |x| |z|; "precomputed": the
        rows hold the values; a callable gets two sets of rows and returns the matrix.
    gamma, degree, coef0 : float
        Parameters of those that have them.
    """

    name: str | Callable[[Any, Any], Any] = "rbf"
    gamma: float = 1.0
    degree: float = 3.0
    coef0: float = 0.0

    def __call__(self, X: Any, Z: Any) -> Floats:
        """Return the matrix of K(x, z), one row per x and one column per z."""
        if callable(self.name):
            return _checked(self.name(X, Z), X.shape[0], Z.shape[0])
        if self.name == "laplacian":
            from sklearn.metrics.pairwise import manhattan_distances

            with np.errstate(over="ignore", invalid="ignore"):
                distance = manhattan_distances(_short(X), _short(Z))
                distance = np.asarray(distance, dtype=np.float64)
                distance *= -self.gamma
                np.exp(distance, out=distance)
            if not np.isfinite(float(distance.sum())):
                raise self.overflow()
            return distance
        if self.name == "cosine":
            from sklearn.preprocessing import normalize

            X, Z = normalize(X), normalize(Z)
        # Beyond a few entries a row the product of full rows is the faster one.
        sparse = issparse(X)
        full = not sparse or X.nnz > _DENSE * X.shape[0] * X.shape[1]
        other = np.asarray(as_dense(Z), dtype=np.float64) if full else Z
        # Distances do not change with the origin, but those far from it lose their digits.
        with np.errstate(over="ignore", invalid="ignore"):
            origin = other.mean(axis=0) if full and self.name == "rbf" and len(other) else None
            if origin is not None:
                other = other - origin
            norms = square_norms(other) if self.name == "rbf" else np.zeros(0)
        out = np.empty((X.shape[0], Z.shape[0]))

        def part(_: int, start: int, stop: int) -> None:
            for s in range(start, stop, _ROWS):
                rows = slice(s, min(s + _ROWS, stop))
                block = X[rows]
                if full:
                    block = np.asarray(as_dense(block), dtype=np.float64)
                self._finish(block, origin, other, norms, out[rows])

        with one_blas_thread(Z.shape[0]):
            map_ranges(part, X.shape[0], out.size * X.shape[1] // 8)
        return out

    def _finish(
        self, block: Any, origin: Floats | None, other: Any, norms: Floats, out: Floats
    ) -> None:
        """Write the kernel of a block of rows with the others."""
        with np.errstate(over="ignore", invalid="ignore"):
            block = block if origin is None else block - origin
            self._write(block, other, norms, out)
            sound = self._sound(out)
        if not sound:
            raise self.overflow()

    def _sound(self, values: Floats) -> bool:
        """Return whether the values can be squared and added; those of "rbf" are at most 1."""
        if self.name == "rbf" or not values.size:
            return bool(np.isfinite(float(values.sum())))
        return bool(max(float(values.max()), -float(values.min())) <= _LARGEST)

    def overflow(self) -> ValueError:
        """Return what to raise where the kernel has values that cannot be computed with."""
        return ValueError(
            f"kernel={self.name!r} has values that are not finite, or beyond {_LARGEST:g}: the "
            "entries of X, kernel_gamma or degree are too large. Put a StandardScaler before it."
        )

    def _write(self, block: Any, other: Any, norms: Floats, out: Floats) -> None:
        product = as_dense(block @ other.T)
        if self.name == "rbf":
            np.multiply(product, 2.0, out=out)
            out -= square_norms(block)[:, None]
            out -= norms
            np.minimum(out, 0.0, out=out)
            out *= self.gamma
            np.exp(out, out=out)
        elif self.name == "poly":
            np.multiply(product, self.gamma, out=out)
            out += self.coef0
            np.power(out, self.degree, out=out)
        else:
            out[:] = product

    def diagonal(self, X: Any) -> Floats:
        """Return K(x, x) of each row."""
        if callable(self.name):
            blocks = [X[s : s + 64] for s in range(0, X.shape[0], 64)]
            return np.concatenate([np.diagonal(self(block, block)) for block in blocks])
        if self.name in ("rbf", "laplacian"):
            return np.ones(X.shape[0])
        with np.errstate(over="ignore"):
            values = square_norms(X)
            if self.name == "cosine":
                return (values > 0).astype(np.float64)
            if self.name == "poly":
                values = (self.gamma * values + self.coef0) ** self.degree
        if not self._sound(values):
            raise self.overflow()
        return values

    @property
    def definite(self) -> bool:
        """Whether the kernel is known to be positive semi-definite."""
        if self.name == "poly":
            return self.coef0 >= 0
        return isinstance(self.name, str) and self.name != "precomputed"


class Gram:
    """The kernel of every two rows of a set, computed as it is asked for.

    Parameters
    ----------
    function : KernelFunction
        The kernel.
    X : {ndarray, CSR matrix} of shape (n_rows, n_features)
        The rows; for a precomputed kernel the matrix itself.
    """

    def __init__(self, function: KernelFunction, X: Any) -> None:
        self.function = function
        self.X = X
        self.n_rows = int(X.shape[0])

    algebra: Algebra = Algebra()
    # A torch device, where the kernel is worked out on one.
    device: Any = None

    def like(self, function: KernelFunction, X: Any) -> Gram:
        """Return the kernel of other rows, or another kernel, worked out in the same place."""
        return Gram(function, X)

    def native(self, rows: Any, columns: Any) -> Matrix:
        """Return the same as `block`, where the algebra takes it."""
        return self.block(rows, columns)

    def block(self, rows: Any, columns: Any) -> Floats:
        """Return the values of some rows (a slice or numbers) with others (numbers)."""
        if self.function.name == "precomputed":
            return np.asarray(self.X[rows][:, columns], dtype=np.float64)
        return self.function(self.X[rows], self.X[columns])

    @cached_property
    def diagonal(self) -> Floats:
        """The value of each row with itself."""
        if self.function.name == "precomputed":
            return np.array(np.diagonal(self.X), dtype=np.float64)
        return self.function.diagonal(self.X)


def _short(X: Any) -> Any:
    """Return rows with indices of 32 bits if they are sparse: compiled code takes no others."""
    if not hasattr(X, "indices") or X.indices.dtype == np.int32:
        return X
    return csr_matrix((X.data, X.indices, X.indptr), shape=X.shape)


def _checked(values: Any, rows: int, columns: int) -> Floats:
    try:
        values = np.asarray(as_dense(values))
        if values.dtype.kind not in "biuf":
            raise ValueError(f"an array of {values.dtype}")
    except (TypeError, ValueError) as error:
        raise ValueError(f"kernel must return an array of numbers, got {error}.") from None
    values = values.astype(np.float64, copy=False)
    if values.shape != (rows, columns):
        raise ValueError(
            f"kernel must return an array of shape {(rows, columns)} for {rows} and {columns} "
            f"rows, got {values.shape}."
        )
    if not np.isfinite(values).all():
        raise ValueError("kernel must return finite values, got NaN or infinity.")
    return values
