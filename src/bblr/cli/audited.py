"""Data whose labels are to be audited: an embedded set or a file, its own columns kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bblr._settings import SettingError
from bblr.cli.running import about_the_file
from bblr.datasets import UCI_NAMES, load_uci
from bblr.io.tables import formats
from bblr.io.tables.columns_in import Column
from bblr.io.tables.labels_in import check_classes
from bblr.io.tables.reading import learn_file
from bblr.io.tables.table_layout import read_training

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Audited", "read_audited"]


@dataclass(frozen=True)
class Audited:
    """Rows, labels, and what a person sees of a row.

    Parameters
    ----------
    name : str
        What the report calls the data.
    X : ndarray or sparse matrix of shape (rows, features)
        Features.
    y : ndarray of shape (rows,)
        Labels.
    own : DataFrame or None
        The columns as they stand in the source, all but the label; None for svmlight.
    target : str or None
        The column of the label.
    columns : tuple of Column, default=()
        How the columns of a table became features.
    notes : tuple of str, default=()
        What was perhaps not meant as it was read.
    """

    name: str
    X: Any
    y: np.ndarray
    own: pd.DataFrame | None
    target: str | None
    columns: tuple[Column, ...] = ()
    notes: tuple[str, ...] = ()


def read_audited(data: str, target: str | None, drop: Sequence[str]) -> Audited:
    """Load an embedded set by name, or a CSV, Parquet or svmlight file."""
    if data in UCI_NAMES:
        for setting, given in {"target": target, "drop": drop}.items():
            if given:
                raise SettingError(
                    setting, f"only goes with a file; leave it out, {data!r} knows its columns"
                )
        found = load_uci(data, as_frame=True)
        y = found.target.to_numpy()
        return Audited(data, found.data.to_numpy(dtype=float), y, found.data, found.target.name)
    path = Path(data)
    if not path.exists():
        raise SettingError(
            "data",
            f"{data!r} is neither an embedded data set ({', '.join(UCI_NAMES)}) nor a file; "
            "check the name or the path",
        )
    with about_the_file():
        formats.check_file(path)
        kind = formats.file_format(path)
        if kind == "svmlight":
            rows = read_training(path, target, drop)
            return Audited(path.name, rows.X, rows.y, None, None)
        frame, split = learn_file(path, kind, target, drop)
        y = check_classes(split.y, split.what, ": name the column with --target")
        own = frame.drop(columns=split.target)
        return Audited(path.name, split.X, y, own, split.target, split.columns, split.notes)
