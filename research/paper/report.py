"""The report of a reproduction: every table and figure next to what was printed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from bblr.comparison.document import (
    DASH,
    Block,
    Bullets,
    Document,
    Grid,
    Heading,
    Panels,
    Section,
)
from bblr.comparison.summary import format_p
from research.core.thresholds import MET, MISSED, NOT_JUDGED, Verdict, tally
from research.paper.exhibit import Entry, Result

__all__ = ["Reproduction", "document", "lines", "matrix"]

MOST_FAILURES = 50
_SIGNS = {MET: "✓ Met.", MISSED: "✗ Not met.", NOT_JUDGED: "○ Not judged."}
_SCOPES = {
    "quick": (
        "quick level, a part of each protocol",
        "Only a part of each of the paper’s protocols was run, so the figures rest on few rows "
        "and nothing is judged by them. What was run stands under each heading as “Our reading”.",
    ),
    "full": (
        "full level, the paper’s protocol",
        "The paper’s protocols were run as we read them; how, stands under each heading as “Our "
        "reading”.",
    ),
}
_MEASURED = Bullets(
    [
        ("Printed:", "the paper’s figure; a dash where it has none."),
        ("Ours:", "the figure of this run; a dash where there is none, and a remark says why."),
        ("Difference:", "ours less printed, both as shown."),
        (
            "z (p):",
            "McNemar’s test on the test rows that only one of the two methods gets right, pooled "
            "over folds. Counts are averaged over repeats, so a row counts once however many "
            "repeats there are. A positive z means that the baseline makes more errors; p is "
            "two-sided and not corrected for the number of tests.",
        ),
    ]
)


@dataclass(frozen=True)
class Reproduction:
    """All that a report tells.

    Parameters
    ----------
    results : sequence of Result
        What to show, in this order; those of one name stand under one heading.
    findings : sequence of Verdict
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

    results: Sequence[Result]
    findings: Sequence[Verdict] = ()
    level: str = "quick"
    seed: int = 0
    versions: Sequence[Mapping[str, str]] = ()
    unavailable: Mapping[str, str] = field(default_factory=dict)
    failures: Sequence[str] = ()


def document(found: Reproduction) -> Document:
    """Turn a reproduction into a report; equal ones give equal reports."""
    if found.level not in _SCOPES:
        raise ValueError(f"level must be 'quick' or 'full', got {found.level!r}")
    scope, meaning = _SCOPES[found.level]
    sections: list[Section] = []
    if found.findings:
        said = Bullets([(_SIGNS[verdict.status], _said(verdict)) for verdict in found.findings])
        sections.append(Section("What the figures bear out", [tally(found.findings), said]))
    if found.unavailable:
        why = Bullets([(f"{title}:", text) for title, text in found.unavailable.items()])
        sections.append(Section("What could not be run", [why]))
    by_name: dict[str, list[Result]] = {}
    for result in found.results:
        by_name.setdefault(result.name, []).append(result)
    sections += [_section(group) for group in by_name.values()]
    made = [", ".join(f"{name} {version}" for name, version in v.items()) for v in found.versions]
    blocks: list[Block] = [
        _MEASURED,
        " ".join([f"Seed {found.seed}.", *(f"{v}." for v in made if v)]),
    ]
    if found.failures:
        blocks += [Heading("What failed"), Bullets(found.failures[:MOST_FAILURES])]
    if len(found.failures) > MOST_FAILURES:
        blocks.append(f"And {len(found.failures) - MOST_FAILURES} more, in the records file.")
    sections.append(Section("How this was measured", blocks))
    title = f"The paper’s tables and figures, run again: {scope}"
    used = sorted({v["bblr"] for v in found.versions if "bblr" in v})
    which = f"Measured with bblr {' and '.join(used)}; other versions differ." if used else ""
    intro = [text for text in (meaning, which, _counts(found.results)) if text]
    return Document("bblr reproduce", title, intro, sections)


