"""Tables read from files: CSV, Parquet and svmlight."""

from __future__ import annotations

import csv
import difflib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.datasets import load_svmlight_file

from bblr.datasets._columns import check_two_classes, split_frame

if TYPE_CHECKING:
    import os

    import pandas as pd

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
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_SVMLIGHT_ROW = re.compile(rf"{_NUMBER}(?:\s+qid:\d+)?(?:\s+\d+:{_NUMBER})*\s*(?:#.*)?")
_PANDAS_MISSING = "reading {path} needs pandas{extra}; install them with: pip install 'bblr[cli]'"


def read_table(
    path: str | os.PathLike[str], target: str | None = None
) -> tuple[Any, np.ndarray, list[str]]:
    r"""Read a two-class table from a CSV, Parquet or svmlight file.

    The ending of the name says which it is (``.csv``, ``.tsv``; ``.parquet``, ``.pq``; ``.svm``,
    ``.svmlight``, ``.libsvm``); for any other ending, ``.txt`` among them, the content does.

    A CSV file has a header line and is separated by commas, semicolons or tabs, whichever splits
    the header into the most columns. Empty cells, ``?`` and what pandas takes for missing (``NA``,
    ``nan``, ``None`` …) are missing values. Text and category columns with at most 50 levels are
    one-hot encoded into columns named ``column=level`` (a single one for two levels, marking the
    second in alphabetical order); true/false columns become 0 and 1.

    Parameters
    ----------
    path : str or path-like
        The file.
    target : str, optional
        The column that holds the class. By default the last one. An svmlight file has its
        labels in front of each row and takes no `target`.

    Returns
    -------
    X : ndarray or csr_matrix of float64, shape (rows, features)
        The features; a CSR matrix for svmlight.
    y : ndarray of shape (rows,)
        The labels as they stand in the file: text, whole numbers, or true/false.
    feature_names : list of str
        A name for each column of `X`; ``x1``, ``x2``, … for svmlight.

    Raises
    ------
    OSError
        If there is no such file (`FileNotFoundError`), it is a folder (`IsADirectoryError`) or
        it cannot be opened.
    ValueError
        If the file is empty or malformed, a feature is missing, infinite or not a number, or
        the target is not there or has other than two classes. The message names the file, the
        column and the remedy.
    ImportError
        If pandas (or pyarrow, for Parquet) is needed and missing.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from bblr.datasets import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "pets.csv")
    ...     _ = path.write_text("kind,weight,fur\ncat,4.5,long\ndog,12,short\ncat,5,short\n")
    ...     X, y, names = read_table(path, target="kind")
    >>> names
    ['weight', 'fur=short']
    >>> X
    array([[ 4.5,  0. ],
           [12. ,  1. ],
           [ 5. ,  1. ]])
    >>> y.tolist()
    ['cat', 'dog', 'cat']
    """
    path = Path(path)
    _check_file(path)
    kind = _FORMATS.get(path.suffix.lower()) or _sniff_format(path)
    if kind == "svmlight":
        if target is not None:
            raise ValueError(
                f"target={target!r}: {path} is an svmlight file, whose labels stand in front of "
                "each row; leave target out"
            )
        return _read_svmlight(path)
    frame = _read_parquet(path) if kind == "parquet" else _read_csv(path)
    return split_frame(frame, target, path)


def _check_file(path: Path) -> None:
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
        start = file.read(6)
    for magic, packer in _PACKED.items():
        if start.startswith(magic):
            raise ValueError(f"{path} is packed with {packer}; unpack it first")


def _sniff_format(path: Path) -> str:
    with path.open("rb") as file:
        if file.read(4) == b"PAR1":
            return "parquet"
    for line in _text_lines(path):
        row = line.strip()
        if row and not row.startswith("#"):
            # A lone number is a label without features in svmlight, but just as well a CSV file
            # of one column: take it for CSV, whose error message is the clearer one.
            return "svmlight" if ":" in row and _SVMLIGHT_ROW.fullmatch(row) else "csv"
    return "csv"


