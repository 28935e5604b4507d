"""Commands that run tasks and show what they came to: how they begin and how they end."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd
from joblib import cpu_count
from rich.console import Console

from bblr._settings import SettingError, check_writable
from bblr.comparison.records import RecordsError, read_records
from bblr.comparison.session import (
    DONE,
    FAILED,
    INTERRUPTED,
    MISUSED,
    Stopped,
    refusal,
    run_session,
    say,
)
from bblr.comparison.tasks import Task

__all__ = ["Study", "guarded"]


class Study:
    """A command at work: where it prints, and where its results are kept.

    Parameters
    ----------
    records : Path or None
        Results as they come; a command that is run again goes on from there. None keeps nothing.
    jobs : int or None, default=None
        Tasks to run at a time; all cores when None.
    plot : Path or None, default=None
        The drawing to be made.
    """

    def __init__(
        self, records: Path | None, jobs: int | None = None, plot: Path | None = None
    ) -> None:
        self.messages, self.console = Console(stderr=True), Console()
        self._jobs = jobs or cpu_count()
        self._records, self._plot = records, plot
        if plot is not None:
            check_writable("plot", plot, (".png", ".svg"))
        if records is not None:
            check_writable("records", records, (".jsonl",))
            read_records(records)  # a file that holds something else is refused here

    def run(self, tasks: Sequence[Task]) -> tuple[pd.DataFrame, int]:
        """Run tasks; return the records that are results, and the exit status so far.

        Failures are told.
        """
        with tempfile.TemporaryDirectory() as folder:
            place = self._records or Path(folder) / "records.jsonl"
            found = run_session(
                tasks, place, jobs=self._jobs, messages=self.messages, verb="Running"
            )
        failed = [record for record in found if "failure" in record]
        for record in failed:
            line = f"{record['label']} on {record['data']} failed: {record['failure']}"
            say(self.messages, line)
        done = [record for record in found if "failure" not in record]
        return pd.DataFrame(done), FAILED if failed else DONE

    def draw(self, draw: Callable[[Path], None]) -> int:
        """Make the drawing and say where it is; returns the exit status of that."""
        if self._plot is None:
            return DONE
        try:
            draw(self._plot)
        except OSError as error:
            say(self.messages, f"Error: --plot {str(self._plot)!r} was not written: {error}")
            return FAILED
        say(self.console, f"Plot: {self._plot}")
        return DONE


def guarded(work: Callable[[], int], **arguments: str) -> int:
    """Do the work of a command; what cannot be used or had is one line and a status.

    Parameters
    ----------
    work : callable
        Returns the exit status.
    arguments : str
        Names of settings that are no options: ``data="DATA"``.
    """
    try:
        return work()
    except (SettingError, RecordsError, OSError, ImportError) as error:
        say(Console(stderr=True), refusal(error, **arguments))
        return MISUSED
    except Stopped as stopped:
        return stopped.status
    except KeyboardInterrupt:
        say(Console(stderr=True), "Stopped while loading the data; nothing was run.")
        return INTERRUPTED
