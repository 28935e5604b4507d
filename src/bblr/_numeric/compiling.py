"""One line on a terminal when code has to be compiled, which otherwise looks like a hang."""

from __future__ import annotations

import sys
from typing import Any

from numba.core import event

__all__ = ["announce_compilation"]

_NOTICE = "bblr: compiling for this machine, once; later fits start at once (see bblr warm-up).\n"


class _Notice(event.Listener):
    """Writes the line at the first function of this package that is not in the cache."""

    told = False

    def on_start(self, event: Any) -> None:
        """Tell of a compilation that begins."""
        module = event.data["dispatcher"].py_func.__module__
        if not self.told and module.startswith("bblr.") and sys.stderr.isatty():
            sys.stderr.write(_NOTICE)
        self.told = self.told or module.startswith("bblr.")

    def on_end(self, event: Any) -> None:
        """Do nothing."""


def announce_compilation() -> None:
    """Tell people at a terminal, once a process, that code is being compiled."""
    event.register("numba:compile", _Notice())
