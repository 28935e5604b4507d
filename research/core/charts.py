"""How the figures that commands write to files look."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure

__all__ = ["COLOURS", "GREY", "Chart"]

# Okabe and Ito's colours, which the colour-blind can tell apart, without the pale yellow.
COLOURS = {
    "blue": "#0072B2", "orange": "#E69F00", "sky": "#56B4E9", "purple": "#CC79A7",
    "vermilion": "#D55E00", "green": "#009E73", "black": "#000000",
}  # fmt: skip
GREY = "#555555"
_STYLE: dict[str, Any] = {
    "font.family": "sans-serif", "font.size": 10, "axes.titlelocation": "left",
    "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": "#999999",
    "axes.grid": True, "axes.axisbelow": True, "grid.color": "#dddddd", "grid.linewidth": 0.7,
    "legend.frameon": False, "svg.hashsalt": "bblr", "svg.fonttype": "none",
}  # fmt: skip


class Chart:
    """A figure in this style, written as PNG or SVG, by the suffix, when the block ends."""

    def __init__(self, path: Path, width: float, height: float) -> None:
        self._path, self._size = path, (width, height)
        style: Any = _STYLE
        self._style = matplotlib.rc_context(style)

    def __enter__(self) -> Figure:
        self._style.__enter__()
        self._figure = Figure(figsize=self._size, layout="constrained")
        return self._figure

    def __exit__(self, kind: type[BaseException] | None, *error: Any) -> None:
        if kind is None:
            form = self._path.suffix[1:].lower()
            metadata = {"Date": None} if form == "svg" else {}
            self._figure.savefig(self._path, format=form, dpi=150, metadata=metadata)
        self._style.__exit__(kind, *error)
