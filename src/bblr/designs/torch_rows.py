"""Row vectors as torch tensors of float64, on whichever device the rows are.

For some hundred thousand rows on a GPU what counts is how many kernels are started.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from bblr._numeric.fused import SIGMOID
from bblr.designs import torch_fused
from bblr.designs import torch_losses as losses
from bblr.designs.rows import Floats, Rows, Vector
from bblr.designs.torch_lines import line, many_line

Tensor = torch.Tensor

# Numbers in a temporary table of steps by rows.
_TABLE = 2**24


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
        """Return a column as a vector."""
        return matrix[:, k].contiguous()

    def none_below(self, vector: Vector, bound: Vector) -> bool:
        """Whether no number lies below that of the other vector."""
        return bool((vector >= bound).all())

    def value_residual(self, loss: Any, y: Vector, raw: Vector, weight: Vector) -> Any:
        """Return the weighted loss as a tensor of one number, and its derivative by each score."""
        if raw.ndim == 2:
            return losses.many_value_residual(loss, y, raw, weight)
        compiled = torch_fused.value_residual(loss.fused, y, raw, weight)
        if compiled is not None:
            return compiled
        if loss.fused is not None:
            return losses.value_residual(loss.fused, y, raw, weight)
        # A loss that only NumPy knows.
        value, residual = loss.value_gradient(self.local(y), self.local(raw))
        return weight @ self.vector(value), weight * self.vector(residual)

    def cost(self, loss: Any, y: Vector, raw: Vector, weight: Vector) -> float:
        """Return the weighted loss."""
        return float(self.value_residual(loss, y, raw, weight)[0])

    def decision(self, loss: Any, raw: Vector) -> Tensor:
        """Return the scores that decide, which take the plateaus into account."""
        return raw - loss.threshold if raw.ndim == 1 else raw + raw.new_tensor(loss.shift)

    def _is_wrong(self, loss: Any, y: Vector, raw: Vector) -> Tensor:
        decision = self.decision(loss, raw)
        if raw.ndim == 1:
            return ~(y * decision > 0)
        own = decision.gather(1, y[:, None])
        decision.scatter_(1, y[:, None], -torch.inf)
        return ~(own > decision.amax(dim=1, keepdim=True)).squeeze(1)

    def errors(self, loss: Any, y: Vector, raw: Vector, weight: Vector) -> float:
        """Return the weighted zero-one loss, strict: a score on the threshold is an error."""
        return float(weight @ self._is_wrong(loss, y, raw).double())

    def wrong(self, loss: Any, y: Vector, raw: Vector) -> NDArray[np.intp]:
        """Return the numbers of the rows that are errors."""
        return self.local(self._is_wrong(loss, y, raw).nonzero().squeeze(1))

    def predicted(self, loss: Any, raw: Vector, weight: Vector) -> NDArray[np.bool_]:
        """Return, class by class, whether it is the most probable one of a row that counts."""
        counts = weight > 0
        if raw.ndim == 1:
            above = raw > loss.threshold
            seen = torch.stack([(counts & ~above).any(), (counts & above).any()])
        else:
            best = self.decision(loss, raw).argmax(dim=1)
            seen = torch.bincount(best[counts], minlength=raw.shape[1]) > 0
        return self.local(seen)

    def fisher(self, loss: Any, raw: Vector, weight: Vector) -> Tensor:
        """Return the weight of each row times the Fisher information of its score or scores."""
        if raw.ndim == 2:
            return weight[:, None] * losses.many_fisher(loss, raw)
        if loss.fused is not None:
            return weight * losses.fisher(loss.fused, raw)
        return weight * self.vector(loss.curvature(self.local(raw)))

    def bend(self, loss: Any, y: Vector, raw: Vector, weight: Vector) -> Tensor:
        """Return the weight of each row times a curvature of its loss that is never negative."""
        if loss.fused is None or loss.fused.code == SIGMOID:
            return self.fisher(loss, raw, weight)
        compiled = torch_fused.bend(loss.fused, y, raw, weight)
        return weight * losses.bend(loss.fused, y, raw) if compiled is None else compiled

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
        self, raw: Vector, change: Vector, y: Vector, weight: Vector, threshold: float
    ) -> tuple[float, float, float]:
        """Return the best step of the strict zero-one loss along a change of the scores."""
        if raw.ndim == 2:
            return many_line(raw, change, y, weight)
        return line(raw - threshold, change, y, weight)

    def moved(self, raw: Vector, change: Vector, k: int, step: float) -> Tensor:
        """Return the scores of many classes with those of one moved along a vector."""
        raw = raw.clone()
        raw[:, k] += step * change
        return raw

    def probe(
        self, raw: Vector, change: Vector, steps: Floats, y: Vector, weight: Vector, loss: Any
    ) -> Floats:
        """Return the weighted loss at raw + step * change for each of the steps."""
        if loss.fused is None:
            raw, change, y, weight = (self.local(v) for v in (raw, change, y, weight))
            return Rows.probe(self, raw, change, steps, y, weight, loss)
        fused, own = loss.fused, loss.fused.gamma * y
        margin, slope, low = own * raw, own * change, losses.lowest(fused, y)
        at = torch.as_tensor(steps, device=self.device)
        some = max(1, _TABLE // max(1, len(raw)))
        costs = []
        for s in range(0, len(steps), some):
            z = torch.addcmul(margin, at[s : s + some, None], slope)
            costs.append(losses.cost(fused, low, z) @ weight)
        return self.local(torch.cat(costs))

    def many_probe(
        self,
        raw: Vector,
        change: Vector,
        k: int,
        steps: Floats,
        y: Vector,
        weight: Vector,
        loss: Any,
    ) -> Floats:
        """Return the weighted loss of many classes with the score of one moved by each step."""
        scores = loss.gamma * raw
        others = scores.clone()
        others[:, k] = -torch.inf
        rest = others.logsumexp(dim=1)
        own = y == k
        share = (scores.gather(1, y[:, None]).squeeze(1) - rest).clamp(max=0.0).exp()
        low = raw.new_tensor(loss.low)[y]
        cost = []
        for step in steps:
            z = scores[:, k] + loss.gamma * float(step) * change - rest
            risen = torch.where(own, z.sigmoid(), share * (-z).sigmoid())
            cost.append(-(weight @ (low + loss.b * risen).clamp(min=1e-300).log()))
        return self.local(torch.stack(cost))
