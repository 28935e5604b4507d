"""The objective of one score per row, with its parameters on the device of the rows.

On a GPU a fit spends its time on kernel launches and on waiting for numbers: parameters,
gradients and Newton systems stay there, and a step asks for a few numbers, once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
import torch

from bblr._numeric.device_code import Recorded
from bblr.designs.base import Floats
from bblr.designs.rows import Vector
from bblr.designs.small_tables import CONVERGED, LIMIT, STUCK, Rules
from bblr.losses import Loss
from bblr.losses.torch_forms import fisher, positive_curvature

Tensor = torch.Tensor
Pass = Callable[[Tensor, Tensor, Vector, Vector, Loss], tuple[Tensor, Tensor]]


@dataclass(frozen=True, eq=False)
class TensorObjective:
    """Weighted loss plus L2 penalty, as a function of parameters that are a tensor.

    Parameters
    ----------
    run : callable
        Takes weights and intercept in the units of the rows, labels, row weights and the loss;
        returns value, slope by the intercept and gradient in one tensor, and the scores.
    picked : callable
        Returns the rows of given numbers, as stored.
    centre, inverse : tensor of shape (n_features,)
        Centre and inverse scale of each feature.
    square_norm : tensor of shape (n_rows,)
        Squared length of each row in unit-free coordinates.
    fit_intercept : bool
        Whether the last parameter is an intercept.
    y, weight : tensor of shape (n_rows,)
        Labels and row weights.
    loss : Loss
        Loss of one score.
    l2 : float
        Strength of the penalty.
    unit, total : float
        What tolerances are counted in, and the weight of all rows.
    most : int
        Rows of a curvature, at most.
    """

    run: Pass
    picked: Callable[[Tensor], Tensor]
    centre: Tensor
    inverse: Tensor
    square_norm: Tensor
    fit_intercept: bool
    y: Tensor
    weight: Tensor
    loss: Loss
    l2: float
    unit: float
    total: float
    most: int

    def parameters(self, theta: Any) -> Tensor:
        """Return parameters on the device."""
        return torch.as_tensor(theta, device=self.centre.device)

    def place(self, theta: Tensor, step: Tensor, length: Tensor) -> Place:
        """Return what there is at theta + length * step, in one pass over the rows."""
        there = torch.addcmul(theta, step, length)
        u = there[: len(self.centre)]
        coef = u * self.inverse
        intercept = there[-1] if self.fit_intercept else 0.0
        sums, raw = self.run(coef, intercept - coef @ self.centre, self.y, self.weight, self.loss)
        slope, pulled = sums[1:2], sums[2:]
        own = (pulled - slope * self.centre).mul_(self.inverse).add_(u, alpha=self.l2)
        gradient = torch.cat([own, slope]) if self.fit_intercept else own
        value = sums[0] + 0.5 * self.l2 * (u @ u)
        return Place(there, gradient, raw, torch.stack([value, gradient @ step]))

    def start(self, theta: Any) -> Place:
        """Return what there is at some parameters."""
        theta = self.parameters(theta)
        nothing = torch.zeros_like(theta)
        return self.place(theta, nothing, nothing[:1])

    def walk(self) -> Walk:
        """Return a walk by this objective."""
        return Walk(self, Recorded(self.centre.device, is_possible=False))

    def newton_descent(self, theta: Floats, rules: Rules) -> Any:
        """Descend as :func:`bblr.designs.small_tables.newton_descent` does.

        One question a step, on the value, the slopes and what the next step promises.
        """
        walk = self.walk()
        here = walk.start(theta)
        n_iter, reason = 0, LIMIT
        while n_iter < rules.max_iter:
            promised = rules.caution * -0.5 * here.slope
            if promised <= rules.tol * (self.unit + abs(here.value)):
                reason = CONVERGED
                break
            n_iter += 1
            found = along(walk.attempt, here.value, here.slope, rules)
            if found is None:
                reason = STUCK
                break
            walk.take()
            _, here = found
        return here.theta, here.value, walk.raw, n_iter, reason

    def newton_step(self, here: Place) -> Tensor:
        """Return a step by a sampled curvature that is never negative.

        It is the matrix of :func:`bblr.curvature.newton`, and has the same diagonal added.
        """
        matrix, diagonal = self.system(
            here.raw, False, self.most, 1e-3, 1e-6 / len(here.theta), 0.0
        )
        factor, failed = torch.linalg.cholesky_ex(matrix)
        half = torch.linalg.solve_triangular(factor, here.gradient[:, None], upper=False)
        found = torch.linalg.solve_triangular(factor.T, half, upper=True).squeeze(1)
        return self.chosen(found, failed, here.gradient, diagonal)

    def chosen(self, found: Tensor, failed: Tensor, gradient: Tensor, diagonal: Tensor) -> Tensor:
        """Return the step of a solution, or of the diagonal alone where there was no factor."""
        return -torch.where(failed == 0, found, gradient / diagonal)

    def system(
        self, raw: Tensor, expected: bool, most: int, share: float, least: float, lowest: float
    ) -> tuple[Tensor, Tensor]:
        """Return the matrix of a curvature of about `most` rows, and its diagonal.

        To the diagonal, the penalty is added, and a share of the mean curvature, or at least a
        share of the weight of all rows, which counts as no less than the `lowest`. The curvature
        is the Fisher information if `expected`.
        """
        weight = (
            fisher(self.loss, raw, self.weight)
            if expected
            else positive_curvature(self.loss, self.y, raw, self.weight)
        )
        rows, own = sample(weight, self.square_norm, min(most, len(weight)))
        Z = self.coordinates(rows)
        matrix = (Z * own[:, None]).T @ Z
        diagonal = matrix.diagonal()
        diagonal += (weight.sum() * (share / len(matrix))).clamp_(
            min=least * max(self.total, lowest)
        )
        diagonal[: len(self.centre)] += self.l2
        return matrix, diagonal

    def coordinates(self, rows: Tensor) -> Tensor:
        """Return some rows in the coordinates of the parameters."""
        Z = (self.picked(rows) - self.centre) * self.inverse
        return torch.nn.functional.pad(Z, (0, 1), value=1.0) if self.fit_intercept else Z

    def covariance(self, raw: Tensor, most: int) -> TensorCovariance:
        """Return the inverse of the Fisher information of about so many rows, and the penalty's.

        A billionth of the weight keeps it from being singular.
        """
        matrix, _ = self.system(raw, True, most, 0.0, 1e-9, 1.0)
        d = len(self.centre)
        factor, failed = torch.linalg.cholesky_ex(matrix)
        one = torch.eye(len(matrix), dtype=torch.float64, device=matrix.device)
        inverse = torch.linalg.solve_triangular(factor, one, upper=False)
        settled = (1.0 - self.l2 * inverse.square().sum(dim=0)[:d]).clamp_(0.0, 1.0).sum()
        return TensorCovariance(inverse, torch.where(failed == 0, settled, -1.0))


class Place(NamedTuple):
    """Parameters with gradient, scores, and both the value and the slope along the step there."""

    theta: Tensor
    gradient: Tensor
    raw: Tensor
    head: Tensor


class Reached(Protocol):
    """What a line search asks of a place: the value, and the slope along the step there."""

    @property
    def value(self) -> float:
        """The value."""
        ...

    @property
    def ahead(self) -> float:
        """The slope."""
        ...


class Told(NamedTuple):
    """What the device tells of a place."""

    value: float
    ahead: float  # the slope along the step that led there
    slope: float  # that along the step that leads on
    theta: Floats


class Walk:
    """The place where a descent is, one where its step leads, and the step from there.

    The tensors of both stay where they are, so that the work of a step can be recorded.

    Parameters
    ----------
    objective : TensorObjective
        What the steps are made by.
    record : Recorded
        A record of the work of a step.

    Attributes
    ----------
    raw : tensor
        The scores where the descent is.
    """

    def __init__(self, objective: TensorObjective, record: Recorded) -> None:
        self.objective: Any = objective
        self._record = record
        device = objective.centre.device
        size = len(objective.centre) + objective.fit_intercept
        # Parameters, gradient and step.
        self._here = torch.zeros(3, size, dtype=torch.float64, device=device)
        self._there = torch.zeros_like(self._here)
        self._length = torch.ones(1, dtype=torch.float64, device=device)
        self._known_length = 1.0
        self._told = torch.empty(3 + size, dtype=torch.float64, pin_memory=device.type == "cuda")

    def _work(self) -> None:
        """Evaluate the end of a step, and find the step from there."""
        place = self.objective.place(self._here[0], self._here[2], self._length)
        step = self.objective.newton_step(place)
        torch.stack([place.theta, place.gradient, step], out=self._there)
        slope = (place.gradient @ step)[None]
        told = torch.cat([place.head, slope, place.theta])
        self._told.copy_(told, non_blocking=True)
        self._raw = place.raw

    def start(self, theta: Floats) -> Told:
        """Begin at some parameters."""
        first = np.zeros(self._here.shape)
        first[0] = theta
        self._here.copy_(torch.as_tensor(first))
        found = self.attempt(1.0)
        self.take()
        return found

    def attempt(self, t: float) -> Told:
        """Go so many steps ahead from where the descent is."""
        if t != self._known_length:
            self._length.fill_(t)
            self._known_length = t
        self._record(self._work)
        if self._here.is_cuda:
            torch.cuda.current_stream(self._here.device).synchronize()
        value, ahead, slope, *_ = numbers = self._told.numpy().copy()
        return Told(float(value), float(ahead), float(slope), numbers[3:])

    def take(self) -> None:
        """Go where the last step led."""
        self._here.copy_(self._there)
        self.raw = self._raw.clone()


Spot = TypeVar("Spot", bound="Reached")


def along(
    attempt: Callable[[float], Spot], value: float, slope: float, rules: Rules
) -> tuple[float, Spot] | None:
    """Go along a step to a place that is low and flat enough; return how far, and the place.

    None if there is none. The lengths tried are those of
    :func:`bblr.solvers.line_search.wolfe_step`.
    """
    low, high, t = 0.0, float("inf"), 1.0
    best: tuple[float, Spot] | None = None
    for _ in range(rules.tries):
        tried, there = t, attempt(t)
        if not there.value <= value + rules.armijo * t * slope:
            high = t
            t = 0.5 * (low + high)
        else:
            best = tried, there
            if there.ahead >= rules.wolfe * slope or t > 1e6:
                break
            low = t
            t = 2.0 * t if high == float("inf") else 0.5 * (low + high)
        if high - low < 1e-12 * max(1.0, low):
            break
    if best is None or best[0] == tried:
        return best
    return best[0], attempt(best[0])


def nowhere(*_: Any) -> Any:
    """Stand in for what reads the rows in a walk that a design keeps: it would keep the design."""
    raise NotImplementedError("a walk reads the rows by kernels, or as it is told with each step")


def in_one_place(one: Any, other: Any, names: Sequence[str]) -> bool:
    """Whether tensors of the same names are the same memory."""
    return all(getattr(one, k).data_ptr() == getattr(other, k).data_ptr() for k in names)


@dataclass(frozen=True, eq=False)
class TensorCovariance:
    """A covariance of the weights on the device: see :class:`bblr.training.laplace.Laplace`.

    Parameters
    ----------
    inverse : tensor of shape (n_parameters, n_parameters)
        Inverse of the lower Cholesky factor of the information.
    settled : tensor of one number
        How many of the weights the data have settled; -1 where there was no factor.
    """

    inverse: Tensor
    settled: Tensor

    @cached_property
    def effective(self) -> float:
        """How many of the weights the data have settled."""
        found = float(self.settled)
        if found < 0:
            raise FloatingPointError("the information is not positive definite")
        return found

    def precondition(self, vector: Floats) -> Floats:
        """Return the covariance times a vector."""
        there = torch.as_tensor(vector, device=self.inverse.device)
        return self._here((self.inverse @ there) @ self.inverse)

    def variance(self, Z: Tensor) -> Tensor:
        """Return the variance of the raw score of each row."""
        return (Z @ self.inverse.T).square_().sum(dim=1)

    def _here(self, values: Tensor) -> Floats:
        found: Floats = values.cpu().numpy()
        return found


def sample(weight: Tensor, size: Tensor, most: int) -> tuple[Tensor, Tensor]:
    """Draw the rows that `systematic` draws, without asking the device how many they are.

    The rows that are too many have a weight of zero: to ask would be to wait for all the work that
    the device was given before.
    """
    share = weight * size
    # With every row on a plateau the weights are subnormal; their sum cannot be divided by.
    share = (share * (most / share.sum().clamp_(min=1e-290))).clamp_(max=1.0)
    positive = (weight > 0).double().cumsum(0)
    few = positive[-1] <= most
    reached = torch.where(few, positive, share.cumsum(0))
    # Each row is drawn at most once: where the sum passes a half, and every whole number after it.
    at = torch.arange(most, dtype=torch.float64, device=weight.device) + 0.5
    rows = torch.searchsorted(reached, at).clamp_(max=len(weight) - 1)
    own = weight[rows] / torch.where(few, 1.0, share[rows])
    return rows, torch.where(at <= reached[-1], own, 0.0)
