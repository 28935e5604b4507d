"""The data of an experiment: an embedded set or a file, with classes numbered from 0 on."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from bblr._settings import SettingError, about_columns, as_options
from bblr.datasets import UCI_NAMES, load_uci

__all__ = ["Table", "load_table", "load_two_classes"]

_DENSE_FROM = 0.25


@dataclass(frozen=True)
class Table:
    """A data set.

    Parameters
    ----------
    name : str
        What tables and figures show.
    X : ndarray or sparse matrix of shape (n_rows, n_features)
        Features.
    y : ndarray of shape (n_rows,)
        Classes, from 0 on.
    classes : tuple of str
        The classes as the source names them.
    test : ndarray of int or None
        The rows that the source sets apart to test on.
    notes : tuple of str, default=()
        What was perhaps not meant as it was read.
    features : tuple of str, default=()
        Names of the features; empty where they have none.
    texts : mapping of int to (str, int)
        Columns of free text by their first feature: the name, and how many features it has.
    columns : int, default=0
        Columns of the file that became features; 0 where that says nothing.
    left_out : tuple of str, default=()
        Columns of the file that did not.
    source : str, default=""
        Python code that reads ``X`` and ``y`` as they were read.
    """

    name: str
    X: Any
    y: np.ndarray[Any, np.dtype[np.int64]]
    classes: tuple[str, ...] = ("0", "1")
    test: np.ndarray[Any, np.dtype[np.int64]] | None = None
    notes: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    texts: Mapping[int, tuple[str, int]] = field(default_factory=dict)
    columns: int = 0
    left_out: tuple[str, ...] = ()
    source: str = ""
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
    """Make a table of checked data, with classes numbered from 0 on.

    A sparse matrix with few zeros becomes dense, so that it can be z-scored like other data.
    """
    if _is_sparse(X):
        X = X.toarray() if X.nnz >= _DENSE_FROM * np.prod(X.shape) else X.tocsr()
    else:
        X = np.ascontiguousarray(X, dtype=np.float64)
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    return Table(name, X, codes.astype(np.int64), tuple(str(label) for label in classes))


def load_two_classes(data: str, target: str | None = None, drop: Sequence[str] = ()) -> Table:
    """Load a data set for methods that take no more than two classes.

    Raises
    ------
    SettingError
        As :func:`load_table` does, and where there are more.
    """
    table = load_table(data, target, drop)
    if len(table.classes) > 2:
        named = "the labels" if target is None else f"the labels in column {target!r}"
        raise SettingError(
            "data",
            f"cannot be used: {named} of {data} hold {len(table.classes)} classes and this "
            "command takes two; keep the rows of two of them, or name another --target",
        )
    return table


def load_table(
    data: str, target: str | None = None, drop: Sequence[str] = (), **kinds: Sequence[str]
) -> Table:
    """Load an embedded data set by name, or a file as :func:`bblr.io.read_table` does.

    Parameters
    ----------
    data : str
        ``breast``, ``heart``, ``liver``, ``pima``, the path of a file, or ``-`` for standard
        input.
    target : str or None
        The column that holds the class; only for files with named columns.
    drop : sequence of str, default=()
        Columns to leave out; only for such files.
    **kinds : sequence of str
        Columns that hold `number`, `category`, `date` or `text`; only for such files.

    Raises
    ------
    SettingError
        If there is no such data set or file, if the file cannot be read, or if the target
        column is not there.
    """
    if data in UCI_NAMES:
        return _embedded(data, target=target, drop=drop, **kinds)
    path = Path(data)
    if data != "-" and (path.is_dir() or not path.exists()):
        raise SettingError(
            "data",
            f"{data!r} is neither an embedded data set ({', '.join(UCI_NAMES)}) nor a file; "
            "check the name or the path",
        )
    from bblr.io.tables.training_table import ColumnChoices, read_training

    try:
        table = read_training(path, ColumnChoices(target, drop, **kinds))
    except (ValueError, OSError, ImportError) as error:
        raise about_columns(error) from error
    found = make_table(path.stem, table.X, table.y)
    given = {"target": target, "drop": list(drop)} | {k: list(names) for k, names in kinds.items()}
    options = "".join(f", {name}={value!r}" for name, value in given.items() if value)
    source = f"from bblr.io import read_table\n\nX, y, names = read_table({data!r}{options})"
    return replace(
        found,
        notes=tuple(map(as_options, table.notes)),
        features=tuple(table.layout.feature_names),
        texts=table.layout.texts,
        columns=len(getattr(table.layout, "columns", ())),
        left_out=tuple(getattr(table.layout, "dropped", ())),
        source=source + "\nX = X.toarray()" * (_is_sparse(table.X) and not found.sparse),
    )


def _embedded(name: str, **settings: object) -> Table:
    for setting, given in settings.items():
        if given:
            raise SettingError(
                setting, f"only goes with a file; leave it out, {name!r} knows its own columns"
            )
    bunch = load_uci(name)
    source = f"from bblr.datasets import load_uci\n\nX, y = load_uci({name!r}, return_X_y=True)"
    return replace(
        make_table(name, bunch.data, bunch.target),
        features=tuple(bunch.feature_names),
        source=source,
    )
