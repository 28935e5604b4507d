"""What a partition can be asked to do, and how the answers of two become one.

Whatever a design or `Rows` does with all rows at once is asked for by its name. Here is the rest:
what needs the sums of other partitions before, or numbers per partition.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bblr._numeric.sampling import clipped_shares, part_of_sample, survey
from bblr.designs.base import Curvature, Look, Moments
from bblr.designs.dask.remote_lines import LINE_OPERATIONS

Floats = NDArray[np.float64]

_FEW_CLASSES = 10
# Columns that are too large are refused by whoever asks; how NumPy was set stays on his thread.
_SILENT = np.errstate(over="ignore", invalid="ignore")


def add(a: Any, b: Any) -> Any:
    """Return the sum of two answers, item by item."""
    if not isinstance(a, tuple | list):
        return a + b
    items = [add(x, y) for x, y in zip(a, b, strict=True)]
    return type(a)(*items) if hasattr(a, "_fields") else type(a)(items)


@_SILENT
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


def describe(part: Any) -> dict[str, Any]:
    """Return what the client must know of a partition."""
    if part.problem:
        return {"problem": part.problem}
    return {"problem": "", "rows": part.design.n_rows, "features": part.design.n_features}


def given_labels(part: Any) -> Any:
    """Return the labels that were loaded with the rows."""
    return part.labels


def given_weight(part: Any) -> Any:
    """Return the weights that were loaded with the rows."""
    return part.weight


def ones(part: Any) -> Floats:
    """Return a one a row."""
    return np.ones(part.design.n_rows)


def labels(part: Any, y: NDArray[Any], weight: Floats) -> NDArray[Any]:
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


def extent(part: Any, weight: Floats) -> tuple[float, float, float]:
    """Return the least, the largest and the sum of the weights, not a number among them or not."""
    return float(weight.min()), float(weight.max()), float(weight.sum())


def codes(part: Any, y: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.intp]:
    """Return class numbers; a label that never counts gets that of the nearest one."""
    if len(classes) == 2:
        return np.asarray(y > classes[0]).astype(np.intp)
    return np.minimum(np.searchsorted(classes, y), len(classes) - 1)


def signs(part: Any, numbers: NDArray[np.intp]) -> Floats:
    """Return -1 and +1 for the class numbers of two classes."""
    return np.where(numbers == 1, 1.0, -1.0)


def factors(part: Any, numbers: NDArray[np.intp], by_class: Floats) -> Floats:
    """Return the factor of the class of each row."""
    return by_class[numbers]


def class_totals(part: Any, numbers: NDArray[np.intp], weight: Floats, n_classes: int) -> Floats:
    """Return the weight of each class."""
    return np.bincount(numbers, weight, n_classes).astype(np.float64)


def kept(part: Any, vector: Floats, mask: NDArray[np.uint8]) -> Floats:
    """Return the vector with zeros for all rows that are not in a mask of bits."""
    held = np.unpackbits(mask, count=len(vector)).astype(bool)
    return np.where(held, vector, 0.0)


def below(part: Any, vector: Floats, bound: Floats) -> int:
    """Return how many numbers lie below those of another vector."""
    return int(np.count_nonzero(vector < bound))


def predicted(part: Any, loss: Any, raw: Floats, weight: Floats) -> NDArray[np.intp]:
    """Return, class by class, whether it is the most probable one of a row that counts."""
    return part.rows.predicted(loss, raw, weight).astype(np.intp)


def compact(part: Any, vector: NDArray[Any]) -> NDArray[Any]:
    """Return a vector in as few bytes as hold it: a byte a label."""
    if vector.dtype.kind in "fi" and len(vector):
        small = vector.astype(np.int8) if np.abs(vector).max() < 127 else vector
        if np.array_equal(small, vector):
            return small
    return vector


@_SILENT
def moments(part: Any, weight: Floats) -> Moments | None:
    """Return the weighted moments of the columns, None where nothing has a weight."""
    return part.design.moments(weight) if np.any(weight > 0) else None


def whole_curvature(part: Any, weight: Floats, centre: Floats) -> Curvature:
    """Return the second moments about the centre over all rows that have a weight."""
    rows = np.flatnonzero(weight > 0)
    return part.design.curvature(rows, weight[rows], centre)


def spread(
    part: Any, weight: Floats, size: Floats | None
) -> tuple[float, float, int, float, float]:
    """Return sum and largest of the weights and, of weight * size, how to divide a sample.

    The latter are the number of rows that have a weight, the largest product, and the sum of the
    products over that.
    """
    total, largest = float(weight.sum()), float(weight.max(initial=0.0))
    if size is None or not total > 0:
        return total, largest, 0, 0.0, 0.0
    return total, largest, *survey(weight, size)


def clipped(part: Any, weight: Floats, size: Floats, largest: float, scale: float) -> float:
    """Return how many rows of a sample fall to this partition."""
    return float(clipped_shares(weight, size, largest, scale))


def sampled_curvature(
    part: Any,
    weight: Floats,
    size: Floats,
    largest: float,
    scale: float,
    spans: dict[int, tuple[float, float]],
    centre: Floats,
) -> Curvature:
    """Return the second moments about the centre over this part of a systematic sample.

    `spans` says how many rows of the sample fall to the partitions before each, and to it.
    """
    chosen = part_of_sample(weight, size, largest, scale, *spans[part.number])
    return part.design.curvature(*chosen, centre)


def sketch(part: Any, vector: Floats, weight: Floats, points: int) -> tuple[Floats, Floats]:
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
    part: Any, vector: Floats, weight: Floats, low: float, high: float
) -> tuple[float, Floats, Floats]:
    """Return the weight up to `low`, and the numbers after it up to `high` with their weights."""
    here = (vector > low) & (vector <= high) & (weight > 0)
    return float(weight[vector <= low].sum()), vector[here], weight[here]


def probes(
    part: Any,
    design: str,
    raw: Floats,
    looks: Sequence[Look],
    y: Floats,
    weight: Floats,
    loss: Any,
) -> list[Floats]:
    """Return the weighted loss at the steps along several columns."""
    return getattr(part, design).probes(raw, looks, y, weight, loss)


def taken(part: Any, rows: NDArray[np.intp]) -> Any:
    """Return some rows."""
    return part.design.X[rows]


def picked(part: Any, vector: NDArray[Any], rows: NDArray[np.intp]) -> NDArray[Any]:
    """Return the numbers of some rows."""
    return vector[rows]


def columns(part: Any, *vectors: Any) -> tuple[Any, ...]:
    """Return vectors as they are."""
    return vectors


OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": lambda part, a, b: a + b,
    "multiply": lambda part, a, b: a * b,
    **{
        function.__name__: function
        for function in (
            describe, given_labels, given_weight, ones, labels, extent, codes, signs, factors,
            class_totals, kept, below, predicted, compact, moments, whole_curvature, spread,
            clipped, sampled_curvature, sketch, between, probes, taken, picked, columns,
            *LINE_OPERATIONS,
        )
    },
}  # fmt: skip
