"""What happens around a compilation: a line on a terminal, and no collection of garbage."""

from __future__ import annotations

import gc
import sys
from typing import Any

from numba.core import event

__all__ = ["watch_compilation"]

_NOTICE = "bblr: compiling for this machine, once; later fits start at once (see bblr warm-up).\n"


class _Around(event.Listener):
    """Writes the line at the first function of this package that is not in the cache.

    A compiler makes so many objects that the collector would look through all modules again and
    again: a tenth of the time.
    """

    told = False
    depth = 0
    collecting = True

    def on_start(self, event: Any) -> None:
        """Tell of a compilation that begins."""
        if not self.depth:
            self.collecting = gc.isenabled()
            gc.disable()
        self.depth += 1
        module = event.data["dispatcher"].py_func.__module__
        if not self.told and module.startswith("bblr.") and sys.stderr.isatty():
            sys.stderr.write(_NOTICE)
        self.told = self.told or module.startswith("bblr.")

    def on_end(self, event: Any) -> None:
        """Collect garbage again."""
        self.depth -= 1
        if not self.depth and self.collecting:
            gc.enable()


def watch_compilation() -> None:
    """Tell people at a terminal, once a process, that code is being compiled, and do it faster."""
    event.register("numba:compile", _Around())
