"""The plateaus: what an example keeps of its probability however wrong its score is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from typing import Any, Self

import numpy as np

from bblr.losses.margins import check_count, check_examples, number, vector


@dataclass(frozen=True)
class Plateaus:
    """Plateaus of the Beta-Bernoulli model, P(k) = low_k + b * softmax_k(gamma * scores).

    The same plateaus can be read in three ways, and each is a constructor and a set of attributes:

    - least probabilities: class k never gets less than low_k nor more than low_k + b;
    - weight and centre (w, theta): P(k) = w * theta_k + (1 - w) * softmax_k;
    - pseudo-counts (alpha, n): alpha_k examples of each class next to n real ones, the paper's
      Beta prior and, with more than two classes, a Dirichlet prior.

    Parameters
    ----------
    low : sequence of float
        Least probability of each class, in the order of ``classes_``. With two classes the paper's
        a is the second one.
    n : float, default=100
        Number of real examples; it only scales `alpha`.

    Examples
    --------
    >>> from bblr import Plateaus
    >>> Plateaus.symmetric(0.3, n_classes=3)
    Plateaus(low=(0.1, 0.1, 0.1), n=100.0)
    >>> two = Plateaus.binary(a=0.2, b=0.7)
    >>> two.low, round(two.w, 10)
    ((0.1, 0.2), 0.3)
    """

    low: tuple[float, ...]
    n: float = 100.0

    def __post_init__(self) -> None:
        # Rates and counts arrive with rounding errors; -1e-17 is a zero.
        low = tuple(map(round, vector("low", self.low), repeat(15)))
        vars(self).update(low=low, n=number("n", self.n))
        if min(low) < 0:
            raise ValueError(f"low, the least probabilities, must be at least 0, got {low}.")
        if sum(low) >= 1:
            raise ValueError(
                f"low must sum to less than 1, got {sum(low):g}: otherwise the probabilities "
                "would not depend on the features."
            )
        check_examples(self.n)

    @classmethod
    def binary(cls, a: float, b: float, n: float = 100.0) -> Self:
        """Make plateaus for two classes: P(positive) between a and a + b.

        Parameters
        ----------
        a : float
            Lower plateau, a = w * theta.
        b : float
            Height between the plateaus, b = 1 - w.
        n : float, default=100
            Number of real examples.

        Returns
        -------
        Plateaus
            The plateaus.

        Examples
        --------
        >>> from bblr import Plateaus
        >>> Plateaus.binary(a=0.1, b=0.8).low
        (0.1, 0.1)
        """
        a, b = round(number("a", a), 15), round(number("b", b), 15)
        if a < 0:
            raise ValueError(f"a, the lower plateau, must be at least 0, got a={a}.")
        if b <= 0:
            raise ValueError(
                f"b, the height between the plateaus, must be positive, got b={b}: "
                "with b = 0 the probability would not depend on the features."
            )
        if a + b > 1 + 1e-12:
            raise ValueError(f"a + b, the upper plateau, must be at most 1, got a={a} and b={b}.")
        rest = 1.0 - b - a
        # Symmetric plateaus such as (0.1, 0.8) must come out symmetric to the last bit, and where
        # a + b = 1 there is no room below, whatever the rounding of 1 - b - a.
        rest = a if abs(rest - a) < 1e-15 else (0.0 if rest < 1e-15 else rest)
        return cls((rest, a), n)

    @classmethod
    def none(cls, n_classes: int = 2) -> Self:
        """Make no plateaus at all: logistic regression.

        Parameters
        ----------
        n_classes : int, default=2
            Number of classes.

        Returns
        -------
        Plateaus
            The plateaus.

        Examples
        --------
        >>> from bblr import Plateaus
        >>> Plateaus.none().b
        1.0
        """
        check_count(n_classes)
        return cls((0.0,) * n_classes)

    @classmethod
    def symmetric(cls, w: float, n_classes: int = 2) -> Self:
        """Make the plateaus of weight w that treat all classes alike.

        Parameters
        ----------
        w : float
            Weight, at least 0 and below 1.
        n_classes : int, default=2
            Number of classes.

        Returns
        -------
        Plateaus
            The plateaus.

        Examples
        --------
        >>> from bblr import Plateaus
        >>> Plateaus.symmetric(0.4, n_classes=4)
        Plateaus(low=(0.1, 0.1, 0.1, 0.1), n=100.0)
        """
        check_count(n_classes)
        return cls.from_weight(w, (1.0 / n_classes,) * n_classes)

    @classmethod
    def from_weight(cls, w: float, theta: float | Sequence[float], n: float = 100.0) -> Self:
        """Make the plateaus from their weight w and their centre theta.

        Parameters
        ----------
        w : float
            Weight, at least 0 and below 1.
        theta : float or sequence of float
            Centre: a probability for each class, or that of the positive one of two.
        n : float, default=100
            Number of real examples.

        Returns
        -------
        Plateaus
            The plateaus.

        Examples
        --------
        >>> from bblr import Plateaus
        >>> Plateaus.from_weight(w=0.2, theta=[0.5, 0.25, 0.25])
        Plateaus(low=(0.1, 0.05, 0.05), n=100.0)
        """
        w = number("w", w)
        if not 0 <= w < 1:
            raise ValueError(f"w, the weight of the prior, must be in [0, 1), got {w}.")
        if np.ndim(theta) == 0:
            share = number("theta", theta)
            if not 0 <= share <= 1:
                raise ValueError(f"theta, the mean of the prior, must be in [0, 1], got {theta}.")
            return cls.binary(w * share, 1.0 - w, n)
        mean = np.array(vector("theta", theta))
        if mean.min() < 0 or abs(mean.sum() - 1) > 1e-9:
            raise ValueError(f"theta must be probabilities that sum to 1, got {theta!r}.")
        return cls(tuple(w * mean), n)

    @classmethod
    def from_counts(cls, alpha: Sequence[float], n: float) -> Self:
        """Make the plateaus from pseudo-counts of each class next to n examples.

        Parameters
        ----------
        alpha : sequence of float
            Pseudo-count of each class.
        n : float
            Number of real examples.

        Returns
        -------
        Plateaus
            The plateaus.

        Examples
        --------
        >>> from bblr import Plateaus
        >>> Plateaus.from_counts(alpha=[10, 5, 5], n=80)
        Plateaus(low=(0.1, 0.05, 0.05), n=80.0)
        """
        counts, n = np.array(vector("alpha", alpha)), number("n", n)
        if counts.min() < 0:
            raise ValueError(f"alpha must be at least 0, got {alpha!r}.")
        check_examples(n)
        return cls(tuple(counts / (counts.sum() + n)), n)

    @classmethod
    def from_ratio(cls, rho: float | Sequence[float], n_classes: int = 2) -> Self:
        """Make the plateaus that stand in a ratio to the height above them: rho = low / b.

        Parameters
        ----------
        rho : float or sequence of float
            Ratio, at least 0: one for all classes, or one for each.
        n_classes : int, default=2
            Number of classes.

        Returns
        -------
        Plateaus
            The plateaus.

        Examples
        --------
        >>> from bblr import Plateaus
        >>> Plateaus.from_ratio(0.5, n_classes=3).low
        (0.2, 0.2, 0.2)
        """
        check_count(n_classes)
        ratios = [number("rho", rho)] * n_classes if np.ndim(rho) == 0 else vector("rho", rho)
        if min(ratios) < 0 or len(ratios) != n_classes:
            raise ValueError(
                f"rho must be a number of at least 0, or {n_classes} of them, got {rho!r}."
            )
        return cls(tuple(ratio / (1.0 + sum(ratios)) for ratio in ratios))

    @classmethod
    def weak(cls, n_classes: int = 2) -> Self:
        """Make the paper's weak prior (BBLR1): one pseudo-count per class next to 100 examples.

        Parameters
        ----------
        n_classes : int, default=2
            Number of classes.

        Returns
        -------
        Plateaus
            The plateaus.

        Notes
        -----
        The paper's caption gives a = 0.1 for alpha = beta = 1, n = 100; its formulas give 0.0098.

        Examples
        --------
        >>> from bblr import Plateaus
        >>> round(Plateaus.weak().a, 4)
        0.0098
        """
        check_count(n_classes)
        return cls.from_counts((1.0,) * n_classes, 100)

    @classmethod
    def empirical(cls, y: Any, sample_weight: Any = None) -> Self:
        """Make the plateaus from the class counts (BBLR2): w = 1/2, theta their shares.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights; a weight of 2 counts twice.

        Returns
        -------
        Plateaus
            The plateaus.

        Examples
        --------
        >>> from bblr import Plateaus
        >>> Plateaus.empirical(["a", "a", "b", "c"])
        Plateaus(low=(0.25, 0.125, 0.125), n=4.0)
        """
        classes, codes = np.unique(np.asarray(y), return_inverse=True)
        if len(classes) < 2:
            raise ValueError(f"y must hold two or more classes, got {classes.tolist()}.")
        if sample_weight is not None and np.any(np.asarray(sample_weight) < 0):
            raise ValueError("sample_weight must hold no negative weight.")
        counts = np.bincount(codes, weights=sample_weight, minlength=len(classes))
        if not np.all(counts > 0):
            raise ValueError("sample_weight must leave examples of every class in y.")
        return cls.from_counts(tuple(counts), float(counts.sum()))

    @classmethod
    def from_rates(cls, rates: Sequence[float]) -> Self:
        """Make the plateaus whose upper ends are the rates at which classes are recognised.

        With a large gamma every prediction lies on a plateau, and an example of class k has
        probability low_k + b where it is recognised (the paper's asymptotic analysis). No plateaus
        give a class that is recognised far less often than the others its rate: it has a least
        probability of 0, and the others have theirs.

        Parameters
        ----------
        rates : sequence of float
            Rate of each class, with two the true negative and the true positive rate; they must
            sum to more than 1.

        Returns
        -------
        Plateaus
            The plateaus.

        Examples
        --------
        >>> from bblr import Plateaus
        >>> Plateaus.from_rates([0.8, 0.9])
        Plateaus(low=(0.1, 0.2), n=100.0)
        >>> Plateaus.from_rates([0.9, 0.9, 0.8]).low
        (0.1, 0.1, 0.0)
        """
        found = np.array(vector("rates", rates))
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
            # Where the others are always recognised, b is the rate itself but for rounding.
            low = found - b
            if (low[free] >= -1e-12).all():
                break
            free &= low >= -1e-12
        return cls(tuple(np.where(free, np.maximum(low, 0.0), 0.0)))

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.low)

    @property
    def a(self) -> float:
        """Lower plateau of the positive class, with two classes."""
        if len(self.low) != 2:
            raise AttributeError(f"plateaus of {len(self.low)} classes have no a; see low.")
        return self.low[1]

    @cached_property
    def b(self) -> float:
        """Height of the plateaus above `low`, b = 1 - w."""
        return round(1.0 - sum(self.low), 15)

    @property
    def w(self) -> float:
        """Weight of the centre."""
        return round(1.0 - self.b, 14)

    @property
    def theta(self) -> tuple[float, ...]:
        """Centre; the same for all classes where it has no weight."""
        total = sum(self.low)
        if total <= 0:
            return (1.0 / self.n_classes,) * self.n_classes
        return tuple(low / total for low in self.low)

    @property
    def alpha(self) -> tuple[float, ...]:
        """Pseudo-count of each class."""
        return tuple(self.n * low / self.b for low in self.low)

    @property
    def rho(self) -> tuple[float, ...]:
        """Ratio of the plateau of each class to the height above them."""
        return tuple(low / self.b for low in self.low)

    @property
    def is_symmetric(self) -> bool:
        """Whether all classes have the same plateau, so that the largest score wins."""
        return len(set(self.low)) == 1

    @property
    def every_class_can_win(self) -> bool:
        """Whether each class is the most probable one for some scores."""
        return min(self.low) + self.b > max(self.low)
