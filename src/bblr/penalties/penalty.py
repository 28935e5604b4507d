"""What a penalty is: the cost of weights, whatever the data."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Penalty(Protocol):
    """A negative log density of the weights, up to a constant; it never sees the intercept."""

    def value(self, theta: Floats) -> float:
        """Return the negative log density."""

    def gradient(self, theta: Floats) -> Floats:
        """Return the gradient of `value`."""

    def curvature(self, theta: Floats) -> Floats:
        """Return a non-negative diagonal that stands for the Hessian."""

    def along(self, theta: Floats, j: int, steps: Floats) -> Floats:
        """Return `value` with `steps` added to weight j."""
