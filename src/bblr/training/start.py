"""Building blocks of training: priors and solvers by name, starting points, annealing."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bblr.designs import ScaledDesign
from bblr.exceptions import ConstantScoresWarning
from bblr.losses import BetaBernoulli, Loss, Plateaus
from bblr.objective import Objective
from bblr.penalties import Gaussian
from bblr.solvers import (
    LBFGS,
    Annealing,
    FisherScoring,
    GradientDescent,
    RangeSearch,
    Solution,
)
from bblr.training.link import Link, asymptotic_plateaus
from bblr.training.monitor import FitMonitor

Floats = NDArray[np.float64]

PRIORS = ("auto", "robust", "mild", "weak", "empirical", "learned")
SOLVERS = ("auto", "fisher", "lbfgs", "sla", "search")

# Weights of the priors that have names (docs/defaults.md).
ROBUST, MILD = 0.4, 0.1
# Priors stay this far below the weight at which a class could never be the most probable one.
_HEAVIEST = 0.98
# Last gamma with two and with many classes, where the penalty is given.
GAMMA_TWO, GAMMA_MANY = 8.0, 2.0
# Scores that vary by less than this may all lie on a plateau.
MAY_BE_FLAT = 0.1
# They do, unless the penalty alone explains weights that small: within this factor.
_SHRUNK = 1e-2
# Below this gamma every loss is flat.
_BLUNT = 1e-6

# Up to this many parameters a new curvature matrix for every step is cheap compared with a pass
# over the data; beyond, one matrix serves all steps.
MAX_NEWTON = 512
# The tolerance of all stages but the last is this many times larger.
LOOSE = 10.0
# A curvature serves for as long as steps by it promise less than this share of the last one: most
# descents form two thirds of the matrices, and take as many passes.
KEPT = 0.2
_LEARNING_ROUNDS = 5
# Up to this many parameters of a score, plateaus of many classes are learned by Fisher scoring.
_SLIM = 128


Fitted = Objective[BetaBernoulli]
"""The objective of a Beta-Bernoulli fit."""


def resolve_prior(
    prior: Any, y: Any, weight: Floats, n_classes: int, fit_intercept: bool = True
) -> Plateaus:
    """Return the plateaus for a ``prior`` parameter.

    A decision through the origin treats all classes alike.
    """
    return named_plateaus(
        prior, class_shares(y, weight) if fit_intercept else even_shares(n_classes)
    )


def named_plateaus(prior: Any, shares: Floats) -> Plateaus:
    """Return the plateaus for a named prior, a weight centred on the class shares."""
    n_classes = len(shares)
    if isinstance(prior, Plateaus):
        return _checked(prior, n_classes)
    if not isinstance(prior, str) or prior not in PRIORS:
        choices = ", ".join(map(repr, PRIORS))
        raise ValueError(f"prior must be one of {choices} or Plateaus; got {prior!r}.")
    if prior == "empirical":
        return centred_plateaus(0.5, shares)
    if prior == "weak":
        return centred_plateaus(n_classes / (n_classes + 100.0), shares)
    return centred_plateaus(MILD if prior == "mild" else ROBUST, shares)


def class_shares(y: Any, weight: Floats) -> Floats:
    """Return the share of each class, by weight."""
    counts = np.bincount(np.unique(y, return_inverse=True)[1], weight)
    return np.asarray(counts / counts.sum())


def even_shares(n_classes: int) -> Floats:
    """Return the same share for every class."""
    return np.full(n_classes, 1.0 / n_classes)


def centred_plateaus(w: float, shares: Floats) -> Plateaus:
    """Return the plateaus of weight w, or of the largest that lets every class win, if less."""
    w = min(w, _HEAVIEST / (1.0 + float(shares.max() - shares.min())))
    return Plateaus.from_weight(w, tuple(shares))


def _checked(plateaus: Plateaus, n_classes: int) -> Plateaus:
    if plateaus.n_classes != n_classes:
        raise ValueError(
            f"prior must have a plateau for each class: it has {plateaus.n_classes}, y holds "
            f"{n_classes} classes. Give, for instance, "
            f"Plateaus.symmetric({plateaus.w:g}, {n_classes})."
        )
    if not plateaus.every_class_can_win:
        raise ValueError(
            "prior must let every class be the most probable one, but its plateaus "
            f"{plateaus.low} leave too little above them: lower the largest, or express unequal "
            "costs by class_weight."
        )
    return plateaus


def make_objective(
    plateaus: Plateaus, gamma: float, l2: float, design: ScaledDesign, y: Any, weight: Floats
) -> Fitted:
    """Return the objective of a Beta-Bernoulli fit."""
    loss = BetaBernoulli(plateaus, gamma)
    return Objective(loss, gaussian(l2, loss), design, y, weight)


def gaussian(l2: float, loss: Loss) -> Gaussian:
    """Return the penalty for `l2`.

    One score equals two scores of half its size and opposite signs, which cost half as much. Where
    each class has a score the penalty therefore counts twice, so that both models agree.
    """
    return Gaussian(l2 * loss.layout.copies)


def penalty_of(objective: Fitted) -> float:
    """Return the `l2` of an objective."""
    penalty = objective.penalty
    assert isinstance(penalty, Gaussian)
    return penalty.l2 / objective.loss.layout.copies


def square_length(objective: Fitted, theta: Floats) -> float:
    """Return the squared length of the weights as `l2` counts it."""
    weights = objective.weights(theta)
    return float(weights @ weights) * objective.loss.layout.copies


def make_descent(
    solver: str, size: int, n_scores: int, tol: float, max_iter: int
) -> FisherScoring | LBFGS:
    """Return the descent of a stage: Newton steps where they cost little more than a pass.

    With several scores per row the Fisher information is only approximate, and L-BFGS is used.
    """
    if solver == "lbfgs" or (solver != "fisher" and not takes_newton(size, n_scores)):
        return LBFGS(tol=tol, max_iter=5 * max_iter)
    return FisherScoring(tol=tol, max_iter=max_iter, kept=KEPT)


def takes_newton(size: int, n_scores: int, most: int = MAX_NEWTON) -> bool:
    """Whether Newton steps cost little compared with a pass over the data."""
    return n_scores == 1 and size <= most


def make_start(objective: Objective[Any], tol: float) -> FisherScoring | LBFGS:
    """Return the descent to the starting point, which need not be exact."""
    return make_descent("auto", objective.size, objective.n_scores, LOOSE * tol, 20)


def robust_start(objective: Fitted, descent: Any, theta: Floats) -> Floats:
    """Return the starting point: the fit in which no row has more leverage than the median row.

    The objective is not convex. From zero, a cluster of outliers can dominate the first steps, and
    the plateaus then keep the fit there.
    """
    found = robust_fit(objective, descent, theta)
    return theta if found is None else np.asarray(found.theta)


def robust_fit(objective: Fitted, descent: Any, theta: Floats) -> Solution | None:
    """Return the same fit with what is known of it, None where no row has more leverage."""
    weight = start_weight(objective.design, objective.weight)
    if weight is None:
        return None
    found: Solution = descent.minimise(replace(objective, weight=weight), theta)
    return found


def start_weight(design: ScaledDesign, weight: Any) -> Any:
    """Return the weights of the fit to start from; None if the bound changes none."""
    bounded = weight * design.leverage(1.0, weight)
    if design.rows.all_at_least(bounded, (1.0 - 1e-6) * weight):
        return None  # all rows are equally long, as with most kernels
    return bounded


def anneal(
    annealing: Annealing,
    objective: Fitted,
    theta: Floats,
    tol: float,
    monitor: FitMonitor,
) -> Solution:
    """Anneal; if a class is then never predicted, anneal again from another starting point.

    Where one class outweighs the others, the first start may treat these as outliers, and a
    plateau keeps the fit there. Without plateaus the objective is convex and has no such trap: the
    second start is its minimum. The better result is returned; one that ranks rows beats one that
    is flat.
    """
    first = annealing.minimise(objective, theta, callback=monitor.stage_callback(annealing.gammas))
    if monitor.stopped or predicts_all(objective.with_gamma(first.gamma), first):
        return first
    start = plain_start(objective, tol)
    with monitor.task("again without plateaus", len(annealing.gammas)):
        tell = monitor.stage_callback(annealing.gammas, keep=False)
        second = annealing.minimise(objective, start, callback=tell)
    n_iter = first.n_iter + second.n_iter
    flat = [is_flat(objective, found.theta) for found in (first, second)]
    better = second.value < first.value if flat[0] == flat[1] else flat[0]
    # A path that was cut short has a blunter loss, and its value cannot be compared.
    best = second if not monitor.stopped and better else first
    return replace(best, n_iter=n_iter)


def settled_like(objective: Fitted, other: Fitted) -> Fitted:
    """Return the objective with the plateaus, the penalty and the bound of another."""
    mine: Any = objective if other.counted is not None else objective.unbounded()
    return replace(mine, loss=other.loss, penalty=other.penalty)


def plain_start(objective: Fitted, tol: float) -> Floats:
    """Return the fit without plateaus, which is convex."""
    plain = objective.with_loss(objective.loss.without_plateaus())
    return np.asarray(make_start(objective, tol).minimise(plain, np.zeros(objective.size)).theta)


def is_flat(objective: Fitted, theta: Floats) -> bool:
    """Whether all rows have nearly the same score although the features are informative."""
    weights = objective.weights(theta)
    largest, gamma = float(np.abs(weights).max(initial=0.0)), objective.loss.gamma
    if gamma * largest > MAY_BE_FLAT or gamma < _BLUNT:
        return False
    # If one row has nearly all the weight, the others may lie far out, and small weights suffice.
    if objective.rows.predicted(objective.loss, objective.scores(theta), objective.weight).all():
        return False
    # A strong penalty makes weights small, too, but in proportion to the gradient at zero.
    plain: Any = objective.with_loss(objective.loss.without_plateaus())
    base = theta.reshape(-1, objective.design.size).copy()
    base[:, : objective.design.n_features] = 0.0
    says = objective.weights(plain.value_gradient(base.ravel())[1])
    l2 = float(objective.penalty.curvature(weights)[0])
    return largest * l2 < _SHRUNK * float(np.abs(says).max())


def warn_if_flat(objective: Fitted, theta: Floats) -> None:
    """Warn of a fit that gives every row the same score, although its features vary."""
    if np.isfinite(objective.design.scale).any() and is_flat(objective, theta):
        warnings.warn(
            "The fit gives every row nearly the same score: under these settings all of them "
            "slide onto one plateau. prior='auto', a lighter prior such as 'mild', or "
            "class_weight='balanced' may help.",
            ConstantScoresWarning,
            stacklevel=4,
        )


def predicts_all(objective: Fitted, solution: Solution) -> bool:
    """Whether every class is predicted for some example of positive weight."""
    raw = objective.scores(solution.theta) if solution.raw is None else solution.raw
    return bool(objective.rows.predicted(objective.loss, raw, objective.weight).all())


def make_solver(
    solver: Any,
    gammas: tuple[float, ...],
    objective: Fitted,
    tol: float,
    max_iter: int,
) -> Annealing:
    """Return the annealing with the descent and the search for a ``solver`` parameter."""
    if not isinstance(solver, str):
        return Annealing(gammas, descent=solver, keep="last")
    if solver == "sla":
        return Annealing(
            gammas, descent=GradientDescent(), search=RangeSearch(first=True), keep="best"
        )
    descent = make_descent(solver, objective.size, objective.n_scores, tol, max_iter)
    if solver == "search":
        return Annealing(gammas, descent=descent, search=RangeSearch(), keep="best")
    return Annealing(gammas, descent=descent, keep="last", loose=LOOSE)


def make_learner(solver: Any, objective: Fitted, tol: float, max_iter: int) -> Annealing:
    """Return the solver of a round of :func:`learn`.

    Far out on the plateaus steps of L-BFGS multiply rounding errors a millionfold, and the rounds
    do so again: the fit then depends on the order of the rows. Those of Fisher scoring do not.
    """
    if solver not in ("fisher", "lbfgs"):
        solver = "fisher" if objective.design.size <= _SLIM else "auto"
    found = make_solver(solver, (objective.loss.gamma,), objective, tol, max_iter)
    if isinstance(found.descent, FisherScoring):
        # Gamma grows slowly here, which alone keeps rounding errors small.
        return replace(found, descent=replace(found.descent, least=0.0))
    return found


def _as_they_are(_: BetaBernoulli, raw: Any) -> Any:
    return raw


def learn(
    objective: Fitted,
    solution: Solution,
    solve: Callable[[Fitted, Floats], Solution],
    monitor: FitMonitor,
    growth: float,
) -> tuple[Solution, Fitted]:
    """Alternate maximum-likelihood fits of plateaus with gamma, and of the weights.

    With many classes gamma grows from round to round by no more than from stage to stage.
    """
    local = objective.rows.local
    y, weight = local(objective.y), local(objective.weight)
    theta, trace, n_iter = solution.theta, list(solution.trace), solution.n_iter
    one = objective.n_scores == 1
    # The link of two classes ties 1/2 to the decision boundary.
    shown, growth = (BetaBernoulli.decision, np.inf) if one else (_as_they_are, growth)
    last = objective
    with monitor.task("learn plateaus", _LEARNING_ROUNDS):
        for k in range(_LEARNING_ROUNDS + one):
            raw = local(objective.scores(theta))
            loss = objective.loss
            most = growth * loss.gamma
            if k == 0 and one:
                wrong = loss.wrong(y, raw)
                loss = BetaBernoulli(asymptotic_plateaus(wrong, y, weight), loss.gamma)
            else:
                link = Link.fit(shown(loss, raw), y, weight, even=False)
                loss = BetaBernoulli(link.plateaus, min(link.gamma, most))
            moved = float(np.abs(np.subtract(loss.low, objective.loss.low)).sum())
            if k > 0 and one and objective.design.fit_intercept:
                theta = theta.copy()
                theta[-1] += objective.loss.shift[0] - loss.shift[0]
            objective = objective.with_loss(loss)
            # Plateaus that stay where gamma is still on its way are not yet the last.
            settled = moved < 1e-3 and loss.gamma < most
            ends = settled or monitor.stopped or k == _LEARNING_ROUNDS
            if k > 0 and ends:
                break
            step = solve(objective, theta)
            if is_flat(objective, step.theta):
                # Plateaus that flatten the fit are rejected.
                objective = last
                break
            theta, last = step.theta, objective
            trace += step.trace
            n_iter += step.n_iter
    # Its scores were those of other weights.
    return replace(solution, theta=theta, trace=trace, n_iter=n_iter, raw=None), objective
