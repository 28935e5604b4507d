"""What happens around a compilation: a cache, a line on a terminal, neither garbage nor Ctrl-C."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from threading import current_thread, main_thread
from typing import Any

import numba
from numba.core import event
from numba.core.caching import FunctionCache

from _bblr_command import Kept

__all__ = ["njit", "watch_compilation"]

_NOTICE = "bblr: compiling for this machine, once; later fits start at once (see bblr warm-up).\n"


class _Cache(FunctionCache):
    """Compiled code on disk, or none where it cannot be read or written.

    A cache spares time and nothing else: whatever is wrong with one, a fit goes on.
    """

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return what was compiled before; None where that is nothing, or damaged."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # unpickling nonsense may raise anything
            with suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what has been compiled, where there is room."""
        with suppress(OSError):
            super().save_overload(sig, data)


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile as numba does, and keep the code wherever a place for it is found.

    numba's own `cache=True` fails where there is none: in a read-only package without a home.
    """

    def decorated(function: Callable[..., Any]) -> Any:
        compiled = numba.njit(**options)(function)
        # It is the plain function where compilation is switched off.
        if hasattr(compiled, "enable_caching"):
            with suppress(RuntimeError, OSError):
                compiled._cache = _Cache(function)
        return compiled

    return decorated


class _Teller(event.Listener):
    """Writes the line at the first function of this package that is not in the cache."""

    told = False

    def on_start(self, event: Any) -> None:
        """Tell of a compilation that begins."""
        module = event.data["dispatcher"].py_func.__module__ or ""  # none if made by exec
        if not self.told and module.startswith("bblr."):
            self.told = True
            if sys.stderr.isatty():
                sys.stderr.write(_NOTICE)

    def on_end(self, event: Any) -> None:
        """Say nothing."""


class _Keeper(event.Listener):
    """Lets garbage lie, and Ctrl-C wait, while code is compiled or comes from the cache.

    LLVM calls Python back, where an exception is lost: a Ctrl-C at that moment would leave a
    function without code, whose RuntimeError ends the fit.
    """

    depth = 0  # compilations within compilations, in the main thread
    pressed = False

    def on_start(self, event: Any) -> None:
        """Stop collecting, and hold Ctrl-C back."""
        if current_thread() is main_thread():
            if not self.depth:
                self.before = signal.getsignal(signal.SIGINT)
                if callable(self.before):
                    signal.signal(signal.SIGINT, self._press)
            self.depth += 1
        Kept().__enter__()

    def on_end(self, event: Any) -> None:
        """Collect garbage again, and pass on a Ctrl-C that came meanwhile."""
        Kept().__exit__()
        if current_thread() is not main_thread():
            return
        self.depth -= 1
        if not self.depth and callable(self.before):
            signal.signal(signal.SIGINT, self.before)
        self.pass_on()

    def pass_on(self) -> None:
        """Pass on a Ctrl-C that came meanwhile; LLVM is not at work."""
        if self.pressed and current_thread() is main_thread() and callable(self.before):
            self.pressed = False
            self.before(signal.SIGINT, None)

    def _press(self, number: int, frame: Any) -> None:
        """Note the first Ctrl-C; whoever presses again will not wait."""
        if self.pressed and callable(self.before):
            self.before(number, frame)
        self.pressed = True


class _Steps(event.Listener):
    """Lets a Ctrl-C wait for a step of a compilation only, not for the whole."""

    def __init__(self, keeper: _Keeper) -> None:
        self.keeper = keeper

    def on_start(self, event: Any) -> None:
        """Do nothing."""

    def on_end(self, event: Any) -> None:
        """Pass on what came during the step."""
        self.keeper.pass_on()


def watch_compilation() -> None:
    """Tell people at a terminal, once a process, that code is being compiled, and do it faster."""
    keeper = _Keeper()
    event.register("numba:compile", _Teller())
    event.register("numba:compiler_lock", keeper)
    event.register("numba:run_pass", _Steps(keeper))
