"""Arrays and sparse matrices alike: what is asked of their numbers, and plain views of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

# Entries that may be written out in full to find equal rows.
_MOST_ENTRIES = 20_000_000


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


def leads_out(X: Any) -> bool:
    """Whether the indices of a CSR or CSC matrix lead out of it.

    Compiled code does not look; it would read whatever lies there. ``check_format`` of SciPy lets
    row pointers pass that go up and down again.
    """
    major, minor = X.shape if X.format == "csr" else X.shape[::-1]
    pointers, indices = X.indptr, X.indices
    if pointers.shape != (major + 1,) or indices.ndim != 1 or X.data.ndim != 1:
        return True
    if {pointers.dtype.kind, indices.dtype.kind} - {"i", "u"}:
        return True
    entries = int(pointers[-1])
    if pointers[0] != 0 or np.any(pointers[1:] < pointers[:-1]):
        return True
    if entries > min(len(indices), len(X.data)):
        return True
    used = indices[:entries]
    return entries > 0 and not 0 <= int(used.min()) <= int(used.max()) < minor


def plain_labels(y: Any) -> Any:
    """Return labels of pandas' own types as NumPy's of the same kind, and others as they are.

    scikit-learn turns nullable integers and truth values into floats, where integers beyond 2**53
    are no longer told apart. NumPy makes texts of numbers and NaN listed beside texts.
    """
    if isinstance(y, list | tuple):
        kinds = set(map(type, y))
        for text in (str, bytes):
            if 0 < sum(issubclass(kind, text) for kind in kinds) < len(kinds):
                return np.array(y, dtype=object)
        return y
    if hasattr(y, "iloc") and y.shape == (len(y), 1):
        return np.asarray(plain_labels(y.iloc[:, 0]))[:, np.newaxis]
    if np.ma.is_masked(y):
        raise missing_labels(np.flatnonzero(np.ma.getmaskarray(y)))
    dtype: Any = getattr(y, "dtype", None)
    if not hasattr(dtype, "na_value"):
        return y
    missing = np.flatnonzero(y.isna())
    if len(missing):
        raise missing_labels(missing)
    if hasattr(dtype, "categories"):
        return plain_labels(y.astype(dtype.categories.dtype))
    return np.asarray(y, dtype=getattr(dtype, "numpy_dtype", None))


def missing_labels(rows: Any) -> ValueError:
    """Return the error for labels that are missing in these rows."""
    return ValueError(
        f"Input y contains NaN: {len(rows)} label(s) are missing, the first in row {rows[0]}, "
        "counted from 0. Remove the rows without a label."
    )


def square_norms(X: Any) -> NDArray[np.float64]:
    """Return the squared length of each row of an array or a sparse matrix."""
    sparse = issparse(X)
    if sparse:
        return np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
    return np.einsum("ij,ij->i", X, X, dtype=np.float64)


def quantiles(
    values: NDArray[np.float64], weight: NDArray[np.float64], shares: Sequence[float]
) -> list[float]:
    """Return the least values that so large shares of the weight do not exceed."""
    # Up to rounding in the sum of the weights, which must not decide between two values.
    least = np.array(shares) * (1.0 - 1e-12)
    if weight.min() == weight.max():
        places = np.ceil(least * len(values)).astype(np.intp) - 1
        found = np.partition(values, places)[places]
    else:
        order = np.argsort(values)
        total = np.cumsum(weight[order])
        found = values[order[np.searchsorted(total, least * total[-1])]]
    numbers: list[float] = found.tolist()
    return numbers


def column_variances(X: Any, weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the variance of each column in rows of some weight."""
    share = weight / float(weight.sum())
    mean = np.asarray(share @ X, dtype=np.float64).ravel()
    sparse = issparse(X)
    if sparse:
        square = np.asarray(share @ X.multiply(X).tocsr()).ravel()
        return np.maximum(square - mean**2, 0.0)
    centred = X - mean
    return np.einsum("i,ij,ij->j", share, centred, centred)


def by_distances(X: Any) -> NDArray[np.intp]:
    """Return an order of the rows that neither the order of columns nor their signs change.

    Rows are ordered by their largest distance from the mean of a column, then by the second
    largest, and so on. Wide sparse rows are not centred.
    """
    sparse = issparse(X)
    if sparse and X.shape[0] * X.shape[1] > _MOST_ENTRIES:
        X = X.tocsr()
        spans = zip(X.indptr[:-1], X.indptr[1:], strict=True)
        keys = [tuple(-np.sort(-np.abs(X.data[a:b]))) for a, b in spans]
        return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.intp)
    X = as_dense(X).astype(np.float64)
    # Sums of pairs from both ends: to the last bit the same under other signs and orders.
    ordered = np.sort(X, axis=0) / len(X)
    middle = 0.5 * (ordered + ordered[::-1]).sum(axis=0)
    far = np.sort(np.abs(X - middle), axis=1)
    # The last key sorts first.
    return np.lexsort(far.T)


def equal_rows(X: Any, y: NDArray[Any] | None = None) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the first of each set of equal rows, and the set of each row.

    Small data are sorted by value, the same for sparse and dense; wide sparse data by their bytes.
    """
    labels = np.zeros(X.shape[0]) if y is None else y
    sparse = issparse(X)
    if not sparse or X.shape[0] * X.shape[1] <= _MOST_ENTRIES:
        table = np.column_stack([as_dense(X), labels])
        _, first, place = np.unique(table, axis=0, return_index=True, return_inverse=True)
        return first, place.ravel()
    X = X.tocsr(copy=True)
    X.sum_duplicates()
    X.eliminate_zeros()
    spans = zip(X.indptr[:-1], X.indptr[1:], labels, strict=True)
    keys = [
        X.indices[a:b].astype(np.int64).tobytes() + X.data[a:b].tobytes() + np.float64(c).tobytes()
        for a, b, c in spans
    ]
    order = {key: k for k, key in enumerate(sorted(set(keys)))}
    place = np.array([order[key] for key in keys], dtype=np.intp)
    return np.unique(place, return_index=True)[1], place


def plain_view(array: Any) -> Any:
    """Return a plain, formally writeable view of an array's own memory; no array as it is."""
    if not isinstance(array, np.ndarray) or (type(array) is np.ndarray and array.flags.writeable):
        return array
    return np.asarray(_Memory(array))
