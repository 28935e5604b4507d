"""Drawings as SVG elements that take their colours from the page around them."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape
from io import StringIO
from typing import Any

import matplotlib
from matplotlib.figure import Figure

__all__ = ["BBLR", "INK", "LINE", "LR", "MUTED", "PAGE", "SLA", "SVM", "render"]

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
