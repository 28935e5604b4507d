"""A systematic sample: the same rows for the same input, in one sweep without work space."""

from __future__ import annotations

from typing import Any

import numpy as np

from bblr._numeric.compiling import njit
from bblr._numeric.elementary import JIT

# The reciprocal of a subnormal number is infinite: divisions stay divisions.
_DIVIDING: dict[str, Any] = {**JIT, "fastmath": {"reassoc", "contract", "nsz"}}


@njit(**_DIVIDING)
def survey(weight, size):
    """Return how many rows have a weight, the largest share, and the sum in units of it."""
    # With every row on a plateau the weights are subnormal, and their sum cannot be divided by.
    count = 0
    largest = 0.0
    for i in range(len(weight)):
        count += weight[i] > 0.0
        largest = max(largest, weight[i] * size[i])
    total = 0.0
    for i in range(len(weight)):
        total += weight[i] * size[i] / largest
    return count, largest, total


@njit(**_DIVIDING)
def clipped_shares(weight, size, largest, scale):
    """Return the sum of the shares, of which none counts more than 1."""
    total = 0.0
    for i in range(len(weight)):
        total += min(weight[i] * size[i] / largest * scale, 1.0)
    return total


@njit(**_DIVIDING)
def part_of_sample(weight, size, largest, scale, start, most):
    """Return the rows of a sample that fall to a part of all rows, and their new weights.

    `start` is the sum of the shares before this part, `most` no less than that of its own.
    """
    rows = np.empty(min(len(weight), int(most) + 2), np.intp)
    new = np.empty(len(rows))
    m = 0
    running = start
    tick = np.floor(start + 0.5)
    for i in range(len(weight)):
        share = min(weight[i] * size[i] / largest * scale, 1.0)
        running += share
        if np.floor(running + 0.5) > tick and m < len(rows):
            tick += 1.0
            rows[m] = i
            new[m] = weight[i] / share
            m += 1
    return rows[:m], new[:m]


@njit(**_DIVIDING)
def systematic(weight, size, most):
    """Return about `most` rows drawn in proportion to weight * size, and their new weights.

    All rows that have a weight, with just that, where they are no more. The same input gives the
    same rows.
    """
    count, largest, total = survey(weight, size)
    if count <= most:
        rows = np.flatnonzero(weight > 0.0)
        return rows, weight[rows]
    return part_of_sample(weight, size, largest, most / total, 0.0, most)
