"""Claims by cross-validation on sets that are always available: errors, clean and noisy."""

from __future__ import annotations

from dataclasses import asdict
from math import sqrt
from typing import Any

import numpy as np
import pandas as pd

from bblr.comparison.cells import CLEAN, Cell, Condition
from bblr.comparison.compare import Comparison
from bblr.comparison.methods import BASELINES, select_methods
from bblr.comparison.records import Record
from bblr.comparison.sources import Table, load_table, make_table
from bblr.comparison.summary import Row, SetGroup, Summary, condition_of, summarise
from bblr.datasets import UCI_NAMES
from bblr.evaluation import mcnemar, pooled_mcnemar
from research.claims import claim
from research.core.cases import Measured, Run
from research.core.thresholds import Relation, Threshold
from research.paper.trainers import TRAINERS

SEEDS = (0, 1, 2, 3, 4)
SUBJECTS = ("BBLR3", "BBLR4")
METHODS = (*BASELINES, *SUBJECTS, "BBLR")
PROTOCOLS = ("uniform-one-class", "uniform-random")
BOTH = "both protocols"
NOISES = tuple(Condition(0.1, protocol, "training") for protocol in PROTOCOLS)
TRAINER = TRAINERS["BBLR2-train"]
_PAIRS = [(method, baseline) for method in SUBJECTS for baseline in BASELINES]
_LARGEST_SUM = f"largest sum of training errors, seeds {SEEDS[0]}-{SEEDS[-1]}"


@claim(
    "training-errors",
    "BBLRClassifier(prior='empirical', l2=1e-3) on Breast, Heart, Liver and Pima, z-scored: "
    "training errors, a score of 0 counted as one",
    Threshold(_LARGEST_SUM, "<=", 275),
)
def training_errors(run: Run) -> Measured:
    tables = [load_table(name) for name in UCI_NAMES]
    cells = [
        Cell.of(table, TRAINER, repeat=0, fold=0, folds=1, seed=seed)
        for seed in SEEDS
        for table in tables
    ]
    frame = run.frame(cells).pivot(index="seed", columns="data", values="train_errors")[
        [*UCI_NAMES]
    ]
    notes = [
        f"seed {seed}: {' + '.join(map(str, row))} = {row.sum()}" for seed, row in frame.iterrows()
    ]
    details = {"data": list(UCI_NAMES), "seeds": list(SEEDS), "errors": frame.to_numpy().tolist()}
    return Measured({_LARGEST_SUM: float(frame.sum(axis=1).max())}, notes, details)


def compare(
    run: Run,
    conditions: tuple[Condition, ...],
    names: tuple[str, ...] = METHODS,
    tables: tuple[Table, ...] | None = None,
) -> list[Record]:
    """Run the comparison behind a claim; fails where any of its cells did."""
    tables = tables or tuple(load_table(name) for name in UCI_NAMES)
    methods = select_methods(names)
    found = Comparison(tables, methods, conditions, repeats=run.repeats, seed=run.seed)
    return run.results(found.cells())


def _row(group: SetGroup, method: str) -> Row:
    row = group.row(method)
    if row is None:
        raise LookupError(f"{method} has no result")
    return row


def _pool(groups: list[SetGroup], method: str, baseline: str) -> tuple[float, float]:
    """Over several tables: errors in percent below those of a baseline, and McNemar's z."""
    rows = [_row(group, method) for group in groups]
    mine, theirs = sum(r.errors for r in rows), sum(_row(g, baseline).errors for g in groups)
    better, worse = (
        sum(getattr(r.versus[baseline], n) for r in rows) for n in ("better", "worse")
    )
    z = (better - worse) / sqrt(better + worse) if better + worse else 0.0
    return 100.0 * (1.0 - mine / theirs), z


def _lines(summary: Summary, condition: Condition) -> list[str]:
    """Describe one condition: error rates by set, errors in all, the difference to baselines."""
    total = summary.total(condition)
    head = "".join(f"{name:>8}" for name in summary.data)
    lines = [f"{condition.label}, error %:", f"{'':6}{head}{'errors':>9}   below LR, SVM"]
    for method in summary.methods:
        groups = [summary.group(name, condition) for name in summary.data]
        rates = "".join(f"{_row(group, method).rate:8.2f}" for group in groups)
        others = [] if method in BASELINES else BASELINES
        gains = ", ".join(f"{_pool([total], method, name)[0]:+.1f} %" for name in others)
        lines.append(f"{method:6}{rates}{_row(total, method).errors:9.1f}   {gains}".rstrip())
    return lines


