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
    hidden = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with hidden.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        hidden.replace(path)
    except BaseException:
        hidden.unlink(missing_ok=True)
        raise
