"""What a comparison came to: tables on the terminal, and one HTML file that stands alone."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from rich.console import Console

from bblr.comparison.cells import Condition
from bblr.comparison.document import (
    DASH,
    Block,
    Bullets,
    Document,
    Grid,
    Heading,
    Panels,
    Section,
    shown,
    terminal_table,
)
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

__all__ = ["document", "print_summary", "trouble", "write_report"]

MOST_FAILURES, MOST_WARNINGS = 50, 20
_PLACES = {
    "training": "Noise is added to the training part before scaling; the test part stays clean.",
    "everywhere": "Noise is added to all data before they are cut: the test part has its share.",
}


def document(records: Sequence[Record]) -> Document:
    """Turn the records of a comparison, as ``Comparison.run`` returns them, into a report."""
    summary = summarise(records)
    spoilt = max(summary.conditions, key=lambda condition: condition.noise)
    first, *others = findings(summary)
    lead = [
        first.evidence,
        *(f"{finding.claim} {finding.evidence}" for finding in others),
        f"{', '.join(summary.data)} · {summary.repeats} × {summary.folds}-fold cross-validation · "
        f"{len(records)} fits, each made and tuned on its own training part alone. A positive z "
        "in the tables means fewer errors than the baseline.",
    ]
    if summary.failures:
        lead.append(
            f"{len(summary.failures)} of {len(records)} fits failed; they are listed below, and "
            "the tables say how many folds are there."
        )
    many = len(summary.data) > 1
    totals = [
        block
        for group in (summary.totals if many else summary.groups)
        for block in (Heading(_capital(group.condition.label)), _grid(group, summary))
    ]
    sections = [
        Section("All data sets together" if many else "Results", totals),
        *_drawings(records, summary, spoilt),
        *([Section("Each data set", list(_each(summary)))] if many else []),
        Section("How this was measured", list(_measured(summary, spoilt))),
        *trouble(records),
    ]
    return Document("bblr compare", first.claim, list(filter(None, lead)), sections)


def write_report(records: Sequence[Record], path: str | os.PathLike[str]) -> Path:
    """Write the report as a page to ``path``, replacing what was there."""
    path = Path(path)
    path.write_text(document(records).html(), encoding="utf-8")
    return path


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _drawings(records: Sequence[Record], summary: Summary, spoilt: Condition) -> Iterator[Section]:
    clean, *noisy = summary.conditions
    dots = f"Open dots: {clean.label}. Filled dots: {noisy[0].label}. " if noisy else ""
    about = (
        f"{dots}Further left is better; a bar reaches one standard deviation of the folds’ error "
        "rates to either side."
    )
    yield Section("Test error", [about, Panels(error_panels(summary))])
    included = ", noise included" if spoilt.place == "training" else ""
    label = _capital(spoilt.label)
    about = (
        f"{label}. Open dots: zero-one loss on the part a method was trained on{included}. Filled "
        "dots: on the test part. A long line is a large gap between the two."
    )
    panels = train_test_panels(summary, spoilt)
    yield Section("Loss in training and in test", [about, Panels(panels)])
    pair = [name for name in ("LR", champion(summary)) if name and name in summary.methods]
    reliability = reliability_panels(records, summary, spoilt, pair)
    about = (
        f"{label}. Test rows in eight bins of equal size by predicted probability, against how "
        "often the class really occurred. On the dashed line a prediction of 70 % comes true 70 % "
        "of the time."
    )
    if reliability:
        yield Section("Can the probabilities be trusted?", [about, Panels(reliability)])


def _each(summary: Summary) -> Iterator[Block]:
    for name in summary.data:
        yield Heading(name)
        for condition in summary.conditions:
            group = summary.group(name, condition)
            yield f"{_capital(condition.label)}, {group.n_rows} rows"
            yield _grid(group, summary)


def _measured(summary: Summary, spoilt: Condition) -> Iterator[Block]:
    times = f"{summary.repeats} time{'s' * (summary.repeats != 1)}"
    yield (
        f"Each data set is cut into {summary.folds} stratified folds, {times} over with new ones. "
        "A method is fitted on all folds but one and tested on that one. Features are scaled, and "
        "hyper-parameters chosen, with the training part alone. All methods see the same folds "
        f"and the same noise. {_PLACES.get(spoilt.place or '', '')}"
    )
    yield Bullets(
        [
            ("Error %:", "test errors over test rows; ± is the standard deviation of the folds’."),
            ("Errors:", "of one full cross-validation of all data sets, averaged over repeats."),
            ("Log loss:", "mean of −log of the probability given to the true class of a test row; "
             "a dash where a method gives no probabilities."),
            ("Train 0-1:", "misclassified rows of the training part, noise included, averaged "
             "over folds; a score of exactly 0 counts as an error."),
            ("Seconds:", "median time of one fit with its tuning, on one core, while others run; "
             "summed over data sets where these stand together."),
            ("z (p):", "McNemar’s test on the test rows that only one of the two methods gets "
             "right, pooled over folds and, where they stand together, data sets. Counts are "
             "averaged over repeats, so a row counts once however many repeats there are; p is "
             "two-sided and not corrected for the number of tests."),
        ]
    )  # fmt: skip
    yield Heading("Methods")
    known = {name: METHODS.get(name) for name in summary.methods}
    yield Bullets(
        [
            (f"{summary.methods[name]}:", f"{m.estimator}. {m.description}" if m else name)
            for name, m in known.items()
        ]
    )
    yield Heading("Seed and versions")
    seeds = ", ".join(map(str, summary.seeds))
    made = [", ".join(f"{name} {v}" for name, v in one.items()) for one in summary.versions]
    yield f"Seed {seeds}. {'. '.join(made)}."


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


def print_summary(summary: Summary, console: Console) -> None:
    """Print a table for each data set and condition, the totals, and the findings."""
    totals = summary.totals if len(summary.data) > 1 else ()
    for group in (*summary.groups, *totals):
        name = f"All {len(summary.data)} data sets" if group.data is None else group.data
        title = f"{name}, {group.condition.label} ({group.n_rows:,} rows)"
        console.print(title, style="bold", highlight=False, markup=False)
        console.print(terminal_table(_frame(group, summary), bold=_best(group)), "")
    known = {label: METHODS[m].estimator for m, label in summary.methods.items() if m in METHODS}
    legend = ", ".join(f"{label} is {built}" for label, built in known.items() if built)
    if legend:
        console.print(legend, style="dim", highlight=False, markup=False)
    for finding in findings(summary):
        console.print(f"{finding.claim} {finding.evidence}".strip(), highlight=False, markup=False)


def _grid(group: SetGroup, summary: Summary) -> Grid:
    frame = _frame(group, summary)
    frame.columns = [name.replace("\n", " ") for name in frame.columns]
    bold = np.outer(_best(group), np.ones(frame.shape[1], dtype=bool))
    return Grid(frame, f"{group.data or 'all data sets'}, {group.condition.label}", bold)


def _best(group: SetGroup) -> list[bool]:
    """Say which rows have the lowest error rate, whoever holds it, of those that are whole."""
    rates = [row.rate if row.done == row.planned else np.inf for row in group.rows]
    return [rate == min(rates) < np.inf for rate in rates]


def _frame(group: SetGroup, summary: Summary) -> pd.DataFrame:
    """Lay a table out as texts, a line a method."""
    single = group.data is not None
    baselines = [name for name in BASELINES if name in summary.methods]
    rows = [
        {
            "Method": row.label + (f" ({row.done}/{row.planned})" * (row.done < row.planned)),
            "Error\n%": f"{row.rate:.2f}",
            "±" if single else "Errors": shown(row.spread if single else row.errors, "{:.1f}"),
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
