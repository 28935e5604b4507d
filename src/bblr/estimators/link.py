"""The link from decision values to probabilities, and how it is fitted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, log
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from bblr._numeric.tensors import is_tensor, sigmoid
from bblr.losses import BetaBernoulli, BetaPrior

Floats = NDArray[np.float64]

# Width of a vague prior on log gamma about the scale of the scores: where the classes separate
# the likelihood alone would send gamma to infinity.
_LOG_GAMMA_SCALE = 3.0
# Free parameters of plateaus beyond this are those of plateaus at 0, 1/2 or 1.
_FAR = 30.0
# Error rates below this are no error rates of floats.
_LEAST_RATE = 1e-13
# The least number above 1/2.
_ABOVE = 0.5 + 0.5 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Link:
    """mu = a + b * sigmoid(gamma * decision + offset), with mu = 1/2 at a decision value of 0.

    Tying the offset to the plateaus keeps the sign of the decision and the more probable class
    the same thing, whatever the plateaus are.

    Parameters
    ----------
    prior : BetaPrior
        Plateaus; they must straddle 1/2.
    gamma : float
        Sharpness.
    """

    prior: BetaPrior
    gamma: float

    @property
    def offset(self) -> float:
        """Argument of the sigmoid at a decision value of 0."""
        return self.gamma * BetaBernoulli.from_prior(self.prior, self.gamma).threshold

    def probability(self, decision: Any) -> Floats:
        """Return the probability of the positive class."""
        if not is_tensor(decision):
            decision = np.asarray(decision, dtype=np.float64)
        found = self.prior.a + self.prior.b * sigmoid(self.gamma * decision + self.offset)
        # Between plateaus that nearly touch, rounding would carry it across 1/2.
        if is_tensor(found):
            above, below = found.clamp(min=_ABOVE), found.clamp(max=0.5)
            return above.where(decision > 0, below)
        return np.where(decision > 0, np.maximum(found, _ABOVE), np.minimum(found, 0.5))

    @classmethod
    def fit(
        cls, decision: Floats, y: Floats, weight: Floats, *, start: Self | None = None
    ) -> Self:
        """Return the link of greatest likelihood on decision values that were not trained on.

        One imagined example on the wrong side of each plateau keeps the plateaus off 0 and 1, as
        the rule of succession does.
        """
        scale = float(np.sqrt(np.average(decision**2, weights=weight))) or 1.0
        wrong = y * decision <= 0
        rates = _rates(wrong, y, weight)
        first = np.array([*_free_from_plateaus(*rates), log(2.0)])
        free = _newton(lambda x: _value_gradient(x, decision / scale, y, weight), first)
        low, high = _plateaus(free)
        return cls(BetaPrior(low, high - low), exp(free[2]) / scale)


@dataclass(frozen=True)
class Step:
    """The link in the limit of gamma: the upper plateau where the decision is positive.

    Parameters
    ----------
    prior : BetaPrior
        Plateaus; they must straddle 1/2.
    """

    prior: BetaPrior

    def probability(self, decision: Any) -> Floats:
        """Return the probability of the positive class."""
        above = decision > 0
        # Torch would take single precision for its default.
        return self.prior.a + self.prior.b * (above.double() if is_tensor(above) else 1.0 * above)


def _rates(wrong: NDArray[np.bool_], y: Floats, weight: Floats) -> tuple[float, float]:
    """Return the lower and the upper plateau that the asymptotic analysis suggests."""
    up = float(weight[y > 0].sum())
    down = float(weight[y < 0].sum())
    false_negative = (float(weight[(y > 0) & wrong].sum()) + 1.0) / (up + 2.0)
    false_positive = (float(weight[(y < 0) & wrong].sum()) + 1.0) / (down + 2.0)
    low = min(max(false_positive, _LEAST_RATE), 0.49)
    return low, 1.0 - min(max(false_negative, _LEAST_RATE), 0.49)


def asymptotic_prior(raw: Floats, threshold: float, y: Floats, weight: Floats) -> BetaPrior:
    """Return the plateaus equal to the smoothed error rates under a hard threshold."""
    low, high = _rates(y * (raw - threshold) <= 0, y, weight)
    return BetaPrior(low, high - low)


def _plateaus(free: Floats) -> tuple[float, float]:
    # a in (0, 1/2) and a + b in (1/2, 1), whatever the free parameters are, and however heavy the
    # examples: beyond the bound floats would reach the ends.
    first, second = np.clip(free[:2], -_FAR, _FAR)
    return 0.5 * float(expit(first)), 1.0 - 0.5 * float(expit(second))


def _free_from_plateaus(low: float, high: float) -> tuple[float, float]:
    def logit(p: float) -> float:
        return log(p) - log(1.0 - p)

    return logit(2.0 * low), logit(2.0 * (1.0 - high))


def _newton(function: Callable[[Floats], tuple[float, Floats]], x: Floats) -> Floats:
    """Return the minimum of a function of three variables, to the last digits.

    The likelihood is flat in places, and only a second-order method ends at the same point for
    the same data presented in another way. Negative curvature is turned over.
    """
    value, gradient = function(x)
    for _ in range(100):
        h = 1e-5
        rows = [(function(x + h * e)[1] - function(x - h * e)[1]) / (2 * h) for e in np.eye(3)]
        eigenvalues, vectors = np.linalg.eigh(0.5 * (np.array(rows) + np.array(rows).T))
        curvature = np.maximum(np.abs(eigenvalues), 1e-8 * np.abs(eigenvalues).max() + 1e-12)
        step = -vectors @ ((vectors.T @ gradient) / curvature)
        length = float(np.abs(step).max())
        if length == 0.0:
            break
        step *= min(1.0, 2.0 / length)
        t = 1.0
        for _ in range(40):
            new_value, new_gradient = function(x + t * step)
            if new_value <= value + 1e-4 * t * float(step @ gradient):
                break
            t *= 0.5
        else:
            break
        x, value, gradient = x + t * step, new_value, new_gradient
        if float(np.abs(t * step).max()) < 1e-10:
            break
    return x


def _value_gradient(
    free: Floats, decision: Floats, y: Floats, weight: Floats
) -> tuple[float, Floats]:
    low, high = _plateaus(free)
    gamma = exp(free[2])
    span = high - low
    up, down = 0.5 - low, high - 0.5
    offset = log(up) - log(down)
    s = expit(gamma * decision + offset)
    mu = low + span * s
    own = np.where(y > 0, mu, 1.0 - mu)
    value = -float(weight @ np.log(own)) - log(low) - log(1.0 - high)
    value += 0.5 * (free[2] / _LOG_GAMMA_SCALE) ** 2
    pull = -weight * np.where(y > 0, 1.0, -1.0) / own
    bend = span * s * (1.0 - s)
    # The offset moves with the plateaus: d offset = -d low / up - d high / down.
    by_low = float(pull @ (1.0 - s - bend / up)) - 1.0 / low
    by_high = float(pull @ (s - bend / down)) + 1.0 / (1.0 - high)
    by_gamma = float(pull @ (bend * gamma * decision)) + free[2] / _LOG_GAMMA_SCALE**2
    slope_low = low * (1.0 - 2.0 * low)
    slope_high = -(1.0 - high) * (1.0 - 2.0 * (1.0 - high))
    return value, np.array([by_low * slope_low, by_high * slope_high, by_gamma])
