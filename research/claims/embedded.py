"""Claims on the four embedded sets: training loss, and cross-validated errors with their noise."""

from __future__ import annotations

import tempfile
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from bblr.comparison.cells import CLEAN, Condition
from bblr.comparison.compare import Comparison
from bblr.comparison.methods import BASELINES, select_methods
from bblr.comparison.records import Record
from bblr.comparison.session import LiveProgress
from bblr.comparison.sources import EMBEDDED, Table, load_table
from bblr.comparison.summary import Group, Row, Summary, condition_of, summarise
from bblr.evaluation import mcnemar, pooled_mcnemar
from research.claims.base import Claim, ClaimRun
from research.core.targets import Bar, Measured

__all__ = ["EMBEDDED_CLAIMS", "NOISES"]

SEEDS = (0, 1, 2, 3, 4)
SUBJECTS = ("BBLR3", "BBLR4")
METHODS = (*BASELINES, *SUBJECTS, "BBLR")
PROTOCOLS = ("uniform-one-class", "uniform-random")
BOTH = "both protocols"
NOISES = tuple(Condition(0.1, protocol, "training") for protocol in PROTOCOLS)
_LARGEST_SUM = f"largest sum of training errors, seeds {SEEDS[0]}-{SEEDS[-1]}"


def training_errors(table: Table, seed: int) -> int:
    """Count the training errors of one fit on z-scored features; a score of 0 is one."""
    from sklearn.preprocessing import StandardScaler

    from bblr import BBLRClassifier

    X = StandardScaler().fit_transform(table.X)
    model = BBLRClassifier(prior="empirical", l2=1e-3, random_state=seed).fit(X, table.y)
    sign = np.where(table.y == 1, 1.0, -1.0)
    return int(np.sum(sign * model.decision_function(X) <= 0))


def _training(run: ClaimRun) -> Measured:
    tables = [load_table(name) for name in EMBEDDED]
    tasks = [(table, seed) for seed in SEEDS for table in tables]
    counts = Parallel(n_jobs=run.jobs)(delayed(training_errors)(*task) for task in tasks)
    by_seed = np.reshape(counts, (len(SEEDS), len(tables)))
    sums = by_seed.sum(axis=1).tolist()
    notes = [
        f"seed {seed}: {' + '.join(map(str, row))} = {total}"
        for seed, row, total in zip(SEEDS, by_seed.tolist(), sums, strict=True)
    ]
    details = {"data": list(EMBEDDED), "seeds": list(SEEDS), "errors": by_seed.tolist()}
    return Measured({_LARGEST_SUM: max(sums)}, notes, details)


def compare(
    run: ClaimRun, conditions: tuple[Condition, ...], names: tuple[str, ...] = METHODS
) -> list[Record]:
    """Run the comparison behind a claim; fails where any of its cells did."""
    tables = tuple(load_table(name) for name in EMBEDDED)
    methods = select_methods(names)
    comparison = Comparison(tables, methods, conditions, repeats=run.repeats, seed=run.seed)
    with tempfile.TemporaryDirectory() as folder, LiveProgress(run.console, run.jobs) as progress:
        records = comparison.run(
            run.records or Path(folder) / "claims.jsonl",
            jobs=run.jobs,
            on_start=progress.start,
            on_record=progress.advance,
        )
    failures = [record for record in records if "failure" in record]
    if failures:
        first = failures[0]
        raise RuntimeError(
            f"{len(failures)} of {len(records)} fits failed, the first of them "
            f"{first['label']} on {first['data']}: {first['failure']}"
        )
    return records


def _row(group: Group, method: str) -> Row:
    row = group.row(method)
    if row is None:
        raise LookupError(f"{method} has no result")
    return row


def below(row: Row, rival: Row) -> float:
    """Errors of a method as percent below those of a rival."""
    return 100.0 * (1.0 - row.errors / rival.errors)


def _lines(summary: Summary, condition: Condition) -> list[str]:
    """Describe one condition: error rates by set, errors in all, and the difference to rivals."""
    total = summary.total(condition)
    head = "".join(f"{name:>8}" for name in summary.data)
    lines = [f"{condition.label}, error %:", f"{'':6}{head}{'errors':>9}   below LR, SVM"]
    for method in summary.methods:
        rates = "".join(
            f"{_row(summary.group(name, condition), method).rate:8.2f}" for name in summary.data
        )
        row = _row(total, method)
        gains = [] if method in BASELINES else [below(row, _row(total, r)) for r in BASELINES]
        shown = ", ".join(f"{gain:+.1f} %" for gain in gains)
        lines.append(f"{method:6}{rates}{row.errors:9.1f}   {shown}".rstrip())
    return lines


def _details(run: ClaimRun, summary: Summary) -> dict[str, Any]:
    tables = [
        {
            "data": group.data,
            "condition": group.condition.label,
            "method": row.method,
            "errors": row.errors,
            "rate": row.rate,
            "log_loss": row.log_loss,
            "z": {rival: test.z for rival, test in row.versus.items()},
        }
        for group in (*summary.groups, *summary.totals)
        for row in group.rows
    ]
    return {"seed": run.seed, "repeats": run.repeats, "folds": summary.folds, "tables": tables}


def _excess(method: str, data: str) -> str:
    return f"{method} on {data}, points above the better of LR and SVM"


def _below(method: str, rival: str, where: str = "total") -> str:
    return f"{method}, {where}, errors % below {rival}"


