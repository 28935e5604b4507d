"""Penalty and plateaus estimated from the data by marginal likelihood.

The penalty is MacKay's: effective parameters divided by squared weights. The plateaus are the
rates of labels that have nothing to do with their row, by expectation and maximisation on
leave-one-out scores. Each depends on the other, so both are updated between steps of the descent
until neither moves.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bblr._numeric.arrays import quantiles
from bblr._numeric.layouts import layout
from bblr.designs import ScaledDesign
from bblr.designs.small_tables import Rules
from bblr.inputs import Training
from bblr.losses import BetaBernoulli, Plateaus
from bblr.solvers import LBFGS, FisherScoring
from bblr.training.compiled.settling import stray_share
from bblr.training.compiled.whole_fit import Descents, Rounds, Walked, ahead, fit_two
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
    n_iter: int
    rounds: int
    # The scores of all rows that count, and the weights of those, where they are at hand.
    raw: Floats | None = None
    weight: Floats | None = None


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
        return Settled(objective, theta, 0, 0)
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
            return _settle_few(objective, theta, drawn, unknown, shares)
    tol = _TOL_TWO if objective.n_scores == 1 else _TOL_MANY
    descent: Any = _NEWTON if takes_newton(*size) else LBFGS(tol=tol, max_iter=_STEPS_MANY)
    drawn = draw_rows(objective) if unknown.plateaus else None
    n_iter = rounds = 0
    precondition, before, rules = None, np.empty((3, objective.loss.n_classes + 1)), _rules(objective)
    known: Laplace | None = None
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
        new_l2, steady = ahead.py_func(l2, low, new_l2, new_low, before, rounds > 1, rules)
        objective = with_plateaus(with_penalty(objective, new_l2), new_low)
        if steady and known is None:
            break
        # The information serves until nothing moves by it, and is then formed anew.
        known = about if isinstance(about, Laplace) and not steady else None
    return Settled(objective, theta, n_iter, rounds)


def _settle_few(
    objective: Fitted, theta: Floats, drawn: Drawn, unknown: Unknown, shares: Floats
) -> Settled:
    """Estimate with two classes on a sample of rows, in one compiled call."""
    still = Rules(*_NEWTON.rules)._replace(max_iter=0)
    found = walk_two(objective, drawn, drawn.weight, theta, (), still, still, still, unknown, shares)
    settled = with_plateaus(with_penalty(objective, found.l2), found.low)
    raw = found.raw if drawn.every else None
    return Settled(settled, found.theta, found.n_iter, found.rounds, raw, drawn.weight)


def walk_two(
    objective: Fitted, drawn: Drawn, first_weight: Floats, theta: Floats,
    gammas: tuple[float, ...], first: Rules, loose: Rules, last: Rules, unknown: Unknown,
    shares: Floats,
) -> Walked:  # fmt: skip
    """Go the way of a fit with two classes on the drawn rows, in one compiled call.

    It leads from the weights `theta` by a descent under the first weights of rows, the estimation
    of what is unknown, and a descent at each gamma; see :func:`fit_two`.
    """
    weight = drawn.weight
    units = min(1.0, float(first_weight.max())), min(1.0, float(weight.max()))
    descents = Descents(first, Rules(*_NEWTON.rules), loose, last, *units, float(weight.sum()))
    return Walked(*fit_two(
        drawn.columns, drawn.y, weight, first_weight, drawn.counted, drawn.unit,
        objective.loss.fused, np.array(gammas), penalty_of(objective), _STRAY * shares,
        unknown.penalty, unknown.plateaus, objective.design.n_features, theta, descents, LEAST_REST,
        _STRAY + _TRUE, _MOST_LOW, _EM_STEPS, _rules(objective),
    ))  # fmt: skip


def _rules(objective: Fitted) -> Rounds:
    most_l2 = max(1.0, objective.total)
    return Rounds(
        _ROUNDS, _STEADY, _STEADY_LOW, _STRIDE, _LEAST_L2, most_l2, _MOST_WEIGHT, _MOST_APART
    )


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
