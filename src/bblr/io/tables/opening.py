"""Data files opened: unpacked, and which format each has."""

from __future__ import annotations

import bz2
import difflib
import gzip
import lzma
import re
import sys
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib import import_module
from io import BufferedReader, BytesIO, TextIOWrapper
from pathlib import Path, PurePath
from typing import IO, Any

__all__ = ["DataFile", "opened_data", "require"]

_FORMATS = {
    **dict.fromkeys((".csv", ".tsv"), "csv"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **dict.fromkeys((".arrow", ".feather"), "arrow"),
    **dict.fromkeys((".svm", ".svmlight", ".libsvm"), "svmlight"),
    **dict.fromkeys((".xlsx", ".xlsm"), "excel"),
}
_MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow"}
_PEEKED = 2**16
_ZIP, _ZSTD = b"PK\x03\x04", b"\x28\xb5\x2f\xfd"
_PACKED: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ": lzma.open}
_OLD_EXCEL = bytes.fromhex("d0cf11e0a1b11ae1")
_UNSOUND = (EOFError, OSError, zlib.error, lzma.LZMAError, zipfile.BadZipFile)
NUMBER = r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
SVMLIGHT_ROW = re.compile(rf"{NUMBER}(?:\s+qid:\d+)?(?:\s+\d+:{NUMBER})*\s*(?:#.*)?", re.ASCII)


@dataclass(frozen=True)
class DataFile:
    """An open file, unpacked.

    Parameters
    ----------
    name : str
        What messages call it.
    kind : {"csv", "parquet", "arrow", "excel", "svmlight"}
        Its format.
    stream : BufferedReader
        Its content, from the beginning.
    _exits : ExitStack
        Closes what is opened on top of it.
    """

    name: str
    kind: str
    stream: BufferedReader
    _exits: ExitStack

    def text(self, encoding: str, errors: str) -> TextIOWrapper:
        """Return the content as text; it is closed with the file."""
        return self._exits.enter_context(TextIOWrapper(self.stream, encoding, errors))


def require(name: str, *packages: str, extra: str = "cli") -> None:
    """Raise an error that says what to install unless the packages are there."""
    try:
        for package in packages:
            import_module(package)
    except ImportError as error:
        raise ImportError(
            f"reading {name} needs {' and '.join(packages)}; install them with: pip install "
            f"'bblr[{extra}]'"
        ) from error


@contextmanager
def opened_data(path: Path) -> Iterator[DataFile]:
    """Open a file, or standard input where the path is ``-``.

    The ending of the name says which format it has, or else the content.

    Raises
    ------
    OSError
        If there is no such file, or it cannot be opened.
    ValueError
        If it is empty or damaged, or packed in a way that is not known.
    """
    name = "standard input" if str(path) == "-" else str(path)
    with ExitStack() as exits:
        file = exits.enter_context(_opened(path))
        if not file.read(1):
            raise ValueError(f"{name} is empty; it needs a header and rows, or svmlight rows")
        file.seek(0)
        try:
            inner, content = _unpacked(file, path, name)
            stream = exits.enter_context(BufferedReader(content, _PEEKED))
            kind = _FORMATS.get(inner.suffix.lower()) or _sniffed(stream.peek())
            if content is not file and kind in _MAGIC.values():  # not read from front to back
                stream = exits.enter_context(BufferedReader(BytesIO(stream.read())))
            yield DataFile(name, kind, stream, exits)
        except _UNSOUND as error:
            raise ValueError(f"{name} is damaged or cut short: {error}; make it again") from error


def _opened(path: Path) -> IO[bytes]:
    """Open a file; what comes through a pipe is read whole, for a pipe cannot go back."""
    if str(path) == "-":
        if sys.stdin is None:
            raise OSError("standard input is closed; name a file")
        return BytesIO(sys.stdin.buffer.read())
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; name a file in it")
    if not path.exists():
        names = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
        close = difflib.get_close_matches(path.name, names)
        hint = f"; there is {', '.join(close)} beside it" if close else "; check the spelling"
        raise FileNotFoundError(f"there is no file {path}{hint}")
    file = path.open("rb")
    if file.seekable():
        return file
    with file:
        return BytesIO(file.read())


def _unpacked(file: IO[bytes], path: PurePath, name: str) -> tuple[PurePath, Any]:
    """Return the name without the ending of what packed the file, and its content."""
    start = file.read(8)
    file.seek(0)
    if start.startswith(_ZIP):
        return _zip_member(file, path, name)
    inner = path.with_suffix("") if path.suffix.lower() not in _FORMATS else path
    if start.startswith(_ZSTD):
        require(name, "pyarrow")
        import pyarrow as pa

        return inner, pa.CompressedInputStream(file, "zstd")
    for magic, unpack in _PACKED.items():
        if start.startswith(magic):
            return inner, unpack(file)
    if start == _OLD_EXCEL:
        raise ValueError(f"{name} is an old Excel workbook; save it as .xlsx or CSV (UTF-8) first")
    return path, file


def _zip_member(file: IO[bytes], path: PurePath, name: str) -> tuple[PurePath, Any]:
    archive = zipfile.ZipFile(file)
    members = [each for each in archive.namelist() if not each.endswith("/")]
    if "[Content_Types].xml" in members:
        file.seek(0)
        return path.with_suffix(".xlsx"), file
    if path.suffix.lower() == ".ods" or "mimetype" in members:
        raise ValueError(
            f"{name} is an OpenDocument workbook; save it as .xlsx or CSV (UTF-8) first"
        )
    if len(members) != 1:
        shown = ", ".join(map(repr, members[:5])) + (", …" if len(members) > 5 else "")
        raise ValueError(
            f"{name} is a zip of {len(members)} files ({shown}); unpack it and name one of them, "
            "or several of one layout"
        )
    try:
        return PurePath(members[0]), archive.open(members[0])
    except RuntimeError as error:  # a password, or a method that is not known
        raise ValueError(f"{name} cannot be unpacked: {error}; unpack it first") from error


def _sniffed(start: bytes) -> str:
    """Return the format of a file that begins so."""
    for magic, kind in _MAGIC.items():
        if start.startswith(magic):
            return kind
    for line in start.decode("utf-8-sig", errors="replace").splitlines():
        row = line.strip()
        if row and not row.startswith("#"):
            # A lone number is a label without features in svmlight, but just as well a CSV file
            # of one column: take it for CSV, whose error message is the clearer one.
            return "svmlight" if ":" in row and SVMLIGHT_ROW.fullmatch(row) else "csv"
    return "csv"
