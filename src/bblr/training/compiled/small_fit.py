"""A small fit with two classes in one compiled call, where nothing on its way is out of the usual."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bblr.designs.small_tables import Rules
from bblr.solvers import Annealing, FisherScoring, Solution, Stage
from bblr.solvers.solution import REASONS
from bblr.training.laplace import MOST_ROWS, draw_rows
from bblr.training.marginal import COMPILED, Unknown, walk_two, with_penalty, with_plateaus
from bblr.training.probabilities import Calibrated, fit_link
from bblr.training.start import Fitted, make_start, start_weight

Floats = NDArray[np.float64]


class SmallFit(NamedTuple):
    """A solution, the last objective, with its settings found, and the link."""

    solution: Solution
    objective: Fitted
    link: Calibrated


def fit_small(
    objective: Fitted, annealing: Annealing, unknown: Unknown, shares: Floats, tol: float
) -> SmallFit | None:
    """Return what the way over `settle`, `anneal` and `calibrated` leads to, at a third of the time.

    None where the table is not small, or where a class is not predicted on the way: what to do
    then is left to those.
    """
    descent: Any = annealing.descent
    usual = type(descent) is FisherScoring and annealing.search is None
    if not (usual and objective.design.fit_intercept and objective.size <= COMPILED):
        return None
    if objective.n_rows > MOST_ROWS or objective.newton_columns is None:
        return None
    drawn = draw_rows(objective)
    if drawn is None or len(drawn.y) < objective.n_rows:
        return None
    first_weight = start_weight(objective.design, objective.weight)
    first, last = Rules(*make_start(objective, tol).rules), Rules(*descent.rules)
    if first_weight is None:
        first_weight, first = objective.weight, first._replace(max_iter=0)
    loose = last._replace(tol=annealing.loose * last.tol)
    found = walk_two(
        objective, drawn, first_weight, np.zeros(objective.size), annealing.gammas, first, loose,
        last, unknown, shares,
    )  # fmt: skip
    if not found.both or found.settled < 0.0:
        return None
    settled = objective
    if unknown:
        settled = with_plateaus(with_penalty(objective, found.l2), found.low)
    final = settled.with_gamma(annealing.gammas[-1])
    trace = [
        Stage(gamma, value, errors, int(n_iter), REASONS[int(reason)])
        for gamma, (value, n_iter, reason, errors) in zip(annealing.gammas, found.ends.tolist())
    ]
    last_stage = trace[-1]
    solution = Solution(
        found.theta, last_stage.value, last_stage.errors, last_stage.reason,
        sum(stage.n_iter for stage in trace), last_stage.gamma, trace, found.raw,
    )  # fmt: skip
    decision = final.loss.decision(found.alone)
    return SmallFit(solution, final, fit_link(decision, drawn.y, drawn.weight))
