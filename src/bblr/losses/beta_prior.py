"""The Beta prior behind the plateaus, in each of its three guises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np


def _number(name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a number, got {value!r}.") from None
    if not np.isfinite(number):
        raise ValueError(f"{name} must be finite, got {number}.")
    return number


@dataclass(frozen=True)
class BetaPrior:
    """Beta prior of the Beta-Bernoulli model: mu = a + b * sigmoid(gamma * f).

    The same prior can be read in three ways, and each is a constructor and a set of attributes:

    - plateaus (a, b): no example gets a probability below a or above a + b;
    - weight and mean (w, theta): mu = w * theta + (1 - w) * sigmoid;
    - pseudo counts (alpha, beta, n): alpha positives and beta negatives beside n real examples.

    Parameters
    ----------
    a : float
        Lower plateau, a = w * theta.
    b : float
        Height between the plateaus, b = 1 - w.
    n : float, default=100
        Number of real examples; it only scales `alpha` and `beta`.

    Notes
    -----
    The paper's caption gives a = 0.1 for alpha = beta = 1, n = 100; its formulas give 0.0098.

    Examples
    --------
    >>> from bblr import BetaPrior
    >>> weak = BetaPrior.weak()
    >>> round(weak.a, 4), round(weak.b, 4)
    (0.0098, 0.9804)
    >>> BetaPrior.from_rates(tpr=0.9, tnr=0.8)
    BetaPrior(a=0.2, b=0.7, n=100.0)
    """

    a: float
    b: float
    n: float = 100.0

    def __post_init__(self) -> None:
        for name in ("a", "b", "n"):
            object.__setattr__(self, name, _number(name, getattr(self, name)))
        # Rates and counts arrive with rounding errors; -1e-17 is a zero.
        for name, value in (("a", round(self.a, 15)), ("b", round(self.b, 15))):
            object.__setattr__(self, name, value)
        if self.a < 0:
            raise ValueError(f"a, the lower plateau, must be at least 0, got a={self.a}.")
        if self.b <= 0:
            raise ValueError(
                f"b, the height between the plateaus, must be positive, got b={self.b}: "
                "with b = 0 the probability would not depend on the features."
            )
        if self.a + self.b > 1 + 1e-12:
            raise ValueError(
                f"a + b, the upper plateau, must be at most 1, got a={self.a} and b={self.b}."
            )
        if self.n <= 0:
            raise ValueError(f"n, the number of examples, must be positive, got n={self.n}.")

    @classmethod
    def from_counts(cls, alpha: float, beta: float, n: float) -> Self:
        """Make the prior from pseudo counts of positives and negatives beside n examples.

        Parameters
        ----------
        alpha : float
            Pseudo count of positives.
        beta : float
            Pseudo count of negatives.
        n : float
            Number of examples.

        Returns
        -------
        BetaPrior
            The prior.

        Examples
        --------
        >>> from bblr import BetaPrior
        >>> BetaPrior.from_counts(alpha=10, beta=10, n=80)
        BetaPrior(a=0.1, b=0.8, n=80.0)
        """
        alpha, beta, n = _number("alpha", alpha), _number("beta", beta), _number("n", n)
        if alpha < 0 or beta < 0:
            raise ValueError(f"alpha and beta must be at least 0, got {alpha} and {beta}.")
        if n <= 0:
            raise ValueError(f"n, the number of examples, must be positive, got n={n}.")
        total = alpha + beta + n
        return cls(alpha / total, n / total, n)

    @classmethod
    def from_weight(cls, w: float, theta: float, n: float = 100.0) -> Self:
        """Make the prior from its weight w and its mean theta.

        Parameters
        ----------
        w : float
            Weight, at least 0 and below 1.
        theta : float
            Mean, a probability.
        n : float, default=100
            Number of examples; it only scales `alpha` and `beta`.

        Returns
        -------
        BetaPrior
            The prior.

        Examples
        --------
        >>> from bblr import BetaPrior
        >>> BetaPrior.from_weight(w=0.2, theta=0.5)
        BetaPrior(a=0.1, b=0.8, n=100.0)
        """
        w, theta = _number("w", w), _number("theta", theta)
        if not 0 <= w < 1:
            raise ValueError(f"w, the weight of the prior, must be in [0, 1), got {w}.")
        if not 0 <= theta <= 1:
            raise ValueError(f"theta, the mean of the prior, must be in [0, 1], got {theta}.")
        return cls(w * theta, 1 - w, n)

    @classmethod
    def weak(cls) -> Self:
        """Make the paper's weak prior, alpha = beta = 1 and n = 100 (BBLR1).

        Returns
        -------
        BetaPrior
            The prior.

        Examples
        --------
        >>> from bblr import BetaPrior
        >>> round(BetaPrior.weak().a, 4)
        0.0098
        """
        return cls.from_counts(1, 1, 100)

    @classmethod
    def empirical(cls, y: Any, sample_weight: Any = None) -> Self:
        """Make the prior from the counts of positives, negatives and all examples (BBLR2).

        By its definition w = b = 1/2 and a is half the share of positives, whatever the data.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Two classes; the larger label is the positive one.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights; a weight of 2 counts twice.

        Returns
        -------
        BetaPrior
            The prior.

        Examples
        --------
        >>> from bblr import BetaPrior
        >>> BetaPrior.empirical(["no", "no", "no", "yes"])
        BetaPrior(a=0.125, b=0.5, n=4.0)
        """
        classes, codes = np.unique(np.asarray(y), return_inverse=True)
        if len(classes) != 2:
            raise ValueError(f"y must hold two classes, got {len(classes)}: {classes[:5]}.")
        if sample_weight is not None and np.any(np.asarray(sample_weight) < 0):
            raise ValueError("sample_weight must hold no negative weight.")
        counts = np.bincount(codes, weights=sample_weight, minlength=2)
        if not np.all(counts > 0):
            raise ValueError("sample_weight must leave examples of both classes in y.")
        return cls.from_counts(counts[1], counts[0], counts.sum())

    @classmethod
    def from_rates(cls, tpr: float, tnr: float) -> Self:
        """Make the prior whose plateaus are the rates of a classifier (asymptotic analysis).

        With a large gamma every prediction lies on a plateau: the upper one should be the true
        positive rate, and one minus the lower one the true negative rate.

        Parameters
        ----------
        tpr : float
            True positive rate.
        tnr : float
            True negative rate; the two must sum to more than 1.

        Returns
        -------
        BetaPrior
            The prior.

        Examples
        --------
        >>> from bblr import BetaPrior
        >>> BetaPrior.from_rates(tpr=0.9, tnr=0.8)
        BetaPrior(a=0.2, b=0.7, n=100.0)
        """
        tpr, tnr = _number("tpr", tpr), _number("tnr", tnr)
        for name, rate in (("tpr", tpr), ("tnr", tnr)):
            if not 0 <= rate <= 1:
                raise ValueError(f"{name} must be in [0, 1], got {rate}.")
        if tpr + tnr <= 1:
            raise ValueError(
                f"tpr + tnr must exceed 1, got {tpr} + {tnr}: a classifier no better than "
                "chance leaves no room between the plateaus."
            )
        return cls(1 - tnr, tpr + tnr - 1)

    @property
    def w(self) -> float:
        """Weight of the prior mean, w = (alpha + beta) / (alpha + beta + n)."""
        return 1 - self.b

    @property
    def theta(self) -> float:
        """Prior mean, theta = alpha / (alpha + beta); 1/2 when the prior has no weight."""
        return min(1.0, self.a / self.w) if self.w > 0 else 0.5

    @property
    def alpha(self) -> float:
        """Pseudo count of positives."""
        return self.n * self.a / self.b

    @property
    def beta(self) -> float:
        """Pseudo count of negatives."""
        return self.n * max(0.0, 1 - self.a - self.b) / self.b

    @property
    def straddles_half(self) -> bool:
        """Whether either class can be the more probable one: a < 1/2 < a + b."""
        return self.a < 0.5 < self.a + self.b
