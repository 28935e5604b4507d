"""Rows of text files with a separator: comma, semicolon, tab or vertical bar."""

from __future__ import annotations

import codecs
import csv
import re
import warnings
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from io import BytesIO, StringIO
from itertools import islice
from typing import TYPE_CHECKING

from bblr.io.columns.cell_values import read_classes
from bblr.io.tables.opening import NUMBER, DataFile, require

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["MISSING", "DelimitedRows", "check_header"]

# Texts that stand for no value, in every kind of table: those of pandas, and the UCI sets' own.
MISSING = (
    "", "?", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN",
    "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null",
)  # fmt: skip
_MOST_HEADER = 100_000
# Bytes that tell the encoding of a file, and the share of zeros from which it is a wide one.
_PEEKED, _MANY_ZEROS = 4096, 0.1
_QUOTED = re.compile(rb'"[^"]*"')
# Bytes that are not UTF-8, as "surrogateescape" decodes them: what Windows means by them, or
# Latin-1 where it means nothing.
_WINDOWS = {
    0xDC00 + byte: bytes([byte]).decode("latin-1" if byte in b"\x81\x8d\x8f\x90\x9d" else "cp1252")
    for byte in range(0x80, 0x100)
}


class DelimitedRows:
    """The rows of a CSV file.

    Parameters
    ----------
    file : DataFile
        The file; its header is read at once.
    """

    def __init__(self, file: DataFile) -> None:
        require(file.name, "pandas")
        self.name = file.name
        self.notes: list[str] = []
        encoding = _wide_encoding(file.stream.peek(_PEEKED)[:_PEEKED])
        self._text = (
            file.text(encoding, "replace")
            if encoding
            else file.text("utf-8-sig", "surrogateescape")
        )
        self._line = 0
        header = self._taken(1)
        while header and not header.strip():
            header = self._taken(1)
        self.delimiter = self._delimiter(header)
        while _is_open(header, self.delimiter) and (more := self._taken(1)):
            header += more
        found = next(self._records(header, self._line - header.count("\n")), (0, []))
        self._header = [cell.strip() for cell in found[1]]
        check_header(self.name, self._header)
        # A first column without a name is an index and not among them.
        self.names = [name for name in self._header if name]
        self.may_have_commas = self.delimiter != ","

    def blocks(
        self,
        rows: int | None,
        wanted: Collection[str],
        as_text: Collection[str],
        classes: Collection[str] = (),
    ) -> Iterator[pd.DataFrame]:
        """Yield so many rows at a time, or all of them at once.

        What pandas would mend in silence is an error: a row with too few or too many cells, a
        quote that is not closed, no rows at all.

        Parameters
        ----------
        rows : int or None
            Rows of a block; None for all.
        wanted : collection of str
            The columns to return.
        as_text : collection of str
            Columns whose cells stay texts, even where they look like numbers.
        classes : collection of str, default=()
            Columns whose cells stay texts where numbers would merge some: ``7`` and ``007``.
        """
        types = dict.fromkeys((n for n in (*as_text, *classes) if n in self._header), str)
        found = False
        while text := self._whole(rows):
            frame = self._parsed(text, types)
            if len(frame):
                found = True
                read = {name: read_classes(frame[name]) for name in classes}
                frame = frame.assign(**read)
                yield frame[[name for name in self.names if name in wanted]]
        if not found:
            raise ValueError(f"{self.name} has a header but no rows; add the data")

    def _whole(self, rows: int | None) -> str:
        """Return so many lines, and further ones while a quote is open."""
        parts = [self._taken(rows)]
        quotes = parts[0].count('"')
        while rows is not None and quotes % 2 and (more := self._taken(rows)):
            parts.append(more)
            quotes += more.count('"')
        return "".join(parts)

    def _taken(self, lines: int | None) -> str:
        """Return the next lines."""
        text = self._text.read() if lines is None else "".join(islice(self._text, lines))
        if "\0" in text:
            raise ValueError(
                f"{self.name} is not a text file; save it as CSV (UTF-8), or give it the ending "
                "of its format, such as .parquet"
            )
        self._line += text.count("\n")
        try:
            text.encode()
        except UnicodeEncodeError:
            text = text.translate(_WINDOWS)
            self.notes = [
                "not UTF-8, so read as Windows (cp1252) text; if that is wrong, save it as UTF-8"
            ]
        return text

    def _delimiter(self, header: str) -> str:
        """Return whichever separator splits the header into the most columns."""
        try:
            with _any_length():
                return max(
                    ",;\t|", key=lambda mark: len(next(csv.reader([header], delimiter=mark), []))
                )
        except csv.Error as error:
            raise ValueError(
                f"{self.name}: the first line is not a header of column names: {error}; check "
                "the file"
            ) from error

    def _parsed(self, text: str, types: dict[str, type[str]]) -> pd.DataFrame:
        import pandas as pd

        content = text.encode()
        try:
            with warnings.catch_warnings():  # rows that are too long are refused below
                warnings.simplefilter("ignore", pd.errors.ParserWarning)
                frame = pd.read_csv(
                    BytesIO(content),
                    sep=self.delimiter,
                    header=None,
                    names=self._header,
                    index_col=False,
                    dtype=types,
                    skipinitialspace=True,
                    na_values=MISSING,
                    keep_default_na=False,
                    low_memory=False,
                )
        except (pd.errors.EmptyDataError, pd.errors.ParserError) as error:
            self._count(text)  # says which line is wrong
            if isinstance(error, pd.errors.EmptyDataError):
                return pd.DataFrame(columns=self._header)
            raise ValueError(f"{self.name} cannot be read: {error}; check the file") from error
        if (
            not _has_cells(content, self.delimiter, frame)
            # Perhaps quotes within cells; otherwise this says which line is wrong.
            and self._count(text) != len(frame)
        ):
            # A line of blanks in a file of one column: predictions must not slip by a row.
            raise ValueError(f"{self.name} has blank lines among its rows; remove them")
        return frame

    def _records(self, text: str, first: int) -> Iterator[tuple[int, list[str]]]:
        """Yield each record with the line it ends in; `first` lines stand before them."""
        reader = csv.reader(
            StringIO(text), delimiter=self.delimiter, skipinitialspace=True, strict=True
        )
        try:
            with _any_length():
                for cells in reader:
                    if cells:
                        yield first + reader.line_num, cells
        except csv.Error as error:
            raise ValueError(
                f"{self.name}, line {first + reader.line_num}: {error}; check the quotes there"
            ) from error

    def _count(self, text: str) -> int:
        """Return the number of records; one that has not all cells is an error."""
        count = 0
        for line, cells in self._records(text, self._line - text.count("\n")):
            if len(cells) != len(self._header):
                raise ValueError(
                    f"{self.name}, line {line}: {len(cells)} cells, but the header has "
                    f"{len(self._header)}; correct that line (a cell with the separator "
                    f"{self.delimiter!r} in it needs quotes)"
                )
            count += 1
        return count


