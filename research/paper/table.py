"""A table of the paper with a row for each data set and a column for each method."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from bblr.comparison.records import Record
from bblr.comparison.summary import Versus
from research.paper.exhibit import Entry, Exhibit, Given, Level, Result
from research.paper.fits import (
    METRICS,
    PaperFit,
    Protocol,
    finished,
    fits,
    shortfall,
    significance,
)
from research.paper.library import Library

__all__ = ["TOTAL", "Column", "Gain", "Printed", "Reading", "Remark", "Table"]

TOTAL = "Total"
_UNDIVIDED = "it has no test rows of its own"


@dataclass(frozen=True)
class Column:
    """A method and what is counted of it.

    Parameters
    ----------
    method : str
        Name of the method.
    metric : str or None
        One of `METRICS`; None for that of the table.
    label : str
        Heading; the method's label where empty.
    quick : str
        Name of a method to run in its place when quick; the same where empty.
    """

    method: str
    metric: str | None = None
    label: str = ""
    quick: str = ""


@dataclass(frozen=True)
class Reading:
    """One way to read the paper's protocol: what is run in full, and quickly if at all."""

    full: Protocol
    quick: Protocol | None
    part: str = ""

    def at(self, level: Level) -> Protocol | None:
        """Return what is run at a level, if anything."""
        return self.full if level == "full" else self.quick


@dataclass(frozen=True)
class Remark:
    """A sentence that stands next to a figure only where ours is lower or higher, or always."""

    text: str
    when: Literal["lower", "higher", "always"]

    def holds(self, difference: float) -> bool:
        """Say whether it is true of figures that differ so."""
        return {"lower": difference < 0, "higher": difference > 0, "always": True}[self.when]


