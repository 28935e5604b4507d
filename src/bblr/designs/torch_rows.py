"""Row vectors as torch tensors of float64, on whichever device the rows are.

The losses are those the fused kernels know, written with few tensor operations: for some hundred
thousand rows on a GPU what counts is how many kernels are started.
"""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from bblr._numeric.fused import EXPECTED, SIGMOID, FusedLoss
from bblr.designs import torch_fused
from bblr.designs.rows import Floats, Rows, Vector

Tensor = torch.Tensor

# Beyond this a breakpoint plus or minus 1 is the breakpoint itself.
_FAR = 2.0**52
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
            return _many_value_residual(loss, y, raw, weight)
        compiled = torch_fused.value_residual(loss.fused, y, raw, weight)
        if compiled is not None:
            return compiled
        if loss.fused is not None:
            return _value_residual(loss.fused, y, raw, weight)
        # A loss that only NumPy knows.
        value, residual = loss.value_gradient(self.local(y), self.local(raw))
        return weight @ self.vector(value), weight * self.vector(residual)

    def cost(self, loss: Any, y: Vector, raw: Vector, weight: Vector) -> float:
        """Return the weighted loss."""
        return float(self.value_residual(loss, y, raw, weight)[0])

    def _is_wrong(self, loss: Any, y: Vector, raw: Vector) -> Tensor:
        if raw.ndim == 1:
            return ~(y * (raw - loss.threshold) > 0)
        p = raw.clone() if loss.symmetric else _probability(loss, raw)
        own = p.gather(1, y[:, None])
        p.scatter_(1, y[:, None], -torch.inf)
        return ~(own > p.amax(dim=1, keepdim=True)).squeeze(1)

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
            best = _probability(loss, raw).argmax(dim=1)
            seen = torch.bincount(best[counts], minlength=raw.shape[1]) > 0
        return self.local(seen)

    def fisher(self, loss: Any, raw: Vector, weight: Vector) -> Tensor:
        """Return the weight of each row times the Fisher information of its score or scores."""
        if raw.ndim == 2:
            return weight[:, None] * _many_fisher(loss, raw)
        if loss.fused is not None:
            return weight * _fisher(loss.fused, raw)
        return weight * self.vector(loss.curvature(self.local(raw)))

    def bend(self, loss: Any, y: Vector, raw: Vector, weight: Vector) -> Tensor:
        """Return the weight of each row times a curvature of its loss that is never negative."""
        if loss.fused is None or loss.fused.code == SIGMOID:
            return self.fisher(loss, raw, weight)
        compiled = torch_fused.bend(loss.fused, y, raw, weight)
        return weight * _bend(loss.fused, y, raw) if compiled is None else compiled

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
            return _many_line(raw, change, y, weight)
        return _line(raw - threshold, change, y, weight)

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
        margin, slope, low = own * raw, own * change, _low(fused, y)
        at = torch.as_tensor(steps, device=self.device)
        some = max(1, _TABLE // max(1, len(raw)))
        costs = []
        for s in range(0, len(steps), some):
            z = torch.addcmul(margin, at[s : s + some, None], slope)
            costs.append(_cost(fused, low, z) @ weight)
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


def _low(fused: FusedLoss, y: Tensor) -> Tensor:
    # Of two bare numbers torch.where would make float32.
    return torch.where(y > 0, y.new_tensor(fused.low_positive), fused.low_negative)


def _cost(fused: FusedLoss, low: Tensor, z: Tensor) -> Tensor:
    """Return the cost of each example of margin z."""
    if fused.code == SIGMOID:
        return (-z).sigmoid()
    plain = -torch.nn.functional.logsigmoid(z) - log(fused.span)
    if fused.low_positive == 0.0 and fused.low_negative == 0.0:
        return plain
    risen = -(low + fused.span * z.sigmoid()).log()
    if fused.low_positive > 0.0 and fused.low_negative > 0.0:
        return risen
    return torch.where(low == 0.0, plain, risen)


def _value_residual(
    fused: FusedLoss, y: Tensor, raw: Tensor, weight: Tensor
) -> tuple[Tensor, Tensor]:
    z = (fused.gamma * y) * raw
    down = (-z).sigmoid()
    pull = (weight * y) * (-fused.gamma)
    if fused.code == SIGMOID:
        return weight @ down, pull * down * z.sigmoid()
    risen = fused.span * z.sigmoid()
    if fused.low_positive == 0.0 or fused.low_negative == 0.0:
        low = _low(fused, y)
        share = torch.where(low == 0.0, 1.0, risen / (low + risen))
        return weight @ _cost(fused, low, z), pull * down * share
    even = fused.low_positive == fused.low_negative
    own = risen + (fused.low_positive if even else _low(fused, y))
    return -(weight @ own.log()), pull * down * risen / own


def _fisher(fused: FusedLoss, raw: Tensor) -> Tensor:
    z = fused.gamma * raw
    up, down = z.sigmoid(), (-z).sigmoid()
    value = fused.gamma**2 * up * down
    if fused.code != SIGMOID:
        if fused.low_positive > 0.0:
            value = value * (fused.span * up / (fused.low_positive + fused.span * up))
        if fused.low_negative > 0.0:
            value = value * (fused.span * down / (fused.low_negative + fused.span * down))
    return value


def _bend(fused: FusedLoss, y: Tensor, raw: Tensor) -> Tensor:
    z = (fused.gamma * y) * raw
    right, wrong = z.sigmoid(), (-z).sigmoid()
    if fused.low_positive == fused.low_negative > 0.0:
        # Equal plateaus need fewer operations: the Fisher information does not ask for the label.
        up, down = fused.span * right, fused.span * wrong
        own, other = up / (up + fused.low_positive), down / (down + fused.low_positive)
        part = own * wrong
        positive = (part * (right - (1.0 - own) * wrong)).clamp_(min=0.0)
        expected = part * right * other
        return fused.gamma**2 * torch.lerp(positive, expected, EXPECTED)
    low = _low(fused, y)
    own = torch.where(low == 0.0, 1.0, fused.span * right / (low + fused.span * right))
    observed = own * wrong * (right - (1.0 - own) * wrong)
    positive = fused.gamma**2 * observed.clamp(min=0.0)
    return EXPECTED * _fisher(fused, raw) + (1.0 - EXPECTED) * positive


def _probability(loss: Any, raw: Tensor) -> Tensor:
    return raw.new_tensor(loss.low) + loss.b * (loss.gamma * raw).softmax(dim=1)


def _many_value_residual(
    loss: Any, y: Tensor, raw: Tensor, weight: Tensor
) -> tuple[Tensor, Tensor]:
    logs = (loss.gamma * raw).log_softmax(dim=1)
    place = y[:, None]
    own_log = logs.gather(1, place).squeeze(1)
    low = raw.new_tensor(loss.low)[y]
    rising = loss.b * own_log.exp()
    bare = low == 0.0
    own = torch.where(bare, 1.0, low + rising)
    value = torch.where(bare, -own_log - log(loss.b), -own.log())
    share = torch.where(bare, 1.0, rising / own)
    residual = logs.exp()
    # 1 - s_y from the others, without loss of digits where s_y is nearly 1.
    residual.scatter_(1, place, 0.0)
    residual.scatter_(1, place, -residual.sum(dim=1, keepdim=True))
    return weight @ value, (loss.gamma * share * weight)[:, None] * residual


def _many_fisher(loss: Any, raw: Tensor) -> Tensor:
    s = (loss.gamma * raw).softmax(dim=1)
    p = raw.new_tensor(loss.low) + loss.b * s
    q = torch.where(p > 0, s * s / p, 0.0)
    own = q * (1.0 - s) ** 2 + s * s * (q.sum(dim=1, keepdim=True) - q)
    return (loss.gamma * loss.b) ** 2 * own


def _line(raw: Tensor, change: Tensor, y: Tensor, weight: Tensor) -> tuple[float, float, float]:
    """Do what `exact_line` does: sort the steps at which scores change sign, and sum up."""
    wrong = y * raw <= 0
    here = weight @ wrong.double()
    point = torch.where(change != 0, -raw / change, torch.inf)
    moves = (weight > 0) & (point.abs() < _FAR)
    rising = y * change > 0
    # Far to the left exactly the rows that improve with the step are wrong.
    start = weight @ torch.where(moves, rising, wrong).double()
    at, order = torch.where(moves, point, torch.inf).sort()
    gain = torch.where(rising, -weight, weight)[order]
    finite = torch.isfinite(at)
    running = start + torch.where(finite, gain, 0.0).cumsum(0)
    after = torch.cat([at[1:], at.new_full((1,), torch.inf)])
    middle = torch.where(torch.isfinite(after), 0.5 * (at + after), at + 1.0)
    # Errors hold between two breakpoints; of several at one place only the last counts.
    running = torch.where(finite & (after > at), running, torch.inf)
    running = torch.cat([start[None], running])
    middle = torch.cat([at[:1] - 1.0, middle])
    slack = 1e-12 * weight.sum()
    best = running.min()
    nearest = torch.where(running <= best + slack, middle.abs(), torch.inf).argmin()
    step = torch.where(best < here - slack, middle[nearest], 0.0)
    # A stretch may be too narrow for any float to lie inside: believe only what is there.
    there = weight @ (y * (raw + step * change) <= 0).double()
    found = torch.stack([step, there, here, slack]).tolist()
    if found[1] < found[2] - found[3]:
        return found[0], found[1], found[2]
    return 0.0, found[2], found[2]


def _many_line(
    raw: Tensor, change: Tensor, y: Tensor, weight: Tensor
) -> tuple[float, float, float]:
    """Do what `many_line` does: each row is right on one open stretch of steps."""
    place = y[:, None]
    lead = raw.gather(1, place) - raw
    gain = change.gather(1, place) - change
    gain.scatter_(1, place, 0.0)
    lead.scatter_(1, place, 1.0)
    cross = -lead / gain
    low = torch.where(gain > 0, cross, -torch.inf).amax(dim=1)
    high = torch.where(gain < 0, cross, torch.inf).amin(dim=1)
    can = (low < high) & ~((gain == 0) & (lead <= 0)).any(dim=1)
    low, high, held = low[can], high[can], weight[can]
    still = float(weight @ (lead > 0).all(dim=1).double())
    total = float(weight.sum())
    ends = torch.cat([low, high]).unique()
    ends = ends[torch.isfinite(ends)]
    right = raw.new_zeros(len(ends) + 2)
    right.index_add_(0, torch.searchsorted(ends, low, right=True), held)
    leave = torch.searchsorted(ends, high) + 1
    right.index_add_(0, leave, torch.where(torch.isfinite(high), -held, 0.0))
    right = right[:-1].cumsum(0)
    best = float(right.max())
    if not best > still * (1.0 + 1e-12):
        return 0.0, total - still, total - still
    infinite = ends.new_tensor([torch.inf])
    bounds = torch.cat([-infinite, ends, infinite])
    left, after = bounds[:-1], bounds[1:]
    middle = 0.5 * (left + after)
    middle = torch.where(torch.isinf(left), after - after.abs().clamp(min=1.0), middle)
    middle = torch.where(torch.isinf(after), left + left.abs().clamp(min=1.0), middle)
    middle = torch.where(torch.isinf(left) & torch.isinf(after), 0.0, middle)
    at = torch.where(right == right.max(), middle.abs(), torch.inf).argmin()
    return float(middle[at]), total - best, total - still