@contextmanager
def _any_length() -> Iterator[None]:
    """Let cells be of any length, as a header is that is split at the wrong separator."""
    before = csv.field_size_limit(2**31 - 1)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _wide_encoding(start: bytes) -> str:
    """Return the encoding of a text whose letters have two or four bytes, or nothing."""
    if start.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return "utf-32"
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    # Without a mark the zeros tell: half of the bytes of the separators and digits of a table.
    even, odd = start[::2].count(0), start[1::2].count(0)
    if max(even, odd) < _MANY_ZEROS * len(start) or min(even, odd) > 0:
        return ""
    return "utf-16-be" if even else "utf-16-le"


def _is_open(header: str, delimiter: str) -> bool:
    """Whether a quote that begins in a header ends in a later line."""
    if header.count('"') % 2 == 0 or len(header) > _MOST_HEADER:
        return False
    try:
        with _any_length():
            list(csv.reader([header], delimiter=delimiter, skipinitialspace=True, strict=True))
    except csv.Error:
        return True
    return False


def _has_cells(content: bytes, delimiter: str, frame: pd.DataFrame) -> bool:
    """Whether each record has as many cells as the frame made of them; blank lines are none.

    Separators outside quotes are counted, in a fraction of the time that parsing takes.
    """
    mark, (rows, columns) = delimiter.encode(), frame.shape
    bare = _QUOTED.sub(b"", content) if b'"' in content else content
    # A row that is too short has no last cell, so one that is too long shows in the sum.
    if columns > 1 and frame.iloc[:, -1].notna().all():
        return bare.count(mark) == rows * (columns - 1)
    lines = list(filter(None, bare.split(b"\n")))
    return len(lines) == rows and {line.count(mark) for line in lines} <= {columns - 1}


def check_header(name: str, header: list[str]) -> None:
    """Raise an error unless every column has a name of its own, but that an index has none."""
    if not any(header):
        raise ValueError(f"{name} is empty; it needs a header line and rows")
    named = header[1:] if header[0] == "" else header  # an index, as pandas and R write it
    numbered = [str(number) for number in range(len(named))]  # a frame whose columns have no names
    if all(re.fullmatch(NUMBER, name) for name in named) and (
        named is header or named != numbered
    ):
        raise ValueError(
            f"{name}: the first line holds only numbers; add a header line with column names"
        )
    if "" in named:
        raise ValueError(
            f"{name}: column {header.index('', 1) + 1} has no name in the header; name it, or "
            "remove it (only an unnamed first column is taken for an index)"
        )
    twice = sorted(name for name, count in Counter(named).items() if count > 1)
    if twice:
        raise ValueError(f"{name}: column {twice[0]!r} occurs more than once; rename one of them")
