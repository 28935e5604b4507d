"""The link from decision values to probabilities, and how it is fitted."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, softmax

from bblr._numeric.layouts import layout
from bblr._numeric.tensors import floats, namespace
from bblr.losses import BetaBernoulli, Plateaus
from bblr.training.compiled.link_likelihood import (
    LEAST_RATE,
    likeliest_link,
    likeliest_plateau,
)

Floats = NDArray[np.float64]

# With more than two classes the weight of the plateaus stays below these, so that every class can
# be the most probable one.
_MOST_EVEN = 0.95
_MOST = 0.5
# Width of a vague prior on log gamma, as for two classes.
_LOG_GAMMA_SCALE = 3.0
_FAR = 50.0
# Newton steps after a first-order method, and the distance for their second differences.
_POLISHING, _APART = 5, 1e-4


@dataclass(frozen=True)
class Link:
    """P(k) = low_k + b * softmax_k(gamma * decision), the largest decision value winning.

    With two classes there is one decision value and mu = a + b * sigmoid(gamma * decision +
    offset), with mu = 1/2 at a decision value of 0: tying the offset to the plateaus keeps the
    sign of the decision and the more probable class the same thing, whatever the plateaus are.

    Parameters
    ----------
    plateaus : Plateaus
        Plateaus; with two classes they must straddle 1/2, with more they must be equal.
    gamma : float
        Sharpness.
    """

    plateaus: Plateaus
    gamma: float

    @property
    def offset(self) -> float:
        """Argument of the sigmoid at a decision value of 0; zero with more than two classes."""
        return self.gamma * BetaBernoulli(self.plateaus, self.gamma).threshold

    def probability(self, decision: Any) -> Floats:
        """Return the probability of the positive class, or of each of more than two classes.

        Parameters
        ----------
        decision : array-like of shape (n_rows,) or (n_rows, n_classes)
            Decision values, or a tensor of them.
        """
        decision = floats(decision)
        form, scores = layout(decision), self.gamma * decision + self.offset
        found = form.probability(scores, self.plateaus.low, self.plateaus.b)
        # Between plateaus that nearly touch, rounding would carry it across 1/2.
        probability: Floats = form.own_side(decision, found)
        return probability

    def table(self, decision: Any) -> Floats:
        """Return the probability of each class, with a column for each even if there are two."""
        found = self.probability(decision)
        table: Floats = layout(found).table(found)
        return table

    def without_plateaus(self) -> Self:
        """Return the link to the probability of the true class, whatever is recorded."""
        return type(self)(Plateaus.none(self.plateaus.n_classes), self.gamma)

    @classmethod
    def of_loss(cls, loss: BetaBernoulli) -> Self:
        """Return the link that the loss implies; with more than two classes, one plateau for all.

        The largest decision value must have the largest probability, and unequal plateaus are in
        the decision values already.
        """
        plateaus = loss.plateaus
        if loss.n_scores > 1:
            plateaus = Plateaus.symmetric(plateaus.w, plateaus.n_classes)
        return cls(plateaus, loss.gamma)

    @classmethod
    def fit(cls, decision: Floats, y: Any, weight: Floats, *, even: bool = True) -> Self:
        """Return the maximum-likelihood link on held-out or leave-one-out decision values.

        One pseudo-example on the wrong side of each plateau keeps the plateaus off 0, as in the
        rule of succession.

        Parameters
        ----------
        decision : ndarray of shape (n_rows,) or (n_rows, n_classes)
            Decision values.
        y : ndarray of shape (n_rows,)
            Labels: -1 and +1, or class numbers where there are several decision values.
        weight : ndarray of shape (n_rows,)
            Weights.
        even : bool, default=True
            With more than two classes, whether all get the same plateau, so that the largest score
            wins.
        """
        link = fit_with_cost(decision, y, weight, even=even)[0]
        return cls(link.plateaus, link.gamma)


def fit_with_cost(
    decision: Floats, y: Any, weight: Floats, *, even: bool = True
) -> tuple[Link, float]:
    """Return the link of `Link.fit`, and minus the log-likelihood of the labels under it."""
    if decision.ndim == 1:
        data = np.array([decision, y, weight], dtype=np.float64)
        low, high, gamma, cost = likeliest_link(data[0], data[1], data[2])
        return Link(Plateaus.binary(low, high - low), gamma), cost
    link = Link(*_fit_several(decision, y, weight, even))
    own = layout(decision).of_class(link.probability(decision), y)
    return link, -float(weight @ np.log(own))


def _fit_several(decision: Floats, y: Any, weight: Floats, even: bool) -> tuple[Plateaus, float]:
    classes = decision.shape[1]
    centred = decision - decision.mean(axis=1, keepdims=True)
    # Through a power of two, which changes no digit: squares of large scores may overflow.
    power = np.frexp(np.abs(centred).max())[1]
    spread = np.average((np.ldexp(centred, -power) ** 2).mean(axis=1), weights=weight)
    scale = float(np.ldexp(np.sqrt(spread), power)) or 1.0
    below = (decision - decision.max(axis=1, keepdims=True)) / scale
    fit = _Likelihood(below, np.asarray(y, dtype=np.intp), weight, even)
    wrong = np.argmax(decision, axis=1) != y
    rate = (float(weight @ wrong) + classes) / (float(weight.sum()) + classes)
    share = min(max(rate / fit.most, 1e-6), 0.9)
    first = np.zeros(2 if even else 2 + classes)
    first[:2] = log(share / (1.0 - share)), log(2.0)
    if even:
        data = np.ascontiguousarray(below), fit.y, np.asarray(weight, dtype=np.float64)
        found = likeliest_plateau(first, *data, fit.most)[0]
    else:
        found = _polished(
            fit,
            minimize(
                fit, first, jac=True, method="BFGS", options={"gtol": 1e-9, "maxiter": 500}
            ).x,
        )
    w, theta, gamma = fit.unpack(found)
    return Plateaus(tuple(w * theta)), gamma / scale


def _polished(fit: _Likelihood, free: Floats) -> Floats:
    """Return where a few Newton steps lead: the same place whatever rounding did on the way."""
    value, slope = fit(free)
    for _ in range(_POLISHING):
        moved = np.eye(len(free)) * _APART
        bend = np.array([fit(free + step)[1] - fit(free - step)[1] for step in moved])
        # A constant added to all of theta changes nothing: the least step that serves.
        step = np.linalg.lstsq(0.5 * (bend + bend.T) / (2.0 * _APART), slope, rcond=1e-9)[0]
        there = free - step
        new_value, new_slope = fit(there)
        if not (np.abs(new_slope).max() < np.abs(slope).max() and new_value < value + 1e-9):
            break
        free, value, slope = there, new_value, new_slope
    return free


@dataclass(frozen=True)
class Step:
    """The link in the limit of gamma: the upper plateau where the decision is positive.

    Parameters
    ----------
    plateaus : Plateaus
        Plateaus; they must straddle 1/2.
    """

    plateaus: Plateaus

    def probability(self, decision: Any) -> Floats:
        """Return the probability of the positive class."""
        low, high = self.plateaus.low[1], self.plateaus.low[1] + self.plateaus.b
        # As wide as the decision: of two numbers torch would make single precision.
        found: Floats = namespace(decision).where(decision > 0, high, low + 0.0 * decision)
        return found


def _rates(wrong: NDArray[np.bool_], y: Floats, weight: Floats) -> tuple[float, float]:
    """Return the lower and the upper plateau that the asymptotic analysis suggests."""
    up = float(weight[y > 0].sum())
    down = float(weight[y < 0].sum())
    false_negative = (float(weight[(y > 0) & wrong].sum()) + 1.0) / (up + 2.0)
    false_positive = (float(weight[(y < 0) & wrong].sum()) + 1.0) / (down + 2.0)
    low = min(max(false_positive, LEAST_RATE), 0.49)
    return low, 1.0 - min(max(false_negative, LEAST_RATE), 0.49)


def asymptotic_plateaus(wrong: NDArray[np.bool_], y: Floats, weight: Floats) -> Plateaus:
    """Return plateaus equal to the smoothed error rates of the two classes."""
    low, high = _rates(wrong, y, weight)
    return Plateaus.binary(low, high - low)


@dataclass(frozen=True, eq=False)
class _Likelihood:
    """Negative log-likelihood of unconstrained w, gamma and theta, and its gradient.

    `decision` is the score of each class less the highest of its row.
    """

    decision: Floats
    y: NDArray[np.intp]
    weight: Floats
    even: bool

    @property
    def most(self) -> float:
        return _MOST_EVEN if self.even else _MOST

    def unpack(self, free: Floats) -> tuple[float, Floats, float]:
        # A line search may look far beyond what numbers can hold; the value there is large anyway.
        free = np.clip(free, -_FAR, _FAR)
        classes = self.decision.shape[1]
        theta = np.full(classes, 1.0 / classes) if self.even else np.asarray(softmax(free[2:]))
        return self.most * float(expit(free[0])), theta, exp(free[1])

    def __call__(self, free: Floats) -> tuple[float, Floats]:
        w, theta, gamma = self.unpack(free)
        rows, ones = np.arange(len(self.y)), np.ones(self.decision.shape[1])
        s = np.exp(gamma * self.decision)
        s /= (s @ ones)[:, None]
        own = s[rows, self.y]
        p = w * theta[self.y] + (1.0 - w) * own
        total = float(self.weight.sum())
        value = -float(self.weight @ np.log(p)) - float(np.log(w * theta).sum())
        value += 0.5 * (free[1] / _LOG_GAMMA_SCALE) ** 2
        pull = self.weight / p
        slope_w = w * (1.0 - w / self.most)
        by_w = -float(pull @ (theta[self.y] - own)) - len(theta) / w
        mean = np.einsum("ij,ij->i", s, self.decision)
        by_gamma = -(1.0 - w) * float(pull @ (own * (self.decision[rows, self.y] - mean)))
        gradient = [by_w * slope_w, by_gamma * gamma + free[1] / _LOG_GAMMA_SCALE**2]
        if not self.even:
            by_theta = -w * np.bincount(self.y, pull, len(theta)) - 1.0 / theta
            gradient += list(theta * (by_theta - float(by_theta @ theta)))
        # The mean over examples: the tolerance of the gradient then means the same for all sizes.
        return value / total, np.array(gradient) / total
