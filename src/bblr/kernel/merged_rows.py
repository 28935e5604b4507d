"""Equal rows: found, and merged into one with their weight."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from bblr._numeric.arrays import as_dense

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

# Entries that may be written out in full to find equal rows.
_MOST_ENTRIES = 20_000_000


def merged_rows(X: Any, y: Floats, weight: Floats) -> tuple[Rows, Floats]:
    """Return one of each set of equal rows of one class, and the weight of the set.

    Rows of zero weight are left out. The order depends on the values alone, so that a row of
    weight 2 does what two rows do, to the last bit, whatever is drawn or cut off on the way.
    """
    rows = np.flatnonzero(weight > 0)
    first, place = groups(X[rows], y[rows])
    total = np.bincount(place, weight[rows])
    return rows[first], np.asarray(total, dtype=np.float64)


def groups(X: Any, y: Floats | None = None) -> tuple[Rows, Rows]:
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
