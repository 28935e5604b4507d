"""The targets of the panorama."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from research.panorama.conditions import CONDITIONS, NOISY
from research.panorama.methods import BASELINE, LINEAR, OURS
from research.panorama.results.pooled import mean_ranks, pooled_z, significant
from research.panorama.results.sets import Results
from research.panorama.results.targets import Figure, Relation, Target

__all__ = ["TARGETS"]

BOTH = ("two", "many")
LEAST_Z = {
    "BBLR": {"clean": 0.0, "flip20": 3.0, "outliers": 10.0},
    "BBLRCV": {"clean": 4.0, "flip20": 4.0, "outliers": 14.0},
}
MOST_WORSE = 1 / 20
AUC_SLACK = 0.003
AUC_SLACK_WORST = 0.02
WIDE_SLACK = 0.3
REVIEWS = ("books", "electronics", "dvd", "kitchen")
REVIEWS_SHARE = 0.9


def _targets() -> Iterator[Target]:
    for method in OURS:
        for group in BOTH:
            for condition, least in LEAST_Z[method].items():
                yield _z(method, group, condition, least)
            for condition in CONDITIONS:
                yield _worse(method, group, condition)
    yield from (_undisturbed(group, condition) for group in BOTH for condition in NOISY)
    yield from (_rank(condition) for condition in CONDITIONS)
    for condition in ("flip20", "flip40"):
        yield from (_against(method, "HGB", group, condition) for method in OURS for group in BOTH)
    for method in OURS:
        yield from (_log_loss(method, g, condition) for g in BOTH for condition in CONDITIONS)
    for method in OURS:
        yield from (_auc(method, condition) for condition in ("clean", *NOISY))
        yield _worst_auc(method)
    for method in OURS:
        yield from (_above_base_rate(method, condition) for condition in CONDITIONS)
        yield from (_constant(method, condition) for condition in CONDITIONS)
    for method in OURS:
        yield from (_wide(method, condition) for condition in ("clean", "flip20"))
        yield _reviews(method)


def _z(method: str, group: str, condition: str, least: float) -> Target:
    def measure(results: Results) -> Figure:
        return Figure(pooled_z(results.pairs(method, BASELINE, condition, group).values()))

    name = f"{method} against {BASELINE}, {group}, {condition}: pooled z"
    return Target(name, (method, BASELINE), condition, group, measure, ">=", least)


def _undisturbed(group: str, condition: str) -> Target:
    """How far the baseline is ahead of itself where it never sees the noise.

    A linear method that is merely immune to the noise ends near this z; more than that has to be
    won on clean rows.
    """

    def measure(results: Results) -> Figure:
        noisy = results.of(BASELINE, condition, group)
        clean = results.of(BASELINE, "clean", group)
        pairs = [(clean[name], noisy[name]) for name in noisy if name in clean]
        return Figure(pooled_z(pairs), f"{len(pairs)} sets")

    name = f"{BASELINE} fitted to clean rows against {BASELINE}, {group}, {condition}: pooled z"
    return Target(name, (BASELINE,), condition, group, measure)


def _worse(method: str, group: str, condition: str) -> Target:
    def measure(results: Results) -> Figure:
        pairs = results.pairs(method, BASELINE, condition, group)
        worse, _ = significant(pairs.values())
        note = f"{worse} of {len(pairs)}"
        return Figure(worse / len(pairs) if pairs else None, note)

    name = f"{method} against {BASELINE}, {group}, {condition}: share of sets worse"
    return Target(name, (method, BASELINE), condition, group, measure, "<=", MOST_WORSE, "{:.2f}")


def _rank(condition: str) -> Target:
    def measure(results: Results) -> Figure:
        ranks = mean_ranks(results, LINEAR, condition)
        if "BBLRCV" not in ranks or len(ranks) < 2:
            return Figure(None)
        best = min((own, method) for method, own in ranks.items() if method != "BBLRCV")
        return Figure(ranks["BBLRCV"] - best[0], f"{ranks['BBLRCV']:.2f}; {best[1]} {best[0]:.2f}")

    methods = ("BBLRCV", *(method for method in LINEAR if method != "BBLRCV"))
    name = f"BBLRCV, {condition}: mean rank less the best other linear method's"
    return Target(name, methods, condition, "all", measure, "<=", 0.0)


def _against(method: str, other: str, group: str, condition: str) -> Target:
    def measure(results: Results) -> Figure:
        pairs = results.pairs(method, other, condition, group)
        return Figure(pooled_z(pairs.values()), f"{len(pairs)} sets")

    name = f"{method} against {other}, {group}, {condition}: pooled z"
    return Target(name, (method, other), condition, group, measure)


def _log_loss(method: str, group: str, condition: str) -> Target:
    def measure(results: Results) -> Figure:
        pairs = results.pairs(method, BASELINE, condition, group).values()
        return _mean([first.log_loss - second.log_loss for first, second in pairs])

    name = f"{method}, {group}, {condition}: mean log-loss less {BASELINE}'s"
    return Target(name, (method, BASELINE), condition, group, measure, "<=", 0.0, "{:+.4f}")


def _auc(method: str, condition: str) -> Target:
    def measure(results: Results) -> Figure:
        return _mean([gap for _, gap in _auc_gaps(results, method, condition)])

    name = f"{method}, rare, {condition}: mean AUC less {BASELINE}'s"
    clean = condition == "clean"
    relation: Relation = ">=" if clean else ">"
    limit = -AUC_SLACK if clean else 0.0
    methods = (method, BASELINE)
    return Target(name, methods, condition, "rare", measure, relation, limit, "{:+.4f}")


def _worst_auc(method: str) -> Target:
    def measure(results: Results) -> Figure:
        gaps = [(gap, table) for table, gap in _auc_gaps(results, method, "clean")]
        return Figure(*min(gaps)) if gaps else Figure(None)

    name = f"{method}, rare, clean: AUC less {BASELINE}'s on the worst set"
    methods = (method, BASELINE)
    return Target(name, methods, "clean", "rare", measure, ">=", -AUC_SLACK_WORST, "{:+.4f}")


def _auc_gaps(results: Results, method: str, condition: str) -> list[tuple[str, float]]:
    pairs = results.pairs(method, BASELINE, condition, "rare")
    return [
        (table, first.auc - second.auc)
        for table, (first, second) in pairs.items()
        if first.auc is not None and second.auc is not None
    ]


def _above_base_rate(method: str, condition: str) -> Target:
    def measure(results: Results) -> Figure:
        own = results.of(method, condition)
        above = [table for table, one in own.items() if one.log_loss > one.base_log_loss]
        return Figure(float(len(above)) if own else None, ", ".join(above[:5]))

    name = f"{method}, {condition}: sets with a log-loss above the base rate's"
    relation: Relation | None = "<=" if condition == "clean" else None
    return Target(name, (method,), condition, "all", measure, relation, 0.0, "{:.0f}")


def _constant(method: str, condition: str) -> Target:
    def measure(results: Results) -> Figure:
        pairs = results.pairs(method, BASELINE, condition).values()
        mine = np.array([c for first, _ in pairs for c in first.constant], dtype=bool)
        theirs = np.array([c for _, second in pairs for c in second.constant], dtype=bool)
        note = f"{mine.sum()} and {BASELINE} {theirs.sum()} of {len(mine)} folds"
        return Figure(float(np.sum(mine & ~theirs)) if len(mine) else None, note)

    name = f"{method}, {condition}: folds with constant predictions where {BASELINE}'s are not"
    return Target(name, (method, BASELINE), condition, "all", measure, "<=", 0.0, "{:.0f}")


def _wide(method: str, condition: str) -> Target:
    def measure(results: Results) -> Figure:
        pairs = results.pairs(method, BASELINE, condition, "wide")
        gaps = [(first.rate - second.rate, table) for table, (first, second) in pairs.items()]
        return Figure(*max(gaps)) if gaps else Figure(None)

    name = f"{method}, wide, {condition}: error less {BASELINE}'s on the worst set, points"
    return Target(name, (method, BASELINE), condition, "wide", measure, "<=", WIDE_SLACK)


def _reviews(method: str) -> Target:
    def measure(results: Results) -> Figure:
        pairs = results.pairs(method, BASELINE, "flip20", "wide")
        kept = [pair for table, pair in pairs.items() if table in REVIEWS]
        theirs = sum(second.errors for _, second in kept)
        mine = sum(first.errors for first, _ in kept)
        return Figure(mine / theirs if theirs else None, f"{mine} and {theirs}")

    name = f"{method}, reviews, flip20: errors over {BASELINE}'s"
    methods = (method, BASELINE)
    return Target(name, methods, "flip20", "wide", measure, "<=", REVIEWS_SHARE, "{:.3f}")


def _mean(gaps: list[float]) -> Figure:
    return Figure(float(np.mean(gaps)) if gaps else None)


TARGETS = tuple(_targets())
