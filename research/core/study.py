"""Commands that run tasks and show what they came to: how they begin and how they end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd
from joblib import cpu_count
from rich.console import Console

from bblr._settings import check_writable
from bblr.comparison.session import DONE, FAILED, check_records, run_session, say
from bblr.comparison.tasks import Task

__all__ = ["Study"]


class Study:
    """A command at work: where it prints, and where its results are kept.

    Parameters
    ----------
    records : Path
        Results as they come; a command that is run again goes on from there.
    jobs : int or None
        Tasks to run at a time; all cores when None.
    plot : Path
        The drawing to be made.
    """

    def __init__(self, records: Path, jobs: int | None, plot: Path) -> None:
        self.messages, self.console = Console(stderr=True), Console()
        self._records, self._jobs, self._plot = records, jobs or cpu_count(), plot
        check_writable("plot", plot, (".png", ".svg"))
        check_records(records)

    def run(self, tasks: Sequence[Task]) -> tuple[pd.DataFrame, int]:
        """Run tasks; return the records that are results, and the exit status so far.

        Failures are reported.
        """
        found = run_session(
            tasks, self._records, jobs=self._jobs, messages=self.messages, verb="Running"
        )
        failed = [record for record in found if "failure" in record]
        for record in failed:
            line = f"{record['label']} on {record['data']} failed: {record['failure']}"
            say(self.messages, line)
        done = [record for record in found if "failure" not in record]
        return pd.DataFrame(done), FAILED if failed else DONE

    def draw(self, draw: Callable[[Path], None]) -> int:
        """Make the drawing and say where it is; returns the exit status of that."""
        try:
            draw(self._plot)
        except OSError as error:
            say(self.messages, f"Error: --plot {str(self._plot)!r} was not written: {error}")
            return FAILED
        say(self.console, f"Plot: {self._plot}")
        return DONE
