"""Row vectors as torch tensors of float64, on whichever device the rows are.

For some hundred thousand rows on a GPU what counts is how many kernels are started.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from bblr.designs.rows import Floats, Rows, Vector
from bblr.designs.torch.tensor_lines import zero_one_line
from bblr.losses import Loss
from bblr.losses import torch_forms as forms

Tensor = torch.Tensor


class TorchRows(Rows):
    """Operations on row vectors that are tensors.

    Parameters
    ----------
    device : torch.device
        Where they are.
    """

    def __init__(self, device: torch.device) -> None:
        self.device = device

    def vector(self, values: Any) -> Tensor:
        """Return numbers that lie here, one a row, as a row vector."""
        values = torch.as_tensor(values, device=self.device)
        return values.double() if values.is_floating_point() else values.long()

    def local(self, vector: Vector) -> NDArray[Any]:
        """Return a row vector as a NumPy array."""
        found: NDArray[Any] = vector.cpu().numpy()
        return found

    def ones(self, like: Vector) -> Tensor:
        """Return a vector of ones beside another one."""
        return torch.ones(len(like), dtype=torch.float64, device=self.device)

    def only(self, vector: Vector, rows: NDArray[np.intp]) -> Tensor:
        """Return the vector with zeros for all rows but those given."""
        where = torch.as_tensor(rows, device=self.device)
        kept = torch.zeros_like(vector)
        kept[where] = vector[where]
        return kept

    def total(self, vector: Vector) -> float:
        """Return the sum."""
        return float(vector.sum())

    def largest(self, vector: Vector) -> float:
        """Return the largest number, none being negative."""
        return float(vector.max())

    def sums(self, matrix: Vector) -> Floats:
        """Return the sum of each column."""
        return self.local(matrix.sum(dim=0))

    def means(self, matrix: Vector) -> Tensor:
        """Return the mean of each row."""
        return matrix.mean(dim=1)

    def column(self, matrix: Vector, k: int) -> Tensor:
        """Return what belongs to score k as a vector."""
        return matrix if matrix.ndim == 1 else matrix[:, k].contiguous()

    def all_at_least(self, vector: Vector, bound: Vector) -> bool:
        """Whether every number is at least that of the other vector."""
        return bool((vector >= bound).all())

    def cost(self, loss: Loss, y: Vector, raw: Vector, weight: Vector) -> float:
        """Return the weighted loss."""
        return float(forms.value_residual(loss, y, raw, weight)[0])

    def decision(self, loss: Loss, raw: Vector) -> Tensor:
        """Return the scores that decide, which take the plateaus into account."""
        return raw + (loss.shift[0] if raw.ndim == 1 else raw.new_tensor(loss.shift))

    def _is_wrong(self, loss: Loss, y: Vector, raw: Vector) -> Tensor:
        decision = self.decision(loss, raw)
        if raw.ndim == 1:
            return ~(y * decision > 0)
        own = decision.gather(1, y[:, None])
        decision.scatter_(1, y[:, None], -torch.inf)
        return ~(own > decision.amax(dim=1, keepdim=True)).squeeze(1)

    def errors(self, loss: Loss, y: Vector, raw: Vector, weight: Vector) -> float:
        """Return the weighted zero-one loss, strict: a score on the threshold is an error."""
        return float(weight @ self._is_wrong(loss, y, raw).double())

    def wrong(self, loss: Loss, y: Vector, raw: Vector) -> NDArray[np.intp]:
        """Return the numbers of the rows that are errors."""
        return self.local(self._is_wrong(loss, y, raw).nonzero().squeeze(1))

    def predicted(self, loss: Loss, raw: Vector, weight: Vector) -> NDArray[np.bool_]:
        """Return, class by class, whether it is predicted for a row that counts."""
        decision = self.decision(loss, raw)
        best = (decision > 0).long() if raw.ndim == 1 else decision.argmax(dim=1)
        seen = torch.bincount(best, (weight > 0).double(), minlength=loss.n_classes) > 0
        return self.local(seen)

    def fisher(self, loss: Loss, raw: Vector, weight: Vector) -> Tensor:
        """Return the weight of each row times the Fisher information of its score or scores."""
        return forms.fisher(loss, raw, weight)

    def positive_curvature(self, loss: Loss, y: Vector, raw: Vector, weight: Vector) -> Tensor:
        """Return the weight of each row times a curvature of its loss that is never negative."""
        return forms.positive_curvature(loss, y, raw, weight)

    def pick(self, vector: Vector, rows: NDArray[np.intp]) -> Tensor:
        """Return the numbers of the given rows, in their order."""
        return vector[torch.as_tensor(rows, device=vector.device)]

    def median(self, vector: Vector, weight: Vector) -> float:
        """Return the weighted median."""
        ordered, order = vector.sort()
        total = weight[order].cumsum(0)
        place = torch.searchsorted(total, 0.5 * total[-1:] * (1.0 - 1e-12))
        return float(ordered[place])

    def falloff(self, vector: Vector, limit: float) -> Tensor:
        """Return 1 up to the limit, and beyond it the square of what the limit is of a number."""
        return (limit / vector).clamp(max=1.0) ** 2

    def line(
        self, decision: Vector, change: Vector, y: Vector, weight: Vector
    ) -> tuple[float, float, float]:
        """Return the best step of the strict zero-one loss along a change of the scores."""
        return zero_one_line(decision, change, y, weight)

    def moved(self, raw: Vector, change: Vector, k: int, step: float) -> Tensor:
        """Return the scores with score k moved by a step along a vector."""
        if raw.ndim == 1:
            return raw + step * change
        raw = raw.clone()
        raw[:, k] += step * change
        return raw

    def lifted(self, change: Vector, k: int, like: Vector) -> Tensor:
        """Return a change of score k alone as one of all scores, shaped like another one."""
        return change if like.ndim == 1 else self.moved(torch.zeros_like(like), change, k, 1.0)

    def probe(
        self,
        raw: Vector,
        change: Vector,
        k: int,
        steps: Floats,
        y: Vector,
        weight: Vector,
        loss: Loss,
    ) -> Floats:
        """Return the weighted loss with score k moved by each of the steps along a vector."""
        return self.local(forms.along(loss, y, raw, change, k, steps, weight))