def _said(verdict: Verdict) -> str:
    against = f"Against it: {'; '.join(verdict.notes)}." if verdict.notes else ""
    return " ".join(filter(None, [verdict.name, verdict.figure, against]))


def _counts(results: Sequence[Result]) -> str:
    """Say how much there is to see."""
    tables = len({result.name for result in results if result.is_table})
    figures = len({result.name for result in results if not result.is_table})
    entries = [entry for result in results for entry in result.entries]
    printed = [entry for entry in entries if entry.printed is not None]
    extra = len(_finite(e.ours for e in entries if e.printed is None))
    again = len(_finite(entry.ours for entry in printed))
    return (
        f"{tables} table{'s' * (tables != 1)} and {figures} figure{'s' * (figures != 1)}; "
        f"{again:,} of {len(printed):,} printed numbers run again"
        + (f", and {extra:,} that the paper does not have." if extra else ".")
    )


def _section(group: Sequence[Result]) -> Section:
    """Put the results of one exhibit under one heading; what they share is said once."""
    first = group[0]
    common = [note for note in first.notes if all(note in r.notes for r in group)]
    shared = {r.reading for r in group} == {first.reading}
    blocks: list[Block] = [first.about, *_reading(first.reading if shared else "")]
    for result in group:
        heading = result.title if result.title != first.title else ""
        heading = ": ".join(filter(None, [heading, result.part]))
        if heading:
            blocks.append(Heading(heading[:1].upper() + heading[1:]))
        if result.about != first.about:
            blocks.append(result.about)
        blocks += _reading("" if shared else result.reading)
        name = f"{first.title}, {heading}" if heading else first.title
        blocks += _table(result, name) if result.is_table else _figure(result)
        own = [note for note in result.notes if len(group) == 1 or note not in common]
        if own:
            blocks.append(Bullets(own))
    if common and len(group) > 1:
        blocks += ["On all of these:", Bullets(common)]
    return Section(first.title, [block for block in blocks if block], first.name)


def _reading(text: str) -> list[Block]:
    return [f"Our reading: {text}"] if text else []


def _figure(result: Result) -> list[Block]:
    if result.panels:
        return [Panels(result.panels)]
    return ["Not drawn: there is nothing to draw it from."]


def _table(result: Result, name: str) -> list[Block]:
    ours, printed = (_finite(getattr(e, n) for e in result.entries) for n in ("ours", "printed"))
    shown = {
        (True, True): "ours (printed)",
        (True, False): "ours; the paper has no such figures",
        (False, True): "none of ours (printed)",
        (False, False): "no figures",
    }[bool(ours), bool(printed)]
    frame, best = matrix(result)
    bold = " Bold: best of ours in its row." if best.any() else ""
    unit = result.unit[:1].upper() + result.unit[1:]
    blocks: list[Block] = [
        f"{unit}: {shown}.{bold}",
        Grid(frame, f"{name}, as in the paper", best),
    ]
    if ours or printed:
        blocks.append(Grid(lines(result), f"{name}, figure by figure", lines=True))
    remarks: dict[str, list[Entry]] = {}
    for entry in result.entries:
        if entry.remark:
            remarks.setdefault(entry.remark, []).append(entry)
    if remarks:
        said = [(f"{_where(result, about)}:", text) for text, about in remarks.items()]
        blocks.append(Bullets(said))
    return blocks


def _where(result: Result, about: Sequence[Entry]) -> str:
    """Name the figures a remark is about, by row or column alone where it is about all of it."""
    rows = list(dict.fromkeys(entry.row for entry in about))
    columns = list(dict.fromkeys(entry.column for entry in about))
    if len(rows) == 1 and len(about) > len(result.columns) / 2:
        return rows[0]
    if len(columns) == 1 and len(about) > len(result.rows) / 2:
        return columns[0]
    return ", ".join(f"{entry.row} {entry.column}" for entry in about)


