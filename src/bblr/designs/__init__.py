"""Designs: how rows become raw scores, and residuals become gradients."""

from __future__ import annotations

from typing import Any

from scipy.sparse import issparse

from bblr.designs.base import Design
from bblr.designs.dense import DenseDesign
from bblr.designs.scaled import ScaledDesign
from bblr.designs.sparse import SparseDesign
from bblr.designs.stream.mapped import RowSource
from bblr.designs.stream.shards import Shards
from bblr.designs.stream.streamed import StreamedDesign


def make_design(X: Any) -> Design:
    """Return the design that fits a validated float array, sparse matrix or source of rows."""
    if isinstance(X, RowSource):
        return StreamedDesign(X)
    return SparseDesign(X) if issparse(X) else DenseDesign(X)


__all__ = [
    "DenseDesign",
    "Design",
    "RowSource",
    "ScaledDesign",
    "Shards",
    "SparseDesign",
    "StreamedDesign",
    "make_design",
]
