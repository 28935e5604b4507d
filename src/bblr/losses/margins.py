"""What losses of the margin share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def margin(y: Any, raw: Any) -> Floats:
    """Return z = y * raw as float64, the quantity the symmetric losses depend on."""
    return np.asarray(y, dtype=np.float64) * np.asarray(raw, dtype=np.float64)


def check_gamma(gamma: float) -> None:
    """Raise a ValueError unless gamma is a positive, finite number."""
    if not (np.isfinite(gamma) and gamma > 0):
        raise ValueError(f"gamma must be a positive, finite number, got {gamma!r}.")
