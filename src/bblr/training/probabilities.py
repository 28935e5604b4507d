"""Probabilities fitted to leave-one-out or held-out scores, and losses of held-out rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import softmax

from bblr._numeric.layouts import layout
from bblr._numeric.threads import map_each
from bblr.designs.matrix import MatrixDesign
from bblr.losses import BetaBernoulli, Plateaus
from bblr.solvers import Solution
from bblr.training.folds import Fold
from bblr.training.laplace import (
    MAX_PARAMETERS,
    Laplace,
    draw_rows,
    scores_alone,
)
from bblr.training.link import Link, fit_with_cost
from bblr.training.start import Fitted

Floats = NDArray[np.float64]

_FOLDS = 3
# Held-out rows of each class that fit a link as well as more of them do.
_ENOUGH = 200
# With fewer examples the base rate says more than they do.
_LEAST_WEIGHT = 10.0
# Held-out scores that differ by no more rank nothing.
_NO_SPREAD = 1e-9
# Rounding allowed when the cost of a link is compared with that of the base rate.
_ROUNDING = 1e-9


class Calibrated(NamedTuple):
    """A link, and what to add to the decision values before it: zero unless they mislead."""

    link: Link
    shift: Floats

    @classmethod
    def of_loss(cls, loss: BetaBernoulli) -> Self:
        """Return the link that a loss implies."""
        return cls(Link.of_loss(loss), np.zeros(1))


def calibrated(
    objective: Fitted, solution: Solution, descent: Any, known: Laplace | None = None
) -> Calibrated:
    """Return the link of a fit, from leave-one-out scores, or held-out scores if d is large.

    `known` is a normal approximation of the weights near the solution, if there is one.

    Without an intercept decision values cannot be shifted, and a poor link is kept.
    """
    free = objective.design.fit_intercept
    if objective.design.size <= MAX_PARAMETERS:
        drawn = draw_rows(objective)
        if drawn is not None:
            raw = solution.raw
            raw = objective.scores(solution.theta) if raw is None else raw
            scores = scores_alone(objective, solution.theta, raw, drawn, known)
            decision = objective.loss.decision(scores)
            return fit_link(decision, drawn.y, drawn.weight, free=free)
    return _held_out(objective, descent)


def _held_out(objective: Fitted, descent: Any) -> Calibrated:
    """Return the link fitted to the scores of a held-out third, or of all where rows are few."""
    rows = objective.rows
    y, weight = rows.local(objective.y), rows.local(objective.weight)
    counted = np.flatnonzero(weight > 0)
    order = np.random.default_rng(0).permutation(counted)
    order = order[np.argsort(y[order], kind="stable")]
    folds = [np.sort(order[k::_FOLDS]) for k in range(_FOLDS)]
    rarest = int(np.unique(y[counted], return_counts=True)[1].min())
    parts = folds[: -(-_ENOUGH * _FOLDS // rarest)]

    def scores(fold: int) -> Floats:
        others = np.sort(np.concatenate([part for k, part in enumerate(folds) if k != fold]))
        kept = rows.only(objective.weight, others)
        found = descent.minimise(replace(objective, weight=kept), np.zeros(objective.size))
        raw = objective.scores(found.theta) if found.raw is None else found.raw
        return rows.local(raw)[parts[fold]]

    # A third of a descent over wide rows is spent on vectors of weights, which threads that share
    # out the rows leave to one of them; those that share out the folds do not.
    here = isinstance(objective.design.design, MatrixDesign)
    held = map_each(scores, len(parts)) if here else [scores(k) for k in range(len(parts))]
    scaled = one_scale(held, [weight[part] for part in parts])
    decision = objective.loss.decision(np.concatenate(scaled))
    places = np.concatenate(parts)
    free = objective.design.fit_intercept
    return fit_link(decision, y[places], weight[places], free=free)


def one_scale(parts: Sequence[Floats], weights: Sequence[Floats]) -> list[Floats]:
    """Return the scores of several models, rescaled to their mean standard deviation.

    A large score of one model need not be large for another. Models whose scores do not vary are
    left as they are.
    """
    spreads = np.array([_spread(part, w) for part, w in zip(parts, weights, strict=True)])
    some = spreads > 1e-9 * max(float(spreads.max()), 1e-300)
    if not some.any():
        return list(parts)
    mean = float(spreads[some].mean())
    return [part * (mean / s) if s > 0 else part for part, s in zip(parts, spreads, strict=True)]


def shared_weight(weight: Floats, rows: NDArray[np.intp]) -> Floats:
    """Return the weight of each held-out score: a row held out thrice has a third in each."""
    return weight[rows] / np.bincount(rows, minlength=len(weight))[rows]


def pooled(
    parts: Sequence[Floats], folds: Sequence[Fold], weight: Floats
) -> tuple[Floats, NDArray[np.intp]]:
    """Return the decision values of the folds that vary, on one scale, and their rows."""
    said = [k for k, part in enumerate(parts) if float(np.ptp(part, axis=0).max()) > _NO_SPREAD]
    said = said or list(range(len(parts)))
    weights = [weight[folds[k].test] for k in said]
    decision = np.concatenate(one_scale([parts[k] for k in said], weights))
    return decision, np.concatenate([folds[k].test for k in said])


def _spread(scores: Floats, weight: Floats) -> float:
    """Return the weighted standard deviation of all scores about their means."""
    if not weight.sum() > 0:
        return 0.0
    mean = np.average(scores, axis=0, weights=weight)
    return float(np.sqrt(np.mean(np.average((scores - mean) ** 2, axis=0, weights=weight))))


def fit_link(decision: Floats, y: Any, weight: Floats, *, free: bool = True) -> Calibrated:
    """Return the maximum-likelihood link on held-out or leave-one-out decision values.

    If it does worse than the base rate, the values are shifted by the base rate and rescaled, so
    that they count for as much as they are worth; only if they are `free` to be shifted.
    """
    form, total = layout(decision), float(weight.sum())
    codes = form.codes(y)
    link, cost = fit_with_cost(decision, y, weight)
    held = np.bincount(codes, weight, form.n_classes(decision))
    # A class that no fold has held out has no base rate.
    if not (free and total >= _LEAST_WEIGHT and held.all()):
        return Calibrated(link, np.zeros(decision.shape[1:] or 1))
    shares = held / total
    at_base = -float(held @ np.log(shares))
    if cost <= at_base * (1.0 + _ROUNDING):
        return Calibrated(link, np.zeros(decision.shape[1:] or 1))
    return _from_base_rate(decision, codes, weight, shares)


def likeliest_plateaus(decision: Floats, y: Any, weight: Floats) -> Plateaus:
    """Return the maximum-likelihood plateaus on held-out decision values."""
    return Link.fit(decision, y, weight, even=False).plateaus


def _from_base_rate(
    decision: Floats, codes: NDArray[np.intp], weight: Floats, shares: Floats
) -> Calibrated:
    """Return the link log P(k) = gamma * decision_k + log(share_k) + constant."""
    form = layout(decision)
    scores = form.each(decision)
    scale = _spread(scores, weight) or 1.0
    logs, rows = np.log(shares), np.arange(len(codes))

    def slope(log_gamma: float) -> float:
        p = softmax(np.exp(log_gamma) / scale * scores + logs, axis=1)
        return float(weight @ (np.einsum("ij,ij->i", p, scores) - scores[rows, codes]))

    # The cost is convex. Its slope has a root to the last digits, which a minimum has not. At the
    # lower end it is the base rate to five digits, and the shift still of a size to show.
    low, high = -5.0, 3.0
    if slope(low) < 0.0 < slope(high):
        log_gamma = float(brentq(slope, low, high))
    else:
        log_gamma = low if slope(low) >= 0.0 else high
    gamma = float(np.exp(log_gamma)) / scale
    return Calibrated(Link(Plateaus.none(len(shares)), gamma), form.centred(logs) / gamma)


SCORINGS = ("accuracy", "balanced_accuracy", "neg_log_loss", "neg_brier_score", "roc_auc")


def row_losses(scoring: str, decision: Floats, y: Any, weight: Floats) -> Floats:
    """Return a loss for each held-out row; their weighted mean is what to minimise.

    Parameters
    ----------
    scoring : str
        One of `SCORINGS`. Probabilities come from the link that suits the decision values best.
    decision : ndarray of shape (n_rows,) or (n_rows, n_classes)
        Held-out decision values.
    y : ndarray of shape (n_rows,)
        Labels -1 and +1, or class numbers.
    weight : ndarray of shape (n_rows,)
        Weights.
    """
    form = layout(decision)
    codes, classes = form.codes(y), form.n_classes(decision)
    if scoring == "roc_auc":
        return _misplaced(decision, codes, weight)
    if scoring in ("accuracy", "balanced_accuracy"):
        wrong: Floats = form.is_wrong(form.labels(y), decision).astype(np.float64)
        if scoring == "accuracy":
            return wrong
        share = np.bincount(codes, weight, classes) / float(weight.sum())
        return wrong / (classes * share[codes])
    link, shift = fit_link(decision, y, weight)
    found = link.table(decision + shift)
    own = found[np.arange(len(codes)), codes]
    if scoring == "neg_log_loss":
        return -np.log(np.maximum(own, np.finfo(np.float64).tiny))
    square = np.einsum("ij,ij->i", found, found) - 2.0 * own + 1.0
    return form.brier * square


def _misplaced(decision: Floats, codes: NDArray[np.intp], weight: Floats) -> Floats:
    """Return, for each row, the share of the other class that is ranked on its wrong side.

    The weighted mean is 1 - AUC; with many classes, the mean over each class against the rest.
    """
    columns = layout(decision).rankings(decision)
    total = float(weight.sum())
    losses = np.zeros(len(codes))
    for k, scores in columns.items():
        own = codes == k
        if not (weight[own].sum() > 0 and weight[~own].sum() > 0):
            continue  # one of the two sides was never held out: there is nothing to rank
        for side, sign in ((own, 1.0), (~own, -1.0)):
            beyond = _share_beyond(sign * scores[side], sign * scores[~side], weight[~side])
            losses[side] += beyond * total / (2.0 * float(weight[side].sum()) * len(columns))
    return losses


def _share_beyond(scores: Floats, others: Floats, weight: Floats) -> Floats:
    """Return the share of the others, by weight, that lie above each score; ties count half."""
    order = np.argsort(others)
    total = np.concatenate([[0.0], np.cumsum(weight[order])])
    above = total[-1] - total[np.searchsorted(others[order], scores, side="right")]
    equal = total[-1] - above - total[np.searchsorted(others[order], scores, side="left")]
    return (above + 0.5 * equal) / total[-1]
