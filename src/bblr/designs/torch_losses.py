"""The losses that the fused kernels know, written with few tensor operations."""

from __future__ import annotations

from math import log
from typing import Any

import torch

from bblr._numeric.fused import EXPECTED, SIGMOID, FusedLoss

Tensor = torch.Tensor


def lowest(fused: FusedLoss, y: Tensor) -> Tensor:
    """Return the least probability of the label of each example."""
    # Of two bare numbers torch.where would make float32.
    return torch.where(y > 0, y.new_tensor(fused.low_positive), fused.low_negative)


def cost(fused: FusedLoss, low: Tensor, z: Tensor) -> Tensor:
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


def value_residual(
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
        low = lowest(fused, y)
        share = torch.where(low == 0.0, 1.0, risen / (low + risen))
        return weight @ cost(fused, low, z), pull * down * share
    even = fused.low_positive == fused.low_negative
    own = risen + (fused.low_positive if even else lowest(fused, y))
    return -(weight @ own.log()), pull * down * risen / own


def fisher(fused: FusedLoss, raw: Tensor) -> Tensor:
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


def bend(fused: FusedLoss, y: Tensor, raw: Tensor) -> Tensor:
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
    low = lowest(fused, y)
    own = torch.where(low == 0.0, 1.0, fused.span * right / (low + fused.span * right))
    observed = own * wrong * (right - (1.0 - own) * wrong)
    positive = fused.gamma**2 * observed.clamp(min=0.0)
    return EXPECTED * fisher(fused, raw) + (1.0 - EXPECTED) * positive


def many_value_residual(
    loss: Any, y: Tensor, raw: Tensor, weight: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the same for many classes."""
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


def many_fisher(loss: Any, raw: Tensor) -> Tensor:
    """Return the Fisher information of each score of many classes."""
    s = (loss.gamma * raw).softmax(dim=1)
    p = raw.new_tensor(loss.low) + loss.b * s
    q = torch.where(p > 0, s * s / p, 0.0)
    own = q * (1.0 - s) ** 2 + s * s * (q.sum(dim=1, keepdim=True) - q)
    return (loss.gamma * loss.b) ** 2 * own
