"""Tables of the paper that say how large the data sets are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bblr.comparison.records import Record
from research.paper.exhibit import Exhibit, Given
from research.paper.results import Entry, FigureResult, TableResult
from research.paper.work import Work

__all__ = ["Describe", "Details"]

COUNTS: dict[str, Callable[[Any, Any], float]] = {
    "Examples": lambda X, y: len(y),
    "Dimensions": lambda X, y: X.shape[1],
    "Non-zeros, %": lambda X, y: 100.0 * _non_zeros(X) / (X.shape[0] * X.shape[1]),
    "Positive : negative": lambda X, y: float(np.sum(y == 1) / np.sum(y == 0)),
}


def _non_zeros(X: Any) -> int:
    return int(np.count_nonzero(np.asarray(X.data) if hasattr(X, "indptr") else X))


@dataclass(frozen=True, kw_only=True)
class Describe(Work):
    """Count the rows and columns of a data set."""

    method: str = "counts"

    @property
    def label(self) -> str:
        """What progress shows."""
        return "counts"

    def work(self) -> Record:
        """Count."""
        table = self.table()
        return {"counts": {name: count(table.X, table.y) for name, count in COUNTS.items()}}


@dataclass(frozen=True, kw_only=True)
class Details(Exhibit):
    """How large data sets are.

    Parameters
    ----------
    data : tuple of str
        Names of the data sets, the rows.
    columns : tuple of str
        Some of `COUNTS`.
    printed : dict of str to tuple
        The paper's figures by data set, in the order of the columns.
    remarks : dict of str to str
        Why figures differ, by data set.
    """

    data: tuple[str, ...]
    columns: tuple[str, ...]
    printed: Mapping[str, tuple[float | None, ...]] = field(default_factory=dict)
    remarks: Mapping[str, str] = field(default_factory=dict)

    @property
    def needs(self) -> tuple[str, ...]:
        """Names of the data sets it uses."""
        return self.data

    def tasks(self, given: Given) -> list[Describe]:
        """Return one count a data set."""
        return [
            self._task(given, data)
            for data in (*self.data, *given.library.added_sources)
            if data in given.fingerprints
        ]

    @staticmethod
    def _task(given: Given, data: str) -> Describe:
        print_ = given.fingerprints[data]
        return Describe(data=data, fingerprint=print_, seed=given.seed, library=given.library)

    def results(
        self, given: Given, records: Mapping[str, Record]
    ) -> list[TableResult | FigureResult]:
        """Show the counts."""
        rows = (*self.data, *given.library.added_sources)
        entries = [
            self._entry(given, records, data, place) for data in rows
            for place in range(len(self.columns))
        ]  # fmt: skip
        return [
            TableResult(
                name=self.name,
                title=self.title,
                about=self.about,
                reading=self.reading,
                unit="counts",
                digits=2,
                column_digits={"Examples": 0, "Dimensions": 0},
                better=None,
                rows=tuple(given.library.title(data) for data in rows),
                columns=self.columns,
                entries=tuple(entries),
                notes=self.notes,
            )
        ]

    def _entry(self, given: Given, records: Mapping[str, Record], data: str, place: int) -> Entry:
        name, figures = self.columns[place], self.printed.get(data, ())
        known = data in given.fingerprints
        record = records.get(self._task(given, data).key, {}) if known else {}
        entry = Entry(
            row=given.library.title(data),
            column=name,
            printed=figures[place] if place < len(figures) else None,
            ours=record.get("counts", {}).get(name),
            remark=given.missing.get(data, record.get("failure", "")),
        )
        same = entry.difference is not None and abs(entry.difference) < 0.005
        return entry if same or entry.remark else replace(entry, remark=self.remarks.get(data, ""))
