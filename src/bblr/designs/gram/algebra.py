"""The linear algebra that kernels need, on NumPy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, solve_triangular

from bblr._numeric.tensors import as_numpy

Floats = NDArray[np.float64]
Matrix = Any
"""A matrix on the device of the rows: a NumPy array or a tensor."""

# Pivots closer to one another than this share of the largest are equal but for rounding.
_TIE = 1e-9


class Algebra:
    """Operations on matrices; what is small comes back as NumPy arrays."""

    def tensor(self, values: Floats) -> Matrix:
        """Return an array where the matrices are."""
        return values

    def zeros(self, rows: int, columns: int) -> Matrix:
        """Return a matrix of zeros."""
        return np.zeros((rows, columns))

    def eye(self, size: int) -> Matrix:
        """Return the identity."""
        return self.tensor(np.eye(size))

    def local(self, matrix: Matrix) -> Floats:
        """Return a matrix as a NumPy array."""
        return as_numpy(matrix)

    def eigh(self, matrix: Matrix) -> tuple[Floats, Matrix]:
        """Return the eigenvalues of a symmetric matrix, in rising order, and the vectors."""
        values, vectors = eigh(matrix, overwrite_a=True, check_finite=False)
        return values, vectors

    def times_columns(self, matrix: Matrix, factors: Floats) -> Matrix:
        """Return the matrix with its columns multiplied by numbers."""
        return matrix * self.tensor(factors)

    def solve_lower(self, factor: Matrix, right: Matrix) -> Matrix:
        """Return the solution of a lower triangular system."""
        return solve_triangular(factor, right, lower=True)

    def inverse_lower(self, factor: Matrix) -> Matrix:
        """Return the inverse of a lower triangular matrix."""
        return self.solve_lower(factor, self.eye(len(factor)))

    def square_rows(self, matrix: Matrix) -> Floats:
        """Return the squared length of each row."""
        return np.einsum("ij,ij->i", matrix, matrix)

    def pivoted(
        self, K: Matrix, tol: float, scale: Floats | None = None
    ) -> tuple[Matrix, NDArray[np.intp]]:
        """Return a pivoted Cholesky factor of K, and its pivots in order.

        A pivot is used while what is left of it exceeds `tol` times `scale`, by default the
        largest entry of the diagonal.
        """
        residual = np.array(np.diagonal(K))
        limit = tol * (np.full(len(K), residual.max(initial=0.0)) if scale is None else scale)
        factor = np.zeros_like(K)
        pivots: list[int] = []
        for k in range(len(K)):
            left = np.where(residual > limit, residual, 0.0)
            # Of rows that rounding alone tells apart the first: the same on every machine.
            j = int(np.argmax(left >= (1.0 - _TIE) * left.max()))
            if left[j] <= 0.0:
                break
            column = K[:, j] - factor[:, :k] @ factor[j, :k]
            factor[:, k] = column / np.sqrt(residual[j])
            residual -= factor[:, k] ** 2
            residual[j] = 0.0
            pivots.append(j)
        return factor[:, : len(pivots)], np.array(pivots, dtype=np.intp)
