"""The formats tables come in: which one a file has, and its rows read and checked."""

from __future__ import annotations

import csv
import difflib
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

_FORMATS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
}
_PACKED = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"PK\x03\x04": "zip", b"\xfd7zXZ": "xz"}
_WORKBOOKS = (".xlsx", ".xlsm", ".xls", ".ods")
_OLD_EXCEL = bytes.fromhex("d0cf11e0a1b11ae1")
# Texts that stand for no value, in every kind of table: those of pandas, and the UCI sets' own.
MISSING = (
    "", "?", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN",
    "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null",
)  # fmt: skip
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_SVMLIGHT_ROW = re.compile(rf"{_NUMBER}(?:\s+qid:\d+)?(?:\s+\d+:{_NUMBER})*\s*(?:#.*)?")


def pandas_missing(path: Path, extra: str = "") -> ImportError:
    """Return the error for a file that needs packages which are not installed."""
    return ImportError(
        f"reading {path} needs pandas{extra}; install them with: pip install 'bblr[cli]'"
    )


def check_file(path: Path) -> None:
    """Raise an error that says what is wrong unless there is a file with content."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; name a file in it")
    if not path.exists():
        names = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
        close = difflib.get_close_matches(path.name, names)
        hint = f"; there is {', '.join(close)} beside it" if close else "; check the spelling"
        raise FileNotFoundError(f"there is no file {path}{hint}")
    if path.stat().st_size == 0:
        raise ValueError(f"{path} is empty; it needs a header and rows, or svmlight rows")
    with path.open("rb") as file:
        start = file.read(8)
    if _is_workbook(path, start):
        kind = "an OpenDocument" if path.suffix.lower() == ".ods" else "an Excel"
        raise ValueError(f"{path} is {kind} workbook; save it as CSV (UTF-8) first")
    for magic, packer in _PACKED.items():
        if start.startswith(magic):
            raise ValueError(f"{path} is packed with {packer}; unpack it first")


def _is_workbook(path: Path, start: bytes) -> bool:
    if start == _OLD_EXCEL:
        return True
    if not start.startswith(b"PK\x03\x04"):
        return False
    if path.suffix.lower() in _WORKBOOKS:
        return True
    try:
        with zipfile.ZipFile(path) as archive:
            return "[Content_Types].xml" in archive.namelist()
    except zipfile.BadZipFile:
        return False


def file_format(path: Path) -> str:
    """Return csv, parquet or svmlight, by the ending of the name or else by the content."""
    return _FORMATS.get(path.suffix.lower()) or _sniff_format(path)


def _sniff_format(path: Path) -> str:
    with path.open("rb") as file:
        if file.read(4) == b"PAR1":
            return "parquet"
    for line in text_lines(path):
        row = line.strip()
        if row and not row.startswith("#"):
            # A lone number is a label without features in svmlight, but just as well a CSV file
            # of one column: take it for CSV, whose error message is the clearer one.
            return "svmlight" if ":" in row and _SVMLIGHT_ROW.fullmatch(row) else "csv"
    return "csv"


def text_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a text file; one that is not UTF-8 is an error."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            yield from file
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path} is not UTF-8 text; save it as UTF-8 text (Excel: as CSV UTF-8), or give a "
            "Parquet file the ending .parquet"
        ) from error


def csv_delimiter(path: Path) -> str:
    """Return whichever of comma, semicolon and tab splits the header into the most columns."""
    header = next((line for line in text_lines(path) if line.strip()), "")
    try:
        return max(",;\t", key=lambda mark: len(next(csv.reader([header], delimiter=mark), [])))
    except csv.Error as error:
        raise ValueError(
            f"{path}: the first line is no header with names of columns: {error}; check the file"
        ) from error


def csv_records(path: Path, delimiter: str) -> Iterator[tuple[list[str], str]]:
    """Yield the cells and the text of each record, the header first.

    The header may begin with an empty name: that column is an index and holds no data.
    What pandas would mend in silence is an error: an unsound header, a row with too few or too
    many cells, a quote that is not closed, no rows at all.
    """
    taken: list[str] = []
    reader = csv.reader(
        _noted(text_lines(path), taken), delimiter=delimiter, skipinitialspace=True, strict=True
    )
    n_columns = n_rows = 0
    try:
        for cells in reader:
            text = "".join(taken)
            taken.clear()
            if not cells:
                continue
            if not n_columns:
                cells = [cell.strip() for cell in cells]
                _check_header(path, cells)
                n_columns = len(cells)
            elif len(cells) != n_columns:
                raise ValueError(
                    f"{path}, line {reader.line_num}: {len(cells)} cells, but the header has "
                    f"{n_columns}; correct that line (a cell with the separator "
                    f"{delimiter!r} in it needs quotes)"
                )
            else:
                n_rows += 1
            yield cells, text
    except csv.Error as error:
        raise ValueError(
            f"{path}, line {reader.line_num}: {error}; check the quotes there"
        ) from error
    if not n_columns:
        _check_header(path, [])
    if n_rows == 0:
        raise ValueError(f"{path} has a header but no rows; add the data")


def _noted(lines: Iterator[str], taken: list[str]) -> Iterator[str]:
    for line in lines:
        taken.append(line)
        yield line


def _check_header(path: Path, header: list[str]) -> None:
    if not any(header):
        raise ValueError(f"{path} is empty; it needs a header line and rows")
    named = header[1:] if header[0] == "" else header  # an index, as pandas and R write it
    numbered = [str(number) for number in range(len(named))]  # a frame whose columns have no names
    if all(re.fullmatch(_NUMBER, name) for name in named) and (
        named is header or named != numbered
    ):
        raise ValueError(
            f"{path}: the first line holds only numbers; add a header line with column names"
        )
    if "" in named:
        raise ValueError(
            f"{path}: column {header.index('', 1) + 1} has no name in the header; name it, or "
            "remove it (only an unnamed first column is taken for an index)"
        )
    twice = sorted({name for name in named if named.count(name) > 1})
    if twice:
        raise ValueError(f"{path}: column {twice[0]!r} occurs more than once; rename one of them")


@dataclass(frozen=True)
class SvmlightRows:
    """Rows of an svmlight file with indices as they stand there.

    Parameters
    ----------
    X : csr_matrix of shape (rows, largest index + 1)
        Features; column j is index j of the file.
    y : ndarray of shape (rows,)
        Labels.
    """

    X: Any
    y: np.ndarray

    @property
    def zero_based(self) -> bool:
        """Whether index 0 occurs, so that the first feature must have it."""
        return bool(self.X.nnz and self.X.indices.min() == 0)

    def features(self, n_features: int, *, zero_based: bool) -> Any:
        """Return the matrix of the features, the first of which has index 0 or 1."""
        start = 0 if zero_based else 1
        parts = (self.X.data, self.X.indices - start, self.X.indptr)
        return sp.csr_matrix(parts, shape=(self.X.shape[0], n_features))


def read_svmlight(path: Path, lines: list[bytes] | None = None, first: int = 1) -> SvmlightRows:
    """Read an svmlight file, or some lines of it; `first` is the number of the first of them."""
    source = str(path) if lines is None else BytesIO(b"".join(lines))
    try:
        X, y = load_svmlight_file(source, zero_based=True)
    except (ValueError, OverflowError) as error:
        texts = text_lines(path) if lines is None else (t.decode(errors="replace") for t in lines)
        for number, line in enumerate(texts, start=first):
            row = line.strip()
            if row and not row.startswith("#") and not _SVMLIGHT_ROW.fullmatch(row):
                raise ValueError(
                    f"{path}, line {number}: {row[:60]!r} is not an svmlight row; expected a "
                    "label and then index:value pairs"
                ) from error
        raise ValueError(f"{path} is not a sound svmlight file: {error}") from error
    if not np.isfinite(X.data).all():
        index = int(X.indices[~np.isfinite(X.data)][0]) + int(X.indices.min() == 0)
        raise ValueError(f"{path}: feature x{index} holds nan or infinite values; remove them")
    return SvmlightRows(X, y)
