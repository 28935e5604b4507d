"""Files read block by block, so that memory does not grow with their rows."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bblr.io.columns.cell_values import comma_numbers
from bblr.io.columns.column_kinds import CategoryColumn, NumberColumn
from bblr.io.columns.notes import ColumnError, listed, no_such_column
from bblr.io.columns.table_encoder import encode
from bblr.io.tables.labels_in import labels, whole_numbers
from bblr.io.tables.opening import DataFile, opened_data
from bblr.io.tables.svmlight_rows import SvmlightRows, svmlight_blocks
from bblr.io.tables.table_layout import Layout, SvmlightLayout, TableLayout
from bblr.io.tables.table_rows import TableRows, table_rows

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Block", "Reader"]

# A block of a table holds about so many cells, whatever its width; of svmlight so many lines.
_CELLS = 1_000_000
_LEAST_ROWS, _MOST_ROWS = 100, 50_000
_LINES = 10_000


@dataclass(frozen=True)
class Block:
    """Some rows of a file.

    Parameters
    ----------
    X : ndarray or csr_matrix of shape (rows, features)
        Features, encoded as the training file was.
    y : ndarray of shape (rows,) or None
        Labels, where they were asked for.
    first_row : int
        Number of the first row in the file, counted from 1 without the header.
    filled : dict, default={}
        How many missing values were filled in, by columns that missed none in training.
    unseen : dict, default={}
        How many texts training did not have, by columns of categories.
    frame : DataFrame or None, default=None
        The cells as they stand in the file; None for svmlight.
    """

    X: Any
    y: np.ndarray | None
    first_row: int
    filled: dict[str, int] = field(default_factory=dict)
    unseen: dict[str, int] = field(default_factory=dict)
    frame: pd.DataFrame | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Reader:
    """Reads files laid out like a training file.

    Parameters
    ----------
    layout : TableLayout or SvmlightLayout
        How the training file was encoded.
    unseen : {"error", "zero"}, default="error"
        A text that the training file did not have in that column is an error, or is encoded as
        zeros: as none of the known levels, and with two levels as the first of them.
    ignore_extra : bool, default=False
        Whether columns that the model does not know are skipped.
    target : str or None, default=None
        The column of the labels; None takes none. svmlight files need no name.
    text_labels : bool, default=False
        Whether the labels are text even where they look like numbers.
    optional : bool, default=False
        Whether a file may come without that column.
    rows : int or None, default=None
        Rows of a block; by default so many that a block is some megabytes.
    """

    layout: Layout
    unseen: str = "error"
    ignore_extra: bool = False
    target: str | None = None
    text_labels: bool = False
    optional: bool = False
    rows: int | None = None

    def blocks(self, path: Path) -> Iterator[Block]:
        """Yield the rows of a file in order, encoded; nothing is read before the first is asked.

        Raises
        ------
        ValueError
            If the file is unsound, or its columns are not those of the layout.
        """
        with opened_data(path) as file:
            if isinstance(self.layout, SvmlightLayout):
                if file.kind != "svmlight":
                    raise ValueError(
                        f"{file.name} is a {file.kind} file, but the model was fitted to an "
                        "svmlight file; write the rows as svmlight (an ending .svm says so)"
                    )
                yield from self._svmlight(file, self.layout)
                return
            if file.kind == "svmlight":
                raise ValueError(
                    f"{file.name} is an svmlight file, but the model was fitted to a table with "
                    "named columns; write the rows as CSV or Parquet (an ending .csv or .parquet "
                    "says so)"
                )
            rows = table_rows(file)
            without = self.optional and self.target not in rows.names
            reader = replace(self, target=None) if without else self
            yield from reader._tables(rows, self.layout)

    def _tables(self, rows: TableRows, layout: TableLayout) -> Iterator[Block]:
        count = self._checked_names(rows, layout)
        wanted = {column.name for column in layout.columns}
        numbers = [each.name for each in layout.columns if isinstance(each, NumberColumn)]
        as_text = wanted.difference(numbers)
        if self.target is not None:
            wanted.add(self.target)
            if self.text_labels:
                as_text.add(self.target)
        row, commas = 1, layout.commas
        for frame in rows.blocks(count, wanted, as_text):
            frame = frame.set_axis(range(row, row + len(frame)))
            if rows.may_have_commas:
                pointed = comma_numbers(frame, numbers, known=commas)
                commas = commas or bool(pointed)
                frame = frame.assign(**pointed)
            yield self._encoded(frame, layout, rows.name)
            row += len(frame)
        if row == 1:
            raise ValueError(f"{rows.name} holds no rows; add the data")

    def _encoded(self, frame: pd.DataFrame, layout: TableLayout, path: str) -> Block:
        y = None
        if self.target is not None:
            y = labels(frame[self.target], f"{path}: target column {self.target!r}")
        whole = [column.name for column in layout.columns if not column.missing]
        gaps = frame[whole].isna().sum()
        new = {
            column.name: len(column.unseen(frame[column.name]))
            for column in layout.columns
            if isinstance(column, CategoryColumn)
        }
        try:
            X = encode(frame, layout.columns, self.unseen)
        except ColumnError as error:
            raise ValueError(f"{path}: {error}") from error
        filled = {str(name): int(n) for name, n in gaps.items() if n}
        unseen = {name: n for name, n in new.items() if n}
        return Block(X, y, frame.index[0], filled, unseen, frame)

    def _checked_names(self, rows: TableRows, layout: TableLayout) -> int:
        """Check the columns of a file; return the rows of a block."""
        names = rows.names
        if self.target is not None and self.target not in names:
            if self.target == layout.target:
                raise ValueError(_no_target(rows.name, layout, names))
            raise no_such_column(self.target, names, "target", rows.name)
        _check_names(names, layout, rows.name, target=self.target, ignore_extra=self.ignore_extra)
        return self.rows or int(np.clip(_CELLS // len(names), _LEAST_ROWS, _MOST_ROWS))

    def _svmlight(self, file: DataFile, layout: SvmlightLayout) -> Iterator[Block]:
        row = 1
        for rows in svmlight_blocks(file, self.rows or _LINES):
            yield Block(_fitting(rows, layout, file.name), whole_numbers(rows.y), row)
            row += len(rows.y)


def _check_names(
    names: list[str], layout: TableLayout, path: str, *, target: str | None, ignore_extra: bool
) -> None:
    """Raise an error that names what is missing and what is extra, unless the columns fit."""
    known = [column.name for column in layout.columns]
    there = set(names)
    missing = [name for name in known if name not in there]
    expected = {*known, *layout.dropped, layout.target, target}
    spare = [name for name in names if name not in expected]
    problems = []
    if missing:
        problems.append(f"has no {_columns(missing)}")
    if spare and (missing or not ignore_extra):
        problems.append(f"has {_columns(spare)}, which the model does not know")
    if not problems:
        return
    raise ValueError(
        f"{path} {' and '.join(problems)}; {' and '.join(_advice(missing, spare, ignore_extra))} "
        f"(the model needs {listed(known)}, in any order)"
    )


def _columns(names: list[str]) -> str:
    return f"{'column' if len(names) == 1 else 'columns'} {listed(names)}"


def _advice(missing: list[str], spare: list[str], ignore_extra: bool) -> Iterator[str]:
    close = {name: difflib.get_close_matches(name, spare, n=1) for name in missing}
    renamed = {found[0]: name for name, found in close.items() if found}
    if renamed:
        yield "rename " + ", ".join(f"{old!r} to {new!r}" for old, new in renamed.items())
    lost = [name for name in missing if name not in renamed.values()]
    if lost:
        yield f"add {listed(lost)}"
    left = [name for name in spare if name not in renamed]
    if left and not ignore_extra:
        yield f"remove {listed(left)} or use --ignore-extra"


def _no_target(path: str, layout: TableLayout, names: list[str]) -> str:
    features = {column.name for column in layout.columns}
    spare = [name for name in names if name not in features]
    held = f" (it has {', '.join(map(repr, spare[:5]))} beside the features)" if spare else ""
    return (
        f"{path} has no column {layout.target!r}, the target of the model{held}; name the column "
        "of the labels by --target, or use bblr predict, which needs none"
    )


def _fitting(rows: SvmlightRows, layout: SvmlightLayout, path: str) -> Any:
    start = 0 if layout.zero_based else 1
    last = layout.n_features - 1 + start
    if rows.X.nnz and not start <= rows.X.indices.min() <= rows.X.indices.max() <= last:
        stray = rows.X.indices[(rows.X.indices < start) | (rows.X.indices > last)][0]
        raise ValueError(
            f"{path} has a feature with index {stray}, but the model knows the indices {start} "
            f"to {last}; remove it, or fit again with rows that have it"
        )
    return rows.features(layout.n_features, zero_based=layout.zero_based)
