"""The layout of a training file: what its columns hold, so that new files can be read alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bblr.io.tables import formats
from bblr.io.tables.columns_in import Column, Kind
from bblr.io.tables.labels_in import check_classes
from bblr.io.tables.reading import check_unnamed, learn_file, read_svmlight_rows, svmlight_width

__all__ = [
    "Layout",
    "SvmlightLayout",
    "TableLayout",
    "TrainingTable",
    "label_kind",
    "read_training",
]


@dataclass(frozen=True)
class TableLayout:
    """The columns of a CSV or Parquet file.

    Parameters
    ----------
    columns : tuple of Column
        The feature columns, in the order of the features.
    target : str
        The column of the class.
    dropped : tuple of str, default=()
        Columns that were left out; new files may have them or not.
    commas : bool, default=False
        Whether the file had decimal commas.
    """

    columns: tuple[Column, ...]
    target: str
    dropped: tuple[str, ...] = ()
    commas: bool = False

    @property
    def n_features(self) -> int:
        """Features after encoding."""
        return sum(len(column.feature_names) for column in self.columns)


@dataclass(frozen=True)
class SvmlightLayout:
    """The features of an svmlight file.

    Parameters
    ----------
    n_features : int
        How many there are.
    zero_based : bool
        Whether the first has index 0; otherwise 1.
    """

    n_features: int
    zero_based: bool


Layout = TableLayout | SvmlightLayout


@dataclass(frozen=True)
class TrainingTable:
    """What a classifier learns from.

    Parameters
    ----------
    X : ndarray or csr_matrix of shape (rows, features)
        Features.
    y : ndarray of shape (rows,)
        Labels.
    layout : TableLayout or SvmlightLayout
        Where they stood in the file.
    notes : tuple of str, default=()
        What was perhaps not meant as it was read.
    """

    X: Any
    y: np.ndarray
    layout: Layout
    notes: tuple[str, ...] = ()


def read_training(path: Path, target: str | None, drop: Sequence[str] = ()) -> TrainingTable:
    """Read a training file whole, as :func:`bblr.io.read_table` does."""
    formats.check_file(path)
    kind = formats.file_format(path)
    if kind != "svmlight":
        split = learn_file(path, kind, target, drop)[1]
        y = check_classes(split.y, split.what, ": name the column with --target")
        table = TableLayout(split.columns, split.target, tuple(drop), split.commas)
        return TrainingTable(split.X, y, table, split.notes)
    check_unnamed(path, target, drop)
    rows = read_svmlight_rows(path)
    layout = SvmlightLayout(svmlight_width(rows), rows.zero_based)
    if layout.n_features == 0:
        raise ValueError(f"{path} holds labels alone; add index:value pairs")
    X = rows.features(layout.n_features, zero_based=layout.zero_based)
    return TrainingTable(X, check_classes(rows.y, f"the labels of {path}"), layout)


def label_kind(classes: np.ndarray) -> Kind:
    """Return what the labels of these classes are: numbers, true/false or text."""
    if classes.dtype.kind == "b":
        return "flag"
    return "number" if classes.dtype.kind in "iuf" else "text"
