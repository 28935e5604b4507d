"""Transfers that go on where an interruption left them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import copyfileobj
from typing import IO, Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

__all__ = ["download", "partial_path"]

_TIMEOUT = 30.0
_RANGE_NOT_SATISFIABLE = 416
_PARTIAL_CONTENT = 206

Stream = IO[bytes]


def partial_path(path: Path) -> Path:
    """Return where the beginning of a file waits for the rest."""
    return path.with_name(f".{path.name}.partial")


def download(url: str, output: Path, partial: Path, fault: Callable[[Path], str]) -> None:
    """Write what lies at an address to a file, going on with what is there already.

    Parameters
    ----------
    url : str
        The address.
    output : Path
        Where the whole file goes.
    partial : Path
        Where the beginning is kept after an interruption, if the server can go on from there.
    fault : callable
        Says what is wrong with a file, or nothing.

    Raises
    ------
    OSError
        If the transfer fails.
    ValueError
        If what came is at fault; nothing of it is kept.
    """
    try:
        with _claimed(partial, output) as stream:
            resumed = stream.seek(0, os.SEEK_END) > 0
            wrong = _attempt(url, stream, output, fault)
            if wrong and resumed:
                # The file may have changed between the two halves.
                stream.truncate(0)
                wrong = _attempt(url, stream, output, fault)
            if wrong:
                stream.truncate(0)
                raise ValueError(wrong)
    except BaseException:
        with suppress(OSError):
            if partial.stat().st_size == 0:
                partial.unlink()
        raise
    partial.unlink(missing_ok=True)


def _attempt(url: str, stream: Stream, output: Path, fault: Callable[[Path], str]) -> str:
    _transfer(url, stream)
    stream.flush()
    if not os.path.samestat(os.fstat(stream.fileno()), output.stat()):
        stream.seek(0)
        with output.open("wb") as whole:
            copyfileobj(stream, whole)
    return fault(output)


@contextmanager
def _claimed(partial: Path, private: Path) -> Iterator[Stream]:
    """Open the partial file for this process alone, or a private one where another has it."""
    with partial.open("ab+") as stream:
        if _locked(stream):
            yield stream
            return
    with private.open("ab+") as stream:
        yield stream


def _locked(stream: Stream) -> bool:
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _transfer(url: str, stream: Stream) -> None:
    """Append what is missing; after an error nothing is left that cannot be gone on with."""
    start = stream.seek(0, os.SEEK_END)
    response = _opened(url, start)
    if response is None:
        return
    with response:
        begins = _begins(response)
        if begins != start:
            stream.truncate(0)
        if begins not in (0, start):
            raise OSError(f"the server sends from byte {begins:,} instead of {start:,}")
        can_go_on = response.headers.get("Accept-Ranges") == "bytes" or begins > 0
        try:
            copyfileobj(response, stream)
            expected = response.headers.get("Content-Length")
            size = stream.tell()
            if expected is not None and size != begins + int(expected):
                raise OSError(f"only {size:,} of {begins + int(expected):,} bytes came")
        except BaseException:
            if not can_go_on:
                stream.truncate(0)
            raise


def _opened(url: str, start: int) -> Any:
    """Ask for an address from a byte on; None if there is nothing after it."""
    headers = {"Range": f"bytes={start}-"} if start else {}
    try:
        return urlopen(Request(url, headers=headers), timeout=_TIMEOUT)
    except HTTPError as error:
        error.close()
        if start and error.code == _RANGE_NOT_SATISFIABLE:
            complete = error.headers.get("Content-Range") == f"bytes */{start}"
            return None if complete else _opened(url, 0)
        raise OSError(f"the server answers {error.code} {error.reason}") from None


def _begins(response: Any) -> int:
    """Return the first byte that a server sends."""
    if response.status != _PARTIAL_CONTENT:
        return 0
    first = response.headers.get("Content-Range", "").removeprefix("bytes ").partition("-")[0]
    return int(first) if first.isdigit() else -1
