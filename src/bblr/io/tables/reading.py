"""Tables read from files of any format."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from bblr.io.tables.training_table import ColumnChoices, read_training

__all__ = ["read_table"]


def read_table(
    path: str | PathLike[str] | Sequence[str | PathLike[str]],
    target: str | None = None,
    *,
    drop: Sequence[str] = (),
    number: Sequence[str] = (),
    category: Sequence[str] = (),
    date: Sequence[str] = (),
    text: Sequence[str] = (),
) -> tuple[Any, np.ndarray, list[str]]:
    r"""Read a table with a class for each row from a file, or from several of one layout.

    The ending of the name says which format it has (``.csv``, ``.tsv``; ``.parquet``, ``.pq``;
    ``.feather``, ``.arrow``; ``.xlsx``; ``.svm``, ``.svmlight``, ``.libsvm``); for any other
    ending, ``.txt`` among them, the content does. Files packed by gzip, bzip2, xz, zstd or, one at
    a time, zip are unpacked.

    A CSV file has a header line and is separated by commas, semicolons, tabs or vertical bars,
    whichever splits the header into the most columns. It is UTF-8 or UTF-16, or else read as
    Windows (cp1252) text. A first column without a name is taken for an index, as pandas writes
    one, and left out. Numbers may have decimal commas where other marks separate: a column whose
    other cells are all numbers of that form is read so, unless every comma may separate thousands
    (``1,234``) or other numbers have decimal points.

    Each column becomes features by what it holds:

    - **Numbers** stay as they are; true/false becomes 1 and 0.
    - **Texts** with at most 50 different ones are one-hot encoded into features named
      ``column=level`` (a single one for two levels, marking the second in alphabetical order).
      Blanks around a text do not count.
    - **More texts than that**, and free text, become up to 30 features ``column text 1``, … that
      say which sequences of 3 and 4 characters they have.
    - **Dates**, all in one format, become ``column days`` (since 1970) and what varies of
      ``year``, ``month``, ``day``, ``weekday`` and ``hour``, in UTC.
    - **Left out** are columns without any value, with one value only, that number the rows, or
      that have another short text in every row.
    - **Missing values** are empty cells, ``?`` and what pandas takes for missing (``NA``, ``nan``,
      ``None`` …). A column that has some gets a further feature ``column missing``, which marks
      them; the median of the others stands in for a number or a date.

    A warning names columns that are left out, hold dates, free text or decimal commas, and texts
    that differ only in letter case.

    Parameters
    ----------
    path : str, path-like, or sequence of these
        The file, or files with the same columns. ``-`` stands for standard input.
    target : str or None, default=None
        The column that holds the class. By default the last one. An svmlight file has its
        labels in front of each row and takes no `target`.
    drop : sequence of str, default=()
        Columns to leave out.
    number : sequence of str, default=()
        Columns that hold numbers, even if they seem to number the rows.
    category : sequence of str, default=()
        Columns to one-hot encode, of up to 1,000 levels.
    date : sequence of str, default=()
        Columns that hold dates.
    text : sequence of str, default=()
        Columns that hold free text.

    Returns
    -------
    X : ndarray or csr_matrix of float64, shape (rows, features)
        The features; a CSR matrix for svmlight.
    y : ndarray of shape (rows,)
        The labels as they stand in the file: text, whole numbers, or true/false. Those of a CSV
        file that would merge as numbers, such as ``7`` and ``007``, stay text.
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
        If pandas (or pyarrow, or openpyxl for Excel) is needed and missing.

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
    choices = ColumnChoices(target, drop, number, category, date, text)
    paths = [path] if isinstance(path, str | PathLike) else path
    table = read_training([Path(each) for each in paths], choices)
    for note in table.notes:
        warnings.warn(f"{', '.join(map(str, paths))}: {note}", UserWarning, stacklevel=2)
    return table.X, table.y, table.layout.feature_names
