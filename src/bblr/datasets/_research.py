"""Readers of research data that are not part of the package: web8 and TREC07p.

They lie in a folder that the user names, by an argument or by the variable ``BBLR_DATA_HOME``.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.datasets import load_svmlight_file
from sklearn.preprocessing import normalize

__all__ = ["DATA_HOME", "leak_free", "read_trec07p", "read_web8"]

DATA_HOME = "BBLR_DATA_HOME"
"""The environment variable that names the folder of research data."""

_WEB8_FEATURES = 300

Labels = NDArray[np.int64]


def read_web8(
    data_home: str | os.PathLike[str] | None = None,
) -> tuple[Any, Labels, Any, Labels]:
    """Read web8 (LIBSVM's w8a) without its all-zero rows: 45,546 to train and 13,699 to test.

    Every test row stands in the training part too, label included, so an error on this official
    split is a training error. See :func:`leak_free`.

    Parameters
    ----------
    data_home : path-like or None
        Folder with ``web8/w8a`` and ``web8/w8a.t``; ``$BBLR_DATA_HOME`` when None.

    Returns
    -------
    X_train : CSR matrix of shape (45546, 300)
        Training features, 0 or 1.
    y_train : ndarray of shape (45546,)
        Training labels, −1 or +1.
    X_test, y_test : CSR matrix of shape (13699, 300) and ndarray of shape (13699,)
        The test part.

    Raises
    ------
    FileNotFoundError
        If a file is not there.
    """
    X_train, y_train = _read_w8a("web8/w8a", data_home)
    X_test, y_test = _read_w8a("web8/w8a.t", data_home)
    return X_train, y_train, X_test, y_test


def leak_free(X_train: Any, y_train: Labels, X_test: Any) -> tuple[Any, Labels]:
    """Drop the training rows whose features also occur in the test part.

    Parameters
    ----------
    X_train, X_test : CSR matrix
        Training and test rows.
    y_train : ndarray of shape (n_train,)
        Labels of the training rows.

    Returns
    -------
    X : CSR matrix
        The training rows that are kept, in their order; of web8, 25,264.
    y : ndarray
        Their labels.
    """
    seen = set(_row_keys(X_test))
    kept = np.array([key not in seen for key in _row_keys(X_train)], dtype=bool)
    return X_train[kept], y_train[kept]


def read_trec07p(data_home: str | os.PathLike[str] | None = None) -> tuple[Any, Labels]:
    """Read the byte counts of the TREC 2007 spam corpus, each message scaled to length 1.

    Parameters
    ----------
    data_home : path-like or None
        Folder with ``trec07p/X.npz`` and ``trec07p/y.npy``; ``$BBLR_DATA_HOME`` when None.

    Returns
    -------
    X : CSR matrix of shape (75399, 256)
        How often each byte occurs in a message, in the order of delivery.
    y : ndarray of shape (75399,)
        +1 for spam, −1 for the rest.

    Raises
    ------
    FileNotFoundError
        If a file is not there.
    """
    features, labels = _file("trec07p/X.npz", data_home), _file("trec07p/y.npy", data_home)
    counts: Any = sp.load_npz(features)
    X = normalize(counts.tocsr().astype(np.float64), copy=False)
    return X, np.load(labels).astype(np.int64)


def _file(name: str, data_home: str | os.PathLike[str] | None) -> Path:
    remedy = f"set {DATA_HOME} (or data_home) to the folder that holds {name}"
    home = os.environ.get(DATA_HOME) if data_home is None else os.fspath(data_home)
    if not home:
        raise FileNotFoundError(f"{name} is research data and no folder is named: {remedy}")
    path = Path(home) / name
    if not path.is_file():
        raise FileNotFoundError(f"{path} is not there: get the data, then {remedy}")
    return path


def _read_w8a(name: str, data_home: str | os.PathLike[str] | None) -> tuple[Any, Labels]:
    X, y = load_svmlight_file(str(_file(name, data_home)), n_features=_WEB8_FEATURES)
    filled = X.getnnz(axis=1) > 0
    return X[filled], y[filled].astype(np.int64)


def _row_keys(X: Any) -> list[tuple[bytes, bytes]]:
    """Return something hashable for each row that equal rows share."""
    X = X.tocsr(copy=True)
    X.sum_duplicates()
    X.eliminate_zeros()
    # Two matrices may count their columns in integers of different widths.
    indices = X.indices.astype(np.int64)
    spans = zip(X.indptr[:-1], X.indptr[1:], strict=True)
    return [(indices[a:b].tobytes(), X.data[a:b].tobytes()) for a, b in spans]
