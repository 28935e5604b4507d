"""What a solver returns, and what it needs of an objective."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Stage(NamedTuple):
    """One gamma of an annealed fit: a row of ``path_``."""

    gamma: float
    value: float
    errors: float
    n_iter: int
    reason: str


@dataclass(frozen=True, eq=False)
class Solution:
    """The best parameters a solver found, and why it stopped.

    Attributes
    ----------
    theta : ndarray
        Parameters.
    value : float
        Objective at `theta`.
    errors : float
        Weighted zero-one loss at `theta`, NaN where the solver does not count it.
    reason : str
        Why the solver stopped, in words.
    n_iter : int
        Iterations.
    gamma : float
        Sharpness at which `theta` was found, NaN for a solver that does not sharpen.
    trace : list of Stage
        Per-gamma record of an annealed fit.
    raw : per-row vector or None
        Scores of `theta` where the solver has them available.
    pairs : tuple
        What L-BFGS remembers of its steps, for a descent that goes on from here.
    """

    theta: Floats
    value: float
    errors: float
    reason: str
    n_iter: int
    gamma: float = float("nan")
    trace: list[Stage] = field(default_factory=list)
    raw: Any = None
    pairs: tuple[Any, ...] = ()


# Called after each stage with its record and the best parameters so far; True stops.
Callback = Callable[[Stage, Any], Any]


def stopped(stage: Stage) -> Stage:
    """Return a stage after which a callback asked to stop."""
    return stage._replace(reason=f"{stage.reason}, stopped by a callback")


# Why a compiled descent ended.
REASONS = ("iteration limit", "converged", "no descent within rounding")


def compiled(objective: object, descent: str, *arguments: object) -> Solution | None:
    """Return the solution of a compiled descent, if the objective has one for its data."""
    descend = getattr(objective, descent, None)
    found = None if descend is None else descend(*arguments)
    if found is None:
        return None
    theta, value, raw, n_iter, reason = found
    return Solution(theta, value, float("nan"), REASONS[reason], n_iter, raw=raw)


def require(objective: object, solver: str, *methods: str) -> None:
    """Raise a TypeError that names the methods a solver needs and the objective lacks."""
    missing = [name for name in methods if not callable(getattr(objective, name, None))]
    if missing:
        raise TypeError(
            f"{solver} needs an objective with {', '.join(missing)}; "
            f"{type(objective).__name__} has none."
        )
