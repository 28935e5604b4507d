"""Columns of a data frame turned into numbers and labels."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from bblr.io.tables.commas import comma_numbers, has_comma, is_number
from bblr.io.tables.labels_in import is_text, labels, texts
from bblr.io.tables.notes import alike_notes, comma_note, numbered_note, numbers_rows, sign_notes
from bblr.io.tables.unusable import (
    UnusableColumn,
    all_unusable,
    check_finite,
    leave_out,
    misspelt,
)

if TYPE_CHECKING:
    import pandas as pd

MAX_LEVELS = 50
"""A text column with more levels than this is taken for a mistake, not a category."""

Kind = Literal["number", "flag", "text"]


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
    missing : bool, default=False
        Whether some values were missing; then a further feature marks where.
    fill : float, str or None, default=None
        What stands in for a missing value: the median of numbers and flags, the most frequent
        of texts. Where some were missing, so that they are marked, a missing text is none of
        the levels instead. None where that is not known.
    """

    name: str
    kind: Kind
    levels: tuple[str, ...] = ()
    missing: bool = False
    fill: float | str | None = None

    @property
    def marked(self) -> tuple[str, ...]:
        """The levels that have a feature each: of two only the second."""
        return self.levels[1:] if len(self.levels) == 2 else self.levels

    @property
    def feature_names(self) -> list[str]:
        """A name for each feature."""
        names = [self.name]
        if self.kind == "text":
            names = [f"{self.name}={level}" for level in self.marked]
        return [*names, f"{self.name} missing"] if self.missing else names

    def features(self, values: np.ndarray, gaps: np.ndarray) -> np.ndarray:
        """Encode checked values; a text that is none of the levels gets zeros alone.

        Parameters
        ----------
        values : ndarray of shape (rows,)
            Numbers, or text; whatever stands in a gap is not looked at.
        gaps : ndarray of bool, shape (rows,)
            Where values are missing.
        """
        if self.kind == "text":
            if gaps.any() and not self.missing:
                values, gaps = np.where(gaps, str(self.fill), values), np.zeros_like(gaps)
            told = values[:, np.newaxis] == np.array(self.marked, dtype=str)
            found = (told & ~gaps[:, np.newaxis]).astype(np.float64)
        else:
            found = values.astype(np.float64)[:, np.newaxis]
            found[gaps] = self.fill
        return np.column_stack([found, gaps]) if self.missing else found


