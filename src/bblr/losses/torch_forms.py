"""The losses as torch knows them: few tensor operations, or one kernel of a GPU.

A loss that only NumPy knows is computed there.
"""

from __future__ import annotations

from math import log

import numpy as np
import torch
from numpy.typing import NDArray

from bblr.losses import torch_fused
from bblr.losses.fused import EXPECTED, SIGMOID, FusedLoss, FusedSoftmax
from bblr.losses.loss import Loss

Tensor = torch.Tensor

# Numbers in a temporary table of steps by rows.
_TABLE = 2**24


def value_residual(loss: Loss, y: Tensor, raw: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    """Return the weighted loss as a tensor of one number, and its derivative by each score."""
    if isinstance(loss.fused, FusedSoftmax):
        return _softmax_value_residual(loss.fused, y, raw, weight)
    if isinstance(loss.fused, FusedLoss):
        compiled = torch_fused.value_residual(loss.fused, y, raw, weight)
        return _value_residual(loss.fused, y, raw, weight) if compiled is None else compiled
    value, residual = loss.value_gradient(y.cpu().numpy(), raw.cpu().numpy())
    slopes = torch.as_tensor(residual, device=raw.device)
    weights = weight if raw.ndim == 1 else weight[:, None]
    return weight @ torch.as_tensor(value, device=raw.device), weights * slopes


def fisher(loss: Loss, raw: Tensor, weight: Tensor) -> Tensor:
    """Return the weight of each row times the Fisher information of its score or scores."""
    if isinstance(loss.fused, FusedSoftmax):
        return weight[:, None] * _softmax_fisher(loss.fused, raw)
    if isinstance(loss.fused, FusedLoss):
        return weight * _fisher(loss.fused, raw)
    found = loss.fisher(raw.cpu().numpy(), weight.cpu().numpy())
    return torch.as_tensor(found, device=raw.device)


def positive_curvature(loss: Loss, y: Tensor, raw: Tensor, weight: Tensor) -> Tensor:
    """Return the weight of each row times a curvature of its loss that is never negative."""
    if not isinstance(loss.fused, FusedLoss) or loss.fused.code == SIGMOID:
        return fisher(loss, raw, weight)
    compiled = torch_fused.positive_curvature(loss.fused, y, raw, weight)
    return weight * _positive(loss.fused, y, raw) if compiled is None else compiled


def along(
    loss: Loss,
    y: Tensor,
    raw: Tensor,
    change: Tensor,
    k: int,
    steps: NDArray[np.float64],
    weight: Tensor,
) -> Tensor:
    """Return the weighted loss with score k moved by each of the steps along a vector."""
    if isinstance(loss.fused, FusedSoftmax):
        return _softmax_along(loss.fused, y, raw, change, k, steps, weight)
    if not isinstance(loss.fused, FusedLoss):
        labels, scores, moved, held = (t.cpu().numpy() for t in (y, raw, change, weight))
        return torch.as_tensor(loss.along(labels, scores, moved, k, steps, held))
    fused, own = loss.fused, loss.fused.gamma * y
    margin, slope, low = own * raw, own * change, _lowest(fused, y)
    at = torch.as_tensor(steps, device=raw.device)
    some = max(1, _TABLE // max(1, len(raw)))
    costs = []
    for s in range(0, len(steps), some):
        z = torch.addcmul(margin, at[s : s + some, None], slope)
        costs.append(_cost(fused, low, z) @ weight)
    return torch.cat(costs)


def _lowest(fused: FusedLoss, y: Tensor) -> Tensor:
    """Return the least probability of the label of each example."""
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
    """Return the weighted loss as a tensor of one number, and its derivative by each score."""
    z = (fused.gamma * y) * raw
    down = (-z).sigmoid()
    pull = (weight * y) * (-fused.gamma)
    if fused.code == SIGMOID:
        return weight @ down, pull * down * z.sigmoid()
    risen = fused.span * z.sigmoid()
    if fused.low_positive == 0.0 or fused.low_negative == 0.0:
        low = _lowest(fused, y)
        share = torch.where(low == 0.0, 1.0, risen / (low + risen))
        return weight @ _cost(fused, low, z), pull * down * share
    even = fused.low_positive == fused.low_negative
    own = risen + (fused.low_positive if even else _lowest(fused, y))
    return -(weight @ own.log()), pull * down * risen / own


def _fisher(fused: FusedLoss, raw: Tensor) -> Tensor:
    """Return the Fisher information of each score."""
    z = fused.gamma * raw
    up, down = z.sigmoid(), (-z).sigmoid()
    value = fused.gamma**2 * up * down
    if fused.code != SIGMOID:
        if fused.low_positive > 0.0:
            value = value * (fused.span * up / (fused.low_positive + fused.span * up))
        if fused.low_negative > 0.0:
            value = value * (fused.span * down / (fused.low_negative + fused.span * down))
    return value


def _positive(fused: FusedLoss, y: Tensor, raw: Tensor) -> Tensor:
    """Return a curvature of each example that is never negative, for Newton steps."""
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
    low = _lowest(fused, y)
    own = torch.where(low == 0.0, 1.0, fused.span * right / (low + fused.span * right))
    observed = own * wrong * (right - (1.0 - own) * wrong)
    positive = fused.gamma**2 * observed.clamp(min=0.0)
    return EXPECTED * _fisher(fused, raw) + (1.0 - EXPECTED) * positive


def _softmax_value_residual(
    fused: FusedSoftmax, y: Tensor, raw: Tensor, weight: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the same for many classes."""
    logs = (fused.gamma * raw).log_softmax(dim=1)
    place = y[:, None]
    own_log = logs.gather(1, place).squeeze(1)
    low = raw.new_tensor(fused.low)[y]
    rising = fused.b * own_log.exp()
    bare = low == 0.0
    own = torch.where(bare, 1.0, low + rising)
    value = torch.where(bare, -own_log - log(fused.b), -own.log())
    share = torch.where(bare, 1.0, rising / own)
    residual = logs.exp()
    # 1 - s_y from the others, without loss of digits where s_y is nearly 1.
    residual.scatter_(1, place, 0.0)
    residual.scatter_(1, place, -residual.sum(dim=1, keepdim=True))
    return weight @ value, (fused.gamma * share * weight)[:, None] * residual


def _softmax_fisher(fused: FusedSoftmax, raw: Tensor) -> Tensor:
    """Return the Fisher information of each score of many classes."""
    s = (fused.gamma * raw).softmax(dim=1)
    p = raw.new_tensor(fused.low) + fused.b * s
    q = torch.where(p > 0, s * s / p, 0.0)
    own = q * (1.0 - s) ** 2 + s * s * (q.sum(dim=1, keepdim=True) - q)
    return (fused.gamma * fused.b) ** 2 * own


def _softmax_along(
    fused: FusedSoftmax,
    y: Tensor,
    raw: Tensor,
    change: Tensor,
    k: int,
    steps: NDArray[np.float64],
    weight: Tensor,
) -> Tensor:
    scores = fused.gamma * raw
    others = scores.clone()
    others[:, k] = -torch.inf
    rest = others.logsumexp(dim=1)
    own = y == k
    # The logarithm of what a class has of the rest. None exceeds their sum.
    lead = (scores.gather(1, y[:, None]).squeeze(1) - rest).clamp(max=0.0)
    lead = torch.where(own, 0.0, lead)
    sign = torch.where(own, raw.new_tensor(1.0), -1.0)
    here, slope = sign * (scores[:, k] - rest), (fused.gamma * sign) * change
    low, share = raw.new_tensor(fused.low)[y], fused.b * lead.exp()
    bare, some = low == 0.0, bool((fused.low == 0.0).any())
    low = torch.where(bare, 1.0, low)
    cost = []
    for step in steps:
        z = here + float(step) * slope
        logs = (low + share * z.sigmoid()).log()
        if some:
            # Without a plateau the tail is linear, and the probability would underflow.
            tail = torch.nn.functional.logsigmoid(z) + lead + log(fused.b)
            logs = torch.where(bare, tail, logs)
        cost.append(-(weight @ logs))
    return torch.stack(cost)
