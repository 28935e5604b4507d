"""Files that are here or on the network, never half there; transfers that resume."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTPException
from pathlib import Path
from shutil import copyfileobj
from typing import IO
from urllib.error import HTTPError
from urllib.request import Request, urlopen
from uuid import uuid4

__all__ = [
    "DATA_HOME",
    "Home",
    "RemoteFile",
    "default_home",
    "local_copies",
    "local_copy",
    "place",
]

DATA_HOME = "BBLR_DATA_HOME"
"""The environment variable that names the folder of research data."""

Home = str | os.PathLike[str] | None
Stream = IO[bytes]

_TIMEOUT = 30.0


@dataclass(frozen=True)
class RemoteFile:
    """A file with a place, an address and what tells it from others.

    Parameters
    ----------
    name : str
        Its place in the data folder, with ``/`` between folders.
    url : str or None
        Where it can be downloaded; None where nobody offers it.
    sha256 : str or None, default=None
        What its contents hash to; None only where `check` tells it from others.
    check : callable or None, default=None
        Says what is wrong with a copy, or nothing (an empty string).
    origin : str, default=""
        For a file without an address: where its contents come from.
    """

    name: str
    url: str | None
    sha256: str | None = None
    check: Callable[[Path], str] | None = None
    origin: str = ""

    def __post_init__(self) -> None:
        """Refuse a file of which any contents would do."""
        if self.sha256 is None and self.check is None:
            raise ValueError(f"nothing tells {self.name} from others; give it a sha256 or a check")

    def fault(self, path: Path) -> str:
        """Say what is wrong with a copy, or nothing."""
        if self.sha256 is not None:
            with path.open("rb") as stream:
                if hashlib.file_digest(stream, "sha256").hexdigest() != self.sha256:
                    return "its SHA-256 differs"
        return self.check(path) if self.check is not None else ""

    def refusal(self, path: Path, fault: str) -> OSError:
        """Return the error for a copy that is not this file."""
        remedy = "remove it to have it downloaded again" if self.url else "put another there"
        return OSError(
            f"{path} is not the file expected ({fault}): it is damaged or another version; "
            f"{remedy}"
        )


def default_home() -> Path:
    """Return the folder of downloads where none is named."""
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "bblr"


def place(name: str, data_home: Home = None) -> Path:
    """Return where a file of that name lies or goes."""
    home = (os.environ.get(DATA_HOME) or default_home()) if data_home is None else data_home
    return Path(home) / name


def local_copies(
    files: Iterable[RemoteFile], data_home: Home, download_if_missing: bool
) -> list[Path]:
    """Return the paths of several files; see :func:`local_copy`."""
    return [local_copy(f, data_home, download_if_missing=download_if_missing) for f in files]


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
        Whether to check a file that is available locally; a download always is.

    Raises
    ------
    FileNotFoundError
        If the file is missing and must not be downloaded, or has no address.
    OSError
        If it cannot be downloaded, or if what came or what is there is not the file expected.
        A failed download leaves nothing behind, or, where the server can go on from there, the
        beginning under another name.
    """
    path = place(file.name, data_home)
    if path.is_file():
        fault = file.fault(path) if verify else ""
        if fault:
            raise file.refusal(path, fault)
        return path
    if file.url is None or not download_if_missing:
        reason, what = "download_if_missing is False", file.url
        if file.url is None:
            reason, what = f"has no public address ({file.origin})", "it"
        raise FileNotFoundError(
            f"{path} is not there and {reason}: put {what} there, or set {DATA_HOME} (or "
            f"data_home) to the folder that holds {file.name}"
        )
    _download(file, file.url, path)
    return path


def _download(file: RemoteFile, url: str, path: Path) -> None:
    made = [folder for folder in path.parents if not folder.exists()]
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial")
    try:
        with _unfinished(path, partial) as stream:
            _complete(stream, url, file.fault)
    except (OSError, HTTPException) as error:
        for folder in made:
            with suppress(OSError):
                folder.rmdir()
        problem = " ".join(str(error).split()) or type(error).__name__
        if partial.exists():
            problem += "; call again to go on from there"
        raise OSError(
            f"{file.name} could not be downloaded: {problem}; download {url} yourself and put it "
            f"at {path}"
        ) from error


@contextmanager
def _unfinished(path: Path, partial: Path) -> Iterator[Stream]:
    """Open what there is of a file, and give it its name when the block ends.

    Where another process is filling it, the stream is a file of its own. After an error nothing is
    kept but a beginning that can be gone on with.
    """
    stream = partial.open("ab+")
    if not _locked(stream):
        stream.close()
        stream = partial.with_name(f"{partial.name}.{uuid4().hex}").open("ab+")
    filled = Path(stream.name)
    try:
        with stream:
            yield stream
        filled.replace(path)
    except BaseException:
        with suppress(OSError):
            if filled != partial or filled.stat().st_size == 0:
                filled.unlink()
        raise


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


def _complete(stream: Stream, url: str, fault: Callable[[Path], str]) -> None:
    """Write what lies at an address, going on with what is there already."""
    resumed = stream.seek(0, os.SEEK_END) > 0
    # The file may have changed between the two halves: then once more from the start.
    for _ in range(1 + resumed):
        _transfer(url, stream)
        stream.flush()
        found = fault(Path(stream.name))
        if not found:
            return
        stream.truncate(0)
    raise OSError(f"what came is not the file expected ({found})")


def _transfer(url: str, stream: Stream) -> None:
    """Append what is missing; after an error nothing is left that cannot be gone on with."""
    start = stream.seek(0, os.SEEK_END)
    headers = {"Range": f"bytes={start}-"} if start else {}
    try:
        response = urlopen(Request(url, headers=headers), timeout=_TIMEOUT)
    except HTTPError as error:
        error.close()
        if start and error.code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            return  # Nothing comes after what is there: that is all of it, or another file.
        raise OSError(f"the server answers {error.code} {error.reason}") from None
    with response:
        resumes = response.status == HTTPStatus.PARTIAL_CONTENT
        if not resumes:
            start = stream.truncate(0)
        try:
            copyfileobj(response, stream)
            size, expected = stream.tell(), response.headers.get("Content-Length")
            if expected is not None and size != start + int(expected):
                raise OSError(f"only {size:,} of {start + int(expected):,} bytes came")
        except BaseException:
            if not resumes and response.headers.get("Accept-Ranges") != "bytes":
                stream.truncate(0)
            raise
