"""Training files read whole: features, labels, and how both stood in the file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from bblr.io.columns.cell_values import comma_numbers
from bblr.io.columns.notes import alike_notes, columns_listed, no_such_column
from bblr.io.columns.table_encoder import KINDS, TableEncoder
from bblr.io.tables.labels_in import check_classes, labels
from bblr.io.tables.opening import opened_data
from bblr.io.tables.svmlight_rows import SvmlightRows, svmlight_blocks
from bblr.io.tables.table_layout import Layout, SvmlightLayout, TableLayout
from bblr.io.tables.table_rows import TableRows, table_rows

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ColumnChoices", "TrainingTable", "read_training"]


@dataclass(frozen=True)
class ColumnChoices:
    """What the user says of columns; a text may hold several names with commas between.

    Parameters
    ----------
    target : str or None, default=None
        The column of the class; None takes the last.
    drop : sequence of str, default=()
        Columns to leave out.
    number, category, date, text : sequence of str, default=()
        Columns that hold such.
    """

    target: str | None = None
    drop: Sequence[str] = ()
    number: Sequence[str] = ()
    category: Sequence[str] = ()
    date: Sequence[str] = ()
    text: Sequence[str] = ()

    @property
    def as_text(self) -> set[str]:
        """Columns whose cells are texts, whatever they look like."""
        return {*self.category, *self.date, *self.text}

    @property
    def given(self) -> dict[str, Any]:
        """The choices that were made."""
        return {name: value for name, value in vars(self).items() if value}

    def resolved(self, columns: Sequence[str], path: str) -> ColumnChoices:
        """Return choices that name columns which are there, the target among them.

        Raises
        ------
        ValueError
            If a name is none of the columns, or chosen twice.
        """
        roles = ("drop", *KINDS)
        named = {role: tuple(_split(getattr(self, role), columns, role, path)) for role in roles}
        rest = [name for name in columns if name not in named["drop"]]
        if self.target in named["drop"]:
            raise ValueError(f"drop={self.target!r} is the target; name another column of {path}")
        if len(rest) < 2:
            raise ValueError(
                f"{path} has {len(rest)} column(s) {rest}; it needs at least one feature and the "
                "target (a CSV file separated by commas, semicolons, tabs or vertical bars)"
            )
        target = rest[-1] if self.target is None else self.target
        if target not in rest:
            raise no_such_column(target, rest, "target", path)
        taken = {target: "target"}
        for role, names in named.items():
            for name in names:
                if taken.setdefault(name, role) != role:
                    raise ValueError(f"{role}={name!r} is the {taken[name]} too; choose one")
        return replace(self, target=target, **named)


def _split(given: Sequence[str], columns: Sequence[str], role: str, path: str) -> Iterator[str]:
    for name in (given,) if isinstance(given, str) else given:
        for part in (name,) if name in columns else name.split(","):
            known = part if part in columns else part.strip()
            if known not in columns:
                raise no_such_column(known, columns, role, path)
            yield known


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
        What was decided, and what was perhaps not meant as it was read.
    frame : DataFrame or None, default=None
        The table as it stands in the file; None for svmlight.
    """

    X: Any
    y: np.ndarray
    layout: Layout
    notes: tuple[str, ...] = ()
    frame: pd.DataFrame | None = field(default=None, repr=False)


