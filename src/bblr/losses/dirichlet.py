"""The Dirichlet-discrete loss: Beta-Bernoulli for any number of classes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import atanh, log
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, softmax

from bblr.losses.base import check_gamma
from bblr.losses.dirichlet_prior import DirichletPrior

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class DirichletDiscrete:
    """Negative log of P(y) = low_y + b * softmax_y(gamma * raw), with a score for each class.

    No example costs more than -log(low_y). For gamma -> infinity the cost is -log(low_y + b)
    where the own score is the largest and -log(low_y) where it is not. With two classes and raw
    scores (-f/2, f/2) it is the Beta-Bernoulli loss of f.

    By a score, with s the softmax, the derivative is -gamma * b * s_y / P(y) * ([k = y] - s_k):
    that of plain softmax times the share of P(y) that is not prior.

    Parameters
    ----------
    low : tuple of float
        Least probability of each class.
    gamma : float, default=1
        Sharpness.

    Examples
    --------
    >>> from bblr.losses import DirichletDiscrete
    >>> loss = DirichletDiscrete(low=(0.1, 0.1, 0.1), gamma=9.0)
    >>> loss.value([0, 0], [[5.0, 0.0, 0.0], [-999.0, 0.0, 0.0]]).round(2)
    array([0.22, 2.3 ])
    >>> loss.probability([[5.0, 0.0, 0.0]]).round(2)
    array([[0.8, 0.1, 0.1]])
    """

    low: tuple[float, ...]
    gamma: float = 1.0

    def __post_init__(self) -> None:
        check_gamma(self.gamma)
        object.__setattr__(self, "low", DirichletPrior(self.low).low)
        object.__setattr__(self, "gamma", float(self.gamma))

    @classmethod
    def from_prior(cls, prior: DirichletPrior, gamma: float = 1.0) -> Self:
        """Make the loss of a Dirichlet prior.

        Parameters
        ----------
        prior : DirichletPrior
            Plateaus.
        gamma : float, default=1
            Sharpness.

        Returns
        -------
        DirichletDiscrete
            The loss.

        Examples
        --------
        >>> from bblr.losses import DirichletDiscrete, DirichletPrior
        >>> DirichletDiscrete.from_prior(DirichletPrior.symmetric(0.3, 3))
        DirichletDiscrete(low=(0.1, 0.1, 0.1), gamma=1.0)
        """
        return cls(prior.low, gamma)

    @property
    def prior(self) -> DirichletPrior:
        """The plateaus."""
        return DirichletPrior(self.low)

    @property
    def b(self) -> float:
        """Height of the plateaus above `low`."""
        # Asked for in every pass: no prior is made and checked for it.
        return round(1.0 - sum(self.low), 15)

    def value(self, y: Any, raw: Any) -> Floats:
        """Return the cost of each example, of class number y.

        Parameters
        ----------
        y : array-like of int of shape (n_samples,)
            Numbers of the classes, from 0.
        raw : array-like of shape (n_samples, n_classes)
            Raw scores.

        Returns
        -------
        ndarray of shape (n_samples,)
            Costs.

        Examples
        --------
        >>> from bblr.losses import DirichletDiscrete
        >>> loss = DirichletDiscrete(low=(0.1, 0.1, 0.1), gamma=9.0)
        >>> loss.value([1], [[0.0, 4.0, 0.0]]).round(2)
        array([0.22])
        """
        return self.value_gradient(y, raw)[0]

    def value_gradient(self, y: Any, raw: Any) -> tuple[Floats, Floats]:
        """Return the cost of each example and its derivatives by the raw scores.

        Parameters
        ----------
        y : array-like of int of shape (n_samples,)
            Numbers of the classes, from 0.
        raw : array-like of shape (n_samples, n_classes)
            Raw scores.

        Returns
        -------
        value : ndarray of shape (n_samples,)
            Costs.
        gradient : ndarray of shape (n_samples, n_classes)
            Derivatives.

        Examples
        --------
        >>> from bblr.losses import DirichletDiscrete
        >>> value, gradient = DirichletDiscrete((0.1, 0.1)).value_gradient([0], [[0.0, 0.0]])
        >>> value.round(2), gradient.round(2)
        (array([0.69]), array([[-0.4,  0.4]]))
        """
        y = np.asarray(y, dtype=np.intp)
        logs = log_softmax(self.gamma * np.asarray(raw, dtype=np.float64), axis=1)
        rows = np.arange(len(y))
        own_log = logs[rows, y]
        low = np.array(self.low)[y]
        rising = self.b * np.exp(own_log)
        bare = low == 0.0
        own = np.where(bare, 1.0, low + rising)
        value = np.where(bare, -own_log - log(self.b), -np.log(own))
        share = np.where(bare, 1.0, rising / own)
        residual = np.exp(logs)
        residual[rows, y] = -_others(residual, y)
        return value, self.gamma * share[:, None] * residual

    def limit(self, y: Any, raw: Any) -> Floats:
        """Return the cost of each example as gamma grows without bound.

        Parameters
        ----------
        y : array-like of int of shape (n_samples,)
            Numbers of the classes, from 0.
        raw : array-like of shape (n_samples, n_classes)
            Raw scores.

        Returns
        -------
        ndarray of shape (n_samples,)
            Costs.

        Examples
        --------
        >>> from bblr.losses import DirichletDiscrete
        >>> loss = DirichletDiscrete(low=(0.1, 0.1, 0.1), gamma=9.0)
        >>> loss.limit([0, 1], [[0.1, 0.0, 0.0], [0.1, 0.0, 0.0]]).round(2)
        array([0.22, 2.3 ])
        """
        y, raw = np.asarray(y, dtype=np.intp), np.asarray(raw, dtype=np.float64)
        best = raw == raw.max(axis=1, keepdims=True)
        share = (best / best.sum(axis=1, keepdims=True))[np.arange(len(y)), y]
        with np.errstate(divide="ignore"):
            return -np.log(np.array(self.low)[y] + self.b * share)

    def probability(self, raw: Any) -> Floats:
        """Return the probability of each class.

        Parameters
        ----------
        raw : array-like of shape (n_samples, n_classes)
            Raw scores.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities; rows sum to 1.

        Examples
        --------
        >>> from bblr.losses import DirichletDiscrete
        >>> loss = DirichletDiscrete(low=(0.1, 0.1, 0.1), gamma=9.0)
        >>> loss.probability([[0.0, 0.0, 0.0], [9.0, 0.0, 0.0]]).round(2)
        array([[0.33, 0.33, 0.33],
               [0.8 , 0.1 , 0.1 ]])
        """
        scores = self.gamma * np.asarray(raw, dtype=np.float64)
        return np.array(self.low) + self.b * np.asarray(softmax(scores, axis=1))

    def curvature(self, raw: Any) -> Floats:
        """Return the Fisher information by each raw score: the diagonal alone.

        Parameters
        ----------
        raw : array-like of shape (n_samples, n_classes)
            Raw scores.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Curvatures, none of them negative.

        Examples
        --------
        >>> from bblr.losses import DirichletDiscrete
        >>> DirichletDiscrete((0.0, 0.0)).curvature([[0.0, 0.0]])
        array([[0.25, 0.25]])
        """
        s = np.asarray(softmax(self.gamma * np.asarray(raw, dtype=np.float64), axis=1))
        p = np.array(self.low) + self.b * s
        q = np.divide(s * s, p, out=np.zeros_like(s), where=p > 0)
        own = q * (1.0 - s) ** 2 + s * s * (q.sum(axis=1, keepdims=True) - q)
        return (self.gamma * self.b) ** 2 * own

    def wrong(self, y: Any, raw: Any) -> NDArray[np.bool_]:
        """Return which examples are errors, strictly: a tie for the most probable class is one.

        Parameters
        ----------
        y : array-like of int of shape (n_samples,)
            Numbers of the classes, from 0.
        raw : array-like of shape (n_samples, n_classes)
            Raw scores.

        Returns
        -------
        ndarray of bool of shape (n_samples,)
            True for an error.

        Examples
        --------
        >>> from bblr.losses import DirichletDiscrete
        >>> loss = DirichletDiscrete(low=(0.1, 0.1, 0.1), gamma=9.0)
        >>> loss.wrong([0, 0], [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]])
        array([False,  True])
        """
        y = np.asarray(y, dtype=np.intp)
        decision = np.array(self.decision(raw))
        rows = np.arange(len(y))
        own = decision[rows, y].copy()
        decision[rows, y] = -np.inf
        return ~(own > decision.max(axis=1))

    def decision(self, raw: Any) -> Floats:
        """Return the scores that decide: the class of the largest one is predicted.

        Parameters
        ----------
        raw : array-like of shape (n_samples, n_classes)
            Raw scores.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Raw scores plus `shift`.

        Examples
        --------
        >>> from bblr.losses import DirichletDiscrete
        >>> loss = DirichletDiscrete(low=(0.3, 0.1))
        >>> loss.probability([[0.0, 0.6]]).round(2)        # the plateaus outweigh the score
        array([[0.51, 0.49]])
        >>> loss.decision([[0.0, 0.6]]).round(2)
        array([[ 0.  , -0.09]])
        """
        raw = np.asarray(raw, dtype=np.float64)
        return raw if self.symmetric else raw + np.array(self.shift)

    @property
    def shift(self) -> tuple[float, ...]:
        """What to add to the raw score of each class so that the largest one decides.

        Between a class and the one with the highest plateau, where the others do not matter, both
        are equally probable at a difference of scores that the plateaus fix. With two classes
        that is exact; with more it keeps the decision linear in the features.
        """
        highest = max(self.low)
        return tuple(-2.0 * atanh((highest - low) / self.b) / self.gamma for low in self.low)

    @property
    def symmetric(self) -> bool:
        """Whether all classes have the same plateau, so that the largest score wins."""
        return len(set(self.low)) == 1

    def sharpened(self, gamma: float) -> Self:
        """Return the same loss at another gamma.

        Parameters
        ----------
        gamma : float
            Sharpness, a positive number.

        Returns
        -------
        DirichletDiscrete
            The loss.

        Examples
        --------
        >>> from bblr.losses import DirichletDiscrete
        >>> DirichletDiscrete((0.1, 0.2)).sharpened(4.0)
        DirichletDiscrete(low=(0.1, 0.2), gamma=4.0)
        """
        return replace(self, gamma=gamma)


def _others(share: Floats, y: NDArray[np.intp]) -> Floats:
    """Return 1 - share_y without loss of digits where share_y is nearly 1."""
    rest = share.copy()
    rest[np.arange(len(y)), y] = 0.0
    return np.asarray(rest.sum(axis=1))
