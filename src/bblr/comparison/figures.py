"""Drawings as SVG elements that take their colours from the page around them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from io import StringIO
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from bblr.comparison.cells import Condition
from bblr.comparison.records import Record
from bblr.comparison.summary import SetGroup, Summary, condition_of
from bblr.evaluation.calibration import reliability_bins
from bblr.plotting import ReliabilityDisplay

__all__ = [
    "BBLR", "INK", "LINE", "LR", "MUTED", "PAGE", "SLA", "SVM", "Panel", "error_panels",
    "reliability_panels", "render", "train_test_panels",
]  # fmt: skip

# Matplotlib wants a colour where the page should decide: these are swapped for CSS variables,
# so the same drawing is legible on a light and on a dark page.
_SWAPS = {
    "#010101": "var(--ink)",
    "#020202": "var(--muted)",
    "#030303": "var(--line)",
    "#040404": "var(--page)",
    "#050505": "var(--lr)",
    "#060606": "var(--svm)",
    "#070707": "var(--sla)",
    "#080808": "var(--bblr)",
}
INK, MUTED, LINE, PAGE, LR, SVM, SLA, BBLR = _SWAPS
_WIDTH = 4.6
_STYLE: dict[str, Any] = {
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 11,
    "text.color": INK,
    "axes.edgecolor": LINE,
    "axes.labelcolor": MUTED,
    "axes.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": LINE,
    "grid.linewidth": 0.7,
    "xtick.color": LINE,
    "ytick.color": LINE,
    "xtick.labelcolor": MUTED,
    "ytick.labelcolor": INK,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "legend.frameon": False,
    "legend.fontsize": 11,
}


def render(draw: Callable[[Figure], None], *, height: float, text: str) -> str:
    """Draw a figure of the width of a column and return it as an ``<svg>`` element.

    Parameters
    ----------
    draw : callable
        Draws on the empty figure it is given, in the colours of this module.
    height : float
        In inches.
    text : str
        The content in words, for those who cannot see it.
    """
    # The salt makes the ids inside a drawing unique on the page, and the same on every run.
    style: Any = {**_STYLE, "svg.hashsalt": text}
    with matplotlib.rc_context(style):
        figure = Figure(figsize=(_WIDTH, height), layout="constrained")
        draw(figure)
        buffer = StringIO()
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    return _embeddable(buffer.getvalue(), text)


def _embeddable(svg: str, text: str) -> str:
    """Turn a file into an element of a page: no prolog, no metadata, no style of its own."""
    view = re.search(r'viewBox="[^"]*"', svg)
    start = svg.index("</metadata>") + len("</metadata>")
    body = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>", "", svg[start:], flags=re.DOTALL)
    body = re.sub(r'<g id="[^"]*"', "<g", body)
    body = re.sub(r"font-family: [^;\"]*;? ?", "", body)
    # The page does not declare the prefix, and browsers have done without it for long.
    body = body.replace("xlink:href", "href")
    for sentinel, variable in _SWAPS.items():
        body = body.replace(sentinel, variable)
    label = escape(text, quote=True)
    return f'<svg {view[0] if view else ""} role="img" aria-label="{label}">{body.strip()}'


@dataclass(frozen=True)
class Panel:
    """A drawing, as an ``<svg>`` element, with its heading and its content in words."""

    title: str
    svg: str
    text: str


def colour(method: str) -> str:
    """Choose the colour of a method: one a baseline, one for the BBLR family."""
    return {"LR": LR, "SVM": SVM, "SLA": SLA}.get(method, BBLR)


def error_panels(summary: Summary) -> list[Panel]:
    """Test error of every method, clean (open) and noisy (filled), one panel a data set."""
    return [_error_panel(summary, data) for data in summary.data]


def train_test_panels(summary: Summary, condition: Condition) -> list[Panel]:
    """Zero-one loss in training (open) and in test (filled), one panel a data set."""
    return [_train_test_panel(summary.group(data, condition)) for data in summary.data]


def reliability_panels(
    records: Sequence[Record], summary: Summary, condition: Condition, methods: Sequence[str]
) -> list[Panel]:
    """Observed frequency against predicted probability, one panel a data set."""
    panels = []
    for data in summary.data:
        mine = [r for r in records if r["data"] == data and condition_of(r) == condition]
        found = {name: _reliability(mine, name) for name in methods}
        curves = {name: display for name, display in found.items() if display is not None}
        if curves:
            panels.append(_reliability_panel(data, curves, summary.methods))
    return panels


def _error_panel(summary: Summary, data: str) -> Panel:
    names = list(summary.methods)
    words = []

    def draw(figure: Figure) -> None:
        axes = _method_axes(figure, [summary.methods[name] for name in names])
        axes.set_xlabel("test error, %")
        gap = 0.16 if len(summary.conditions) > 1 else 0.0
        for index, condition in enumerate(summary.conditions):
            group = summary.group(data, condition)
            shift = gap * (2 * index - (len(summary.conditions) - 1))
            for place, name in enumerate(names):
                row = group.row(name)
                if row is not None:
                    _bar(axes, row.rate, row.spread, place + shift, colour(name), bool(index))

    for condition in summary.conditions:
        rates = ", ".join(f"{r.label} {r.rate:.1f} %" for r in summary.group(data, condition).rows)
        words.append(f"{condition.label}: {rates}.")
    text = f"Test error on {data}. " + " ".join(words)
    return Panel(data, render(draw, height=0.36 * len(names) + 0.7, text=text), text)


def _train_test_panel(group: SetGroup) -> Panel:
    def draw(figure: Figure) -> None:
        axes = _method_axes(figure, [row.label for row in group.rows])
        axes.set_xlabel("zero-one loss, %")
        for place, row in enumerate(group.rows):
            own = colour(row.method)
            axes.plot([row.train_rate, row.rate], [place, place], color=own, lw=1.6, zorder=2)
            _dot(axes, row.train_rate, place, own, filled=False)
            _dot(axes, row.rate, place, own, filled=True)

    rates = ", ".join(f"{r.label} {r.train_rate:.1f} and {r.rate:.1f} %" for r in group.rows)
    text = (
        f"Zero-one loss in training and in test on {group.data}, {group.condition.label}: {rates}."
    )
    svg = render(draw, height=0.3 * len(group.rows) + 0.7, text=text)
    return Panel(str(group.data), svg, text)


def _reliability(
    records: Sequence[Record], method: str, bins: int = 8
) -> ReliabilityDisplay | None:
    """Predictions against outcomes in bins of equal count, None where there are none."""
    mine = [r for r in records if r["method"] == method and r.get("probabilities")]
    if not mine:
        return None
    predicted = np.concatenate([r["probabilities"] for r in mine])
    observed = np.concatenate([_came_true(r) for r in mine])
    found = reliability_bins(observed, predicted, bins, "quantile")
    return ReliabilityDisplay(found.observed, found.predicted, found.size)


def _came_true(record: Record) -> Any:
    """Return for each probability of a record whether what it speaks of was so."""
    truth = np.asarray(record["truth"])
    if record.get("of") == "predicted":
        return truth == np.asarray(record["predictions"])
    return truth


def _reliability_panel(
    data: str, curves: dict[str, ReliabilityDisplay], labels: dict[str, str]
) -> Panel:
    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        axes.plot([0, 1], [0, 1], color=MUTED, lw=1, ls=(0, (4, 4)), zorder=1)
        for name, display in curves.items():
            display.plot(axes, ref_line=False, color=colour(name), lw=1.6, label=labels[name])
        axes.set_xlabel("predicted probability")
        axes.set_ylabel("observed frequency")
        axes.tick_params(axis="y", labelcolor=MUTED)
        axes.legend(loc="upper left")

    gaps = ", ".join(f"{labels[name]} {display.gap:.3f}" for name, display in curves.items())
    text = f"Reliability on {data}; mean distance from the diagonal: {gaps}."
    return Panel(data, render(draw, height=3.4, text=text), text)


def _method_axes(figure: Figure, labels: Sequence[str]) -> Any:
    axes = figure.add_subplot()
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.grid(False, axis="y")
    return axes


def _bar(
    axes: Any, value: float, spread: float | None, place: float, own: str, filled: bool
) -> None:
    if spread is not None:
        ends = [value - spread, value + spread]
        axes.plot(ends, [place, place], color=own, lw=1.6, alpha=0.55, zorder=2)
    _dot(axes, value, place, own, filled=filled)


def _dot(axes: Any, x: float, y: float, own: str, *, filled: bool) -> None:
    inside = own if filled else PAGE
    axes.plot(x, y, "o", ms=6.5, mfc=inside, mec=own, mew=1.6, zorder=3)