def _text_lines(path: Path) -> Iterator[str]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            yield from file
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path} is not UTF-8 text; save it as UTF-8 text, or give a Parquet file the ending "
            ".parquet"
        ) from error


def _read_svmlight(path: Path) -> tuple[Any, np.ndarray, list[str]]:
    try:
        X, y = load_svmlight_file(str(path))
    except ValueError as error:
        for number, line in enumerate(_text_lines(path), start=1):
            row = line.strip()
            if row and not row.startswith("#") and not _SVMLIGHT_ROW.fullmatch(row):
                raise ValueError(
                    f"{path}, line {number}: {row[:60]!r} is not an svmlight row; expected a "
                    "label and then index:value pairs"
                ) from error
        raise ValueError(f"{path} is not a sound svmlight file: {error}") from error
    if X.shape[0] == 0:
        raise ValueError(f"{path} holds no rows; each needs a label and index:value pairs")
    if not np.isfinite(X.data).all():
        column = int(X.indices[~np.isfinite(X.data)][0]) + 1
        raise ValueError(f"{path}: feature x{column} holds nan or infinite values; remove them")
    return (
        X,
        check_two_classes(y, f"the labels of {path}"),
        [f"x{j + 1}" for j in range(X.shape[1])],
    )


def _read_parquet(path: Path) -> pd.DataFrame:
    try:
        import pandas as pd
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise ImportError(_PANDAS_MISSING.format(path=path, extra=" and pyarrow")) from error
    try:
        frame = pd.read_parquet(path, engine="pyarrow")
    except (ValueError, OSError) as error:
        raise ValueError(f"{path} is not a sound Parquet file: {error}") from error
    frame.columns = frame.columns.map(str)
    return frame


def _read_csv(path: Path) -> pd.DataFrame:
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(_PANDAS_MISSING.format(path=path, extra="")) from error
    header = next((line for line in _text_lines(path) if line.strip()), "")
    delimiter = max(",;\t", key=lambda mark: len(next(csv.reader([header], delimiter=mark), [])))
    _check_csv(path, delimiter)
    return pd.read_csv(
        path,
        sep=delimiter,
        encoding="utf-8-sig",
        skipinitialspace=True,
        na_values=["?"],
        low_memory=False,
    ).rename(columns=str.strip)


def _check_csv(path: Path, delimiter: str) -> None:
    """Check what pandas would mend in silence: the header and the number of cells."""
    reader = csv.reader(_text_lines(path), delimiter=delimiter, skipinitialspace=True, strict=True)
    try:
        rows = (cells for cells in reader if cells)
        header = [cell.strip() for cell in next(rows, [])]
        _check_header(path, header)
        n_rows = 0
        for cells in rows:
            n_rows += 1
            if len(cells) != len(header):
                raise ValueError(
                    f"{path}, line {reader.line_num}: {len(cells)} cells, but the header has "
                    f"{len(header)}; correct that line (a cell with the separator "
                    f"{delimiter!r} in it needs quotes)"
                )
    except csv.Error as error:
        raise ValueError(
            f"{path}, line {reader.line_num}: {error}; check the quotes there"
        ) from error
    if n_rows == 0:
        raise ValueError(f"{path} has a header but no rows; add the data")


def _check_header(path: Path, header: list[str]) -> None:
    if not any(header):
        raise ValueError(f"{path} is empty; it needs a header line and rows")
    if all(re.fullmatch(_NUMBER, name) for name in header):
        raise ValueError(
            f"{path}: the first line holds only numbers; add a header line with column names"
        )
    if "" in header:
        raise ValueError(
            f"{path}: column {header.index('') + 1} has no name in the header; name it, or leave "
            "it out if it only numbers the rows"
        )
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise ValueError(f"{path}: column {twice[0]!r} occurs more than once; rename one of them")
