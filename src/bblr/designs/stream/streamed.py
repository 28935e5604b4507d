"""Designs of rows that stay on disk: every pass reads them block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bblr.designs.base import Floats
from bblr.designs.blocked import BlockedDesign, RowNumbers
from bblr.designs.dense import DenseDesign
from bblr.designs.stream.mapped import Room, RowSource

# Bytes of rows that may be kept for the early stages of a fit.
_MOST_TAKEN = 2**27

Inspect = Callable[[slice, NDArray[Any]], None]


class StreamedDesign(BlockedDesign):
    """Rows read from a source in each pass; only one block of them is in memory at a time.

    Parameters
    ----------
    source : RowSource
        Where the rows come from.
    narrow : bool, default=False
        Form the products of float32 rows in float32, as in :class:`DenseDesign`.
    inspect : callable or None, default=None
        Called with the row numbers and the numbers of each block that is read.
    """

    def __init__(
        self, source: RowSource, *, narrow: bool = False, inspect: Inspect | None = None
    ) -> None:
        self.source = source
        self.narrow = narrow
        self.inspect = inspect
        self.n_rows, self.n_features = source.shape

    def narrowed(self) -> StreamedDesign:
        """Return the same design with products in the precision of the rows."""
        return StreamedDesign(self.source, narrow=True, inspect=self.inspect)

    def taken(self, rows: RowNumbers) -> DenseDesign | None:
        """Return some of the rows in memory, or None where they would take too much of it."""
        if len(rows) * self.n_features * self.source.dtype.itemsize > _MOST_TAKEN:
            return None
        some = np.empty((len(rows), self.n_features), dtype=self.source.dtype)
        for where, block in self._blocks(rows):
            first, last = np.searchsorted(rows, [where.start, where.stop])
            some[first:last] = block.X[rows[first:last] - where.start]
        return DenseDesign(some, narrow=self.narrow)

    def read(self) -> None:
        """Read all rows once, calling `inspect` on each block."""
        for _ in self._blocks():
            pass

    def column(self, j: int) -> tuple[None, Floats]:
        """Return the values of column j, reading no more than the source must."""
        return None, self.source.column(j)

    def _blocks(self, needed: RowNumbers | None = None) -> Iterator[tuple[slice, DenseDesign]]:
        room = Room()
        for rows, numbers in self.source.blocks(needed):
            block = numbers
            whole = numbers.flags.c_contiguous or numbers.flags.f_contiguous
            if numbers.dtype != self.source.dtype or not whole:
                block = room.take(numbers.shape, self.source.dtype)
                np.copyto(block, numbers)
            if self.inspect is not None:
                self.inspect(rows, block)
            yield rows, DenseDesign(block, narrow=self.narrow)
