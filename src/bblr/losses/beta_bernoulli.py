"""The generalised Beta-Bernoulli loss for any number of classes, and the logistic loss."""

from __future__ import annotations

from dataclasses import dataclass
from math import atanh, log
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, log_softmax, logsumexp, softmax

from bblr._numeric.threads import map_ranges
from bblr.losses.fused import (
    BETA_BERNOULLI,
    FusedLoss,
    FusedSoftmax,
    fisher_weights,
    positive_weights,
)
from bblr.losses.fused_line import along_grid
from bblr.losses.fused_softmax import softmax_fisher
from bblr.losses.loss import Loss
from bblr.losses.margins import Floats, check_gamma, margin
from bblr.losses.plateaus import Plateaus


@dataclass(frozen=True)
class BetaBernoulli(Loss):
    """Negative log of P(k) = low_k + b * softmax_k(gamma * raw), equations (5) and (6).

    With two classes a row has one score f and P(positive) = a + b * sigmoid(gamma * f), which is
    the softmax of (-f/2, f/2). An outlier costs at most -log(low) of its class. For
    gamma -> infinity the cost is -log(low + b) where the decision is right and -log(low) where it
    is wrong.

    By a score, with s the softmax, the derivative is -gamma * b * s_y / P(y) * ([k = y] - s_k):
    that of plain softmax times the share of P(y) that is not plateau.

    Parameters
    ----------
    plateaus : Plateaus
        Least probability of each class.
    gamma : float, default=1
        Sharpness.

    Examples
    --------
    >>> from bblr.losses import BetaBernoulli, Plateaus
    >>> loss = BetaBernoulli.binary(a=0.2, b=0.6, gamma=4.0)
    >>> loss.value([1, 1], [-10.0, -1000.0]).round(3)      # an outlier costs only so much
    array([1.609, 1.609])
    >>> loss.probability([-10.0, 0.0, 10.0]).round(3)
    array([0.2, 0.5, 0.8])
    >>> three = BetaBernoulli(Plateaus.symmetric(0.3, 3), gamma=9.0)
    >>> three.value([0, 0], [[5.0, 0.0, 0.0], [-999.0, 0.0, 0.0]]).round(2)
    array([0.22, 2.3 ])
    >>> three.probability([[5.0, 0.0, 0.0]]).round(2)
    array([[0.8, 0.1, 0.1]])
    """

    name: ClassVar[str] = "beta-bernoulli"
    has_probability: ClassVar[bool] = True

    plateaus: Plateaus
    gamma: float = 1.0

    def __post_init__(self) -> None:
        check_gamma(self.gamma)
        object.__setattr__(self, "gamma", float(self.gamma))

    @classmethod
    def binary(cls, a: float, b: float, gamma: float = 1.0) -> Self:
        """Make the loss of two classes: mu = a + b * sigmoid(gamma * raw).

        Parameters
        ----------
        a, b : float
            Plateaus; a = 0 and b = 1 is the logistic loss.
        gamma : float, default=1
            Sharpness.

        Returns
        -------
        BetaBernoulli
            The loss.

        Examples
        --------
        >>> from bblr.losses import BetaBernoulli
        >>> BetaBernoulli.binary(0.1, 0.8).plateaus.low
        (0.1, 0.1)
        """
        return cls(Plateaus.binary(a, b), gamma)

    @property
    def low(self) -> tuple[float, ...]:
        """Least probability of each class."""
        return self.plateaus.low

    @property
    def b(self) -> float:
        """Height of the plateaus above `low`."""
        return self.plateaus.b

    @property
    def n_scores(self) -> int:
        """How many scores a row has: 1 with two classes."""
        return 1 if len(self.low) == 2 else len(self.low)

    def _lowest(self, y: Any) -> Floats:
        """Return the plateau of the class of each example of two classes."""
        return np.where(np.asarray(y) > 0, self.low[1], self.low[0])

    def value_gradient(self, y: Any, raw: Any) -> tuple[Floats, Floats]:
        """Return the cost of each example and its derivative by the raw score or scores."""
        raw = np.asarray(raw, dtype=np.float64)
        if raw.ndim == 2:
            return self._softmax_value_gradient(np.asarray(y, dtype=np.intp), raw)
        y = np.asarray(y, dtype=np.float64)
        z = self.gamma * margin(y, raw)
        low = self._lowest(y)
        bare = low == 0.0
        rising = self.b * expit(z)
        own = np.where(bare, 1.0, low + rising)
        # Without a plateau -log(b * sigmoid(z)) has a linear tail that p itself cannot express.
        value = np.where(bare, np.logaddexp(0.0, -z) - log(self.b), -np.log(own))
        share = np.where(bare, 1.0, rising / own)
        return value, -self.gamma * y * expit(-z) * share

    def _softmax_value_gradient(self, y: NDArray[np.intp], raw: Floats) -> tuple[Floats, Floats]:
        logs = log_softmax(self.gamma * raw, axis=1)
        rows = np.arange(len(y))
        own_log = logs[rows, y]
        low = np.array(self.low)[y]
        rising = self.b * np.exp(own_log)
        bare = low == 0.0
        own = np.where(bare, 1.0, low + rising)
        value = np.where(bare, -own_log - log(self.b), -np.log(own))
        share = np.where(bare, 1.0, rising / own)
        residual = np.exp(logs)
        # 1 - s_y from the others, without loss of digits where s_y is nearly 1.
        residual[rows, y] = 0.0
        residual[rows, y] = -residual.sum(axis=1)
        return value, self.gamma * share[:, None] * residual

    def limit(self, y: Any, raw: Any) -> Floats:
        """Return the cost of each example as gamma grows without bound."""
        raw = np.asarray(raw, dtype=np.float64)
        if raw.ndim < 2:
            low, share = self._lowest(y), np.heaviside(margin(y, raw), 0.5)
        else:
            codes = np.asarray(y, dtype=np.intp)
            best = raw == raw.max(axis=1, keepdims=True)
            low = np.array(self.low)[codes]
            share = (best / best.sum(axis=1, keepdims=True))[np.arange(len(codes)), codes]
        with np.errstate(divide="ignore"):
            return -np.log(low + self.b * share)

    def probability(self, raw: Any) -> Floats:
        """Return the probability of the positive one of two classes, or of each of more."""
        scores = self.gamma * np.asarray(raw, dtype=np.float64)
        if scores.ndim < 2:
            return self.low[1] + self.b * np.asarray(expit(scores))
        return np.array(self.low) + self.b * np.asarray(softmax(scores, axis=1))

    def curvature(self, raw: Any) -> Floats:
        """Return the Fisher information by each raw score: the diagonal alone."""
        scores = self.gamma * np.asarray(raw, dtype=np.float64)
        if scores.ndim < 2:
            up, down = expit(scores), expit(-scores)
            own, other = (
                1.0 if low == 0.0 else self.b * s / (low + self.b * s)
                for low, s in ((self.low[1], up), (self.low[0], down))
            )
            return np.asarray(self.gamma**2 * up * down * own * other)
        s = np.asarray(softmax(scores, axis=1))
        p = np.array(self.low) + self.b * s
        q = np.divide(s * s, p, out=np.zeros_like(s), where=p > 0)
        own = q * (1.0 - s) ** 2 + s * s * (q.sum(axis=1, keepdims=True) - q)
        return np.asarray((self.gamma * self.b) ** 2 * own)

    def fisher(self, raw: Floats, weight: Floats) -> Floats:
        """Return `curvature` times the weight of each row, compiled."""
        out = np.empty(raw.shape)
        if raw.ndim == 1:
            fisher_weights(self.fused, raw, weight, out)
        else:
            softmax_fisher(self._fused_softmax, raw, weight, out)
        return out

    def positive_curvature(self, y: Any, raw: Floats, weight: Floats) -> Floats:
        """Return the weight of each row times a curvature of its loss that is never negative."""
        if raw.ndim == 2:
            return self.fisher(raw, weight)
        out, fused = np.empty_like(raw), self.fused

        def part(_: int, start: int, stop: int) -> None:
            positive_weights(fused, raw, y, weight, start, stop, out)

        map_ranges(part, len(raw), 32 * len(raw))
        return out

    def along(
        self, y: Any, raw: Floats, change: Floats, k: int, steps: Floats, weight: Floats
    ) -> Floats:
        """Return the weighted loss with score k moved by each of the steps times a change."""
        if raw.ndim == 1:
            found = along_grid(self.fused, raw, change, y, weight, steps)
            return super().along(y, raw, change, k, steps, weight) if found is None else found
        # The other classes are summed up once: with z the score less the log of that sum, the
        # class has softmax sigmoid(z) and the others share the rest.
        scores, own = self.gamma * raw, y == k
        rest = logsumexp(np.delete(scores, k, axis=1), axis=1)
        # The logarithm of what a class has of the rest. None exceeds their sum.
        lead = np.where(own, 0.0, np.minimum(scores[np.arange(len(y)), y] - rest, 0.0))
        sign = np.where(own, 1.0, -1.0)
        here, slope = sign * (scores[:, k] - rest), sign * self.gamma * change
        low, share = np.array(self.low)[y], self.b * np.exp(lead)
        bare = np.flatnonzero(low == 0.0)
        low[bare] = 1.0
        cost = np.empty(len(steps))
        for m, step in enumerate(steps):
            z = here + step * slope
            logs = np.log(low + share * expit(z))
            # Without a plateau the tail is linear, and the probability would underflow.
            logs[bare] = log(self.b) + lead[bare] + log_expit(z[bare])
            cost[m] = -float(weight @ logs)
        return cost

    @property
    def threshold(self) -> float:
        """Raw score at which both of two classes are equally probable.

        Infinite where the plateaus do not straddle 1/2.
        """
        up, down = 0.5 - self.low[1], 0.5 - self.low[0]
        if up <= 0:
            return -np.inf
        if down <= 0:
            return np.inf
        return (log(up) - log(down)) / self.gamma

    @property
    def shift(self) -> tuple[float, ...]:
        """What turns raw scores into those that decide, when added to them.

        With more than two classes, a class and the one with the highest plateau are equally
        probable at a difference of scores that the plateaus fix, where the others do not matter;
        that keeps the decision linear in the features. A class that never is gets -infinity.
        """
        if len(self.low) == 2:
            return (-self.threshold,)
        gaps = [(max(self.low) - low) / self.b for low in self.low]
        return tuple(-2.0 * atanh(gap) / self.gamma if gap < 1 else -np.inf for gap in gaps)

    def without_plateaus(self) -> BetaBernoulli:
        """Return logistic regression's loss at the same gamma."""
        return BetaBernoulli(Plateaus.none(len(self.low)), self.gamma)

    def zero_one_scale(self, t: int = 1) -> tuple[float, float]:
        """Return (s, c) such that s * (L - c) tends to the zero-one loss of two classes.

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
        >>> loss = BetaBernoulli.binary(a=0.1, b=0.8, gamma=50.0)
        >>> s, c = loss.zero_one_scale()
        >>> abs(s * (loss.value([1, 1], [-1.0, 1.0]) - c)).round(6)
        array([1., 0.])
        """
        if t not in (-1, 1):
            raise ValueError(f"t must be -1 or +1, got {t!r}.")
        low = self.low[1] if t == 1 else self.low[0]
        if low == 0.0:
            raise ValueError(
                "Without a plateau the loss is unbounded and no scale makes it the zero-one loss; "
                "choose a > 0 and a + b < 1."
            )
        shift = -log(low + self.b)
        return 1.0 / (-log(low) - shift), shift

    @property
    def fused(self) -> FusedLoss | FusedSoftmax:
        """The loss as the fused kernels know it."""
        if len(self.low) == 2:
            return FusedLoss(BETA_BERNOULLI, self.gamma, self.low[1], self.low[0], self.b)
        return self._fused_softmax

    @property
    def _fused_softmax(self) -> FusedSoftmax:
        return FusedSoftmax(np.array(self.low), self.b, self.gamma)


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
