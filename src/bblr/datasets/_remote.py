"""Files that are here or on the network, never half there; transfers that resume."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from shutil import copyfileobj
from typing import IO, Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

__all__ = [
    "DATA_HOME",
    "Home",
    "RemoteFile",
    "default_home",
    "download",
    "local_copy",
    "partial_path",
    "place",
]

DATA_HOME = "BBLR_DATA_HOME"
"""The environment variable that names the folder of research data."""

Home = str | os.PathLike[str] | None


@dataclass(frozen=True)
class RemoteFile:
    """A file with a place, an address and what tells it from others.

    Parameters
    ----------
    name : str
        Its place in the data folder, with ``/`` between folders.
    url : str or None
        Where it can be had; None where nobody offers it.
    sha256 : str or None
        What its contents hash to; None where that is not known.
    check : callable or None
        Says what is wrong with a copy, or nothing (an empty string).
    origin : str
        For a file without an address: where its contents come from.
    """

    name: str
    url: str | None
    sha256: str | None = None
    check: Callable[[Path], str] | None = None
    origin: str = ""

    def fault(self, path: Path) -> str:
        """Say what is wrong with a copy, or nothing."""
        if self.sha256 is not None and _sha256(path) != self.sha256:
            return "its SHA-256 differs"
        return self.check(path) if self.check is not None else ""


def default_home() -> Path:
    """Return the folder of downloads where none is named."""
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "bblr"


def place(name: str, data_home: Home = None) -> Path:
    """Return where a file of that name lies or goes."""
    home = (os.environ.get(DATA_HOME) or default_home()) if data_home is None else data_home
    return Path(home) / name


def local_copy(
    file: RemoteFile,
    data_home: Home = None,
    *,
    download_if_missing: bool = True,
    verify: bool = True,
) -> Path:
    """Return the path of a file, downloading it where it is missing.

    Parameters
    ----------
    file : RemoteFile
        Which file.
    data_home : path-like or None
        The folder it is in or goes to; ``$BBLR_DATA_HOME`` when None, and a cache in the user's
        home where that is not set.
    download_if_missing : bool
        Whether to go to the network at all.
    verify : bool
        Whether to check a file that is at hand; a download always is.

    Raises
    ------
    FileNotFoundError
        If the file is missing and must not be downloaded, or has no address.
    OSError
        If it cannot be downloaded, or if what came or what is there is not the file expected.
        A failed download leaves nothing behind, or, where the server can go on from there, the
        beginning under another name.
    ImportError
        If a download is needed and pooch is missing.
    """
    path = place(file.name, data_home)
    if path.is_file():
        wrong = file.fault(path) if verify else ""
        if wrong:
            raise OSError(
                f"{path} is not the file expected ({wrong}): it is damaged or another version; "
                + ("remove it to have it downloaded again" if file.url else "put another there")
            )
        return path
    folder = f"set {DATA_HOME} (or data_home) to the folder that holds {file.name}"
    if file.url is None:
        raise FileNotFoundError(
            f"{path} is not there and has no public address ({file.origin}): put it there, or "
            f"{folder}"
        )
    if not download_if_missing:
        raise FileNotFoundError(
            f"{path} is not there and download_if_missing is False: put {file.url} there, or "
            f"{folder}"
        )
    _download(file, path)
    return path


def _download(file: RemoteFile, path: Path) -> None:
    by_hand = f"download {file.url} yourself and put it at {path}"
    try:
        import pooch
    except ImportError as error:
        raise ImportError(
            f"{path} is not there and a download needs pooch: pip install 'bblr[data]', or "
            f"{by_hand}"
        ) from error
    made = [folder for folder in path.parents if not folder.exists()]
    partial = partial_path(path)

    def downloader(url: str, output: Any, _: Any) -> None:
        download(url, Path(output), partial, file.fault)

    logger = pooch.get_logger()
    level = logger.level
    logger.setLevel("WARNING")
    try:
        pooch.retrieve(
            file.url,
            known_hash=file.sha256 and f"sha256:{file.sha256}",
            fname=path.name,
            path=path.parent,
            downloader=downloader,
        )
    except (OSError, ValueError, HTTPException) as error:
        for folder in made:
            with suppress(OSError):
                folder.rmdir()
        problem = " ".join(str(error).split()) or type(error).__name__
        if isinstance(error, ValueError):
            problem = f"what came is not the file expected ({problem})"
        if partial.exists():
            problem += "; call again to go on from there"
        raise OSError(f"{file.name} could not be downloaded: {problem}; {by_hand}") from error
    finally:
        logger.setLevel(level)


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


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
