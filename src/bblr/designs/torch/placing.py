"""Rows brought to a device, as far as it has room."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from bblr._numeric.arrays import plain_view
from bblr._numeric.tensors import is_tensor

Tensor = torch.Tensor


def as_tensor(X: Any) -> Tensor:
    """Return rows as a tensor that shares their memory, read-only arrays included."""
    if is_tensor(X):
        return X
    if not (X.flags.c_contiguous or X.flags.f_contiguous):
        X = np.ascontiguousarray(X)
    return torch.from_numpy(plain_view(X))


def placed(X: Tensor, device: torch.device) -> list[Tensor]:
    """Return the rows on the device; those that its memory has no room for stay where they are."""
    if X.device == device:
        return [X]
    left = len(X)
    here: list[Tensor] = []
    while left > 0:
        rows = X[len(X) - left : len(X)]
        try:
            here.append(_sent(rows[: _fitting(rows, device)], device))
        except torch.OutOfMemoryError:
            break
        left -= len(here[-1])
        if len(here[-1]) == 0:
            break
    # Passes need room for blocks of their own.
    if left and here:
        left += len(here.pop())
    return [*here, X[len(X) - left :]] if left else here


def _sent(rows: Tensor, device: torch.device) -> Tensor:
    return rows.to(device, non_blocking=True)


def _fitting(rows: Tensor, device: torch.device) -> int:
    """Return how many of the rows to send at once: all, or a piece of what memory is free."""
    if device.type != "cuda":
        return len(rows)
    free = torch.cuda.mem_get_info(device)[0]
    need = rows.element_size() * max(1, rows.shape[1])
    if 1.2 * need * len(rows) < free:
        return len(rows)
    return min(len(rows), int(0.25 * free / need))
