"""The Dirichlet prior behind the plateaus of many classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Self

import numpy as np

from bblr.losses.beta_prior import BetaPrior, _number


def _vector(name: str, values: Any) -> tuple[float, ...]:
    try:
        numbers = tuple(float(value) for value in values)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a sequence of numbers, got {values!r}.") from None
    if len(numbers) < 2:
        raise ValueError(f"{name} must hold a number for each of two or more classes.")
    if not np.isfinite(numbers).all():
        raise ValueError(f"{name} must be finite, got {values!r}.")
    return numbers


def _check_count(n_classes: Any) -> None:
    if isinstance(n_classes, bool) or not isinstance(n_classes, Integral) or n_classes < 2:
        raise ValueError(f"n_classes must be a whole number of at least 2, got {n_classes!r}.")


@dataclass(frozen=True)
class DirichletPrior:
    """Dirichlet prior of the Dirichlet-discrete model: P(k) = low_k + b * softmax_k(gamma * f).

    With two classes it is the :class:`BetaPrior` of a = low_1. As there, one prior can be read in
    three ways: plateaus, weight and mean (low = w * theta, b = 1 - w), and pseudo counts beside n
    real examples.

    Parameters
    ----------
    low : sequence of float
        Least probability of each class, in the order of ``classes_``.
    n : float, default=100
        Number of real examples; it only scales `alpha`.

    Examples
    --------
    >>> from bblr import DirichletPrior
    >>> DirichletPrior.symmetric(0.3, 3)
    DirichletPrior(low=(0.1, 0.1, 0.1), n=100.0)
    >>> DirichletPrior.from_rates([0.9, 0.9, 0.8]).b
    0.8
    """

    low: tuple[float, ...]
    n: float = 100.0

    def __post_init__(self) -> None:
        low = tuple(round(value, 15) for value in _vector("low", self.low))
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "n", _number("n", self.n))
        if min(low) < 0:
            raise ValueError(f"low, the least probabilities, must be at least 0, got {low}.")
        if sum(low) >= 1:
            raise ValueError(
                f"low must sum to less than 1, got {sum(low):g}: otherwise the probabilities "
                "would not depend on the features."
            )
        if self.n <= 0:
            raise ValueError(f"n, the number of examples, must be positive, got n={self.n}.")

    @classmethod
    def symmetric(cls, w: float, n_classes: int) -> Self:
        """Make the prior of weight w that treats all classes alike.

        Parameters
        ----------
        w : float
            Weight, at least 0 and below 1.
        n_classes : int
            Number of classes, at least 2.

        Returns
        -------
        DirichletPrior
            The prior.

        Examples
        --------
        >>> from bblr import DirichletPrior
        >>> DirichletPrior.symmetric(0.4, 4)
        DirichletPrior(low=(0.1, 0.1, 0.1, 0.1), n=100.0)
        """
        _check_count(n_classes)
        return cls.from_weight(w, (1.0 / n_classes,) * n_classes)

    @classmethod
    def from_weight(cls, w: float, theta: Sequence[float], n: float = 100.0) -> Self:
        """Make the prior from its weight w and its mean theta, which sums to 1.

        Parameters
        ----------
        w : float
            Weight, at least 0 and below 1.
        theta : sequence of float
            Mean: a probability for each class.
        n : float, default=100
            Number of examples; it only scales `alpha`.

        Returns
        -------
        DirichletPrior
            The prior.

        Examples
        --------
        >>> from bblr import DirichletPrior
        >>> DirichletPrior.from_weight(0.2, [0.5, 0.25, 0.25])
        DirichletPrior(low=(0.1, 0.05, 0.05), n=100.0)
        """
        mean, w = np.array(_vector("theta", theta)), _number("w", w)
        if not 0 <= w < 1:
            raise ValueError(f"w, the weight of the prior, must be in [0, 1), got {w}.")
        if mean.min() < 0 or abs(mean.sum() - 1) > 1e-9:
            raise ValueError(f"theta must be probabilities that sum to 1, got {theta!r}.")
        return cls(tuple(w * mean), n)

    @classmethod
    def from_counts(cls, alpha: Sequence[float], n: float) -> Self:
        """Make the prior from pseudo counts of each class beside n examples.

        Parameters
        ----------
        alpha : sequence of float
            Pseudo count of each class.
        n : float
            Number of examples.

        Returns
        -------
        DirichletPrior
            The prior.

        Examples
        --------
        >>> from bblr import DirichletPrior
        >>> DirichletPrior.from_counts([10, 5, 5], n=80)
        DirichletPrior(low=(0.1, 0.05, 0.05), n=80.0)
        """
        counts, n = np.array(_vector("alpha", alpha)), _number("n", n)
        if counts.min() < 0:
            raise ValueError(f"alpha must be at least 0, got {alpha!r}.")
        if n <= 0:
            raise ValueError(f"n, the number of examples, must be positive, got n={n}.")
        return cls(tuple(counts / (counts.sum() + n)), n)

    @classmethod
    def weak(cls, n_classes: int) -> Self:
        """Make the weak prior: one pseudo count for each class beside 100 examples.

        Parameters
        ----------
        n_classes : int
            Number of classes, at least 2.

        Returns
        -------
        DirichletPrior
            The prior.

        Examples
        --------
        >>> from bblr import DirichletPrior
        >>> round(DirichletPrior.weak(4).w, 4)
        0.0385
        """
        _check_count(n_classes)
        return cls.from_counts((1.0,) * n_classes, 100)

    @classmethod
    def empirical(cls, y: Any, sample_weight: Any = None) -> Self:
        """Make the prior from the counts of the classes: w = 1/2, theta their shares.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights; a weight of 2 counts twice.

        Returns
        -------
        DirichletPrior
            The prior.

        Examples
        --------
        >>> from bblr import DirichletPrior
        >>> DirichletPrior.empirical(["a", "a", "b", "c"])
        DirichletPrior(low=(0.25, 0.125, 0.125), n=4.0)
        """
        classes, codes = np.unique(np.asarray(y), return_inverse=True)
        if len(classes) < 2:
            raise ValueError(f"y must hold two or more classes, got {classes.tolist()}.")
        counts = np.bincount(codes, weights=sample_weight, minlength=len(classes))
        if not np.all(counts > 0):
            raise ValueError("sample_weight must leave examples of every class in y.")
        return cls.from_counts(tuple(counts), float(counts.sum()))

    @classmethod
    def from_rates(cls, rates: Sequence[float]) -> Self:
        """Make the prior whose upper plateaus are the rates at which classes are recognised.

        With a large gamma an example of class k has probability low_k + b where it is recognised.
        No plateaus give a class that is recognised far less than the others its rate: it has a
        least probability of 0, and the others have theirs.

        Parameters
        ----------
        rates : sequence of float
            Rate of each class; they must sum to more than 1.

        Returns
        -------
        DirichletPrior
            The prior.

        Examples
        --------
        >>> from bblr import DirichletPrior
        >>> DirichletPrior.from_rates([0.9, 0.9, 0.8])
        DirichletPrior(low=(0.1, 0.1, 0.0), n=100.0)
        """
        found = np.array(_vector("rates", rates))
        if found.min() < 0 or found.max() > 1:
            raise ValueError(f"rates must be in [0, 1], got {rates!r}.")
        if found.sum() <= 1:
            raise ValueError(
                f"rates must sum to more than 1, got {rates!r}: a classifier no better than "
                "chance leaves no room above the plateaus."
            )
        free = np.ones(len(found), dtype=bool)
        while True:
            # low_k = rate_k - b must sum to 1 - b over the classes that have a plateau.
            b = (found[free].sum() - 1.0) / max(free.sum() - 1, 1)
            if (found[free] >= b).all():
                break
            free &= found >= b
        return cls(tuple(np.where(free, found - b, 0.0)))

    @classmethod
    def from_beta(cls, prior: BetaPrior) -> Self:
        """Make the prior of two classes that is a Beta prior.

        Parameters
        ----------
        prior : BetaPrior
            The Beta prior.

        Returns
        -------
        DirichletPrior
            The prior.

        Examples
        --------
        >>> from bblr import BetaPrior, DirichletPrior
        >>> DirichletPrior.from_beta(BetaPrior(a=0.2, b=0.7))
        DirichletPrior(low=(0.1, 0.2), n=100.0)
        """
        return cls((max(0.0, 1.0 - prior.a - prior.b), prior.a), prior.n)

    def as_beta(self) -> BetaPrior:
        """Return the Beta prior that this is, for two classes.

        Returns
        -------
        BetaPrior
            The Beta prior.

        Examples
        --------
        >>> from bblr import DirichletPrior
        >>> DirichletPrior((0.1, 0.2)).as_beta()
        BetaPrior(a=0.2, b=0.7, n=100.0)
        """
        if len(self.low) != 2:
            raise ValueError(f"A prior of {len(self.low)} classes is no Beta prior.")
        return BetaPrior(self.low[1], self.b, self.n)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.low)

    @property
    def b(self) -> float:
        """Height of the plateaus above `low`, b = 1 - w."""
        return round(1.0 - sum(self.low), 15)

    @property
    def w(self) -> float:
        """Weight of the prior mean."""
        return round(1.0 - self.b, 14)

    @property
    def theta(self) -> tuple[float, ...]:
        """Prior mean; even when the prior has no weight."""
        if self.w <= 0:
            return (1.0 / self.n_classes,) * self.n_classes
        return tuple(low / self.w for low in self.low)

    @property
    def alpha(self) -> tuple[float, ...]:
        """Pseudo count of each class."""
        return tuple(self.n * low / self.b for low in self.low)

    @property
    def every_class_can_win(self) -> bool:
        """Whether each class is the most probable one for some scores."""
        low = np.array(self.low)
        return bool(np.all(low + self.b > low.max()))
