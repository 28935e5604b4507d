"""Data frames turned into numbers: what each column holds is decided once and remembered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from bblr.io.columns.column_choice import MOST_LEVELS, ColumnKind, LeftOut, learn_column
from bblr.io.columns.column_kinds import (
    CategoryColumn,
    Column,
    DateColumn,
    TextColumn,
    features_of,
    names_of,
)
from bblr.io.columns.notes import (
    ColumnError,
    alike_notes,
    all_unusable,
    columns_listed,
    sign_notes,
)

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["KINDS", "UNSEEN", "TableEncoder"]

KINDS: tuple[ColumnKind, ...] = ("number", "category", "date", "text")
UNSEEN = ("error", "zero")
# Why columns are left out, of one and of several, and the parameter that keeps them.
_WHY = {
    "numbers": ("seems to number the rows", "seem to number the rows", "number"),
    "names": ("has a different text in every row", "have a different text in every row", "text"),
    "constant": ("has only one value", "have only one value", ""),
    "empty": ("has no value in any row", "have no value in any row", ""),
}


class TableEncoder(TransformerMixin, BaseEstimator):
    """Encode the columns of a data frame by what they hold.

    Numbers stay as they are, true/false becomes 1 and 0. Texts are one-hot encoded where there
    are at most 50 different ones, and otherwise become up to 30 numbers that say which parts of
    words they have. Dates become days since 1970 and what varies of year, month, day, weekday and
    hour. A further feature marks missing values where training had some. Columns that number or
    name the rows, or have one value only, are left out.

    Parameters
    ----------
    number : sequence of str, default=()
        Columns to take for numbers, even if they number the rows.
    category : sequence of str, default=()
        Columns to one-hot encode.
    date : sequence of str, default=()
        Columns to take for dates.
    text : sequence of str, default=()
        Columns to take for free text.
    unseen : {"error", "zero"}, default="error"
        A text that a category did not have in training is an error, or is none of its levels: of
        two, the first.

    Attributes
    ----------
    columns_ : tuple of Column
        The columns that become features, in the order of the features.
    left_out_ : tuple of LeftOut
        The others, and why.
    notes_ : tuple of str
        What was decided, and what was perhaps not meant as it was read.

    Examples
    --------
    >>> import pandas as pd
    >>> from bblr.io.columns.table_encoder import TableEncoder
    >>> frame = pd.DataFrame({"weight": [4.5, 12.0, None], "fur": ["long", "short", "short"]})
    >>> encoder = TableEncoder().fit(frame)
    >>> encoder.get_feature_names_out().tolist()
    ['weight', 'weight missing', 'fur=short']
    >>> encoder.transform(frame)
    array([[ 4.5 ,  0.  ,  0.  ],
           [12.  ,  0.  ,  1.  ],
           [ 8.25,  1.  ,  1.  ]])
    """

    def __init__(
        self,
        *,
        number: Sequence[str] = (),
        category: Sequence[str] = (),
        date: Sequence[str] = (),
        text: Sequence[str] = (),
        unseen: str = "error",
    ) -> None:
        self.number = number
        self.category = category
        self.date = date
        self.text = text
        self.unseen = unseen

    def fit(self, X: pd.DataFrame, y: object = None) -> TableEncoder:
        """Decide what each column holds.

        Parameters
        ----------
        X : DataFrame
            Training rows. The index has their numbers, for messages.
        y : None
            Not used.

        Raises
        ------
        ValueError
            If columns cannot be used, or none is left.
        """
        forced = {name: kind for kind in KINDS for name in getattr(self, kind)}
        columns: list[Column] = []
        left_out, unusable = [], []
        for name, column in X.items():
            try:
                found = learn_column(column, str(name), forced.get(str(name)))
            except ColumnError as error:
                unusable.append(error)
                continue
            if isinstance(found, LeftOut):
                left_out.append(found)
            else:
                columns.append(found)
        if unusable:
            raise all_unusable(unusable)
        if not columns:
            why = "; ".join(_left_out_notes(left_out))
            raise ValueError(f"no column is left to learn from: {why}")
        self.columns_, self.left_out_ = tuple(columns), tuple(left_out)
        self.notes_ = tuple(_notes(self, X))
        return self

    def transform(self, X: pd.DataFrame) -> np.ndarray:
        """Return the features of rows.

        Parameters
        ----------
        X : DataFrame
            Rows with the columns of training, in any order. The index has their numbers, for
            messages.

        Returns
        -------
        ndarray of float64, shape (rows, features)
            The features.

        Raises
        ------
        ValueError
            If a cell is not what its column held in training; the message names both.
        """
        check_is_fitted(self)
        return encode(X.rename(columns=str), self.columns_, self.unseen)

    def get_feature_names_out(self, input_features: object = None) -> np.ndarray:
        """Return a name for each feature.

        Parameters
        ----------
        input_features : None
            Not used.
        """
        check_is_fitted(self)
        return np.array(names_of(self.columns_), dtype=object)


def encode(frame: pd.DataFrame, columns: Sequence[Column], unseen: str) -> np.ndarray:
    """Return the features of rows; see :class:`TableEncoder`."""
    for column in columns:
        if unseen == "error" and isinstance(column, CategoryColumn):
            column.check_seen(frame[column.name])
    return np.column_stack([features_of(column, frame[column.name]) for column in columns])


def _notes(encoder: TableEncoder, X: pd.DataFrame) -> Iterator[str]:
    for column in encoder.columns_:
        if isinstance(column, CategoryColumn):
            yield from alike_notes(column.levels, f"texts in column {column.name!r}")
            if column.name not in encoder.category:  # else it is known
                yield from sign_notes(column.levels, column.name)
        elif isinstance(column, DateColumn):
            yield (
                f"dates in column {column.name!r} ({column.form}) became {', '.join(column.parts)}"
                f"; category={column.name!r} treats them as text"
            )
    free = [column.name for column in encoder.columns_ if isinstance(column, TextColumn)]
    if free:
        frame, most = X.rename(columns=str), min(MOST_LEVELS, len(X) // 2)
        # Texts that recur may be meant as categories.
        again = [n for n in free if n not in encoder.text and frame[n].nunique() <= most]
        given = again[0] if len(again) == 1 else again
        levels = f"; category={given!r} makes a feature of each level" if again else ""
        how = "treated as free text, encoded by character sequences"
        yield f"{columns_listed(free)} {how}{levels}"
    yield from _left_out_notes(encoder.left_out_)


def _left_out_notes(left_out: Sequence[LeftOut]) -> Iterator[str]:
    for why, (one, more, keep) in _WHY.items():
        names = [each.name for each in left_out if each.why == why]
        if len(names) == 1:
            how = f"; to keep it, use {keep}={names[0]!r}" if keep else ""
            yield f"column {names[0]!r} {one} and is left out{how}"
        elif names:
            how = f"; to keep them, use {keep}={names!r}" if keep else ""
            yield f"{columns_listed(names)} {more} and are left out{how}"
