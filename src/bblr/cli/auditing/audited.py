"""Data whose labels are to be audited: an embedded set or a file, its own columns kept."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bblr._settings import SettingError
from bblr.cli.running import about_the_file
from bblr.datasets import UCI_NAMES, load_uci
from bblr.io.columns.column_kinds import NumberColumn
from bblr.io.tables.table_layout import Layout, TableLayout
from bblr.io.tables.training_table import ColumnChoices, read_training

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
    layout : TableLayout or SvmlightLayout
        How the columns became features.
    notes : tuple of str, default=()
        What was perhaps not meant as it was read.
    """

    name: str
    X: Any
    y: np.ndarray
    own: pd.DataFrame | None
    layout: Layout
    notes: tuple[str, ...] = ()


def read_audited(data: str, choices: ColumnChoices) -> Audited:
    """Load an embedded set by name, or a file."""
    if data in UCI_NAMES:
        for setting in choices.given:
            raise SettingError(
                setting, f"only goes with a file; leave it out, {data!r} knows its columns"
            )
        found = load_uci(data, as_frame=True)
        X, y = found.data.to_numpy(dtype=float), found.target.to_numpy()
        columns = [NumberColumn(str(name), False, 0.0) for name in found.data.columns]
        return Audited(data, X, y, found.data, TableLayout(tuple(columns), found.target.name))
    path = Path(data)
    if data != "-" and not path.exists():
        raise SettingError(
            "data",
            f"{data!r} is neither an embedded data set ({', '.join(UCI_NAMES)}) nor a file; "
            "check the name or the path",
        )
    with about_the_file():
        table = read_training(path, choices)
    layout = table.layout
    own = None if table.frame is None else table.frame.drop(columns=str(layout.target))
    name = "standard input" if data == "-" else path.name
    return Audited(name, table.X, table.y, own, layout, table.notes)
