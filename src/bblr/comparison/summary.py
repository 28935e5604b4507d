"""From records to the numbers of a table; nothing but the records is consulted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
import pandas as pd

from bblr.comparison.cells import Condition
from bblr.comparison.methods import BASELINES
from bblr.comparison.records import Record
from bblr.comparison.verdict.paired import Interval, intervals

__all__ = [
    "Finding",
    "Row",
    "SetGroup",
    "Summary",
    "Versus",
    "champion",
    "condition_of",
    "findings",
    "format_p",
    "summarise",
    "versus",
]  # fmt: skip


@dataclass(frozen=True)
class Versus:
    """McNemar's test of a method against a baseline.

    The counts are pooled over folds (and data sets) and averaged over repeats, so that each row
    of the data counts once however often the cross-validation is repeated.

    Parameters
    ----------
    baseline : str
        Name of the other method.
    better, worse : float
        Test rows that only the method, or only the baseline, classifies correctly.
    z : float
        Positive where the method makes fewer errors than the baseline.
    p : float
        Two-sided: the exact test, or with many rows the chi-squared approximation, on the
        counts rounded to whole rows.
    """

    baseline: str
    better: float
    worse: float
    z: float
    p: float


@dataclass(frozen=True)
class Row:
    """One method in one table.

    Parameters
    ----------
    method, label : str
        Its name and what to show.
    errors : float
        Test errors of one whole cross-validation, averaged over repeats.
    rate : float
        Test errors in percent of the test rows.
    interval : Interval
        The error rate, from 0 to 1, with its 95 % interval.
    log_loss : float or None
        Mean log-loss on the test rows; None for a method without probabilities.
    train_errors, train_rate : float
        Zero-one loss of a fit on its own training part, as a mean count and in percent.
    seconds : float
        Median time of a fit, tuning included; summed over data sets.
    versus : dict of str to Versus
        Tests against the baselines that were run.
    done, planned : int
        Folds with a result, and folds in all.
    """

    method: str
    label: str
    errors: float
    rate: float
    interval: Interval
    log_loss: float | None
    train_errors: float
    train_rate: float
    seconds: float
    versus: dict[str, Versus]
    done: int
    planned: int


@dataclass(frozen=True)
class SetGroup:
    """A table: all methods on one data set, or on all (``data`` is None), in one condition."""

    data: str | None
    condition: Condition
    n_rows: int
    rows: tuple[Row, ...]

    def row(self, method: str) -> Row | None:
        """Find the row of a method; None where it has no result."""
        return next((row for row in self.rows if row.method == method), None)


@dataclass(frozen=True)
class Summary:
    """All tables of a comparison, and what they rest on."""

    groups: tuple[SetGroup, ...]
    totals: tuple[SetGroup, ...]
    data: tuple[str, ...]
    conditions: tuple[Condition, ...]
    methods: dict[str, str]
    repeats: int
    folds: int
    seeds: tuple[int, ...]
    versions: tuple[dict[str, str], ...]
    failures: tuple[Record, ...]

    def group(self, data: str, condition: Condition) -> SetGroup:
        """Find the table of one data set in one condition."""
        return next(g for g in self.groups if (g.data, g.condition) == (data, condition))

    def total(self, condition: Condition) -> SetGroup:
        """Find the table of all data sets in one condition."""
        return next(group for group in self.totals if group.condition == condition)


def condition_of(record: Record) -> Condition:
    """Read the condition a record was made under."""
    return Condition(**record["condition"])


def summarise(records: Sequence[Record]) -> Summary:
    """Work out every table from the records of a comparison.

    Parameters
    ----------
    records : sequence of dict
        As :meth:`bblr.comparison.Comparison.run` returns them; failed cells included.
    """
    frame: Any = pd.DataFrame(records)
    frame["condition"] = [condition_of(record) for record in records]
    if "failure" not in frame:
        frame["failure"] = None
    data, conditions = _unique(frame["data"]), _unique(frame["condition"])
    parts = {c: frame[[c == other for other in frame["condition"]]] for c in conditions}
    return Summary(
        groups=tuple(
            _group(name, c, parts[c][parts[c]["data"] == name])
            for c in conditions
            for name in data
        ),
        totals=tuple(_group(None, c, part) for c, part in parts.items()),
        data=data,
        conditions=conditions,
        methods=dict(zip(frame["method"], frame["label"], strict=True)),
        repeats=frame["repeat"].nunique(),
        folds=int(frame["folds"].max()),
        seeds=_unique(frame["seed"]),
        versions=tuple(
            dict(items) for items in _unique(tuple(r["versions"].items()) for r in records)
        ),
        failures=tuple(record for record in records if "failure" in record),
    )


def _unique(values: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(dict.fromkeys(values))


# What two methods must share to be compared row by row.
_PLACE = ["data", "repeat", "fold"]


def _group(data: str | None, condition: Condition, frame: Any) -> SetGroup:
    done = frame[frame["failure"].isna()]
    finished = {name: mine for name, mine in done.groupby("method", sort=False)}
    planned = frame["method"].value_counts()
    rows = tuple(
        _row(mine, finished, planned=int(planned[name])) for name, mine in finished.items()
    )
    sizes = done.drop_duplicates(_PLACE)
    repeats = max(sizes["repeat"].nunique(), 1)
    n_rows = round(sizes["n_test"].sum() / repeats) if len(sizes) else 0
    return SetGroup(data, condition, n_rows, rows)


def _row(mine: Any, finished: dict[str, Any], *, planned: int) -> Row:
    by_data = mine.groupby("data")
    first = mine.iloc[0]
    weighted = mine["log_loss"].astype(float) * mine["n_test"]
    log_loss = weighted.sum(skipna=False) / mine["n_test"].sum()
    return Row(
        method=first["method"],
        label=first["label"],
        errors=float(mine["errors"].sum() / mine["repeat"].nunique()),
        rate=float(100 * mine["errors"].sum() / mine["n_test"].sum()),
        interval=_interval(mine),
        log_loss=None if np.isnan(log_loss) else float(log_loss),
        train_errors=float(by_data["train_errors"].mean().sum()),
        train_rate=float(100 * mine["train_errors"].sum() / mine["n_train"].sum()),
        seconds=float(by_data["seconds"].median().sum()),
        versus={
            baseline: _versus(mine, baseline, finished[baseline])
            for baseline in BASELINES
            if baseline != first["method"] and baseline in finished
        },
        done=len(mine),
        planned=planned,
    )


def _interval(mine: Any) -> Interval:
    """Return the interval of the error rate; a row counts once however many repeats there are."""
    names = ("rows", "truth", "predictions")
    rows, truth, guess = (np.concatenate(list(mine[name])) for name in names)
    data = mine["data"].repeat(mine["n_test"]).to_numpy()
    wrong = pd.DataFrame({"data": data, "row": rows, "wrong": truth != guess})
    values = wrong.groupby(["data", "row"])["wrong"].mean().to_numpy(dtype=float)
    return intervals(values[:, None], int(mine["folds"].max()), simultaneous=False)[0]


def _versus(mine: Any, baseline: str, theirs: Any) -> Versus:
    from bblr.evaluation import mcnemar

    pairs = mine.merge(theirs, on=_PLACE, suffixes=("", "_2"))
    columns = (pairs[name] for name in ("truth", "predictions", "predictions_2"))
    tests = [mcnemar(*one) for one in zip(*columns, strict=True)]
    return versus(
        baseline,
        sum(test.n10 for test in tests),
        sum(test.n01 for test in tests),
        pairs["repeat"].nunique() or 1,
    )


def versus(baseline: str, better: int, worse: int, repeats: int) -> Versus:
    """Test a method against a baseline by the rows that only one of them gets right.

    Parameters
    ----------
    baseline : str
        Name of the other method.
    better, worse : int
        Rows that only the method, and only the baseline, gets right, over all repeats.
    repeats : int
        By how many to divide, so that a row counts once.
    """
    from bblr.evaluation import pooled_mcnemar

    more, fewer = better / repeats, worse / repeats
    z = (more - fewer) / sqrt(more + fewer) if more + fewer else 0.0
    return Versus(baseline, more, fewer, z, pooled_mcnemar([(round(fewer), round(more))]).p_value)


# Fixed before any result is seen: choosing the best on test data would flatter it.
_PREFERENCE = ("BBLR", "BBLR4", "BBLR3", "BBLR2", "BBLR1", "BBLR0")


def champion(summary: Summary) -> str | None:
    """Choose the BBLR method to speak of: the first one present, of a fixed order."""
    return next((name for name in _PREFERENCE if name in summary.methods), None)


@dataclass(frozen=True)
class Finding:
    """What came out in one condition: a sentence, and the tests behind it."""

    claim: str
    evidence: str = ""


def findings(summary: Summary) -> list[Finding]:
    """State what came out in each condition, noisy conditions first."""
    ordered = sorted(summary.conditions, key=lambda condition: condition.noise == 0)
    return [_finding(summary, condition) for condition in ordered]


def _finding(summary: Summary, condition: Condition) -> Finding:
    group = summary.total(condition)
    opening = f"With {condition.label}" if condition.noise else "On clean data"
    if any(r.done < r.planned for r in group.rows) or len(group.rows) < len(summary.methods):
        return Finding(f"{opening}, some folds have no result, so no totals are compared.")
    name = champion(summary)
    row = group.row(name) if name else None
    baselines = [baseline for baseline in map(group.row, BASELINES) if baseline is not None]
    if row is None or not baselines:
        counts = ", ".join(f"{r.label} {_count(r.errors)}" for r in group.rows)
        return Finding(f"{opening}, test errors on {_rows(group, summary)}: {counts}.")
    comparisons = " and ".join(_comparison(row, baseline) for baseline in baselines)
    found = [(baseline.label, row.versus[baseline.method]) for baseline in baselines]
    tests = ", ".join(
        f"z = {test.z:+.1f} (p {format_p(test.p, True)}) against {label}" for label, test in found
    )
    return Finding(
        f"{opening}, {row.label} makes {_count(row.errors)} test errors on "
        f"{_rows(group, summary)}: {comparisons}.",
        f"McNemar’s test, pooled: {tests}.",
    )


def _rows(group: SetGroup, summary: Summary) -> str:
    sets = summary.data[0] if len(summary.data) == 1 else f"{len(summary.data)} data sets"
    return f"the {group.n_rows:,} rows of {sets}"


def _count(errors: float) -> str:
    """Return a number of errors; means over repeats have a decimal."""
    return f"{errors:,.0f}" if errors == round(errors) else f"{errors:,.1f}"


def _comparison(row: Row, baseline: Row) -> str:
    if baseline.errors == row.errors:
        return f"as many as {baseline.label}"
    theirs = f"{baseline.label} ({_count(baseline.errors)})"
    if not baseline.errors:
        return f"more than {theirs}"
    change = 100 * (row.errors / baseline.errors - 1)
    return f"{abs(change):.1f} % {'fewer' if change < 0 else 'more'} than {theirs}"


def format_p(p: float, sign: bool = False) -> str:
    """Write a p-value in three decimals, with its relation sign if asked."""
    if p < 0.001:
        return "< .001" if sign else "<.001"
    text = f"{p:.3f}".lstrip("0")
    return f"= {text}" if sign else text
