"""Drawings as SVG elements that take their colours from the page around them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from io import StringIO
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from bblr.comparison.verdict.paired import Interval
from bblr.comparison.verdict.standings import BASELINE, MAJORITY, Line, Standing
from bblr.evaluation.calibration import reliability_bins

__all__ = [
    "BBLR", "INK", "LINE", "LR", "MUTED", "PAGE", "SLA", "SVM", "Panel", "curve_panels",
    "gain_panel", "render", "value_panel",
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
    """Choose the colour of a method: of a baseline, of boosting, or of the BBLR family."""
    known = {"LR": LR, "SVM": SVM, "SLA": SLA, "HGB": SVM, MAJORITY: MUTED}
    return known.get(method.rpartition(":")[2], BBLR)


def value_panel(standing: Standing, title: str) -> Panel:
    """Draw the metric of every method with its 95 % interval."""
    found = [(line, line.value) for line in standing.lines if line.value is not None]
    return _dots(standing, title, found, standing.metric.title, None)


def gain_panel(standing: Standing, title: str) -> Panel:
    """Draw how far every method is from the baseline, with intervals that hold together."""
    sign = 1 if standing.metric.higher else -1
    found = [
        (line, line.gain if sign > 0 else line.gain.flipped())
        for line in standing.lines
        if line.gain is not None and line.method != MAJORITY
    ]
    better = "right" if sign > 0 else "left"
    baseline = standing.line(BASELINE)
    label = f"against {baseline.label if baseline else BASELINE}"
    return _dots(standing, title, found, f"{label} ({better} is better)", 0.0)


def _dots(
    standing: Standing, title: str, found: list[tuple[Line, Interval]], label: str, zero: Any
) -> Panel:
    percent = standing.metric.name in ("error", "balanced")
    scale = 100.0 if percent else 1.0
    unit = ", %" if percent and zero is None else ", points" if percent else ""

    def draw(figure: Figure) -> None:
        axes = _method_axes(figure, [line.label for line, _ in found])
        axes.set_xlabel(label.replace(" (", f"{unit} (") if " (" in label else label + unit)
        axes.xaxis.set_major_locator(MaxNLocator(5))
        if zero is not None:
            axes.axvline(zero, color=MUTED, lw=1, ls=(0, (4, 4)), zorder=1)
        for place, (line, interval) in enumerate(found):
            own = colour(line.method)
            ends = [scale * interval.low, scale * interval.high]
            axes.plot(ends, [place, place], color=own, lw=1.8, zorder=2)
            axes.plot(scale * interval.value, place, "o", ms=6.5, color=own, zorder=3)

    digits = 1 if percent else 3
    words = ", ".join(
        f"{line.label} {scale * one.value:.{digits}f} ({scale * one.low:.{digits}f} to "
        f"{scale * one.high:.{digits}f})"
        for line, one in found
    )
    place = f"{standing.data or 'all data sets'}, {standing.condition.label}"
    text = f"{title} on {place}. {label}{unit}, with 95 % intervals: {words}."
    return Panel(title, render(draw, height=0.34 * max(len(found), 1) + 0.75, text=text), text)


def curve_panels(standing: Standing, classes: Sequence[str]) -> list[Panel]:
    """Draw ROC, precision and recall, and calibration from predictions out of fold.

    Of two classes the rarer one is to be found; of more, only the calibration of the predicted
    class is drawn.
    """
    able = [
        line
        for line in standing.lines
        if line.first is not None and line.probabilities is not None and line.method != MAJORITY
    ]
    chosen = [line for line in able if line.method in (BASELINE, standing.decision.method)]
    # No two of a colour.
    for line in able:
        if len(chosen) < 3 and colour(line.method) not in {colour(one.method) for one in chosen}:
            chosen.append(line)
    if not chosen:
        return []
    if len(classes) > 2:
        pairs = {
            line: (line.first.truth == line.first.predictions, line.probabilities)
            for line in chosen
            if line.first is not None
        }
        return [_calibration(pairs, f"the predicted class of {standing.data}")]
    truth = chosen[0].first.truth if chosen[0].first is not None else np.zeros(0)
    rare = int(np.mean(truth) <= 0.5)
    pairs = {
        line: (
            truth == rare,
            np.asarray(line.probabilities) if rare else 1 - np.asarray(line.probabilities),
        )
        for line in chosen
    }
    name = f"{classes[rare]} in {standing.data}"
    calibration = _calibration(pairs, name)
    if len(np.unique(truth)) < 2:
        return [calibration]
    return [_roc(pairs, name), _precision_recall(pairs, name), calibration]


Pairs = Mapping[Line, tuple[Any, Any]]


def _roc(pairs: Pairs, name: str) -> Panel:
    from sklearn.metrics import roc_auc_score, roc_curve

    curves = {line: roc_curve(*pair)[:2] for line, pair in pairs.items()}
    areas = {line: roc_auc_score(*pair) for line, pair in pairs.items()}

    def draw(figure: Figure) -> None:
        axes = _curve_axes(figure, "false positive rate", "true positive rate (recall)")
        axes.plot([0, 1], [0, 1], color=MUTED, lw=1, ls=(0, (4, 4)), zorder=1)
        for line, (false, true) in curves.items():
            axes.plot(false, true, color=colour(line.method), lw=1.6, label=line.label)
        axes.legend(loc="lower right")

    words = ", ".join(f"{line.label} {area:.3f}" for line, area in areas.items())
    text = f"ROC curve for {name}, over all folds; area: {words}."
    return Panel("ROC", render(draw, height=3.6, text=text), text)


def _precision_recall(pairs: Pairs, name: str) -> Panel:
    from sklearn.metrics import average_precision_score, precision_recall_curve

    curves = {line: precision_recall_curve(*pair)[:2] for line, pair in pairs.items()}
    means = {line: average_precision_score(*pair) for line, pair in pairs.items()}
    found = next(iter(pairs.values()))[0]
    share, n_rows = float(found.mean()), len(found)

    def draw(figure: Figure) -> None:
        axes = _curve_axes(figure, "recall", "precision")
        highest: list[float] = []
        axes.axhline(share, color=MUTED, lw=1, ls=(0, (4, 4)), zorder=1)
        for line, (precision, recall) in curves.items():
            # With one alarm or two, precision jumps between 0 and 1 and says nothing.
            seen = recall * share * n_rows >= 3
            axes.plot(recall[seen], precision[seen], color=colour(line.method), lw=1.6,
                      label=line.label)  # fmt: skip
            highest.append(precision[seen].max(initial=share))
        axes.set_ylim(0, min(1.02, 1.2 * max(highest)))
        axes.legend(loc="upper right")

    words = ", ".join(f"{line.label} {mean:.3f}" for line, mean in means.items())
    text = (
        f"Precision and recall for {name}, over all folds; average precision: {words}. "
        f"The dashed line is the share of {name}, {100 * share:.1f} %."
    )
    return Panel("Precision and recall", render(draw, height=3.6, text=text), text)


def _calibration(pairs: Pairs, name: str) -> Panel:
    share = float(next(iter(pairs.values()))[0].mean())
    n_rows = len(next(iter(pairs.values()))[0])
    # Of a rare class, a bin should hold some rows.
    bins = int(np.clip(min(share, 1 - share) * n_rows / 10, 3, 8))
    found = {line: reliability_bins(*pair, bins, "quantile") for line, pair in pairs.items()}
    ends = [float(np.max([b.observed.max(), b.predicted.max()])) for b in found.values()]
    starts = [float(np.min([b.observed.min(), b.predicted.min()])) for b in found.values()]
    # Probabilities of a rare class crowd near 0: the axes end where they do.
    high = min(1.0, 1.15 * max(ends))
    low = 0.0 if min(starts) < 0.5 * high else max(0.0, min(starts) - 0.05)

    def draw(figure: Figure) -> None:
        axes = _curve_axes(figure, "predicted probability", "observed frequency")
        axes.set_xlim(low, high)
        axes.set_ylim(low, high)
        axes.plot([low, high], [low, high], color=MUTED, lw=1, ls=(0, (4, 4)), zorder=1)
        for line, b in found.items():
            spread = 1.96 * np.sqrt(b.observed * (1 - b.observed) / np.maximum(b.size, 1))
            axes.errorbar(b.predicted, b.observed, spread, color=colour(line.method), fmt="o-",
                          ms=4.5, lw=1.4, elinewidth=1, label=line.label)  # fmt: skip
        axes.legend(loc="upper left")

    gaps = ", ".join(
        f"{line.label} {np.average(np.abs(b.observed - b.predicted), weights=b.size):.3f}"
        for line, b in found.items()
    )
    text = (
        f"Calibration of {name} in {bins} bins of equal size; mean distance from the diagonal: "
        f"{gaps}."
    )
    return Panel("Calibration", render(draw, height=3.6, text=text), text)


def _curve_axes(figure: Figure, x: str, y: str) -> Any:
    axes = figure.add_subplot()
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1.02)
    axes.tick_params(axis="y", labelcolor=MUTED)
    return axes


def _method_axes(figure: Figure, labels: Sequence[str]) -> Any:
    axes = figure.add_subplot()
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.grid(False, axis="y")
    return axes
