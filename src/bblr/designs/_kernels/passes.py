"""The compiled passes that every matrix in memory has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

Kernel = Callable[..., Any]


class Passes(NamedTuple):
    """Kernels that take the arrays of a matrix, other arguments, a row range and the output."""

    scores: Kernel
    pull: Kernel
    value_gradient: Kernel
    moments: Kernel
    square_norm: Kernel
