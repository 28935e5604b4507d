"""The audit of labels against cleanlab, on twelve tables of the panorama.

Run ``python -m research.audit_panorama [--list choose|report]``. Settings are chosen on one list;
the other is for one measurement. Labels are left as they are, flipped at random, or flipped from
the largest class into the next. Printed for each table: the precision at the number of flips, of
cleanlab and ours; the estimated share of wrong labels; and the rows, and the rows of one class,
that ours flags where all labels are clean. Then the figures with their targets; times are those
of the audit as it comes, as in ``python -m research.benchmarks 'audit-*'``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

import pandas as pd
from joblib import cpu_count
from rich.console import Console

from bblr.comparison.cells import CLEAN, Condition
from bblr.comparison.document import shown, terminal_table
from bblr.comparison.session import say
from research.benchmarks.families import TIME_RATIO, time_audits
from research.core.cases import Run
from research.core.thresholds import Threshold, Verdict, verdict_table
from research.panorama.cells import ONE_WAY
from research.studies.audit import ESTIMATORS, Audit

__all__ = ["CONDITIONS", "DOZEN", "main", "tables", "verdicts"]

# Fixed before anything was measured: six of two classes, three with a rare one, three of many.
DOZEN = {
    "choose": ("crx", "german", "mammographic", "wdbc", "vehicle0", "tic-tac-toe", "car-good",
               "yeast4", "logistic-6", "optdigits", "vehicle", "iris"),
    "report": ("australian", "saheart", "ionosphere", "vehicle1", "contraceptive", "chess",
               "flare-F", "yeast5", "page-blocks-1-3_vs_4", "satimage", "newthyroid", "balance"),
}  # fmt: skip
CONDITIONS = {
    "clean": CLEAN,
    "uniform 10 %": Condition(0.1, "label-flip", "training"),
    "one-sided 10 %": Condition(0.1, ONE_WAY, "training"),
    "one-sided 30 %": Condition(0.3, ONE_WAY, "training"),
}
_NO_LOWER = "tables with a precision no lower than cleanlab's"


def _means(found: pd.DataFrame) -> Any:
    """Return the means over draws by table and condition, and whether ours is no lower."""
    noisy = found[found["noise"] != "clean"]
    columns = ["own", "baseline", "estimated"]
    means: Any = noisy.groupby(["data", "noise"], sort=False)[columns].mean()
    # Equal counts must not differ by rounding.
    means["gain"] = (means["own"] - means["baseline"]).round(9)
    return means


def _flagged(found: pd.DataFrame) -> Any:
    """Return what is flagged of clean tables, in per cent: of the rows, and of one class."""
    clean = found[found["noise"] == "clean"]
    return 100 * clean.groupby("data")[["flagged", "worst"]].max()


def tables(found: pd.DataFrame) -> pd.DataFrame:
    """Return a line for each table, as texts."""
    flagged, rows = _flagged(found), []
    for data, own in _means(found).groupby("data", sort=False):
        row = {"table": data}
        for (_, noise), mean in own.iterrows():
            sign = "+" if mean["gain"] >= 0 else "-"
            row[f"{noise}\ncleanlab, ours"] = f"{mean['baseline']:.3f} {mean['own']:.3f}{sign}"
        row["wrong, %\nestimated"] = " ".join(shown(100 * v, "{:.0f}") for v in own["estimated"])
        row["clean\n%"] = "{:.1f} {:.0f}".format(*flagged.loc[data])
        rows.append(row)
    return pd.DataFrame(rows)


def verdicts(found: pd.DataFrame, ratio: float | None = None) -> list[Verdict]:
    """Hold precision, time over cleanlab's and flags on clean data against their targets."""
    means, count = _means(found), found["data"].nunique()
    lines = []
    for noise, own in means.groupby("noise", sort=False):
        note = f"of {count}; mean {own['own'].mean():.3f}, cleanlab {own['baseline'].mean():.3f}"
        lines.append(Threshold(f"{noise}: {_NO_LOWER}").judge((own["gain"] >= 0).sum(), note))
    overall = (means["gain"].groupby("data").mean().round(9) >= 0).sum()
    rows, of_class = _flagged(found).max()
    most = Threshold(f"mean of the three: {_NO_LOWER}", ">=", 9)
    return [
        *lines,
        most.judge(overall, f"of {count}"),
        Threshold(TIME_RATIO, "<=", 0.5).judge(ratio),
        Threshold("clean: most rows of a table flagged, %", "<=", 3).judge(rows),
        Threshold("clean: most rows of a class flagged, %", "<=", 10).judge(of_class),
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--list", dest="listed", choices=list(DOZEN), default="choose")
    parser.add_argument("--estimator", choices=list(ESTIMATORS), default="default")
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--untimed", action="store_true", help="measure no times")
    parser.add_argument("--jobs", type=int, default=cpu_count())
    chosen = parser.parse_args(arguments)
    tasks = [
        Audit(data=name, method=chosen.estimator, seed=seed, condition=condition)
        for name in DOZEN[chosen.listed]
        for condition in CONDITIONS.values()
        for seed in range(chosen.draws)
    ]
    found = Run(jobs=chosen.jobs, console=Console(stderr=True)).frame(tasks)
    names = {str(vars(condition)): name for name, condition in CONDITIONS.items()}
    found["noise"] = found["condition"].map(str).map(names)
    ratio = None
    if not chosen.untimed:  # alone on the machine, after everything else
        ratio = time_audits(Run(), DOZEN[chosen.listed], 3).figures[TIME_RATIO]
    console = Console()
    say(
        console,
        f"list {chosen.listed!r}, estimator {chosen.estimator!r}, {chosen.draws} draws; precision "
        "at the number of flips",
    )
    console.print(terminal_table(tables(found)), "")
    console.print(verdict_table(verdicts(found, ratio)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
