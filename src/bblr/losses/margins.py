"""What losses of the margin share, on arrays and on tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bblr._numeric.tensors import floats, is_tensor

Floats = NDArray[np.float64]


def margin(y: Any, raw: Any) -> Floats:
    """Return z = y * raw as float64, the quantity the symmetric losses depend on."""
    return floats(y) * floats(raw)


def log_sigmoid(z: Any, xp: Any) -> Any:
    """Return the logarithm of the sigmoid, linear where the sigmoid itself would underflow."""
    return xp.where(z < 0, z, 0.0) - xp.log1p(xp.exp(-abs(z)))


def class_numbers(y: Any) -> Any:
    """Return labels or truth values as whole numbers that index an array or a tensor."""
    return y.long() if is_tensor(y) else np.asarray(y, dtype=np.intp)


def check_gamma(gamma: float) -> None:
    """Raise a ValueError unless gamma is a positive, finite number."""
    if not (np.isfinite(gamma) and gamma > 0):
        raise ValueError(f"gamma must be a positive, finite number, got {gamma!r}.")
