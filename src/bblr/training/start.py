"""How the linear estimators train: priors by name, solvers by name, where to start."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bblr.designs import ScaledDesign
from bblr.exceptions import ConstantScoresWarning
from bblr.losses import BetaBernoulli, BetaPrior, DirichletDiscrete, DirichletPrior
from bblr.many_objective import ManyObjective
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
from bblr.training.link import Link, asymptotic_prior
from bblr.training.many_link import ManyLink
from bblr.training.monitor import Watch

Floats = NDArray[np.float64]

PRIORS = ("auto", "robust", "mild", "weak", "empirical", "learned")
SOLVERS = ("auto", "fisher", "lbfgs", "sla", "search")

# Weights of the priors that have names (docs/defaults.md).
ROBUST, MILD = 0.4, 0.1
# No prior is so heavy that a class could never be the most probable one: of this share of what
# would just do.
_HEAVIEST = 0.98
# Last gamma of two and of many classes where the penalty is given.
GAMMA_TWO, GAMMA_MANY = 8.0, 2.0
# Scores that vary by less than this may have slid onto a plateau.
_FLAT = 0.1
# They have unless the penalty alone would have made them so small: to this share.
_SHRUNK = 1e-2
# Below this gamma every loss is flat.
_BLUNT = 1e-6

# Up to this many parameters a Newton step is cheap beside a pass over the data.
_MAX_NEWTON = 1500
# Stages before the last only prepare it: their tolerance is this many times larger.
LOOSE = 10.0
_LEARNING_ROUNDS = 5


AnyPrior = BetaPrior | DirichletPrior
AnyObjective = Objective[BetaBernoulli] | ManyObjective


def resolve_prior(
    prior: Any, y: Any, weight: Floats, n_classes: int, fit_intercept: bool = True
) -> AnyPrior:
    """Return the plateaus that a ``prior`` parameter stands for.

    A name stands for a weight; the mean are the shares of the classes, by weight. A decision
    that must pass through the origin treats all classes alike.
    """
    if isinstance(prior, BetaPrior | DirichletPrior):
        return _checked_prior(prior, n_classes)
    if not isinstance(prior, str) or prior not in PRIORS:
        choices = ", ".join(map(repr, PRIORS))
        raise ValueError(
            f"prior must be one of {choices}, a BetaPrior or a DirichletPrior; got {prior!r}."
        )
    shares = class_shares(y, weight) if fit_intercept else np.full(n_classes, 1.0 / n_classes)
    if prior == "empirical":
        return centred_prior(0.5, shares)
    if prior == "weak":
        return centred_prior(n_classes / (n_classes + 100.0), shares)
    return centred_prior(MILD if prior == "mild" else ROBUST, shares)


def class_shares(y: Any, weight: Floats) -> Floats:
    """Return the share of each class, by weight."""
    counts = np.bincount(np.unique(y, return_inverse=True)[1], weight)
    return np.asarray(counts / counts.sum())


def centred_prior(w: float, shares: Floats) -> AnyPrior:
    """Return the plateaus of weight w, or of the largest that lets every class win, if less."""
    w = min(w, _HEAVIEST / (1.0 + float(shares.max() - shares.min())))
    if len(shares) == 2:
        return BetaPrior.from_weight(w, float(shares[1]))
    return DirichletPrior.from_weight(w, tuple(shares))


def _checked_prior(prior: AnyPrior, n_classes: int) -> AnyPrior:
    if isinstance(prior, BetaPrior) and n_classes > 2:
        raise ValueError(
            f"prior is a BetaPrior, for two classes; y holds {n_classes}. Give a DirichletPrior, "
            f"for instance DirichletPrior.symmetric({prior.w:g}, {n_classes})."
        )
    if isinstance(prior, DirichletPrior):
        if prior.n_classes != n_classes:
            raise ValueError(
                f"prior must have a plateau for each class: it has {prior.n_classes}, y holds "
                f"{n_classes} classes."
            )
        if n_classes > 2:
            if not prior.every_class_can_win:
                raise ValueError(
                    "prior must let every class be the most probable one, but its plateaus "
                    f"{prior.low} leave too little above them: lower the largest."
                )
            return prior
        prior = prior.as_beta()
    if not prior.straddles_half:
        raise ValueError(
            f"prior must let either class be the more probable one, but its plateaus are "
            f"{prior.a:g} and {prior.a + prior.b:g}: choose a < 1/2 < a + b, or express "
            "unequal costs by class_weight."
        )
    return prior


def make_objective(
    prior: AnyPrior, gamma: float, l2: float, design: ScaledDesign, y: Any, weight: Floats
) -> AnyObjective:
    """Return the objective of two or of many classes, by their prior."""
    if isinstance(prior, BetaPrior):
        loss = BetaBernoulli.from_prior(prior, gamma)
        return Objective(loss, gaussian(l2, prior), design, y, weight)
    many = DirichletDiscrete.from_prior(prior, gamma)
    return ManyObjective(many, gaussian(l2, prior), design, y, weight)


def gaussian(l2: float, prior: AnyPrior) -> Gaussian:
    """Return the penalty that `l2` stands for, given the kind of plateaus.

    Two scores of half the size and opposite signs do what one score does, and cost half as much.
    Of many classes the penalty counts twice, so that two of them are the model of two classes.
    """
    return Gaussian(l2 if isinstance(prior, BetaPrior) else 2.0 * l2)


def check_prior_name(prior: Any) -> None:
    """Raise a ValueError unless a name is one that a classifier which tunes itself knows."""
    if isinstance(prior, str) and prior not in ("tuned", *PRIORS):
        choices = ", ".join(map(repr, ("tuned", *PRIORS)))
        raise ValueError(
            f"prior must be one of {choices}, a BetaPrior or a DirichletPrior; got {prior!r}."
        )


def make_descent(
    solver: str, size: int, tol: float, max_iter: int, *, many: bool = False
) -> FisherScoring | LBFGS:
    """Return the descent of a stage: Newton steps where they are cheap beside a pass.

    Of many classes the Fisher information is known but roughly; L-BFGS finds out the rest.
    """
    if solver == "lbfgs" or (solver != "fisher" and (many or size > _MAX_NEWTON)):
        return LBFGS(tol=tol, max_iter=5 * max_iter)
    return FisherScoring(tol=tol, max_iter=max_iter)


def make_start(objective: AnyObjective, tol: float) -> FisherScoring | LBFGS:
    """Return the descent of the first step, which need not be exact."""
    many = isinstance(objective, ManyObjective)
    return make_descent("auto", objective.size, LOOSE * tol, 20, many=many)


def unpack(objective: AnyObjective, theta: Floats) -> tuple[Floats, Floats]:
    """Return ``coef_`` and ``intercept_``, in the units of X."""
    if isinstance(objective, ManyObjective):
        coef, intercepts = objective.design.unpack_many(objective.by_class(theta))
        return coef, intercepts + np.array(objective.loss.shift)
    coef, intercept = objective.design.unpack(theta)
    return coef[None, :], np.array([intercept - objective.loss.threshold])


def robust_start(objective: AnyObjective, descent: Any, theta: Floats) -> Floats:
    """Return where to start: the fit in which no row pulls harder than the median row.

    The objective is not convex. From zero, a cluster of far-off rows can win the first steps, and
    the plateaus then keep the fit where it is.
    """
    bounded: AnyObjective = objective.bounded(1.0)
    if objective.rows.none_below(bounded.weight, (1.0 - 1e-6) * objective.weight):
        return theta  # all rows are equally long, as under most kernels
    return np.asarray(descent.minimise(bounded, theta).theta)


def anneal(
    annealing: Annealing,
    objective: AnyObjective,
    theta: Floats,
    tol: float,
    watch: Watch,
) -> Solution:
    """Walk through the stages; where a class is then never predicted, walk again from elsewhere.

    Where one class outweighs the others, a start may see these as outliers, and a plateau then
    keeps the fit there. Without plateaus the objective is convex and has no such trap: the better
    end of both ways is taken, and one that ranks rows before one that does not.
    """
    first = annealing.minimise(objective, theta, callback=watch.walk(annealing.gammas))
    if watch.stopped or predicts_all(objective.with_gamma(first.gamma), first):
        return first
    start = plain_start(objective, tol)
    with watch.task("again from elsewhere", len(annealing.gammas)):
        tell = watch.walk(annealing.gammas, keep=False)
        second = annealing.minimise(objective, start, callback=tell)
    n_iter = first.n_iter + second.n_iter
    flat = [is_flat(objective, found.theta) for found in (first, second)]
    better = second.value < first.value if flat[0] == flat[1] else flat[0]
    # A walk that was cut short has a blunter loss, whose values say nothing of the other's.
    best = second if not watch.stopped and better else first
    return replace(best, n_iter=n_iter)


def settled_like(objective: AnyObjective, other: AnyObjective) -> AnyObjective:
    """Return the objective under the plateaus, the penalty and the bound of another."""
    mine: Any = objective if other.counted is not None else objective.unbounded()
    return replace(mine, loss=other.loss, prior=other.prior)


def plain_start(objective: AnyObjective, tol: float) -> Floats:
    """Return the fit without plateaus, which is convex."""
    plain = objective.with_loss(_without_plateaus(objective.loss))
    return np.asarray(make_start(objective, tol).minimise(plain, np.zeros(objective.size)).theta)


def is_flat(objective: AnyObjective, theta: Floats) -> bool:
    """Whether all rows have next to the same score, though the features have something to say."""
    weights = objective.weights(theta)
    largest, gamma = float(np.abs(weights).max(initial=0.0)), objective.loss.gamma
    if gamma * largest > _FLAT or gamma < _BLUNT:
        return False
    # A strong penalty makes weights small, too, but in proportion to what the features say.
    plain: Any = objective.with_loss(_without_plateaus(objective.loss))
    base = theta.reshape(-1, objective.design.size).copy()
    base[:, : objective.design.n_features] = 0.0
    says = objective.weights(plain.value_gradient(base.ravel())[1])
    l2 = float(objective.prior.curvature(weights)[0])
    return largest * l2 < _SHRUNK * float(np.abs(says).max())


def warn_if_flat(objective: AnyObjective, theta: Floats) -> None:
    """Warn of a fit that gives every row the same score, although its features vary."""
    if np.isfinite(objective.design.scale).any() and is_flat(objective, theta):
        warnings.warn(
            "The fit gives every row nearly the same score: under these settings all of them "
            "slide onto one plateau. prior='auto', a lighter prior such as 'mild', or "
            "class_weight='balanced' may help.",
            ConstantScoresWarning,
            stacklevel=4,
        )


def _without_plateaus(loss: BetaBernoulli | DirichletDiscrete) -> Any:
    if isinstance(loss, DirichletDiscrete):
        return DirichletDiscrete((0.0,) * len(loss.low), loss.gamma)
    return BetaBernoulli(0.0, 1.0, loss.gamma)


def predicts_all(objective: AnyObjective, solution: Solution) -> bool:
    """Whether every class is the most probable one of some example that counts."""
    raw = objective.scores(solution.theta) if solution.raw is None else solution.raw
    return bool(objective.rows.predicted(objective.loss, raw, objective.weight).all())


def make_solver(
    solver: Any,
    gammas: tuple[float, ...],
    objective: AnyObjective,
    tol: float,
    max_iter: int,
) -> Annealing:
    """Return the annealing schedule with the descent and the search a ``solver`` names."""
    if not isinstance(solver, str):
        return Annealing(gammas, descent=solver, keep="last")
    if solver == "sla":
        return Annealing(
            gammas, descent=GradientDescent(), search=RangeSearch(first=True), keep="best"
        )
    many = isinstance(objective, ManyObjective)
    descent = make_descent(solver, objective.size, tol, max_iter, many=many)
    if solver == "search":
        return Annealing(gammas, descent=descent, search=RangeSearch(), keep="best")
    return Annealing(gammas, descent=descent, keep="last", loose=LOOSE)


def learn_plateaus(
    objective: Objective[BetaBernoulli],
    solution: Solution,
    solve: Callable[[Objective[BetaBernoulli], Floats], Solution],
    watch: Watch,
) -> tuple[Solution, Objective[BetaBernoulli]]:
    """Alternate between plateaus with gamma, and weights, both by maximum likelihood."""
    local = objective.rows.local
    y, weight = local(objective.y), local(objective.weight)
    theta, trace, n_iter = solution.theta, list(solution.trace), solution.n_iter
    raw = local(objective.scores(theta))
    prior = asymptotic_prior(raw, objective.loss.threshold, y, weight)
    last = objective
    objective = objective.with_loss(BetaBernoulli.from_prior(prior, objective.loss.gamma))
    for _ in range(_LEARNING_ROUNDS):
        step = solve(objective, theta)
        if is_flat(objective, step.theta):
            # Plateaus that leave no slope are no plateaus to learn.
            return replace(solution, theta=theta, trace=trace, n_iter=n_iter), last
        theta, last = step.theta, objective
        trace += step.trace
        n_iter += step.n_iter
        raw = local(objective.scores(theta))
        link = Link.fit(raw - objective.loss.threshold, y, weight)
        loss = BetaBernoulli.from_prior(link.prior, link.gamma)
        # The link ties 1/2 to the decision boundary: move the intercept along.
        shift = loss.threshold - objective.loss.threshold
        moved = abs(loss.a - objective.loss.a) + abs(loss.b - objective.loss.b)
        objective = objective.with_loss(loss)
        if objective.design.fit_intercept:
            theta = theta.copy()
            theta[-1] += shift
        if moved < 1e-3 or watch.stopped:
            break
    return replace(solution, theta=theta, trace=trace, n_iter=n_iter), objective


def learn_many_plateaus(
    objective: ManyObjective,
    solution: Solution,
    solve: Callable[[ManyObjective, Floats], Solution],
    watch: Watch,
) -> tuple[Solution, ManyObjective]:
    """Do the same for many classes, each with a plateau of its own."""
    local = objective.rows.local
    y, weight = local(objective.y), local(objective.weight)
    theta, trace, n_iter = solution.theta, list(solution.trace), solution.n_iter
    last = objective
    for k in range(_LEARNING_ROUNDS):
        link = ManyLink.fit(local(objective.scores(theta)), y, weight, even=False)
        loss = DirichletDiscrete.from_prior(link.prior, link.gamma)
        moved = float(np.abs(np.subtract(loss.low, objective.loss.low)).sum())
        objective = objective.with_loss(loss)
        if k > 0 and (moved < 1e-3 or watch.stopped):
            break
        step = solve(objective, theta)
        if is_flat(objective, step.theta):
            objective = last
            break
        theta, last = step.theta, objective
        trace += step.trace
        n_iter += step.n_iter
    return replace(solution, theta=theta, trace=trace, n_iter=n_iter), objective


def learn(
    objective: AnyObjective,
    solution: Solution,
    solve: Callable[[Any, Floats], Solution],
    watch: Watch,
) -> tuple[Solution, AnyObjective]:
    """Learn the plateaus of two or of many classes."""
    with watch.task("learn plateaus", _LEARNING_ROUNDS):
        if isinstance(objective, ManyObjective):
            return learn_many_plateaus(objective, solution, solve, watch)
        return learn_plateaus(objective, solution, solve, watch)


def prior_of(loss: BetaBernoulli | DirichletDiscrete) -> AnyPrior:
    """Return the plateaus of a loss."""
    return loss.prior if isinstance(loss, DirichletDiscrete) else BetaPrior(loss.a, loss.b)


def own_link(loss: BetaBernoulli | DirichletDiscrete) -> Link | ManyLink:
    """Return the link that a loss is itself; of many classes, with one plateau for all.

    The largest decision value must have the largest probability, and unequal plateaus are in the
    decision values already.
    """
    if isinstance(loss, DirichletDiscrete):
        return ManyLink(DirichletPrior.symmetric(loss.prior.w, len(loss.low)), loss.gamma)
    return Link(BetaPrior(loss.a, loss.b), loss.gamma)
