"""What a table or a figure came to: all that a report shows, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from bblr.comparison.figures import Panel

__all__ = [
    "Entry", "FigureResult", "Finding", "Reproduction", "Significance", "TableResult",
]  # fmt: skip


@dataclass(frozen=True)
class Significance:
    """McNemar's test against a rival; z is positive where the rival makes more errors."""

    rival: str
    z: float
    p: float


@dataclass(frozen=True)
class Entry:
    """One figure of a table.

    Parameters
    ----------
    row, column : str
        Where it stands.
    printed : float or None
        The paper's figure, if it has one there.
    ours : float or None
        The figure we got, if we got one.
    tests : tuple of Significance
        Tests of this method against the baselines.
    remark : str
        Why the two differ, where that is known; else why there is no figure of ours; else empty.
    """

    row: str
    column: str
    printed: float | None
    ours: float | None
    tests: tuple[Significance, ...] = ()
    remark: str = ""

    @property
    def difference(self) -> float | None:
        """Ours less the printed figure."""
        if self.printed is None or self.ours is None:
            return None
        return self.ours - self.printed


@dataclass(frozen=True)
class TableResult:
    """A table of the paper, run anew.

    Parameters
    ----------
    name : str
        What the user types.
    title, about : str
        A heading, and what the paper shows there.
    reading : str
        How we read the paper's protocol, and what was run.
    unit : str
        What the figures count, for headings: ``"error %"``, ``"errors"``, ...
    digits : int
        Decimals of our figures; printed ones have at most as many.
    better : {"lower", "higher"} or None
        Which figures are better, if either.
    rows, columns : tuple of str
        Headings.
    entries : tuple of Entry
        All figures, row by row.
    notes : tuple of str
        Sentences about the whole.
    part : str
        Which of several readings this is; empty where there is one.
    column_digits : dict of str to int
        Decimals of columns that count something else than the rest.
    """

    name: str
    title: str
    about: str
    reading: str
    unit: str
    digits: int
    better: Literal["lower", "higher"] | None
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    entries: tuple[Entry, ...]
    notes: tuple[str, ...] = ()
    part: str = ""
    column_digits: Mapping[str, int] = field(default_factory=dict)

    def digits_of(self, column: str) -> int:
        """Return the decimals of a column."""
        return self.column_digits.get(column, self.digits)

    def entry(self, row: str, column: str) -> Entry:
        """Find a figure."""
        return next(e for e in self.entries if (e.row, e.column) == (row, column))


@dataclass(frozen=True)
class FigureResult:
    """A figure of the paper, drawn anew; without panels where its data could not be had."""

    name: str
    title: str
    about: str
    reading: str
    panels: tuple[Panel, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Finding:
    """A statement about the whole reproduction, and whether the figures bear it out.

    Parameters
    ----------
    claim : str
        The statement.
    evidence : str
        The figures behind it.
    met : bool or None
        Whether they bear it out; None where too little was run to judge.
    rows : tuple of str
        The rows that speak against it, by name.
    """

    claim: str
    evidence: str
    met: bool | None
    rows: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reproduction:
    """All that a report tells.

    Parameters
    ----------
    results : sequence of TableResult or FigureResult
        What to show, in this order; those of one name stand under one heading.
    findings : sequence of Finding
        What the figures bear out, and what not.
    level : {"quick", "full"}
        How much of the protocols was run.
    seed : int
        The seed of the whole reproduction.
    versions : sequence of dict of str to str
        Versions of whatever made the figures.
    unavailable : dict of str to str
        Why each data set, by its title, could not be had.
    failures : sequence of str
        What failed, a sentence each.
    """

    results: Sequence[TableResult | FigureResult]
    findings: Sequence[Finding] = ()
    level: str = "quick"
    seed: int = 0
    versions: Sequence[Mapping[str, str]] = ()
    unavailable: Mapping[str, str] = field(default_factory=dict)
    failures: Sequence[str] = ()
