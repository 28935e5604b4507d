"""Thresholds: limits that figures must keep, and how each figure stands to its own."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd
from rich.table import Table

from bblr.comparison.document import DASH, terminal_table

__all__ = [
    "MET", "MISSED", "NOT_JUDGED", "NOT_RUN", "REPORTED", "Relation", "Threshold", "Verdict",
    "number", "tally", "verdict_frame", "verdict_table",
]  # fmt: skip

MET, MISSED, NOT_RUN, NOT_JUDGED, REPORTED = "met", "missed", "not run", "not judged", "reported"

Relation = Literal["<=", "<", ">=", ">"]
_RELATIONS: dict[Any, Callable[[float, float], bool]] = {
    "<=": operator.le,
    "<": operator.lt,
    ">=": operator.ge,
    ">": operator.gt,
}
_SIGNS = {"<=": "≤", ">=": "≥"}
# Differences of means that are nothing but rounding decide nothing.
_DIGITS = 12


@dataclass(frozen=True)
class Verdict:
    """A figure, or a statement, after the measurement.

    Parameters
    ----------
    name : str
        What was measured or stated.
    figure : str
        What came out, in words.
    status : str
        ``MET``, ``MISSED``, ``NOT_RUN``, ``NOT_JUDGED`` or ``REPORTED``.
    threshold : str
        The limit in words.
    notes : tuple of str
        What else is worth saying, such as the rows that speak against a statement.
    """

    name: str
    figure: str
    status: str
    threshold: str = DASH
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Threshold:
    """A figure and the limit it must keep.

    Parameters
    ----------
    figure : str
        What is measured, as tables show it.
    relation : {"<=", "<", ">=", ">"} or None
        How the figure must stand to the limit; None for a figure that is only reported.
    limit : float
        The limit.
    """

    figure: str
    relation: Relation | None = None
    limit: float = 0.0

    def met(self, value: float) -> bool:
        """Whether a measured value keeps the limit, if there is one; NaN never does."""
        if self.relation is None:
            return True
        return bool(_RELATIONS[self.relation](round(value, _DIGITS), self.limit))

    @property
    def label(self) -> str:
        """The limit in words: ``≤ 0.8``."""
        if self.relation is None:
            return DASH
        sign = _SIGNS.get(self.relation, self.relation)
        return f"{sign} {self.limit:g}".replace("-", "−")

    def judge(
        self, value: float | None, note: str = "", *, pattern: str = "", failed: bool = False
    ) -> Verdict:
        """Hold a measured value against the limit.

        Parameters
        ----------
        value : float or None
            What was measured, if anything.
        note : str, default=""
            What else is worth saying.
        pattern : str, default=""
            How to write the value; by its size when empty.
        failed : bool, default=False
            Whether something it is about ended in an error, which misses any limit.
        """
        if value is None and not failed:
            status = NOT_RUN
        elif self.relation is None:
            status = REPORTED
        else:
            status = MET if not failed and value is not None and self.met(value) else MISSED
        text = DASH if value is None else pattern.format(value) if pattern else number(value)
        return Verdict(self.figure, text, status, self.label, (note,) if note else ())


def verdict_frame(verdicts: Iterable[Verdict]) -> pd.DataFrame:
    """Return a line for each verdict, as texts."""
    rows = [
        (v.name, f"{v.figure} ({'; '.join(v.notes)})" if v.notes else v.figure, v.threshold,
         v.status)
        for v in verdicts
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=["Figure", "Measured", "Threshold", "Status"])


def verdict_table(verdicts: Iterable[Verdict]) -> Table:
    """Lay the verdicts out for a terminal, where names and notes share what width there is."""
    return terminal_table(verdict_frame(verdicts), wrap=("Figure", "Measured"))


def tally(verdicts: Sequence[Verdict]) -> str:
    """Count the verdicts by how they came out."""
    statuses = [verdict.status for verdict in verdicts]
    kinds = [MET, MISSED, *(s for s in (NOT_RUN, NOT_JUDGED, REPORTED) if s in statuses)]
    return ", ".join(f"{statuses.count(kind)} {kind}" for kind in kinds) + "."


def number(value: float) -> str:
    """Write a figure of unknown size."""
    return f"{value:.4g}" if abs(value) < 1000 else f"{value:,.0f}"
