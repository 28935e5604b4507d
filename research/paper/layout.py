"""Results as a report shows them: numbers as text, parts of an exhibit under one heading."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bblr.comparison.figures import Panel
from research.paper.results import (
    Entry,
    FigureResult,
    Significance,
    TableResult,
)

__all__ = ["Cell", "Line", "Number", "Part", "Section", "Sheet", "Versus", "sections"]

Result = TableResult | FigureResult


@dataclass(frozen=True)
class Number:
    """A number as it is read, and as it is sorted."""

    text: str
    value: float


@dataclass(frozen=True)
class Versus:
    """A test as it is read, and the z by which it is sorted."""

    text: str
    p: float
    value: float


@dataclass(frozen=True)
class Cell:
    """A place in the matrix; None where there is no figure."""

    ours: str | None = None
    printed: str | None = None
    best: bool = False


@dataclass(frozen=True)
class Line:
    """An entry, with a test for each rival of its table."""

    row: str
    column: str
    printed: Number | None
    ours: Number | None
    difference: Number | None
    tests: tuple[Versus | None, ...]
    remark: str


@dataclass(frozen=True)
class Sheet:
    """A table in the paper's shape (``rows``) and figure by figure (``lines``)."""

    unit: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]
    lines: tuple[Line, ...]
    rivals: tuple[str, ...]

    @property
    def has_printed(self) -> bool:
        """Whether the paper has any of these figures."""
        return any(line.printed for line in self.lines)

    @property
    def has_ours(self) -> bool:
        """Whether we got any of these figures."""
        return any(line.ours for line in self.lines)

    @property
    def has_lines(self) -> bool:
        """Whether the lines tell more than the matrix's dashes."""
        return self.has_printed or self.has_ours or bool(self.remarks)

    @property
    def has_best(self) -> bool:
        """Whether any figure is better than another of its row."""
        return any(cell.best for _, cells in self.rows for cell in cells)

    @property
    def remarks(self) -> dict[str, list[Line]]:
        """The lines of each remark."""
        found: dict[str, list[Line]] = {}
        for line in self.lines:
            if line.remark:
                found.setdefault(line.remark, []).append(line)
        return found


@dataclass(frozen=True)
class Part:
    """One result below the heading of its exhibit; what the exhibit says is empty here."""

    heading: str
    about: str
    reading: str
    sheet: Sheet | None
    panels: tuple[Panel, ...]
    notes: tuple[str, ...]

    @property
    def has_ours(self) -> bool:
        """Whether there is anything of ours to see."""
        return bool(self.panels) or (self.sheet is not None and self.sheet.has_ours)


@dataclass(frozen=True)
class Section:
    """All results of one exhibit."""

    anchor: str
    title: str
    about: str
    reading: str
    parts: tuple[Part, ...]
    notes: tuple[str, ...]

    @property
    def has_ours(self) -> bool:
        """Whether there is anything of ours to see."""
        return any(part.has_ours for part in self.parts)


def sections(results: Sequence[Result], taken: Iterable[str] = ()) -> list[Section]:
    """Gather results by name, in the order in which the names first occur.

    Parameters
    ----------
    results : sequence of TableResult or FigureResult
        What to show.
    taken : iterable of str
        Anchors that the page uses elsewhere.

    Returns
    -------
    list of Section
        One for each name, with an anchor of its own.
    """
    groups: dict[str, list[Result]] = {}
    for result in results:
        groups.setdefault(result.name, []).append(result)
    anchors = set(taken)
    return [_section(group, _anchor(name, anchors)) for name, group in groups.items()]


def _anchor(name: str, taken: set[str]) -> str:
    stem = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "exhibit"
    anchor, count = stem, 1
    while anchor in taken:
        count += 1
        anchor = f"{stem}-{count}"
    taken.add(anchor)
    return anchor


def _section(group: Sequence[Result], anchor: str) -> Section:
    """Say once what holds for all parts, and the rest where it belongs."""
    first = group[0]
    reading = first.reading if all(r.reading == first.reading for r in group) else ""
    common = [note for note in first.notes if all(note in r.notes for r in group)]
    notes = tuple(common) if len(group) > 1 else ()
    parts = tuple(_part(result, first, reading, notes) for result in group)
    return Section(anchor, first.title, first.about, reading, parts, notes)


