"""Tables read from files: CSV, Parquet and svmlight."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bblr.io.tables import formats
from bblr.io.tables.columns_in import SplitColumns, learn_frame
from bblr.io.tables.labels_in import check_classes

if TYPE_CHECKING:
    import os

    import pandas as pd


def read_table(
    path: str | os.PathLike[str], target: str | None = None, *, drop: Sequence[str] = ()
) -> tuple[Any, np.ndarray, list[str]]:
    r"""Read a table with a class for each row from a CSV, Parquet or svmlight file.

    The ending of the name says which it is (``.csv``, ``.tsv``; ``.parquet``, ``.pq``; ``.svm``,
    ``.svmlight``, ``.libsvm``); for any other ending, ``.txt`` among them, the content does.

    A CSV file has a header line and is separated by commas, semicolons or tabs, whichever splits
    the header into the most columns. A first column without a name is taken for an index, as
    pandas writes one, and left out. Empty cells, ``?`` and what pandas takes for missing (``NA``,
    ``nan``, ``None`` …) are missing values; a column that has some gets a further one, named
    ``column missing``, which marks them, and the median of the others stands in for a missing
    number. Text and category columns with at most 50 levels are
    one-hot encoded into columns named ``column=level`` (a single one for two levels, marking the
    second in alphabetical order); true/false columns become 0 and 1. Blanks around a text do not
    count. Numbers may have decimal commas where semicolons or tabs separate: a column whose other
    cells are all numbers of that form is read so, unless every comma may separate thousands
    (``1,234``) or other numbers have decimal points.

    A warning names columns with decimal commas, texts that differ only in letter case, and columns
    of whole numbers that seem to number the rows.

    Parameters
    ----------
    path : str or path-like
        The file.
    target : str or None, default=None
        The column that holds the class. By default the last one. An svmlight file has its
        labels in front of each row and takes no `target`.
    drop : sequence of str, default=()
        Columns to leave out: numbers of rows, names, dates.

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
        If the file is empty or malformed, a feature is infinite or not a number, or
        the target is not there, has one class only, nearly as many classes as rows, or numbers
        that are not whole. The message names the file, the column and the remedy.
    ImportError
        If pandas (or pyarrow, for Parquet) is needed and missing.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from bblr.io import read_table
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
    X, y, names, notes = read_noted(Path(path), target, drop)
    for note in notes:
        warnings.warn(f"{path}: {note}", UserWarning, stacklevel=2)
    return X, y, names


def read_noted(
    path: Path, target: str | None, drop: Sequence[str]
) -> tuple[Any, np.ndarray, list[str], tuple[str, ...]]:
    """Do the same, and return what else it would warn of."""
    formats.check_file(path)
    kind = formats.file_format(path)
    if kind != "svmlight":
        split = learn_file(path, kind, target, drop)[1]
        y = check_classes(split.y, split.what, ": name the column with target=")
        names = [name for column in split.columns for name in column.feature_names]
        return split.X, y, names, split.notes
    check_unnamed(path, target, drop)
    rows = read_svmlight_rows(path)
    n_features = svmlight_width(rows)
    return (
        rows.features(n_features, zero_based=rows.zero_based),
        check_classes(rows.y, f"the labels of {path}"),
        svmlight_names(n_features),
        (),
    )


def learn_file(
    path: Path, kind: str, target: str | None, drop: Sequence[str]
) -> tuple[pd.DataFrame, SplitColumns]:
    """Read a CSV or Parquet file as it stands there, and taken apart."""
    frame = read_frame(path, kind)
    commas = kind == "csv" and formats.csv_delimiter(path) != ","
    return frame, learn_frame(frame, target, path, drop, commas=commas)


def check_unnamed(path: Path, target: str | None, drop: Sequence[str]) -> None:
    """Raise an error if columns of an svmlight file are named."""
    if target is not None:
        raise ValueError(
            f"target={target!r}: {path} is an svmlight file, whose labels stand in front of "
            "each row; leave target out"
        )
    if drop:
        raise ValueError(
            f"drop={drop[0]!r}: {path} is an svmlight file, whose columns have no names; leave "
            "drop out"
        )


def read_svmlight_rows(path: Path) -> formats.SvmlightRows:
    """Read an svmlight file that must hold rows."""
    rows = formats.read_svmlight(path)
    if rows.X.shape[0] == 0:
        raise ValueError(f"{path} holds no rows; each needs a label and index:value pairs")
    return rows


def svmlight_width(rows: formats.SvmlightRows) -> int:
    """Return the number of features of a whole svmlight file."""
    return int(rows.X.shape[1]) - (0 if rows.zero_based else 1)


def svmlight_names(n_features: int) -> list[str]:
    """Return the names of so many features of an svmlight file."""
    return [f"x{j + 1}" for j in range(n_features)]


def read_frame(path: Path, kind: str) -> pd.DataFrame:
    """Read a CSV or Parquet file whole, with string column names."""
    return _read_parquet(path) if kind == "parquet" else _read_csv(path)


def _read_parquet(path: Path) -> pd.DataFrame:
    try:
        import pandas as pd
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise formats.pandas_missing(path, " and pyarrow") from error
    try:
        frame = pd.read_parquet(path, engine="pyarrow")
    except (ValueError, OSError) as error:
        raise ValueError(f"{path} is not a sound Parquet file: {error}") from error
    frame.columns = frame.columns.map(str)
    return without_marks(frame)


def without_marks(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table with gaps where a text stands for one, as in a CSV file."""
    for name, column in frame.items():
        if column.dtype.kind != "O" and str(column.dtype) not in ("string", "str"):
            continue
        try:
            marks = column.isin(formats.MISSING)
        except TypeError:  # lists and the like, which are refused further on
            continue
        if marks.any():
            frame = frame.assign(**{str(name): column.mask(marks)})
    return frame


def _read_csv(path: Path) -> pd.DataFrame:
    try:
        import pandas as pd
    except ImportError as error:
        raise formats.pandas_missing(path) from error
    delimiter = formats.csv_delimiter(path)
    records = formats.csv_records(path, delimiter)
    header = next(records, ([], ""))[0]
    for _ in records:
        pass  # checked whole before pandas reads it
    frame = pd.read_csv(
        path,
        sep=delimiter,
        encoding="utf-8-sig",
        skipinitialspace=True,
        na_values=formats.MISSING,
        keep_default_na=False,
        low_memory=False,
    )
    frame.columns = header
    return frame.drop(columns="") if header[0] == "" else frame
