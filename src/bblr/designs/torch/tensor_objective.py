"""The objective of one score per row, with its parameters on the device of the rows.

On a GPU a fit spends its time on kernel launches and on waiting for numbers: parameters,
gradients and Newton systems stay there, and a step asks for a few numbers, once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch

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

    def place(self, theta: Tensor, step: Tensor, t: float, before: Tensor) -> Place:
        """Return what there is at theta + t * step, in one pass over the rows.

        `before` is the gradient at theta.
        """
        there = torch.add(theta, step, alpha=t)
        u = there[: len(self.centre)]
        coef = u * self.inverse
        intercept = there[-1] if self.fit_intercept else 0.0
        sums, raw = self.run(coef, intercept - coef @ self.centre, self.y, self.weight, self.loss)
        slope, pulled = sums[1:2], sums[2:]
        own = (pulled - slope * self.centre).mul_(self.inverse).add_(u, alpha=self.l2)
        gradient = torch.cat([own, slope]) if self.fit_intercept else own
        value = sums[0] + 0.5 * self.l2 * (u @ u)
        head = torch.stack([value, gradient @ step, before @ step])
        return Place(there, gradient, raw, torch.cat([head, there]))

    def start(self, theta: Any) -> Place:
        """Return what there is at some parameters."""
        theta = self.parameters(theta)
        nothing = torch.zeros_like(theta)
        return self.place(theta, nothing, 0.0, nothing)

    def newton_descent(self, theta: Floats, rules: Rules) -> Any:
        """Descend as :func:`bblr.designs.small_tables.newton_descent` does.

        One question a step: whether it is worth taking, and good. While the answer is on its way,
        the next step is worked out as if this one were both.
        """
        here = self.start(theta)
        known = asked(here.told)
        step = self.newton_step(here) if rules.max_iter else here.theta
        n_iter, reason = 0, LIMIT
        while n_iter < rules.max_iter:
            there = self.place(here.theta, step, 1.0, here.gradient)
            answer = asked(there.told)
            more = n_iter + 1 < rules.max_iter
            following = self.newton_step(there) if more else step
            value, found = float(known()[0]), answer()
            slope = float(found[2])
            if rules.caution * -0.5 * slope <= rules.tol * (self.unit + abs(value)):
                reason = CONVERGED
                break
            n_iter += 1
            best = self._along(here, step, value, slope, (there, answer), rules)
            if best is None:
                reason = STUCK
                break
            here, known = best
            step = following if here is there or not more else self.newton_step(here)
        numbers = known()
        return np.array(numbers[3:]), float(numbers[0]), here.raw, n_iter, reason

    def _along(
        self, here: Place, step: Tensor, value: float, slope: float, first: Told, rules: Rules
    ) -> Told | None:
        """Return a place along a step that is low and flat enough; None if there is none.

        The lengths tried are those of :func:`bblr.solvers.line_search.wolfe_step`.
        """
        low, high, t = 0.0, float("inf"), 1.0
        best, trial = None, first
        for _ in range(rules.tries):
            there, found = trial[0], trial[1]()
            if not found[0] <= value + rules.armijo * t * slope:
                high = t
                t = 0.5 * (low + high)
            else:
                best = trial
                if found[1] >= rules.wolfe * slope or t > 1e6:
                    break
                low = t
                t = 2.0 * t if high == float("inf") else 0.5 * (low + high)
            if high - low < 1e-12 * max(1.0, low):
                break
            there = self.place(here.theta, step, t, here.gradient)
            trial = there, asked(there.told)
        return best

    def newton_step(self, here: Place) -> Tensor:
        """Return a step by a sampled curvature that is never negative.

        It is the matrix of :func:`bblr.curvature.newton`, and has the same diagonal added.
        """
        matrix, diagonal = self.system(
            here.raw, False, self.most, 1e-3, 1e-6 * self.total / len(here.theta)
        )
        factor, failed = torch.linalg.cholesky_ex(matrix)
        half = torch.linalg.solve_triangular(factor, here.gradient[:, None], upper=False)
        found = torch.linalg.solve_triangular(factor.T, half, upper=True).squeeze(1)
        return self.chosen(found, failed, here.gradient, diagonal)

    def chosen(self, found: Tensor, failed: Tensor, gradient: Tensor, diagonal: Tensor) -> Tensor:
        """Return the step of a solution, or of the diagonal alone where there was no factor."""
        return -torch.where(failed == 0, found, gradient / diagonal)

    def system(
        self, raw: Tensor, expected: bool, most: int, share: float, least: float
    ) -> tuple[Tensor, Tensor]:
        """Return the matrix of a curvature of about `most` rows, and its diagonal.

        To the diagonal, a share of the mean curvature is added, or what is the least, and the
        penalty. The curvature is the Fisher information if `expected`.
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
        diagonal += (weight.sum() * (share / len(matrix))).clamp_(min=least)
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
        matrix, _ = self.system(raw, True, most, 0.0, 1e-9 * max(self.total, 1.0))
        d = len(self.centre)
        factor, failed = torch.linalg.cholesky_ex(matrix)
        one = torch.eye(len(matrix), dtype=torch.float64, device=matrix.device)
        inverse = torch.linalg.solve_triangular(factor, one, upper=False)
        settled = (1.0 - self.l2 * inverse.square().sum(dim=0)[:d]).clamp_(0.0, 1.0).sum()
        return TensorCovariance(inverse, torch.where(failed == 0, settled, -1.0))


class Place(NamedTuple):
    """Parameters with the gradient, the scores, and numbers to be asked for.

    The numbers are the value, the slope along the step that led here, that at its start, and the
    parameters.
    """

    theta: Tensor
    gradient: Tensor
    raw: Tensor
    told: Tensor


Told = tuple[Place, Callable[[], Floats]]
"""A place, and what is asked of it."""


def asked(numbers: Tensor) -> Callable[[], Floats]:
    """Ask for numbers; return what waits for them, and for nothing the device is given later."""
    found = numbers.to("cpu", non_blocking=True)
    if not numbers.is_cuda:
        return found.numpy
    sent = torch.cuda.Event()
    sent.record(torch.cuda.current_stream(numbers.device))

    def answer() -> Floats:
        sent.synchronize()
        array: Floats = found.numpy()
        return array

    return answer


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
