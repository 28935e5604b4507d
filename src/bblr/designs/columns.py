"""A second copy of a sparse matrix, stored column by column in blocks of rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bblr._numeric.threads import map_ranges, num_threads
from bblr.designs._kernels.column_passes import blocks_value_gradient, fill_columns
from bblr.designs.base import Floats
from bblr.losses.fused import FusedLoss

# Rows of a block: its scores and residuals fit into a cache, and two bytes number its rows.
_ROWS = 8192
# Fewest entries per column and block for which loops over columns pay.
_ENTRIES = 32


class ColumnBlocks(NamedTuple):
    """Blocks of rows, each stored by columns.

    Takes two bytes per entry, plus its value where values differ: for counts in float64 10 bytes
    on top of the matrix's 12, for indicators 2.
    """

    rows: NDArray[np.uint16]
    pointer: NDArray[np.uint64]
    values: NDArray[Any]
    equal: float
    bounds: NDArray[np.int64]

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return len(self.bounds) - 1

    def value_gradient(
        self, coef: Floats, intercept: float, y: Floats, weight: Floats, fused: FusedLoss
    ) -> tuple[float, Floats, Floats]:
        """Return the weighted loss, its gradient with the intercept's last, and the scores."""
        raw = np.empty(len(y))
        sums = np.zeros((num_threads(), len(coef) + 1))

        def part(k: int, start: int, stop: int) -> float:
            value: float = blocks_value_gradient(
                *self, coef, intercept, y, weight, fused, raw, start, stop, sums[k]
            )
            return value

        values = map_ranges(part, self.n_blocks, 4 * len(self.rows) + 16 * len(y))
        return sum(values), sums[: len(values)].sum(axis=0), raw


def column_blocks(
    data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any], n_features: int
) -> ColumnBlocks | None:
    """Return the blocks of a CSR matrix, or None where its columns are too short for them."""
    n_rows, nnz = len(indptr) - 1, len(data)
    if nnz == 0 or nnz * min(_ROWS, n_rows) < _ENTRIES * n_features * n_rows:
        return None
    # The same number for each thread, all of one size.
    threads = min(num_threads(), n_rows)
    count = -(-n_rows // (threads * _ROWS)) * threads
    bounds = np.arange(count + 1) * n_rows // count
    same = bool(np.all(data == data[0]))
    rows = np.empty(nnz, np.uint16)
    values = np.empty(0 if same else nnz, data.dtype)
    pointer = np.empty((count, n_features + 1), np.uint64)

    def part(_: int, start: int, stop: int) -> None:
        fill_columns(data, indices, indptr, bounds, start, stop, pointer, rows, values)

    map_ranges(part, count, 8 * nnz)
    return ColumnBlocks(rows, pointer, values, float(data[0]) if same else 0.0, bounds)
