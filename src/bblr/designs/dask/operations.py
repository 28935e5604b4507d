"""Operations on the vectors of a partition, and reductions of the answers of two.

Operations of a design or of `Rows` are called by name; the rest is here.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bblr._numeric.sampling import survey
from bblr.designs.base import Moments

Floats = NDArray[np.float64]

_FEW_CLASSES = 10
# Columns that are too large are refused by whoever asks; how NumPy was set stays on his thread.
SILENT = np.errstate(over="ignore", invalid="ignore")


def add(a: Any, b: Any) -> Any:
    """Return the sum of two answers, item by item."""
    if not isinstance(a, tuple | list):
        return a + b
    items = [add(x, y) for x, y in zip(a, b, strict=True)]
    return type(a)(*items) if hasattr(a, "_fields") else type(a)(items)


@SILENT
def combine_moments(a: Moments | None, b: Moments | None) -> Moments | None:
    """Return the moments of two sets of rows, stable for columns far from zero."""
    if a is None or b is None:
        return b if a is None else a
    total = a.total + b.total
    p, q = a.total / total, b.total / total
    apart = b.mean - a.mean
    return Moments(
        total,
        a.mean + q * apart,
        p * a.mean_square + q * b.mean_square,
        p * a.variance + q * b.variance + p * q * apart**2,
        p * a.nonzero + q * b.nonzero,
    )


REDUCERS: dict[str, Callable[[Any, Any], Any]] = {
    "sum": add,
    "gather": operator.or_,
    "moments": combine_moments,
}


def labels(y: NDArray[Any], weight: Floats) -> NDArray[Any]:
    """Return the labels that occur with a positive weight."""
    y = y if weight.min() > 0 else y[weight > 0]
    found: list[Any] = []
    # Of a few classes, one after the other is found in a fraction of the time of a sort.
    while len(y) and len(found) < _FEW_CLASSES:
        found.append(y[0])
        y = y[y != y[0]]
    # One by one: labels that are sequences would make a table.
    kept = np.empty(len(found), dtype=y.dtype)
    for k, label in enumerate(found):
        kept[k] = label
    return np.unique(np.concatenate([kept, y]))


def codes(y: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.intp]:
    """Return class numbers; a label that never counts gets that of the nearest one."""
    return np.minimum(np.searchsorted(classes, y), len(classes) - 1)


def kept(vector: Floats, mask: NDArray[np.uint8]) -> Floats:
    """Return the vector with zeros for all rows that are not in a mask of bits."""
    held = np.unpackbits(mask, count=len(vector)).astype(bool)
    return np.where(held, vector, 0.0)


def compact(vector: NDArray[Any]) -> NDArray[Any]:
    """Return a vector in as few bytes as hold it: one byte per label."""
    if vector.dtype.kind in "fi" and len(vector):
        small = vector.astype(np.int8) if np.abs(vector).max() < 127 else vector
        if np.array_equal(small, vector):
            return small
    return vector


def spread(weight: Floats, size: Floats | None) -> tuple[float, float, int, float, float]:
    """Return sum and largest of the weights and, of weight * size, how to divide a sample.

    The latter are the number of rows that have a weight, the largest product, and the sum of the
    products over that.
    """
    total, largest = float(weight.sum()), float(weight.max(initial=0.0))
    if size is None or not total > 0:
        return total, largest, 0, 0.0, 0.0
    return total, largest, *survey(weight, size)


def sketch(vector: Floats, weight: Floats, points: int) -> tuple[Floats, Floats]:
    """Return some of the sorted numbers that have a weight, and the weight up to each."""
    rows = np.flatnonzero(weight > 0)
    order = rows[np.argsort(vector[rows], kind="stable")]
    if not len(order):
        return np.empty(0), np.empty(0)
    total = np.cumsum(weight[order])
    at = np.unique(np.linspace(0, len(order) - 1, min(points, len(order))).astype(np.intp))
    # The last of equal numbers: the weight up to it is that of all of them.
    values = vector[order]
    last = np.searchsorted(values, values[at], side="right") - 1
    return values[last], total[last]


def between(
    vector: Floats, weight: Floats, low: float, high: float
) -> tuple[float, Floats, Floats]:
    """Return the weight up to `low`, and the numbers after it up to `high` with their weights."""
    here = (vector > low) & (vector <= high) & (weight > 0)
    return float(weight[vector <= low].sum()), vector[here], weight[here]


def columns(*vectors: Any) -> tuple[Any, ...]:
    """Return vectors as they are."""
    return vectors
