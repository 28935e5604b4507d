"""Sentences that the reports of a reproduction share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from research.paper.results import Entry, FigureResult, Finding, TableResult

__all__ = ["MOST_FAILURES", "Scope", "capital", "counts", "scope", "tally"]

MOST_FAILURES = 50


@dataclass(frozen=True)
class Scope:
    """How much was run: for the heading, and in a sentence."""

    heading: str
    meaning: str


_SCOPES = {
    "quick": Scope(
        "quick level, a part of each protocol",
        "Only a part of each of the paper’s protocols was run, so the figures rest on few rows "
        "and nothing is judged by them. What was run stands under each heading as “Our reading”.",
    ),
    "full": Scope(
        "full level, the paper’s protocol",
        "The paper’s protocols were run as we read them; how, stands under each heading as “Our "
        "reading”.",
    ),
}


def scope(level: str) -> Scope:
    """Say how much was run."""
    if level not in _SCOPES:
        raise ValueError(f"level must be 'quick' or 'full', got {level!r}")
    return _SCOPES[level]


def counts(results: Sequence[TableResult | FigureResult]) -> str:
    """Say how much there is to see."""
    tables = {r.name for r in results if isinstance(r, TableResult)}
    figures = {r.name for r in results if isinstance(r, FigureResult)}
    entries = [e for r in results if isinstance(r, TableResult) for e in r.entries]
    printed = [entry for entry in entries if entry.printed is not None]
    extra = sum(entry.printed is None and _is_ours(entry) for entry in entries)
    shown = f"{_many(len(tables), 'table')} and {_many(len(figures), 'figure')}"
    beside = f"{sum(map(_is_ours, printed)):,} of {len(printed):,} printed numbers run anew"
    return f"{shown}; {beside}" + (
        f", and {extra:,} that the paper does not have." if extra else "."
    )


def tally(findings: Sequence[Finding]) -> str:
    """Count the findings by how they came out."""
    met = sum(finding.met is True for finding in findings)
    unknown = sum(finding.met is None for finding in findings)
    return f"{met} met, {len(findings) - met - unknown} not met, {unknown} not judged."


def capital(text: str) -> str:
    """Begin with a capital and leave the rest as it is."""
    return text[:1].upper() + text[1:]


def _is_ours(entry: Entry) -> bool:
    return entry.ours is not None and math.isfinite(entry.ours)


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
