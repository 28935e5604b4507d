"""The paper's table of pooled McNemar tests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt

from bblr.comparison.records import Record
from research.paper.exhibit import Exhibit, Given
from research.paper.fits import PaperFit, compare_wrong, finished, fits, shortfall
from research.paper.results import Entry, FigureResult, TableResult
from research.paper.table import Reading

__all__ = ["PooledTests"]


@dataclass(frozen=True, kw_only=True)
class PooledTests(Exhibit):
    """z of one method against rivals, over all folds of several data sets.

    Parameters
    ----------
    data : tuple of str
        Names of the data sets whose folds are pooled.
    method : str
        The method.
    rivals : tuple of str
        The columns.
    readings : tuple of Reading
        The rows, named by their parts.
    printed : dict of str to tuple
        The paper's z by row.
    """

    data: tuple[str, ...]
    method: str
    rivals: tuple[str, ...]
    readings: tuple[Reading, ...]
    printed: Mapping[str, tuple[float | None, ...]]

    @property
    def needs(self) -> tuple[str, ...]:
        """Names of the data sets it uses."""
        return self.data

    def tasks(self, given: Given) -> list[PaperFit]:
        """Return the fits; other tables have the same ones."""
        return [
            task
            for reading in self.readings
            for method in (self.method, *self.rivals)
            for task in self._fits(given, reading, method)
        ]

    def _fits(self, given: Given, reading: Reading, method: str) -> list[PaperFit]:
        protocol = reading.at(given.level)
        if protocol is None:
            return []
        return [
            task
            for data in self.data
            if data in given.fingerprints
            for task in fits(
                protocol,
                data,
                method,
                fingerprint=given.fingerprints[data],
                seed=given.seed,
                library=given.library,
            )
        ]

    def results(
        self, given: Given, records: Mapping[str, Record]
    ) -> list[TableResult | FigureResult]:
        """Show z as the paper has it, and z with each row of the data counted once."""
        readings = [r for r in self.readings if r.at(given.level) is not None]
        label = given.library.method
        heads = [f"{label(self.method).label} vs {label(rival).label}" for rival in self.rivals]
        columns = tuple(heads) + tuple(f"{head}, each row once" for head in heads)
        entries = []
        for reading in readings:
            mine = finished(self._fits(given, reading, self.method), records)
            pairs = [
                _z(mine, finished(self._fits(given, reading, rival), records))
                for rival in self.rivals
            ]
            printed = (
                *self.printed.get(reading.part, (None,) * len(pairs)),
                *(None for _ in pairs),
            )
            ours = [pooled for pooled, _ in pairs] + [once for _, once in pairs]
            tasks = [t for m in (self.method, *self.rivals) for t in self._fits(given, reading, m)]
            short = shortfall(tasks, records)
            entries += [
                Entry(reading.part, *row, remark=short)
                for row in zip(columns, printed, ours, strict=True)
            ]
        return [
            TableResult(
                name=self.name,
                title=self.title,
                about=self.about,
                reading=self.reading,
                unit="z of McNemar's test",
                digits=2,
                better=None,
                rows=tuple(reading.part for reading in readings),
                columns=columns,
                entries=tuple(entries),
                notes=self.notes,
            )
        ]


def _z(mine: list[Record], theirs: list[Record]) -> tuple[float | None, float | None]:
    if not mine or not theirs:
        return None, None
    better, worse, repeats = compare_wrong(mine, theirs)
    z = (better - worse) / sqrt(better + worse) if better + worse else 0.0
    return z, z / sqrt(repeats)
