"""The report of the panorama: targets, pooled tables, and one line per table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from bblr.comparison.document import (
    DASH,
    Bullets,
    Document,
    Grid,
    Heading,
    Panels,
    Section,
    shown,
)
from bblr.comparison.figures import BBLR, LR, MUTED, PAGE, SLA, SVM, Panel, render
from bblr.comparison.report import trouble
from research.core.thresholds import Verdict, tally, verdict_frame
from research.panorama.methods import BASELINE, METHODS
from research.panorama.results import GROUPS, Results

__all__ = ["pooled_section", "report", "target_section"]

TITLES = {
    "all": "All tables",
    "two": "Two classes (two, rare and wide)",
    "many": "Many classes",
    "rare": "Rare class",
    "wide": "Wide",
}
LEGEND = (
    "Error: sum of the error rates over the tables. Relative: that sum over LR's on the same "
    "tables. z: pooled McNemar test against LR, positive for fewer errors. Worse, better: tables "
    "on which an exact test finds a difference from LR (p < 0.01). Rank: mean rank of the error "
    "among all methods. Seconds: all fits in one thread each."
)
# Headings and patterns of the pooled columns.
COLUMNS = {
    "sets": ("sets", "{:.0f}"),
    "error_sum": ("error, %", "{:.1f}"),
    "relative": ("relative", "{:.3f}"),
    "z": ("z", "{:+.1f}"),
    "worse": ("worse", "{:.0f}"),
    "better": ("better", "{:.0f}"),
    "log_loss": ("log-loss", "{:.4f}"),
    "auc": ("AUC", "{:.4f}"),
    "balanced_error": ("balanced", "{:.4f}"),
    "calibration_error": ("calibration", "{:.4f}"),
    "rank": ("rank", "{:.2f}"),
    "fit_seconds": ("seconds", "{:.1f}"),
}
_EACH = {"rate": ("Error, %", "{:.2f}"), "auc": ("AUC", "{:.4f}"),
         "log_loss": ("Log-loss", "{:.4f}")}  # fmt: skip
# Colour, marker and whether it is filled.
_LOOKS: dict[str, tuple[str, str, bool]] = {
    "BBLR": (BBLR, "o", False), "BBLRCV": (BBLR, "o", True), "SVM": (SVM, "s", False),
    "CL": (LR, "^", False), "HGB": (SLA, "D", False), "RF": (SLA, "v", False),
}  # fmt: skip


def report(results: Results, verdicts: Sequence[Verdict], notes: Sequence[str]) -> Document:
    """Return the whole report."""
    known = [(f"{name}:", METHODS[name].text) for name in METHODS if name in results.methods]
    charts = list(_charts(results))
    sections = [
        *([Section("Against logistic regression", [_LEFT, Panels(charts)])] if charts else []),
        target_section(verdicts),
        pooled_section(results),
        *_degenerate(results),
        *_each_table(results),
        *trouble(results.records),
        Section("Methods", [Bullets(known)]),
    ]
    return Document("bblr research", "The panorama", notes, sections)


def target_section(verdicts: Sequence[Verdict]) -> Section:
    """Return the targets, a line each."""
    return Section("Targets", [tally(verdicts), Grid(verdict_frame(verdicts), "Targets")])


def pooled_section(results: Results) -> Section:
    """Return the pooled tables of every group and condition."""
    blocks: list[Any] = [LEGEND]
    for group in GROUPS:
        names = results.tables(group)
        if names:
            blocks.append(Heading(f"{TITLES[group]}: {len(names)} table{'s' * (len(names) > 1)}"))
        for condition in results.conditions:
            found = results.pooled(condition, group)
            if len(found):
                texts = {
                    heading: [shown(value, pattern) for value in found[name]]
                    for name, (heading, pattern) in COLUMNS.items()
                }
                frame = pd.DataFrame({"method": found.index, **texts})
                blocks += [condition, Grid(frame, f"{TITLES[group]}, {condition}")]
    return Section("Pooled figures", blocks)


def _degenerate(results: Results) -> Iterator[Section]:
    """Count fits that say less than the base rate does."""
    sets = results.sets
    frame = pd.DataFrame(
        {
            "condition": sets["condition"],
            "method": sets["method"],
            "above base rate": sets["log_loss"] > sets["base_log_loss"],
            "sets": 1,
            "constant": sets["constant"].map(sum),
            "constant probabilities": sets["constant_probabilities"].map(sum),
            "folds": sets["constant"].map(len),
        }
    )
    counts = frame.groupby(["condition", "method"], sort=False).sum().reset_index()
    about = (
        "Sets with a log-loss above that of the training base rate, and folds in which all "
        "predictions, or all probabilities, are the same."
    )
    yield Section("Fits that say little", [about, Grid(counts, "Fits that say little")])


def _each_table(results: Results) -> Iterator[Section]:
    for column, (title, pattern) in _EACH.items():
        blocks: list[Any] = []
        for condition in results.conditions:
            found = results.of(None, condition).reset_index()
            wide = found.pivot(index="data", columns="method", values=column)
            if wide.empty:
                continue
            wide = wide.reindex(columns=results.methods).map(lambda v, p=pattern: shown(v, p))
            wide.insert(0, "kind", [results.kinds[name] for name in wide.index])
            frame = wide.reset_index(names="table")
            blocks += [condition, Grid(frame, f"{title}, {condition}")]
        yield Section(f"{title}, each table", blocks)


_LEFT = (
    "Left of the line is better: fewer errors, or a lower log-loss, than tuned logistic "
    "regression. A method that skipped a table has no log-loss here."
)


def _charts(results: Results) -> Iterator[Panel]:
    for group in ("two", "many"):
        pooled = {c: results.pooled(c, group) for c in results.conditions}
        if not results.tables(group):
            continue
        title = TITLES[group]
        yield _chart(f"{title}: errors over {BASELINE}'s", pooled, lambda f: f["relative"], 1.0)
        yield _chart(f"{title}: mean log-loss less {BASELINE}'s", pooled, _excess, 0.0)


def _excess(found: Any) -> Any:
    """Return the difference of log-loss, where both are about the same tables."""
    if BASELINE not in found.index:
        return pd.Series(dtype=float)
    same = found[found["sets"] == found.loc[BASELINE, "sets"]]
    return same["log_loss"] - found.loc[BASELINE, "log_loss"]


def _chart(
    title: str,
    pooled: dict[str, pd.DataFrame],
    figures: Callable[[Any], Any],
    reference: float,
) -> Panel:
    """Return a drawing: conditions downwards, one mark per method."""
    columns = {name: figures(found) for name, found in pooled.items() if len(found)}
    frame = pd.DataFrame(columns).reindex(list(_LOOKS)).astype(float).dropna(how="all")
    names = list(frame.columns)

    def draw(figure: Figure) -> None:
        axes: Any = figure.add_subplot()
        axes.axvline(reference, color=MUTED, lw=1.2, zorder=1)
        for method, values in frame.iterrows():
            colour, marker, filled = _LOOKS[str(method)]
            inside, height = colour if filled else PAGE, 3 if METHODS[str(method)].ours else 2
            axes.plot(
                values, range(len(names)), marker, ms=7, mec=colour, mfc=inside, mew=1.6,
                label=method, zorder=height,
            )  # fmt: skip
        axes.set_yticks(range(len(names)), names)
        axes.set_ylim(len(names) - 0.5, -0.5)
        if len(frame):
            axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=3)

    words = "; ".join(
        f"{method}: {', '.join(f'{c} {v:.3f}' for c, v in values.dropna().items())}"
        for method, values in frame.iterrows()
    )
    text = f"{title}. {words or DASH}."
    return Panel(title, render(draw, height=0.42 * len(names) + 1.2, text=text), text)
