"""Targets: figures that the panorama must show, and whether it does."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from research.panorama.methods import METHODS
from research.panorama.results.sets import Results

__all__ = [
    "MET",
    "MISSED",
    "NOT_RUN",
    "REPORTED",
    "Figure",
    "Relation",
    "Target",
    "Verdict",
    "tally",
]

MET, MISSED, NOT_RUN, REPORTED = "met", "missed", "not run", "reported"

Relation = Literal["<=", ">=", ">", "<"]
_RELATIONS = {"<=": operator.le, ">=": operator.ge, ">": operator.gt, "<": operator.lt}
_SIGNS = {"<=": "≤", ">=": "≥"}
# Differences of means that are nothing but rounding decide nothing.
_DIGITS = 12


@dataclass(frozen=True)
class Figure:
    """A measured figure, None where it is not defined, and what else is worth saying."""

    value: float | None
    note: str = ""


@dataclass(frozen=True)
class Verdict:
    """A target after the measurement; what `python -m research.panorama` prints a line of."""

    name: str
    figure: str
    target: str
    status: str
    note: str

    @property
    def line(self) -> tuple[str, str, str, str]:
        """The cells of a table's row."""
        note = f"{self.figure} ({self.note})" if self.note else self.figure
        return self.name, note, self.target, self.status


@dataclass(frozen=True)
class Target:
    """A figure and the limit it must keep.

    Parameters
    ----------
    name : str
        What is measured.
    methods : tuple of str
        The methods it takes, the one it is about first.
    condition, group : str
        Where it is measured.
    measure : callable
        Returns the figure.
    relation, limit : str and float
        How the figure must stand to the limit; no relation: it is only reported.
    pattern : str
        How the figure is written.
    """

    name: str
    methods: tuple[str, ...]
    condition: str
    group: str
    measure: Callable[[Results], Figure]
    relation: Relation | None = None
    limit: float = 0.0
    pattern: str = "{:+.2f}"

    @property
    def label(self) -> str:
        """The limit in words: ``≥ 3``."""
        if self.relation is None:
            return "–"
        return f"{_SIGNS.get(self.relation, self.relation)} {self.limit:g}".replace("-", "−")

    def judge(self, results: Results) -> Verdict:
        """Measure and compare.

        A fit of our methods that failed misses its target whatever the others did; a baseline
        that failed on a table is left out there.
        """
        if not results.is_run(self.methods, self.condition, self.group):
            return Verdict(self.name, "–", self.label, NOT_RUN, "")
        figure = self.measure(results)
        failed = sum(
            results.n_failed(method, self.condition, self.group)
            for method in self.methods
            if METHODS[method].ours
        )
        note = f"failed fits: {failed}" if failed else figure.note
        if figure.value is None and not failed:
            return Verdict(self.name, "–", self.label, NOT_RUN, note)
        shown = "–" if figure.value is None else self.pattern.format(figure.value)
        return Verdict(self.name, shown, self.label, self._status(figure.value, failed), note)

    def _status(self, value: float | None, failed: int) -> str:
        if self.relation is None:
            return REPORTED
        if failed or value is None:
            return MISSED
        kept = _RELATIONS[self.relation](round(value, _DIGITS), self.limit)
        return MET if kept else MISSED


def tally(verdicts: Iterable[Verdict]) -> str:
    """Return a line that counts the verdicts."""
    statuses = [verdict.status for verdict in verdicts]
    counts = [f"{statuses.count(status)} {status}" for status in (MET, MISSED, NOT_RUN)]
    return f"Targets: {', '.join(counts)}; {statuses.count(REPORTED)} figures reported."
