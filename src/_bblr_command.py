"""The command ``bblr``.

It lies beside the package because Ctrl-C must be heard from the first import on: the estimators
and the libraries behind them take a second or two to load.
"""

from __future__ import annotations

import os
import sys

__all__ = ["Loading", "main"]


class Loading:
    """While modules are loaded, Ctrl-C is one line and exit status 130.

    The process ends at once, not by an exception, which half-loaded modules might catch or
    complain about: nothing has been done yet, so there is nothing to tidy up.
    """

    def __enter__(self) -> None:
        """Listen, unless a shell runs it in the background: then Ctrl-C is not meant for it."""
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
