"""The losses on tensors: one kernel of a GPU, tensor operations, or NumPy where it must be."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from bblr._numeric.layouts import layout
from bblr._numeric.tensors import by_numpy
from bblr.losses import torch_fused
from bblr.losses.loss import Loss

Tensor = torch.Tensor


class _ByNumpy:
    """A loss that knows arrays alone, asked with tensors."""

    def __init__(self, loss: Loss) -> None:
        self._loss = loss

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return partial(by_numpy, getattr(self._loss, name))


def on_tensors(loss: Loss) -> Any:
    """Return a loss whose methods take tensors and return them."""
    return loss if loss.takes_tensors else _ByNumpy(loss)


def value_residual(loss: Loss, y: Tensor, raw: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    """Return the weighted loss as a tensor of one number, and its derivative by each score."""
    asked = loss.fused, y, raw, weight
    compiled = torch_fused.value_residual(*asked) or torch_fused.softmax_residual(*asked)
    if compiled is not None:
        return compiled
    value, slope = on_tensors(loss).value_gradient(y, raw)
    return weight @ value, layout(slope).by_row(weight) * slope


def positive_curvature(loss: Loss, y: Tensor, raw: Tensor, weight: Tensor) -> Tensor:
    """Return the weight of each row times a curvature of its loss that is never negative."""
    compiled = torch_fused.positive_curvature(loss.fused, y, raw, weight)
    if compiled is not None:
        return compiled
    found: Tensor = on_tensors(loss).positive_curvature(y, raw, weight)
    return found


def fisher(loss: Loss, raw: Tensor, weight: Tensor) -> Tensor:
    """Return the weight of each row times the Fisher information of its score or scores."""
    for compute in (torch_fused.fisher, torch_fused.softmax_fisher):
        compiled = compute(loss.fused, raw, weight)
        if compiled is not None:
            return compiled
    found: Tensor = on_tensors(loss).fisher(raw, weight)
    return found
