"""L-BFGS for several scores a row, with everything as long as the parameters on the device.

A quasi-Newton step is a sum of remembered steps, of preconditioned changes of the gradient and of
the preconditioned gradient. Their factors follow from inner products, which are asked for together
with the value: one question a step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
import torch

from bblr.designs.base import Floats
from bblr.designs.rows import Vector
from bblr.designs.small_tables import CONVERGED, LIMIT, STUCK, Rules
from bblr.losses import Loss

Tensor = torch.Tensor


class Here(NamedTuple):
    """Parameters, with what is asked for: the value, inner products and the parameters."""

    theta: Tensor
    gradient: Tensor
    drawn: Tensor  # the preconditioned gradient
    raw: Tensor
    told: Floats


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
    """

    run: Callable[[Tensor, Tensor, Vector, Vector, Loss], tuple[Tensor, Tensor]]
    centre: Tensor
    inverse: Tensor
    fit_intercept: bool
    y: Tensor
    weight: Tensor
    loss: Loss
    l2: float
    unit: float

    def place(self, there: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return value, gradient and scores at parameters, a row for each score."""
        d, classes = len(self.centre), len(there)
        u = there[:, :d]
        coef = u * self.inverse
        shift = there[:, d] if self.fit_intercept else 0.0
        level = shift - coef @ self.centre
        sums, raw = self.run(coef.T, level, self.y, self.weight, self.loss)
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
        start = torch.as_tensor(theta, device=self.centre.device)
        value, gradient, raw = self.place(start)
        inverse = _Inverse(precondition(raw), start.device)
        drawn = inverse(gradient)
        told = torch.stack([value, (drawn * gradient).sum()])
        first = Here(start, gradient, drawn, raw, told.cpu().numpy())
        return _Descent(self, inverse, rules, memory).run(first, theta)


class _Inverse:
    """An approximate inverse Hessian on the device, see `SharedEigenvectors`."""

    def __init__(self, shared: Any, device: torch.device) -> None:
        def there(values: Floats) -> Tensor:
            return torch.as_tensor(values, device=device)

        self.vectors = None if shared.vectors is None else there(shared.vectors)
        self.diagonal = there(np.maximum(shared.diagonal, 1e-300))
        self.totals = there(shared.totals)[:, None]
        self.fit_intercept = shared.fit_intercept

    def __call__(self, gradient: Tensor) -> Tensor:
        own = gradient[:, : self.diagonal.shape[1]]
        if self.vectors is None:
            own = own / self.diagonal
        else:
            own = (own @ self.vectors).div_(self.diagonal) @ self.vectors.T
        if not self.fit_intercept:
            return own
        return torch.cat([own, gradient[:, -1:] / self.totals], dim=1)


class _Descent:
    """What a descent remembers: `pairs` of steps and preconditioned changes, and their products.

    Of remembered steps s and changes y of the gradient, `along` has s_i'y_j for j no older than i,
    and `bent` y_i'P y_j; P is the preconditioner. With the gradient g, `steps` has s_i'g and
    `changes` y_i'P g.
    """

    def __init__(self, objective: TensorScores, inverse: _Inverse, rules: Rules, memory: int):
        self.objective, self.inverse, self.rules, self.memory = objective, inverse, rules, memory
        self.clear()

    def clear(self) -> None:
        """Forget all pairs."""
        self.vectors: list[tuple[Tensor, Tensor]] = []
        self.along = self.bent = np.zeros((0, 0))
        self.steps = self.changes = np.zeros(0)

    def run(self, here: Here, theta: Floats) -> Any:
        """Descend from a start."""
        rules = self.rules
        value, self.pull = (float(number) for number in here.told)
        n_iter, reason = 0, LIMIT
        while n_iter < rules.max_iter:
            factors = self._factors()
            slope = self._slope(factors)
            if rules.caution * -0.5 * slope <= rules.tol * (self.objective.unit + abs(value)):
                reason = CONVERGED
                break
            direction = self._direction(factors, here)
            found = self._search(here, direction, value, slope)
            n_iter += 1
            if found is None:
                if not self.vectors:
                    reason = STUCK
                    break
                self.clear()
                continue
            t, there = found
            self._remember(here, there, direction, t)
            here, value = there, float(there.told[0])
            theta = there.told[-theta.size :].reshape(theta.shape)
        return np.array(theta).ravel(), value, here.raw, n_iter, reason

    def _factors(self) -> tuple[float, Floats, Floats]:
        """Return the factors of the preconditioned gradient, of its changes and of the steps.

        This is the two-loop recursion, on inner products.
        """
        count = len(self.vectors)
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

    def _slope(self, factors: tuple[float, Floats, Floats]) -> float:
        scale, a, b = factors
        return -float(scale * self.pull - a @ self.changes + b @ self.steps)

    def _direction(self, factors: tuple[float, Floats, Floats], here: Here) -> Tensor:
        scale, a, b = factors
        if not self.vectors:
            return -here.drawn
        parts = [here.drawn, *(c for _, c in self.vectors), *(s for s, _ in self.vectors)]
        weights = torch.as_tensor(np.r_[-scale, a, -b], device=here.theta.device)
        table = torch.stack(parts)
        return (weights @ table.reshape(len(parts), -1)).reshape(here.theta.shape)

    def _place(self, here: Here, direction: Tensor, t: float) -> Here:
        """Return what there is after a step: one message."""
        theta = torch.add(here.theta, direction, alpha=t)
        value, gradient, raw = self.objective.place(theta)
        drawn = self.inverse(gradient)
        known = [direction, here.drawn, drawn, here.gradient, gradient]
        known += [s for s, _ in self.vectors] + [c for _, c in self.vectors]
        table = torch.stack(known).reshape(len(known), -1)
        both = torch.stack([gradient, gradient - here.gradient]).reshape(2, -1)
        length = direction.square().sum()
        told = [value[None], length[None], (both @ table.T).reshape(-1), theta.reshape(-1)]
        return Here(theta, gradient, drawn, raw, torch.cat(told).cpu().numpy())

    def _search(
        self, here: Here, direction: Tensor, value: float, slope: float
    ) -> tuple[float, Here] | None:
        """Return a length of the step that is low and flat enough, and what there is."""
        rules, best = self.rules, None
        low, high, t = 0.0, float("inf"), 1.0
        for _ in range(rules.tries):
            there = self._place(here, direction, t)
            if not there.told[0] <= value + rules.armijo * t * slope:
                high = t
                t = 0.5 * (low + high)
            else:
                best = t, there
                if there.told[2] >= rules.wolfe * slope or t > 1e6:
                    break
                low = t
                t = 2.0 * t if high == float("inf") else 0.5 * (low + high)
            if high - low < 1e-12 * max(1.0, low):
                break
        return best

    def _remember(self, here: Here, there: Here, direction: Tensor, t: float) -> None:
        """Add a step to the pairs, and keep what is known of the gradient at its end."""
        count = len(self.vectors)
        # Products of what `_place` lists with the gradient, and with its change.
        by_gradient, by_change = there.told[2 : 2 + 2 * (5 + 2 * count)].reshape(2, -1)
        self.pull = float(by_gradient[2])
        self.steps, self.changes = by_gradient[5:].reshape(2, count)
        product, change = t * by_change[0], by_change[4] - by_change[3]
        if not product > 1e-10 * t * sqrt(there.told[1] * max(change, 0.0)):
            return
        steps, changes = by_change[5:].reshape(2, count)
        self.vectors.append((t * direction, there.drawn - here.drawn))
        self.along = _grown(self.along, np.r_[steps, product])
        self.bent = _grown(self.bent, np.r_[changes, by_change[2] - by_change[1]])
        self.steps = np.r_[self.steps, t * by_gradient[0]]
        self.changes = np.r_[self.changes, by_change[2]]
        if count == self.memory:
            del self.vectors[0]
            self.along, self.bent = self.along[1:, 1:], self.bent[1:, 1:]
            self.steps, self.changes = self.steps[1:], self.changes[1:]


def _grown(matrix: Floats, column: Floats) -> Floats:
    """Return a matrix with a further column, which is its further row as well."""
    out = np.empty((len(column), len(column)))
    out[:-1, :-1] = matrix
    out[-1], out[:, -1] = column, column
    return out
