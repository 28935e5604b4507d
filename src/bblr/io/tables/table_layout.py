"""The layout of a training file: what its columns hold, so that new files can be read alike."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import ClassVar

from bblr.io.columns.column_kinds import Column, TextColumn, names_of

__all__ = ["Layout", "SvmlightLayout", "TableLayout"]


@dataclass(frozen=True)
class TableLayout:
    """The columns of a table.

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
    def feature_names(self) -> list[str]:
        """A name for each feature."""
        return names_of(self.columns)

    @property
    def n_features(self) -> int:
        """Features after encoding."""
        return sum(self.widths)

    @property
    def widths(self) -> list[int]:
        """How many features each column has; they stand side by side."""
        return [len(column.names) + column.missing for column in self.columns]

    @property
    def texts(self) -> dict[int, tuple[str, int]]:
        """Columns of free text by their first feature: the name, and how many features it has."""
        starts = accumulate(self.widths, initial=0)
        return {
            start: (column.name, len(column.names))
            for start, column in zip(starts, self.columns, strict=False)
            if isinstance(column, TextColumn)
        }


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

    target: ClassVar[None] = None
    columns: ClassVar[tuple[Column, ...]] = ()
    texts: ClassVar[dict[int, tuple[str, int]]] = {}

    @property
    def feature_names(self) -> list[str]:
        """A name for each feature."""
        return [f"x{j + 1}" for j in range(self.n_features)]

    @property
    def widths(self) -> list[int]:
        """One feature a column."""
        return [1] * self.n_features


Layout = TableLayout | SvmlightLayout
