"""What solvers need of an objective: each states the protocol that it uses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from bblr.solvers.solution import Solution

Floats = NDArray[np.float64]
Vector = Any
"""A per-row vector, which only the objective looks into."""


class Smooth(Protocol):
    """An objective with a gradient."""

    def value_gradient(self, theta: Floats) -> tuple[float, Floats, Vector]:
        """Return the value, the gradient and the raw scores."""


class Preconditioned(Smooth, Protocol):
    """One that also has an approximate inverse Hessian."""

    @property
    def unit(self) -> float:
        """What tolerances are counted in."""

    def preconditioner(
        self, theta: Floats, raw: Vector = None, least: float = 0.0
    ) -> Callable[[Floats], Floats]:
        """Return an approximate inverse Hessian at theta.

        Of several scores per row, none is taken to bend less by its intercept than `least`.
        """


class Scored(Protocol):
    """An objective of scores that are linear in the parameters."""

    def scores(self, theta: Floats) -> Vector:
        """Return the raw scores."""

    def value(self, theta: Floats, raw: Vector = None) -> float:
        """Return the objective."""

    def shifted(self, raw: Vector, j: int, step: float) -> Vector:
        """Return the raw scores after a step along parameter j."""


class Probed(Scored, Protocol):
    """One that can be evaluated at many steps along a parameter."""

    def probes(
        self, theta: Floats, js: Sequence[int], steps: Floats, raw: Vector = None
    ) -> list[Floats]:
        """Return the objective with each of the steps added to each of the parameters."""


class Counted(Scored, Protocol):
    """One that counts errors, and finds the fewest along a line."""

    @property
    def total(self) -> float:
        """The weight of all rows."""

    @property
    def batch(self) -> int:
        """How many directions to evaluate together."""

    def errors(self, theta: Floats, raw: Vector = None) -> float:
        """Return the weighted zero-one loss."""

    def line(self, raw: Vector, change: Vector) -> tuple[float, float]:
        """Return the best step along a change of the scores, and the errors there."""

    def lines(self, raw: Vector, directions: Floats) -> list[tuple[float, float]]:
        """Return the same for several directions of the parameters."""

    def axis_line(self, raw: Vector, j: int) -> tuple[float, float]:
        """Return the best step along parameter j, and how many fewer errors there are."""


class Sharpened(Protocol):
    """An objective whose loss can be sharpened."""

    def with_gamma(self, gamma: float) -> Self:
        """Return the same objective with the loss sharpened."""

    def training_errors(self, theta: Floats, raw: Vector = None) -> float:
        """Return the weighted training errors."""


class MixedPrior(Probed, Preconditioned, Protocol):
    """An objective whose penalty is a mixture of two densities."""

    @property
    def penalty(self) -> Any:
        """A penalty that assigns weights to clusters and can be estimated from them."""

    def weights(self, theta: Floats) -> Floats:
        """Return the parameters that the penalty sees."""

    def with_penalty(self, penalty: Any) -> Self:
        """Return the same objective with another penalty."""


class Pathed(Protocol):
    """An objective with a compiled path over gamma."""

    def newton_path(
        self,
        first_weight: Floats | None,
        gammas: Sequence[float],
        rules: Sequence[float],
        first_rules: Sequence[float],
        scored: Floats,
    ) -> tuple[Floats, Floats]:
        """Return the parameters at the end of each stage, and the scores of some rows there."""


class Descent(Protocol):
    """Anything that descends from theta0 to a lower point."""

    def minimise(self, objective: Any, theta0: Floats, **options: Any) -> Solution:
        """Return the lower point."""
