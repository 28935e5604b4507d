"""The command ``bblr``.

It lies beside the package: to import any part of that is to load all it needs, which takes
seconds, and Ctrl-C must be heard from the first of them.
"""

from __future__ import annotations

import os
import sys

__all__ = ["main"]


def main() -> None:
    """Load the command line and run it; Ctrl-C meanwhile is one line and exit status 130.

    In the hundredths of a second before this is called Python itself is starting, and answers
    Ctrl-C by a traceback; no code of a package can change that.
    """
    try:
        import signal  # itself some milliseconds
    except KeyboardInterrupt:
        _stop()
    heard = signal.getsignal(signal.SIGINT)
    # Where a shell runs it in the background, Ctrl-C is not meant for it.
    listening = heard is signal.default_int_handler
    if listening:
        signal.signal(signal.SIGINT, _stop)
    from bblr.cli import main as run

    try:
        if listening:
            signal.signal(signal.SIGINT, heard)
        run()
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        sys.exit(130)


def _stop(*_: object) -> None:
    # At once, not by an exception, which half-loaded modules might catch or complain about:
    # nothing has been done yet, so there is nothing to tidy up.
    os.write(2, b"Stopped.\n")
    os._exit(130)
