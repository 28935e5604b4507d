"""Plots of series as SVG files: the same bytes for the same figures, legible on light and dark.

The reports of the experiments draw with matplotlib, whose output changes with its version. These
files are committed and compared with their records, so they are written by hand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from math import ceil, floor, log10

from research.benchmarks.timing import shown_seconds

__all__ = ["plot"]

WIDTH, HEIGHT = 480, 300
LEFT, RIGHT, TOP, BOTTOM = 62, 16, 12, 44
LEGEND = 18
# Okabe and Ito's colours; ours first. Each is legible on white and on black.
COLOURS = ("#0a84c6", "#e07b00", "#009e73", "#cc79a7")
MARKS = ("circle", "square", "diamond", "triangle")
STYLE = (
    "text{font:12px sans-serif;fill:#333}.axis{stroke:#bbb;stroke-width:1;fill:none}"
    ".line{stroke-width:2;fill:none}"
    "@media(prefers-color-scheme:dark){text{fill:#ddd}.axis{stroke:#555}}"
)

Points = Mapping[str, Sequence[Sequence[float]]]


class _Scale:
    """A logarithmic axis."""

    def __init__(self, low: float, high: float, start: float, stop: float) -> None:
        self.low, self.span = log10(low), max(log10(high) - log10(low), 1e-9)
        self.start, self.stop = start, stop

    def __call__(self, value: float) -> float:
        return self.start + (self.stop - self.start) * (log10(value) - self.low) / self.span


def _decades(values: Sequence[float]) -> tuple[int, int]:
    low, high = floor(log10(min(values))), ceil(log10(max(values)))
    return low, max(high, low + 1)


def _mark(kind: str, x: float, y: float, colour: str) -> str:
    shapes = {
        "square": "-4,-4 4,-4 4,4 -4,4",
        "diamond": "0,-5 5,0 0,5 -5,0",
        "triangle": "0,-5 5,4 -5,4",
    }
    place = f'transform="translate({x:.1f},{y:.1f})" fill="{colour}"'
    if kind == "circle":
        return f'<circle r="4" {place}/>'
    return f'<polygon points="{shapes[kind]}" {place}/>'


def _label(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def plot(points: Points, axis: str, text: str) -> str:
    """Draw times by size, both on logarithmic axes.

    Parameters
    ----------
    points : mapping of str to sequence of (size, seconds)
        The series by name, ours first.
    axis : str
        What the sizes are.
    text : str
        The content in words, for those who cannot see it.

    Returns
    -------
    str
        A whole SVG file.
    """
    sizes = sorted({size for found in points.values() for size, _ in found})
    low, high = _decades([seconds for found in points.values() for _, seconds in found])
    top = TOP + LEGEND * len(points)
    height = HEIGHT + LEGEND * len(points)
    across = _Scale(sizes[0], sizes[-1], LEFT + 10, WIDTH - RIGHT - 10)
    up = _Scale(10.0**low, 10.0**high, height - BOTTOM, top)
    parts = []
    for power in range(low, high + 1):
        y = up(10.0**power)
        parts.append(f'<path class="axis" d="M{LEFT},{y:.1f}H{WIDTH - RIGHT}"/>')
        parts.append(_label(LEFT - 6, y + 4, shown_seconds(10.0**power), "end"))
    parts += [_label(across(s), height - BOTTOM + 18, f"{s:,}", "middle") for s in sizes]
    parts.append(_label((LEFT + WIDTH - RIGHT) / 2, height - 8, axis, "middle"))
    for k, (name, found) in enumerate(points.items()):
        colour, mark = COLOURS[k % len(COLOURS)], MARKS[k % len(MARKS)]
        path = "L".join(f"{across(size):.1f},{up(seconds):.1f}" for size, seconds in found)
        parts.append(f'<path class="line" stroke="{colour}" d="M{path}"/>')
        parts += [_mark(mark, across(size), up(seconds), colour) for size, seconds in found]
        y = TOP + LEGEND * k + 4
        parts += [_mark(mark, LEFT + 8, y, colour), _label(LEFT + 20, y + 4, name)]
    label = escape(text, quote=True)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}" role="img" aria-label="{label}">\n'
        f"<style>{STYLE}</style>\n" + "\n".join(parts) + "\n</svg>\n"
    )