@dataclass(frozen=True)
class Gain:
    """By how many per cent a method is below another, and the paper's figures by data set."""

    method: str
    other: str
    printed: Mapping[str, float]

    def over(self, result: Result, library: Library) -> Result:
        """Work the gains out of a table."""
        mine, other = (library.method(name).label for name in (self.method, self.other))
        column = f"{mine} below {other}"
        printed = {library.title(d) if d != TOTAL else TOTAL: v for d, v in self.printed.items()}
        entries = []
        for row in result.rows:
            ours, theirs = (result.entry(row, label).ours for label in (mine, other))
            gain = 100.0 * (1.0 - ours / theirs) if ours is not None and theirs else None
            entries.append(Entry(row, column, printed.get(row), gain))
        part = f"{result.part}: gain" if result.part else "Gain"
        return replace(
            result, unit="%", digits=0, better="higher", columns=(column,),
            entries=tuple(entries), notes=(), part=part,
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Printed(Exhibit):
    """A table with the paper's figures.

    Parameters
    ----------
    data : tuple of str
        Names of the data sets it uses; mostly the rows.
    printed : dict of str to tuple
        The paper's figures by row, in the order of the columns; None where there is none.
    """

    data: tuple[str, ...]
    printed: Mapping[str, tuple[float | None, ...]] = field(default_factory=dict)

    @property
    def needs(self) -> tuple[str, ...]:
        """Names of the data sets it uses."""
        return self.data

    def figure(self, row: str, place: int) -> float | None:
        """Return what the paper prints in a place, if anything."""
        figures = self.printed.get(row, ())
        return figures[place] if place < len(figures) else None

    def result(self, **settings: Any) -> Result:
        """Make a result of it; its rows and columns are those of the entries unless given."""
        entries = tuple(settings.pop("entries"))
        shown = {
            "name": self.name,
            "title": self.title,
            "about": self.about,
            "reading": self.reading,
            "notes": self.notes,
            "rows": tuple(dict.fromkeys(entry.row for entry in entries)),
            "columns": tuple(dict.fromkeys(entry.column for entry in entries)),
        }
        return Result(**{**shown, **settings, "entries": entries})


@dataclass(frozen=True, kw_only=True)
class Table(Printed):
    """Methods on data sets.

    Parameters
    ----------
    columns : tuple of Column
        The methods.
    readings : tuple of Reading
        How the data are cut and spoilt.
    metric : str
        One of `METRICS`: what is counted unless a column says otherwise.
    unit : str
        What the figures count, in words.
    digits : int
        Decimals.
    total : bool
        Whether a last row adds up.
    gain : Gain or None
        By how many per cent one method is below another, as a table of its own.
    full_only : tuple of str
        Data sets that quick runs leave out.
    baselines : tuple of str
        Columns' methods to test the others against.
    remarks : dict
        Why figures differ, by data set and method, or by either with ``"*"`` for the other; a
        sentence, or a Remark that does not always hold.
    better : {"lower", "higher"} or None
        Which figures are better, if either.
    """

    columns: tuple[Column, ...]
    readings: tuple[Reading, ...]
    metric: str = "rate"
    unit: str = "error %"
    digits: int = 1
    total: bool = False
    gain: Gain | None = None
    full_only: tuple[str, ...] = ()
    baselines: tuple[str, ...] = ()
    remarks: Mapping[tuple[str, str], str | Remark] = field(default_factory=dict)
    better: Literal["lower", "higher"] | None = "lower"

    def figures(self, method: str, metric: str | None = None) -> tuple[float, ...]:
        """Return what the paper prints in one column, in the order of the data sets."""
        place = [(c.method, c.metric) for c in self.columns].index((method, metric))
        found = (self.printed[data][place] for data in self.data)
        return tuple(figure for figure in found if figure is not None)

    def tasks(self, given: Given) -> list[PaperFit]:
        """Return a fit for each data set, method and part."""
        return [
            task
            for reading in self.readings
            for data in self._rows(given)
            for column in self._columns(given)
            for task in self._fits(given, reading, data, column)
        ]

    def results(self, given: Given, records: Mapping[str, Record]) -> list[Result]:
        """Work out the figures of each reading."""
        found: list[Result] = []
        for reading in self.readings:
            protocol = reading.at(given.level)
            if protocol is not None:
                result = self._result(given, reading, protocol, records)
                gain = [] if self.gain is None else [self.gain.over(result, given.library)]
                found += [result, *gain]
        return found

    def _rows(self, given: Given) -> tuple[str, ...]:
        return (*self.data, *given.library.added_sources)

    def _columns(self, given: Given) -> tuple[Column, ...]:
        return (*self.columns, *map(Column, given.library.added_methods))

    def _fits(self, given: Given, reading: Reading, data: str, column: Column) -> list[PaperFit]:
        protocol, quick = reading.at(given.level), given.level == "quick"
        left_out = quick and data in self.full_only
        undivided = protocol is not None and protocol.folds == 0 and data in given.whole
        if protocol is None or left_out or undivided or data not in given.fingerprints:
            return []
        method = (quick and column.quick) or column.method
        return fits(protocol, data, method, **given.task(data))

    def _result(
        self, given: Given, reading: Reading, protocol: Protocol, records: Mapping[str, Record]
    ) -> Result:
        columns, rows, library = self._columns(given), self._rows(given), given.library
        parts = {
            (data, column): _Part(self._fits(given, reading, data, column), records)
            for data in rows
            for column in columns
        }
        labels = {c: c.label or library.method(c.method).label for c in columns}
        places = list(enumerate(columns))
        entries = [
            self._entry(given, parts, data, place, column, labels[column])
            for data in rows
            for place, column in places
        ]
        if self.total:
            entries += [
                self._total(given, parts, k, column, labels[column]) for k, column in places
            ]
        return self.result(
            reading=f"{self.reading} Run here: {protocol.label}.",
            unit=self.unit,
            digits=self.digits,
            better=self.better,
            rows=(*map(library.title, rows), *([TOTAL] if self.total else [])),
            columns=tuple(labels.values()),
            entries=entries,
            part=reading.part,
            column_digits={labels[c]: 0 for c in columns if c.metric == "vectors"},
        )

    def _entry(
        self, given: Given, parts: _Parts, data: str, place: int, column: Column, label: str
    ) -> Entry:
        part = parts[data, column]
        left_out = "only in a full run" if data in self.full_only else _UNDIVIDED
        missing = part.missing if part.planned else given.missing.get(data, left_out)
        ours = part.figure(column.metric or self.metric)
        tests = self._tests(given, column, lambda c: parts[data, c].records)
        title = given.library.title(data)
        entry = Entry(title, label, self.figure(data, place), ours, tests, missing)
        return entry if missing else self._explained(entry, data, column)

    def _explained(self, entry: Entry, row: str, column: Column) -> Entry:
        """Say why the figures differ, where they do."""
        keys = ((row, column.method), (row, "*"), ("*", column.method))
        digits = 0 if column.metric == "vectors" else self.digits
        difference = entry.difference or 0.0
        differ = abs(difference) >= 0.5 * 10.0**-digits
        for remark in (self.remarks[key] for key in keys if key in self.remarks):
            if isinstance(remark, str):
                remark = Remark(remark, "lower" if difference < 0 else "higher")
            if remark.when == "always" or (differ and remark.holds(difference)):
                return replace(entry, remark=remark.text)
        return entry

    def _total(self, given: Given, parts: _Parts, place: int, column: Column, label: str) -> Entry:
        mine = [parts[data, column] for data in self.data]
        figures = [part.figure(column.metric or self.metric) for part in mine]
        known = [figure for figure in figures if figure is not None]
        ours = sum(known) if len(known) == len(figures) else None
        tests = self._tests(
            given, column, lambda c: [r for data in self.data for r in parts[data, c].records]
        )
        missing = "a row is missing" if ours is None else ""
        entry = Entry(TOTAL, label, self.figure(TOTAL, place), ours, tests, missing)
        return entry if missing else self._explained(entry, TOTAL, column)

    def _tests(
        self, given: Given, column: Column, of: Callable[[Column], list[Record]]
    ) -> tuple[Versus, ...]:
        others = [c for c in self.columns if c.method in self.baselines and c.metric is None]
        if column.metric is not None or column in others:
            return ()
        label = given.library.method
        found = [significance(label(c.method).label, of(column), of(c)) for c in others]
        return tuple(test for test in found if test is not None)


class _Part:
    """The fits of one method on one data set, as far as they are there."""

    def __init__(self, tasks: Sequence[PaperFit], records: Mapping[str, Record]) -> None:
        self.planned = len(tasks)
        self.records = finished(tasks, records)
        self.missing = shortfall(tasks, records)

    def figure(self, metric: str) -> float | None:
        """Work out a figure; None where there is no fit."""
        return METRICS[metric](self.records) if self.records else None


_Parts = Mapping[tuple[str, Column], _Part]
