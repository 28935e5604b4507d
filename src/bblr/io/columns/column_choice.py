"""What a column of training rows holds: decided by its cells, unless the user says so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from bblr.io.columns.cell_values import has_comma, is_number, is_text, present_cells, texts
from bblr.io.columns.column_kinds import (
    CategoryColumn,
    Column,
    DateColumn,
    NumberColumn,
    TextColumn,
)
from bblr.io.columns.dates import DATE_PARTS, ISO, date_features, date_format, parse_dates
from bblr.io.columns.notes import ColumnError, misspelt
from bblr.io.columns.text_features import learn_texts

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["MOST_LEVELS", "ColumnKind", "LeftOut", "learn_column", "numbers_rows"]

ColumnKind = Literal["number", "category", "date", "text"]
MAX_LEVELS = 50
"""A column with more different texts than this is taken for text, not for a category."""
# So many, at most, where the user says that it is a category.
MOST_LEVELS = 1_000
# With fewer rows a plain feature may happen to look like the numbers or names of rows.
_LEAST_ROWS = 30
# Different texts, up to twice as many, that are looked at to see whether they are numbers.
_LOOKED_AT = 1_000
# Names have fewer words than this on average; texts that all differ may be told by their words.
_LEAST_WORDS = 3


@dataclass(frozen=True)
class LeftOut:
    """A column that does not become features.

    Parameters
    ----------
    name : str
        Its name.
    why : {"numbers", "names", "constant", "empty"}
        It numbers the rows, names them, or has one value or none.
    """

    name: str
    why: Literal["numbers", "names", "constant", "empty"]


def learn_column(column: pd.Series, name: str, kind: ColumnKind | None) -> Column | LeftOut:
    """Decide what a feature column holds.

    Parameters
    ----------
    column : Series
        Training rows; the index has their numbers.
    name : str
        Its name.
    kind : {"number", "category", "date", "text"} or None
        What it holds; None to decide by the cells.

    Raises
    ------
    ColumnError
        If it holds nothing that can be used.
    """
    present, gaps = present_cells(column)
    missing = bool(gaps.any())
    if not len(present):
        return LeftOut(name, "empty")
    if kind is None:
        decided = _decided(present, name, missing)
        if isinstance(decided, LeftOut):
            return decided
        kind = decided
    learn: dict[ColumnKind, Callable[[pd.Series, str, bool], Column | LeftOut]] = {
        "number": _learn_numbers,
        "category": _learn_category,
        "date": _learn_dates,
        "text": _learn_text,
    }
    return learn[kind](present, name, missing)


def _decided(present: pd.Series, name: str, missing: bool) -> ColumnKind | LeftOut:
    text, is_date = is_text(present), present.dtype.kind == "M"
    if not text and present.dtype.kind not in "biufM":
        raise ColumnError(
            name,
            f"is of type {present.dtype}; turn it into numbers, or leave it out by drop={name!r}",
            f"type {present.dtype}",
        )
    cells = texts(present) if text else present
    values = cells.to_numpy()
    if not missing and bool(np.all(values == values[0])):
        return LeftOut(name, "constant")
    if text:
        return _decided_text(cells, name)
    if is_date:
        return "date"
    whole = present.dtype.kind in "iu" and not missing
    return LeftOut(name, "numbers") if whole and numbers_rows(values) else "number"


def _decided_text(cells: pd.Series, name: str) -> ColumnKind | LeftOut:
    levels = cells.unique().tolist()
    some = levels[:: max(1, len(levels) // _LOOKED_AT)]
    numbers = 2 * sum(is_number(level) or has_comma(level) for level in some) > len(some)
    odd = [level for level in levels if not is_number(level)] if numbers else levels
    if numbers and odd:
        raise _misspelt(cells, odd, name)
    if len(levels) > MAX_LEVELS and not odd:
        return "number"
    if odd and date_format(cells) is not None:
        return "date"
    if len(cells) >= _LEAST_ROWS and len(levels) == len(cells):
        words = sum(len(level.split()) for level in levels) / len(levels)
        if words < _LEAST_WORDS:
            return LeftOut(name, "names")
    return "category" if len(levels) <= MAX_LEVELS else "text"


def _misspelt(cells: pd.Series, odd: list[str], name: str) -> ColumnError:
    # Decimal commas may be what the rest of the column is written with.
    odd = [cell for cell in odd if not has_comma(cell)] or odd
    first = cells[cells.isin(odd)]
    return misspelt(first.iloc[0], first.index[0], odd, name)


def _learn_numbers(present: pd.Series, name: str, missing: bool) -> NumberColumn:
    import pandas as pd

    if is_text(present):
        cells = texts(present)
        present = pd.to_numeric(cells, errors="coerce")
        if present.isna().any():
            raise _misspelt(cells, cells[present.isna()].unique().tolist(), name)
    values = present.to_numpy(dtype=np.float64)
    infinite = int(np.isinf(values).sum())
    if infinite:
        raise ColumnError(
            name,
            f"has {infinite} infinite value(s); replace them with numbers or remove those rows, "
            f"or leave it out by drop={name!r}",
            f"{infinite} infinite",
        )
    kind: Literal["flag", "number"] = "flag" if present.dtype.kind == "b" else "number"
    return NumberColumn(name, missing, float(np.median(values)), kind)


def _learn_category(present: pd.Series, name: str, missing: bool) -> CategoryColumn:
    counts = texts(present).value_counts().sort_index()
    if len(counts) > MOST_LEVELS:
        raise ColumnError(
            name,
            f"has {len(counts):,} different values, and a category at most {MOST_LEVELS:,}; take "
            f"it for text by text={name!r}",
            f"{len(counts):,} levels",
        )
    levels = counts.index.astype(str).tolist()
    return CategoryColumn(name, missing, tuple(levels), levels[int(np.argmax(counts))])


def _learn_text(present: pd.Series, name: str, missing: bool) -> TextColumn | LeftOut:
    learned = learn_texts(texts(present))
    return LeftOut(name, "constant") if learned is None else TextColumn(name, missing, learned)


def _learn_dates(present: pd.Series, name: str, missing: bool) -> DateColumn:
    form: str | None = ISO
    if is_text(present) or present.dtype.kind in "biuf":
        present = texts(present)
        form = date_format(present)
    if form is None:
        raise ColumnError(
            name,
            f"holds no dates in one format (such as {str(present.iloc[0])!r}); write them as "
            f"year-month-day, or treat them as texts by text={name!r}",
            "no dates in one format",
        )
    found = date_features(parse_dates(present, form))
    varying = np.flatnonzero(np.ptp(found, axis=0)).tolist() or [0]
    fill = np.median(found[:, varying], axis=0).tolist()
    return DateColumn(name, missing, form, tuple(DATE_PARTS[j] for j in varying), tuple(fill))


def numbers_rows(values: np.ndarray) -> bool:
    """Whether whole numbers look like those of rows.

    All differ, and they rise or fall all the way or fill at least half of their range. Of other
    whole numbers so dense, some would be equal.
    """
    if len(values) < _LEAST_ROWS:
        return False
    # Python's integers: a difference may leave the range of 64 bits.
    span = int(values.max()) - int(values.min())
    if span < len(values) - 1:
        return False
    up = values[1:] > values[:-1]
    if up.all() or bool(np.all(values[1:] < values[:-1])):
        return True
    return span < 2 * len(values) and len(np.unique(values)) == len(values)
