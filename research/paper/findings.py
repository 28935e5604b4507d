"""How the claims of the paper, and our own bars, hold up over all tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial

from research.paper.exhibit import Level
from research.paper.results import Entry, FigureResult, Finding, TableResult

__all__ = ["findings"]

_POINT = 1.0
_REVIEWS = 0.3
_ROUNDING = 1e-9
_BASELINES = ("LR", "SVM")
_OURS = ("BBLR3", "BBLR4")
_DEFAULT = "BBLR"
_UNTUNED = "BBLR0"
# Tables of test errors on data without added noise, and all tables of test errors in per cent.
_CLEAN = ("table-errors", "table-large", "table-reviews")
_PERCENT = ("table-errors", "table-noisy-errors", "table-large", "table-reviews")


def findings(results: Sequence[TableResult | FigureResult], level: Level) -> list[Finding]:
    """Work out what the tables say together; nothing about tables that are not there.

    BBLR is BBLRClassifierCV, BBLR0 is BBLRClassifier, both as they come.
    A quick run tells the figures but judges nothing: they rest on too few rows.
    """
    tables = _first_readings(results)
    tests: list[Callable[[dict[str, TableResult]], Finding | None]] = [_baselines, _at_or_below]
    for column in (_DEFAULT, _UNTUNED):
        tests += [
            partial(_web8, column=column),
            partial(_leak_free, column=column),
            partial(_fewer, column=column, data="TREC07p, random fifth", share=6.0),
            partial(_fewer, column=column, data="TREC07p, delivery order", share=10.0),
        ]
    tests += [_reviews, _pooled]
    found = [finding for test in tests if (finding := test(tables)) is not None]
    return found if level == "full" else [replace(finding, met=None) for finding in found]


def _first_readings(results: Iterable[TableResult | FigureResult]) -> dict[str, TableResult]:
    tables: dict[str, TableResult] = {}
    for result in results:
        if isinstance(result, TableResult):
            tables.setdefault(result.name, result)
    return tables


def _entries(
    tables: dict[str, TableResult], names: Iterable[str], columns: Iterable[str]
) -> list[tuple[str, Entry]]:
    """Return entries with a figure of ours and a printed one, and the name of their table."""
    return [
        (name, entry)
        for name in names
        if name in tables
        for entry in tables[name].entries
        if entry.column in columns and entry.difference is not None
    ]


def _name(table: str, entry: Entry) -> str:
    figures = f"{entry.ours:.2f} against {entry.printed:g} printed"
    return f"{table}, {entry.row}, {entry.column}: {figures}"


def _baselines(tables: dict[str, TableResult]) -> Finding | None:
    entries = _entries(tables, _CLEAN, _BASELINES)
    if not entries:
        return None
    far = [(name, e) for name, e in entries if abs(e.difference or 0.0) > _POINT]
    return Finding(
        "LR and SVM are within one point of the paper on clean data, or it is known why not.",
        f"{len(entries) - len(far)} of {len(entries)} figures are within it.",
        all(entry.remark for _, entry in far),
        tuple(f"{_name(name, e)}. {e.remark}".strip() for name, e in far),
    )


def _at_or_below(tables: dict[str, TableResult]) -> Finding | None:
    entries = _entries(tables, _PERCENT, _OURS)
    if not entries:
        return None
    # The paper prints one or two decimals: equal to the last printed one is equal.
    above = [(name, e) for name, e in entries if (e.difference or 0.0) > _half_unit(e)]
    return Finding(
        "BBLR3 and BBLR4 are at or below the paper's error on most rows.",
        f"{len(entries) - len(above)} of {len(entries)} figures are.",
        2 * len(above) < len(entries),
        tuple(_name(name, entry) for name, entry in above),
    )


def _half_unit(entry: Entry) -> float:
    decimals = len(f"{entry.printed:g}".partition(".")[2])
    return 0.5 * 10.0**-decimals


def _row(tables: dict[str, TableResult], name: str, row: str) -> dict[str, float]:
    if name not in tables:
        return {}
    found = [entry for entry in tables[name].entries if entry.row == row]
    return {entry.column: entry.ours for entry in found if entry.ours is not None}


def _figures(row: dict[str, float], columns: Iterable[str]) -> str:
    return ", ".join(f"{column} {row[column]:.2f} %" for column in columns if column in row)


def _web8(tables: dict[str, TableResult], column: str) -> Finding | None:
    row = _row(tables, "table-large", "web8, official split")
    if column not in row:
        return None
    return Finding(
        f"On web8's official split {column} makes at most 0.88 % errors.",
        f"{_figures(row, (column, *_BASELINES))}. Its test rows all stand in its training file.",
        row[column] <= 0.88,
    )


def _leak_free(tables: dict[str, TableResult], column: str) -> Finding | None:
    row = _row(tables, "table-large", "web8, leak-free")
    if not {column, *_BASELINES} <= set(row):
        return None
    return Finding(
        f"On web8 without the leak {column} is at or below tuned LR and SVM.",
        f"{_figures(row, (column, *_BASELINES))}.",
        row[column] <= min(row[name] for name in _BASELINES),
    )


def _fewer(tables: dict[str, TableResult], column: str, data: str, share: float) -> Finding | None:
    row = _row(tables, "table-large", data)
    if not {column, "LR"} <= set(row) or not row["LR"]:
        return None
    fewer = 100.0 * (1.0 - row[column] / row["LR"])
    word = "fewer" if fewer >= 0 else "more"
    entry = tables["table-large"].entry(data, column)
    tests = (f" (z = {t.z:.1f})".replace("-", "−") for t in entry.tests if t.rival == "LR")
    test = next(tests, "")
    return Finding(
        f"On {data}, {column} makes at least {share:g} % fewer errors than tuned LR.",
        f"{abs(fewer):.1f} % {word}{test}: {_figures(row, (column, 'LR'))}.",
        fewer >= share - _ROUNDING,
    )


def _reviews(tables: dict[str, TableResult]) -> Finding | None:
    if "table-reviews" not in tables:
        return None
    above, count = [], 0
    # Those of the paper, not those of a user's file.
    rows = dict.fromkeys(e.row for e in tables["table-reviews"].entries if e.printed is not None)
    for row in rows:
        figures = _row(tables, "table-reviews", row)
        for column in (*_OURS, _DEFAULT):
            if column in figures and "LR" in figures:
                count += 1
                gap = figures[column] - figures["LR"]
                if gap > _REVIEWS + _ROUNDING:
                    above.append(f"{row}, {column}: {gap:+.2f} points")
    if not count:
        return None
    return Finding(
        f"On the reviews BBLR is at most {_REVIEWS} points above well-tuned LR in each domain.",
        f"{count - len(above)} of {count} figures are.",
        not above,
        tuple(above),
    )


def _pooled(tables: dict[str, TableResult]) -> Finding | None:
    if "table-mcnemar" not in tables:
        return None
    noisy = [
        entry
        for entry in tables["table-mcnemar"].entries
        if entry.row == "Noisy" and "once" in entry.column and entry.ours is not None
    ]
    if not noisy:
        return None
    return Finding(
        "With noise BBLR3 makes significantly fewer errors than LR and SVM (z of 2.32 and more).",
        ", ".join(f"{entry.column}: z = {entry.ours:.1f}" for entry in noisy) + ".",
        all((entry.ours or 0.0) >= 2.32 for entry in noisy),
    )
