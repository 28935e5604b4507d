"""The chart of docs/results.md, drawn from the record of the panorama.

``python docs/panorama_chart.py`` writes docs/results/panorama.svg. Run it after a new record.
"""

from __future__ import annotations

import re
from pathlib import Path

from dot_chart import BLUE, GREEN, GREY, ORANGE, PINK, SKY, dot_chart

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
METHODS = {
    "BBLRCV": ("BBLRClassifierCV()", BLUE, "o"),
    "BBLR": ("BBLRClassifier()", BLUE, "D"),
    "LR": ("logistic regression, tuned", GREY, "|"),
    "SVM": ("linear SVM", SKY, "x"),
    "CL": ("cleanlab's CleanLearning", PINK, "s"),
    "HGB": ("gradient boosting", ORANGE, "^"),
    "RF": ("random forest", GREEN, "v"),
}


def relative_errors(report: str) -> dict[str, dict[str, float]]:
    """Return error relative to tuned logistic regression, by condition and method."""
    pooled = report.partition("### All tables")[2].partition("\n### ")[0]
    found = {}
    for condition in CONDITIONS:
        table = pooled.partition(f"\n\n{condition}\n\n")[2].partition("\n\n")[0]
        rows = re.findall(r"^\| (\w+) +\|[^|]*\|[^|]*\| +([\d.]+) \|", table, flags=re.M)
        found[condition] = {name: float(value) for name, value in rows if name in METHODS}
    return found


def drawn() -> str:
    """Return the chart as SVG."""
    errors = relative_errors(REPORT.read_text(encoding="utf-8"))
    return dot_chart(
        "Relative errors of seven methods under seven conditions",
        list(CONDITIONS.values()),
        {label: (colour, marker) for label, colour, marker in METHODS.values()},
        {
            label: [errors[condition][name] for condition in CONDITIONS]
            for name, (label, _, _) in METHODS.items()
        },
        "error relative to tuned logistic regression (left is better)",
    )


if __name__ == "__main__":
    CHART.write_text(drawn(), encoding="utf-8")
