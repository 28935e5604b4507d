"""The objective of one score per row, with its parameters on the device of the rows.

On a GPU a fit spends its time on kernel launches and on waiting for numbers: parameters,
gradients and Newton systems stay there, and a step fetches only a few numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from bblr.designs.base import Floats
from bblr.designs.rows import Vector
from bblr.losses import Loss
from bblr.losses.torch_forms import on_tensors, positive_curvature

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

    def value_gradient(self, theta: Tensor) -> tuple[float, Tensor, Tensor]:
        """Return the objective, its gradient and the scores, in one pass over the rows."""
        u = theta[: len(self.centre)]
        coef = u * self.inverse
        intercept = theta[-1] if self.fit_intercept else 0.0
        sums, raw = self.run(coef, intercept - coef @ self.centre, self.y, self.weight, self.loss)
        slope, pulled = sums[1:2], sums[2:]
        own = (pulled - slope * self.centre).mul_(self.inverse).add_(u, alpha=self.l2)
        gradient = torch.cat([own, slope]) if self.fit_intercept else own
        return float(sums[0] + 0.5 * self.l2 * (u @ u)), gradient, raw

    def preconditioner(self, theta: Tensor, raw: Tensor) -> Callable[[Tensor], Tensor]:
        """Return what solves systems of a sampled curvature that is never negative.

        It is the matrix of :func:`bblr.curvature.newton`, and has the same diagonal added.
        """
        weight = positive_curvature(self.loss, self.y, raw, self.weight)
        matrix, size = self._curvature(weight, self.most), len(theta)
        diagonal = matrix.diagonal()
        diagonal += (weight.sum() * (1e-3 / size)).clamp_(min=1e-6 * self.total / size)
        diagonal[: len(self.centre)] += self.l2
        factor, failed = torch.linalg.cholesky_ex(matrix)

        def solve(vector: Tensor) -> Tensor:
            half = torch.linalg.solve_triangular(factor, vector[:, None], upper=False)
            found = torch.linalg.solve_triangular(factor.T, half, upper=True).squeeze(1)
            return torch.where(failed == 0, found, vector / diagonal)

        return solve

    def covariance(self, raw: Tensor, most: int) -> TensorCovariance:
        """Return the inverse of the Fisher information of about so many rows, and the penalty's.

        A billionth of the weight keeps it from being singular.
        """
        fisher = on_tensors(self.loss).fisher(raw, self.weight)
        matrix, d = self._curvature(fisher, most), len(self.centre)
        diagonal = matrix.diagonal()
        diagonal += 1e-9 * max(self.total, 1.0)
        diagonal[:d] += self.l2
        factor, failed = torch.linalg.cholesky_ex(matrix)
        one = torch.eye(len(matrix), dtype=torch.float64, device=matrix.device)
        inverse = torch.linalg.solve_triangular(factor, one, upper=False)
        settled = (1.0 - self.l2 * inverse.square().sum(dim=0)[:d]).clamp_(0.0, 1.0).sum()
        effective = float(torch.where(failed == 0, settled, -1.0))
        if effective < 0:
            raise FloatingPointError("the information is not positive definite")
        return TensorCovariance(inverse, effective)

    def _curvature(self, weight: Tensor, most: int) -> Tensor:
        rows, own = sample(weight, self.square_norm, min(most, len(weight)))
        Z = (self.picked(rows) - self.centre) * self.inverse
        if self.fit_intercept:
            Z = torch.nn.functional.pad(Z, (0, 1), value=1.0)
        return (Z * own[:, None]).T @ Z


@dataclass(frozen=True, eq=False)
class TensorCovariance:
    """A covariance of the weights on the device: see :class:`bblr.training.laplace.Laplace`.

    Parameters
    ----------
    inverse : tensor of shape (n_parameters, n_parameters)
        Inverse of the lower Cholesky factor of the information.
    effective : float
        How many of the weights the data have settled.
    """

    inverse: Tensor
    effective: float

    def precondition(self, vector: Floats) -> Floats:
        """Return the covariance times a vector."""
        there = torch.as_tensor(vector, device=self.inverse.device)
        return self._here((self.inverse @ there) @ self.inverse)

    def variance(self, Z: Floats) -> Floats:
        """Return the variance of the raw score of each row; `Z` is column-major."""
        columns = torch.as_tensor(Z.T, device=self.inverse.device)
        return self._here((self.inverse @ columns).square_().sum(dim=0))

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
