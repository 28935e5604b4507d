"""Draw the panels of figures of curves."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure

from bblr.comparison.figures import BBLR, INK, LR, MUTED, SLA, SVM, render
from research.paper.curves import Level, Plot

__all__ = ["draw"]

_COLOURS = {"ink": INK, "muted": MUTED, "lr": LR, "svm": SVM, "sla": SLA, "bblr": BBLR}
_DASHES: dict[str, Any] = {"solid": "-", "dashed": (0, (5, 2.5)), "dotted": (0, (1.5, 1.8))}
_HEIGHT, _LEGEND_ROW = 2.9, 0.23


def draw(plot: Plot) -> str:
    """Return a panel as an ``<svg>`` element."""
    rows = -(-len(plot.lines) // plot.columns)
    return render(
        lambda figure: _draw(figure, plot), height=_HEIGHT + rows * _LEGEND_ROW, text=plot.text
    )


def _draw(figure: Figure, plot: Plot) -> None:
    axes = figure.add_subplot()
    for level in plot.levels:
        _mark(axes, level, plot.reach)
    for line in plot.lines:
        axes.plot(
            plot.x, line.values(plot.x, plot.view), label=line.label, lw=1.8,
            color=_COLOURS[line.colour], ls=_DASHES[line.dash], alpha=line.opacity,
        )  # fmt: skip
    axes.set(xlim=(-plot.reach, plot.reach), ylim=plot.heights)
    axes.set(xlabel=plot.x_label, ylabel=plot.y_label)
    axes.tick_params(axis="y", labelcolor=MUTED)
    # Beside the curves, not on them.
    figure.legend(
        loc="outside upper left", ncols=plot.columns, fontsize=10,
        handlelength=1.7, columnspacing=1.4, labelspacing=0.25, borderaxespad=0.2,
    )  # fmt: skip


def _mark(axes: Any, level: Level, reach: float) -> None:
    axes.axhline(level.value, color=MUTED, lw=0.9, ls=_DASHES["dotted"], zorder=1.5)
    at = 0.98 * (reach if level.side == "right" else -reach)
    axes.annotate(
        level.text, (at, level.value), (0, 3), textcoords="offset points",
        ha=level.side, color=MUTED, fontsize=10,
    )  # fmt: skip
