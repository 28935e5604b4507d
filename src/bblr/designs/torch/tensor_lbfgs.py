"""L-BFGS for several scores a row, with everything as long as the parameters on the device.

A quasi-Newton step is a sum of remembered steps, of preconditioned changes of the gradient and of
the preconditioned gradient. Their factors follow from inner products, which are asked for together
with the value: one question a step. What a step does on the device is recorded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
import torch

from bblr._numeric.device_code import Recorded
from bblr.designs.base import Floats
from bblr.designs.rows import Vector
from bblr.designs.small_tables import CONVERGED, LIMIT, STUCK, Rules
from bblr.designs.torch.tensor_objective import along, in_one_place, nowhere
from bblr.losses import Loss
from bblr.losses.torch_fused import SoftmaxOnDevice, softmax_numbers

Tensor = torch.Tensor

# Rows of the table of a walk: a step, the gradient where it leads and the same preconditioned,
# both where it begins, and behind them the steps and preconditioned changes that are remembered.
_STEP, _GRADIENT, _DRAWN, _OLD_GRADIENT, _OLD_DRAWN, _PAIRS = range(6)


@dataclass(frozen=True, eq=False)
class TensorScores:
    """Weighted loss of several scores plus L2 penalty, as a function of a tensor.

    Parameters
    ----------
    run : callable
        Takes weights, a column for each score, and intercepts in the units of the rows, labels,
        row weights and the loss; returns value, slopes by the intercepts and gradient in one
        tensor, and the scores.
    centre, inverse : tensor of shape (n_features,)
        Centre and inverse scale of each feature.
    fit_intercept : bool
        Whether the last parameter of each score is an intercept.
    y, weight : tensor of shape (n_rows,)
        Class numbers and row weights.
    loss : Loss
        Loss of the scores.
    l2 : float
        Strength of the penalty.
    unit : float
        What tolerances are counted in.
    scratch : dict
        Keeps a walk that is recorded.
    """

    run: Callable[[Tensor, Tensor, Vector, Vector, Any], tuple[Tensor, Tensor]]
    centre: Tensor
    inverse: Tensor
    fit_intercept: bool
    y: Tensor
    weight: Tensor
    loss: Loss | SoftmaxOnDevice
    l2: Any
    unit: float
    scratch: dict[str, Any]

    def place(self, there: Tensor, run: Any) -> tuple[Tensor, Tensor, Tensor]:
        """Return value, gradient and scores at parameters, a row for each score."""
        d, classes = len(self.centre), len(there)
        u = there[:, :d]
        coef = u * self.inverse
        shift = there[:, d] if self.fit_intercept else 0.0
        level = shift - coef @ self.centre
        sums, raw = run(coef.T, level, self.y, self.weight, self.loss)
        slopes = sums[1 : 1 + classes, None]
        pulled = sums[1 + classes :].reshape(classes, d) - slopes * self.centre
        gradient = torch.addcmul(self.l2 * u, pulled, self.inverse)
        if self.fit_intercept:
            gradient = torch.cat([gradient, slopes], dim=1)
        return sums[0] + 0.5 * self.l2 * u.square().sum(), gradient, raw

    def lbfgs_descent(
        self, theta: Floats, precondition: Callable[[Tensor], Any], rules: Rules, memory: int
    ) -> Any:
        """Descend as :func:`bblr.designs.small_lbfgs.lbfgs_descent` does.

        `precondition` makes a :class:`bblr.curvature.SharedEigenvectors` of the scores.
        """
        walk = self._walk(theta.shape, memory)
        try:
            raw = walk.start(self.run, theta)
            walk.precondition(precondition(raw))
            return _Descent(walk, self.unit, rules).run()
        finally:
            # It reads the rows of the design that keeps the walk, which would refer to itself.
            walk.run = nowhere

    def _walk(self, shape: tuple[int, ...], memory: int) -> _Walk:
        """Return a walk by this objective: the same for all with the same rows."""
        device = self.centre.device
        numbers = softmax_numbers(self.loss.fused, device)
        if numbers is None:
            return _Walk(self, shape, memory, is_recorded=False)
        walk: _Walk | None = self.scratch.get("scores")
        if walk is None or not walk.fits(self, shape, memory):
            both = torch.cat([numbers, numbers[:1]])
            apart = replace(self, run=nowhere, scratch={}, weight=self.weight.clone())
            known = replace(apart, loss=SoftmaxOnDevice(both), l2=both[-1])
            walk = self.scratch["scores"] = _Walk(known, shape, memory, is_recorded=True)
        walk.objective.loss.fused.numbers[:-1].copy_(numbers)
        walk.objective.l2.fill_(self.l2)
        walk.objective.weight.copy_(self.weight)
        return walk


class _Walk:
    """The parameters where a descent is, those where a step leads, and the pairs it remembers.

    All tensors stay where they are, so that the work of a step can be recorded.
    """

    def __init__(
        self, objective: TensorScores, shape: tuple[int, ...], memory: int, is_recorded: bool
    ) -> None:
        self.objective: Any = objective
        self.shape, self.memory = shape, memory
        self.run: Any = nowhere
        self._device, self._is_recorded = objective.centre.device, is_recorded
        (classes, size), d = shape, len(objective.centre)
        self._table = self._new(_PAIRS + 2 * memory, classes * size)
        self._here, self._there = self._new(*shape), self._new(*shape)
        self._value = self._new(1)
        # Factors of the preconditioned gradient, steps and changes; the length of the step.
        self._factors = self._new(2 + 2 * memory)
        self._asked = self._message(len(self._factors))
        self._told = self._message(1 + 3 * len(self._table) + classes * size)
        # The inverse of a curvature, see `SharedEigenvectors`.
        self._vectors: Tensor | None = None
        self._diagonal, self._totals = self._new(classes, d), self._new(classes, 1)
        self._going, self._telling = self._record(), self._record()

    def _new(self, *shape: int) -> Tensor:
        return torch.zeros(shape, dtype=torch.float64, device=self._device)

    def _message(self, size: int) -> Tensor:
        """Return numbers that the device reads or writes where they are."""
        return torch.zeros(size, dtype=torch.float64, pin_memory=self._device.type == "cuda")

    def _record(self) -> Recorded:
        return Recorded(self._device, self._is_recorded)

    def fits(self, objective: TensorScores, shape: tuple[int, ...], memory: int) -> bool:
        """Whether the labels and units are the same, in the same place."""
        return (
            (self.shape, self.memory) == (shape, memory)
            and self.objective.fit_intercept == objective.fit_intercept
            and in_one_place(self.objective, objective, ("centre", "inverse", "y"))
        )

    def start(self, run: Any, theta: Floats) -> Tensor:
        """Begin at some parameters; return the scores."""
        self.run = run
        self._here.copy_(torch.as_tensor(theta))
        self._table.zero_()
        self._asked.zero_()
        self._going(self._go)
        return self._raw

    def precondition(self, inverse: Any) -> None:
        """Set the inverse of a curvature."""
        if (inverse.vectors is None) != (self._vectors is None):
            self._vectors = None if inverse.vectors is None else self._new(*inverse.vectors.shape)
            self._telling = self._record()
        if self._vectors is not None:
            self._vectors.copy_(torch.as_tensor(inverse.vectors))
        self._diagonal.copy_(torch.as_tensor(np.maximum(inverse.diagonal, 1e-300)))
        self._totals.copy_(torch.as_tensor(inverse.totals)[:, None])

    def _go(self) -> None:
        """Make a step, and evaluate where it leads."""
        self._factors.copy_(self._asked, non_blocking=True)
        step = self._factors[:-1] @ self._table[_OLD_DRAWN:]
        torch.addcmul(self._here, step.reshape(self.shape), self._factors[-1], out=self._there)
        value, gradient, self._raw = self.objective.place(self._there, self.run)
        self._value.copy_(value)
        torch.stack([step, gradient.reshape(-1)], out=self._table[: _GRADIENT + 1])

    def _tell(self) -> None:
        """Precondition the gradient; tell inner products with it, its change and the step."""
        gradient = self._table[_GRADIENT].reshape(self.shape)
        own = gradient[:, : self._diagonal.shape[1]]
        if self._vectors is None:
            own = own / self._diagonal
        else:
            own = (own @ self._vectors).div_(self._diagonal) @ self._vectors.T
        if self.objective.fit_intercept:
            own = torch.cat([own, gradient[:, -1:] / self._totals], dim=1)
        self._table[_DRAWN].copy_(own.reshape(-1))
        change = self._table[_GRADIENT] - self._table[_OLD_GRADIENT]
        some = torch.stack([self._table[_GRADIENT], change, self._table[_STEP]])
        products = (some @ self._table.T).reshape(-1)
        told = torch.cat([self._value, products, self._there.reshape(-1)])
        self._told.copy_(told, non_blocking=True)

    def answer(self) -> Answered:
        """Return what there is where the last step has led."""
        self._telling(self._tell)
        if self._device.type == "cuda":
            torch.cuda.current_stream(self._device).synchronize()
        numbers, end = self._told.numpy(), 1 + 3 * len(self._table)
        by_gradient, by_change, by_step = numbers[1:end].reshape(3, -1).copy()
        theta = numbers[end:].copy()
        return Answered(float(numbers[0]), by_gradient, by_change, by_step[_STEP], theta)

    def attempt(self, factors: Floats, t: float) -> Answered:
        """Go t times a step, which is a sum of what the table has behind the gradients."""
        asked = self._asked.numpy()
        asked[:-1], asked[-1] = factors, t
        self._going(self._go)
        return self.answer()

    def remember(self, number: int, t: float) -> None:
        """Keep t times the last step, and the change of the preconditioned gradient."""
        table, k = self._table, _PAIRS + number
        torch.mul(table[_STEP], t, out=table[k])
        torch.sub(table[_DRAWN], table[_OLD_DRAWN], out=table[k + self.memory])

    def take(self) -> None:
        """Go where the last step led."""
        self._here.copy_(self._there)
        self._table[_OLD_GRADIENT : _OLD_DRAWN + 1] = self._table[_GRADIENT : _DRAWN + 1]
        self.raw = self._raw.clone()


class Answered(NamedTuple):
    """What the device tells of a place.

    The products are those of the rows of the table with the gradient and with its change.
    """

    value: float
    by_gradient: Floats
    by_change: Floats
    length: float  # squared, of the step that led there
    theta: Floats

    @property
    def ahead(self) -> float:
        """The slope along the step that led there."""
        return float(self.by_gradient[_STEP])


class _Descent:
    """What a descent knows of the pairs: their inner products.

    Of remembered steps s and changes y of the gradient, `along` has s_i'y_j for j no older than i,
    and `bent` y_i'P y_j; P is the preconditioner. With the gradient g, `steps` has s_i'g and
    `changes` y_i'P g. `order` says where in the table a pair is, the oldest first.
    """

    def __init__(self, walk: _Walk, unit: float, rules: Rules) -> None:
        self.walk, self.unit, self.rules = walk, unit, rules
        self.clear()

    def clear(self) -> None:
        """Forget all pairs."""
        self.order: list[int] = []
        self.along = self.bent = np.zeros((0, 0))
        self.steps = self.changes = np.zeros(0)

    def run(self) -> Any:
        """Descend from the start of the walk."""
        rules, walk = self.rules, self.walk
        here = walk.answer()
        walk.take()
        self.pull = here.by_gradient[_DRAWN]
        n_iter, reason = 0, LIMIT
        while n_iter < rules.max_iter:
            scale, a, b = self._factors()
            slope = -float(scale * self.pull - a @ self.changes + b @ self.steps)
            if rules.caution * -0.5 * slope <= rules.tol * (self.unit + abs(here.value)):
                reason = CONVERGED
                break
            attempt = partial(walk.attempt, self._placed(scale, a, b))
            found = along(attempt, here.value, slope, rules)
            n_iter += 1
            if found is None:
                if not self.order:
                    reason = STUCK
                    break
                self.clear()
                continue
            self._remember(*found)
            walk.take()
            here = found[1]
        return here.theta, here.value, walk.raw, n_iter, reason

    def _factors(self) -> tuple[float, Floats, Floats]:
        """Return the factors of the preconditioned gradient, of its changes and of the steps.

        This is the two-loop recursion, on inner products.
        """
        count = len(self.order)
        a, b = np.zeros(count), np.zeros(count)
        if not count:
            return 1.0, a, b
        for i in reversed(range(count)):
            a[i] = (self.steps[i] - a[i + 1 :] @ self.along[i, i + 1 :]) / self.along[i, i]
        # The curvature along the last step sets the scale.
        scale = float(self.along[-1, -1] / self.bent[-1, -1])
        for i in range(count):
            product = scale * (self.changes[i] - a @ self.bent[i]) + b[:i] @ self.along[:i, i]
            b[i] = a[i] - product / self.along[i, i]
        return scale, scale * a, b

    def _placed(self, scale: float, a: Floats, b: Floats) -> Floats:
        """Return the factors of a step where the table has what they belong to."""
        steps, changes = np.zeros(self.walk.memory), np.zeros(self.walk.memory)
        steps[self.order], changes[self.order] = -b, a
        return np.r_[-scale, steps, changes]

    def _remember(self, t: float, there: Answered) -> None:
        """Add a step to the pairs, and keep what is known of the gradient at its end."""
        memory, order = self.walk.memory, list(self.order)
        by_gradient, by_change = there.by_gradient, there.by_change
        pairs = by_gradient[_PAIRS:].reshape(2, memory)
        self.pull = by_gradient[_DRAWN]
        self.steps, self.changes = pairs[:, order]
        product = t * by_change[_STEP]
        change = by_change[_GRADIENT] - by_change[_OLD_GRADIENT]
        if not product > 1e-10 * t * sqrt(there.length * max(change, 0.0)):
            return
        steps, changes = by_change[_PAIRS:].reshape(2, memory)[:, order]
        bent = by_change[_DRAWN] - by_change[_OLD_DRAWN]
        self.along = _grown(self.along, np.r_[steps, product])
        self.bent = _grown(self.bent, np.r_[changes, bent])
        self.steps = np.r_[self.steps, t * by_gradient[_STEP]]
        self.changes = np.r_[self.changes, by_change[_DRAWN]]
        if len(order) == memory:
            free = self.order.pop(0)
            self.along, self.bent = self.along[1:, 1:], self.bent[1:, 1:]
            self.steps, self.changes = self.steps[1:], self.changes[1:]
        else:
            free = len(order)
        self.order.append(free)
        self.walk.remember(free, t)


def _grown(matrix: Floats, column: Floats) -> Floats:
    """Return a matrix with a further column, which is its further row as well."""
    out = np.empty((len(column), len(column)))
    out[:-1, :-1] = matrix
    out[-1], out[:, -1] = column, column
    return out
