"""Losses of the margin z = y * raw that others use, or used, in place of the zero-one loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit

from bblr._numeric.tensors import floats, namespace
from bblr.losses.fused import SIGMOID, FusedLoss
from bblr.losses.loss import Loss
from bblr.losses.margins import Floats, margin


def _sech2(z: Floats) -> Floats:
    # 1 - tanh^2 loses every digit in the tails; 4 s (1 - s) with s = sigmoid(2z) does not.
    return np.asarray(4.0 * expit(2.0 * z) * expit(-2.0 * z))


@dataclass(frozen=True)
class ZeroOne(Loss):
    """1 where z <= 0, else 0: equation (4). Strict: a score of exactly 0 is an error.

    Examples
    --------
    >>> from bblr.losses import ZeroOne
    >>> ZeroOne().value([1, 1, 1], [-0.1, 0.0, 0.1])
    array([1., 1., 0.])
    """

    name: ClassVar[str] = "zero-one"

    def value_gradient(self, y: Any, raw: Any) -> tuple[Floats, Floats]:
        """Return the cost of each example; its derivative is 0 wherever there is one."""
        value = (margin(y, raw) <= 0).astype(np.float64)
        return value, np.zeros_like(value)


@dataclass(frozen=True)
class Hinge(Loss):
    """max(0, 1 - z), equation (3).

    Examples
    --------
    >>> from bblr.losses import Hinge
    >>> Hinge().value([1, 1, 1], [-1.0, 0.0, 2.0])
    array([2., 1., 0.])
    """

    name: ClassVar[str] = "hinge"

    def value_gradient(self, y: Any, raw: Any) -> tuple[Floats, Floats]:
        """Return the cost of each example and a subgradient by the raw score."""
        gap = 1.0 - margin(y, raw)
        return np.maximum(0.0, gap), np.where(gap > 0, -floats(y), 0.0)


@dataclass(frozen=True)
class Squared(Loss):
    """(1 - z)^2.

    Examples
    --------
    >>> from bblr.losses import Squared
    >>> Squared().value([1, 1, 1], [-1.0, 0.0, 2.0])
    array([4., 1., 1.])
    """

    name: ClassVar[str] = "squared"

    def value_gradient(self, y: Any, raw: Any) -> tuple[Floats, Floats]:
        """Return the cost of each example and its derivative by the raw score."""
        gap = 1.0 - margin(y, raw)
        return gap * gap, -2.0 * floats(y) * gap


@dataclass(frozen=True)
class GeneralizedLogistic(Loss):
    """log(1 + exp(gamma (1 - z))) / gamma (Zhang and Oles); tends to the hinge loss.

    Parameters
    ----------
    gamma : float, default=1
        Sharpness.

    Examples
    --------
    >>> from bblr.losses import GeneralizedLogistic
    >>> GeneralizedLogistic(gamma=100.0).value([1, 1], [0.0, 2.0]).round(3)
    array([1., 0.])
    """

    name: ClassVar[str] = "generalized-logistic"
    gamma: float = 1.0

    def value_gradient(self, y: Any, raw: Any) -> tuple[Floats, Floats]:
        """Return the cost of each example and its derivative by the raw score."""
        gap = self.gamma * (1.0 - margin(y, raw))
        value = np.logaddexp(0.0, gap) / self.gamma
        return value, -floats(y) * expit(gap)

    def limit(self, y: Any, raw: Any) -> Floats:
        """Return the hinge loss."""
        return Hinge().value(y, raw)

    def curvature(self, raw: Any) -> Floats:
        """Return the mean second derivative over both labels."""
        raw = floats(raw)
        up, down = self.gamma * (1.0 - raw), self.gamma * (1.0 + raw)
        return np.asarray(0.5 * self.gamma * (expit(up) * expit(-up) + expit(down) * expit(-down)))


@dataclass(frozen=True)
class Sigmoid(Loss):
    """1 / (1 + exp(gamma z)), the loss of SLA (Nguyen and Sanner); tends to the zero-one loss.

    Parameters
    ----------
    gamma : float, default=1
        Sharpness.

    Examples
    --------
    >>> from bblr.losses import Sigmoid
    >>> Sigmoid(gamma=4.0).value([1, 1, 1], [-1.0, 0.0, 1.0]).round(3)
    array([0.982, 0.5  , 0.018])
    """

    name: ClassVar[str] = "sigmoid"
    takes_tensors: ClassVar[bool] = True
    gamma: float = 1.0

    def value_gradient(self, y: Any, raw: Any) -> tuple[Floats, Floats]:
        """Return the cost of each example and its derivative by the raw score."""
        xp, z = namespace(raw), self.gamma * margin(y, raw)
        wrong = xp.sigmoid(-z)
        return wrong, -self.gamma * floats(y) * wrong * xp.sigmoid(z)

    def limit(self, y: Any, raw: Any) -> Floats:
        """Return the zero-one loss, with 1/2 at a score of 0."""
        return np.heaviside(-margin(y, raw), 0.5)

    def curvature(self, raw: Any) -> Floats:
        """Return gamma^2 s (1 - s), the scale on which the slope changes."""
        xp, z = namespace(raw), self.gamma * floats(raw)
        found: Floats = self.gamma**2 * xp.sigmoid(z) * xp.sigmoid(-z)
        return found

    def __post_init__(self) -> None:
        super().__post_init__()
        vars(self).update(fused=FusedLoss(SIGMOID, float(self.gamma)))


@dataclass(frozen=True)
class Ramp(Loss):
    """Hinge at 1 minus hinge at s < 1 of gamma * z (Collobert et al.): min(1 - s, hinge).

    Tends to (1 - s) times the zero-one loss, with 1 at a score of 0.

    Parameters
    ----------
    gamma : float, default=1
        Sharpness.
    s : float, default=-1
        Where the ramp ends, at most 0.

    Examples
    --------
    >>> from bblr.losses import Ramp
    >>> Ramp().value([1, 1, 1], [-9.0, 0.0, 2.0])
    array([2., 1., 0.])
    """

    name: ClassVar[str] = "ramp"
    gamma: float = 1.0
    s: float = -1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.s <= 0:
            raise ValueError(f"s, where the ramp ends, must be at most 0, got {self.s!r}.")

    def value_gradient(self, y: Any, raw: Any) -> tuple[Floats, Floats]:
        """Return the cost of each example and a subgradient by the raw score."""
        z = self.gamma * margin(y, raw)
        value = np.clip(1.0 - z, 0.0, 1.0 - self.s)
        inside = (z < 1.0) & (z > self.s)
        return value, np.where(inside, -self.gamma * floats(y), 0.0)

    def limit(self, y: Any, raw: Any) -> Floats:
        """Return (1 - s) times the zero-one loss, with 1 at a score of 0."""
        z = margin(y, raw)
        return np.where(z == 0, 1.0, (1.0 - self.s) * (z < 0))


@dataclass(frozen=True)
class Tanh(Loss):
    """1 - tanh(gamma z); tends to twice the zero-one loss.

    Parameters
    ----------
    gamma : float, default=1
        Sharpness.

    Examples
    --------
    >>> from bblr.losses import Tanh
    >>> Tanh(gamma=2.0).value([1, 1, 1], [-3.0, 0.0, 3.0]).round(3)
    array([2., 1., 0.])
    """

    name: ClassVar[str] = "tanh"
    gamma: float = 1.0

    def value_gradient(self, y: Any, raw: Any) -> tuple[Floats, Floats]:
        """Return the cost of each example and its derivative by the raw score."""
        z = self.gamma * margin(y, raw)
        slope = -self.gamma * floats(y) * _sech2(z)
        # 1 - tanh(z) = 2 sigmoid(-2z) keeps its digits where tanh rounds to 1.
        return 2.0 * expit(-2.0 * z), slope

    def limit(self, y: Any, raw: Any) -> Floats:
        """Return twice the zero-one loss, with 1 at a score of 0."""
        return 1.0 - np.sign(margin(y, raw))


@dataclass(frozen=True)
class SquaredTanh(Loss):
    """(target - tanh(gamma z))^2 with target 0.65 (Vincent); tends to 0.1225 or 2.7225.

    Parameters
    ----------
    gamma : float, default=1
        Sharpness.
    target : float, default=0.65
        What tanh is drawn towards.

    Examples
    --------
    >>> from bblr.losses import SquaredTanh
    >>> SquaredTanh(gamma=9.0).value([1, 1], [-3.0, 3.0]).round(4)
    array([2.7225, 0.1225])
    """

    name: ClassVar[str] = "squared-tanh"
    gamma: float = 1.0
    target: float = 0.65

    def value_gradient(self, y: Any, raw: Any) -> tuple[Floats, Floats]:
        """Return the cost of each example and its derivative by the raw score."""
        z = self.gamma * margin(y, raw)
        gap = self.target - np.tanh(z)
        slope = -2.0 * self.gamma * floats(y) * gap * _sech2(z)
        return gap * gap, slope

    def limit(self, y: Any, raw: Any) -> Floats:
        """Return the squared distance of the target from the sign of z."""
        return np.asarray((self.target - np.sign(margin(y, raw))) ** 2)
