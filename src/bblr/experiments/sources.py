"""The data of an experiment: an embedded set or a file, with classes encoded as 0 and 1."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from bblr.experiments.settings import SettingError

__all__ = ["EMBEDDED", "Table", "load_table"]

_DENSE_FROM = 0.25
EMBEDDED = ("breast", "heart", "liver", "pima")


@dataclass(frozen=True)
class Table:
    """A two-class data set.

    Parameters
    ----------
    name : str
        What tables and figures show.
    X : ndarray or sparse matrix of shape (n_rows, n_features)
        Features.
    y : ndarray of shape (n_rows,)
        Classes, 0 or 1.
    classes : tuple of str
        The two classes as the source names them.
    test : ndarray of int or None
        The rows that the source sets apart to test on.
    """

    name: str
    X: Any
    y: np.ndarray[Any, np.dtype[np.int64]]
    classes: tuple[str, str] = ("0", "1")
    test: np.ndarray[Any, np.dtype[np.int64]] | None = None
    fingerprint: str = field(init=False)

    def __post_init__(self) -> None:
        """Take the fingerprint."""
        object.__setattr__(self, "fingerprint", _fingerprint(self.X, self.y, self.test))

    @property
    def sparse(self) -> bool:
        """Whether the features are a sparse matrix."""
        return _is_sparse(self.X)


def _fingerprint(X: Any, y: Any, test: Any) -> str:
    parts = [X.data, X.indices, X.indptr, y] if _is_sparse(X) else [X, y]
    parts += [] if test is None else [test]
    digest = hashlib.sha256(repr(X.shape).encode())
    for part in parts:
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()[:16]


def _is_sparse(X: Any) -> bool:
    return bool(sp.issparse(X))


def make_table(name: str, X: Any, y: Any) -> Table:
    """Encode the classes of checked two-class data.

    A sparse matrix with few zeros becomes dense, so that it can be z-scored like other data.
    """
    if _is_sparse(X):
        X = X.toarray() if X.nnz >= _DENSE_FROM * np.prod(X.shape) else X.tocsr()
    else:
        X = np.ascontiguousarray(X, dtype=np.float64)
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    if len(classes) != 2:
        raise ValueError(f"y has {len(classes)} classes; two are needed")
    return Table(name, X, codes.astype(np.int64), (str(classes[0]), str(classes[1])))


def load_table(data: str, target: str | None = None) -> Table:
    """Load an embedded data set by name, or a CSV, Parquet or svmlight file.

    Parameters
    ----------
    data : str
        ``breast``, ``heart``, ``liver``, ``pima`` or the path of a file.
    target : str or None
        The column that holds the class; only for files with named columns.

    Raises
    ------
    SettingError
        If there is no such data set or file, if the file cannot be read, or if the target
        column is not there.
    """
    if data in EMBEDDED:
        return _embedded(data, target)
    path = Path(data)
    if not path.is_file():
        raise SettingError(
            "data",
            f"{data!r} is neither an embedded data set ({', '.join(EMBEDDED)}) nor a file; "
            "check the name or the path",
        )
    from bblr.datasets.files import read_table

    try:
        X, y, _ = read_table(path, target=target)
    except (ValueError, OSError, ImportError) as error:
        raise _unusable(error) from error
    return make_table(path.stem, X, y)


def _unusable(error: Exception) -> SettingError:
    """Say which setting an error about a file is about, in one line."""
    message = " ".join(str(error).split())
    if message.startswith("target="):
        return SettingError("target", message.removeprefix("target="))
    return SettingError("data", f"cannot be used: {message.replace('target=', '--target')}")


def _embedded(name: str, target: str | None) -> Table:
    from bblr.datasets import load_uci

    if target is not None:
        raise SettingError(
            "target", f"only goes with a file; leave it out, {name!r} knows its own target"
        )
    X, y = load_uci(name, return_X_y=True)
    return make_table(name, X, y)