def read_training(
    paths: Path | Sequence[Path], choices: ColumnChoices | None = None
) -> TrainingTable:
    """Read a training file, or several of one layout, whole.

    Parameters
    ----------
    paths : Path or sequence of Path
        The files; ``-`` for standard input.
    choices : ColumnChoices or None, default=None
        What the user says of columns.

    Raises
    ------
    OSError
        If there is no such file, or it cannot be opened.
    ValueError
        If it is unsound or cannot be learned from; see :func:`bblr.io.read_table`.
    """
    paths = [paths] if isinstance(paths, Path) else paths
    choices = chosen = choices or ColumnChoices()
    frames: list[pd.DataFrame] = []
    sparse: list[SvmlightRows] = []
    names, notes, commas = [], [], False
    for path in paths:
        with opened_data(path) as file:
            names.append(file.name)
            if frames if file.kind == "svmlight" else sparse:
                raise ValueError(
                    f"{file.name} is a {file.kind} file, and {names[0]} is not; give files of one "
                    "layout"
                )
            if file.kind == "svmlight":
                sparse += svmlight_blocks(file, None)
                continue
            rows = table_rows(file)
            if frames:
                _check_alike(rows, list(map(str, frames[0])), names[0])
            else:
                chosen = choices.resolved(rows.names, rows.name)
            frames.append(_whole(rows, chosen))
            commas = commas or rows.may_have_commas
            notes += rows.notes if len(paths) == 1 else [f"{path}: {n}" for n in rows.notes]
    if not names:
        raise ValueError("no file to read; name one at least")
    name = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
    if sparse:
        return _sparse_training(sparse, choices, name)
    import pandas as pd

    frame = frames[0] if len(frames) == 1 else pd.concat(frames)
    why = " (the last column, since target was not given)" if choices.target is None else ""
    frame = frame.set_axis(range(1, len(frame) + 1))
    found = _table_training(frame, chosen, name, why, commas)
    return replace(found, notes=(*notes, *found.notes))


def _check_alike(rows: TableRows, names: list[str], first: str) -> None:
    """Raise an error unless a file has the columns of the first."""
    here, there = dict.fromkeys(rows.names), dict.fromkeys(names)
    odd = [f"no column {name!r}" for name in there if name not in here]
    odd += [f"a column {name!r}" for name in here if name not in there]
    if odd:
        raise ValueError(
            f"{rows.name} has {', '.join(odd[:5])}{', …' if odd[5:] else ''}, unlike {first}; "
            "give files with the same columns"
        )


def _whole(rows: TableRows, chosen: ColumnChoices) -> pd.DataFrame:
    for frame in rows.blocks(None, rows.names, chosen.as_text, [str(chosen.target)]):
        if len(frame):
            return frame
    raise ValueError(f"{rows.name} holds no rows; add the data")


def _sparse_training(
    parts: list[SvmlightRows], choices: ColumnChoices, name: str
) -> TrainingTable:
    for role, given in choices.given.items():
        shown = given if isinstance(given, str) else given[0]
        raise ValueError(
            f"{role}={shown!r}: {name} is an svmlight file, whose labels stand in front of each "
            f"row and whose columns have no names; leave {role} out"
        )
    width = max(part.X.shape[1] for part in parts)
    whole = [sp.csr_matrix((p.X.data, p.X.indices, p.X.indptr), (len(p.y), width)) for p in parts]
    rows = SvmlightRows(sp.vstack(whole, "csr"), np.concatenate([part.y for part in parts]))
    layout = SvmlightLayout(width - (0 if rows.zero_based else 1), rows.zero_based)
    y = check_classes(rows.y, f"the labels of {name}")
    if layout.n_features == 0:
        raise ValueError(f"{name} holds labels alone; add index:value pairs")
    X = rows.features(layout.n_features, zero_based=layout.zero_based)
    return TrainingTable(X, y, layout)


def _table_training(
    frame: pd.DataFrame, chosen: ColumnChoices, name: str, why: str, commas: bool
) -> TrainingTable:
    target = str(chosen.target)
    y = labels(frame[target], f"{name}: target column {target!r}{why}")
    what = f"{name}: the labels in target column {target!r}{why}"
    y = check_classes(y, what, ": name the column with target=")
    features = frame.drop(columns=[target, *chosen.drop])
    perhaps = [each for each in map(str, features) if each not in chosen.as_text]
    pointed = comma_numbers(features, perhaps) if commas else {}
    features = features.assign(**pointed)
    encoder = TableEncoder(**{kind: getattr(chosen, kind) for kind in KINDS})
    try:
        X = encoder.fit(features).transform(features)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error
    left_out = (*chosen.drop, *(each.name for each in encoder.left_out_))
    notes = [f"decimal commas found in {columns_listed(list(pointed))}"] if pointed else []
    if y.dtype.kind == "U":
        notes += alike_notes(np.unique(y).tolist(), f"classes in target column {target!r}")
    layout = TableLayout(encoder.columns_, target, left_out, bool(pointed))
    return TrainingTable(X, y, layout, (*notes, *encoder.notes_), frame)
