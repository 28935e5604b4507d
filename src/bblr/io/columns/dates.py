"""Dates in tables: the format that a column is written in, and the features they give."""

from __future__ import annotations

from datetime import datetime
from itertools import product
from typing import TYPE_CHECKING, Literal

import numpy as np

from bblr.io.columns.cell_values import is_text, texts

if TYPE_CHECKING:
    import pandas as pd

ISO = "ISO8601"
DatePart = Literal["days", "year", "month", "day", "weekday", "hour"]
DATE_PARTS: tuple[DatePart, ...] = ("days", "year", "month", "day", "weekday", "hour")
# Of two that fit all cells, the first counts: points are European, slashes American.
_DAYS = (
    "%Y/%m/%d", "%d.%m.%Y", "%d.%m.%y", "%m/%d/%Y", "%d/%m/%Y", "%m/%d/%y", "%d/%m/%y",
    "%d-%m-%Y", "%m-%d-%Y", "%d %b %Y", "%d %B %Y", "%d-%b-%Y", "%d-%b-%y", "%b %d, %Y",
    "%B %d, %Y", "%Y%m%d",
)  # fmt: skip
_TIMES = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
FORMATS = (ISO, *map("".join, product(_DAYS, _TIMES)))


def date_format(cells: pd.Series) -> str | None:
    """Return the one format in which all texts of a column are dates; None where none is."""
    first = str(cells.iloc[0])
    if not any(map(str.isdigit, first)):
        return None
    for form in FORMATS:
        if _fits(first, form) and parse_dates(cells, form).notna().all():
            return form
    return None


def _fits(cell: str, form: str) -> bool:
    try:
        datetime.fromisoformat(cell) if form == ISO else datetime.strptime(cell, form)
    except ValueError:
        return False
    return True


def parse_dates(cells: pd.Series, form: str) -> pd.Series:
    """Return moments in UTC; texts that are no dates become gaps.

    Parameters
    ----------
    cells : Series
        Dates, or texts in the format.
    form : str
        A format of :func:`date_format`.
    """
    import pandas as pd

    if is_text(cells):
        return pd.to_datetime(texts(cells), format=form, utc=True, errors="coerce")
    return pd.to_datetime(cells, utc=True, errors="coerce")


def date_features(moments: pd.Series) -> np.ndarray:
    """Return a column for each of `DATE_PARTS`; days are counted from 1970 on."""
    at = moments.dt
    days = at.as_unit("ms").astype(np.int64) / 86_400_000
    parts = [days, at.year, at.month, at.day, at.day_of_week, at.hour]
    return np.column_stack([part.to_numpy(dtype=np.float64) for part in parts])
