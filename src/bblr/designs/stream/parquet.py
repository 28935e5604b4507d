"""Shards in Parquet: named columns, read a row group or a part of one at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bblr.designs.base import Floats
from bblr.designs.blocked import RowNumbers
from bblr.designs.stream.mapped import BLOCK_BYTES, Room, RowSource, some_needed
from bblr.designs.stream.shards import changed

# Columns of a row group that are decoded together.
_COLUMNS = 16
# Bytes that an open column holds: a page, a dictionary and what they are decoded to. Row groups
# with fewer bytes per column are cheaper to decode whole.
_OPEN_COLUMN = 2 * 2**20
# Bytes read from a file at once. Otherwise a whole column of a row group is.
_BUFFER = 64 * 2**10
_LABEL_ROWS = 2**20


def open_parquet(
    files: Sequence[Path], label: str | None, columns: Sequence[str] | None
) -> tuple[tuple[str, ...], list[ParquetShard]]:
    """Return the names of the features and the files, each checked by its schema."""
    schemas = [_schema(file) for file in files]
    if label is not None:
        for file, schema in zip(files, schemas, strict=True):
            _check_there(file, schema, [label], "y names")
    names = tuple(columns) if columns is not None else tuple(n for n in schemas[0] if n != label)
    for file, schema in zip(files, schemas, strict=True):
        _check_there(file, schema, names, "X needs")
        extra = set(schema) - {label, *names}
        if columns is None and extra:
            raise ValueError(
                f"All files must have the same columns: {file} has {_listed(extra)}, which "
                f"{files[0]} has not."
            )
        for name in names:
            if schema[name] is None:
                raise ValueError(
                    f"Column {name!r} of {file} does not hold numbers. Encode it as numbers, or "
                    "name the columns to use: Shards(path, columns=[...])."
                )
    types = [schema[name] for schema in schemas for name in names]
    single = bool(types) and all(kind == np.float32 for kind in types)
    dtype = np.dtype(np.float32 if single else np.float64)
    return names, [ParquetShard(file, names, dtype) for file in files]


class ParquetShard(RowSource):
    """One Parquet file, opened for each pass and closed again.

    A row group is decoded in whole, some columns at a time, unless it is so large that decoding it
    in parts takes less memory: for that a page and a dictionary of every column stay open.

    Parameters
    ----------
    file : Path
        The file.
    names : tuple of str
        Columns to read, in this order.
    dtype : dtype
        Type of the floats to hand out.
    """

    def __init__(self, file: Path, names: tuple[str, ...], dtype: np.dtype[Any]) -> None:
        self.file = file
        self.names = names
        self.dtype = dtype
        with _opened(file) as parquet:
            self.shape = (parquet.metadata.num_rows, len(names))

    def blocks(
        self, needed: RowNumbers | None = None, room: Room | None = None
    ) -> Iterator[tuple[slice, NDArray[Any]]]:
        """Yield the rows in order, column-major."""
        start, room = 0, room or Room()
        with self._reopened() as parquet:
            for group in range(parquet.num_row_groups):
                count = parquet.metadata.row_group(group).num_rows
                if some_needed(needed, start, start + count):
                    for block in self._decoded(parquet, group, count, room):
                        yield slice(start, start + len(block)), block
                        start += len(block)
                else:
                    start += count

    def column(self, j: int) -> Floats:
        """Return a copy of column j; no other column is read."""
        parts = [np.asarray(part, np.float64) for part in self._batches(self.names[j])]
        return np.concatenate([np.empty(0), *parts])

    def labels(self, name: str) -> NDArray[Any]:
        """Return a column of classes; equal texts share their memory."""
        parts = [_labels(part) for part in self._batches(name)]
        return np.concatenate(parts) if parts else np.empty(0)

    def _batches(self, name: str) -> Iterator[Any]:
        with self._reopened() as parquet:
            for batch in parquet.iter_batches(_LABEL_ROWS, columns=[name]):
                yield self._complete(name, batch.column(name))

    def _decoded(self, parquet: Any, group: int, count: int, room: Room) -> Iterator[NDArray[Any]]:
        width = len(self.names) * self.dtype.itemsize
        if count * self.dtype.itemsize <= max(_OPEN_COLUMN, BLOCK_BYTES // len(self.names)):
            block = room.take((len(self.names), count), self.dtype)
            for s in range(0, len(self.names), _COLUMNS):
                names = self.names[s : s + _COLUMNS]
                self._fill(block[s:], names, parquet.read_row_group(group, columns=list(names)))
            yield block.T
            return
        step, wanted = max(1, BLOCK_BYTES // width), list(self.names)
        for batch in parquet.iter_batches(step, row_groups=[group], columns=wanted):
            block = room.take((len(self.names), batch.num_rows), self.dtype)
            self._fill(block, self.names, batch)
            yield block.T

    def _fill(self, block: NDArray[Any], names: Sequence[str], table: Any) -> None:
        for j, name in enumerate(names):
            block[j] = np.asarray(self._complete(name, table.column(name)))

    def _complete(self, name: str, column: Any) -> Any:
        if column.null_count:
            raise ValueError(
                f"Input contains NaN: column {name!r} of {self.file} has missing values; fill "
                "them in, or leave out these rows."
            )
        return column

    @contextmanager
    def _reopened(self) -> Iterator[Any]:
        with _opened(self.file) as parquet:
            known = set(parquet.schema_arrow.names)
            if parquet.metadata.num_rows != self.shape[0] or not known.issuperset(self.names):
                raise changed(self.file)
            yield parquet


@contextmanager
def _opened(file: Path) -> Iterator[Any]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise ImportError(
            f"{file} is a Parquet file, which pyarrow reads: pip install 'bblr[parquet]'"
        ) from error
    try:
        with pq.ParquetFile(file, buffer_size=_BUFFER, pre_buffer=False) as parquet:
            yield parquet
    except FileNotFoundError:
        raise
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"{file} is not a sound Parquet file: {error}") from None


def _schema(file: Path) -> dict[str, np.dtype[Any] | None]:
    """Return the type of each column, None where it is not a number; an index is no column."""
    with _opened(file) as parquet:
        schema = parquet.schema_arrow
    try:
        index = (schema.pandas_metadata or {}).get("index_columns", [])
    except (ValueError, AttributeError) as error:
        raise ValueError(
            f"{file} is not a sound Parquet file: what pandas wrote into it cannot be read "
            f"({error})"
        ) from None
    fields = [field for field in schema if field.name not in index]
    names = [field.name for field in fields]
    if len(set(names)) < len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise ValueError(f"{file} has several columns named {_listed(twice)}; rename them.")
    return {field.name: _number_type(field.type) for field in fields}


def _number_type(kind: Any) -> np.dtype[Any] | None:
    import pyarrow.types as types

    if types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind):
        return np.dtype(kind.to_pandas_dtype())
    return None


def _labels(column: Any) -> NDArray[Any]:
    if _number_type(column.type) is not None:
        return np.asarray(column)
    encoded = column.dictionary_encode()
    return np.asarray(encoded.dictionary, dtype=object)[np.asarray(encoded.indices)]


def _check_there(file: Path, schema: dict[str, Any], names: Sequence[str], who: str) -> None:
    missing = [name for name in names if name not in schema]
    if missing:
        raise ValueError(
            f"{file} has no column named {_listed(missing)}, which {who}; it has "
            f"{_listed(schema)}."
        )


def _listed(names: Any) -> str:
    shown = [repr(name) for name in names]
    return ", ".join(shown[:8]) + (", ..." if len(shown) > 8 else "")
