"""The link from decision values to probabilities, and how it is fitted."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bblr._numeric.likelihood import likeliest, plateaus_of
from bblr._numeric.tensors import is_tensor, sigmoid
from bblr.losses import BetaBernoulli, BetaPrior

Floats = NDArray[np.float64]

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

    def without_plateaus(self) -> Self:
        """Return the link to the probability of the true class, whatever is recorded."""
        return type(self)(BetaPrior(0.0, 1.0), self.gamma)

    @classmethod
    def fit(cls, decision: Floats, y: Floats, weight: Floats) -> Self:
        """Return the link of greatest likelihood on decision values that were not trained on.

        One imagined example on the wrong side of each plateau keeps the plateaus off 0 and 1, as
        the rule of succession does.
        """
        decision, y, weight = (np.ascontiguousarray(a, np.float64) for a in (decision, y, weight))
        scale = float(np.sqrt(np.average(decision**2, weights=weight))) or 1.0
        unit = decision / scale
        # From the shares of positives on either side, and from next to no plateaus: any one may
        # end on a plateau at 1/2.
        rare = min(max(1.0 / (float(weight.sum()) + 2.0), _LEAST_RATE), 0.49)
        ends = [
            likeliest(np.array([*_free_from_plateaus(*start), log(2.0)]), unit, y, weight)
            for start in (_shares(decision > 0, y, weight), (rare, 1.0 - rare))
        ]
        free = min(ends, key=lambda end: end[1])[0]
        low, high = plateaus_of(free)
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


def _shares(above: NDArray[np.bool_], y: Floats, weight: Floats) -> tuple[float, float]:
    """Return the share of positives below and above the threshold, on their own side of 1/2."""
    found = []
    for side in (~above, above):
        positive = float(weight[side & (y > 0)].sum()) + 1.0
        found.append(positive / (float(weight[side].sum()) + 2.0))
    low, high = max(found[0], _LEAST_RATE), min(found[1], 1.0 - _LEAST_RATE)
    return min(low, 0.49), max(high, 0.51)


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


def _free_from_plateaus(low: float, high: float) -> tuple[float, float]:
    def logit(p: float) -> float:
        return log(p) - log(1.0 - p)

    return logit(2.0 * low), logit(2.0 * (1.0 - high))
