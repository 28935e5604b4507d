"""Labels as a flat array, checked."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import column_or_1d

__all__ = ["label_column"]


def label_column(name: str, values: Any) -> np.ndarray:
    """Return labels as a flat array, or raise a ValueError that names the argument."""
    labels = np.asarray(values)
    try:
        labels = column_or_1d(labels)
    except ValueError:
        raise ValueError(
            f"{name} must have shape (n,), got {labels.shape}; give one label per row"
        ) from None
    if len(labels) == 0:
        raise ValueError(f"{name} is empty; give one label for each example")
    # NaN equals nothing, itself included.
    if np.any(labels != labels):
        raise ValueError(f"{name} holds missing labels; remove those examples")
    return labels
