"""The layout of a training file: what its columns hold, so that new files can be read alike."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bblr.datasets import formats
from bblr.datasets._columns import Column, Kind, learn_frame, whole_numbers
from bblr.datasets.files import (
    read_frame,
    read_svmlight_rows,
    svmlight_width,
    target_with_svmlight,
)

__all__ = ["Layout", "SvmlightLayout", "TableLayout", "Training", "label_kind", "read_training"]


@dataclass(frozen=True)
class TableLayout:
    """The columns of a CSV or Parquet file.

    Parameters
    ----------
    columns : tuple of Column
        The feature columns, in the order of the features.
    target : str
        The column of the class.
    """

    columns: tuple[Column, ...]
    target: str

    @property
    def n_features(self) -> int:
        """Features after encoding."""
        return sum(len(column.feature_names) for column in self.columns)

    def as_dict(self) -> dict[str, Any]:
        """Return the layout in JSON's types."""
        return {"format": "table", **asdict(self)}


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

    def as_dict(self) -> dict[str, Any]:
        """Return the layout in JSON's types."""
        return {"format": "svmlight", **asdict(self)}


Layout = TableLayout | SvmlightLayout


def layout_from_dict(stored: dict[str, Any]) -> Layout:
    """Return the layout that ``as_dict`` was asked of."""
    if stored["format"] == "svmlight":
        return SvmlightLayout(int(stored["n_features"]), bool(stored["zero_based"]))
    columns = tuple(
        Column(str(column["name"]), column["kind"], tuple(column["levels"]))
        for column in stored["columns"]
    )
    return TableLayout(columns, str(stored["target"]))


@dataclass(frozen=True)
class Training:
    """What a classifier learns from.

    Parameters
    ----------
    X : ndarray or csr_matrix of shape (rows, features)
        Features.
    y : ndarray of shape (rows,)
        Labels.
    layout : TableLayout or SvmlightLayout
        Where they stood in the file.
    """

    X: Any
    y: np.ndarray
    layout: Layout


def read_training(path: Path, target: str | None) -> Training:
    """Read a training file whole, as :func:`bblr.datasets.read_table` does.

    Any number of classes from two on will do.
    """
    formats.check_file(path)
    kind = formats.file_format(path)
    if kind != "svmlight":
        split = learn_frame(read_frame(path, kind), target, path)
        y = _checked_classes(split.y, split.what, ": name the column with --target")
        return Training(split.X, y, TableLayout(split.columns, split.target))
    if target is not None:
        raise target_with_svmlight(path, target)
    rows = read_svmlight_rows(path)
    layout = SvmlightLayout(svmlight_width(rows), rows.zero_based)
    if layout.n_features == 0:
        raise ValueError(f"{path} holds labels alone; add index:value pairs")
    X = rows.features(layout.n_features, zero_based=layout.zero_based)
    return Training(X, _checked_classes(rows.y, f"the labels of {path}"), layout)


def _checked_classes(y: np.ndarray, what: str, remedy: str = ": check the file") -> np.ndarray:
    classes = np.unique(y)
    if len(classes) < 2:
        raise ValueError(
            f"{what} hold one class only ({classes[0].item()!r}); two are needed{remedy}"
        )
    # A quantity or a name taken for a class; a class must at least occur twice to be learned.
    if len(classes) > max(2, len(y) // 2):
        raise ValueError(f"{what} hold {len(classes)} classes in {len(y)} rows{remedy}")
    return whole_numbers(y)


def label_kind(classes: np.ndarray) -> Kind:
    """Return what the labels of these classes are: numbers, true/false or text."""
    if classes.dtype.kind == "b":
        return "flag"
    return "number" if classes.dtype.kind in "iuf" else "text"
