"""Labels of a table: what they hold, and which are refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bblr.io.columns.cell_values import is_text, present_cells, texts
from bblr.io.columns.notes import listed

if TYPE_CHECKING:
    import pandas as pd

# Every row has a score for each, and every feature a weight.
_MOST_CLASSES = 1_000
_LABEL_TYPES: dict[str, Any] = {"b": bool, "i": np.int64, "u": np.int64, "f": np.float64}


def check_classes(y: np.ndarray, what: str, remedy: str = ": check the file") -> np.ndarray:
    """Check that `y` holds classes, two at least; write whole numbers as integers.

    Parameters
    ----------
    y : ndarray of shape (rows,)
        The labels.
    what : str
        What they are, for messages.
    remedy : str, default=": check the file"
        Further advice for messages.

    Returns
    -------
    ndarray of shape (rows,)
        The labels; as int64 where all are whole numbers.
    """
    check_finite_labels(y, what)
    classes = np.unique(y)
    if len(classes) < 2:
        raise ValueError(
            f"{what} hold one class only ({classes[0].item()!r}); two are needed{remedy}"
        )
    fractions = np.unique(y[y != np.rint(y)]) if y.dtype.kind == "f" else np.zeros(0)
    if len(fractions):
        shown = ", ".join(f"{label:g}" for label in fractions[:3].tolist())
        dots = ", …" if len(fractions) > 3 else ""
        raise ValueError(
            f"{what} hold numbers that are not whole ({shown}{dots}); classes are text, whole "
            f"numbers or true/false{remedy}"
        )
    # A quantity or a name taken for a class; a class must at least occur twice to be learned.
    if len(classes) > max(2, len(y) // 2):
        shown = ", ".join(repr(label) for label in classes[:6].tolist())
        dots = ", …" if len(classes) > 6 else ""
        raise ValueError(
            f"{what} hold {len(classes)} classes in {len(y)} rows ({shown}{dots}){remedy}"
        )
    if len(classes) > _MOST_CLASSES:
        raise ValueError(
            f"{what} hold {len(classes):,} classes, and a file may have {_MOST_CLASSES:,}{remedy}"
        )
    return whole_numbers(y)


def whole_numbers(y: np.ndarray) -> np.ndarray:
    """Write labels that are all whole numbers as integers."""
    # Beyond 2**53 a float no longer says which integer it was.
    if y.dtype.kind == "f" and np.all((y == np.rint(y)) & (np.abs(y) < 2.0**53)):
        return y.astype(np.int64)
    return y


def check_finite_labels(y: np.ndarray, what: str, first_row: int = 1) -> None:
    """Raise an error that names the rows where labels are infinite."""
    infinite = np.isinf(y) if y.dtype.kind == "f" else np.zeros(0, dtype=bool)
    if infinite.any():
        raise ValueError(
            f"{what}: {int(infinite.sum())} infinite value(s), in {data_rows(infinite, first_row)}"
            "; correct or remove those rows, or name another target"
        )


def data_rows(marked: np.ndarray, first_row: int = 1) -> str:
    """Name the first of the marked rows, counted without the header."""
    rows = np.flatnonzero(marked) + first_row
    shown = ", ".join(str(row) for row in rows[:5])
    return f"data row{'s' if len(rows) > 1 else ''} {shown}{', …' if len(rows) > 5 else ''}"


def labels(column: pd.Series, what: str) -> np.ndarray:
    """Return labels as text, whole or other numbers, or true/false.

    Parameters
    ----------
    column : Series
        The labels, or a block of them; the index has the numbers of their rows.
    what : str
        What they are, for messages.
    """
    present, gaps = present_cells(column)
    text = is_text(present)
    if text:
        cells = texts(present)
        gaps[~gaps] = (cells == "").to_numpy(dtype=bool)
    if gaps.any():
        raise ValueError(
            f"{what} has {int(gaps.sum())} missing value(s), in {data_rows(gaps, column.index[0])}"
            "; remove those rows or name another target"
        )
    if text:
        return cells.to_numpy().astype(str)
    if present.dtype.kind in _LABEL_TYPES:
        kind = present.dtype.kind
        large = kind == "u" and int(present.max()) >= 2**63
        y = present.to_numpy(dtype=np.uint64 if large else _LABEL_TYPES[kind])
        check_finite_labels(y, what, column.index[0])
        return y
    raise ValueError(
        f"{what} is of type {column.dtype}; use text, numbers or true/false, or name another "
        "target"
    )


def label_kind(classes: np.ndarray) -> str:
    """Return what the labels of these classes are: number, flag or text."""
    if classes.dtype.kind == "b":
        return "flag"
    return "number" if classes.dtype.kind in "iuf" else "text"


def class_codes(y: np.ndarray, classes: np.ndarray, path: str, first_row: int) -> np.ndarray:
    """Return the position of each label among the sorted classes.

    Raises
    ------
    ValueError
        If a label is none of them.
    """
    alike = label_kind(y) == label_kind(classes)
    codes = np.searchsorted(classes, y) if alike else np.zeros(len(y), dtype=np.int64)
    codes = np.minimum(codes, len(classes) - 1)
    unknown = classes[codes] != y if alike else np.ones(len(y), dtype=bool)
    if unknown.any():
        row = int(np.flatnonzero(unknown)[0])
        raise ValueError(
            f"{path}: the label {y[row].item()!r} in data row {row + first_row} is not a class of "
            f"the model, which knows {listed(classes.tolist())}; correct it, remove the row, or "
            "fit again with rows of that class"
        )
    return codes
