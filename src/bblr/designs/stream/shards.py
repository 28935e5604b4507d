"""Directories of files that hold the rows of one table."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bblr.designs.base import Floats
from bblr.designs.blocked import RowNumbers
from bblr.designs.stream.mapped import MappedRows, Room, RowSource, holds_numbers, some_needed

_KINDS = (".npy", ".parquet")


class Shards(RowSource):
    """The rows of a directory of ``.npy`` or Parquet files, one file after the other.

    The files are taken in the order of their names; nothing but their headers is read until the
    rows are needed, and then one block at a time. ``fit`` and ``predict`` of the linear
    classifiers take a path as well: it means ``Shards(path)``.

    Parameters
    ----------
    path : str or path-like
        A directory, or a single file. Names that begin with a dot or an underscore and files of
        other kinds are left out, and so are directories inside it.
    label : str or None, default=None
        Column of Parquet files that holds the classes; it is not a feature.
    columns : sequence of str or None, default=None
        Columns of Parquet files that are features, in that order; by default all but the label.

    Attributes
    ----------
    files : tuple of Path
        The files in the order of their rows.
    shape : tuple of int
        Number of rows and of features.
    dtype : dtype
        float32 where all numbers are, float64 otherwise.
    feature_names : tuple of str or None
        Names of the features, where the files have any.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from bblr import Shards
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for k in range(3):
    ...         np.save(Path(folder) / f"rows-{k}.npy", np.ones((10, 4)))
    ...     shards = Shards(folder)
    >>> shards.shape
    (30, 4)
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        label: str | None = None,
        columns: Sequence[str] | None = None,
    ) -> None:
        if isinstance(columns, str):
            raise ValueError(f"columns must be a list of names, got the text {columns!r}.")
        self.path = Path(path)
        self.label = label
        self.columns = None if columns is None else tuple(columns)
        named = self.columns or ()
        twice = sorted({name for name in named if named.count(name) > 1})
        if twice:
            raise ValueError(f"columns must name each column once, but {twice} are named twice.")
        if label is not None and label in named:
            raise ValueError(f"columns must not name {label!r}, which label names as the classes.")
        self.files = _files(self.path)
        self._shards: list[Any]
        if self.files[0].suffix == ".npy":
            if label is not None or columns is not None:
                raise ValueError(
                    f"{self.path} holds .npy files, whose columns have no names: give y as an "
                    "array, and leave out label and columns."
                )
            self.feature_names = None
            self._shards = [NpyShard(file) for file in self.files]
        else:
            from bblr.designs.stream.parquet import open_parquet

            self.feature_names, self._shards = open_parquet(self.files, label, self.columns)
        self._check_widths()
        heights = [shard.shape[0] for shard in self._shards]
        self._starts = np.concatenate([[0], np.cumsum(heights)])
        self.shape = (int(self._starts[-1]), self._shards[0].shape[1])
        self.dtype = np.result_type(*(shard.dtype for shard in self._shards))
        for what, count in zip(("rows", "columns that are features"), self.shape, strict=True):
            if count == 0:
                raise ValueError(f"{self.path} holds no {what}.")

    def __repr__(self) -> str:
        return f"Shards({str(self.path)!r}, {len(self.files)} files, shape={self.shape})"

    def __getitem__(self, rows: Any) -> Any:
        raise TypeError(
            "Shards stand for all rows of their files, and no rows can be picked from them, as "
            "cross_val_score and train_test_split do. BBLRClassifierCV makes its own folds of a "
            "directory; or divide the files into two directories."
        )

    def labels(self) -> NDArray[Any]:
        """Return the column of the classes, all in memory.

        Returns
        -------
        ndarray of shape (n_rows,)
            The column of Parquet files that `label` names.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import pandas as pd
        >>> from bblr import Shards
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     table = pd.DataFrame({"age": [31.0, 52.0], "ill": [0, 1]})
        ...     table.to_parquet(Path(folder) / "rows-0.parquet")
        ...     Shards(folder, label="ill").labels()
        array([0, 1])
        """
        if self.label is None:
            raise ValueError("label must name the column of the classes; it was not given.")
        return np.concatenate([shard.labels(self.label) for shard in self._shards])

    def blocks(
        self, needed: RowNumbers | None = None, room: Room | None = None
    ) -> Iterator[tuple[slice, NDArray[Any]]]:
        """Yield the rows of one file after the other, a block at a time."""
        room = room or Room()
        for shard, start in zip(self._shards, self._starts[:-1].tolist(), strict=True):
            if not some_needed(needed, start, start + shard.shape[0]):
                continue
            own = None if needed is None else needed - start
            for rows, block in shard.blocks(own, room):
                yield slice(rows.start + start, rows.stop + start), block

    def column(self, j: int) -> Floats:
        """Return a copy of column j."""
        return np.concatenate([shard.column(j) for shard in self._shards])

    def _check_widths(self) -> None:
        first = self._shards[0]
        for shard, file in zip(self._shards, self.files, strict=True):
            if shard.shape[1] != first.shape[1]:
                raise ValueError(
                    f"All files must have the same columns: {self.files[0]} has "
                    f"{first.shape[1]}, {file} has {shard.shape[1]}."
                )


