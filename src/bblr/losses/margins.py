"""What losses of the margin share, on arrays and on tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bblr._numeric.tensors import floats

Floats = NDArray[np.float64]


def margin(y: Any, raw: Any) -> Floats:
    """Return z = y * raw as float64, the quantity the symmetric losses depend on."""
    return floats(y) * floats(raw)


def check_gamma(gamma: float) -> None:
    """Raise a ValueError unless gamma is a positive, finite number."""
    if not (np.isfinite(gamma) and gamma > 0):
        raise ValueError(f"gamma must be a positive, finite number, got {gamma!r}.")
