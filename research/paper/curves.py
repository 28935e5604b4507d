"""Figures of curves: each line a loss of this library, declared here and drawn below."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from bblr.comparison.figures import BBLR, INK, LR, MUTED, SLA, SVM, Panel, render
from bblr.comparison.records import Record
from bblr.losses import Loss
from research.paper.exhibit import Exhibit, Given, Result

__all__ = ["Curves", "Level", "Line", "Plot", "View"]

Floats = NDArray[np.float64]
View = Literal["loss", "probability"]
Colour = Literal["ink", "muted", "lr", "svm", "sla", "bblr"]
Dash = Literal["solid", "dashed", "dotted"]

# Points a unit, so that kinks at whole numbers are met, and on either side of 0 ever closer to
# it, where steep curves fall.
_EVEN, _CLOSE, _CLOSEST = 50, 120, 1e-6
# In words: below the one, digits count and not decimals; below the other, nothing does.
_SMALL, _NOTHING = 0.1, 5e-4


@dataclass(frozen=True, kw_only=True)
class Line:
    """A loss, or the probability behind it, as a curve.

    Parameters
    ----------
    label : str
        What the legend shows.
    loss : Loss
        Where all values come from.
    colour : {"ink", "muted", "lr", "svm", "sla", "bblr"}, default="bblr"
        A colour of the page.
    dash : {"solid", "dashed", "dotted"}, default="solid"
        Kind of line.
    opacity : float, default=1
        Below 1 for the lesser members of a family.
    t : {-1, 1}, default=1
        The label of the example.
    shift, factor : float, default=0, 1
        The curve is factor · loss(t, x + shift).
    """

    label: str
    loss: Loss
    colour: Colour = "bblr"
    dash: Dash = "solid"
    opacity: float = 1.0
    t: int = 1
    shift: float = 0.0
    factor: float = 1.0

    def values(self, x: Floats, view: View) -> Floats:
        """Return the height of the curve at each x."""
        if view == "probability":
            return self.loss.probability(x)
        return self.factor * self.loss.value(np.full(len(x), self.t), x + self.shift)


@dataclass(frozen=True, kw_only=True)
class Level:
    """A height to be marked, with its label at one end or the other."""

    label: str
    value: float
    side: Literal["left", "right"] = "right"

    @property
    def text(self) -> str:
        """The label with the number."""
        return f"{self.label} = {number(self.value)}"


@dataclass(frozen=True, kw_only=True)
class Plot:
    """A panel of lines.

    Parameters
    ----------
    title : str
        Its heading.
    lines : tuple of Line
        The curves, the first at the bottom.
    x_label, y_label : str
        What the axes show.
    view : {"loss", "probability"}, default="loss"
        Which side of the losses.
    reach : float, default=4
        The lower axis runs from -reach to reach.
    heights : tuple of float
        Least and greatest height shown.
    levels : tuple of Level
        Heights to be marked.
    columns : int, default=2
        Columns of the legend.
    places : tuple of float
        Where the text alternative gives the heights; by default both ends and 0.
    """

    title: str
    lines: tuple[Line, ...]
    x_label: str
    y_label: str
    heights: tuple[float, float]
    view: View = "loss"
    reach: float = 4.0
    levels: tuple[Level, ...] = ()
    columns: int = 2
    places: tuple[float, ...] = ()

    @property
    def x(self) -> Floats:
        """Where the curves are worked out."""
        right = np.union1d(
            np.linspace(0.0, self.reach, round(_EVEN * self.reach) + 1),
            np.geomspace(_CLOSEST, self.reach, _CLOSE),
        )
        return np.union1d(-right, right)

    @property
    def text(self) -> str:
        """The panel in words: the height of each curve at some places, and the levels."""
        places = np.array(self.places or (-self.reach, 0.0, self.reach))
        curves = [
            f"{line.label}: {', '.join(map(number, line.values(places, self.view)))}"
            for line in self.lines
        ]
        *others, last = (f"{place:g}".replace("-", "−") for place in places)
        words = (
            f"{self.title}. {self.y_label[:1].upper()}{self.y_label[1:]} where {self.x_label} is "
            f"{', '.join(others)} and {last}. {'; '.join(curves)}."
        )
        if not self.levels:
            return words
        return f"{words} Marked: {'; '.join(level.text for level in self.levels)}."


@dataclass(frozen=True, kw_only=True)
class Curves(Exhibit):
    """A figure of curves; nothing is run for it.

    Parameters
    ----------
    plots : tuple of Plot
        Its panels.
    """

    plots: tuple[Plot, ...]

    def results(self, given: Given, records: Mapping[str, Record]) -> list[Result]:
        """Draw the panels."""
        panels = tuple(Panel(plot.title, draw(plot), plot.text) for plot in self.plots)
        shown = (self.name, self.title, self.about, self.reading)
        return [Result(*shown, panels=panels, notes=self.notes)]


def number(value: float) -> str:
    """Write a number with two decimals, a small one with two digits, and a proper minus."""
    if abs(value) < _NOTHING:
        return "0"
    written = f"{value:.2f}" if abs(value) >= _SMALL else f"{value:.2g}"
    return written.replace("-", "−")


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
    # Next to the curves, not on them.
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
