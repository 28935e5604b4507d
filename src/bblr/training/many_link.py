"""The link from scores of many classes to probabilities, and how it is fitted."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, softmax

from bblr._numeric.likelihood import likeliest_plateau
from bblr._numeric.tensors import is_tensor
from bblr.losses import DirichletDiscrete, DirichletPrior

Floats = NDArray[np.float64]

# The weight of the prior stays below these, so that every class can be the most probable one.
_MOST_EVEN = 0.95
_MOST = 0.5
# Width of a vague prior on log gamma, as for two classes.
_LOG_GAMMA_SCALE = 3.0
_FAR = 50.0


@dataclass(frozen=True)
class ManyLink:
    """P(k) = low_k + b * softmax_k(gamma * decision).

    Parameters
    ----------
    prior : DirichletPrior
        Plateaus.
    gamma : float
        Sharpness.
    """

    prior: DirichletPrior
    gamma: float

    def probability(self, decision: Any) -> Floats:
        """Return the probability of each class."""
        loss = DirichletDiscrete.from_prior(self.prior, self.gamma)
        if is_tensor(decision):
            return decision.new_tensor(loss.low) + loss.b * (loss.gamma * decision).softmax(1)
        return loss.probability(decision)

    def without_plateaus(self) -> Self:
        """Return the link to the probability of the true class, whatever is recorded."""
        return type(self)(DirichletPrior((0.0,) * self.prior.n_classes), self.gamma)

    @classmethod
    def fit(cls, decision: Floats, y: Any, weight: Floats, *, even: bool = True) -> Self:
        """Return the link of greatest likelihood on scores that were not trained on.

        An imagined example of each class on the wrong side keeps the plateaus off 0.

        Parameters
        ----------
        decision : ndarray of shape (n_rows, n_classes)
            Scores.
        y : ndarray of shape (n_rows,)
            Class numbers.
        weight : ndarray of shape (n_rows,)
            Weights.
        even : bool, default=True
            Whether all classes get the same plateau, so that the largest score wins.
        """
        classes = decision.shape[1]
        centred = decision - decision.mean(axis=1, keepdims=True)
        # Through a power of two, which changes no digit: squares of large scores may overflow.
        power = np.frexp(np.abs(centred).max())[1]
        spread = np.average((np.ldexp(centred, -power) ** 2).mean(axis=1), weights=weight)
        scale = float(np.ldexp(np.sqrt(spread), power)) or 1.0
        below = (decision - decision.max(axis=1, keepdims=True)) / scale
        fit = _Likelihood(below, np.asarray(y, dtype=np.intp), weight, even)
        wrong = np.argmax(decision, axis=1) != y
        rate = (float(weight @ wrong) + classes) / (float(weight.sum()) + classes)
        share = min(max(rate / fit.most, 1e-6), 0.9)
        first = np.zeros(2 if even else 2 + classes)
        first[:2] = log(share / (1.0 - share)), log(2.0)
        if even:
            data = np.ascontiguousarray(below), fit.y, np.asarray(weight, dtype=np.float64)
            w, theta, gamma = fit.unpack(likeliest_plateau(first, *data, fit.most)[0])
            return cls(DirichletPrior(tuple(w * theta)), gamma / scale)
        found = minimize(
            fit, first, jac=True, method="BFGS", options={"gtol": 1e-9, "maxiter": 500}
        )
        w, theta, gamma = fit.unpack(found.x)
        return cls(DirichletPrior(tuple(w * theta)), gamma / scale)


@dataclass(frozen=True, eq=False)
class _Likelihood:
    """Minus the log likelihood of w, gamma and theta, free of bounds, and its gradient.

    `decision` is the score of each class less the highest of its row.
    """

    decision: Floats
    y: NDArray[np.intp]
    weight: Floats
    even: bool

    @property
    def most(self) -> float:
        return _MOST_EVEN if self.even else _MOST

    def unpack(self, free: Floats) -> tuple[float, Floats, float]:
        # A line search may look far beyond what numbers can hold; the value there is large anyway.
        free = np.clip(free, -_FAR, _FAR)
        classes = self.decision.shape[1]
        theta = np.full(classes, 1.0 / classes) if self.even else np.asarray(softmax(free[2:]))
        return self.most * float(expit(free[0])), theta, exp(free[1])

    def __call__(self, free: Floats) -> tuple[float, Floats]:
        w, theta, gamma = self.unpack(free)
        rows, ones = np.arange(len(self.y)), np.ones(self.decision.shape[1])
        s = np.exp(gamma * self.decision)
        s /= (s @ ones)[:, None]
        own = s[rows, self.y]
        p = w * theta[self.y] + (1.0 - w) * own
        total = float(self.weight.sum())
        value = -float(self.weight @ np.log(p)) - float(np.log(w * theta).sum())
        value += 0.5 * (free[1] / _LOG_GAMMA_SCALE) ** 2
        pull = self.weight / p
        slope_w = w * (1.0 - w / self.most)
        by_w = -float(pull @ (theta[self.y] - own)) - len(theta) / w
        mean = np.einsum("ij,ij->i", s, self.decision)
        by_gamma = -(1.0 - w) * float(pull @ (own * (self.decision[rows, self.y] - mean)))
        gradient = [by_w * slope_w, by_gamma * gamma + free[1] / _LOG_GAMMA_SCALE**2]
        if not self.even:
            by_theta = -w * np.bincount(self.y, pull, len(theta)) - 1.0 / theta
            gradient += list(theta * (by_theta - float(by_theta @ theta)))
        # The mean over examples: the tolerance of the gradient then means the same for all sizes.
        return value / total, np.array(gradient) / total
