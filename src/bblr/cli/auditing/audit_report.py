"""The report of an audit: one HTML file that needs nothing beside it."""

from __future__ import annotations

from collections import Counter
from itertools import product
from math import ceil, log10
from typing import Any, NamedTuple

import numpy as np

from bblr import __version__
from bblr._pages import environment
from bblr.audit import LabelErrors
from bblr.cli.auditing.audit_reasons import Reason
from bblr.cli.auditing.audited import Audited

__all__ = ["FlipRate", "estimate", "evidence", "flip_rates", "plural", "render_audit"]

_ROWS, _PAIRS, _MATRIX = 20, 30, 12
# Where bars begin and end, and how they are called.
_EDGES = (0.0, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 1.0)
# Share of a power of ten that a bar of one row is long, on a logarithmic scale.
_ONE = 0.3


class HistogramBar(NamedTuple):
    """Rows whose label is wrong with a probability in some range."""

    span: str
    rows: int
    width: float
    wrong: bool


class Matrix(NamedTuple):
    """Shares in per cent of each true class (down) that were given each label (across)."""

    classes: list[Any]
    shares: list[list[float]]


def render_audit(
    data: Audited, found: LabelErrors, why: dict[int, list[Reason]], method: str, table: str
) -> str:
    """Turn what an audit found into an HTML page.

    Parameters
    ----------
    data : Audited
        The data.
    found : LabelErrors
        What was found.
    why : dict
        The columns that speak most against labels, by row index.
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
    bars, ticks = _histogram(found.probability)
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
        matrix=_matrix(found),
        rates=flip_rates(found)[:_PAIRS],
        more_rates=max(0, len(flip_rates(found)) - _PAIRS),
        rows=[_row(data, found, why, i) for i in found.ranking[:_ROWS].tolist()],
        bars=bars,
        ticks=ticks,
        is_csv=data.name.lower().endswith(".csv"),
        version=__version__,
    ).lstrip()


def _row(
    data: Audited, found: LabelErrors, why: dict[int, list[Reason]], i: int
) -> dict[str, Any]:
    return {
        "row": i + 1,
        "given": data.y[i],
        "suggested": found.suggested[i],
        "probability": found.probability[i],
        "wrong": bool(found.wrong_plateau[i]),
        "reasons": why.get(i, []),
    }


def _matrix(found: LabelErrors) -> Matrix | None:
    """Return the flip rates of few classes; of many a list says more."""
    if found.flip_rates is None or found.classes is None or len(found.classes) > _MATRIX:
        return None
    return Matrix(found.classes.tolist(), (100.0 * found.flip_rates).tolist())


def _histogram(probability: np.ndarray) -> tuple[list[HistogramBar], list[tuple[float, int]]]:
    """Count rows by the probability that their label is wrong.

    Lengths grow with the logarithm, or a few errors among many rows would not show; ticks are the
    places of its powers of ten, in per cent of the longest bar there may be.
    """
    counts = np.histogram(probability, _EDGES)[0].tolist()
    powers = max(1, ceil(log10(max(counts))))

    def place(count: int) -> float:
        return 100.0 * (log10(count) + _ONE) / (powers + _ONE) if count else 0.0

    bars = []
    for low, high, count in zip(_EDGES[:-1], _EDGES[1:], counts, strict=True):
        span = f"{100 * low:g} to {100 * high:g} %"
        span = f"below {100 * high:g} %" if low == 0 else span
        span = f"above {100 * low:g} %" if high == 1 else span
        bars.append(HistogramBar(span, count, place(count), low >= 0.5))
    return bars, [(place(10**power), 10**power) for power in range(powers + 1)]


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
    return "no single row is more likely wrong than right"
