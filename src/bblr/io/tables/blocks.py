"""Files read block by block, so that memory does not grow with their rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bblr.io.tables import formats
from bblr.io.tables.columns_in import no_such_column
from bblr.io.tables.commas import comma_numbers
from bblr.io.tables.encoding import Leniency, check_names, encode, frame_labels
from bblr.io.tables.labels_in import whole_numbers
from bblr.io.tables.reading import without_marks
from bblr.io.tables.table_layout import Layout, SvmlightLayout, TableLayout

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
    """

    X: Any
    y: np.ndarray | None
    first_row: int
    filled: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Reader:
    """Reads files laid out like a training file.

    Parameters
    ----------
    layout : TableLayout or SvmlightLayout
        How the training file was encoded.
    lenient : Leniency
        What to let pass.
    target : str or None, default=None
        The column of the labels; None takes none. svmlight files need no name.
    labelled : bool, default=False
        Whether labels are wanted.
    text_labels : bool, default=False
        Whether the labels are text even where they look like numbers.
    rows : int or None, default=None
        Rows of a block; by default so many that a block is some megabytes.
    """

    layout: Layout
    lenient: Leniency
    target: str | None = None
    labelled: bool = False
    text_labels: bool = False
    rows: int | None = None

    def blocks(self, path: Path) -> Iterator[Block]:
        """Yield the rows of a file in order, encoded; nothing is read before the first is asked.

        Raises
        ------
        ValueError
            If the file is unsound, or its columns are not those of the layout.
        """
        formats.check_file(path)
        kind = formats.file_format(path)
        if isinstance(self.layout, SvmlightLayout):
            if kind != "svmlight":
                raise ValueError(
                    f"{path} is a {kind} file, but the model was fitted to an svmlight file; "
                    "write the rows as svmlight (an ending .svm says so)"
                )
            return self._svmlight(path, self.layout)
        if kind == "svmlight":
            raise ValueError(
                f"{path} is an svmlight file, but the model was fitted to a table with named "
                "columns; write the rows as CSV or Parquet (an ending .csv or .parquet says so)"
            )
        frames = self._parquet if kind == "parquet" else self._csv
        return self._tables(path, self.layout, frames(path, self.layout))

    def _tables(
        self, path: Path, layout: TableLayout, frames: Iterator[pd.DataFrame]
    ) -> Iterator[Block]:
        row = 1
        for frame in frames:
            y = None
            if self.labelled and self.target is not None:
                y = frame_labels(frame, self.target, path, row)
            X, filled = encode(frame, layout, path, row, self.lenient)
            yield Block(X, y, row, filled)
            row += len(frame)
        if row == 1:
            raise ValueError(f"{path} holds no rows; add the data")

    def _check_names(self, names: list[str], path: Path, layout: TableLayout) -> int:
        """Check the columns of a file; return the rows of a block."""
        if self.labelled and self.target not in names:
            if self.target == layout.target:
                raise ValueError(_no_target(path, layout, names))
            raise ValueError(no_such_column(path, str(self.target), names))
        check_names(names, layout, path, target=self.target, lenient=self.lenient)
        return self.rows or int(np.clip(_CELLS // len(names), _LEAST_ROWS, _MOST_ROWS))

    def _csv(self, path: Path, layout: TableLayout) -> Iterator[pd.DataFrame]:
        delimiter = formats.csv_delimiter(path)
        records = formats.csv_records(path, delimiter)
        header = next(records, ([], ""))[0]
        # A first column without a name is an index, which no layout knows.
        rows = self._check_names([name for name in header if name], path, layout)
        as_text = [column.name for column in layout.columns if column.kind == "text"]
        if self.text_labels and self.target is not None:
            as_text.append(self.target)
        types = {name: str for name in as_text if name in header}
        numbers = [column.name for column in layout.columns if column.kind == "number"]
        commas = layout.commas
        for block in _batches(records, rows):
            frame = _parse(path, block, delimiter, header, types)
            pointed = comma_numbers(frame, numbers, known=commas) if delimiter != "," else {}
            commas = commas or bool(pointed)
            yield frame.assign(**pointed)

    def _parquet(self, path: Path, layout: TableLayout) -> Iterator[pd.DataFrame]:
        with _parquet_file(path) as file:
            schema = file.schema_arrow
            index = (schema.pandas_metadata or {}).get("index_columns", [])
            names = [name for name in schema.names if name not in index]
            rows = self._check_names(names, path, layout)
            wanted = [column.name for column in layout.columns]
            if self.labelled and self.target is not None:
                wanted.append(self.target)
            for batch in file.iter_batches(rows, columns=wanted):
                yield without_marks(batch.to_pandas(ignore_metadata=True))

    def _svmlight(self, path: Path, layout: SvmlightLayout) -> Iterator[Block]:
        row = 1
        for first, lines in _line_blocks(path, self.rows or _LINES):
            read = formats.read_svmlight(path, lines, first)
            if len(read.y):
                yield Block(_fitting(read, layout, path), whole_numbers(read.y), row)
            row += len(read.y)
        if row == 1:
            raise ValueError(f"{path} holds no rows; each needs a label and index:value pairs")


def _batches(records: Iterator[tuple[list[str], str]], rows: int) -> Iterator[list[str]]:
    """Yield the texts of so many records at a time."""
    while block := [text for _, text in islice(records, rows)]:
        yield block


def _no_target(path: Path, layout: TableLayout, names: list[str]) -> str:
    features = {column.name for column in layout.columns}
    spare = [name for name in names if name not in features]
    held = f" (it has {', '.join(map(repr, spare[:5]))} beside the features)" if spare else ""
    return (
        f"{path} has no column {layout.target!r}, the target of the model{held}; name the column "
        "of the labels by --target, or use bblr predict, which needs none"
    )


def _parse(
    path: Path, block: list[str], delimiter: str, header: list[str], types: dict[str, type[str]]
) -> pd.DataFrame:
    try:
        import pandas as pd
    except ImportError as error:
        raise formats.pandas_missing(path) from error
    frame = pd.read_csv(
        StringIO("".join(block)),
        sep=delimiter,
        header=None,
        names=header,
        index_col=False,
        dtype=types,
        skipinitialspace=True,
        na_values=formats.MISSING,
        keep_default_na=False,
        low_memory=False,
    )
    if len(frame) != len(block):
        # A line of blanks in a file of one column: predictions must not slip by a row.
        raise ValueError(f"{path} has blank lines among its rows; remove them")
    return frame


@contextmanager
def _parquet_file(path: Path) -> Iterator[Any]:
    try:
        import pandas  # noqa: F401
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise formats.pandas_missing(path, " and pyarrow") from error
    try:
        with pq.ParquetFile(path) as file:
            yield file
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"{path} is not a sound Parquet file: {error}") from error


def _line_blocks(path: Path, count: int) -> Iterator[tuple[int, list[bytes]]]:
    block: list[bytes] = []
    first = 1
    with path.open("rb") as file:
        for line in file:
            block.append(line)
            if len(block) == count:
                yield first, block
                first += count
                block = []
    if block:
        yield first, block


def _fitting(rows: formats.SvmlightRows, layout: SvmlightLayout, path: Path) -> Any:
    start = 0 if layout.zero_based else 1
    last = layout.n_features - 1 + start
    if rows.X.nnz and not start <= rows.X.indices.min() <= rows.X.indices.max() <= last:
        stray = rows.X.indices[(rows.X.indices < start) | (rows.X.indices > last)][0]
        raise ValueError(
            f"{path} has a feature with index {stray}, but the model knows the indices {start} "
            f"to {last}; remove it, or fit again with rows that have it"
        )
    return rows.features(layout.n_features, zero_based=layout.zero_based)
