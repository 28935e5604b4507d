"""The kinds of feature columns: what each holds, and how its cells become features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Literal

import numpy as np

from bblr.io.columns.cell_values import is_number, is_text, present_cells, texts
from bblr.io.columns.dates import DATE_PARTS, FORMATS, ISO, DatePart, date_features, parse_dates
from bblr.io.columns.notes import ColumnError, listed
from bblr.io.columns.text_features import TextFeatures

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "CategoryColumn",
    "Column",
    "DateColumn",
    "NumberColumn",
    "TextColumn",
    "features_of",
    "names_of",
]


@dataclass(frozen=True)
class NumberColumn:
    """Numbers as they are, or true/false as 1 and 0.

    Parameters
    ----------
    name : str
        Its name.
    missing : bool
        Whether some values were missing in training.
    fill : float
        The median, which stands in for a missing value.
    kind : {"number", "flag"}, default="number"
        What it held.
    """

    name: str
    missing: bool
    fill: float
    kind: Literal["number", "flag"] = "number"

    @property
    def names(self) -> list[str]:
        """A name for each feature, but that of missing values."""
        return [self.name]

    @property
    def gap(self) -> float:
        """The features of a cell without a value."""
        return self.fill

    def encoded(self, present: pd.Series) -> np.ndarray:
        """Return a row of features for each cell; the index has the numbers of their rows."""
        import pandas as pd

        if is_text(present) and self.kind == "number":
            numbers = pd.to_numeric(texts(present), errors="coerce")
            present = present if numbers.isna().any() else numbers
        if present.dtype.kind not in ("biuf" if self.kind == "flag" else "iuf"):
            raise self._not_numbers(present)
        values = present.to_numpy(dtype=np.float64)
        infinite = np.isinf(values)
        if infinite.any():
            raise ColumnError(
                self.name,
                f"is infinite in data row {present.index[infinite][0]}; write a number there, or "
                "remove the row",
                "infinite",
            )
        odd = (values != 0) & (values != 1)
        if self.kind == "flag" and odd.any():
            raise self._not_numbers(present[odd].map("{:g}".format))
        return values[:, np.newaxis]

    def _not_numbers(self, present: pd.Series) -> ColumnError:
        holds = "true/false" if present.dtype.kind == "b" else f"values of type {present.dtype}"
        if is_text(present):
            cells = texts(present)
            numbers = cells.map(is_number).to_numpy(dtype=bool)
            first = cells if numbers.all() else cells[~numbers]
            holds = f"{first.iloc[0]!r} in data row {first.index[0]}"
        if self.kind == "flag":
            return _wrong(self.name, holds, "true/false", "write true and false, or 1 and 0")
        remedy = "write numbers with a decimal point, and 1 and 0 for true and false"
        return _wrong(self.name, holds, "numbers", remedy)

    @property
    def is_sound(self) -> bool:
        """Whether it can be used."""
        return isfinite(self.fill)


@dataclass(frozen=True)
class CategoryColumn:
    """A few texts, one-hot encoded: a feature for each, or of two only for the second.

    Parameters
    ----------
    name : str
        Its name.
    missing : bool
        Whether some values were missing in training; a missing one is then none of the levels.
    levels : tuple of str
        The different texts, sorted.
    fill : str
        The most frequent, which stands in for a missing value where training had none.
    """

    name: str
    missing: bool
    levels: tuple[str, ...]
    fill: str

    @property
    def _marked(self) -> tuple[str, ...]:
        return self.levels[1:] if len(self.levels) == 2 else self.levels

    @property
    def names(self) -> list[str]:
        """A name for each feature, but that of missing values."""
        return [f"{self.name}={level}" for level in self._marked]

    @property
    def gap(self) -> float | np.ndarray:
        """The features of a cell without a value."""
        return 0.0 if self.missing else np.array(self._marked) == self.fill

    def _codes(self, cells: pd.Series) -> np.ndarray:
        import pandas as pd

        return pd.Index(self.levels).get_indexer(pd.Index(cells))

    def encoded(self, present: pd.Series) -> np.ndarray:
        """Return a row of features for each cell; the index has the numbers of their rows."""
        codes = self._codes(texts(present)) - (len(self.levels) - len(self._marked))
        return codes[:, np.newaxis] == np.arange(len(self._marked))

    def unseen(self, column: pd.Series) -> pd.Series:
        """Return the texts that are none of the levels."""
        cells = texts(present_cells(column)[0])
        return cells[self._codes(cells) < 0]

    def check_seen(self, column: pd.Series) -> None:
        """Raise an error that names the first text that is none of the levels."""
        unseen = self.unseen(column)
        if len(unseen):
            raise ColumnError(
                self.name,
                f"holds {unseen.iloc[0]!r} in data row {unseen.index[0]}, which the training file "
                f"did not have (it had {listed(self.levels)}); correct it, remove the row, or "
                "leave out --unseen error to take it for none of these",
                "unseen",
            )

    @property
    def is_sound(self) -> bool:
        """Whether it can be used."""
        return self.fill in self.levels and len(set(self.levels)) == len(self.levels)


@dataclass(frozen=True)
class TextColumn:
    """Any texts, by the parts of their words; see :class:`TextFeatures`.

    Parameters
    ----------
    name : str
        Its name.
    missing : bool
        Whether some values were missing in training.
    learned : TextFeatures
        How texts become numbers. A missing one has zeros, as an empty text has.
    """

    name: str
    missing: bool
    learned: TextFeatures

    @property
    def names(self) -> list[str]:
        """A name for each feature, but that of missing values."""
        return [f"{self.name} text {k + 1}" for k in range(self.learned.n_features)]

    @property
    def gap(self) -> float:
        """The features of a cell without a value."""
        return 0.0

    def encoded(self, present: pd.Series) -> np.ndarray:
        """Return a row of features for each cell; the index has the numbers of their rows."""
        return self.learned.apply(texts(present))

    @property
    def is_sound(self) -> bool:
        """Whether it can be used."""
        return self.learned.is_sound


@dataclass(frozen=True)
class DateColumn:
    """Dates: days since 1970, and what varied of year, month, day, weekday and hour.

    Parameters
    ----------
    name : str
        Its name.
    missing : bool
        Whether some values were missing in training.
    form : str
        The format of dates that are texts, as ``strptime`` has it, or ``ISO8601``.
    parts : tuple of str
        What the features are.
    fill : tuple of float
        The medians of the features, which stand in for a missing date.
    """

    name: str
    missing: bool
    form: str
    parts: tuple[DatePart, ...]
    fill: tuple[float, ...]

    @property
    def names(self) -> list[str]:
        """A name for each feature, but that of missing values."""
        return [f"{self.name} {part}" for part in self.parts]

    @property
    def gap(self) -> np.ndarray:
        """The features of a cell without a value."""
        return np.array(self.fill)

    def encoded(self, present: pd.Series) -> np.ndarray:
        """Return a row of features for each cell; the index has the numbers of their rows."""
        if present.dtype.kind in "biuf":
            present = texts(present)
        moments = parse_dates(present, self.form)
        bad = moments.isna().to_numpy()
        if bad.any():
            cell = f"{str(present[bad].iloc[0])!r} in data row {present.index[bad][0]}"
            how = "as year-month-day" if self.form == ISO else f"in the format {self.form}"
            raise _wrong(self.name, cell, "dates", f"write dates {how}")
        return date_features(moments)[:, [DATE_PARTS.index(part) for part in self.parts]]

    @property
    def is_sound(self) -> bool:
        """Whether it can be used."""
        known = len(set(self.parts)) == len(self.parts) == len(self.fill) > 0
        return known and all(map(isfinite, self.fill)) and self.form in FORMATS


Column = NumberColumn | CategoryColumn | TextColumn | DateColumn


def names_of(columns: Sequence[Column]) -> list[str]:
    """Return a name for each feature of columns."""
    return [
        name
        for column in columns
        for name in (*column.names, *([f"{column.name} missing"] if column.missing else []))
    ]


def features_of(column: Column, cells: pd.Series) -> np.ndarray:
    """Encode the cells of a column; where some were missing in training, gaps are marked.

    Parameters
    ----------
    column : Column
        What the column held in training.
    cells : Series
        The cells; the index says which row each is from, for messages.

    Raises
    ------
    ColumnError
        If a cell is not of this kind.
    """
    present, gaps = present_cells(cells)
    found = np.empty((len(cells), len(column.names)))
    found[gaps] = column.gap
    if len(present):
        found[~gaps] = column.encoded(present)
    return np.column_stack([found, gaps]) if column.missing else found


def _wrong(name: str, holds: str, learned: str, remedy: str) -> ColumnError:
    problem = f"holds {holds}, but the model learned {learned} there; {remedy}"
    return ColumnError(name, problem, "of another kind")