def _clean(run: ClaimRun) -> Measured:
    summary = summarise(compare(run, (CLEAN,)))
    total = summary.total(CLEAN)
    figures = {}
    for method in SUBJECTS:
        for group in summary.groups:
            rivals = [_row(group, rival).rate for rival in BASELINES]
            figures[_excess(method, str(group.data))] = _row(group, method).rate - min(rivals)
        for rival in BASELINES:
            figures[_below(method, rival)] = below(_row(total, method), _row(total, rival))
    return Measured(figures, _lines(summary, CLEAN), _details(run, summary))


def _z(method: str, rival: str, where: str) -> str:
    return f"{method}, {where}, McNemar z against {rival}"


def _lower(protocol: str) -> str:
    return f"BBLR4, {protocol}, sets with lower log-loss than LR"


def _noisy(run: ClaimRun) -> Measured:
    records = compare(run, NOISES)
    summary = summarise(records)
    figures: dict[str, float] = {}
    notes: list[str] = []
    for condition, protocol in zip(NOISES, PROTOCOLS, strict=True):
        total = summary.total(condition)
        for method in SUBJECTS:
            for rival in BASELINES:
                row = _row(total, method)
                figures[_below(method, rival, protocol)] = below(row, _row(total, rival))
                figures[_z(method, rival, protocol)] = row.versus[rival].z
        losses = [
            (name, _log_loss(group, "BBLR4"), _log_loss(group, "LR"))
            for name, group in ((name, summary.group(name, condition)) for name in summary.data)
        ]
        figures[_lower(protocol)] = sum(mine < theirs for _, mine, theirs in losses)
        notes += _lines(summary, condition)
        shown = ", ".join(f"{name} {mine:.3f} ({theirs:.3f})" for name, mine, theirs in losses)
        notes.append(f"log-loss of BBLR4 (LR): {shown}")
    for method in SUBJECTS:
        for rival in BASELINES:
            gain, z = _pool(summary, method, rival)
            figures |= {_below(method, rival, BOTH): gain, _z(method, rival, BOTH): z}
    notes += _pooled_lines(records, summary)
    return Measured(figures, notes, _details(run, summary))


def _log_loss(group: Group, method: str) -> float:
    loss = _row(group, method).log_loss
    if loss is None:
        raise LookupError(f"{method} has no probabilities")
    return loss


def _pool(summary: Summary, method: str, rival: str) -> tuple[float, float]:
    """Over all conditions: errors in percent below those of a rival, and McNemar's z."""
    totals = [summary.total(condition) for condition in summary.conditions]
    rows = [_row(total, method) for total in totals]
    mine, theirs = sum(r.errors for r in rows), sum(_row(t, rival).errors for t in totals)
    better = sum(row.versus[rival].better for row in rows)
    worse = sum(row.versus[rival].worse for row in rows)
    z = (better - worse) / sqrt(better + worse) if better + worse else 0.0
    return 100.0 * (1.0 - mine / theirs), z


def _pooled_lines(records: list[Record], summary: Summary) -> list[str]:
    """Both protocols together, and the paper's z, which counts every repeat anew."""
    lines = [f"{BOTH} together:"]
    for method in summary.methods:
        for rival in BASELINES if method not in BASELINES else ():
            gain, z = _pool(summary, method, rival)
            every = _paper_z(records, method, rival)
            lines.append(
                f"{method:6}{gain:+.1f} % below {rival}, z {z:+.1f} (every repeat counted "
                f"anew, as in the paper: {every:+.1f})"
            )
    return lines


def _paper_z(records: list[Record], method: str, rival: str) -> float:
    def by_fold(name: str) -> dict[Any, Record]:
        mine = (record for record in records if record["method"] == name)
        return {(r["data"], condition_of(r), r["repeat"], r["fold"]): r for r in mine}

    ours, theirs = by_fold(method), by_fold(rival)
    return pooled_mcnemar(
        mcnemar(a["truth"], a["predictions"], theirs[fold]["predictions"])
        for fold, a in ours.items()
    ).z


_NOISY_BARS = tuple(
    bar
    for where in (*PROTOCOLS, BOTH)
    for method in SUBJECTS
    for rival in BASELINES
    for bar in (
        Bar(_below(method, rival, where), ">=", 12),
        Bar(_z(method, rival, where), ">=", 3),
    )
)

EMBEDDED_CLAIMS = (
    Claim(
        "training-errors",
        "BBLRClassifier(prior='empirical', l2=1e-3) on Breast, Heart, Liver and Pima, z-scored: "
        "training errors, a score of 0 counted as one",
        (Bar(_LARGEST_SUM, "<=", 275),),
        _training,
    ),
    Claim(
        "uci-clean",
        "repeated 5-fold test errors on the four sets against tuned LR and SVM",
        tuple(
            bar
            for method in SUBJECTS
            for bar in (
                *(Bar(_excess(method, name), "<=", 0.3) for name in EMBEDDED),
                *(Bar(_below(method, rival), ">", 0) for rival in BASELINES),
            )
        ),
        _clean,
    ),
    Claim(
        "uci-noisy",
        "the same with 10 % uniform noise in the training folds, by both label protocols",
        (*_NOISY_BARS, *(Bar(_lower(protocol), ">=", 3) for protocol in PROTOCOLS)),
        _noisy,
    ),
)
