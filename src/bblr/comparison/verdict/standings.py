"""How methods stand by a metric: intervals, differences from logistic regression, a decision."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bblr.comparison.cells import Condition
from bblr.comparison.records import Record
from bblr.comparison.verdict.metrics import METRICS, Metric, OutOfFold
from bblr.comparison.verdict.paired import Interval, intervals

__all__ = ["BASELINE", "MAJORITY", "Decision", "Line", "Standing", "decide", "judge"]

BASELINE, MAJORITY = "LR", "majority"
Floats = NDArray[np.float64]
# Metrics that are at most 1.
_SHARES = ("error", "balanced", "auc", "f1")


@dataclass(frozen=True)
class Decision:
    """What to do, as far as the rows can tell.

    Parameters
    ----------
    kind : {"use", "keep", "majority", "open"}
        Use ``method``, which is better than the baseline; keep the baseline; nothing is better
        than the most frequent class; or nothing can be said, as a baseline has no result.
    method : str or None
        The method to use.
    gains : dict of str to Interval
        How much better than the baseline each method is, below 0 where it is worse. All intervals
        hold together with 95 %.
    alike : tuple of str, default=()
        Methods that no difference from ``method`` was found of.
    """

    kind: str
    method: str | None = None
    gains: Mapping[str, Interval] = field(default_factory=dict)
    alike: tuple[str, ...] = ()


def decide(values: Mapping[str, Floats], folds: int) -> Decision:
    """Decide between methods by what they lose on each row.

    Parameters
    ----------
    values : dict of str to ndarray of shape (n_rows,)
        What each method loses on each row, averaged over repeats; less is better.
    folds : int
        Folds of the cross-validation.
    """
    if BASELINE not in values or len(values) < 2:
        return Decision("open")
    gains = _gains(values, BASELINE, folds)
    better = [name for name, gain in gains.items() if gain.low > 0]
    if MAJORITY in values:
        # Each by itself: what is used has to pass both tests.
        alone = _gains(values, MAJORITY, folds, simultaneous=False)
        above = {name for name, gain in alone.items() if gain.low > 0}
        if not above:
            return Decision("majority", MAJORITY, gains)
        better = [name for name in better if name in above]
    if not better:
        return Decision("keep", BASELINE, gains, _alike(values, BASELINE, gains))
    best = min(better, key=lambda name: float(values[name].mean()))
    lead = {name: gain.flipped() for name, gain in _gains(values, best, folds).items()}
    return Decision("use", best, gains, _alike(values, best, lead, sign=-1))


def _gains(
    values: Mapping[str, Floats], baseline: str, folds: int, *, simultaneous: bool = True
) -> dict[str, Interval]:
    names = [name for name in values if name != baseline]
    apart = np.column_stack([values[baseline] - values[name] for name in names])
    return dict(zip(names, intervals(apart, folds, simultaneous=simultaneous), strict=True))


def _alike(
    values: Mapping[str, Floats], best: str, gains: Mapping[str, Interval], sign: int = 1
) -> tuple[str, ...]:
    """Return the methods whose interval against ``best`` holds 0, the lowest loss first."""
    found = [name for name, gain in gains.items() if gain.low <= 0 <= gain.high]
    return tuple(sorted(found, key=lambda name: float(values[name].mean())))


@dataclass(frozen=True, eq=False)
class Line:
    """A method in a standing.

    Parameters
    ----------
    method, label : str
        Its name and what to show.
    value : Interval or None
        The metric with its 95 % interval; None where folds are missing or the method does not
        say enough.
    gain : Interval or None
        How much better than the baseline it is; all hold together with 95 %.
    metrics : dict of str to float
        All metrics that it has.
    seconds : float
        Median time of a fit, tuning included.
    done, planned : int
        Folds with a result, and folds in all.
    first : OutOfFold or None
        What it said of the rows in the first repeat; None where folds are missing.
    probabilities : ndarray or None
        Of the second class, or with more classes of the predicted one.
    """

    method: str
    label: str
    value: Interval | None
    gain: Interval | None
    metrics: Mapping[str, float]
    seconds: float
    done: int
    planned: int
    first: OutOfFold | None = None
    probabilities: Floats | None = None


@dataclass(frozen=True, eq=False)
class Standing:
    """The methods on one data set, or on all (``data`` is None), in one condition, best first."""

    data: str | None
    condition: Condition
    metric: Metric
    repeats: int
    folds: int
    n_rows: int
    lines: tuple[Line, ...]
    decision: Decision

    def line(self, method: str | None) -> Line | None:
        """Find a method; None where it did not take part."""
        return next((line for line in self.lines if line.method == method), None)


def judge(records: Sequence[Record], metric: Metric) -> list[Standing]:
    """Work out how methods stand, from the records of a comparison.

    Returns
    -------
    list of Standing
        A standing of each condition and data set; before them, where there are several data
        sets, one of each condition on all rows.
    """
    groups: dict[str, dict[str, list[Record]]] = {}
    for record in records:
        condition = repr(Condition(**record["condition"]))
        groups.setdefault(condition, {}).setdefault(record["data"], []).append(record)
    totals, found = [], []
    for by_data in groups.values():
        parts = {name: _methods(mine, metric) for name, mine in by_data.items()}
        found += [
            _standing(name, by_data[name], [methods], metric) for name, methods in parts.items()
        ]
        if len(parts) > 1:
            together = [record for mine in by_data.values() for record in mine]
            totals.append(_standing(None, together, list(parts.values()), metric))
    return totals + found


@dataclass(frozen=True, eq=False)
class _Found:
    """What a method came to on one data set: values of rows by metric, and its first repeat."""

    values: Mapping[str, Floats]
    first: OutOfFold
    probabilities: Floats | None


def _methods(records: Iterable[Record], metric: Metric) -> dict[str, _Found]:
    """Put together what each method said of every row; those with failed folds are left out."""
    by_method: dict[str, dict[int, list[Record]]] = {}
    for record in records:
        by_method.setdefault(record["method"], {}).setdefault(record["repeat"], []).append(record)
    return {
        name: _found(list(repeats.values()), metric)
        for name, repeats in by_method.items()
        if not any("failure" in record for folds in repeats.values() for record in folds)
    }


def _found(repeats: Sequence[Sequence[Record]], metric: Metric) -> _Found:
    outs = [_out_of_fold(folds) for folds in repeats]
    metrics = [metric, *(Metric(name) for name in METRICS if name not in (metric.name, "cost"))]
    values = {}
    for each in metrics:
        found = [one for one in map(each.values, outs) if one is not None]
        if len(found) == len(outs) and not np.isnan(found).any():
            values[each.name] = np.mean(found, axis=0)
    return _Found(
        values,
        outs[0],
        _in_order(repeats[0], "probabilities"),
    )


def _out_of_fold(folds: Sequence[Record]) -> OutOfFold:
    truth, predictions = (_in_order(folds, name, int) for name in ("truth", "predictions"))
    losses, auc = (_in_order(folds, name) for name in ("log_losses", "auc"))
    return OutOfFold(truth, predictions, losses, auc)


def _in_order(folds: Sequence[Record], name: str, kind: type = float) -> Any:
    """Join what the records of a repeat hold of their rows, in the order of the rows."""
    if any(record.get(name) is None for record in folds):
        return None
    rows = np.concatenate([record["rows"] for record in folds])
    return np.concatenate([record[name] for record in folds]).astype(kind)[np.argsort(rows)]


def _own_interval(values: Floats, folds: int, metric: Metric) -> Interval:
    """Return the interval of a metric, clipped to the values that the metric can take."""
    found = intervals(values[:, None], folds, simultaneous=False)[0]
    most = 1.0 if metric.name in _SHARES else np.inf
    return Interval(found.value, max(found.low, 0.0), float(min(found.high, most)))


def _standing(
    data: str | None, records: Sequence[Record], parts: Sequence[Mapping[str, _Found]], metric: Any
) -> Standing:
    """Put the rows of all data sets together."""
    names = list(dict.fromkeys(record["method"] for record in records))
    whole = [name for name in names if all(name in part for part in parts)]
    values = {
        name: {
            each: np.concatenate([part[name].values[each] for part in parts])
            for each in METRICS
            if all(each in part[name].values for part in parts)
        }
        for name in whole
    }
    sign = -1.0 if metric.higher else 1.0
    folds = int(records[0]["folds"])
    lost = {name: sign * mine[metric.name] for name, mine in values.items() if metric.name in mine}
    decision = decide(lost, folds)
    lines = []
    for name in names:
        mine = [record for record in records if record["method"] == name]
        done = [record for record in mine if "failure" not in record]
        own = values.get(name, {})
        value = own.get(metric.name)
        seconds = [record["seconds"] for record in done]
        single = parts[0].get(name) if data is not None else None
        lines.append(
            Line(
                name,
                mine[0]["label"],
                None if value is None else _own_interval(value, folds, metric),
                decision.gains.get(name),
                {each: float(v.mean()) for each, v in own.items()},
                float(np.median(seconds)) if seconds else float("nan"),
                len(done),
                len(mine),
                single.first if single else None,
                single.probabilities if single else None,
            )
        )
    lines.sort(key=lambda line: np.inf if line.value is None else sign * line.value.value)
    return Standing(
        data,
        Condition(**records[0]["condition"]),
        metric,
        len({record["repeat"] for record in records}),
        folds,
        max((len(mine) for mine in lost.values()), default=0),
        tuple(lines),
        decision,
    )
