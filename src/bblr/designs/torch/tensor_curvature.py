"""Second moments of rows on a device: which rows, and systems of them solved there."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

from bblr.designs.base import Floats

Tensor = torch.Tensor


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


def solver_of(matrix: Tensor, floor: Floats, least: float) -> Callable[[Floats], Floats]:
    """Return a solver for systems with a matrix, or with its diagonal if it cannot be factored."""
    factor, failed = torch.linalg.cholesky_ex(matrix)

    def solve(vector: Floats) -> Floats:
        column = torch.as_tensor(np.stack([vector]), device=matrix.device).T
        half = torch.linalg.solve_triangular(factor, column, upper=False)
        found = torch.linalg.solve_triangular(factor.T, half, upper=True).squeeze(1)
        out: Floats = torch.cat([found, failed[None]]).cpu().numpy()
        if out[-1] == 0.0:
            return out[:-1]
        return vector / np.maximum(matrix.diagonal().cpu().numpy(), floor + least)

    return solve
