"""What a comparison came to, on the terminal, and what failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import inf

import pandas as pd
from rich.console import Console

from bblr._settings import escaped
from bblr.comparison.document import DASH, Bullets, Section, shown, terminal_table
from bblr.comparison.methods import BASELINES, METHODS
from bblr.comparison.records import Record
from bblr.comparison.summary import Row, SetGroup, Summary, Versus, findings, format_p
from bblr.comparison.verdict.standings import Standing
from bblr.comparison.verdict.wording import remarks, sentence, table

__all__ = ["marked", "print_summary", "print_verdict", "trouble"]

MOST_FAILURES, MOST_WARNINGS = 50, 20


def trouble(records: Sequence[Record]) -> Iterator[Section]:
    """List what failed, and count what was skipped and what was warned of."""
    failed = [
        f"{r['label']} on {r['data']}, {_place(r)}: {r['failure']}"
        for r in records
        if "failure" in r
    ]
    if len(failed) > MOST_FAILURES:
        more = f"And {len(failed) - MOST_FAILURES} more, in the records file."
        failed = [*failed[:MOST_FAILURES], more]
    counts = {
        "Skipped": Counter(
            f"{r['label']} on {r['data']}: {r['skipped']}" for r in records if "skipped" in r
        ),
        "Warnings": Counter(f"{r['label']}: {text}" for r in records for text in r["warnings"]),
    }
    if failed:
        yield Section("Failed fits", [Bullets(failed)])
    for title, found in counts.items():
        if found:
            lines = [f"{text} ({count} fits)" for text, count in found.most_common(MOST_WARNINGS)]
            yield Section(title, [Bullets(lines)])


def _place(record: Record) -> str:
    words = ", ".join(f"{name} {record[name]}" for name in ("repeat", "fold") if name in record)
    condition = record["condition"]
    return words if isinstance(condition, dict) else f"{condition}, {words}"


def print_verdict(standings: Sequence[Standing], console: Console) -> None:
    """Print the verdict of each condition and the table behind it."""
    for standing in standings:
        console.print(escaped(sentence(standing)), style="bold", highlight=False, markup=False)
        console.print("", terminal_table(table(standing), bold=marked(standing)), "")
        for remark in remarks(standing):
            console.print(escaped(remark), highlight=False, markup=False)


def marked(standing: Standing) -> list[bool]:
    """Say which lines stand out: that of the method to use."""
    return [line.method == standing.decision.method for line in standing.lines]


def print_summary(summary: Summary, console: Console) -> None:
    """Print a table for each data set and condition, the totals, and the findings."""
    totals = summary.totals if len(summary.data) > 1 else ()
    for group in (*summary.groups, *totals):
        name = f"All {len(summary.data)} data sets" if group.data is None else group.data
        title = f"{name}, {group.condition.label} ({group.n_rows:,} rows)"
        console.print(escaped(title), style="bold", highlight=False, markup=False)
        console.print(terminal_table(_frame(group, summary), bold=_best(group)), "")
    known = {label: METHODS[m].estimator for m, label in summary.methods.items() if m in METHODS}
    legend = ", ".join(f"{label} is {built}" for label, built in known.items() if built)
    if legend:
        console.print(legend, style="dim", highlight=False, markup=False)
    for finding in findings(summary):
        console.print(f"{finding.claim} {finding.evidence}".strip(), highlight=False, markup=False)


def _best(group: SetGroup) -> list[bool]:
    """Say which rows have the lowest error rate, whoever holds it, of those that are whole."""
    rates = [row.rate if row.done == row.planned else inf for row in group.rows]
    return [rate == min(rates) < inf for rate in rates]


def _frame(group: SetGroup, summary: Summary) -> pd.DataFrame:
    """Lay a table out as texts, a line a method."""
    single = group.data is not None
    baselines = [name for name in BASELINES if name in summary.methods]
    rows = [
        {
            "Method": row.label + (f" ({row.done}/{row.planned})" * (row.done < row.planned)),
            "Error\n%": f"{row.rate:.2f}",
            "95 %" if single else "Errors": _ends(row) if single else f"{row.errors:.1f}",
            "Log\nloss": shown(row.log_loss, "{:.3f}"),
            "Train\n0-1": f"{row.train_errors:.1f}",
            "Seconds": f"{row.seconds:.2f}",
            **{
                f"vs {summary.methods[name]}\nz (p)": _test(row.versus.get(name))
                for name in baselines
            },
        }
        for row in group.rows
    ]
    return pd.DataFrame(rows)


def _test(versus: Versus | None) -> str:
    return DASH if versus is None else f"{versus.z:+.1f} ({format_p(versus.p)})"


def _ends(row: Row) -> str:
    return f"{100 * row.interval.low:.1f} to {100 * row.interval.high:.1f}"
