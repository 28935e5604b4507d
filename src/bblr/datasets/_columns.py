"""Columns of a data frame turned into numbers and labels."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

MAX_LEVELS = 50
"""A text column with more levels than this is taken for a mistake, not a category."""

_LABEL_TYPES: dict[str, Any] = {"b": bool, "i": np.int64, "u": np.int64, "f": np.float64}


def split_frame(
    frame: pd.DataFrame, target: str | None, path: Path
) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Take the target out of a frame and turn the other columns into numbers.

    Parameters
    ----------
    frame : DataFrame
        One row an example; string column names.
    target : str or None
        The column of the class; None takes the last.
    path : Path
        Where the frame comes from, for messages.

    Returns
    -------
    X : ndarray of float64, shape (rows, features)
        The features.
    y : ndarray of shape (rows,)
        The labels.
    feature_names : list of str
        A name for each column of `X`.
    """
    columns = list(frame.columns)
    if len(columns) < 2:
        raise ValueError(
            f"{path} has {len(columns)} column(s) {columns}; it needs at least one feature and "
            "the target (a CSV file separated by commas, semicolons or tabs)"
        )
    if len(frame) == 0:
        raise ValueError(f"{path} holds no rows; add the data")
    name = columns[-1] if target is None else target
    if name not in columns:
        raise ValueError(_no_such_column(path, name, columns))
    y = _labels(frame[name], name, path, is_default=target is None)
    parts, feature_names = [], []
    for column in columns:
        if column != name:
            values, names = _numbers(frame[column], column, path)
            parts.append(values)
            feature_names.extend(names)
    return np.column_stack(parts), y, feature_names


def check_two_classes(y: np.ndarray, what: str, remedy: str = "") -> np.ndarray:
    """Check that `y` has two classes; write whole numbers as integers.

    Parameters
    ----------
    y : ndarray of shape (rows,)
        The labels.
    what : str
        What they are, for messages.
    remedy : str, default=""
        Further advice for messages.

    Returns
    -------
    ndarray of shape (rows,)
        The labels; as int64 where all are whole numbers.
    """
    classes = np.unique(y)
    if len(classes) != 2:
        shown = ", ".join(repr(label) for label in classes[:6].tolist())
        dots = ", …" if len(classes) > 6 else ""
        number = "one class only" if len(classes) == 1 else f"{len(classes)} classes"
        raise ValueError(
            f"{what} hold {number} ({shown}{dots}); two are needed{remedy or ': check the file'}"
        )
    if y.dtype.kind == "f" and np.all(classes == np.rint(classes)):
        return y.astype(np.int64)
    return y


def _no_such_column(path: Path, name: str, columns: list[str]) -> str:
    lower = {column.lower(): column for column in columns}
    close = [lower[match] for match in difflib.get_close_matches(name.lower(), list(lower))]
    shown = ", ".join(repr(column) for column in columns[:20])
    dots = f", … ({len(columns)} in all)" if len(columns) > 20 else ""
    hint = f"did you mean {' or '.join(repr(c) for c in close)}? " if close else ""
    return f"target={name!r} is not a column of {path}; {hint}its columns are {shown}{dots}"


def _labels(column: pd.Series, name: str, path: Path, *, is_default: bool) -> np.ndarray:
    import pandas as pd

    why = " (the last column, since target was not given)" if is_default else ""
    n_missing = int(column.isna().sum())
    if n_missing:
        raise ValueError(
            f"{path}: target column {name!r}{why} has {n_missing} missing value(s); remove those "
            "rows or name another target"
        )
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(column.cat.categories.dtype)
    if _is_text(column):
        y = column.astype(str).to_numpy().astype(str)
    elif column.dtype.kind in _LABEL_TYPES:
        y = column.to_numpy(dtype=_LABEL_TYPES[column.dtype.kind])
    else:
        raise ValueError(
            f"{path}: target column {name!r}{why} is of type {column.dtype}; use text, numbers "
            "or true/false, or name another target"
        )
    return check_two_classes(
        y, f"{path}: the labels in target column {name!r}{why}", ": name the column with target="
    )


def _numbers(column: pd.Series, name: str, path: Path) -> tuple[np.ndarray, list[str]]:
    """One feature column as numbers, one-hot encoded where it holds text."""
    n_missing = int(column.isna().sum())
    if n_missing:
        raise ValueError(
            f"{path}: column {name!r} has {n_missing} missing value(s) in {len(column)} rows; "
            "fill them in (for instance with their median), or remove those rows or the column"
        )
    if _is_text(column):
        return _one_hot(column.astype(str), name, path)
    if column.dtype.kind not in "biuf":
        raise ValueError(
            f"{path}: column {name!r} is of type {column.dtype}; turn it into numbers or remove it"
        )
    values = column.to_numpy(dtype=np.float64)
    n_infinite = int(np.isinf(values).sum())
    if n_infinite:
        raise ValueError(
            f"{path}: column {name!r} has {n_infinite} infinite value(s); replace them with "
            "numbers, or remove those rows or the column"
        )
    return values[:, np.newaxis], [name]


def _is_text(column: pd.Series) -> bool:
    import pandas as pd

    dtype: Any = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return True
    if dtype == np.dtype(object):
        return pd.api.types.infer_dtype(column) in {"string", "mixed-integer"}
    return isinstance(dtype, pd.StringDtype)


def _one_hot(column: pd.Series, name: str, path: Path) -> tuple[np.ndarray, list[str]]:
    text = column.to_numpy().astype(str)
    levels = np.unique(text)
    odd = [level for level in levels.tolist() if not _is_number(level)]
    n_alike = sum(_is_number(level.replace(",", ".")) for level in levels.tolist())
    if odd and n_alike > len(levels) / 2:
        row = np.flatnonzero(text == odd[0])[0] + 1
        raise ValueError(
            f"{path}: column {name!r} looks like numbers, but {odd[0]!r} (first in data "
            f"row {row}) is none; correct it (numbers are written with a decimal point), or "
            "remove the column"
        )
    if len(levels) > MAX_LEVELS:
        raise ValueError(
            f"{path}: column {name!r} is text with {len(levels)} different values (such as "
            f"{str(levels[0])!r}); at most {MAX_LEVELS} can be one-hot encoded: turn it into "
            "numbers or remove it"
        )
    kept = levels[1:] if len(levels) == 2 else levels
    encoded = (text[:, np.newaxis] == kept).astype(np.float64)
    return encoded, [f"{name}={level}" for level in kept.tolist()]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
