"""What a comparison came to: tables on the terminal, and one HTML file that stands alone."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from rich.console import Console
from rich.table import Table as RichTable

from bblr.comparison.document import DASH, environment, shown, terminal_table
from bblr.comparison.figures import error_panels, reliability_panels, train_test_panels
from bblr.comparison.methods import BASELINES, METHODS
from bblr.comparison.records import Record
from bblr.comparison.summary import (
    SetGroup,
    Summary,
    Versus,
    champion,
    findings,
    format_p,
    summarise,
)

__all__ = ["print_summary", "render_report", "write_report"]


def render_report(records: Sequence[Record]) -> str:
    """Turn the records of a comparison into an HTML page.

    Parameters
    ----------
    records : sequence of dict
        As :meth:`bblr.comparison.Comparison.run` returns them.

    Returns
    -------
    str
        A page with its style and figures inside; it loads nothing.
    """
    summary = summarise(records)
    spoilt = max(summary.conditions, key=lambda condition: condition.noise)
    pair = [name for name in ("LR", champion(summary)) if name and name in summary.methods]
    templates = environment()
    templates.filters["fewest"] = _fewest
    page = templates.get_template("report.html.j2").render(
        summary=summary,
        findings=findings(summary),
        spoilt=spoilt,
        baselines=[name for name in BASELINES if name in summary.methods],
        known=METHODS,
        errors=error_panels(summary),
        training=train_test_panels(summary, spoilt),
        reliability=reliability_panels(records, summary, spoilt, pair),
        n_cells=len(records),
    )
    return page.lstrip()


def write_report(records: Sequence[Record], path: str | os.PathLike[str]) -> Path:
    """Render the report and write it to ``path``, replacing what was there."""
    path = Path(path)
    path.write_text(render_report(records), encoding="utf-8")
    return path


def _fewest(group: SetGroup) -> float:
    """Find the lowest error rate of a table, to set it in bold whoever holds it."""
    return min((row.rate for row in group.rows if row.done == row.planned), default=-1.0)


def print_summary(summary: Summary, console: Console) -> None:
    """Print a table for each data set and condition, the totals, and the findings."""
    totals = summary.totals if len(summary.data) > 1 else ()
    for group in (*summary.groups, *totals):
        name = f"All {len(summary.data)} data sets" if group.data is None else group.data
        title = f"{name}, {group.condition.label} ({group.n_rows:,} rows)"
        console.print(title, style="bold", highlight=False, markup=False)
        console.print(_table(group, summary), "")
    known = {label: METHODS[m].estimator for m, label in summary.methods.items() if m in METHODS}
    legend = ", ".join(f"{label} is {built}" for label, built in known.items() if built)
    if legend:
        console.print(legend, style="dim", highlight=False, markup=False)
    for finding in findings(summary):
        console.print(f"{finding.claim} {finding.evidence}".strip(), highlight=False, markup=False)


def _table(group: SetGroup, summary: Summary) -> RichTable:
    single = group.data is not None
    baselines = [name for name in BASELINES if name in summary.methods]
    rows = [
        {
            "Method": row.label + (f" ({row.done}/{row.planned})" * (row.done < row.planned)),
            "Error\n%": f"{row.rate:.2f}",
            "±" if single else "Err-\nors": shown(row.spread if single else row.errors, "{:.1f}"),
            "Log-\nloss": shown(row.log_loss, "{:.3f}"),
            "Train\n0-1": f"{row.train_errors:.1f}",
            "Sec-\nonds": f"{row.seconds:.2f}",
            **{
                f"vs {summary.methods[name]}\nz (p)": _test(row.versus.get(name))
                for name in baselines
            },
        }
        for row in group.rows
    ]
    best = _fewest(group)
    return terminal_table(pd.DataFrame(rows), bold=[row.rate == best for row in group.rows])


def _test(versus: Versus | None) -> str:
    return DASH if versus is None else f"{versus.z:+.1f} ({format_p(versus.p)})"
