"""The Gaussian prior, better known as the L2 penalty."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Gaussian:
    """l2 / 2 * ||theta||^2, the last term of equation (36); it never sees the intercept."""

    l2: float = 1.0

    def __post_init__(self) -> None:
        if not (isfinite(self.l2) and self.l2 >= 0):
            raise ValueError(f"l2 must be a finite number of at least 0, got {self.l2!r}.")

    def value(self, theta: Floats) -> float:
        """Return the negative log density, up to a constant."""
        return 0.5 * self.l2 * float(theta @ theta)

    def gradient(self, theta: Floats) -> Floats:
        """Return the gradient of `value`."""
        return self.l2 * theta

    def curvature(self, theta: Floats) -> Floats:
        """Return the diagonal of the Hessian."""
        return np.full(len(theta), self.l2)

    def along(self, theta: Floats, j: int, steps: Floats) -> Floats:
        """Return `value` with `steps` added to weight j."""
        rest = self.value(theta) - 0.5 * self.l2 * theta[j] ** 2
        return rest + 0.5 * self.l2 * (theta[j] + steps) ** 2
