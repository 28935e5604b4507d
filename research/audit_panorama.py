"""The audit of labels beside cleanlab, on twelve tables of the panorama.

Run ``python -m research.audit_panorama [--list choose|report]``. Settings are chosen on one list;
the other is for one measurement. Labels are left as they are, flipped at random, or flipped from
the largest class into the next. Printed for each table: the precision at the number of flips, of
cleanlab and ours; the rows that ours flags where all labels are clean; and the estimated share of
wrong labels beside the true one. ``python -m research.benchmarks 'audit-*'`` has the times.
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
from research.core.cases import Run
from research.panorama.cells import ONE_WAY
from research.studies.audit import ESTIMATORS, Audit

__all__ = ["CONDITIONS", "DOZEN", "main", "report"]

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


def report(found: pd.DataFrame, console: Console) -> None:
    """Print the precisions of each table, and how the audits stand to their targets."""
    found["noise"] = found["condition"].map({str(vars(c)): name for name, c in CONDITIONS.items()})
    flagged: Any = (
        100 * found[found["noise"] == "clean"].groupby("data")[["flagged", "worst"]].max()
    )
    noisy = found[found["noise"] != "clean"]
    columns = ["own", "baseline", "estimated", "flipped"]
    means: Any = noisy.groupby(["data", "noise"], sort=False)[columns].mean()
    # Equal counts must not differ by rounding.
    means["no lower"] = (means["own"] - means["baseline"]).round(9) >= 0
    rows = []
    for data, own in means.groupby("data", sort=False):
        texts = {
            f"{noise}\ncleanlab, ours": f"{row.baseline:.3f} {row.own:.3f}"
            f"{'+' if row['no lower'] else '-'}"
            for (_, noise), row in own.iterrows()
        }
        share = " ".join(shown(100 * row.estimated, "{:.0f}") for _, row in own.iterrows())
        clean = "{:.1f} {:.0f}".format(*flagged.loc[data])
        rows.append({"table": data, **texts, "wrong, %\nestimated": share, "clean\n%": clean})
    console.print(terminal_table(pd.DataFrame(rows)))
    count = len(rows)
    for noise, own in means.groupby("noise", sort=False):
        wins = own["no lower"].sum()
        line = f"{own['baseline'].mean():.3f} {own['own'].mean():.3f}, no lower on {wins}"
        say(console, f"{noise}: {line} of {count}")
    gains: Any = (means["own"] - means["baseline"]).groupby("data").mean().round(9) >= 0
    say(console, f"mean of the three: no lower on {gains.sum()} of {count} (target: 9)")
    most, worst = flagged.max()
    say(
        console,
        f"clean: at most {most:.1f} % of the rows (target: 3) and {worst:.0f} % of a class "
        "(target: 10)",
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--list", dest="listed", choices=list(DOZEN), default="choose")
    parser.add_argument("--estimator", choices=list(ESTIMATORS), default="default")
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=cpu_count())
    chosen = parser.parse_args(arguments)
    tasks = [
        Audit(data=name, method=chosen.estimator, seed=seed, condition=condition)
        for name in DOZEN[chosen.listed]
        for condition in CONDITIONS.values()
        for seed in range(chosen.draws)
    ]
    found = Run(jobs=chosen.jobs, console=Console(stderr=True)).frame(tasks)
    found["condition"] = found["condition"].map(str)
    console = Console()
    say(
        console,
        f"list {chosen.listed!r}, estimator {chosen.estimator!r}, {chosen.draws} draws; precision "
        "at the number of flips",
    )
    report(found, console)
    return 0


if __name__ == "__main__":
    sys.exit(main())
