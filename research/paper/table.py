"""A table of the paper with a row for each data set and a column for each method."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from bblr.comparison.records import Record
from research.paper.exhibit import Exhibit, Given, Level
from research.paper.fits import METRICS, PaperFit, finished, fits, shortfall, significance
from research.paper.library import Library
from research.paper.protocols import AnyProtocol
from research.paper.results import Entry, FigureResult, Significance, TableResult

__all__ = ["Column", "Gain", "Reading", "Remark", "Table"]

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
    """One way to read the paper's protocol: what is run in full, and what quickly.

    Parameters
    ----------
    full, quick : AnyProtocol
        What is run; ``quick`` may be None where quick runs leave this reading out.
    part : str
        A heading, where there are several readings.
    """

    full: AnyProtocol
    quick: AnyProtocol | None
    part: str = ""

    def at(self, level: Level) -> AnyProtocol | None:
        """Return what is run at a level, if anything."""
        return self.full if level == "full" else self.quick


@dataclass(frozen=True)
class Remark:
    """A sentence that stands beside a figure only where it holds.

    Parameters
    ----------
    text : str
        The sentence.
    when : {"lower", "higher", "always"}
        Whether ours must be lower or higher than the printed figure.
    """

    text: str
    when: Literal["lower", "higher", "always"]

    def holds(self, difference: float) -> bool:
        """Say whether it is true of figures that differ so."""
        return {"lower": difference < 0, "higher": difference > 0, "always": True}[self.when]


@dataclass(frozen=True)
class Gain:
    """By how many per cent a method is below a rival.

    Parameters
    ----------
    method, rival : str
        Names of the methods.
    printed : dict of str to float
        The paper's figures by data set, ``"Total"`` included.
    """

    method: str
    rival: str
    printed: Mapping[str, float]

    def over(self, result: TableResult, library: Library) -> TableResult:
        """Work the gains out of a table."""
        mine, other = (library.method(name).label for name in (self.method, self.rival))
        column = f"{mine} below {other}"
        printed = {library.title(d) if d != TOTAL else TOTAL: v for d, v in self.printed.items()}
        entries = []
        for row in result.rows:
            ours, theirs = (result.entry(row, label).ours for label in (mine, other))
            gain = 100.0 * (1.0 - ours / theirs) if ours is not None and theirs else None
            entries.append(Entry(row, column, printed.get(row), gain))
        part = f"{result.part}: gain" if result.part else "Gain"
        return replace(
            result,
            unit="%",
            digits=0,
            better="higher",
            columns=(column,),
            entries=tuple(entries),
            notes=(),
            part=part,
        )


@dataclass(frozen=True, kw_only=True)
class Table(Exhibit):
    """Methods on data sets.

    Parameters
    ----------
    data : tuple of str
        Names of the data sets, the rows.
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
    printed : dict of str to tuple
        The paper's figures by data set (``"Total"`` for the last row), in the order of the
        columns; None where there is none.
    total : bool
        Whether a last row adds up.
    gain : Gain or None
        By how many per cent one method is below another, as a table of its own.
    full_only : tuple of str
        Data sets that quick runs leave out.
    rivals : tuple of str
        Columns' methods to test the others against.
    remarks : dict
        Why figures differ, by data set and method, or by either with ``"*"`` for the other; a
        sentence, or a Remark that does not always hold.
    better : {"lower", "higher"} or None
        Which figures are better, if either.
    """

    data: tuple[str, ...]
    columns: tuple[Column, ...]
    readings: tuple[Reading, ...]
    metric: str = "rate"
    unit: str = "error %"
    digits: int = 1
    printed: Mapping[str, tuple[float | None, ...]] = field(default_factory=dict)
    total: bool = False
    gain: Gain | None = None
    full_only: tuple[str, ...] = ()
    rivals: tuple[str, ...] = ()
    remarks: Mapping[tuple[str, str], str | Remark] = field(default_factory=dict)
    better: Literal["lower", "higher"] | None = "lower"

    @property
    def needs(self) -> tuple[str, ...]:
        """Names of the data sets it uses."""
        return self.data

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

    def results(
        self, given: Given, records: Mapping[str, Record]
    ) -> list[TableResult | FigureResult]:
        """Work out the figures of each reading."""
        found: list[TableResult | FigureResult] = []
        for reading in self.readings:
            if reading.at(given.level) is not None:
                result = self._result(given, reading, records)
                found.append(result)
                if self.gain is not None:
                    found.append(self.gain.over(result, given.library))
        return found

    def _rows(self, given: Given) -> tuple[str, ...]:
        return (*self.data, *given.library.added_sources)

    def _columns(self, given: Given) -> tuple[Column, ...]:
        return (*self.columns, *map(Column, given.library.added_methods))

    def _fits(self, given: Given, reading: Reading, data: str, column: Column) -> list[PaperFit]:
        protocol = reading.at(given.level)
        left_out = given.level == "quick" and data in self.full_only
        undivided = protocol is not None and protocol.folds == 0 and data in given.whole
        if protocol is None or left_out or undivided or data not in given.fingerprints:
            return []
        return fits(
            protocol,
            data,
            (given.level == "quick" and column.quick) or column.method,
            fingerprint=given.fingerprints[data],
            seed=given.seed,
            library=given.library,
        )

    def _result(
        self, given: Given, reading: Reading, records: Mapping[str, Record]
    ) -> TableResult:
        protocol = reading.at(given.level)
        assert protocol is not None
        columns, rows, library = self._columns(given), self._rows(given), given.library
        parts = {
            (data, column): _Part(self._fits(given, reading, data, column), records)
            for data in rows
            for column in columns
        }
        labels = tuple(c.label or library.method(c.method).label for c in columns)
        entries = [
            self._entry(given, parts, data, place, label)
            for data in rows
            for place, label in enumerate(labels)
        ]
        if self.total:
            entries += [
                self._total(given, parts, place, label) for place, label in enumerate(labels)
            ]
        titles = tuple(library.title(data) for data in rows)
        return TableResult(
            name=self.name,
            title=self.title,
            about=self.about,
            reading=f"{self.reading} Run here: {protocol.label}.",
            unit=self.unit,
            digits=self.digits,
            better=self.better,
            rows=(*titles, TOTAL) if self.total else titles,
            columns=labels,
            entries=tuple(entries),
            notes=self.notes,
            part=reading.part,
            column_digits={
                label: 0
                for label, column in zip(labels, columns, strict=True)
                if column.metric == "vectors"
            },
        )

    def _entry(self, given: Given, parts: _Parts, data: str, place: int, label: str) -> Entry:
        column = self._columns(given)[place]
        part = parts[data, column]
        left_out = "only in a full run" if data in self.full_only else _UNDIVIDED
        missing = part.missing if part.planned else given.missing.get(data, left_out)
        entry = Entry(
            row=given.library.title(data),
            column=label,
            printed=self._printed(data, place),
            ours=part.figure(column.metric or self.metric),
            tests=self._tests(given, column, lambda c: parts[data, c].records),
            remark=missing,
        )
        return entry if missing else self._explained(entry, data, column)

    def _explained(self, entry: Entry, row: str, column: Column) -> Entry:
        """Say why the figures differ, where they do."""
        keys = ((row, column.method), (row, "*"), ("*", column.method))
        found = [self.remarks[key] for key in keys if key in self.remarks]
        digits = 0 if column.metric == "vectors" else self.digits
        difference = entry.difference or 0.0
        differ = abs(difference) >= 0.5 * 10.0**-digits
        for remark in found:
            if isinstance(remark, str):
                remark = Remark(remark, "lower" if difference < 0 else "higher")
            if remark.when == "always" or (differ and remark.holds(difference)):
                return replace(entry, remark=remark.text)
        return entry

    def _total(self, given: Given, parts: _Parts, place: int, label: str) -> Entry:
        column = self._columns(given)[place]
        figures = [parts[data, column].figure(column.metric or self.metric) for data in self.data]
        known = [figure for figure in figures if figure is not None]
        complete = len(known) == len(figures)
        entry = Entry(
            row=TOTAL,
            column=label,
            printed=self._printed(TOTAL, place),
            ours=sum(known) if complete else None,
            tests=self._tests(
                given, column, lambda c: [r for data in self.data for r in parts[data, c].records]
            ),
            remark="" if complete else "a row is missing",
        )
        return self._explained(entry, TOTAL, column) if complete else entry

    def _printed(self, row: str, place: int) -> float | None:
        figures = self.printed.get(row, ())
        return figures[place] if place < len(figures) else None

    def _tests(
        self, given: Given, column: Column, of: Callable[[Column], list[Record]]
    ) -> tuple[Significance, ...]:
        rivals = [c for c in self.columns if c.method in self.rivals and c.metric is None]
        if column.metric is not None or column in rivals:
            return ()
        label = given.library.method
        found = [significance(label(c.method).label, of(column), of(c)) for c in rivals]
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
