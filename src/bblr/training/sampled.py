"""With many rows, all stages but the last run on a sample.

The early stages only lead to the last one, which runs on all rows; a sample is good enough for
them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bblr.solvers import LBFGS, Annealing, FisherScoring, Solution, Stage
from bblr.training.laplace import MAX_PARAMETERS
from bblr.training.marginal import Settled
from bblr.training.monitor import FitMonitor
from bblr.training.start import (
    LOOSE,
    Fitted,
    anneal,
    make_start,
    predicts_all,
    robust_fit,
    robust_start,
    settled_like,
)

Floats = NDArray[np.float64]

# Size of the sample: rows per parameter, and at least.
_ROWS_PER_PARAMETER = 64
_MIN_ROWS = 16_384
# A sample pays off if there are this many times as many rows.
_TIMES = 4
# Fewest examples of each class in the sample.
_MIN_PER_CLASS = 50
# Smallest effective sample size (Kish), as a share of its rows.
_MIN_EFFECTIVE = 0.1


Settle = Callable[[Fitted, Floats], Settled]
"""Estimates the unknown settings of an objective, given a starting point."""


def anneal_from_start(
    annealing: Annealing, objective: Fitted, tol: float, monitor: FitMonitor, settle: Settle
) -> tuple[Solution, Fitted]:
    """Anneal from a robust start, on a sample where there are many rows.

    Also returns the objective with its estimated settings.
    """
    few = sampled(objective) if _may_sample(annealing) else None
    if few is None:
        return _anneal_all(annealing, objective, tol, monitor, settle)
    start = robust_start(few, make_start(few, tol), np.zeros(few.size))
    here = settle(few, start)
    few, start = here.objective, here.theta
    settled = settled_like(objective, few)
    found = _anneal_sampled(annealing, settled, few, start, monitor)
    if monitor.stopped or predicts_all(settled.with_gamma(found.gamma), found):
        return found, settled
    with monitor.task("again on all rows", 2 * len(annealing.gammas)):
        return _anneal_all(annealing, objective, tol, monitor, settle)


def _may_sample(annealing: Annealing) -> bool:
    plain = annealing.keep == "last" and annealing.search is None
    return plain and isinstance(annealing.descent, LBFGS | FisherScoring)


def _anneal_all(
    annealing: Annealing, objective: Fitted, tol: float, monitor: FitMonitor, settle: Settle
) -> tuple[Solution, Fitted]:
    start = np.zeros(objective.size)
    found = robust_fit(objective, make_start(objective, tol), start)
    here = settle(objective, start if found is None else found.theta)
    settled = here.objective
    if found is not None and settled is objective and objective.design.size > MAX_PARAMETERS:
        # The same problem but for the weights of long rows: a third of the passes less. Not where
        # tables may be small, since descents on those remember nothing, and storage would count.
        annealing = replace(annealing, pairs=found.pairs)
    if here.about is not None:
        annealing = replace(annealing, precondition=here.about.precondition)
    return anneal(annealing, settled, here.theta, tol, monitor), settled


def sampled(objective: Fitted) -> Fitted | None:
    """Return the objective on a sample, scaled to all rows; None if sampling does not pay off."""
    few, n = max(_MIN_ROWS, _ROWS_PER_PARAMETER * objective.size), objective.n_rows
    if n < _TIMES * few or objective.design.design.is_quick:
        return None
    # Drawn at random, since rows may be ordered; with a fixed seed, so that fits repeat.
    chosen = np.sort(np.random.default_rng(0).choice(n, few, replace=False, shuffle=False))
    rows = objective.rows
    y, weight = rows.pick(objective.y, chosen), rows.pick(objective.weight, chosen)
    # If a few rows have most of the weight, a sample is not representative.
    own = rows.local(weight)
    if own.sum() ** 2 < _MIN_EFFECTIVE * few * (own @ own):
        return None
    seen = np.unique(rows.local(y)[rows.local(weight) > 0], return_counts=True)[1]
    if len(seen) < objective.loss.n_classes or seen.min() < _MIN_PER_CLASS:
        return None
    design = objective.design.taken(chosen)
    if design is None:
        return None
    share = rows.total(objective.weight) / rows.total(weight)
    counted = objective.counted
    if counted is not None:
        counted = rows.pick(counted, chosen) * share
    return replace(objective, design=design, y=y, weight=weight * share, counted=counted)


def _anneal_sampled(
    annealing: Annealing, objective: Fitted, few: Fitted, start: Floats, monitor: FitMonitor
) -> Solution:
    descent: Any = annealing.descent
    loose = replace(annealing, descent=replace(descent, tol=LOOSE * descent.tol), loose=1.0)
    tell = monitor.stage_callback(annealing.gammas)

    def on_sample(stage: Stage) -> Stage:
        return stage._replace(reason=f"{stage.reason}, on {few.n_rows:,} rows")

    def early(stage: Stage, best: Solution) -> Any:
        # The last gamma on the sample only leads to that on all rows and is not reported.
        return stage.gamma != annealing.gammas[-1] and tell(on_sample(stage), best)

    there = loose.minimise(few, start, callback=early)
    if monitor.stopped:
        return replace(there, trace=[on_sample(stage) for stage in there.trace])
    trace = [on_sample(stage) for stage in there.trace[:-1]]
    last = replace(annealing, gammas=annealing.gammas[-1:])
    found = last.minimise(objective, there.theta, callback=tell)
    n_iter = there.n_iter + found.n_iter
    return replace(found, n_iter=n_iter, trace=[*trace, *found.trace])
