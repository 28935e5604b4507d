"""How the figures that commands write to files look."""

from __future__ import annotations

from typing import Any

__all__ = ["COLOURS", "GREY", "STYLE"]

# Okabe and Ito's colours, which the colour-blind can tell apart, without the pale yellow.
COLOURS = {
    "blue": "#0072B2",
    "orange": "#E69F00",
    "sky": "#56B4E9",
    "purple": "#CC79A7",
    "vermilion": "#D55E00",
    "green": "#009E73",
    "black": "#000000",
}
GREY = "#555555"
STYLE: dict[str, Any] = {
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#999999",
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.7,
    "legend.frameon": False,
}
