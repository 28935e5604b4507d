"""Torch tensors, told apart and moved without importing torch before someone uses it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_softmax, logsumexp, softmax


def is_tensor(value: Any) -> bool:
    """Whether a value is a torch tensor; who holds one has imported torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def as_numpy(value: Any) -> NDArray[Any]:
    """Return an array or a tensor, wherever it is, as a NumPy array."""
    if not is_tensor(value):
        return np.asarray(value)
    value = value.detach().cpu()
    # NumPy has no type for the short floats of machine learning.
    short = value.is_floating_point() and value.element_size() < 4
    return (value.float() if short else value).numpy()


def local(value: Any) -> Any:
    """Return a tensor, wherever it is, as a NumPy array, and anything else as it is."""
    return as_numpy(value) if is_tensor(value) else value


def _scatter(values: Any, axis: int, index: Any, new: Any) -> NDArray[Any]:
    out = values.copy()
    np.put_along_axis(out, index, new, axis)
    return out


# What is done with scores, by NumPy; torch has the same under the same names.
NUMPY = SimpleNamespace(
    asarray=partial(np.asarray, dtype=np.float64), clone=np.copy, zeros_like=np.zeros_like,
    amax=np.amax, amin=np.amin, bincount=np.bincount, cat=np.concatenate, clip=np.clip, exp=np.exp,
    log=np.log, log1p=np.log1p, log_softmax=log_softmax, logsumexp=logsumexp, scatter=_scatter,
    sigmoid=expit, softmax=softmax, stack=np.stack, take_along_dim=np.take_along_axis,
    unique=np.unique, where=np.where,
)  # fmt: skip


def namespace(values: Any) -> Any:
    """Return whose functions work on an array or a tensor."""
    return sys.modules["torch"] if is_tensor(values) else NUMPY


def floats(values: Any) -> Any:
    """Return a tensor as it is, and anything else as an array of float64."""
    return values if is_tensor(values) else np.asarray(values, dtype=np.float64)


def beside(values: Any, other: Any) -> Any:
    """Return a few numbers as an array, or as a tensor where another one is."""
    return other.new_tensor(values) if is_tensor(other) else np.array(values, dtype=np.float64)


def by_numpy(method: Callable[..., Any], *args: Any) -> Any:
    """Return what a method that knows arrays alone makes of tensors, as tensors beside them."""
    torch = import_torch()
    device = next(value.device for value in args if is_tensor(value))
    found = method(*map(local, args))
    if isinstance(found, tuple):
        return tuple(torch.as_tensor(part, device=device) for part in found)
    return torch.as_tensor(found, device=device)


def import_torch() -> Any:
    """Import torch, or say how to get it."""
    try:
        import torch
    except ImportError as missing:
        raise ImportError(
            "device needs PyTorch, which is not installed; run: pip install 'bblr[gpu]'"
        ) from missing
    return torch


def find_device(name: Any) -> Any:
    """Return the torch device of a ``device`` parameter, or say what is wrong with it."""
    torch = import_torch()
    try:
        device = torch.device(name)
    except (RuntimeError, TypeError) as error:
        raise ValueError(
            f"device must be None, 'cpu', 'cuda' or 'cuda:N', got {name!r}: {error}"
        ) from None
    if device.type not in ("cpu", "cuda"):
        raise ValueError(
            f"device must be None, 'cpu', 'cuda' or 'cuda:N', got {name!r}: sums of many rows "
            "need float64, which other devices lack."
        )
    if device.type == "cuda" and not torch.cuda.is_available():
        raise ValueError(
            f"device={name!r} asks for a GPU, but torch finds none here; use device=None."
        )
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise ValueError(
            f"device={name!r} asks for a GPU that is not there; "
            f"torch finds {torch.cuda.device_count()}."
        )
    if device.type == "cuda" and device.index is None:
        # Tensors know the number of their device, and "cuda" does not equal "cuda:0".
        return torch.device("cuda", torch.cuda.current_device())
    return device