def _part(result: Result, first: Result, reading: str, notes: tuple[str, ...]) -> Part:
    titles = [result.title if result.title != first.title else ""]
    if isinstance(result, TableResult):
        titles.append(result.part)
    return Part(
        heading=": ".join(filter(None, titles)),
        about=result.about if result.about != first.about else "",
        reading="" if reading else result.reading,
        sheet=_sheet(result) if isinstance(result, TableResult) else None,
        panels=result.panels if isinstance(result, FigureResult) else (),
        notes=tuple(note for note in result.notes if note not in notes),
    )


def _sheet(table: TableResult) -> Sheet:
    decimals = {column: _printed_digits(table, column) for column in table.columns}
    rivals = tuple(dict.fromkeys(test.rival for e in table.entries for test in e.tests))
    return Sheet(
        unit=table.unit,
        columns=table.columns,
        rows=tuple((row, _cells(table, row, decimals)) for row in table.rows),
        lines=tuple(
            _line(entry, rivals, table.digits_of(entry.column), decimals[entry.column])
            for entry in table.entries
        ),
        rivals=rivals,
    )


def _printed_digits(table: TableResult, column: str) -> int:
    """Find how many decimals the paper gives: those that the longest of like figures needs."""
    digits = table.digits_of(column)
    alike = [e for e in table.entries if table.digits_of(e.column) == digits]
    printed = _finite(entry.printed for entry in alike)
    enough = (n for n in range(digits) if all(round(v, n) == v for v in printed))
    return next(enough, digits)


def _cells(table: TableResult, row: str, decimals: Mapping[str, int]) -> tuple[Cell, ...]:
    # From the end, so that the first of two entries in one place wins, as in TableResult.entry.
    there = {e.column: e for e in reversed(table.entries) if e.row == row}
    best = _best([there[column] for column in table.columns if column in there], table)
    cells = []
    for column in table.columns:
        entry = there.get(column)
        digits = table.digits_of(column)
        ours = _number(entry.ours, digits) if entry else None
        printed = _number(entry.printed, decimals[column]) if entry else None
        cells.append(
            Cell(
                ours.text if ours else None,
                printed.text if printed else None,
                ours is not None and round(ours.value, digits) == best,
            )
        )
    return tuple(cells)


def _best(entries: Sequence[Entry], table: TableResult) -> float | None:
    """Find the best of our figures as they are read; none where it beats no other."""
    ours = [round(value, table.digits) for value in _finite(entry.ours for entry in entries)]
    if table.better is None or len(set(ours)) < 2:
        return None
    return min(ours) if table.better == "lower" else max(ours)


def _line(entry: Entry, rivals: Sequence[str], digits: int, decimals: int) -> Line:
    # From the end, so that the first of two tests against one rival wins.
    tests = {test.rival: test for test in reversed(entry.tests)}
    return Line(
        row=entry.row,
        column=entry.column,
        printed=_number(entry.printed, decimals),
        ours=_number(entry.ours, digits),
        difference=_number(_difference(entry, digits), digits, signed=True),
        tests=tuple(_versus(tests.get(rival)) for rival in rivals),
        remark=entry.remark,
    )


def _versus(test: Significance | None) -> Versus | None:
    number = _number(test.z, 2, signed=True) if test else None
    if test is None or number is None or not math.isfinite(test.p):
        return None
    return Versus(number.text, float(test.p), number.value)


def _difference(entry: Entry, digits: int) -> float | None:
    """Subtract what is read, so that a reader who does so gets the same."""
    if entry.ours is None or entry.printed is None:
        return None
    return round(entry.ours, digits) - entry.printed


def _finite(values: Iterable[float | None]) -> list[float]:
    """Leave out what is missing or not a number."""
    return [value for value in values if value is not None and math.isfinite(value)]


def _number(value: float | None, digits: int, signed: bool = False) -> Number | None:
    if value is None or not math.isfinite(value):
        return None
    # Adding 0 turns the −0 that rounding may leave into 0.
    rounded = round(float(value), digits) + 0.0
    sign = "+" if signed and rounded else ""
    return Number(f"{rounded:{sign},.{digits}f}".replace("-", "−"), float(value))
