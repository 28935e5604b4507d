"""Annealing over gamma (Algorithm 1): descend, search, sharpen, and keep the best."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import log
from typing import Any

import numpy as np

from bblr.solvers.fisher import FisherScoring
from bblr.solvers.gradient_descent import GradientDescent
from bblr.solvers.lbfgs import LBFGS
from bblr.solvers.protocols import Descent, Sharpened
from bblr.solvers.range_search import RangeSearch
from bblr.solvers.solution import Callback, Floats, Solution, Stage, require, stopped

_MOST_STAGES = 1000


@dataclass(frozen=True)
class Annealing:
    """A gamma schedule x a descent x a range search x best so far.

    Parameters
    ----------
    gammas : tuple of float
        Sharpness of each stage.
    descent : Descent
        Finds a local minimum of a stage.
    search : RangeSearch or None
        Tries to leave it; after a step the descent starts again.
    radius_decay, spacing_decay : float, default=0.5
        Factors on the radius and the grid of the search from stage to stage (r_R, r_epsilon).
    keep : {"last", "best"}, default="best"
        Return the parameters of the last stage, or those with the fewest training errors, the
        sharper ones among equals.
    loose : float, default=1
        Factor on the descent's tolerance in all stages but the last.
    max_rounds : int, default=50
        Most alternations of descent and search in a stage.
    pairs : tuple, default=()
        What the descent to the starting point remembers of its steps, for L-BFGS in the first
        stage.
    precondition : callable or None, default=None
        An inverse curvature that is known, for L-BFGS in the first stage.
    """

    gammas: tuple[float, ...]
    descent: Descent = field(default_factory=FisherScoring)
    search: RangeSearch | None = None
    radius_decay: float = 0.5
    spacing_decay: float = 0.5
    keep: str = "best"
    loose: float = 1.0
    max_rounds: int = 50
    pairs: tuple[Any, ...] = ()
    precondition: Callable[[Floats], Floats] | None = None

    def minimise(
        self, objective: Sharpened, theta0: Floats, *, callback: Callback | None = None, **_: Any
    ) -> Solution:
        """Run the stages from theta0, until the callback asks to stop."""
        require(objective, "annealing", "with_gamma", "scores", "training_errors")
        if self.keep not in ("last", "best"):
            raise ValueError(f"keep must be 'last' or 'best', got {self.keep!r}.")
        theta = np.array(theta0, dtype=np.float64)
        best: Solution | None = None
        trace: list[Stage] = []
        search, n_iter = self.search, 0
        for k, gamma in enumerate(self.gammas):
            stage = objective.with_gamma(gamma)
            last = k == len(self.gammas) - 1
            found = self._stage(stage, theta, search, k == 0, last)
            theta, n_iter = found.theta, n_iter + found.n_iter
            errors = stage.training_errors(theta, found.raw)
            trace.append(Stage(gamma, found.value, errors, found.n_iter, found.reason))
            if best is None or self.keep == "last" or errors <= best.errors:
                best = replace(found, errors=errors, gamma=gamma)
            if callback is not None and callback(trace[-1], best) is True and not last:
                trace[-1] = stopped(trace[-1])
                break
            if search is not None:
                search = replace(
                    search,
                    radius=search.radius * self.radius_decay,
                    spacing=search.spacing * self.spacing_decay,
                )
        if best is None:
            raise ValueError("gammas must name at least one stage, got none.")
        return replace(best, n_iter=n_iter, trace=trace, pairs=())

    def _stage(
        self, objective: Any, theta: Floats, search: RangeSearch | None, first: bool, last: bool
    ) -> Solution:
        descent = self.descent
        if not last and self.loose != 1.0 and isinstance(descent, LBFGS | FisherScoring):
            descent = replace(descent, tol=descent.tol * self.loose)
        n_iter = 0
        known: Any = {}
        if first and isinstance(descent, LBFGS):
            known = {"pairs": self.pairs, "precondition": self.precondition}
        for _ in range(self.max_rounds):
            found = descent.minimise(objective, theta, **known)
            n_iter += found.n_iter
            if search is None:
                break
            # With weights of 1e12 every step gains: limit a stage to the steps of a descent.
            if isinstance(descent, GradientDescent) and n_iter >= descent.max_iter:
                return replace(found, n_iter=n_iter, reason="iteration limit")
            moved = search.minimise(objective, found.theta)
            if moved.n_iter == 0:
                break
            theta = moved.theta
        else:
            return replace(moved, n_iter=n_iter, reason="round limit")
        return found if n_iter == found.n_iter else replace(found, n_iter=n_iter)


def geometric(gamma_min: float, gamma_max: float, growth: float) -> tuple[float, ...]:
    """Return gamma_min, growth * gamma_min, ... up to gamma_max, which always ends the schedule.

    Examples
    --------
    >>> from bblr.solvers import geometric
    >>> geometric(1, 10, 2)
    (1.0, 2.0, 4.0, 8.0, 10.0)
    """
    if not 0 < gamma_min <= gamma_max:
        raise ValueError(f"gamma_min must be positive and at most gamma_max, got {gamma_min}.")
    if not growth > 1:
        raise ValueError(f"growth must exceed 1, got {growth}.")
    stages = log(gamma_max / gamma_min) / log(growth)
    if stages > _MOST_STAGES:
        raise ValueError(
            f"gamma_growth must lead from gamma_min to gamma_max in at most {_MOST_STAGES:,} "
            f"stages, but {growth!r} takes {stages:,.0f}; choose a larger one."
        )
    gammas = [float(gamma_min)]
    while gammas[-1] * growth <= gamma_max * (1 + 1e-9):
        gammas.append(gammas[-1] * growth)
    if gammas[-1] < gamma_max * (1 - 1e-9):
        gammas.append(float(gamma_max))
    if len(gammas) > 1:
        gammas[-1] = float(gamma_max)
    return tuple(gammas)
