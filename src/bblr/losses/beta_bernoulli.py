"""The generalised Beta-Bernoulli loss for any number of classes, and the logistic loss."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import atanh, log
from typing import Any, ClassVar, Self

import numpy as np

from bblr._numeric.layouts import layout, log_sigmoid
from bblr._numeric.tensors import beside, floats, namespace
from bblr.losses.fused import BETA_BERNOULLI, FusedLoss
from bblr.losses.fused_softmax import FusedSoftmax
from bblr.losses.loss import Loss
from bblr.losses.margins import Floats, margin
from bblr.losses.plateaus import Plateaus


def cost(own: Any, low: Any, b: Any) -> tuple[Any, Any]:
    """Return -log(low + b * exp(own)), and the share of that probability that is not plateau.

    `own` is the log of the softmax of the own class; low and b are numbers, arrays or tensors.
    """
    xp = namespace(own)
    bare, rising = low == 0.0, b * xp.exp(own)
    # Without a plateau -log(b * softmax) has a linear tail that P itself cannot express.
    total = xp.where(bare, b, low + rising)
    return xp.where(bare, -own, 0.0) - xp.log(total), xp.where(bare, 1.0, rising / total)


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

    Attributes
    ----------
    low : tuple of float
        Least probability of each class.
    b : float
        Height of the plateaus above `low`.

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
    takes_tensors: ClassVar[bool] = True

    plateaus: Plateaus
    gamma: float = 1.0
    low: tuple[float, ...] = field(init=False, repr=False, compare=False)
    b: float = field(init=False, repr=False, compare=False)
    fused: FusedLoss | FusedSoftmax = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        gamma, low, b = float(self.gamma), self.plateaus.low, self.plateaus.b
        # Asked for many times in a fit.
        vars(self).update(gamma=gamma, low=low, b=b)
        if len(low) == 2:
            vars(self).update(fused=FusedLoss(BETA_BERNOULLI, gamma, low[1], low[0], b))
        else:
            vars(self).update(n_scores=len(low), fused=FusedSoftmax(np.array(low), b, gamma))

    @classmethod
    def binary(cls, a: float, b: float, gamma: float = 1.0) -> Self:
        """Make the loss for two classes: mu = a + b * sigmoid(gamma * raw).

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

    def value_gradient(self, y: Any, raw: Any) -> tuple[Floats, Floats]:
        """Return the cost of each example and its derivative by the raw score or scores."""
        raw = floats(raw)
        form = layout(raw)
        own, slope = form.log_share(self.gamma * raw, form.labels(y))
        value, share = cost(own, beside(self.low, raw)[form.codes(y)], self.b)
        return value, -self.gamma * form.by_row(share) * slope

    def gradient_curvature(self, y: Any, raw: Any) -> tuple[Floats, Floats]:
        """Return the derivatives by the scores, and what the curvature is at most.

        Where s_y / (rho + s_y), with rho = low / b, is the share of P(y) that is not plateau, both
        are those of logistic regression with each row weighted by its share. They are what a step
        of the EM algorithm sees: the curvature is never negative, and never less than that of the
        loss.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Labels.
        raw : array-like of shape (n_samples,) or (n_samples, n_classes)
            Raw scores.

        Returns
        -------
        gradient, curvature : ndarray of the shape of raw
            Of each cost by its own scores; of the curvature the diagonal.

        Examples
        --------
        >>> from bblr.losses import BetaBernoulli
        >>> loss = BetaBernoulli.binary(0.2, 0.6)
        >>> gradient, curvature = loss.gradient_curvature([1, 1], [0.5, -9.0])
        >>> gradient.round(3), curvature.round(3)             # an outlier has no say
        (array([-0.246, -0.   ]), array([0.153, 0.   ]))
        """
        _, slope = self.value_gradient(y, raw)
        # Of logistic regression, |slope| is 1 - s_y by the own score and s_k by another.
        scores = self.gamma * floats(raw)
        _, logistic = layout(scores).log_share(scores, layout(scores).labels(y))
        return slope, self.gamma * abs(slope) * (1.0 - abs(logistic))

    def limit(self, y: Any, raw: Any) -> Floats:
        """Return the cost of each example as gamma grows without bound."""
        raw = floats(raw)
        form = layout(raw)
        low = np.array(self.low)[form.codes(y)]
        with np.errstate(divide="ignore"):
            return np.asarray(-np.log(low + self.b * form.best(raw, form.labels(y))))

    def probability(self, raw: Any) -> Floats:
        """Return the probability of the positive class, or of each of more than two classes."""
        scores = self.gamma * floats(raw)
        found: Floats = layout(scores).probability(scores, self.low, self.b)
        return found

    def curvature(self, raw: Any) -> Floats:
        """Return the Fisher information by each raw score: the diagonal alone."""
        scores = self.gamma * floats(raw)
        found: Floats = self.gamma**2 * layout(scores).fisher(scores, self.low, self.b)
        return found

    def along(
        self, y: Any, raw: Floats, change: Floats, k: int, steps: Floats, weight: Floats
    ) -> Floats:
        """Return the weighted loss with score k moved by each of the steps times a change."""
        if raw.ndim == 1:
            return super().along(y, raw, change, k, steps, weight)
        # The other classes are summed up once: with z the score less the log of that sum, the
        # class has softmax sigmoid(z) and the others share the rest.
        xp, scores, own = namespace(raw), self.gamma * raw, y == k
        others = xp.clone(scores)
        others[:, k] = -np.inf
        rest = xp.logsumexp(others, 1)
        # The logarithm of what a class has of the rest. None exceeds their sum.
        lead = xp.clip(xp.take_along_dim(scores, y[:, None], 1)[:, 0] - rest, None, 0.0)
        lead = xp.where(own, 0.0, lead)
        sign = xp.where(own, beside(1.0, raw), -1.0)
        here, slope = sign * (scores[:, k] - rest), self.gamma * sign * change
        low, share = beside(self.low, raw)[y], self.b * xp.exp(lead)
        bare = low == 0.0
        low = xp.where(bare, 1.0, low)
        cost = []
        for step in steps:
            z = here + float(step) * slope
            logs = xp.log(low + share * xp.sigmoid(z))
            if min(self.low) == 0.0:
                # Without a plateau the tail is linear, and the probability would underflow.
                logs = xp.where(bare, log(self.b) + lead + log_sigmoid(z), logs)
            cost.append(-(weight @ logs))
        return xp.stack(cost)

    @property
    def threshold(self) -> float:
        """Raw score at which the two classes are equally probable.

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
    takes_tensors: ClassVar[bool] = True
    # Beta-Bernoulli without plateaus.
    fused = FusedLoss(BETA_BERNOULLI, 1.0)

    def value_gradient(self, y: Any, raw: Any) -> tuple[Floats, Floats]:
        """Return the cost of each example and its derivative by the raw score."""
        xp, z = namespace(raw), margin(y, raw)
        return -log_sigmoid(z), -floats(y) * xp.sigmoid(-z)

    def probability(self, raw: Any) -> Floats:
        """Return the probability of the positive class."""
        probability: Floats = namespace(raw).sigmoid(floats(raw))
        return probability

    def curvature(self, raw: Any) -> Floats:
        """Return the second derivative by the raw score."""
        return self.probability(raw) * self.probability(-floats(raw))
