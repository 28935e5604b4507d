"""The generalised Beta-Bernoulli loss, BB-gamma, and the logistic loss it generalises."""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import expit

from bblr._numeric.fused import BETA_BERNOULLI, FusedLoss
from bblr.losses.base import Floats, Loss, check_gamma, margin
from bblr.losses.beta_prior import BetaPrior


@dataclass(frozen=True)
class BetaBernoulli(Loss):
    """Negative log of mu = a + b * sigmoid(gamma * raw), equations (5) and (6) of the paper.

    An example of label t has probability low + b * sigmoid(t * gamma * raw) with low = a for
    t = +1 and low = 1 - a - b for t = -1, so an outlier costs at most -log(low). For
    gamma -> infinity the cost is -log(low + b) for a right and -log(low) for a wrong sign.

    Parameters
    ----------
    a, b : float
        Plateaus; a = 0 and b = 1 is the logistic loss.
    gamma : float, default=1
        Sharpness.

    Examples
    --------
    >>> from bblr.losses import BetaBernoulli
    >>> loss = BetaBernoulli(a=0.2, b=0.6, gamma=4.0)
    >>> loss.value([1, 1], [-10.0, -1000.0]).round(3)      # an outlier costs only so much
    array([1.609, 1.609])
    >>> loss.probability([-10.0, 0.0, 10.0]).round(3)
    array([0.2, 0.5, 0.8])
    """

    name: ClassVar[str] = "beta-bernoulli"
    has_probability: ClassVar[bool] = True

    a: float
    b: float
    gamma: float = 1.0

    def __post_init__(self) -> None:
        check_gamma(self.gamma)
        prior = BetaPrior(self.a, self.b)
        for name, value in (("a", prior.a), ("b", prior.b), ("gamma", float(self.gamma))):
            object.__setattr__(self, name, value)

    @classmethod
    def from_prior(cls, prior: BetaPrior, gamma: float = 1.0) -> Self:
        """Make the loss of a Beta prior.

        Parameters
        ----------
        prior : BetaPrior
            Plateaus.
        gamma : float, default=1
            Sharpness.

        Returns
        -------
        BetaBernoulli
            The loss.

        Examples
        --------
        >>> from bblr.losses import BetaBernoulli, BetaPrior
        >>> BetaBernoulli.from_prior(BetaPrior(0.2, 0.6), gamma=2.0)
        BetaBernoulli(a=0.2, b=0.6, gamma=2.0)
        """
        return cls(prior.a, prior.b, gamma)

    @property
    def low_negative(self) -> float:
        """Probability a negative example keeps however wrong its score is: 1 - a - b."""
        # Symmetric plateaus such as (0.1, 0.8) must come out symmetric to the last bit.
        low = 1.0 - self.b - self.a
        if abs(low - self.a) < 1e-15:
            return self.a
        # Where a + b = 1 there is no room below, whatever the rounding of 1 - b - a.
        return 0.0 if low < 1e-15 else low

    def _low(self, y: Any) -> Floats:
        return np.where(np.asarray(y) > 0, self.a, self.low_negative)

    def value_gradient(self, y: Any, raw: Any) -> tuple[Floats, Floats]:
        """Return the cost of each example and its derivative by the raw score."""
        y = np.asarray(y, dtype=np.float64)
        z = self.gamma * margin(y, raw)
        low = self._low(y)
        bare = low == 0.0
        rising = self.b * expit(z)
        own = np.where(bare, 1.0, low + rising)
        # Without a plateau -log(b * sigmoid(z)) has a linear tail that p itself cannot express.
        value = np.where(bare, np.logaddexp(0.0, -z) - log(self.b), -np.log(own))
        share = np.where(bare, 1.0, rising / own)
        return value, -self.gamma * y * expit(-z) * share

    def limit(self, y: Any, raw: Any) -> Floats:
        """Return the cost of each example as gamma grows without bound."""
        z = margin(y, raw)
        low = self._low(y)
        with np.errstate(divide="ignore"):
            return -np.log(low + self.b * np.heaviside(z, 0.5))

    def probability(self, raw: Any) -> Floats:
        """Return mu, the probability of the positive class."""
        return self.a + self.b * expit(self.gamma * np.asarray(raw, dtype=np.float64))

    def curvature(self, raw: Any) -> Floats:
        """Return the Fisher information by the raw score, (dmu/draw)^2 / (mu (1 - mu))."""
        z = self.gamma * np.asarray(raw, dtype=np.float64)
        up, down = expit(z), expit(-z)
        odds_up = 1.0 if self.a == 0.0 else self.b * up / (self.a + self.b * up)
        low = self.low_negative
        odds_down = 1.0 if low == 0.0 else self.b * down / (low + self.b * down)
        return self.gamma**2 * up * down * odds_up * odds_down

    @property
    def threshold(self) -> float:
        """Raw score at which mu = 1/2; infinite where the plateaus do not straddle 1/2."""
        up, down = 0.5 - self.a, 0.5 - self.low_negative
        if up <= 0:
            return -np.inf
        if down <= 0:
            return np.inf
        return (log(up) - log(down)) / self.gamma

    def zero_one_scale(self, t: int = 1) -> tuple[float, float]:
        """Return (s, c) such that s * (L - c) tends to the zero-one loss for label t.

        With symmetric plateaus both labels share one pair; otherwise a false negative and a false
        positive cost differently and each label has its own.

        Parameters
        ----------
        t : {-1, 1}, default=1
            The label.

        Returns
        -------
        s : float
            Scale.
        c : float
            Shift: what a right answer costs in the limit.

        Examples
        --------
        >>> from bblr.losses import BetaBernoulli
        >>> loss = BetaBernoulli(a=0.1, b=0.8, gamma=50.0)
        >>> s, c = loss.zero_one_scale()
        >>> abs(s * (loss.value([1, 1], [-1.0, 1.0]) - c)).round(6)
        array([1., 0.])
        """
        if t not in (-1, 1):
            raise ValueError(f"t must be -1 or +1, got {t!r}.")
        low = self.a if t == 1 else self.low_negative
        if low == 0.0:
            raise ValueError(
                "Without a plateau the loss is unbounded and no scale makes it the zero-one loss; "
                "choose a > 0 and a + b < 1."
            )
        shift = -log(low + self.b)
        return 1.0 / (-log(low) - shift), shift

    @property
    def fused(self) -> FusedLoss:
        """The loss as the fused kernels know it."""
        return FusedLoss(BETA_BERNOULLI, self.gamma, self.a, self.low_negative, self.b)


