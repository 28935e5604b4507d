"""Files that are there whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

__all__ = ["whole_file"]


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file that gets its name when the block ends, and vanishes when it fails."""
    # Of its own: other threads, and processes of the same number in other containers, may write to
    # the same place, and the last of them wins.
    hidden = path.with_name(f".bblr-{os.urandom(12).hex()}.part")
    try:
        with hidden.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        hidden.replace(path)
    except BaseException:
        hidden.unlink(missing_ok=True)
        raise
