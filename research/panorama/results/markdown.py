"""The report as Markdown: pooled tables, targets, and a line a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from research.panorama.conditions import CONDITIONS
from research.panorama.methods import METHODS
from research.panorama.results.pooled import Row, pooled_row
from research.panorama.results.sets import GROUPS, Results, SetResult
from research.panorama.results.targets import Verdict, tally

__all__ = ["COLUMNS", "TITLES", "pooled_rows", "pooled_text", "report_text", "targets_text"]

TITLES = {
    "all": "All tables",
    "two": "Two classes (two, rare and wide)",
    "many": "Many classes",
    "rare": "Rare class",
    "wide": "Wide",
}
DASH = "–"
LEGEND = (
    "Error: sum of the error rates over the tables. Relative: that sum over LR's on the same "
    "tables. z: pooled McNemar test against LR, positive for fewer errors. Worse, better: tables "
    "on which an exact test finds a difference from LR (p < 0.01). Rank: mean rank of the error "
    "among all methods. Seconds: all fits in one thread each."
)


def _number(pattern: str, value: float | None) -> str:
    return DASH if value is None else pattern.format(value)


COLUMNS: dict[str, Callable[[Row], str]] = {
    "method": lambda row: row.method,
    "sets": lambda row: str(row.sets),
    "error, %": lambda row: f"{row.error_sum:.1f}",
    "relative": lambda row: _number("{:.3f}", row.relative),
    "z": lambda row: _number("{:+.1f}", row.z),
    "worse": lambda row: str(row.worse),
    "better": lambda row: str(row.better),
    "log-loss": lambda row: f"{row.log_loss:.4f}",
    "AUC": lambda row: _number("{:.4f}", row.auc),
    "balanced": lambda row: f"{row.balanced_error:.4f}",
    "calibration": lambda row: f"{row.calibration_error:.4f}",
    "rank": lambda row: _number("{:.2f}", row.rank),
    "seconds": lambda row: f"{row.fit_seconds:.1f}",
}
_FIGURES: dict[str, Callable[[SetResult], str]] = {
    "Error, %": lambda one: f"{one.rate:.2f}",
    "AUC": lambda one: _number("{:.4f}", one.auc),
    "Log-loss": lambda one: f"{one.log_loss:.4f}",
}


def conditions(results: Results) -> list[str]:
    """Return the conditions that were planned, in their usual order."""
    return [name for name in CONDITIONS if name in results.conditions]


def pooled_rows(results: Results, group: str, condition: str) -> list[Row]:
    """Return a row for each method that has finished a table."""
    rows = [pooled_row(results, method, condition, group) for method in METHODS]
    return [row for row in rows if row is not None]


def pooled_text(results: Results) -> str:
    """Return the pooled tables of every group and condition."""
    parts = ["## Pooled figures", LEGEND]
    for group in GROUPS:
        names = results.tables(group)
        if names:
            parts.append(f"### {TITLES[group]}: {len(names)} table{'s' * (len(names) > 1)}")
        for condition in conditions(results):
            rows = pooled_rows(results, group, condition)
            if rows:
                lines = [[show(row) for show in COLUMNS.values()] for row in rows]
                parts += [f"**{condition}**", table(list(COLUMNS), lines)]
    return "\n\n".join(parts)


def targets_text(verdicts: Sequence[Verdict]) -> str:
    """Return the targets, a line each."""
    lines = [list(verdict.line) for verdict in verdicts]
    head = ["name", "figure", "target", "status"]
    return "\n\n".join(["## Targets", tally(verdicts), table(head, lines)])


def report_text(results: Results, verdicts: Sequence[Verdict], notes: Sequence[str]) -> str:
    """Return the whole report."""
    methods = [f"- {name}: {METHODS[name].text}" for name in METHODS if name in results.methods]
    parts = [
        "# The panorama",
        "\n".join(f"- {note}" for note in notes),
        "\n".join(methods),
        targets_text(verdicts),
        pooled_text(results),
        *_degenerate(results),
        *_each_table(results),
        *_trouble(results),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table whose columns line up, numbers to the right."""
    widths = [max(len(cell) for cell in column) for column in zip(head, *lines, strict=True)]
    rules = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    rows = [
        [cell.ljust(width) if not place else cell.rjust(width) for place, (cell, width) in pairs]
        for line in (head, rules, *lines)
        for pairs in [list(enumerate(zip(line, widths, strict=True)))]
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _degenerate(results: Results) -> Iterator[str]:
    """Count fits that say less than the base rate does."""
    lines = []
    for condition in conditions(results):
        for method in results.methods:
            own = list(results.of(method, condition).values())
            lines.append(
                [
                    condition,
                    method,
                    str(sum(one.log_loss > one.base_log_loss for one in own)),
                    str(len(own)),
                    str(sum(sum(one.constant) for one in own)),
                    str(sum(sum(one.constant_probabilities) for one in own)),
                    str(sum(len(one.constant) for one in own)),
                ]
            )
    yield "## Fits that say little"
    yield (
        "Sets with a log-loss above that of the training base rate, and folds in which all "
        "predictions, or all probabilities, are the same."
    )
    head = ["condition", "method", "above base rate", "sets"]
    yield table([*head, "constant", "constant probabilities", "folds"], lines)


def _each_table(results: Results) -> Iterator[str]:
    names = results.tables("all")
    for title, show in _FIGURES.items():
        yield f"## {title}, each table"
        for condition in conditions(results):
            found = [results.of(method, condition) for method in results.methods]
            kept = [name for name in names if any(name in own for own in found)]
            lines = [
                [name, results.kinds[name]]
                + [show(own[name]) if name in own else DASH for own in found]
                for name in kept
            ]
            if lines:
                yield f"**{condition}**"
                yield table(["table", "kind", *results.methods], lines)


def _trouble(results: Results) -> Iterator[str]:
    """List failures, and count what was skipped and warnings."""
    failed = [record for record in results.records if "failure" in record]
    if failed:
        yield "## Failed fits"
        yield "\n".join(
            f"- {r['method']} on {r['data']}, {r['condition']}, fold {r['fold']}: {r['failure']}"
            for r in failed
        )
    skipped = Counter(
        f"{r['method']} on {r['data']}: {r['skipped']}" for r in results.records if "skipped" in r
    )
    if skipped:
        yield "## Skipped"
        yield "\n".join(f"- {text} ({count} fits)" for text, count in sorted(skipped.items()))
    warned = Counter(
        f"{r['method']}: {message}" for r in results.records for message in r["warnings"]
    )
    if warned:
        yield "## Warnings"
        yield "\n".join(f"- {text} ({n} fits)" for text, n in warned.most_common(20))
