"""The command ``bblr``, and what is done while the package loads.

It lies beside the package because Ctrl-C must be heard from the first import on: the estimators
and the libraries behind them take a second or two to load.
"""

from __future__ import annotations

import gc
import os
import sys
from _thread import allocate_lock

__all__ = ["Kept", "Loading", "main"]


class Kept:
    """While modules are loaded or code is compiled, garbage is not looked for.

    All that is made stays, and Python would look through it again and again: a fifth of the time
    of an import, half of that of a first fit.
    """

    _lock = allocate_lock()
    _users = 0
    _collecting = False

    def __enter__(self) -> None:
        """Stop collecting."""
        with Kept._lock:
            if not Kept._users:
                Kept._collecting = gc.isenabled()
                gc.disable()
            Kept._users += 1

    def __exit__(self, *_: object) -> None:
        """Collect as before, once the last user is done."""
        with Kept._lock:
            Kept._users -= 1
            if not Kept._users and Kept._collecting:
                gc.enable()


class Loading:
    """While modules are loaded, Ctrl-C is one line and exit status 130, and garbage lies.

    Nothing that is loaded is garbage, now or later: looking for some takes a fifth of the time.
    The process ends at once, not by an exception, which half-loaded modules might catch or
    complain about: nothing has been done yet, so there is nothing to tidy up.
    """

    def __enter__(self) -> None:
        """Listen, unless a shell runs it in the background: then Ctrl-C is not meant for it."""
        gc.disable()
        try:
            import signal  # itself some milliseconds
            from threading import current_thread, main_thread
        except KeyboardInterrupt:
            _stop()
        heard = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        # Only the main thread may say what is to be done with signals.
        self._listening = heard and current_thread() is main_thread()
        if self._listening:
            signal.signal(signal.SIGINT, _stop)

    def __exit__(self, *_: object) -> None:
        """Hear Ctrl-C as before."""
        gc.freeze()
        gc.enable()
        if self._listening:
            import signal

            signal.signal(signal.SIGINT, signal.default_int_handler)


def main() -> None:
    """Load the command line and run it; Ctrl-C meanwhile is one line and exit status 130.

    In the hundredths of a second before this is called Python itself is starting, and answers
    Ctrl-C by a traceback; no code of a package can change that.
    """
    with Loading():
        from bblr.cli import main as run
    try:
        run()
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        sys.exit(130)


def _stop(*_: object) -> None:
    os.write(2, b"Stopped.\n")
    os._exit(130)
