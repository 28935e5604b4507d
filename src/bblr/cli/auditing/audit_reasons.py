"""Why the label of a row looks wrong: the columns that speak most against it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bblr.audit import LabelErrors
from bblr.cli.auditing.audited import Audited
from bblr.cli.running import shown_cell
from bblr.io.contributions import column_names, contributions
from bblr.io.model import SavedModel

__all__ = ["Reason", "reasons"]

# Columns of a row that are named, and rows of which they are.
_COLUMNS, _ROWS, _KERNEL_ROWS = 3, 5_000, 20
# Rows whose label is less likely wrong need no reason, but for the first of the ranking.
_DOUBT = 0.01
# A column that changes the score by less is no reason.
_LEAST = 0.05


class Reason(NamedTuple):
    """A column that speaks against the label of a row.

    Parameters
    ----------
    column, value : str
        The column, and what the row has there.
    against : float
        By how much the score against the label would fall, were it as in the average row.
    """

    column: str
    value: str
    against: float


def reasons(data: Audited, found: LabelErrors, model: SavedModel) -> dict[int, list[Reason]]:
    """Return the columns that speak most against the labels of the most doubtful rows.

    Parameters
    ----------
    data : Audited
        The data.
    found : LabelErrors
        What was found.
    model : SavedModel
        A model of all rows.

    Returns
    -------
    dict
        By row index, the strongest first.
    """
    linear = hasattr(model.classifier, "coef_")
    doubtful = int((found.probability >= _DOUBT).sum())
    most = min(_ROWS, max(_KERNEL_ROWS, doubtful)) if linear else _KERNEL_ROWS
    rows = found.ranking[:most]
    suggested = np.searchsorted(model.classes, found.suggested[rows])
    given = np.searchsorted(model.classes, data.y[rows])
    parts = contributions(model, data.X[rows], suggested, given)
    names = column_names(model)
    order = np.argsort(-parts, axis=1, kind="stable")[:, :_COLUMNS]
    return {
        int(i): [
            Reason(names[j], _value(data, int(i), j, names[j]), float(part[j]))
            for j in columns
            if part[j] >= _LEAST
        ]
        for i, columns, part in zip(rows.tolist(), order.tolist(), parts, strict=True)
    }


def _value(data: Audited, i: int, j: int, name: str) -> str:
    cell = float(data.X[i, j]) if data.own is None else data.own[name].iloc[i]
    return shown_cell(cell)
