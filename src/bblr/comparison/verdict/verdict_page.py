"""The report of a comparison: one HTML file that stands alone."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from bblr._atomic import whole_file
from bblr.comparison.document import (
    DASH,
    Block,
    Bullets,
    Code,
    Document,
    Grid,
    Heading,
    Panels,
    Section,
    shown,
)
from bblr.comparison.figures import curve_panels, gain_panel, value_panel
from bblr.comparison.methods import find_method
from bblr.comparison.records import Record
from bblr.comparison.report import marked, trouble
from bblr.comparison.sources import Table
from bblr.comparison.verdict.metrics import Metric
from bblr.comparison.verdict.standings import BASELINE, Line, Standing, judge
from bblr.comparison.verdict.wording import remarks, sentence, table
from bblr.linear.fit_digest import joint_effects

__all__ = ["Compared", "document", "write_report"]

MOST_CLASSES, MOST_FEATURES = 10, 20
_PLACES = {
    "training": "Noise is added to the training folds before scaling; the test fold stays clean.",
    "everywhere": "Noise is added to all data before splitting, test folds included.",
}


@dataclass(frozen=True, eq=False)
class Compared:
    """A comparison that was run: all that a report is made of.

    Parameters
    ----------
    records : sequence of dict
        Of all cells, failed ones included.
    metric : Metric
        What methods are compared by.
    tables : sequence of Table, default=()
        The data; what is not known of them is left out.
    final : dict or None, default=None
        The record of the chosen method's fit on all rows.
    """

    records: Sequence[Record]
    metric: Metric
    tables: Sequence[Table] = ()
    final: Record | None = None

    @cached_property
    def standings(self) -> list[Standing]:
        """How the methods stand; the first is the one to speak of."""
        return judge(self.records, self.metric)

    def table(self, name: str | None) -> Table | None:
        """Find a data set."""
        return next((each for each in self.tables if each.name == name), None)

    def classes(self, name: str | None) -> Sequence[str]:
        """Return the names of the classes of a data set."""
        known = self.table(name)
        if known is not None:
            return known.classes
        truths = [max(r["truth"]) for r in self.records if r["data"] == name and "truth" in r]
        return [str(code) for code in range(max([1, *truths]) + 1)]


def document(found: Compared) -> Document:
    """Turn a comparison into a report."""
    records, standings = found.records, found.standings
    first, *others = standings
    failed = sum("failure" in record for record in records)
    lead = [
        *remarks(first),
        *(sentence(each) for each in others if each.data == first.data),
        f"{_size(found, first)} · {first.repeats} × {first.folds}-fold cross-validation · "
        f"{len(records)} fits, each tuned on its own training folds only.",
    ]
    if any(record.get("tuned") for record in records):
        lead.append(_TUNED)
    if failed:
        lead.append(f"{failed} of {len(records)} fits failed; they are listed below.")
    singles = [each for each in standings if each.data is not None]
    sections = [
        Section("Methods compared", list(_compared(standings))),
        *_curves(found, singles),
        *([] if len(singles) > 1 and first.data is None else _by_class(found, first)),
        *_chosen(found, first),
        *_data(found),
        Section("How this was measured", list(_measured(first, records))),
        *trouble(records),
    ]
    return Document("bblr compare", sentence(first), list(filter(None, lead)), sections)


_TUNED = (
    "Two-class methods decide by a threshold that was chosen for this metric by three-fold "
    "cross-validation inside each training part."
)

# What the settings of methods are chosen by, as one says it.
_SCORINGS = {
    "accuracy": "accuracy", "balanced_accuracy": "balanced accuracy", "roc_auc": "AUC",
    "neg_log_loss": "log-loss",
}  # fmt: skip


def write_report(found: Compared, path: str | os.PathLike[str]) -> Path:
    """Write the report as a page to ``path``, replacing what was there."""
    path = Path(path)
    with whole_file(path) as file:
        file.write(document(found).html().encode())
    return path


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _size(found: Compared, standing: Standing) -> str:
    names = dict.fromkeys(record["data"] for record in found.records)
    known = found.table(standing.data)
    features = f", {known.X.shape[1]:,} features" if known else ""
    return f"{', '.join(names)} · {standing.n_rows:,} rows{features}"


def _compared(standings: Sequence[Standing]) -> Iterator[Block]:
    for standing in standings:
        name = standing.data or "All data sets"
        label = "" if len(standings) == 1 else f"{name}, {standing.condition.label}"
        if label:
            yield Heading(label)
            yield sentence(standing)
        drawn = [value_panel(standing, _capital(standing.metric.title))]
        if standing.decision.gains:
            drawn.append(gain_panel(standing, "Difference from the baseline"))
        yield Panels(drawn)
        frame = table(standing)
        frame.columns = [name.replace("\n", " ") for name in frame.columns]
        bold = np.outer(marked(standing), np.ones(frame.shape[1], dtype=bool))
        yield Grid(frame, label or name, bold)


def _curves(found: Compared, standings: Sequence[Standing]) -> Iterator[Section]:
    clean = [each for each in standings if each.condition == standings[0].condition]
    drawn = []
    for standing in clean:
        panels = curve_panels(standing, found.classes(standing.data))
        drawn += (
            panels
            if len(clean) == 1
            else [replace(panel, title=str(standing.data)) for panel in panels[-1:]]
        )
    about = (
        "From held-out predictions. Calibrated probabilities lie on the dashed diagonal: of the "
        "rows given 70 %, 70 % belong to the class. Bars are 95 % intervals of each bin."
    )
    if drawn:
        yield Section("Can the probabilities be trusted?", [about, Panels(drawn)])


def _by_class(found: Compared, standing: Standing) -> Iterator[Section]:
    classes = found.classes(standing.data)
    names = dict.fromkeys([standing.decision.method or BASELINE, BASELINE])
    blocks: list[Block] = []
    for line in filter(None, map(standing.line, names)):
        if line.first is not None:
            grid = Grid(_confusion(line, classes), f"{line.label}, classes")
            blocks += [Heading(line.label), grid]
    about = "Rows by true class (down) and held-out prediction (across)."
    if blocks:
        yield Section("Confusion matrices", [about, *blocks])


def _confusion(line: Line, classes: Sequence[str]) -> pd.DataFrame:
    """Count predictions by class; of many classes, only how many of each were found."""
    assert line.first is not None
    truth, guess = line.first.truth, line.first.predictions
    counts = np.zeros((len(classes), len(classes)), dtype=int)
    np.add.at(counts, (truth, guess), 1)
    frame = pd.DataFrame({"Class": classes})
    if len(classes) <= MOST_CLASSES:
        for place, name in enumerate(classes):
            frame[f"→ {name}"] = [f"{count:,}" for count in counts[:, place]]
    right, rows, said = np.diag(counts), counts.sum(axis=1), counts.sum(axis=0)
    for title, whole in (("Recall", rows), ("Precision", said)):
        frame[title] = [_share(*pair) for pair in zip(right, whole, strict=True)]
    return frame


def _share(part: int, whole: int) -> str:
    return shown(100 * part / whole if whole else None, "{:.1f} %")


def _chosen(found: Compared, standing: Standing) -> Iterator[Section]:
    final = found.final
    if final is None or "failure" in final:
        return
    known = find_method(final["method"])
    blocks: list[Block] = [known.description if known else final["label"]]
    if final.get("code"):
        settings = ", with the settings that tuning chose" if known is None or known.tunes else ""
        blocks += [
            f"This code refits it on all rows{settings}:",
            Code(final["code"]),
        ]
    blocks += _coefficients(found, final)
    yield Section(f"The model: {final['label']}", blocks)


def _coefficients(found: Compared, final: Record) -> Iterator[Block]:
    if "scaled" not in final:
        return
    scaled, per_unit = (np.asarray(final[name]) for name in ("scaled", "per_unit"))
    known = found.table(final["data"])
    numbered = tuple(f"x{place + 1}" for place in range(scaled.shape[1]))
    names = list((known.features if known else ()) or numbered)
    texts = known.texts if known and final["spread"] else {}
    scaled = joint_effects(scaled, {start: count for start, (_, count) in texts.items()})
    visible = np.ones(len(names), dtype=bool)
    for start, (name, count) in texts.items():
        names[start], visible[start + 1 : start + count] = f"{name} (text)", False
    order = np.argsort(np.where(visible, -np.abs(scaled).max(axis=0), 1.0), kind="stable")
    order = order[: min(MOST_FEATURES, visible.sum())]
    classes = found.classes(final["data"])
    frame = pd.DataFrame({"Feature": [names[place] for place in order]})
    scale = "standard deviation" if final["spread"] else "largest value"
    if len(scaled) == 1:
        frame[f"One {scale}"] = [_effect(scaled[0, j], j in texts) for j in order.tolist()]
        units = [f"{value:+.3g}" for value in per_unit[0, order]]
        frame["One unit"] = np.where(np.isin(order, list(texts)), DASH, units)
        about = f"A positive coefficient favours {classes[-1]}. "
    else:
        for place, values in list(enumerate(scaled))[:MOST_CLASSES]:
            frame[classes[place]] = [_effect(values[j], j in texts) for j in order.tolist()]
        about = f"Coefficients of each class, for one {scale} of a feature. "
    more = f"The {MOST_FEATURES} largest of {visible.sum():,}. "
    together = "A text has one joint effect, without a sign. " if texts else ""
    yield Heading("Coefficients")
    yield (
        f"{about}{more if visible.sum() > MOST_FEATURES else ''}{together}They are changes in the "
        "score, which for logistic regression is the log-odds."
    )
    yield Grid(frame, "Coefficients")


def _effect(value: float, text: bool) -> str:
    return f"{value:.3f}" if text else f"{value:+.3f}"


def _data(found: Compared) -> Iterator[Section]:
    blocks: list[Block] = []
    for each in found.tables:
        if len(found.tables) > 1:
            blocks.append(Heading(each.name))
        counts = np.bincount(each.y)
        shares = [
            f"{name} {count:,} ({100 * count / len(each.y):.1f} %)"
            for name, count in zip(each.classes, counts, strict=True)
        ]
        more = f" and {len(shares) - 12} more" if len(shares) > 12 else ""
        facts = [
            ("Rows:", f"{len(each.y):,}"),
            *([("Columns used:", f"{each.columns:,}")] if each.columns else []),
            *([("Columns left out:", ", ".join(each.left_out))] if each.left_out else []),
            ("Features, after encoding:", f"{each.X.shape[1]:,}" + ", sparse" * each.sparse),
            (f"{len(shares)} classes:", ", ".join(shares[:12]) + more),
        ]
        blocks.append(Bullets([*facts, *(("Note:", note) for note in each.notes)]))
    if blocks:
        yield Section("Data", blocks)


def _measured(standing: Standing, records: Sequence[Record]) -> Iterator[Block]:
    spoilt = max((record["condition"] for record in records), key=lambda c: c["noise"])
    scorings = [record.get("scoring", "accuracy") for record in records]
    chosen = _SCORINGS[next((each for each in scorings if each != "accuracy"), "accuracy")]
    again = f", {standing.repeats} times with new ones" * (standing.repeats > 1)
    yield (
        f"The rows are divided into {standing.folds} stratified folds{again}. "
        "A method is fitted on all folds but one and tested on that one. Features are scaled on "
        f"the training folds only; settings that need tuning are chosen by {chosen} there, by "
        "cross-validation. All methods see the same folds"
        f"{' and the same noise' if spoilt['noise'] else ''}. {_PLACES.get(spoilt['place'], '')}"
    )
    yield Bullets(
        [
            ("95 % intervals", "are for the mean over rows, with the correction of Nadeau and "
             "Bengio for overlapping training folds."),
            ("Differences", "are paired row by row; their intervals hold simultaneously at 95 %, "
             "so the best of several methods may be picked. A method is recommended only if its "
             "whole interval lies on the better side."),
            ("Error:", "wrong predictions over rows, in percent."),
            ("Balanced:", "accuracy where every class counts the same, in percent."),
            ("AUC:", "area under the ROC curve, averaged over folds; with more than two classes, "
             "the one-vs-rest average."),
            ("Log-loss:", "mean −log probability of the true class; a dash where a method gives "
             "none."),
            ("F1:", "of the rarer of two classes; with more, averaged over classes."),
            ("Seconds:", "median time of a fit, tuning included, on one core."),
        ]
    )  # fmt: skip
    yield Heading("Methods")
    labels = {record["method"]: record["label"] for record in records}
    known = {name: find_method(name) for name in labels}
    yield Bullets(
        [
            (f"{labels[name]}:", f"{m.estimator}. {m.description}" if m else name)
            for name, m in known.items()
        ]
    )
    yield Heading("Seed and versions")
    seeds = ", ".join(dict.fromkeys(str(record["seed"]) for record in records))
    made = dict.fromkeys(
        ", ".join(f"{name} {v}" for name, v in record["versions"].items()) for record in records
    )
    yield f"Seed {seeds}. {'. '.join(made)}."
