"""Blocks of a new file encoded as the training file was, or the column named that cannot be."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bblr.io.tables.columns_in import Column, Kind, spread, told
from bblr.io.tables.commas import is_number
from bblr.io.tables.labels_in import is_text, labels, texts
from bblr.io.tables.table_layout import TableLayout, label_kind

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["UNSEEN", "Leniency", "check_names", "class_codes", "encode", "frame_labels"]

UNSEEN = ("error", "zero")
_HOLDS: dict[Kind, str] = {"number": "numbers", "flag": "true/false", "text": "text"}
_REMEDY: dict[Kind, str] = {
    "number": "write numbers with a decimal point, and 1 and 0 for true and false",
    "flag": "write true and false, or 1 and 0",
    "text": "write its levels as text",
}


@dataclass(frozen=True)
class Leniency:
    """What to let pass in a new file.

    Parameters
    ----------
    unseen : {"error", "zero"}, default="error"
        A text that the training file did not have in that column is an error, or is encoded as
        zeros: as none of the known levels, and with two levels as the first of them.
    ignore_extra : bool, default=False
        Whether columns that the model does not know are skipped.
    """

    unseen: str = "error"
    ignore_extra: bool = False


def check_names(
    names: list[str], layout: TableLayout, path: Path, *, target: str | None, lenient: Leniency
) -> None:
    """Raise an error that names what is missing and what is extra, unless the columns fit."""
    known = [column.name for column in layout.columns]
    missing = [name for name in known if name not in names]
    expected = {*known, *layout.dropped, layout.target, target}
    spare = [name for name in names if name not in expected]
    problems = []
    if missing:
        problems.append(f"has no column {_listed(missing)}")
    if spare and (missing or not lenient.ignore_extra):
        problems.append(f"has column {_listed(spare)}, which the model does not know")
    if not problems:
        return
    raise ValueError(
        f"{path} {' and '.join(problems)}; {' and '.join(_advice(missing, spare, lenient))} "
        f"(the model needs {_listed(known)}, in any order)"
    )


def _advice(missing: list[str], spare: list[str], lenient: Leniency) -> Iterator[str]:
    close = {name: difflib.get_close_matches(name, spare, n=1) for name in missing}
    renamed = {found[0]: name for name, found in close.items() if found}
    if renamed:
        yield "rename " + ", ".join(f"{old!r} to {new!r}" for old, new in renamed.items())
    lost = [name for name in missing if name not in renamed.values()]
    if lost:
        yield f"add {_listed(lost)}"
    left = [name for name in spare if name not in renamed]
    if left and not lenient.ignore_extra:
        yield f"remove {_listed(left)} or give --ignore-extra"


def _listed(names: list[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:20])
    return shown + (f", … ({len(names)} in all)" if len(names) > 20 else "")


def encode(
    frame: pd.DataFrame, layout: TableLayout, path: Path, first_row: int, lenient: Leniency
) -> tuple[np.ndarray, dict[str, int]]:
    """Encode a block of rows.

    Parameters
    ----------
    frame : DataFrame
        The rows; every column of the layout is there.
    layout : TableLayout
        How the training file was encoded.
    path : Path
        The file, for messages.
    first_row : int
        Number of the first row in the file, for messages.
    lenient : Leniency
        What to let pass.

    Returns
    -------
    X : ndarray of float64, shape (rows, features)
        The features.
    filled : dict
        How many values were filled in, by columns that had one in every row of the training
        file; their features do not mark them.
    """
    parts, filled = [], {}
    for column in layout.columns:
        present, gaps = told(frame[column.name])
        rows = np.flatnonzero(~gaps) + first_row
        if gaps.any() and not column.missing:
            filled[column.name] = int(gaps.sum())
        values = _checked(present, column, path, rows)
        if column.kind == "text" and lenient.unseen == "error":
            _check_seen(values, column, path, rows)
        parts.append(column.features(spread(values, gaps), gaps))
    return np.column_stack(parts), filled


def _checked(series: pd.Series, column: Column, path: Path, rows: np.ndarray) -> np.ndarray:
    """Return values that are there, as what the column holds; ``rows`` are their numbers."""
    where = f"{path}: column {column.name!r}"
    if not len(series):
        return np.zeros(0, dtype=str if column.kind == "text" else np.float64)
    if column.kind == "text":
        if not is_text(series):
            raise _wrong_kind(series, column, where)
        return texts(series)
    if series.dtype.kind not in ("biuf" if column.kind == "flag" else "iuf"):
        raise _wrong_kind(series, column, where, rows)
    values = series.to_numpy(dtype=np.float64)
    infinite = np.isinf(values)
    if infinite.any():
        raise ValueError(
            f"{where} is infinite in data row {rows[infinite][0]}; write a number there, "
            "or remove the row"
        )
    odd = (values != 0) & (values != 1)
    if column.kind == "flag" and odd.any():
        raise ValueError(
            f"{where} holds {values[odd][0]:g} in data row {rows[odd][0]}, but the model "
            f"learned true/false there; {_REMEDY['flag']}"
        )
    return values


def _row(marked: np.ndarray, first_row: int) -> int:
    return int(np.flatnonzero(marked)[0]) + first_row


def _wrong_kind(
    series: pd.Series, column: Column, where: str, rows: np.ndarray | None = None
) -> ValueError:
    holds = "true/false" if series.dtype.kind == "b" else f"values of type {series.dtype}"
    if is_text(series) and rows is not None:
        text = texts(series)
        odd = np.array([not is_number(cell) for cell in text.tolist()])
        first = odd if odd.any() else ~odd
        holds = f"{str(text[first][0])!r} in data row {rows[first][0]}"
    return ValueError(
        f"{where} holds {holds}, but the model learned {_HOLDS[column.kind]} there; "
        f"{_REMEDY[column.kind]}"
    )


def _check_seen(values: np.ndarray, column: Column, path: Path, rows: np.ndarray) -> None:
    unseen = ~np.isin(values, np.array(column.levels, dtype=str))
    if unseen.any():
        raise ValueError(
            f"{path}: column {column.name!r} holds {str(values[unseen][0])!r} in data row "
            f"{rows[unseen][0]}, which the training file did not have (it had "
            f"{_listed(list(column.levels))}); correct it, remove the row, or give --unseen zero "
            "to take it for none of these"
        )


def frame_labels(frame: pd.DataFrame, target: str, path: Path, first_row: int) -> np.ndarray:
    """Return the labels of a block of rows, the first of which has that number."""
    return labels(frame[target], f"{path}: target column {target!r}", first_row)


def class_codes(y: np.ndarray, classes: np.ndarray, path: Path, first_row: int) -> np.ndarray:
    """Return the position of each label among the sorted classes.

    Raises
    ------
    ValueError
        If a label is none of them.
    """
    kind = label_kind(classes)
    alike = label_kind(y) == kind
    codes = np.searchsorted(classes, y) if alike else np.zeros(len(y), dtype=np.int64)
    codes = np.minimum(codes, len(classes) - 1)
    unknown = classes[codes] != y if alike else np.ones(len(y), dtype=bool)
    if unknown.any():
        raise ValueError(
            f"{path}: the label {y[unknown][0].item()!r} in data row {_row(unknown, first_row)} "
            f"is no class of the model, which knows {_listed(classes.tolist())}; correct it, "
            "remove the row, or fit again with rows of that class"
        )
    return codes
