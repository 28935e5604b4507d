"""A fit of a small table with two classes by compiled steps, with nothing in between.

Objectives, solvers and solutions of their own for every step take as long as the steps.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bblr.designs.small_tables import Rules, newton_descent
from bblr.solvers import Annealing, FisherScoring, Solution, Stage
from bblr.solvers.solution import REASONS
from bblr.training.compiled.settling import alone_scores
from bblr.training.laplace import LEAST_REST, MOST_ROWS, draw_rows
from bblr.training.marginal import COMPILED, Unknown, settle_few
from bblr.training.probabilities import Calibrated, fit_link
from bblr.training.start import Fitted, make_start, start_weight

Floats = NDArray[np.float64]


class SmallFit(NamedTuple):
    """A solution, the objective at its end with the settings found, and the link."""

    solution: Solution
    objective: Fitted
    link: Calibrated


def fit_small(
    objective: Fitted, annealing: Annealing, unknown: Unknown, shares: Floats, tol: float
) -> SmallFit | None:
    """Return what a robust start, `settle`, `anneal` and `calibrated` lead to.

    None where the table is not small, or where a class is not predicted on the way: what to do
    then is left to those.
    """
    design, descent = objective.design, annealing.descent
    if type(descent) is not FisherScoring or annealing.search is not None:
        return None
    small = objective.n_rows <= MOST_ROWS and objective.size <= COMPILED
    if not small or objective.newton_columns is None or not design.fit_intercept:
        return None
    drawn = draw_rows(objective)
    if drawn is None or len(drawn.y) < objective.n_rows:
        return None
    Zt, y, weight, d, total = (
        drawn.columns,
        drawn.y,
        drawn.weight,
        design.n_features,
        objective.total,
    )

    def descend(of: Fitted, own: Floats, theta: Floats, rules: Any, unit: float) -> Any:
        given = of.loss.fused, of.l2, d, theta, Rules(*rules), unit, total, len(y)
        return newton_descent(Zt, None, y, own, *given)

    theta, first = np.zeros(objective.size), start_weight(design, weight)
    if first is not None:
        unit = min(1.0, float(first.max()))
        theta = descend(objective, first, theta, make_start(objective, tol).rules, unit)[0]
    if unknown:
        found = settle_few(objective, theta, drawn, unknown, shares)
        objective, theta = found.objective, found.theta
        if not _predicts_both(objective, found.raw):
            return None
    trace, rules = list[Stage](), Rules(*descent.rules)
    for gamma in annealing.gammas:
        objective, last = objective.with_gamma(gamma), gamma == annealing.gammas[-1]
        loose = rules if last else rules._replace(tol=annealing.loose * rules.tol)
        theta, value, raw, n_iter, reason = descend(
            objective, weight, theta, loose, objective.unit
        )
        errors = objective.training_errors(theta, raw)
        trace.append(Stage(gamma, value, errors, n_iter, REASONS[reason]))
    alone, settled = alone_scores(
        Zt, raw, y, weight, drawn.unit, objective.loss.fused, objective.l2, d, total, LEAST_REST
    )
    if settled < 0.0 or not _predicts_both(objective, raw):
        return None
    end, n_iter = trace[-1], sum(stage.n_iter for stage in trace)
    solution = Solution(theta, value, end.errors, end.reason, n_iter, end.gamma, trace, raw)
    return SmallFit(solution, objective, fit_link(objective.loss.decision(alone), y, weight))


def _predicts_both(objective: Fitted, raw: Any) -> bool:
    """Whether some scores are on either side of the threshold."""
    return bool(raw.min() <= objective.loss.threshold < raw.max())
