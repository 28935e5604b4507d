"""What a loss is: the cost of one example, given its label and its raw score."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bblr._numeric.fused import FusedLoss

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Loss:
    """An elementwise loss of labels y in {-1, +1} and raw scores; it never sees the features.

    A subclass writes ``value_gradient`` and ``limit``, and whatever of the rest differs. One that
    has a field ``gamma`` can be sharpened.
    """

    name: ClassVar[str]
    """Key of the loss in the registry."""

    has_probability: ClassVar[bool] = False
    """Whether the loss is the negative logarithm of a probability."""

    def value(self, y: Any, raw: Any) -> Floats:
        """Return the cost of each example."""
        return self.value_gradient(y, raw)[0]

    def value_gradient(self, y: Any, raw: Any) -> tuple[Floats, Floats]:
        """Return the cost of each example and its derivative by the raw score."""
        raise NotImplementedError(f"{type(self).__name__} must write value_gradient")

    def limit(self, y: Any, raw: Any) -> Floats:
        """Return the cost of each example as gamma grows without bound."""
        return self.value(y, raw)

    def probability(self, raw: Any) -> Floats:
        """Return the probability of the positive class."""
        raise TypeError(f"The {self.name} loss has no probability of its own.")

    def curvature(self, raw: Any) -> Floats:
        """Return a non-negative curvature per example that does not depend on its label.

        For a likelihood this is the Fisher information. Solvers use it to precondition only.
        """
        return np.ones_like(np.asarray(raw, dtype=np.float64))

    def sharpened(self, gamma: float) -> Self:
        """Return the same loss at another gamma; a loss without one returns itself."""
        if any(field.name == "gamma" for field in fields(self)):
            return replace(self, gamma=gamma)  # type: ignore[call-arg]
        return self

    def wrong(self, y: Any, raw: Any) -> NDArray[np.bool_]:
        """Return which examples are errors, strictly: a score on the threshold is one."""
        return ~(margin(y, np.asarray(raw, dtype=np.float64) - self.threshold) > 0)

    @property
    def threshold(self) -> float:
        """Raw score at which the decision changes."""
        return 0.0

    @property
    def fused(self) -> FusedLoss | None:
        """The loss as the fused kernels know it, or None."""
        return None


def margin(y: Any, raw: Any) -> Floats:
    """Return z = y * raw as float64, the quantity the symmetric losses depend on."""
    return np.asarray(y, dtype=np.float64) * np.asarray(raw, dtype=np.float64)


def check_gamma(gamma: float) -> None:
    """Raise a ValueError unless gamma is a positive, finite number."""
    if not (np.isfinite(gamma) and gamma > 0):
        raise ValueError(f"gamma must be a positive, finite number, got {gamma!r}.")
