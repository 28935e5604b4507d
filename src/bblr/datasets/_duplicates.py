"""Rows that occur more than once."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

__all__ = ["across", "not_in", "within"]

_DIGEST_SIZE = 16


def within(X: Any) -> int:
    """Count the rows that repeat an earlier row, whatever their labels."""
    keys = _row_keys(X)
    return len(keys) - len(set(keys))


def across(X_train: Any, X_test: Any) -> dict[str, int]:
    """Count the rows of each part that repeat an earlier one, and the test rows seen in training.

    Parameters
    ----------
    X_train, X_test : array or sparse matrix
        The two parts.

    Returns
    -------
    dict
        `train` and `test` (see :func:`within`), and `across`: test rows whose features also
        stand in the training part.
    """
    train, test = _row_keys(X_train), _row_keys(X_test)
    seen = set(train)
    return {
        "train": len(train) - len(seen),
        "test": len(test) - len(set(test)),
        "across": sum(key in seen for key in test),
    }


def not_in(X: Any, other: Any) -> NDArray[np.bool_]:
    """Say of each row of `X` whether `other` has no row like it."""
    seen = set(_row_keys(other))
    return np.array([key not in seen for key in _row_keys(X)], dtype=bool)


def _row_keys(X: Any) -> list[bytes]:
    """Return something short for each row that equal rows share, however they are stored."""
    X = sp.csr_matrix(X, dtype=np.float64, copy=True)
    X.sum_duplicates()
    X.eliminate_zeros()
    # Two matrices may count their columns in integers of different widths.
    indices = X.indices.astype(np.int64)
    spans = zip(X.indptr[:-1], X.indptr[1:], strict=True)
    return [
        blake2b(indices[a:b].tobytes() + X.data[a:b].tobytes(), digest_size=_DIGEST_SIZE).digest()
        for a, b in spans
    ]
