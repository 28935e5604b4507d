"""The chart of docs/benchmarks.md, drawn from the record of the benchmarks.

``python docs/benchmarks_chart.py`` writes docs/benchmarks/overview.svg. Run it after a new record.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dot_chart import BLUE, GREEN, GREY, ORANGE, PINK, SKY, dot_chart

DOCS = Path(__file__).resolve().parent
RECORD = DOCS / "benchmarks" / "record.json"
CHART = DOCS / "benchmarks" / "overview.svg"

WORK = {
    "dense": "dense, 40,000 × 100",
    "csr": "sparse, 60,000 × 300",
    "many": "ten classes, 20,000 × 50",
    "text": "made-up text, 20,000 × 40,000",
    "reviews": "reviews, 1,500 × 28,234",
    "cv": "five folds, 10,000 × 30",
    "kernel": "RBF kernel, 10,000 × 10",
}
METHODS = {
    "bblr": ("bblr", BLUE, "o"),
    "LogisticRegression lbfgs": ("LogisticRegression", ORANGE, "s"),
    "LogisticRegressionCV": ("LogisticRegressionCV", ORANGE, "D"),
    "LinearSVC": ("LinearSVC", SKY, "x"),
    "SVC": ("SVC", GREY, "v"),
    "SGDClassifier": ("SGDClassifier", PINK, "^"),
    "liblinear-official": ("liblinear", GREEN, "+"),
}


def ratios(record: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Return time relative to ours, by kind of work and method; those cut short are left out."""
    return {
        work: {
            row["baseline"]: row["ratio"]
            for row in record["cases"][f"baselines-{work}"]["details"]["table"]
            if row["baseline"] in METHODS and not row["stopped"]
        }
        for work in WORK
    }


def drawn() -> str:
    """Return the chart as SVG."""
    found = ratios(json.loads(RECORD.read_text(encoding="utf-8")))
    return dot_chart(
        "Times of six baselines relative to bblr, by kind of work",
        list(WORK.values()),
        {label: (colour, marker) for label, colour, marker in METHODS.values()},
        {
            label: [found[work].get(name, float("nan")) for work in WORK]
            for name, (label, _, _) in METHODS.items()
        },
        "time relative to bblr (right of 1: bblr is faster)",
        ticks=(0.2, 0.5, 1, 2, 5, 10, 20, 50),
    )


if __name__ == "__main__":
    CHART.write_text(drawn(), encoding="utf-8")
