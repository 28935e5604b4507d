"""The targets of the panorama: figures of its results, and the thresholds they must keep."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from research.core.thresholds import Relation, Threshold, Verdict
from research.panorama.cells import CONDITIONS, NOISY
from research.panorama.methods import BASELINE, LINEAR, METHODS, OURS
from research.panorama.results import Results, paired, pooled_z, significant

__all__ = ["TARGETS", "Target"]

BOTH = ("two", "many")
LEAST_Z = {
    "BBLR": {"clean": 0.0, "flip20": 3.0, "outliers": 10.0},
    "BBLRCV": {"clean": 4.0, "flip20": 4.0, "outliers": 14.0},
}
MOST_WORSE = 1 / 20
AUC_SLACK, AUC_SLACK_WORST = 0.003, 0.02
WIDE_SLACK = 0.3
REVIEWS = ("books", "electronics", "dvd", "kitchen")
REVIEWS_SHARE = 0.9

# A value, None where it is not defined, and what else is worth saying.
Figure = tuple[float | None, str]


@dataclass(frozen=True)
class Target:
    """A figure of the results and its threshold.

    Parameters
    ----------
    name : str
        What is measured.
    methods : tuple of str
        The methods it takes, the one it is about first.
    condition, group : str
        Where it is measured.
    measure : callable
        Returns the figure, from the pairs of the first two methods, or the sets of the only one.
    relation, limit : str and float
        How the figure must stand to the limit; no relation: it is only reported.
    pattern : str
        How the figure is written.
    """

    name: str
    methods: tuple[str, ...]
    condition: str
    group: str
    measure: Callable[[pd.DataFrame], Figure] | Callable[[Results], Figure]
    relation: Relation | None = None
    limit: float = 0.0
    pattern: str = "{:+.2f}"
    of_results: bool = False

    def judge(self, results: Results) -> Verdict:
        """Measure and compare.

        A fit of our methods that failed misses its target whatever the others did; a baseline
        that failed on a table is left out there.
        """
        place = self.condition, self.group
        threshold = Threshold(self.name, self.relation, self.limit)
        if not results.is_run(self.methods, *place):
            return threshold.judge(None)
        value, note = self.measure(self._taken(results))  # type: ignore[arg-type]
        failed = results.n_failed([name for name in self.methods if METHODS[name].ours], *place)
        note = f"failed fits: {failed}" if failed else note
        return threshold.judge(value, note, pattern=self.pattern, failed=bool(failed))

    def _taken(self, results: Results) -> Results | pd.DataFrame:
        if self.of_results:
            return results
        if len(self.methods) == 1:
            return results.of(self.methods[0], self.condition, self.group)
        return results.pairs(self.methods[0], self.methods[1], self.condition, self.group)


def _targets() -> Iterator[Target]:
    for method in OURS:
        for group in BOTH:
            for condition, least in LEAST_Z[method].items():
                yield _z(method, BASELINE, group, condition, ">=", least)
            yield from (_worse(method, group, condition) for condition in CONDITIONS)
    yield from (_undisturbed(group, condition) for group in BOTH for condition in NOISY)
    yield from (_rank(condition) for condition in CONDITIONS)
    for condition in ("flip20", "flip40"):
        yield from (_z(method, "HGB", group, condition) for method in OURS for group in BOTH)
    for method in OURS:
        yield from (_log_loss(method, g, condition) for g in BOTH for condition in CONDITIONS)
    for method in OURS:
        yield from (_auc(method, condition) for condition in CONDITIONS)
        yield _worst_auc(method)
    for method in OURS:
        yield from (_above_base_rate(method, condition) for condition in CONDITIONS)
        yield from (_constant(method, condition) for condition in CONDITIONS)
    for method in OURS:
        yield from (_wide(method, condition) for condition in ("clean", "flip20"))
        yield _reviews(method)


def _z(
    method: str,
    other: str,
    group: str,
    condition: str,
    relation: Relation | None = None,
    least: float = 0.0,
) -> Target:
    def measure(pairs: pd.DataFrame) -> Figure:
        return pooled_z(pairs), "" if relation else f"{len(pairs)} sets"

    name = f"{method} against {other}, {group}, {condition}: pooled z"
    return Target(name, (method, other), condition, group, measure, relation, least)


def _undisturbed(group: str, condition: str) -> Target:
    """How far the baseline is ahead of itself where it never sees the noise.

    A linear method that is merely immune to the noise ends near this z; more than that has to be
    won on clean rows.
    """

    def measure(results: Results) -> Figure:
        clean, noisy = (results.of(BASELINE, where, group) for where in ("clean", condition))
        pairs = paired(clean, noisy)
        return pooled_z(pairs), f"{len(pairs)} sets"

    name = f"{BASELINE} fitted to clean rows against {BASELINE}, {group}, {condition}: pooled z"
    return Target(name, (BASELINE,), condition, group, measure, of_results=True)


def _worse(method: str, group: str, condition: str) -> Target:
    def measure(pairs: pd.DataFrame) -> Figure:
        worse, _ = significant(pairs)
        return worse / len(pairs) if len(pairs) else None, f"{worse} of {len(pairs)}"

    name = f"{method} against {BASELINE}, {group}, {condition}: share of sets worse"
    return Target(name, (method, BASELINE), condition, group, measure, "<=", MOST_WORSE, "{:.2f}")


def _rank(condition: str) -> Target:
    def measure(results: Results) -> Figure:
        ranks = results.ranks(LINEAR, condition)
        if "BBLRCV" not in ranks or len(ranks) < 2:
            return None, ""
        own, others = ranks["BBLRCV"], ranks.drop("BBLRCV")
        return own - others.min(), f"{own:.2f}; {others.idxmin()} {others.min():.2f}"

    methods = ("BBLRCV", *(method for method in LINEAR if method != "BBLRCV"))
    name = f"BBLRCV, {condition}: mean rank less the best other linear method's"
    return Target(name, methods, condition, "all", measure, "<=", 0.0, of_results=True)


def _log_loss(method: str, group: str, condition: str) -> Target:
    def measure(pairs: pd.DataFrame) -> Figure:
        return _mean(pairs["log_loss"] - pairs["log_loss_2"]), ""

    name = f"{method}, {group}, {condition}: mean log-loss less {BASELINE}'s"
    return Target(name, (method, BASELINE), condition, group, measure, "<=", 0.0, "{:+.4f}")


def _auc(method: str, condition: str) -> Target:
    def measure(pairs: pd.DataFrame) -> Figure:
        return _mean((pairs["auc"] - pairs["auc_2"]).dropna()), ""

    name = f"{method}, rare, {condition}: mean AUC less {BASELINE}'s"
    clean = condition == "clean"
    relation: Relation = ">=" if clean else ">"
    limit, methods = -AUC_SLACK if clean else 0.0, (method, BASELINE)
    return Target(name, methods, condition, "rare", measure, relation, limit, "{:+.4f}")


def _worst_auc(method: str) -> Target:
    def measure(pairs: pd.DataFrame) -> Figure:
        gaps = (pairs["auc"] - pairs["auc_2"]).dropna()
        return (float(gaps.min()), str(gaps.idxmin())) if len(gaps) else (None, "")

    name = f"{method}, rare, clean: AUC less {BASELINE}'s on the worst set"
    methods = (method, BASELINE)
    return Target(name, methods, "clean", "rare", measure, ">=", -AUC_SLACK_WORST, "{:+.4f}")


def _above_base_rate(method: str, condition: str) -> Target:
    def measure(own: pd.DataFrame) -> Figure:
        above = own.index[own["log_loss"] > own["base_log_loss"]]
        return float(len(above)) if len(own) else None, ", ".join(above[:5])

    name = f"{method}, {condition}: sets with a log-loss above the base rate's"
    relation: Relation | None = "<=" if condition == "clean" else None
    return Target(name, (method,), condition, "all", measure, relation, 0.0, "{:.0f}")


def _constant(method: str, condition: str) -> Target:
    def measure(pairs: pd.DataFrame) -> Figure:
        mine, theirs = (
            np.array([c for folds in pairs[name] for c in folds], dtype=bool)
            for name in ("constant", "constant_2")
        )
        note = f"{mine.sum()} and {BASELINE} {theirs.sum()} of {len(mine)} folds"
        return float(np.sum(mine & ~theirs)) if len(mine) else None, note

    name = f"{method}, {condition}: folds with constant predictions where {BASELINE}'s are not"
    return Target(name, (method, BASELINE), condition, "all", measure, "<=", 0.0, "{:.0f}")


def _wide(method: str, condition: str) -> Target:
    def measure(pairs: pd.DataFrame) -> Figure:
        gaps = pairs["rate"] - pairs["rate_2"]
        return (float(gaps.max()), str(gaps.idxmax())) if len(gaps) else (None, "")

    name = f"{method}, wide, {condition}: error less {BASELINE}'s on the worst set, points"
    return Target(name, (method, BASELINE), condition, "wide", measure, "<=", WIDE_SLACK)


def _reviews(method: str) -> Target:
    def measure(pairs: pd.DataFrame) -> Figure:
        mine, theirs = pairs.loc[pairs.index.isin(REVIEWS), ["errors", "errors_2"]].sum()
        return mine / theirs if theirs else None, f"{mine:.0f} and {theirs:.0f}"

    name = f"{method}, reviews, flip20: errors over {BASELINE}'s"
    methods = (method, BASELINE)
    return Target(name, methods, "flip20", "wide", measure, "<=", REVIEWS_SHARE, "{:.3f}")


def _mean(gaps: pd.Series) -> float | None:
    return float(gaps.mean()) if len(gaps) else None


TARGETS = tuple(_targets())