@dataclass(frozen=True)
class Logistic(Loss):
    """log(1 + exp(-z)), equation (2) of the paper; it has no gamma and is its own limit.

    Examples
    --------
    >>> from bblr.losses import Logistic
    >>> Logistic().value([1, 1], [-100.0, 0.0]).round(3)      # no bound on what an outlier costs
    array([100.   ,   0.693])
    """

    name: ClassVar[str] = "logistic"
    has_probability: ClassVar[bool] = True

    def value_gradient(self, y: Any, raw: Any) -> tuple[Floats, Floats]:
        """Return the cost of each example and its derivative by the raw score."""
        z = margin(y, raw)
        return np.logaddexp(0.0, -z), -np.asarray(y, dtype=np.float64) * expit(-z)

    def probability(self, raw: Any) -> Floats:
        """Return the probability of the positive class."""
        return np.asarray(expit(np.asarray(raw, dtype=np.float64)))

    def curvature(self, raw: Any) -> Floats:
        """Return the second derivative by the raw score."""
        raw = np.asarray(raw, dtype=np.float64)
        return np.asarray(expit(raw) * expit(-raw))

    @property
    def fused(self) -> FusedLoss:
        """The loss as the fused kernels know it: Beta-Bernoulli without plateaus."""
        return FusedLoss(BETA_BERNOULLI, 1.0)