def matrix(result: Result) -> tuple[pd.DataFrame, np.ndarray]:
    """Lay a table out in the paper's shape: our figures, with the printed ones in brackets.

    Returns
    -------
    frame, best : DataFrame, ndarray of bool
        The table, headings of rows first, and which cells hold the best of ours in their rows.
    """
    digits = {column: _printed_digits(result, column) for column in result.columns}
    # From the end, so that the first of two entries in one place wins.
    there = {(e.row, e.column): e for e in reversed(result.entries)}
    texts, marks = [], []
    for row in result.rows:
        found = [
            there.get((row, column), Entry(row, column, None, None)) for column in result.columns
        ]
        values = [_rounded(entry.ours, result.digits) for entry in found]
        best = _best([value for value in values if value is not None], result)
        marks.append([False, *(value is not None and value == best for value in values)])
        cells = [row]
        for column, entry in zip(result.columns, found, strict=True):
            ours = _number(entry.ours, result.digits_of(column))
            printed = _number(entry.printed, digits[column])
            cells.append(ours if printed == DASH else f"{ours} ({printed})")
        texts.append(cells)
    return pd.DataFrame(texts, columns=["", *result.columns]), np.array(marks, dtype=bool)


def lines(result: Result) -> pd.DataFrame:
    """Lay a table out figure by figure, with the tests against each baseline."""
    baselines = dict.fromkeys(test.baseline for e in result.entries for test in e.tests)
    rows = []
    for entry in result.entries:
        digits = result.digits_of(entry.column)
        # What is read is subtracted, so that a reader who does so gets the same.
        gap = (
            None
            if entry.difference is None
            else round(entry.ours or 0.0, digits) - (entry.printed or 0.0)
        )
        row = {
            "Row": entry.row,
            "Column": entry.column,
            "Printed": _number(entry.printed, _printed_digits(result, entry.column)),
            "Ours": _number(entry.ours, digits),
            "Difference": _number(gap, digits, signed=True),
        }
        tests = {test.baseline: test for test in reversed(entry.tests)}
        for name in baselines:
            test = tests.get(name)
            z = _number(test.z if test and math.isfinite(test.p) else None, 2, signed=True)
            row[f"vs {name}, z (p)"] = (
                z if test is None or z == DASH else f"{z} ({format_p(test.p)})"
            )
        rows.append(row)
    frame = pd.DataFrame(rows)
    empty = [n for n in ("Printed", "Ours", "Difference") if (frame[n] == DASH).all()]
    return frame.drop(columns=empty)


def _printed_digits(result: Result, column: str) -> int:
    """Find how many decimals the paper gives: those that the longest of like figures needs."""
    digits = result.digits_of(column)
    alike = [e for e in result.entries if result.digits_of(e.column) == digits]
    printed = _finite(entry.printed for entry in alike)
    enough = (n for n in range(digits) if all(round(v, n) == v for v in printed))
    return next(enough, digits)


def _best(ours: Sequence[float], result: Result) -> float | None:
    """Find the best of our figures as they are read; none where it beats no other."""
    if result.better is None or len(set(ours)) < 2:
        return None
    return min(ours) if result.better == "lower" else max(ours)


def _finite(values: Iterable[float | None]) -> list[float]:
    """Leave out what is missing or not a number."""
    return [value for value in values if value is not None and math.isfinite(value)]


def _rounded(value: float | None, digits: int) -> float | None:
    # Adding 0 turns the −0 that rounding may leave into 0.
    return None if value is None or not math.isfinite(value) else round(float(value), digits) + 0.0


def _number(value: float | None, digits: int, signed: bool = False) -> str:
    rounded = _rounded(value, digits)
    if rounded is None:
        return DASH
    sign = "+" if signed and rounded else ""
    return f"{rounded:{sign},.{digits}f}".replace("-", "−")
