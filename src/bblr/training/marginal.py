"""Penalty and plateaus from the data: what a fit is told by its own marginal likelihood.

The penalty is MacKay's: as many units of squared weight as the data have settled weights. The
plateaus are the rates at which labels have nothing to do with their row, by expectation and
maximisation on scores that rows have if they are not trained on. Each moves the other, so both are
brought up to date between steps of the descent until neither moves.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_softmax

from bblr.designs import ScaledDesign
from bblr.designs.small_tables import Rules, newton_descent
from bblr.inputs import Training
from bblr.losses import BetaBernoulli, Plateaus
from bblr.losses.fused import BETA_BERNOULLI, FusedLoss
from bblr.solvers import LBFGS, FisherScoring
from bblr.training.compiled.settling import Limits, settle_round, stray_share
from bblr.training.laplace import (
    LEAST_REST,
    MAX_PARAMETERS,
    Drawn,
    draw_rows,
    laplace,
    leave_one_out,
    some_of,
)
from bblr.training.start import (
    MAX_NEWTON,
    Fitted,
    centred_plateaus,
    gaussian,
    make_objective,
    penalty_of,
    plain_start,
    resolve_prior,
    square_length,
)

Floats = NDArray[np.float64]

_ROUNDS = 25
# Neither the penalty, as a factor, nor the plateaus, in all, may still move by more than this.
_STEADY, _STEADY_LOW = 0.02, 0.004
_EM_STEPS = 20
# Imagined rows: so many labels that have nothing to do with their row, so many that have.
_STRAY, _TRUE = 2.0, 18.0
# No plateau of two classes comes nearer to 1/2, and no plateaus of more take a larger share.
_MOST_LOW, _MOST_WEIGHT = 0.45, 0.6
# Share of the room between the plateaus that those of two classes may differ by.
_MOST_APART = 0.9
_LEAST_L2 = 1e-2
# Weight of the prior where there are too many weights to tell it from the data.
_WIDE_WEIGHT = 0.2
# And where the first guess, that many labels are stray, has lost a class.
_WEAK = 0.02
# What a penalty is for rows of a mean squared length of 1, where nothing better is known.
_PER_LENGTH = 1.0 / 8.0
# Rows farther out than this are bounded, or than what so many of the rows exceed, if more.
_LEVERAGE, _MOST_BEYOND = 3.0, 0.15
_SOME_ROWS = 4096
# Steps of a descent between two looks.
_TOL_TWO, _TOL_MANY, _STEPS_MANY = 1e-4, 1e-3, 8
_NEWTON = FisherScoring(tol=_TOL_TWO, max_iter=3)
# Parameters up to which a table is settled by compiled steps.
_COMPILED = 128


@dataclass(frozen=True)
class Unknown:
    """What is to be found: penalty, plateaus, and whether the bound on leverage does harm."""

    penalty: bool
    plateaus: bool
    leverage: bool

    def __bool__(self) -> bool:
        return self.penalty or self.plateaus


@dataclass(frozen=True, eq=False)
class Settled:
    """An objective whose penalty and plateaus suit the data, and where its descent stands."""

    objective: Fitted
    theta: Floats
    n_iter: int
    rounds: int


def first_penalty(design: ScaledDesign) -> float:
    """Return the penalty to start from, which knows how long the rows are."""
    return max(1.0, _PER_LENGTH * design.mean_square_length)


def first_objective(
    prior: Any, l2: Any, gamma: float, design: ScaledDesign, training: Training
) -> Fitted:
    """Return the objective to start from; what is "auto" has its first value."""
    n_classes = len(training.classes)
    if prior == "auto" and design.size > MAX_PARAMETERS:
        # Too many weights to tell stray labels from rows that were learned by heart.
        even = np.full(n_classes, 1.0 / n_classes)
        plateaus = centred_plateaus(
            _WIDE_WEIGHT, training.shares if design.fit_intercept else even
        )
    else:
        plateaus = resolve_prior(
            prior, training.class_labels, training.totals, n_classes, design.fit_intercept
        )
    strength = first_penalty(design) if l2 == "auto" else float(l2)
    objective = make_objective(plateaus, gamma, strength, design, training.y, training.weight)
    if training.factors is None or (training.factors == 1.0).all():
        return objective
    return replace(objective, each=tuple(training.factors.tolist()))


def leverage_limit(objective: Fitted) -> float:
    """Return the bound on leverage that suits the tails: few rows may lie beyond it."""
    design, some = objective.design, some_of(objective.n_rows, _SOME_ROWS)
    own = design.rows.local(design.rows.pick(objective.weight, some))
    length, own = design.lengths(some)[own > 0], own[own > 0]
    order = np.argsort(length)
    total = np.cumsum(own[order])
    middle, far = (
        float(length[order[np.searchsorted(total, share * total[-1] * (1.0 - 1e-12))]])
        for share in (0.5, 1.0 - _MOST_BEYOND)
    )
    return max(_LEVERAGE, far / middle)


def with_penalty(objective: Fitted, l2: float) -> Fitted:
    """Return the objective under another penalty, as users count it."""
    return objective.with_penalty(gaussian(l2, objective.loss))


def with_plateaus(objective: Fitted, low: Floats) -> Fitted:
    """Return the objective under other plateaus."""
    # Equal ones stay equal.
    plateaus = Plateaus(tuple(np.round(low, 12)))
    return objective.with_loss(BetaBernoulli(plateaus, objective.loss.gamma))


def settle(
    objective: Fitted, theta: Floats, unknown: Unknown, shares: Floats, tol: float
) -> Settled:
    """Return the objective with its unknowns found, and the weights on the way.

    A small class that lies apart from all others looks like so many outliers. Where a class is
    never predicted, the search is repeated from the fit without plateaus, without the bound on
    leverage if that is unknown, too; what predicts rows best that it was not trained on stands.

    Parameters
    ----------
    objective : Objective
        To start from.
    theta : ndarray of shape (n_parameters,)
        Weights to start from.
    unknown : Unknown
        What to find.
    shares : ndarray of shape (n_classes,)
        Share of each class, about which stray labels are thought to be spread.
    tol : float
        Tolerance of a fit.
    """
    if objective.design.size > MAX_PARAMETERS or not unknown:
        return Settled(objective, theta, 0, 0)
    first = _settle(objective, theta, unknown, shares)
    rows = first.objective.rows
    raw = first.objective.scores(first.theta)
    if rows.predicted(first.objective.loss, raw, first.objective.weight).all():
        return first
    other = objective.unbounded() if unknown.leverage else objective
    if unknown.plateaus:
        other = with_plateaus(other, _WEAK * shares)
    second = _settle(other, plain_start(other, tol), unknown, shares)
    return min(first, second, key=_cost_alone)


def _cost_alone(settled: Settled) -> float:
    """Return what rows cost that a fit has not been trained on, by their weight before a bound."""
    objective = settled.objective
    drawn = draw_rows(objective)
    if drawn is None:
        return objective.value(settled.theta)
    about = laplace(objective, settled.theta, objective.scores(settled.theta))
    raw = leave_one_out(objective, settled.theta, drawn, about)
    return float(drawn.counted @ objective.loss.value(drawn.y, raw))


def _settle(objective: Fitted, theta: Floats, unknown: Unknown, shares: Floats) -> Settled:
    one = objective.n_scores == 1
    # A sample of rows does, being so many times as many as the parameters.
    if objective.size <= _COMPILED and one and objective.design.fit_intercept:
        drawn = draw_rows(objective)
        if drawn is not None and len(drawn.y):
            return _settle_few(objective, theta, drawn, unknown, shares)
    descent: Any = LBFGS(tol=_TOL_TWO if one else _TOL_MANY, max_iter=_STEPS_MANY)
    if one and objective.size <= MAX_NEWTON:
        descent = _NEWTON
    drawn = draw_rows(objective) if unknown.plateaus else None
    n_iter = rounds = 0
    precondition = None
    while rounds < _ROUNDS:
        rounds += 1
        found = descent.minimise(objective, theta, precondition=precondition)
        theta, n_iter = found.theta, n_iter + found.n_iter
        about = laplace(objective, theta, found.raw)
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
        objective = with_plateaus(with_penalty(objective, new_l2), new_low)
        if _is_steady(new_l2, l2, new_low, low):
            break
    return Settled(objective, theta, n_iter, rounds)


def _settle_few(
    objective: Fitted, theta: Floats, drawn: Drawn, unknown: Unknown, shares: Floats
) -> Settled:
    """Do the same for two classes on the rows that were drawn, by compiled steps."""
    Zt, y, weight = drawn.Z.T, drawn.y, drawn.weight
    total, d = float(weight.sum()), objective.design.n_features
    units = Rules(*_NEWTON.rules), min(1.0, float(weight.max())), total, len(y)
    limits = Limits(
        _LEAST_L2, _most_l2(objective), total, _STRAY + _TRUE, _MOST_LOW, _EM_STEPS, LEAST_REST
    )
    l2, low, pseudo = penalty_of(objective), np.array(objective.loss.low), _STRAY * shares
    n_iter = rounds = 0
    theta = np.ascontiguousarray(theta)
    while rounds < _ROUNDS:
        rounds += 1
        fused = FusedLoss(BETA_BERNOULLI, objective.loss.gamma, low[1], low[0], 1.0 - low.sum())
        theta, _, raw, taken, _ = newton_descent(
            Zt, weight, y, weight, fused, l2, d, theta, *units
        )
        n_iter += taken
        square = float(theta[:d] @ theta[:d])
        new_l2, new_low = settle_round(
            Zt, raw, y, weight, drawn.unit, fused, square, d, l2, low, pseudo, limits
        )
        new_l2 = new_l2 if unknown.penalty else l2
        new_low = new_low if unknown.plateaus else low
        steady = _is_steady(new_l2, l2, new_low, low)
        l2, low = new_l2, new_low
        if steady:
            break
    return Settled(with_plateaus(with_penalty(objective, l2), low), theta, n_iter, rounds)


def _is_steady(new_l2: float, l2: float, new_low: Floats, low: Floats) -> bool:
    still = new_l2 == l2 or abs(log(new_l2 / l2)) < _STEADY
    return still and float(np.abs(new_low - low).sum()) < _STEADY_LOW


def _most_l2(objective: Fitted) -> float:
    return max(1.0, objective.rows.total(objective.weight))


def _penalty(objective: Fitted, theta: Floats, effective: float) -> float:
    """Return the penalty at which the settled weights are as large as it expects."""
    square = square_length(objective, theta)
    return float(np.clip(effective / max(square, 1e-300), _LEAST_L2, _most_l2(objective)))


def stray_rates(raw: Floats, drawn: Drawn, gamma: float, low: Floats, shares: Floats) -> Floats:
    """Return the plateaus of greatest posterior density, given scores not trained on.

    Every label is either drawn from the softmax or has nothing to do with its row; the rate of
    the latter, class by class, is the plateau.
    """
    if raw.ndim == 1:
        own = expit(gamma * drawn.y * raw)
        codes = (drawn.y > 0).astype(np.intp)
    else:
        codes = drawn.y
        own = np.exp(log_softmax(gamma * raw, axis=1)[np.arange(len(codes)), codes])
    total = float(drawn.weight.sum()) + _STRAY + _TRUE
    most = _MOST_LOW if len(low) == 2 else _MOST_WEIGHT
    pseudo = _STRAY * shares
    low = stray_share(own, codes, drawn.weight, low, pseudo, total, most, _EM_STEPS)
    # Every class must have room to be the most probable one.
    return np.minimum(low, low.min() + _MOST_APART * (1.0 - float(low.sum())))
