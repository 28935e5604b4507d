"""How the figures that commands write to files look."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure

from bblr._atomic import whole_file

__all__ = ["COLOURS", "GREY", "chart"]

# Okabe and Ito's colours, which the colour-blind can tell apart, without the pale yellow.
COLOURS = {
    "blue": "#0072B2", "orange": "#E69F00", "sky": "#56B4E9", "purple": "#CC79A7",
    "vermilion": "#D55E00", "green": "#009E73", "black": "#000000",
}  # fmt: skip
GREY = "#555555"
_STYLE: Any = {
    "font.family": "sans-serif", "font.size": 10, "axes.titlelocation": "left",
    "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": "#999999",
    "axes.grid": True, "axes.axisbelow": True, "grid.color": "#dddddd", "grid.linewidth": 0.7,
    "legend.frameon": False, "svg.hashsalt": "bblr", "svg.fonttype": "none",
}  # fmt: skip


@contextmanager
def chart(path: Path, width: float, height: float) -> Iterator[Figure]:
    """Open a figure in this style; it is written as PNG or SVG, by the suffix, at the end."""
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        yield figure
        form = path.suffix[1:].lower()
        metadata = {"Date": None} if form == "svg" else {}
        with whole_file(path) as file:
            figure.savefig(file, format=form, dpi=150, metadata=metadata)
