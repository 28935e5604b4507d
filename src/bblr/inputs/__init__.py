"""Input adapters: one for each kind of rows validates, encodes and returns results in kind."""

from __future__ import annotations

from typing import Any

from bblr.inputs.adapter import Adapter, Training
from bblr.inputs.cluster import DaskAdapter
from bblr.inputs.disk import MapAdapter, ShardAdapter
from bblr.inputs.frames import FrameAdapter
from bblr.inputs.in_memory import ArrayAdapter
from bblr.inputs.torch_tensors import DeviceAdapter, ReadTensorAdapter, TensorAdapter

__all__ = ["ADAPTERS", "Adapter", "Training", "adapter_of"]

# In the order in which they are asked: the most frequent kind first, then by what an estimator
# asks for, then by what the rows are.
ADAPTERS: tuple[type[Adapter], ...] = (
    ArrayAdapter,
    DaskAdapter,
    ShardAdapter,
    TensorAdapter,
    ReadTensorAdapter,
    DeviceAdapter,
    MapAdapter,
    FrameAdapter,
)


def adapter_of(estimator: Any, X: Any) -> Adapter:
    """Return the adapter of some rows; what none recognises is left to NumPy."""
    for kind in ADAPTERS:
        if kind.recognises(estimator, X):
            return kind(estimator, X)
    return ArrayAdapter(estimator, X)
