"""A command that runs tasks: progress while they run, and how it ends when they cannot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from joblib.externals.loky.process_executor import TerminatedWorkerError
from rich.console import Console

from bblr.comparison.records import Record, RecordsError, read_records
from bblr.comparison.runner import Task, is_result, run_tasks
from bblr.comparison.terminal import LiveProgress

__all__ = ["DONE", "FAILED", "INTERRUPTED", "MISUSED", "Stopped", "run_session", "say"]

DONE, FAILED, MISUSED, INTERRUPTED = 0, 1, 2, 130


class Stopped(Exception):
    """The tasks did not all run; the command ends with this status."""

    def __init__(self, status: int) -> None:
        super().__init__(f"status {status}")
        self.status = status


def run_session(
    tasks: Sequence[Task],
    records: Path,
    *,
    jobs: int,
    messages: Console,
    verb: str,
    guess: Callable[[Task], float] | None = None,
) -> list[Record]:
    """Run tasks under a progress bar; say what was known, and where an interruption leaves them.

    Parameters
    ----------
    tasks : sequence of Task
        What to do.
    records : Path
        Where the results go as they come.
    jobs : int
        Tasks to run at a time.
    messages : Console
        Where progress and messages are shown.
    verb : str
        What is being done.
    guess : callable or None
        Seconds to expect of a task.

    Raises
    ------
    Stopped
        If the user stopped it, a worker died or the records cannot be written; that has been
        said then.
    """
    try:
        with LiveProgress(messages, jobs, verb, guess) as progress:
            found = run_tasks(
                tasks,
                records,
                jobs=jobs,
                on_start=progress.start,
                on_record=progress.advance,
            )
    except KeyboardInterrupt:
        say(messages, f"Stopped: {_standing(tasks, records)}; run the same command to go on.")
        raise Stopped(INTERRUPTED) from None
    except TerminatedWorkerError:
        say(
            messages,
            "Error: a worker process died, perhaps for want of memory; "
            f"{_standing(tasks, records)}; run the same command with fewer --jobs to go on.",
        )
        raise Stopped(FAILED) from None
    except RecordsError as error:
        say(messages, f"Error: {error}")
        raise Stopped(MISUSED) from None
    except OSError as error:
        say(messages, f"Error: {error}; {_standing(tasks, records)}; make room and run it again.")
        raise Stopped(FAILED) from None
    if progress.known:
        say(
            messages,
            f"{progress.known} of {len(found)} results were in {records} already; "
            "delete that file to run everything again.",
        )
    return found


def say(console: Console, line: str) -> None:
    """Print a line as it is, however long."""
    console.print(line, highlight=False, markup=False, soft_wrap=True)


def _standing(tasks: Sequence[Task], records: Path) -> str:
    known = read_records(records)
    done = sum(is_result(known.get(task.key)) for task in tasks)
    return f"{done} of {len(tasks)} results are in {records}"
