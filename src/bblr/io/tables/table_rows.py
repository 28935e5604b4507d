"""Rows of tables with named columns, whatever the format, in blocks."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from bblr.io.tables.delimited import MISSING, DelimitedRows, check_header
from bblr.io.tables.opening import DataFile, require

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["TableRows", "table_rows"]


class TableRows(Protocol):
    """Rows that are read once, from the first to the last.

    Attributes
    ----------
    name : str
        What messages call the file.
    names : list of str
        The columns.
    notes : list of str
        What was perhaps not meant as it was read.
    may_have_commas : bool
        Whether numbers may be texts with decimal commas.
    """

    name: str
    names: list[str]
    notes: list[str]
    may_have_commas: bool

    def blocks(
        self,
        rows: int | None,
        wanted: Collection[str],
        as_text: Collection[str],
        classes: Collection[str] = (),
    ) -> Iterator[pd.DataFrame]:
        """Yield the wanted columns of so many rows at a time; None stands for all rows.

        Where the format leaves it open, the cells of columns `as_text` stay texts, and those of
        `classes` where some would be merged as numbers.
        """
        ...


def table_rows(file: DataFile) -> TableRows:
    """Return the rows of a CSV, Parquet, Arrow or Excel file."""
    if file.kind == "csv":
        return DelimitedRows(file)
    return SheetRows(file) if file.kind == "excel" else ArrowRows(file)


class ArrowRows:
    """The rows of a Parquet file, or of an Arrow file, which Feather is too.

    Parameters
    ----------
    file : DataFile
        The file.
    """

    may_have_commas = False

    def __init__(self, file: DataFile) -> None:
        require(file.name, "pandas", "pyarrow")
        import pyarrow as pa
        import pyarrow.parquet as pq

        self.name, self._kind = file.name, file.kind
        self.notes: list[str] = []
        with self._sound():
            if file.kind == "parquet":
                self._file = pq.ParquetFile(file.stream)
                schema = self._file.schema_arrow
            else:
                self._file = pa.ipc.open_file(file.stream)
                schema = self._file.schema
        index = (schema.pandas_metadata or {}).get("index_columns", [])
        self.names = [name for name in schema.names if name not in index]
        check_header(file.name, self.names)

    @contextmanager
    def _sound(self) -> Iterator[None]:
        import pyarrow as pa

        try:
            yield
        except (pa.ArrowException, OSError) as error:
            raise ValueError(
                f"{self.name} is not a sound {self._kind.capitalize()} file: {error}"
            ) from error

    def _parts(self, rows: int | None, names: list[str]) -> Iterator[Any]:
        if self._kind == "parquet":
            if rows is None:
                yield self._file.read(columns=names)
            else:
                yield from self._file.iter_batches(rows, columns=names)
        elif rows is None:
            yield self._file.read_all().select(names)
        else:
            for number in range(self._file.num_record_batches):
                batch = self._file.get_batch(number).select(names)
                yield from (batch.slice(start, rows) for start in range(0, len(batch), rows))

    def blocks(
        self,
        rows: int | None,
        wanted: Collection[str],
        as_text: Collection[str],
        classes: Collection[str] = (),
    ) -> Iterator[pd.DataFrame]:
        """Yield the wanted columns of so many rows at a time; None stands for all rows."""
        with self._sound():
            for part in self._parts(rows, [name for name in self.names if name in wanted]):
                yield without_marks(part.to_pandas(ignore_metadata=True, date_as_object=False))


class SheetRows:
    """The rows of the first sheet of an Excel workbook.

    Parameters
    ----------
    file : DataFile
        The file, which is read whole.
    """

    may_have_commas = False

    def __init__(self, file: DataFile) -> None:
        require(file.name, "pandas", "openpyxl", extra="excel")
        import pandas as pd

        self.name = file.name
        try:
            with warnings.catch_warnings(), pd.ExcelFile(file.stream, engine="openpyxl") as book:
                warnings.simplefilter("ignore")  # of styles and rules that do not matter here
                sheets = book.sheet_names
                cells = pd.read_excel(book, header=None, dtype=object)
        except Exception as error:  # whatever the XML inside provokes
            raise ValueError(
                f"{file.name} is not a sound Excel workbook: {error}; save it again, or as CSV"
            ) from error
        cells = cells.dropna(how="all").dropna(axis=1, how="all")
        first = cells[:1].to_numpy().ravel()
        header = ["" if pd.isna(name) else str(name).strip() for name in first]
        check_header(file.name, header)
        self.names = [name for name in header if name]
        self._frame = without_marks(cells[1:].set_axis(header, axis=1).infer_objects())
        self.notes = [f"read from sheet {sheets[0]!r} of {len(sheets)}"] if sheets[1:] else []

    def blocks(
        self,
        rows: int | None,
        wanted: Collection[str],
        as_text: Collection[str],
        classes: Collection[str] = (),
    ) -> Iterator[pd.DataFrame]:
        """Yield the wanted columns of so many rows at a time; None stands for all rows."""
        frame = self._frame[[name for name in self.names if name in wanted]]
        rows = rows or max(len(frame), 1)
        return (frame[start : start + rows] for start in range(0, len(frame), rows))


def without_marks(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table with gaps where a text stands for one, as in a CSV file."""
    for name, column in frame.items():
        if column.dtype.kind != "O" and str(column.dtype) not in ("string", "str"):
            continue
        try:
            marks = column.isin(MISSING)
        except TypeError:  # lists and the like, which are refused further on
            continue
        if marks.any():
            frame = frame.assign(**{str(name): column.mask(marks).infer_objects()})
    return frame
