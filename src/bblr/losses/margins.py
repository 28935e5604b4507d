"""What losses of the margin share, on arrays and on tensors, and checks of their parameters."""

from __future__ import annotations

from math import isfinite
from numbers import Integral
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
    if not (isfinite(gamma) and gamma > 0):
        raise ValueError(f"gamma must be a positive, finite number, got {gamma!r}.")


def number(name: str, value: Any) -> float:
    """Return a finite number, or raise a ValueError that names the parameter."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a number, got {value!r}.") from None
    if not isfinite(number):
        raise ValueError(f"{name} must be finite, got {number}.")
    return number


def vector(name: str, values: Any) -> tuple[float, ...]:
    """Return a number for each of two or more classes, or raise a ValueError."""
    try:
        numbers = tuple(map(float, values))
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a sequence of numbers, got {values!r}.") from None
    if len(numbers) < 2:
        raise ValueError(f"{name} must hold a number for each of two or more classes.")
    if not all(map(isfinite, numbers)):
        raise ValueError(f"{name} must be finite, got {values!r}.")
    return numbers


def check_count(n_classes: Any) -> None:
    """Raise a ValueError unless there are two or more classes."""
    if isinstance(n_classes, bool) or not isinstance(n_classes, Integral) or n_classes < 2:
        raise ValueError(f"n_classes must be a whole number of at least 2, got {n_classes!r}.")


def check_examples(n: float) -> None:
    """Raise a ValueError unless the number of examples is positive."""
    if n <= 0:
        raise ValueError(f"n, the number of examples, must be positive, got n={n}.")
