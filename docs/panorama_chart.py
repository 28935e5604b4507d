"""The chart of docs/results.md, drawn from the record of the panorama.

``python docs/panorama_chart.py`` writes docs/results/panorama.svg. Run it after a new record.
"""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

DOCS = Path(__file__).resolve().parent
REPORT = DOCS.parent / "research" / "panorama" / "record" / "report.md"
CHART = DOCS / "results" / "panorama.svg"

CONDITIONS = {
    "clean": "clean",
    "flip10": "10 % labels flipped",
    "flip20": "20 % labels flipped",
    "flip40": "40 % labels flipped",
    "oneway30": "30 % flipped one way",
    "outliers": "10 % outliers, one class",
    "random-outliers": "10 % outliers, any class",
}
# Colours of docs/drawing.py: legible on white and on black.
METHODS = {
    "BBLRCV": ("BBLRClassifierCV()", "#0a84c6", "o"),
    "BBLR": ("BBLRClassifier()", "#0a84c6", "D"),
    "LR": ("logistic regression, tuned", "#8a8a8a", "|"),
    "SVM": ("linear SVM", "#56b4e9", "x"),
    "CL": ("cleanlab's CleanLearning", "#cc79a7", "s"),
    "HGB": ("gradient boosting", "#e07b00", "^"),
    "RF": ("random forest", "#009e73", "v"),
}
_STYLE = (
    "<style>text{fill:#333}@media(prefers-color-scheme:dark){text{fill:#ddd}}</style>\n"
    "<title>Relative errors of seven methods under seven conditions</title>\n"
)


def relative_errors(report: str) -> dict[str, dict[str, float]]:
    """Return error relative to tuned logistic regression, by condition and method."""
    pooled = report.partition("### All tables")[2].partition("\n### ")[0]
    found = {}
    for condition in CONDITIONS:
        table = pooled.partition(f"\n\n{condition}\n\n")[2].partition("\n\n")[0]
        rows = re.findall(r"^\| (\w+) +\|[^|]*\|[^|]*\| +([\d.]+) \|", table, flags=re.M)
        found[condition] = {name: float(value) for name, value in rows if name in METHODS}
    return found


def draw(errors: dict[str, dict[str, float]]) -> str:
    """Return the chart as SVG."""
    grey = {"color": "#999999", "alpha": 0.4}
    with plt.rc_context({"svg.fonttype": "none", "svg.hashsalt": "bblr", "font.size": 11}):
        figure, axes = plt.subplots(figsize=(7.6, 4.4))
        for name, (label, colour, marker) in METHODS.items():
            hollow = {"markerfacecolor": "none"} if name == "BBLR" else {}
            values = [errors[condition][name] for condition in CONDITIONS]
            places = range(len(CONDITIONS))
            axes.plot(
                values, places, marker, color=colour, label=label,
                markersize=12 if marker == "|" else 7, markeredgewidth=1.8, **hollow,
            )  # fmt: skip
        axes.axvline(1.0, linewidth=1, zorder=0, **grey)
        axes.grid(axis="y", linewidth=0.7, **grey)
        axes.set_yticks(range(len(CONDITIONS)), list(CONDITIONS.values()))
        axes.invert_yaxis()
        axes.set_xlabel("error relative to tuned logistic regression (left is better)")
        axes.tick_params(color="#999999", length=0)
        for side in ("top", "right", "left"):
            axes.spines[side].set_visible(False)
        axes.spines["bottom"].set_color("#999999")
        axes.legend(ncols=3, loc="lower center", bbox_to_anchor=(0.35, 1.0), frameon=False)
        figure.savefig(CHART, transparent=True, bbox_inches="tight", metadata={"Date": None})
        plt.close(figure)
    text = re.sub(r"<metadata>.*</metadata>\n", _STYLE, CHART.read_text("utf-8"), flags=re.DOTALL)
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


if __name__ == "__main__":
    CHART.write_text(draw(relative_errors(REPORT.read_text("utf-8"))), encoding="utf-8")
