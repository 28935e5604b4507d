"""Rows of a memory-mapped file, a block at a time, with the pages given back."""

from __future__ import annotations

import mmap
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bblr.designs.base import Floats
from bblr.designs.blocked import RowNumbers

# Bytes of a block once its numbers are floats. Smaller ones cost more calls, larger ones gain
# nothing (docs/out_of_core.md).
BLOCK_BYTES = 32 * 2**20
# Around each page that is read the system maps what it has of these bytes.
_AROUND = 64 * 2**10
# Column-major files are copied so many columns at a time, each with the pages around it.
_COLUMNS = 64
_NUMBERS = "fiub"


class Room:
    """Reused memory for one block: allocating it anew would cost as much as filling it."""

    def __init__(self) -> None:
        self._memory = np.empty(0, np.uint8)

    def take(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
        """Return an empty array in the same memory as the previous one."""
        size = prod(shape) * dtype.itemsize
        if self._memory.size < size:
            self._memory = np.empty(size, np.uint8)
        return self._memory[:size].view(dtype).reshape(shape)


class RowSource(ABC):
    """Rows that are read block by block, once for each pass.

    `dtype` is the float type that passes compute with, whatever the rows are stored as.
    """

    shape: tuple[int, int]
    dtype: np.dtype[Any]

    @abstractmethod
    def blocks(
        self, needed: RowNumbers | None = None, room: Room | None = None
    ) -> Iterator[tuple[slice, NDArray[Any]]]:
        """Yield the rows in order; blocks without any of the `needed` rows may be left out.

        A block may be of any type of number and of any layout, and may lie in `room`. It is valid
        until the next one is asked for.

        Parameters
        ----------
        needed : ndarray of int or None, default=None
            Numbers of the rows that are looked at, in order; all of them when None.
        room : Room or None, default=None
            Memory that blocks may be put into, so that each pass need not ask for its own.

        Yields
        ------
        rows : slice
            Which rows these are.
        block : ndarray of shape (n_rows, n_features)
            The rows.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import numpy as np
        >>> from bblr import Shards
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     for k in range(2):
        ...         np.save(Path(folder) / f"rows-{k}.npy", np.full((2, 3), float(k)))
        ...     for rows, block in Shards(folder).blocks():
        ...         print(rows, block.sum())
        slice(0, 2, None) 0.0
        slice(2, 4, None) 6.0
        """

    @abstractmethod
    def column(self, j: int) -> Floats:
        """Return a copy of column j.

        Parameters
        ----------
        j : int
            Number of the column, from 0.

        Returns
        -------
        ndarray of shape (n_rows,)
            Its entries.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import numpy as np
        >>> from bblr import Shards
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     for k in range(2):
        ...         np.save(Path(folder) / f"rows-{k}.npy", np.full((2, 3), float(k)))
        ...     Shards(folder).column(2)
        array([0., 0., 1., 1.])
        """


def float_type(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the type that numbers are computed with: scikit-learn's rule."""
    return np.dtype(np.float32 if dtype == np.float32 else np.float64)


def holds_numbers(dtype: np.dtype[Any]) -> bool:
    """Whether the entries are integers, truth values or floats."""
    return dtype.kind in _NUMBERS


def some_needed(needed: RowNumbers | None, start: int, stop: int) -> bool:
    """Whether any of the sorted rows lies in a range; None stands for all rows."""
    if needed is None:
        return stop > start
    first, last = np.searchsorted(needed, [start, stop])
    return bool(last > first)


def backing_map(X: Any) -> np.memmap[Any, Any] | None:
    """Return the memory map of a file whose memory an array shows, or None.

    A copy-on-write map is not one: what was written to it is in memory alone, and giving its
    pages back would lose that.
    """
    found = None
    while isinstance(X, np.ndarray):
        if isinstance(X, np.memmap) and getattr(X, "_mmap", None) is not None:
            found = X
        X = X.base
    return None if found is None or found.mode == "c" else found


class MappedRows(RowSource):
    """The rows of a two-dimensional array over a memory-mapped file.

    The blocks are views: the kernels read the file's pages where the system keeps them, which is
    faster than copying them into a buffer. The pages of a block are then given back, so that they
    do not add up in this process; the system may keep them cached.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        A memory map or a view of one, of any type of number.
    """

    def __init__(self, X: NDArray[Any]) -> None:
        self.X = X
        self.shape = X.shape
        self.dtype = float_type(X.dtype)
        self._map = backing_map(X)
        wide = max(abs(X.strides[0]), X.shape[1] * self.dtype.itemsize, 1)
        self._by_columns = X.shape[1] > 1 and abs(X.strides[0]) < abs(X.strides[1])
        self._step = max(1, BLOCK_BYTES // wide)

    def __reduce__(self) -> tuple[Any, ...]:
        # By its place in the file, not by its numbers: workers read it themselves.
        where = self._map
        if where is None or where.filename is None:
            return MappedRows, (np.asarray(self.X),)
        if not os.path.exists(where.filename):
            raise FileNotFoundError(
                f"X maps {where.filename}, which is gone, so that other processes cannot read it: "
                "put it back, or use n_jobs=None."
            )
        first = where.offset - _address(where)
        low, high = _byte_bounds(self.X)
        place = (os.fspath(where.filename), first + low, high - low, _address(self.X) - low)
        return _reopened, (*place, self.X.dtype, self.X.shape, self.X.strides)

    def blocks(
        self, needed: RowNumbers | None = None, room: Room | None = None
    ) -> Iterator[tuple[slice, NDArray[Any]]]:
        """Yield the rows in order, as views or, of column-major files, as copies."""
        room = room or Room()
        for start in range(0, self.shape[0], self._step):
            rows = slice(start, min(start + self._step, self.shape[0]))
            if not some_needed(needed, rows.start, rows.stop):
                continue
            if self._by_columns:
                yield rows, self._gathered(rows, room)
                continue
            try:
                yield rows, self.X[rows]
            finally:
                self._give_back(self.X[rows])

    def column(self, j: int) -> Floats:
        """Return a copy of column j."""
        values = np.empty(self.shape[0])
        for start in range(0, self.shape[0], self._step):
            part = self.X[start : start + self._step, j]
            values[start : start + len(part)] = part
            self._give_back(part)
        return values

    def _gathered(self, rows: slice, room: Room) -> NDArray[Any]:
        out = room.take((self.shape[1], rows.stop - rows.start), self.dtype)
        for s in range(0, self.shape[1], _COLUMNS):
            columns = range(s, min(s + _COLUMNS, self.shape[1]))
            for j in columns:
                out[j] = self.X[rows, j]
            for j in columns:
                self._give_back(self.X[rows, j])
        return out.T

    def _give_back(self, part: NDArray[Any]) -> None:
        # The map's pages are those of its file: they come back as they were when read again.
        pages: Any = None if self._map is None else getattr(self._map, "_mmap", None)
        if not hasattr(pages, "madvise") or not part.size:
            return
        origin = _address(np.frombuffer(pages, dtype=np.uint8))
        low, high = _byte_bounds(part)
        low = max(0, low - origin - _AROUND)
        low -= low % mmap.PAGESIZE
        high = min(len(pages), high - origin + _AROUND)
        pages.madvise(mmap.MADV_DONTNEED, low, high - low)


def _address(array: NDArray[Any]) -> int:
    return int(array.__array_interface__["data"][0])


def _byte_bounds(array: NDArray[Any]) -> tuple[int, int]:
    """Return the addresses of the first byte of an array and of the first beyond it."""
    first = _address(array)
    spans = [(n - 1) * stride for n, stride in zip(array.shape, array.strides, strict=True)]
    low = first + sum(span for span in spans if span < 0)
    return low, first + sum(span for span in spans if span > 0) + array.itemsize


def _reopened(
    filename: str,
    offset: int,
    length: int,
    first: int,
    dtype: np.dtype[Any],
    shape: tuple[int, int],
    strides: tuple[int, int],
) -> MappedRows:
    file = np.memmap(filename, np.uint8, "r", offset, (length,))
    return MappedRows(np.ndarray(shape, dtype, file, first, strides))
