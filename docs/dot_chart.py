"""Charts of dots: methods by colour and mark, a row for each condition."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from io import StringIO

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

# Colours of docs/drawing.py: legible on white and on black.
BLUE, SKY, ORANGE, GREEN, PINK, GREY = (
    "#0a84c6", "#56b4e9", "#e07b00", "#009e73", "#cc79a7", "#8a8a8a",
)  # fmt: skip
_STYLE = (
    "<style>text{{fill:#333}}@media(prefers-color-scheme:dark){{text{{fill:#ddd}}}}</style>\n"
    "<title>{title}</title>\n"
)
_LINES = {"color": "#999999", "alpha": 0.4}


def dot_chart(
    title: str,
    rows: Sequence[str],
    methods: Mapping[str, tuple[str, str]],
    values: Mapping[str, Sequence[float]],
    xlabel: str,
    ticks: Sequence[float] = (),
) -> str:
    """Return the chart as SVG; NaN leaves a place empty, `ticks` make the axis logarithmic."""
    with plt.rc_context({"svg.fonttype": "none", "svg.hashsalt": "bblr", "font.size": 11}):
        figure, axes = plt.subplots(figsize=(7.6, 4.4))
        for name, (colour, marker) in methods.items():
            axes.plot(
                values[name], range(len(rows)), marker, color=colour, label=name,
                markersize=12 if marker == "|" else 7, markeredgewidth=1.8,
                **({"markerfacecolor": "none"} if marker == "D" else {}),
            )  # fmt: skip
        axes.axvline(1.0, linewidth=1, zorder=0, **_LINES)
        axes.grid(axis="y", linewidth=0.7, **_LINES)
        if ticks:
            axes.set_xscale("log")
            axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
            axes.set_xticks([], minor=True)
        axes.set_yticks(range(len(rows)), rows)
        axes.invert_yaxis()
        axes.set_xlabel(xlabel)
        axes.tick_params(color="#999999", length=0)
        for side in ("top", "right", "left"):
            axes.spines[side].set_visible(False)
        axes.spines["bottom"].set_color("#999999")
        axes.legend(ncols=3, loc="lower center", bbox_to_anchor=(0.35, 1.0), frameon=False)
        drawn = StringIO()
        figure.savefig(
            drawn, format="svg", transparent=True, bbox_inches="tight", metadata={"Date": None}
        )
        plt.close(figure)
    head = _STYLE.format(title=title)
    text = re.sub(r"<metadata>.*</metadata>\n", head, drawn.getvalue(), flags=re.DOTALL)
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"
