"""Views of arrays as the kernels like them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse


class _Memory:
    """The memory of an array under an interface that says it may be written.

    numba compiles a second version of every kernel for read-only arrays, which is what memory
    maps and joblib's workers hand out. The kernels never write to their input, so one version
    serves.
    """

    def __init__(self, array: NDArray[Any]) -> None:
        self.owner = array
        self.__array_interface__ = {
            **array.__array_interface__,
            "data": (array.__array_interface__["data"][0], False),
        }


def as_dense(X: Any) -> NDArray[Any]:
    """Return an array or a sparse matrix as an array."""
    sparse = issparse(X)
    return np.asarray(X.toarray() if sparse else X)


def square_norms(X: Any) -> NDArray[np.float64]:
    """Return the squared length of each row of an array or a sparse matrix."""
    sparse = issparse(X)
    if sparse:
        return np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
    return np.einsum("ij,ij->i", X, X, dtype=np.float64)


def plain_view(array: NDArray[Any]) -> NDArray[Any]:
    """Return a plain, formally writeable view of the array's own memory."""
    if type(array) is np.ndarray and array.flags.writeable:
        return array
    return np.asarray(_Memory(array))