@dataclass(frozen=True)
class SplitColumns:
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
    commas : bool
        Whether numbers had decimal commas.
    notes : tuple of str
        What was perhaps not meant as it was read.
    """

    X: np.ndarray
    y: np.ndarray
    columns: tuple[Column, ...]
    target: str
    what: str
    commas: bool
    notes: tuple[str, ...]


def learn_frame(
    frame: pd.DataFrame,
    target: str | None,
    path: Path,
    drop: Sequence[str] = (),
    *,
    commas: bool = False,
) -> SplitColumns:
    """Take the target out of a frame and turn the other columns into numbers.

    The classes are not checked.

    Parameters
    ----------
    frame : DataFrame
        One row an example; string column names.
    target : str or None
        The column of the class; None takes the last.
    path : Path
        Where the frame comes from, for messages.
    drop : sequence of str, default=()
        Columns to leave out.
    commas : bool, default=False
        Whether numbers may have decimal commas: those of a file that these do not separate.
    """
    name, others = _chosen(list(frame.columns), target, path, drop)
    if len(frame) == 0:
        raise ValueError(f"{path} holds no rows; add the data")
    why = " (the last column, since target was not given)" if target is None else ""
    y = labels(frame[name], f"{path}: target column {name!r}{why}")
    pointed = comma_numbers(frame, others) if commas else {}
    columns, parts, unusable = [], [], []
    for other in others:
        try:
            column, values, gaps = _learn(pointed.get(other, frame[other]), other, path)
        except UnusableColumn as error:
            unusable.append(error)
            continue
        columns.append(column)
        parts.append(column.features(values, gaps))
    if unusable:
        raise unusable[0] if len(unusable) == 1 else all_unusable(unusable, path)
    return SplitColumns(
        np.column_stack(parts),
        y,
        tuple(columns),
        name,
        f"{path}: the labels in target column {name!r}{why}",
        bool(pointed),
        tuple(_notes(frame, y, columns, name, list(pointed))),
    )


def _chosen(
    names: list[str], target: str | None, path: Path, drop: Sequence[str]
) -> tuple[str, list[str]]:
    """Return the target and the columns of features."""
    for name in drop:
        if name not in names:
            raise ValueError(no_such_column(path, name, names, "drop"))
    names = [name for name in names if name not in drop]
    if target in drop:
        raise ValueError(f"drop={target!r} is the target; name another column of {path}")
    if len(names) < 2:
        raise ValueError(
            f"{path} has {len(names)} column(s) {names}; it needs at least one feature and "
            "the target (a CSV file separated by commas, semicolons or tabs)"
        )
    name = names[-1] if target is None else target
    if name not in names:
        raise ValueError(no_such_column(path, name, names))
    return name, [other for other in names if other != name]


def _notes(
    frame: pd.DataFrame, y: np.ndarray, columns: list[Column], target: str, pointed: list[str]
) -> Iterator[str]:
    if pointed:
        yield comma_note(pointed)
    if y.dtype.kind == "U":
        yield from alike_notes(np.unique(y).tolist(), f"classes in target column {target!r}")
    for column in columns:
        yield from alike_notes(column.levels, f"texts in column {column.name!r}")
        yield from sign_notes(column.levels, column.name)
    whole = [c.name for c in columns if frame[c.name].dtype.kind in "iu" and not c.missing]
    numbered = [name for name in whole if numbers_rows(frame[name].to_numpy())]
    if numbered:
        yield numbered_note(numbered)


def no_such_column(path: Path, name: str, columns: list[str], role: str = "target") -> str:
    """Say that the target, or another column, is not there, and which columns are."""
    lower = {column.lower(): column for column in columns}
    close = [lower[match] for match in difflib.get_close_matches(name.lower(), list(lower))]
    shown = ", ".join(repr(column) for column in columns[:20])
    dots = f", … ({len(columns)} in all)" if len(columns) > 20 else ""
    hint = f"did you mean {' or '.join(repr(c) for c in close)}? " if close else ""
    return f"{role}={name!r} is not a column of {path}; {hint}its columns are {shown}{dots}"


def told(column: pd.Series) -> tuple[pd.Series, np.ndarray]:
    """Return the values of a column that are not missing, as what they are, and the gaps."""
    gaps = column.isna().to_numpy()
    if not gaps.any():
        return column, gaps
    present = column[~gaps].infer_objects()  # true, false and gaps are read as objects
    return present, gaps


def spread(present: np.ndarray, gaps: np.ndarray) -> np.ndarray:
    """Put values back among the gaps, with zeros or empty texts in these."""
    if not gaps.any():
        return present
    values = np.zeros(len(gaps), dtype=present.dtype)
    values[~gaps] = present
    return values


def _learn(column: pd.Series, name: str, path: Path) -> tuple[Column, np.ndarray, np.ndarray]:
    """Tell what a feature column holds; return its values, checked, and where there are none."""
    present, gaps = told(column)
    missing = bool(gaps.any())
    if not len(present):
        raise UnusableColumn(
            f"{path}: column {name!r} has no value in any row; {leave_out(name)}",
            name,
            "no values",
        )
    if is_text(present):
        text = texts(present)
        levels = _levels(text, np.flatnonzero(~gaps) + 1, name, path)
        most = levels[int(np.argmax(np.unique(text, return_counts=True)[1]))]
        return Column(name, "text", levels, missing, most), spread(text, gaps), gaps
    if present.dtype.kind not in "biuf":
        raise UnusableColumn(
            f"{path}: column {name!r} is of type {present.dtype}; turn it into numbers, or "
            f"{leave_out(name)}",
            name,
            f"type {present.dtype}",
        )
    values = present.to_numpy(dtype=np.float64)
    check_finite(values, name, path)
    kind: Kind = "flag" if present.dtype.kind == "b" else "number"
    fill = float(np.median(values))
    return Column(name, kind, (), missing, fill), spread(values, gaps), gaps


def _levels(text: np.ndarray, rows: np.ndarray, name: str, path: Path) -> tuple[str, ...]:
    levels = np.unique(text)
    odd = [level for level in levels.tolist() if not is_number(level)]
    n_alike = sum(has_comma(level) or is_number(level) for level in levels.tolist())
    if odd and n_alike > len(levels) / 2:
        raise misspelt(text, rows, odd, name, path)
    if len(levels) > MAX_LEVELS:
        raise UnusableColumn(
            f"{path}: column {name!r} is text with {len(levels)} different values (such as "
            f"{str(levels[0])!r}); at most {MAX_LEVELS} can be one-hot encoded: turn it into "
            f"numbers, or {leave_out(name)}",
            name,
            f"text with {len(levels)} different values",
        )
    return tuple(levels.tolist())
