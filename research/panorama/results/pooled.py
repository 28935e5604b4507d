"""Figures pooled over tables: how a method stands against the baseline and among all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from bblr.evaluation import mcnemar, pooled_mcnemar
from research.panorama.methods import BASELINE, METHODS
from research.panorama.results.sets import Results, SetResult

__all__ = ["Row", "mean_ranks", "pooled_row", "pooled_z", "significant"]

LEVEL = 0.01

Pair = tuple[SetResult, SetResult]


@dataclass(frozen=True)
class Row:
    """A line of a pooled table: a method in a group of tables under a condition.

    Parameters
    ----------
    method : str
        The method.
    sets : int
        Tables it has finished; the figures are about these.
    error_sum : float
        Sum of the error rates in percent.
    relative : float or None
        That sum over the baseline's on the same tables.
    z : float or None
        Pooled McNemar z; positive means fewer errors than the baseline.
    worse, better : int
        Tables with significantly more or fewer errors than the baseline.
    log_loss, auc, balanced_error, calibration_error, rank : float or None
        Means over the tables.
    fit_seconds : float
        Of all fits.
    """

    method: str
    sets: int
    error_sum: float
    relative: float | None
    z: float | None
    worse: int
    better: int
    log_loss: float
    auc: float | None
    balanced_error: float
    calibration_error: float
    rank: float | None
    fit_seconds: float


def pooled_z(pairs: Iterable[Pair]) -> float | None:
    """Return z = Σ(n10 − n01) / √Σ(n01 + n10); positive where the first errs less often."""
    counts = [_counts(first, second) for first, second in pairs]
    return pooled_mcnemar(counts).z if counts else None


def significant(pairs: Iterable[Pair]) -> tuple[int, int]:
    """Return on how many tables the first is worse, and better, by the exact test."""
    worse = better = 0
    for first, second in pairs:
        truth = np.zeros(len(first.wrong), dtype=bool)
        found = mcnemar(truth, first.wrong, second.wrong, exact=True)
        if found.p_value < LEVEL:
            worse += found.z < 0
            better += found.z > 0
    return int(worse), int(better)


def mean_ranks(
    results: Results, methods: Sequence[str], condition: str, group: str = "all"
) -> dict[str, float]:
    """Return the mean rank of the error rate among the methods that finished a table.

    The fewest errors are rank 1; equal rates share the mean of their ranks.
    """
    found = {method: results.of(method, condition, group) for method in methods}
    ranks: dict[str, list[float]] = {method: [] for method in methods}
    for table in results.tables(group):
        there = [method for method in methods if table in found[method]]
        rates = [found[method][table].rate for method in there]
        for method, rank in zip(there, rankdata(np.round(rates, 9)), strict=True):
            ranks[method].append(float(rank))
    return {method: float(np.mean(own)) for method, own in ranks.items() if own}


def pooled_row(results: Results, method: str, condition: str, group: str) -> Row | None:
    """Return the figures of a method; None where it has finished no table."""
    own = list(results.of(method, condition, group).values())
    if not own:
        return None
    pairs = list(results.pairs(method, BASELINE, condition, group).values())
    worse, better = significant(pairs)
    theirs = sum(second.rate for _, second in pairs)
    areas = [one.auc for one in own if one.auc is not None]
    return Row(
        method,
        len(own),
        sum(one.rate for one in own),
        sum(first.rate for first, _ in pairs) / theirs if theirs else None,
        pooled_z(pairs),
        worse,
        better,
        float(np.mean([one.log_loss for one in own])),
        float(np.mean(areas)) if areas else None,
        float(np.mean([one.balanced_error for one in own])),
        float(np.mean([one.calibration_error for one in own])),
        mean_ranks(results, list(METHODS), condition, group).get(method),
        sum(one.fit_seconds for one in own),
    )


def _counts(first: SetResult, second: SetResult) -> tuple[int, int]:
    """Return the rows that only the first, and only the second, gets wrong."""
    return (
        int(np.sum(first.wrong & ~second.wrong)),
        int(np.sum(~first.wrong & second.wrong)),
    )
