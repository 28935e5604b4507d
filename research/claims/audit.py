"""The claim about label audits: flipped labels found, against cleanlab."""

from __future__ import annotations

from typing import Any

from bblr.datasets import UCI_NAMES
from research.claims import claim
from research.core.cases import Measured, Run, Unavailable
from research.core.thresholds import Threshold
from research.studies.audit import Audit, cleanlab, load_audited

LARGE = "trec07p"
DATA = (*UCI_NAMES, "digits", LARGE)
# One run of both on TREC07p takes minutes.
_LARGE_REPEATS = 2
_PRECISION = "share of sets with precision no lower than cleanlab's"


@claim(
    "audit",
    "10 % flipped labels found by find_label_errors, against cleanlab with logistic regression",
    Threshold(_PRECISION, ">", 0.5),
)
def audit(run: Run) -> Measured:
    cleanlab()
    notes = [
        "precision and recall at the number of flips: cleanlab's, ours ± the standard error of",
        "the difference; clean: of models trained on the labels before the flips; named: rows a",
        "method would name by itself (precision, recall): cleanlab's, ours",
    ]
    repeats = dict.fromkeys(DATA, run.repeats)
    try:
        load_audited(LARGE)
        repeats[LARGE] = min(run.repeats, _LARGE_REPEATS)
    except Unavailable as reason:
        del repeats[LARGE]
        notes.append(f"{LARGE} left out: {reason}")
    tasks = [
        Audit(data=name, method="default", seed=run.seed + repeat)
        for name, count in repeats.items()
        for repeat in range(count)
    ]
    found: Any = run.frame(tasks)
    wins = []
    for name, own in found.groupby("data", sort=False):
        gain = own["own"] - own["baseline"]
        mean = own.mean(numeric_only=True)
        named = [
            f"{mean[f'{who} named']:.0f} ({mean[f'{who} named precision']:.2f}, "
            f"{mean[f'{who} named recall']:.2f})"
            for who in ("baseline", "own")
        ]
        notes.append(
            f"{name:8} {mean['flips']:5.0f} flips, {len(own):2} draws   {mean['baseline']:.3f} "
            f"{mean['own']:.3f} ± {gain.std(ddof=0) / len(own) ** 0.5:.3f}   "
            f"clean {mean['clean']:.3f}   named {'  '.join(named)}"
        )
        # Equal counts must not differ by rounding.
        wins.append(round(float(gain.mean()), 9) >= 0)
    notes.append(f"no lower than cleanlab's on {sum(wins)} of {len(wins)} sets")
    keep = ["data", "seed", "flips", "baseline", "own", "clean", "baseline named", "own named"]
    details = {"cells": found[keep].to_dict("records")}
    return Measured({_PRECISION: sum(wins) / len(wins)}, notes, details)
