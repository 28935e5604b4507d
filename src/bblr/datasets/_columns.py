"""Columns of a data frame turned into numbers and labels."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

MAX_LEVELS = 50
"""A text column with more levels than this is taken for a mistake, not a category."""

Kind = Literal["number", "flag", "text"]
_LABEL_TYPES: dict[str, Any] = {"b": bool, "i": np.int64, "u": np.int64, "f": np.float64}


@dataclass(frozen=True)
class Column:
    """What a column holds and how it becomes features.

    Parameters
    ----------
    name : str
        Its name.
    kind : {"number", "flag", "text"}
        Numbers stay as they are, true/false becomes 1 and 0, text is one-hot encoded.
    levels : tuple of str, default=()
        The different texts, sorted.
    """

    name: str
    kind: Kind
    levels: tuple[str, ...] = ()

    @property
    def marked(self) -> tuple[str, ...]:
        """The levels that have a feature each: of two only the second."""
        return self.levels[1:] if len(self.levels) == 2 else self.levels

    @property
    def feature_names(self) -> list[str]:
        """A name for each feature."""
        if self.kind != "text":
            return [self.name]
        return [f"{self.name}={level}" for level in self.marked]

    def features(self, values: np.ndarray) -> np.ndarray:
        """Encode checked values; a text that is none of the levels gets zeros alone."""
        if self.kind != "text":
            return values.astype(np.float64)[:, np.newaxis]
        return (values[:, np.newaxis] == np.array(self.marked, dtype=str)).astype(np.float64)


@dataclass(frozen=True)
class Split:
    """A frame taken apart into features and labels.

    Parameters
    ----------
    X : ndarray of float64, shape (rows, features)
        The features.
    y : ndarray of shape (rows,)
        The labels.
    columns : tuple of Column
        What the features come from.
    target : str
        The column of the labels.
    what : str
        Words for the labels, for messages.
    """

    X: np.ndarray
    y: np.ndarray
    columns: tuple[Column, ...]
    target: str
    what: str


def split_frame(
    frame: pd.DataFrame, target: str | None, path: Path
) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Take a two-class target out of a frame and turn the other columns into numbers.

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
    split = learn_frame(frame, target, path)
    y = check_two_classes(split.y, split.what, ": name the column with target=")
    return split.X, y, [name for column in split.columns for name in column.feature_names]


def learn_frame(frame: pd.DataFrame, target: str | None, path: Path) -> Split:
    """Do the same for any number of classes, and tell how each column was encoded."""
    names = list(frame.columns)
    if len(names) < 2:
        raise ValueError(
            f"{path} has {len(names)} column(s) {names}; it needs at least one feature and "
            "the target (a CSV file separated by commas, semicolons or tabs)"
        )
    if len(frame) == 0:
        raise ValueError(f"{path} holds no rows; add the data")
    name = names[-1] if target is None else target
    if name not in names:
        raise ValueError(no_such_column(path, name, names))
    why = " (the last column, since target was not given)" if target is None else ""
    y = labels(frame[name], f"{path}: target column {name!r}{why}")
    columns, parts = [], []
    for other in names:
        if other != name:
            column, values = _learn(frame[other], other, path)
            columns.append(column)
            parts.append(column.features(values))
    what = f"{path}: the labels in target column {name!r}{why}"
    return Split(np.column_stack(parts), y, tuple(columns), name, what)


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
    return whole_numbers(y)


def whole_numbers(y: np.ndarray) -> np.ndarray:
    """Write labels that are all whole numbers as integers."""
    if y.dtype.kind == "f" and np.all(y == np.rint(y)):
        return y.astype(np.int64)
    return y


def no_such_column(path: Path, name: str, columns: list[str]) -> str:
    """Say that the target is not there, and which columns are."""
    lower = {column.lower(): column for column in columns}
    close = [lower[match] for match in difflib.get_close_matches(name.lower(), list(lower))]
    shown = ", ".join(repr(column) for column in columns[:20])
    dots = f", … ({len(columns)} in all)" if len(columns) > 20 else ""
    hint = f"did you mean {' or '.join(repr(c) for c in close)}? " if close else ""
    return f"target={name!r} is not a column of {path}; {hint}its columns are {shown}{dots}"


def labels(column: pd.Series, what: str) -> np.ndarray:
    """Return labels as text, whole or other numbers, or true/false; `what` names the column."""
    import pandas as pd

    n_missing = int(column.isna().sum())
    if n_missing:
        raise ValueError(
            f"{what} has {n_missing} missing value(s); remove those rows or name another target"
        )
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(column.cat.categories.dtype)
    if is_text(column):
        return texts(column)
    if column.dtype.kind in _LABEL_TYPES:
        return column.to_numpy(dtype=_LABEL_TYPES[column.dtype.kind])
    raise ValueError(
        f"{what} is of type {column.dtype}; use text, numbers or true/false, or name another "
        "target"
    )


def check_complete(column: pd.Series, name: str, path: Path) -> None:
    """Raise an error where values are missing."""
    n_missing = int(column.isna().sum())
    if n_missing:
        raise ValueError(
            f"{path}: column {name!r} has {n_missing} missing value(s) in {len(column)} rows; "
            "fill them in (for instance with their median), or remove those rows or the column"
        )


def check_finite(values: np.ndarray, name: str, path: Path) -> None:
    """Raise an error where values are infinite."""
    n_infinite = int(np.isinf(values).sum())
    if n_infinite:
        raise ValueError(
            f"{path}: column {name!r} has {n_infinite} infinite value(s); replace them with "
            "numbers, or remove those rows or the column"
        )


def texts(column: pd.Series) -> np.ndarray:
    """Return a text or category column as an array of strings."""
    return column.astype(str).to_numpy().astype(str)


def _learn(column: pd.Series, name: str, path: Path) -> tuple[Column, np.ndarray]:
    """Tell what a feature column holds, and return its values checked."""
    check_complete(column, name, path)
    if is_text(column):
        text = texts(column)
        return Column(name, "text", _levels(text, name, path)), text
    if column.dtype.kind not in "biuf":
        raise ValueError(
            f"{path}: column {name!r} is of type {column.dtype}; turn it into numbers or remove it"
        )
    values = column.to_numpy(dtype=np.float64)
    check_finite(values, name, path)
    return Column(name, "flag" if column.dtype.kind == "b" else "number"), values


def is_text(column: pd.Series) -> bool:
    """Whether a column holds text or categories."""
    import pandas as pd

    dtype: Any = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return True
    if dtype == np.dtype(object):
        return pd.api.types.infer_dtype(column) in {"string", "mixed-integer"}
    return isinstance(dtype, pd.StringDtype)


def _levels(text: np.ndarray, name: str, path: Path) -> tuple[str, ...]:
    levels = np.unique(text)
    odd = [level for level in levels.tolist() if not is_number(level)]
    n_alike = sum(is_number(level.replace(",", ".")) for level in levels.tolist())
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
    return tuple(levels.tolist())


def is_number(text: str) -> bool:
    """Whether a text reads as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True
