"""The reproduction on the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from bblr.comparison.session import duration
from research.paper.exhibit import Exhibit
from research.paper.results import Entry, FigureResult, Finding, TableResult

__all__ = ["print_findings", "print_list", "print_table"]

_VERDICTS = {True: "yes", False: "NO", None: "not judged"}


def print_list(exhibits: Sequence[Exhibit], console: Console) -> None:
    """Print what each exhibit is, what it needs and what it costs."""
    width = max(len(exhibit.name) for exhibit in exhibits)
    lines = [f"{'':{width}}  {'quick':>11}  {'full':>11}"]
    for exhibit in exhibits:
        costs = "  ".join(f"{_cost(minutes):>11}" for minutes in exhibit.minutes)
        lines.append(f"{exhibit.name:{width}}  {costs}  {exhibit.title}")
        lines.append(f"{'':{width + 28}}data: {', '.join(exhibit.needs) or 'none'}")
    totals = (sum(exhibit.minutes[level] for exhibit in exhibits) for level in (0, 1))
    costs = "  ".join(f"{_cost(minutes):>11}" for minutes in totals)
    lines.append(f"{'together':{width}}  {costs}")
    lines.append("Times on two cores; fits that tables share are counted with the first of them.")
    console.print(*lines, sep="\n", highlight=False, markup=False, soft_wrap=True)


def _cost(minutes: float) -> str:
    return duration(60.0 * minutes) if minutes else "–"


def print_table(result: TableResult | FigureResult, console: Console) -> None:
    """Print a table with the printed figures in brackets; of a figure what it shows, in words."""
    title = f"{result.title}"
    if isinstance(result, FigureResult):
        console.print(title, style="bold", highlight=False, markup=False)
        for panel in result.panels:
            console.print(panel.text, highlight=False, markup=False)
        return
    part = f": {result.part}" if result.part else ""
    heading = f"{title}{part} (ours, printed in brackets)"
    console.print(heading, style="bold", highlight=False, markup=False)
    table = RichTable(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    table.add_column("")
    for column in result.columns:
        table.add_column(Text(column), justify="right", overflow="fold")
    for row in result.rows:
        cells = [_cell(result.entry(row, c), result.digits_of(c)) for c in result.columns]
        table.add_row(Text(row), *cells)
    console.print(table)


def _cell(entry: Entry, digits: int) -> str:
    ours = "–" if entry.ours is None else f"{entry.ours:,.{digits}f}"
    return ours if entry.printed is None else f"{ours} ({entry.printed:,g})"


def print_findings(findings: Sequence[Finding], console: Console) -> None:
    """Print each finding with its verdict and the rows that speak against it."""
    for finding in findings:
        line = f"{_VERDICTS[finding.met]}: {finding.claim} {finding.evidence}"
        console.print(line, highlight=False, markup=False, soft_wrap=True)
        for row in finding.rows:
            console.print(f"  {row}", highlight=False, markup=False, soft_wrap=True)
