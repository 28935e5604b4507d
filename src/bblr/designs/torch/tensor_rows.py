"""Per-row vectors as torch tensors of float64, on whichever device the rows are.

With some hundred thousand rows on a GPU the number of kernel launches decides.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from bblr.designs.rows import Rows, Vector
from bblr.losses import Loss
from bblr.losses import torch_forms as forms

Tensor = torch.Tensor


class TorchRows(Rows):
    """Operations on per-row vectors that are tensors.

    Parameters
    ----------
    device : torch.device
        Where they are.
    """

    xp = torch

    def __init__(self, device: torch.device) -> None:
        self.device = device

    def vector(self, values: Any) -> Tensor:
        """Return local numbers, one per row, as a per-row vector."""
        values = torch.as_tensor(values, device=self.device)
        return values.double() if values.is_floating_point() else values.long()

    def local(self, vector: Vector) -> NDArray[Any]:
        """Return a per-row vector as a NumPy array."""
        found: NDArray[Any] = vector.cpu().numpy()
        return found

    def ones(self, like: Vector) -> Tensor:
        """Return a vector of ones with the rows of another one."""
        return torch.ones(len(like), dtype=torch.float64, device=self.device)

    def form(self, loss: Loss) -> Any:
        """Return a loss whose methods take tensors and return them."""
        return forms.on_tensors(loss)

    def predicted(self, loss: Loss, raw: Vector, weight: Vector) -> NDArray[np.bool_]:
        """Return, class by class, whether it is predicted for a row that counts."""
        n_classes = loss.n_classes
        found = self.form(loss).predicted(raw)
        # Rows that do not count predict a class of their own: to leave them out would be to wait.
        seen = torch.zeros(n_classes + 1, dtype=torch.bool, device=raw.device)
        seen[torch.where(weight > 0, found, n_classes)] = True
        return self.local(seen[:-1])

    def residual(self, loss: Loss, y: Vector, raw: Vector, weight: Vector) -> Tensor:
        """Return the derivative of the weighted loss by each score."""
        return forms.value_residual(loss, y, raw, weight)[1]

    def fisher(self, loss: Loss, raw: Vector, weight: Vector) -> Tensor:
        """Return the weight of each row times the Fisher information of its score or scores."""
        return forms.fisher(loss, raw, weight)

    def cost(self, loss: Loss, y: Vector, raw: Vector, weight: Vector) -> float:
        """Return the weighted loss."""
        return float(forms.value_residual(loss, y, raw, weight)[0])

    def positive_curvature(self, loss: Loss, y: Vector, raw: Vector, weight: Vector) -> Tensor:
        """Return the weight of each row times a curvature of its loss that is never negative."""
        return forms.positive_curvature(loss, y, raw, weight)

    def median(self, vector: Vector, weight: Vector) -> float:
        """Return the weighted median."""
        ordered, order = vector.sort()
        total = weight[order].cumsum(0)
        place = torch.searchsorted(total, 0.5 * total[-1:] * (1.0 - 1e-12))
        return float(ordered[place])
