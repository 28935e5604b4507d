"""How training and test parts are cut."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from bblr.comparison.cells import CLEAN, Condition

__all__ = ["AnyProtocol", "CrossValidation", "Once"]


class AnyProtocol(Protocol):
    """A way to cut data into training and test parts."""

    @property
    def folds(self) -> int:
        """Number of folds; 1 for all rows in both parts, 0 for the data's own division."""
        ...

    @property
    def condition(self) -> Condition:
        """How the data are spoilt."""
        ...

    @property
    def places(self) -> list[tuple[int, int]]:
        """Repeat and fold of each part."""
        ...

    @property
    def label(self) -> str:
        """The protocol in words."""
        ...


@dataclass(frozen=True)
class CrossValidation:
    """Stratified cross-validation, repeated with other folds and other noise.

    Parameters
    ----------
    repeats, folds : int
        How often, and into how many folds.
    condition : Condition
        How the data are spoilt.
    only : int or None
        Run only so many folds of each repeat; None for all.
    """

    repeats: int
    folds: int
    condition: Condition = CLEAN
    only: int | None = None

    @property
    def places(self) -> list[tuple[int, int]]:
        """Repeat and fold of each part."""
        folds = self.folds if self.only is None else min(self.only, self.folds)
        return [(repeat, fold) for repeat in range(self.repeats) for fold in range(folds)]

    @property
    def label(self) -> str:
        """The protocol in words."""
        times = f"{self.repeats} × " if self.repeats > 1 else ""
        some = "" if self.only is None else f" of which {self.only} folds, counts scaled to all"
        return f"{times}{self.folds}-fold cross-validation{some}, {self.condition.label}"


@dataclass(frozen=True)
class Once:
    """One fit: on all rows, or with ``folds=0`` by the division that the data come with."""

    label: str
    folds: int = 1
    condition: Condition = CLEAN

    @property
    def places(self) -> list[tuple[int, int]]:
        """The one part."""
        return [(0, 0)]
