"""Designs: how rows become raw scores, and residuals become gradients."""

from __future__ import annotations

from typing import Any

from scipy.sparse import issparse

from bblr.designs.base import Design
from bblr.designs.dense import DenseDesign
from bblr.designs.scaled import ScaledDesign
from bblr.designs.sparse import SparseDesign


def make_design(X: Any) -> Design:
    """Return the design that fits a validated float array or sparse matrix."""
    return SparseDesign(X) if issparse(X) else DenseDesign(X)


__all__ = ["DenseDesign", "Design", "ScaledDesign", "SparseDesign", "make_design"]
