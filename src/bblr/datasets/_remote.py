"""Files that are at hand or on the network, never half there."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from shutil import copyfileobj
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

from bblr.datasets._research import DATA_HOME

__all__ = ["RemoteFile", "default_home", "local_copy"]

_TIMEOUT = 30.0


@dataclass(frozen=True)
class RemoteFile:
    """A file with a place, an address and a checksum.

    Parameters
    ----------
    name : str
        Its place in the data folder, with ``/`` between folders.
    url : str
        Where it can be had.
    sha256 : str
        What its contents hash to.
    """

    name: str
    url: str
    sha256: str


def default_home() -> Path:
    """Return the folder of downloads where none is named."""
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "bblr"


def local_copy(
    file: RemoteFile,
    data_home: str | os.PathLike[str] | None = None,
    *,
    download_if_missing: bool = True,
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

    Raises
    ------
    FileNotFoundError
        If the file is missing and must not be downloaded.
    OSError
        If it cannot be downloaded, or if what came or what is there is not the file expected.
        A failed download leaves nothing behind.
    ImportError
        If a download is needed and pooch is missing.
    """
    home = (os.environ.get(DATA_HOME) or default_home()) if data_home is None else data_home
    path = Path(home) / file.name
    if path.is_file():
        if _sha256(path) != file.sha256:
            raise OSError(
                f"{path} is not the file expected (its SHA-256 differs): it is damaged or another "
                "version; remove it to have it downloaded again"
            )
        return path
    if not download_if_missing:
        raise FileNotFoundError(
            f"{path} is not there and download_if_missing is False: put {file.url} there, or set "
            f"{DATA_HOME} (or data_home) to the folder that holds {file.name}"
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
    logger = pooch.get_logger()
    level = logger.level
    logger.setLevel("WARNING")
    try:
        pooch.retrieve(
            file.url,
            known_hash=f"sha256:{file.sha256}",
            fname=path.name,
            path=path.parent,
            downloader=_stream,
        )
    except (OSError, ValueError, HTTPException) as error:
        for folder in made:
            with suppress(OSError):
                folder.rmdir()
        if isinstance(error, ValueError) and "hash" in str(error).lower():
            problem = "what came is not the file expected (its SHA-256 differs)"
        else:
            problem = " ".join(str(error).split()) or type(error).__name__
        raise OSError(f"{file.name} could not be downloaded: {problem}; {by_hand}") from error
    finally:
        logger.setLevel(level)


def _stream(url: str, output_file: str, _: Any) -> None:
    """Write what lies at an address to a file; the connection is closed whatever happens."""
    try:
        with urlopen(url, timeout=_TIMEOUT) as response, open(output_file, "wb") as stream:
            copyfileobj(response, stream)
            expected = response.headers.get("Content-Length")
            if expected is not None and stream.tell() != int(expected):
                raise OSError(f"only {stream.tell():,} of {int(expected):,} bytes came")
    except HTTPError as error:
        error.close()
        raise OSError(f"the server answers {error.code} {error.reason}") from None


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