def known_shards(path: str | os.PathLike[str], names: Sequence[str]) -> Shards:
    """Return the shards of a path with these features, where its files have names of columns."""
    named = _files(Path(path))[0].suffix == ".parquet"
    return Shards(path, columns=names if named else None)


class NpyShard(RowSource):
    """One ``.npy`` file, mapped for each pass and unmapped again.

    Parameters
    ----------
    file : Path
        The file.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        rows = self._open()
        self.shape, self.dtype = rows.shape, rows.dtype

    def blocks(
        self, needed: RowNumbers | None = None, room: Room | None = None
    ) -> Iterator[tuple[slice, NDArray[Any]]]:
        """Yield the rows in order."""
        yield from self._reopen().blocks(needed, room)

    def column(self, j: int) -> Floats:
        """Return a copy of column j."""
        return self._reopen().column(j)

    def _reopen(self) -> MappedRows:
        rows = self._open()
        if (rows.shape, rows.dtype) != (self.shape, self.dtype):
            raise changed(self.file)
        return rows

    def _open(self) -> MappedRows:
        try:
            X = np.load(self.file, mmap_mode="r", allow_pickle=False)
        except FileNotFoundError:
            raise
        except Exception as error:  # of a damaged header NumPy says what Python's parser says
            raise ValueError(f"{self.file} is not a sound .npy file of numbers: {error}") from None
        if getattr(X, "ndim", 0) != 2:
            raise ValueError(
                f"{self.file} must hold a table of rows and columns, got an array of shape "
                f"{getattr(X, 'shape', None)}. Only the shards of X may end in .npy here."
            )
        if not holds_numbers(X.dtype):
            raise ValueError(f"{self.file} must hold real numbers, got {X.dtype}.")
        return MappedRows(X)


def changed(file: Path) -> ValueError:
    """Return the error for a file that has changed since it was opened."""
    return ValueError(f"{file} has changed since it was opened; leave it alone during a fit.")


def _files(path: Path) -> tuple[Path, ...]:
    if not path.exists():
        raise FileNotFoundError(
            f"X is a path, and there is nothing at {path}: give a directory of .npy or .parquet "
            "files, or an array."
        )
    found = [path] if path.is_file() else [
        file for file in sorted(path.iterdir()) if file.is_file() and file.name[0] not in "._"
    ]  # fmt: skip
    files = [file for file in found if file.suffix in _KINDS]
    kinds = {file.suffix for file in files}
    if not files:
        raise ValueError(
            f"{path} holds no .npy and no .parquet files; directories inside it are not read."
        )
    if len(kinds) > 1:
        raise ValueError(f"{path} holds both .npy and .parquet files; keep one kind in it.")
    _check_order(files)
    return tuple(files)


def _check_order(files: list[Path]) -> None:
    # Rows in an order other than that of y would be a silent mistake.
    last: dict[str, tuple[list[int], str]] = {}
    for file in files:
        form = re.sub(r"\d+", "0", file.name)
        numbers = [int(n) for n in re.findall(r"\d+", file.name)]
        before, name = last.get(form, (numbers, ""))
        if numbers < before:
            raise ValueError(
                f"The files are read in the order of their names, {name} before {file.name}: "
                "number them with leading zeros, so that this is their order."
            )
        last[form] = numbers, file.name
