"""The report of an audit: one HTML file that needs nothing beside it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from bblr import __version__
from bblr._pages import environment
from bblr.audit import LabelErrors
from bblr.cli.audited import Audited

__all__ = ["FlipRate", "estimate", "evidence", "flip_rates", "plural", "render_audit"]

_ROWS, _COLUMNS, _PAIRS = 50, 12, 30
# Evidence beyond this is counted in the outermost bars.
_REACH = 10
_WIDTH, _HEIGHT, _LEFT, _BASE = 640.0, 180.0, 16.0, 150.0
_LONGEST = 80


@dataclass(frozen=True)
class HistogramBar:
    """A bar of the histogram: its place, and what it counts."""

    x: float
    y: float
    width: float
    height: float
    wrong: bool
    words: str


def render_audit(data: Audited, found: LabelErrors, method: str, table: str) -> str:
    """Turn what an audit found into an HTML page.

    Parameters
    ----------
    data : Audited
        The data.
    found : LabelErrors
        What was found.
    method : str
        By which classifier, in words.
    table : str
        The name of the CSV file with all rows.

    Returns
    -------
    str
        A page with its style inside; it loads nothing.
    """
    named = found.indices
    pairs = Counter(zip(data.y[named].tolist(), found.suggested[named].tolist(), strict=True))
    rates = flip_rates(found)
    names, rows = _top_rows(data, found)
    page = environment("bblr.cli").get_template("audit.html.j2")
    return page.render(
        name=data.name,
        method=method,
        table=table,
        n=len(data.y),
        n_errors=found.n_errors,
        estimate=estimate(found, f" of {data.name}"),
        evidence=evidence(found),
        n_wrong=int(found.wrong_plateau.sum()),
        pairs=pairs.most_common(_PAIRS),
        more_pairs=max(0, len(pairs) - _PAIRS),
        rates=rates[:_PAIRS],
        more_rates=max(0, len(rates) - _PAIRS),
        names=names,
        more_names=0 if data.own is None else max(0, data.own.shape[1] - len(names)),
        rows=rows,
        bars=_histogram(found.scores),
        reach=_REACH,
        width=_WIDTH,
        height=_HEIGHT,
        base=_BASE,
        ticks=[(_place(t), t) for t in range(-_REACH, _REACH + 1, 5)],
        version=__version__,
    ).lstrip()


def _top_rows(data: Audited, found: LabelErrors) -> tuple[list[str], list[dict[str, Any]]]:
    names = [] if data.own is None else [str(name) for name in data.own.columns[:_COLUMNS]]
    rows = []
    for i in found.ranking[:_ROWS].tolist():
        cells = [] if data.own is None else data.own.iloc[i, : len(names)].tolist()
        rows.append(
            {
                "row": i + 1,
                "given": data.y[i],
                "suggested": found.suggested[i],
                "probability": found.probability[i],
                "score": found.scores[i],
                "wrong": bool(found.wrong_plateau[i]),
                "cells": [_shown(cell) for cell in cells],
            }
        )
    return names, rows


def _shown(cell: Any) -> str:
    if isinstance(cell, float):
        return "" if np.isnan(cell) else f"{cell:g}"
    text = "" if cell is None else str(cell)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _place(score: float) -> float:
    return _LEFT + (score + _REACH) / (2 * _REACH) * (_WIDTH - 2 * _LEFT)


def _histogram(scores: np.ndarray) -> list[HistogramBar]:
    """Count rows by evidence; heights grow with the logarithm, or a few errors would not show."""
    edges = np.linspace(-_REACH, _REACH, 2 * _REACH + 1)
    inside = np.clip(scores, -_REACH, np.nextafter(_REACH, 0))
    counts = np.histogram(inside, edges)[0].tolist()
    unit = (_BASE - 10) / np.log1p(max(counts))
    bars = []
    for low, high, count in zip(edges[:-1].tolist(), edges[1:].tolist(), counts, strict=True):
        height = float(unit * np.log1p(count))
        span = f"from {low:g} to {high:g}"
        if low == -_REACH or high == _REACH:  # these hold what lies beyond, too
            span = f"of {high:g} or less" if low < 0 else f"of {low:g} or more"
        words = f"{plural(count, 'row', 'rows')} with evidence {span}"
        width = _place(high) - _place(low) - 2
        bars.append(HistogramBar(_place(low) + 1, _BASE - height, width, height, low >= 0, words))
    return bars


# Lower rates are not worth a line.
_LEAST_RATE = 0.001


class FlipRate(NamedTuple):
    """The share of a true class that was given the label of another one."""

    true: Any
    given: Any
    rate: float


def flip_rates(found: LabelErrors) -> list[FlipRate]:
    """Return the rates between classes that are worth a line, the highest first."""
    if found.flip_rates is None or found.classes is None or found.n_errors == 0:
        return []
    pairs = product(enumerate(found.classes.tolist()), repeat=2)
    rates = [
        FlipRate(true, given, float(found.flip_rates[k, g]))
        for (k, true), (g, given) in pairs
        if k != g
    ]
    worth = [flip for flip in rates if flip.rate >= _LEAST_RATE]
    return sorted(worth, key=lambda flip: -flip.rate)


def plural(count: int, one: str, many: str) -> str:
    """Return a number with the word that goes with it."""
    return f"{count:,} {one if count == 1 else many}"


def estimate(found: LabelErrors, of: str = "") -> str:
    """Return a sentence on the estimated number of wrong labels, without its full stop."""
    if found.n_errors == 0:
        return f"No label{of} looks wrong"
    verb = "is" if found.n_errors == 1 else "are"
    return f"An estimated {found.n_errors:,} of {len(found.scores):,} labels{of} {verb} wrong"


def evidence(found: LabelErrors) -> str:
    """Return a clause on the rows more likely wrong than right; empty if no label looks wrong."""
    if found.n_errors == 0:
        return ""
    count = int(found.wrong_plateau.sum())
    if count:
        return f"{plural(count, 'row is', 'rows are')} more likely wrong than right"
    # The probabilities of many rows add up, though that of each is small.
    return (
        f"for {'no row' if found.n_errors == 1 else 'none of them'} is the evidence more than even"
    )