def _details(run: Run, summary: Summary) -> dict[str, Any]:
    tables = [
        {"data": group.data, "condition": group.condition.label, **asdict(row)}
        for group in (*summary.groups, *summary.totals)
        for row in group.rows
    ]
    return {"seed": run.seed, "repeats": run.repeats, "folds": summary.folds, "tables": tables}


def _excess(method: str, data: str | None) -> str:
    return f"{method} on {data}, points above the better of LR and SVM"


def _below(method: str, baseline: str, where: str = "total") -> str:
    return f"{method}, {where}, errors % below {baseline}"


def _z(method: str, baseline: str, where: str) -> str:
    return f"{method}, {where}, McNemar z against {baseline}"


def _lower(protocol: str) -> str:
    return f"BBLR4, {protocol}, sets with lower log-loss than LR"


@claim(
    "uci-clean",
    "repeated 5-fold test errors on the four sets against tuned LR and SVM",
    *(Threshold(_excess(method, name), "<=", 0.3) for method in SUBJECTS for name in UCI_NAMES),
    *(Threshold(_below(*pair), ">", 0) for pair in _PAIRS),
)
def uci_clean(run: Run) -> Measured:
    summary = summarise(compare(run, (CLEAN,)))
    figures = {
        _excess(method, group.data): _row(group, method).rate
        - min(_row(group, baseline).rate for baseline in BASELINES)
        for method in SUBJECTS
        for group in summary.groups
    }
    figures |= {_below(*pair): _pool([summary.total(CLEAN)], *pair)[0] for pair in _PAIRS}
    return Measured(figures, _lines(summary, CLEAN), _details(run, summary))


@claim(
    "uci-noisy",
    "the same with 10 % uniform noise in the training folds, by both label protocols",
    *(Threshold(_below(*pair, w), ">=", 12) for w in (*PROTOCOLS, BOTH) for pair in _PAIRS),
    *(Threshold(_z(*pair, w), ">=", 3) for w in (*PROTOCOLS, BOTH) for pair in _PAIRS),
    *(Threshold(_lower(protocol), ">=", 3) for protocol in PROTOCOLS),
)
def uci_noisy(run: Run) -> Measured:
    records = compare(run, NOISES)
    summary = summarise(records)
    totals = {p: [summary.total(c)] for p, c in zip(PROTOCOLS, NOISES, strict=True)}
    totals[BOTH] = [summary.total(condition) for condition in NOISES]
    figures: dict[str, float] = {}
    for where, groups in totals.items():
        for pair in _PAIRS:
            figures[_below(*pair, where)], figures[_z(*pair, where)] = _pool(groups, *pair)
    notes: list[str] = []
    for condition, protocol in zip(NOISES, PROTOCOLS, strict=True):
        losses = [
            [_row(summary.group(name, condition), method).log_loss for method in ("BBLR4", "LR")]
            for name in summary.data
        ]
        pairs = list(zip(summary.data, losses, strict=True))
        figures[_lower(protocol)] = sum((own or 0.0) < (lr or 0.0) for own, lr in losses)
        shown = ", ".join(f"{name} {own:.3f} ({lr:.3f})" for name, (own, lr) in pairs)
        notes += [*_lines(summary, condition), f"log-loss of BBLR4 (LR): {shown}"]
    notes.append(f"{BOTH} together:")
    for method in (m for m in summary.methods if m not in BASELINES):
        for baseline in BASELINES:
            gain, z = _pool(totals[BOTH], method, baseline)
            notes.append(
                f"{method:6}{gain:+.1f} % below {baseline}, z {z:+.1f} (every repeat counted "
                f"separately, as in the paper: {_paper_z(records, method, baseline):+.1f})"
            )
    return Measured(figures, notes, _details(run, summary))


