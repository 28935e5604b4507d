"""The Dirichlet-discrete loss: Beta-Bernoulli for any number of classes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log
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
    """

    low: tuple[float, ...]
    gamma: float = 1.0

    def __post_init__(self) -> None:
        check_gamma(self.gamma)
        object.__setattr__(self, "low", DirichletPrior(self.low).low)
        object.__setattr__(self, "gamma", float(self.gamma))

    @classmethod
    def from_prior(cls, prior: DirichletPrior, gamma: float = 1.0) -> Self:
        """Make the loss of a Dirichlet prior."""
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
        """Return the cost of each example, of class number y."""
        return self.value_gradient(y, raw)[0]

    def value_gradient(self, y: Any, raw: Any) -> tuple[Floats, Floats]:
        """Return the cost of each example and its derivatives by the raw scores."""
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
        """Return the cost of each example as gamma grows without bound."""
        y, raw = np.asarray(y, dtype=np.intp), np.asarray(raw, dtype=np.float64)
        best = raw == raw.max(axis=1, keepdims=True)
        share = (best / best.sum(axis=1, keepdims=True))[np.arange(len(y)), y]
        with np.errstate(divide="ignore"):
            return -np.log(np.array(self.low)[y] + self.b * share)

    def probability(self, raw: Any) -> Floats:
        """Return the probability of each class."""
        scores = self.gamma * np.asarray(raw, dtype=np.float64)
        return np.array(self.low) + self.b * np.asarray(softmax(scores, axis=1))

    def curvature(self, raw: Any) -> Floats:
        """Return the Fisher information by each raw score: the diagonal alone."""
        s = np.asarray(softmax(self.gamma * np.asarray(raw, dtype=np.float64), axis=1))
        p = np.array(self.low) + self.b * s
        q = np.divide(s * s, p, out=np.zeros_like(s), where=p > 0)
        own = q * (1.0 - s) ** 2 + s * s * (q.sum(axis=1, keepdims=True) - q)
        return (self.gamma * self.b) ** 2 * own

    def wrong(self, y: Any, raw: Any) -> NDArray[np.bool_]:
        """Return which examples are errors, strictly: a tie for the most probable class is one."""
        y = np.asarray(y, dtype=np.intp)
        p = self.probability(raw) if not self.symmetric else np.array(raw, dtype=np.float64)
        rows = np.arange(len(y))
        own = p[rows, y].copy()
        p[rows, y] = -np.inf
        return ~(own > p.max(axis=1))

    @property
    def symmetric(self) -> bool:
        """Whether all classes have the same plateau, so that the largest score wins."""
        return len(set(self.low)) == 1

    def sharpened(self, gamma: float) -> Self:
        """Return the same loss at another gamma."""
        return replace(self, gamma=gamma)


def _others(share: Floats, y: NDArray[np.intp]) -> Floats:
    """Return 1 - share_y without loss of digits where share_y is nearly 1."""
    rest = share.copy()
    rest[np.arange(len(y)), y] = 0.0
    return np.asarray(rest.sum(axis=1))
