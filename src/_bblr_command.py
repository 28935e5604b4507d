"""The command ``bblr``, and what is done while the package loads.

It lies beside the package because Ctrl-C must be heard from the first import on: the estimators
and the libraries behind them take a second or two to load.
"""

from __future__ import annotations

import gc
import os
import sys
from _thread import allocate_lock
from errno import EPIPE
from io import TextIOWrapper
from typing import Any

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


class Output(TextIOWrapper):
    r"""A standard stream that may be full or closed: what is to be done is done all the same.

    What its encoding has no character for is written as ``\u2026``.

    Parameters
    ----------
    stream : TextIOWrapper
        The stream, which is of no use afterwards.
    """

    # Why not all was written; a reader that has seen enough is no reason.
    failure: OSError | None = None

    def __init__(self, stream: Any) -> None:
        encoding, lines = stream.encoding, stream.line_buffering
        super().__init__(stream.detach(), encoding, "backslashreplace", line_buffering=lines)

    def write(self, text: str) -> int:
        """Write a text, if that can be done."""
        try:
            return super().write(text)
        except OSError as error:
            self._give_up(error)
            return len(text)

    def flush(self) -> None:
        """Write what is held back, if that can be done."""
        try:
            super().flush()
        except OSError as error:
            self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        if error.errno != EPIPE:
            self.failure = error
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self.fileno())
        os.close(nowhere)


def _open_streams() -> None:
    """Let nothing that is printed end a command by a traceback."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by whoever started it
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif type(stream) is TextIOWrapper:
            setattr(sys, name, Output(stream))


def _check_written() -> None:
    """Say in one line, and by exit status 2, that standard output was not written."""
    sys.stdout.flush()
    failure = getattr(sys.stdout, "failure", None)
    if failure is not None:
        print(
            f"Error: standard output cannot be written: {failure.strerror}; make room or choose "
            "another place",
            file=sys.stderr,
        )
        sys.exit(2)


def main() -> None:
    """Load the command line and run it; Ctrl-C meanwhile is one line and exit status 130.

    In the hundredths of a second before this is called Python itself is starting, and answers
    Ctrl-C by a traceback; no code of a package can change that.
    """
    with Loading():
        from bblr.cli import main as run
    _open_streams()
    try:
        run()
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        sys.exit(130)
    except SystemExit as end:
        if not end.code:
            _check_written()
        raise


def _stop(*_: object) -> None:
    os.write(2, b"Stopped.\n")
    os._exit(130)