def _paper_z(records: list[Record], method: str, baseline: str) -> float:
    def by_fold(name: str) -> dict[Any, Record]:
        mine = (record for record in records if record["method"] == name)
        return {(r["data"], condition_of(r), r["repeat"], r["fold"]): r for r in mine}

    ours, theirs = by_fold(method), by_fold(baseline)
    return pooled_mcnemar(
        mcnemar(a["truth"], a["predictions"], theirs[fold]["predictions"])
        for fold, a in ours.items()
    ).z


MANY_SETS = ("iris", "wine", "digits")
MANY_NOISES = {
    "10 % flipped labels": Condition(0.1, "label-flip", "training"),
    "20 % flipped labels": Condition(0.2, "label-flip", "training"),
    "10 % outlier rows": Condition(0.1, "uniform-random", "training"),
}
_FIGURES: dict[str, tuple[Relation, float]] = {
    "clean: errors / LR's": ("<=", 1.0),
    "noisy: errors / LR's": ("<", 1.0),
    "noisy: pooled McNemar z": (">=", 1.96),
    "noisy: log-loss / LR's": ("<", 1.0),
    "noisy: calibration error / LR's": ("<", 1.0),
}


@claim(
    "many-classes",
    "BBLRClassifierCV on iris, wine and digits against tuned multinomial regression",
    *(Threshold(figure, *limit) for figure, limit in _FIGURES.items()),
)
def many_classes(run: Run) -> Measured:
    from sklearn import datasets

    tables = tuple(
        make_table(name, *getattr(datasets, f"load_{name}")(return_X_y=True)) for name in MANY_SETS
    )
    records = compare(run, (CLEAN, *MANY_NOISES.values()), ("LR", "BBLR"), tables)
    labels = {condition: name for name, condition in (("clean", CLEAN), *MANY_NOISES.items())}
    frame: Any = pd.DataFrame(records)
    frame["noise"] = [labels[condition_of(record)] for record in records]
    frame["wrong"] = [
        np.not_equal(truth, found)
        for truth, found in zip(frame["truth"], frame["predictions"], strict=True)
    ]
    notes = [f"{'':32} (each: LR, then BBLR)"]
    for (noise, name), some in frame.groupby(["noise", "data"], sort=False):
        notes.append(_many_line(f"{name}, {noise}", some, run.repeats))
    parts = {
        "clean": frame[frame["noise"] == "clean"],
        "noisy": frame[frame["noise"] != "clean"],
    }
    notes += [_many_line(f"all, {which}", some, run.repeats) for which, some in parts.items()]
    (clean, _), (noisy, z) = (_many(some, run.repeats) for some in parts.values())
    values = [
        clean["BBLR"]["errors"] / max(clean["LR"]["errors"], 1.0),
        noisy["BBLR"]["errors"] / max(noisy["LR"]["errors"], 1.0),
        z,
        noisy["BBLR"]["log_loss"] / noisy["LR"]["log_loss"],
        noisy["BBLR"]["calibration_error"] / noisy["LR"]["calibration_error"],
    ]
    keep = ["data", "noise", "method", "repeat", "fold", "errors", "log_loss", "calibration_error"]
    details = {"cells": frame[keep].to_dict("records")}
    return Measured(dict(zip(_FIGURES, values, strict=True)), notes, details)


def _many(some: Any, repeats: int) -> tuple[Any, float]:
    """Errors of a repeat, log-loss and calibration as means over data sets; and pooled z."""
    means = some.groupby(["method", "data"])[["log_loss", "calibration_error"]].mean()
    totals = means.groupby("method").mean()
    totals["errors"] = some.groupby("method")["errors"].sum() / repeats
    by_fold = some.pivot(
        index=["data", "noise", "repeat", "fold"], columns="method", values="wrong"
    )
    counts = [
        (int(np.sum(own & ~lr)), int(np.sum(~own & lr)))
        for own, lr in zip(by_fold["BBLR"], by_fold["LR"], strict=True)
    ]
    return totals.T, pooled_mcnemar(counts).z


def _many_line(label: str, some: Any, repeats: int) -> str:
    totals, z = _many(some, repeats)
    lr, own = totals["LR"], totals["BBLR"]
    return (
        f"{label:32} errors {lr['errors']:7.1f} {own['errors']:7.1f}  z {z:+5.1f}   "
        f"log-loss {lr['log_loss']:.3f} {own['log_loss']:.3f}   "
        f"calibration {lr['calibration_error']:.3f} {own['calibration_error']:.3f}"
    )
