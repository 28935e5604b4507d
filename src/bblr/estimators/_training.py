"""How the linear estimators train: priors by name, solvers by name, where to start."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bblr.estimators.link import Link, asymptotic_prior
from bblr.losses import BetaBernoulli, BetaPrior
from bblr.objective import Objective
from bblr.solvers import (
    LBFGS,
    Annealing,
    FisherScoring,
    GradientDescent,
    RangeSearch,
    Solution,
)

Floats = NDArray[np.float64]

PRIORS = ("robust", "mild", "weak", "empirical", "learned")
SOLVERS = ("auto", "fisher", "lbfgs", "sla", "search")

# Plateaus, penalty and schedule chosen by the experiment in docs/defaults.md.
ROBUST = BetaPrior(0.2, 0.6)
MILD = BetaPrior(0.05, 0.9)
DEFAULT_L2 = 3.0

# Up to this many parameters a Newton step is cheap beside a pass over the data.
_MAX_NEWTON = 1500
# Stages before the last only prepare it: their tolerance is this many times larger.
LOOSE = 10.0
_LEARNING_ROUNDS = 5


def resolve_prior(prior: Any, y: Floats, weight: Floats) -> BetaPrior:
    """Return the Beta prior that a ``prior`` parameter stands for."""
    if isinstance(prior, BetaPrior):
        if not prior.straddles_half:
            raise ValueError(
                f"prior must let either class be the more probable one, but its plateaus are "
                f"{prior.a:g} and {prior.a + prior.b:g}: choose a < 1/2 < a + b, or express "
                "unequal costs by class_weight."
            )
        return prior
    if not isinstance(prior, str) or prior not in PRIORS:
        choices = ", ".join(map(repr, PRIORS))
        raise ValueError(f"prior must be one of {choices} or a BetaPrior; got {prior!r}.")
    if prior == "weak":
        return BetaPrior.weak()
    if prior == "empirical":
        return BetaPrior.empirical(y, weight)
    return MILD if prior == "mild" else ROBUST


def check_prior_name(prior: Any) -> None:
    """Raise a ValueError unless a name is one that a classifier which tunes itself knows."""
    if isinstance(prior, str) and prior not in ("tuned", *PRIORS):
        choices = ", ".join(map(repr, ("tuned", *PRIORS)))
        raise ValueError(f"prior must be one of {choices} or a BetaPrior; got {prior!r}.")


def make_descent(solver: str, size: int, tol: float, max_iter: int) -> FisherScoring | LBFGS:
    """Return the descent of a stage: Newton steps where they are cheap beside a pass."""
    if solver == "lbfgs" or (solver != "fisher" and size > _MAX_NEWTON):
        return LBFGS(tol=tol, max_iter=5 * max_iter)
    return FisherScoring(tol=tol, max_iter=max_iter)


def make_start(size: int, tol: float) -> FisherScoring | LBFGS:
    """Return the descent of the first step, which need not be exact."""
    return make_descent("auto", size, LOOSE * tol, 20)


def robust_start(objective: Objective[BetaBernoulli], descent: Any, theta: Floats) -> Floats:
    """Return where to start: the fit in which no row pulls harder than the median row.

    The objective is not convex. From zero, a cluster of far-off rows can win the first steps, and
    the plateaus then keep the fit where it is.
    """
    bounded = objective.bounded(1.0)
    if np.all(bounded.weight >= (1.0 - 1e-6) * objective.weight):
        return theta  # all rows are equally long, as under most kernels
    return np.asarray(descent.minimise(bounded, theta).theta)


def make_solver(
    solver: Any, gammas: tuple[float, ...], size: int, tol: float, max_iter: int
) -> Annealing:
    """Return the annealing schedule with the descent and the search a ``solver`` names."""
    if not isinstance(solver, str):
        return Annealing(gammas, descent=solver, keep="last")
    if solver == "sla":
        return Annealing(
            gammas, descent=GradientDescent(), search=RangeSearch(first=True), keep="best"
        )
    descent = make_descent(solver, size, tol, max_iter)
    if solver == "search":
        return Annealing(gammas, descent=descent, search=RangeSearch(), keep="best")
    return Annealing(gammas, descent=descent, keep="last", loose=LOOSE)


def learn_plateaus(
    objective: Objective[BetaBernoulli],
    solution: Solution,
    solve: Callable[[Objective[BetaBernoulli], Floats], Solution],
) -> tuple[Solution, Objective[BetaBernoulli]]:
    """Alternate between plateaus with gamma, and weights, both by maximum likelihood."""
    y, weight = objective.y, objective.weight
    theta, trace, n_iter = solution.theta, list(solution.trace), solution.n_iter
    raw = objective.scores(theta)
    prior = asymptotic_prior(raw, objective.loss.threshold, y, weight)
    objective = objective.with_loss(BetaBernoulli.from_prior(prior, objective.loss.gamma))
    for _ in range(_LEARNING_ROUNDS):
        step = solve(objective, theta)
        theta = step.theta
        trace += step.trace
        n_iter += step.n_iter
        raw = objective.scores(theta)
        link = Link.fit(raw - objective.loss.threshold, y, weight)
        loss = BetaBernoulli.from_prior(link.prior, link.gamma)
        # The link ties 1/2 to the decision boundary: move the intercept along.
        shift = loss.threshold - objective.loss.threshold
        moved = abs(loss.a - objective.loss.a) + abs(loss.b - objective.loss.b)
        objective = objective.with_loss(loss)
        if objective.design.fit_intercept:
            theta = theta.copy()
            theta[-1] += shift
        if moved < 1e-3:
            break
    return replace(solution, theta=theta, trace=trace, n_iter=n_iter), objective
