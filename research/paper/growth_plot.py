"""Draw the figures of sparsity from the records of their fits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from bblr.comparison.figures import BBLR, MUTED, PAGE, SLA, SVM, Panel, render
from bblr.comparison.records import Record
from research.paper.growth import LABELS

__all__ = ["error_panel", "vector_panel", "weight_panel"]

_HEIGHT = 3.3
_ASIDE = 0.007


@dataclass(frozen=True)
class _Look:
    """How a method is drawn: members of one family differ by mark and dash."""

    colour: str
    marker: str
    dash: Any = "-"
    filled: bool = True


_LOOKS = {
    "SVC": _Look(SVM, "s"),
    "KBBLR-GL": _Look(BBLR, "o", (0, (5, 2.5)), filled=False),
    "KBBLR-B": _Look(BBLR, "o"),
}
_Curve = list[tuple[int, float, float, float]]


def vector_panel(title: str, records: Sequence[Record]) -> Panel:
    """Draw the support vectors against the training rows."""
    curves = _curves(records, lambda record: float(record["vectors"]))
    said = _said(curves, lambda value: f"{value:,.0f}")
    text = f"Support vectors on {title}, by training rows. {said}"
    return _panel(f"{title}: support vectors", curves, "support vectors", text, from_zero=True)


def error_panel(title: str, records: Sequence[Record]) -> Panel:
    """Draw the test error against the training rows."""
    curves = _curves(records, lambda record: 100.0 * record["errors"] / record["n_test"])
    said = _said(curves, lambda value: f"{value:.1f} %")
    text = f"Test error on {title}, by training rows. {said}"
    return _panel(f"{title}: test error", curves, "test error, %", text, from_zero=False)


def _curves(records: Sequence[Record], value: Callable[[Record], float]) -> dict[str, _Curve]:
    """Return rows, mean, least and greatest value, by method."""
    curves: dict[str, _Curve] = {}
    for method in _LOOKS:
        mine = [record for record in records if record["method"] == method]
        for n in sorted({record["n"] for record in mine}):
            values = [value(record) for record in mine if record["n"] == n]
            point = (n, float(np.mean(values)), min(values), max(values))
            curves.setdefault(method, []).append(point)
    return curves


def _said(curves: dict[str, _Curve], write: Callable[[float], str]) -> str:
    sentences = []
    for method, curve in curves.items():
        points = ", ".join(f"{write(mean)} at {n:,}" for n, mean, _, _ in curve)
        sentences.append(f"{LABELS[method]}: {points}.")
    return " ".join(sentences)


def _panel(
    title: str, curves: dict[str, _Curve], label: str, text: str, *, from_zero: bool
) -> Panel:
    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        for method, curve in curves.items():
            _draw_curve(axes, curve, method)
        axes.set(xlabel="training rows", ylabel=label)
        axes.margins(0.08)
        axes.set_xlim(left=0)
        if from_zero:
            axes.set_ylim(bottom=0)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(MaxNLocator(6, steps=[1, 2, 2.5, 5, 10], integer=True))
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        axes.tick_params(axis="y", labelcolor=MUTED)
        _legend(figure, columns=2)

    return Panel(title, render(draw, height=_HEIGHT, text=text), text)


def _draw_curve(axes: Any, curve: _Curve, method: str) -> None:
    look = _LOOKS[method]
    n, mean, least, most = np.array(curve, dtype=float).T
    # Side by side, or the ranges would hide one another.
    n = n + _ASIDE * (list(_LOOKS).index(method) - 1) * n[-1]
    axes.vlines(n, least, most, color=look.colour, lw=1.2, alpha=0.5)
    axes.plot(
        n, mean, color=look.colour, ls=look.dash, lw=1.6, marker=look.marker, ms=5.5,
        mfc=look.colour if look.filled else PAGE, mec=look.colour, mew=1.5, label=LABELS[method],
    )  # fmt: skip


def _legend(figure: Figure, columns: int) -> None:
    figure.legend(
        loc="outside upper left", ncols=columns, fontsize=10,
        handlelength=2.2, columnspacing=1.4, labelspacing=0.25, borderaxespad=0.2,
    )  # fmt: skip


def weight_panel(title: str, record: Record) -> Panel:
    """Draw the weights before and after a fit was made sparse."""
    label, weights = LABELS[record["method"]], record["weights"]
    edges, before, after = (np.array(weights[name]) for name in ("edges", "before", "after"))
    dense, kept = int(before.sum()), int(after.sum())
    middle = len(before) // 2
    text = (
        f"Weights of {label} on {title}, {record['n']:,} training rows, between "
        f"−{edges[-1]:.3g} and {edges[-1]:.3g}. Before: {dense:,} weights, {before[middle]:,} of "
        f"them within {edges[middle + 1]:.2g} of 0. After: {kept:,} weights are left, "
        f"{after[middle]:,} of them within {edges[middle + 1]:.2g} of 0; {dense - kept:,} are "
        "dropped and not drawn."
    )

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        axes.stairs(before, edges, fill=True, color=SLA, alpha=0.45, label=f"before: {dense:,}")
        axes.stairs(after, edges, color=BBLR, lw=1.8, label=f"after: {kept:,}")
        axes.set_yscale("symlog", linthresh=1)
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        axes.set(xlabel="weight", ylabel="number of weights, log scale")
        axes.tick_params(axis="y", labelcolor=MUTED)
        _legend(figure, columns=2)

    heading = f"{title}: {label}"
    return Panel(heading, render(draw, height=_HEIGHT, text=text), text)
