"""Results on disk: one JSON object a line, appended as each cell finishes."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TextIO

try:
    import fcntl
except ModuleNotFoundError:  # Windows
    fcntl = None  # type: ignore[assignment]

__all__ = ["Record", "RecordsError", "RecordsFile", "read_records"]

Record = dict[str, Any]

_START = '{"key":"'


class RecordsError(ValueError):
    """A file that is not, or no longer, a list of records."""


def _complete_lines(path: Path) -> tuple[list[bytes], int]:
    """Lines that were written to the end, and the file offset where they stop.

    A run killed while writing leaves an unfinished last line. Anything else that does not look
    like a record belongs to somebody, so it is an error rather than something to cut away.
    """
    lines = path.read_bytes().split(b"\n")
    tail = lines.pop()
    start = _START.encode()
    if not start.startswith(tail[: len(start)]):
        raise RecordsError(f"{path} does not end with a record; choose another place for records")
    return lines, sum(len(line) + 1 for line in lines)


def _parse(path: Path, number: int, line: bytes) -> Record:
    try:
        record = json.loads(line)
        return {**record, "key": str(record["key"])}
    except (ValueError, TypeError, KeyError):
        raise RecordsError(
            f"line {number} of {path} is not a record; delete that line or choose another "
            "place for the records"
        ) from None


def read_records(path: str | os.PathLike[str]) -> dict[str, Record]:
    """Read a records file into a dictionary by key.

    Parameters
    ----------
    path : path-like
        The file; one that does not exist holds no records.

    Returns
    -------
    dict of str to dict
        The last record of each key, in the order of the file. An unfinished last line, left by
        a run that was killed, is ignored.

    Raises
    ------
    RecordsError
        If the file holds something that is not a record.
    """
    path = Path(path)
    if not path.exists():
        return {}
    lines, _ = _complete_lines(path)
    parsed = (_parse(path, number, line) for number, line in enumerate(lines, 1) if line.strip())
    return {record["key"]: record for record in parsed}


def _lock(stream: TextIO, path: Path) -> None:
    """Keep other runs from writing: they would do the work twice and cut each other's lines."""
    if fcntl is None:
        return
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise RecordsError(
            f"another run is writing to {path}; wait until it ends or choose another place"
        ) from None
    except OSError:
        return  # some network file systems have no locks


class RecordsFile:
    """Append records to a file, each written out at once.

    Parameters
    ----------
    path : path-like
        The file; created if it does not exist.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._stream: TextIO | None = None

    def __enter__(self) -> Self:
        """Open the file, cutting off a line that an earlier run left unfinished.

        Raises
        ------
        RecordsError
            If another run is writing to it.
        """
        self._stream = self.path.open("a", encoding="utf-8", newline="\n")
        try:
            _lock(self._stream, self.path)
            _, end = _complete_lines(self.path)
            if end < self.path.stat().st_size:
                os.truncate(self.path, end)
        except BaseException:
            self._stream.close()
            self._stream = None
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the file."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def append(self, record: Mapping[str, Any]) -> None:
        """Write one record and hand it to the operating system."""
        if self._stream is None:
            raise RuntimeError("append needs an open file: use RecordsFile in a with statement")
        ordered = {"key": record["key"], **record}
        # One write a record: what an interruption can leave behind is a single unfinished line.
        text = json.dumps(ordered, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
        self._stream.write(text + "\n")
        self._stream.flush()
