"""Penalty and plateaus estimated from the data by marginal likelihood.

The penalty is MacKay's: effective parameters divided by squared weights. The plateaus are the
rates of labels that have nothing to do with their row, by expectation and maximisation on
leave-one-out scores. Each depends on the other, so both are updated between steps of the descent
until neither moves.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import repeat
from math import exp, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bblr._numeric.arrays import quantiles
from bblr._numeric.layouts import layout
from bblr.designs import ScaledDesign
from bblr.designs.small_tables import Rules, newton_descent
from bblr.inputs import Training
from bblr.losses import BetaBernoulli, Plateaus
from bblr.losses.fused import BETA_BERNOULLI, FusedLoss
from bblr.solvers import LBFGS, FisherScoring
from bblr.training.compiled.settling import alone_scores, stray_rates_of_two, stray_share
from bblr.training.laplace import (
    LEAST_REST,
    MAX_PARAMETERS,
    Drawn,
    Laplace,
    draw_rows,
    laplace,
    leave_one_out,
    scores_alone,
    some_of,
)
from bblr.training.start import (
    KEPT,
    Fitted,
    centred_plateaus,
    even_shares,
    gaussian,
    make_objective,
    named_plateaus,
    penalty_of,
    plain_start,
    square_length,
    takes_newton,
)

Floats = NDArray[np.float64]

_ROUNDS = 25
# Converged when the penalty (as a factor) and the plateaus (in sum) move by less than this.
_STEADY, _STEADY_LOW = 0.02, 0.004
_EM_STEPS = 20
# The longest step towards where updates seem to end, as a multiple of an update.
_STRIDE = 2.5
# Below this a plateau is none.
_TINY = 1e-300
# Prior pseudo-counts: stray labels, which have nothing to do with their row, and true ones.
_STRAY, _TRUE = 2.0, 18.0
# Largest plateau with two classes, and largest total of the plateaus with more.
_MOST_LOW, _MOST_WEIGHT = 0.45, 0.6
# By what share of the height between them the plateaus of two classes may differ.
_MOST_APART = 0.9
_LEAST_L2 = 1e-2
# Weight of the prior where there are too many parameters to estimate it.
_WIDE_WEIGHT = 0.2
# Weight of the prior for the second attempt, after the first has lost a class.
_WEAK = 0.02
# The penalty for rows of mean squared length 1, where it cannot be estimated.
_PER_LENGTH = 1.0 / 8.0
# Rows beyond this are bounded, or beyond the quantile that this share of the rows exceeds.
_LEVERAGE, _MOST_BEYOND = 3.0, 0.15
_SOME_ROWS = 4096
# Tolerances and steps of a descent between two updates.
_TOL_TWO, _TOL_MANY, _STEPS_MANY = 1e-4, 1e-3, 8
_NEWTON = FisherScoring(tol=_TOL_TWO, max_iter=3, kept=KEPT)
# Up to this many parameters the estimation is compiled.
COMPILED = 128


@dataclass(frozen=True)
class Unknown:
    """What is to be estimated: penalty, plateaus, and whether the bound on leverage does harm."""

    penalty: bool
    plateaus: bool
    leverage: bool

    def __bool__(self) -> bool:
        return self.penalty or self.plateaus


@dataclass(frozen=True, eq=False)
class Settled:
    """An objective with estimated penalty and plateaus, and the current weights."""

    objective: Fitted
    theta: Floats
    n_iter: int = 0
    rounds: int = 0
    # The scores of all rows that count, and the weights of those, where they are at hand.
    raw: Floats | None = None
    weight: Floats | None = None
    # The normal approximation of the weights, where forming another one costs many passes.
    about: Laplace | None = None


def first_penalty(design: ScaledDesign) -> float:
    """Return the initial penalty, which grows with the length of the rows."""
    return max(1.0, _PER_LENGTH * design.mean_square_length)


def first_objective(
    prior: Any, l2: Any, gamma: float, design: ScaledDesign, training: Training
) -> Fitted:
    """Return the initial objective, with first guesses for what is "auto"."""
    shares = training.shares if design.fit_intercept else even_shares(len(training.classes))
    if prior == "auto" and design.size > MAX_PARAMETERS:
        # Too many parameters to tell stray labels from rows that the fit has memorised.
        plateaus = centred_plateaus(_WIDE_WEIGHT, shares)
    else:
        plateaus = named_plateaus(prior, shares)
    strength = first_penalty(design) if l2 == "auto" else float(l2)
    objective = make_objective(plateaus, gamma, strength, design, training.y, training.weight)
    if training.factors is None or (training.factors == 1.0).all():
        return objective
    return replace(objective, each=tuple(training.factors.tolist()))


def leverage_limit(objective: Fitted) -> float:
    """Return the bound on leverage that suits the tails: few rows may lie beyond it."""
    design = objective.design
    length, own = design.reach, objective.weight
    if objective.n_rows > _SOME_ROWS:
        some = some_of(objective.n_rows, _SOME_ROWS)
        length, own = design.rows.pick(length, some), design.rows.pick(own, some)
    length, own = design.rows.local(length), design.rows.local(own)
    counts = own > 0
    if not counts.all():
        length, own = length[counts], own[counts]
    middle, far = quantiles(length, own, (0.5, 1.0 - _MOST_BEYOND))
    if own is objective.weight:
        design.middle = own, middle
    return max(_LEVERAGE, far / middle)


def with_penalty(objective: Fitted, l2: float) -> Fitted:
    """Return the objective with another value of `l2`."""
    return objective.with_penalty(gaussian(l2, objective.loss))


def with_plateaus(objective: Fitted, low: Floats) -> Fitted:
    """Return the objective with other plateaus."""
    # Rounded, so that equal plateaus stay equal.
    plateaus = Plateaus(tuple(map(round, low.tolist(), repeat(12))))
    return objective.with_loss(BetaBernoulli(plateaus, objective.loss.gamma))


def settle(
    objective: Fitted, theta: Floats, unknown: Unknown, shares: Floats, tol: float
) -> Settled:
    """Return the objective with its unknowns estimated, and the weights found meanwhile.

    A small class far from all others looks like a group of outliers. Where a class is never
    predicted, the estimation is repeated from the fit without plateaus (and without the bound on
    leverage, if that is unknown); the result with the better leave-one-out cost is kept.

    Parameters
    ----------
    objective : Objective
        To start from.
    theta : ndarray of shape (n_parameters,)
        Weights to start from.
    unknown : Unknown
        What to estimate.
    shares : ndarray of shape (n_classes,)
        Share of each class: the prior distribution of stray labels.
    tol : float
        Tolerance of a fit.
    """
    if objective.design.size > MAX_PARAMETERS or not unknown:
        return Settled(objective, theta)
    first = _settle(objective, theta, unknown, shares)
    if _predicts_all(first):
        return first
    other = objective.unbounded() if unknown.leverage else objective
    if unknown.plateaus:
        other = with_plateaus(other, _WEAK * shares)
    second = _settle(other, plain_start(other, tol), unknown, shares)
    return min(first, second, key=_cost_alone)


def _predicts_all(settled: Settled) -> bool:
    """Whether every class is predicted for a row that counts."""
    objective, raw, weight = settled.objective, settled.raw, settled.weight
    if raw is None:
        raw, weight = objective.scores(settled.theta), objective.weight
    return bool(objective.rows.predicted(objective.loss, raw, weight).all())


def _cost_alone(settled: Settled) -> float:
    """Return the leave-one-out cost, with the weights from before leverage was bounded."""
    objective = settled.objective
    drawn = draw_rows(objective)
    if drawn is None:
        return objective.value(settled.theta)
    raw = scores_alone(objective, settled.theta, objective.scores(settled.theta), drawn)
    return float(drawn.counted @ objective.loss.value(drawn.y, raw))


def _settle(objective: Fitted, theta: Floats, unknown: Unknown, shares: Floats) -> Settled:
    size = objective.size, objective.n_scores
    # A sample suffices: it has many rows per parameter.
    if takes_newton(*size, COMPILED) and objective.design.fit_intercept:
        drawn = draw_rows(objective)
        if drawn is not None and len(drawn.y):
            return settle_few(objective, theta, drawn, unknown, shares)
    tol = _TOL_TWO if objective.n_scores == 1 else _TOL_MANY
    descent: Any = _NEWTON if takes_newton(*size) else LBFGS(tol=tol, max_iter=_STEPS_MANY)
    drawn = draw_rows(objective) if unknown.plateaus else None
    n_iter = rounds = 0
    precondition, before, most_l2 = None, list[Any](), max(1.0, objective.total)
    known: Laplace | None = None
    first = _before_descents(objective, theta, descent)
    if first is not None:
        known, precondition = _reusable(first), first.precondition
    while rounds < _ROUNDS:
        rounds += 1
        found = descent.minimise(objective, theta, precondition=precondition)
        theta, n_iter = found.theta, n_iter + found.n_iter
        about = laplace(objective, theta, found.raw, known)
        precondition = about.precondition
        l2, low = penalty_of(objective), np.array(objective.loss.low)
        new_l2, new_low = l2, low
        if unknown.penalty:
            new_l2 = _penalty(objective, theta, about.effective)
        if drawn is not None:
            raw = leave_one_out(objective, theta, drawn, about)
            new_low = stray_rates(raw, drawn, objective.loss.gamma, low, shares)
            if not objective.design.fit_intercept:
                # A decision that must pass through the origin treats all classes alike.
                new_low = np.full(len(low), float(new_low.mean()))
        new_l2, new_low, steady = _ahead(l2, low, new_l2, new_low, before, most_l2)
        objective = with_plateaus(with_penalty(objective, new_l2), new_low)
        if steady and known is None:
            break
        # The information serves until nothing moves by it, and is then formed anew.
        known = None if steady else _reusable(about)
    return Settled(
        objective, theta, n_iter, rounds, about=None if first is None else _reusable(about)
    )


def _before_descents(objective: Fitted, theta: Floats, descent: Any) -> Any:
    """Return the approximation at the start, where its matrix costs as much as many passes.

    It serves the first descent, which would form a matrix of its own, and what follows.
    """
    if isinstance(descent, LBFGS) and objective.n_scores == 1:
        return laplace(objective, theta, objective.scores(theta))
    return None


def _reusable(about: Any) -> Laplace | None:
    """Return an approximation whose information may serve other weights; None on a device."""
    return about if isinstance(about, Laplace) else None


def settle_few(
    objective: Fitted, theta: Floats, drawn: Drawn, unknown: Unknown, shares: Floats
) -> Settled:
    """Estimate with two classes on a sample of rows, by compiled steps."""
    Zt, y, weight = drawn.columns, drawn.y, drawn.weight
    total, d = float(weight.sum()), objective.design.n_features
    gamma, most_l2 = objective.loss.gamma, max(1.0, objective.total)
    units = Rules(*_NEWTON.rules), min(1.0, float(weight.max())), total, len(y)
    limits = total + _STRAY + _TRUE, _MOST_LOW, _EM_STEPS
    l2, low, pseudo = penalty_of(objective), np.array(objective.loss.low), _STRAY * shares
    n_iter, rounds, before = 0, 0, list[Any]()
    theta, raw = np.ascontiguousarray(theta), None
    while rounds < _ROUNDS:
        rounds += 1
        fused = FusedLoss(BETA_BERNOULLI, gamma, low[1], low[0], 1.0 - low.sum())
        theta, _, raw, taken, _ = newton_descent(Zt, None, y, weight, fused, l2, d, theta, *units)
        n_iter += taken
        alone, settled = alone_scores(
            Zt, raw, y, weight, drawn.unit, fused, l2, d, total, LEAST_REST
        )
        new_l2, new_low = l2, low
        if unknown.penalty:
            square = max(float(theta[:d] @ theta[:d]), 1e-300)
            new_l2 = min(max(settled / square, _LEAST_L2), most_l2)
        if unknown.plateaus:
            new_low = stray_rates_of_two(alone, y, weight, gamma, low, pseudo, *limits)
        l2, low, steady = _ahead(l2, low, new_l2, new_low, before, most_l2)
        if steady:
            break
    objective = with_plateaus(with_penalty(objective, l2), low)
    return Settled(objective, theta, n_iter, rounds, raw if drawn.every else None, weight)


def _ahead(
    l2: float, low: Floats, new_l2: float, new_low: Floats, before: list[Any], most_l2: float
) -> tuple[float, Floats, bool]:
    """Return the penalty and the plateaus of the next round, and whether they stand still.

    Round after round updates fall by about the same share, often a sixth only, and after two of
    them it is known what all will come to: the logarithm of each number goes there, at most
    `_STRIDE` times as far as its update. `before` holds these logarithms and updates.
    """
    still = new_l2 == l2 or abs(log(new_l2 / l2)) < _STEADY
    if still and float(np.abs(new_low - low).sum()) < _STEADY_LOW:
        return new_l2, new_low, True
    there, earlier = [], before.copy()
    before.clear()
    for here, new in zip((l2, *low.tolist()), (new_l2, *new_low.tolist()), strict=True):
        at, step = log(max(here, _TINY)), log(max(new, _TINY) / max(here, _TINY))
        if earlier:
            came, fell = at - earlier[len(before)][0], earlier[len(before)][1] - step
            if came * step > 0.0 and came * fell > 0.0:
                new *= exp(step * (min(max(came / fell, 1.0), _STRIDE) - 1.0))
        before.append((at, step))
        there.append(new)
    # A penalty that is given stays as it is, and every class must be able to win.
    if there[0] != new_l2:
        new_l2 = min(max(there[0], _LEAST_L2), most_l2)
    taken, apart = sum(there[1:]), max(there[1:]) - min(there[1:])
    if taken < _MOST_WEIGHT and apart < _MOST_APART * (1.0 - taken):
        new_low = np.array(there[1:])
    return new_l2, new_low, False


def _penalty(objective: Fitted, theta: Floats, effective: float) -> float:
    """Return MacKay's update of the penalty."""
    square = square_length(objective, theta)
    return float(np.clip(effective / max(square, 1e-300), _LEAST_L2, max(1.0, objective.total)))


def stray_rates(raw: Floats, drawn: Drawn, gamma: float, low: Floats, shares: Floats) -> Floats:
    """Return the plateaus of greatest posterior density, given leave-one-out scores.

    Every label is either drawn from the softmax or has nothing to do with its row; the rate of
    the latter, class by class, is the plateau.
    """
    form = layout(raw)
    own, codes = form.share(gamma * raw, drawn.y), form.codes(drawn.y)
    total = float(drawn.weight.sum()) + _STRAY + _TRUE
    most = _MOST_LOW if len(low) == 2 else _MOST_WEIGHT
    pseudo = _STRAY * shares
    low = stray_share(own, codes, drawn.weight, low, pseudo, total, most, _EM_STEPS)
    # Every class must be able to be the most probable one.
    return np.minimum(low, low.min() + _MOST_APART * (1.0 - float(low.sum())))
