"""A command that runs tasks: progress while they run, and how it ends when they cannot."""

from __future__ import annotations

import signal
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from threading import Event, Thread, current_thread, main_thread

from joblib.externals.loky.process_executor import TerminatedWorkerError
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from bblr._bars import Lines
from bblr._settings import SettingError, check_writable, escaped, out_of_memory
from bblr.comparison.records import Record, RecordsError, read_records
from bblr.comparison.tasks import Task, is_result, run_tasks

__all__ = [
    "DONE", "FAILED", "INTERRUPTED", "LARGEST_SEED", "MISUSED", "TERMINATED", "LiveProgress",
    "Stopped", "WorkLeft", "check_least", "check_records", "choose", "duration", "failures",
    "guarded", "refusal", "run_session", "say",
]  # fmt: skip

DONE, FAILED, MISUSED, INTERRUPTED, TERMINATED = 0, 1, 2, 130, 143
LARGEST_SEED = 2**32 - 1


class _Terminated(KeyboardInterrupt):
    """SIGTERM, which is to leave things as Ctrl-C does."""


@contextmanager
def _hearing_sigterm() -> Iterator[None]:
    """End in good order when asked to: worker processes, records and the terminal's cursor."""
    if current_thread() is not main_thread():
        yield
        return

    def stop(*_: object) -> None:
        raise _Terminated

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


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

    Raises
    ------
    Stopped
        If the user stopped it, a worker died or the records cannot be written; that has been
        said then.
    """
    try:
        with _hearing_sigterm(), LiveProgress(messages, jobs, verb) as progress:
            found = run_tasks(
                tasks,
                records,
                jobs=jobs,
                on_start=progress.begin,
                on_record=progress.count,
            )
    except KeyboardInterrupt as stop:
        say(messages, f"Stopped: {_standing(tasks, records)}; run the same command to go on.")
        asked = isinstance(stop, _Terminated)
        raise Stopped(TERMINATED if asked else INTERRUPTED) from None
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
    if progress.known and len(tasks) > 1:
        say(
            messages,
            f"{progress.known} of {len(found)} results were in {records} already; "
            "delete that file to run everything again.",
        )
    return found


def say(console: Console, line: str) -> None:
    """Print a line as it is, however long."""
    console.print(escaped(line), highlight=False, markup=False, soft_wrap=True)


def _standing(tasks: Sequence[Task], records: Path) -> str:
    known = read_records(records)
    done = sum(is_result(known.get(task.key)) for task in tasks)
    return f"{done} of {len(tasks)} results are in {records}"


def check_least(**settings: tuple[float | None, float]) -> None:
    """Refuse settings below the least value each may have, and seeds beyond 32 bits.

    Raises
    ------
    SettingError
        For the first of them.
    """
    for name, (value, least) in settings.items():
        if value is not None and value < least:
            raise SettingError(name, f"must be at least {least:g}, got {value:g}")
        if name == "seed" and value is not None and value > LARGEST_SEED:
            raise SettingError(name, f"must be at most {LARGEST_SEED}, got {value}")


def refusal(error: Exception, **arguments: str) -> str:
    """Say in one line what cannot be used, by its name on the command line.

    Parameters
    ----------
    error : Exception
        A SettingError, or one whose message says everything.
    arguments : str
        Names of settings that are no options: ``data="DATA"``.
    """
    if not isinstance(error, SettingError):
        return f"Error: {' '.join(str(error).split())}"
    name = arguments.get(error.setting, "--" + error.setting.replace("_", "-"))
    return f"Error: {name} {error.problem}"


def choose(setting: str, typed: Iterable[str], known: Iterable[str]) -> list[str]:
    """Return the names that were typed, whatever their case, once each.

    Raises
    ------
    SettingError
        For the first that is not known.
    """
    names = {name.lower(): name for name in known}
    chosen = [name.strip() for name in typed]
    for name in chosen:
        if name.lower() not in names:
            choice = ", ".join(names.values())
            raise SettingError(setting, f"{name!r} is unknown; choose from {choice}")
    return list(dict.fromkeys(names[name.lower()] for name in chosen))


def check_records(path: Path) -> None:
    """Refuse a place where records cannot be kept; a file that holds something else is one.

    Raises
    ------
    SettingError
        For such a place.
    """
    check_writable("records", path, (".jsonl",))
    try:
        read_records(path)
    except RecordsError as error:
        raise SettingError("records", f"cannot be used: {error}") from None


def guarded(work: Callable[[], int], **arguments: str) -> int:
    """Do the work of a command; what cannot be used or had is one line and an exit status.

    Parameters
    ----------
    work : callable
        Returns the exit status.
    arguments : str
        Names of settings that are no options: ``data="DATA"``.
    """
    messages = Console(stderr=True)
    try:
        return work()
    except (SettingError, RecordsError, OSError, ImportError) as error:
        say(messages, refusal(error, **arguments))
        return MISUSED
    except MemoryError as error:
        say(messages, out_of_memory(error))
        return MISUSED
    except Stopped as stopped:
        return stopped.status
    except KeyboardInterrupt:
        say(messages, "Stopped before anything was run.")
        return INTERRUPTED


def failures(records: Sequence[Record]) -> str:
    """Say how many fits failed, and how the first of them did; empty where none did."""
    failed = [record for record in records if "failure" in record]
    if not failed:
        return ""
    first = failed[0]
    return (
        f"{len(failed)} of {len(records)} fits failed, the first of them {first['label']} on "
        f"{first['data']}: {first['failure']}"
    )


class WorkLeft:
    """Count work in seconds: measured where like tasks have been done, expected elsewhere.

    Methods differ a hundredfold in speed, so each task still to run counts with the mean time of
    its own method on its own data; where none is known, with the time that it expects itself,
    scaled by how long other tasks took of what they expected.

    Parameters
    ----------
    tasks : sequence of Task
        The tasks to run.
    jobs : int
        How many run at a time.
    """

    def __init__(self, tasks: Sequence[Task], jobs: int) -> None:
        self._left = {task.key: task for task in tasks}
        self._jobs = jobs
        self._seen: dict[tuple[str, str], list[float]] = defaultdict(list)
        # A second of either, so that the first short fit does not upset all.
        self._taken, self._expected = 1.0, 1.0
        self._done, self._share = 0.0, 0.0
        self._last = time.monotonic()

    def finished(self, record: Record) -> None:
        """Take one finished task into account."""
        self._last = time.monotonic()
        task = self._left.pop(record["key"], None)
        self._seen[record["method"], record["data"]].append(record["seconds"])
        self._done += record["seconds"]
        if task is not None:
            self._taken += record["seconds"]
            self._expected += _expected(task)

    def _seconds_of(self, task: Task) -> float:
        seen = self._seen.get((task.method, task.data))
        if seen:
            return sum(seen) / len(seen)
        return _expected(task) * self._taken / self._expected

    def _running(self) -> float:
        """Return how much of the tasks that are being done may be done: never quite all of it."""
        since = time.monotonic() - self._last
        oldest = islice(self._left.values(), self._jobs)
        return sum(min(since, 0.9 * self._seconds_of(task)) for task in oldest)

    @property
    def seconds(self) -> float | None:
        """Estimated seconds left; None before the first task is finished."""
        if not self._seen and self._left:
            return None
        left = sum(map(self._seconds_of, self._left.values())) - self._running()
        return left / min(self._jobs, max(len(self._left), 1))

    @property
    def share(self) -> float:
        """How much of the work is done, from 0 to 1; it never goes back."""
        left = sum(map(self._seconds_of, self._left.values()))
        done = self._done + self._running()
        self._share = max(self._share, done / (self._done + left) if left else 1.0)
        return self._share


def _expected(task: Task) -> float:
    return 1.0 if task.expected_seconds is None else task.expected_seconds


class LiveProgress(Progress):
    """A progress bar by work done, with the estimated time left, that moves while fits go on.

    Parameters
    ----------
    console : Console
        Where to show it.
    jobs : int
        How many tasks run at a time.
    verb : str
        What is being done.
    """

    def __init__(self, console: Console, jobs: int, verb: str = "Comparing") -> None:
        super().__init__(
            TextColumn(verb),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[fits]}"),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
            TextColumn("[dim]{task.fields[last]}"),
            console=console,
            disable=not console.is_terminal,
        )
        self.known = self._total = self._finished = 0
        self._jobs = jobs
        self._work = WorkLeft([], jobs)
        self._plain = Lines(console, verb)
        self._over = Event()
        self._task = self.add_task("", total=1.0, left="", last="", fits="", start=False)

    def stop(self) -> None:
        """Leave the bar as it stands."""
        self._over.set()
        self.update(self._task, last="", left="")
        super().stop()

    def begin(self, tasks: Sequence[Task], missing: Sequence[Task]) -> None:
        """Show how many tasks there are and how many are known already; compile what they need."""
        self.known = self._finished = len(tasks) - len(missing)
        self._total = len(tasks)
        for task in {task.method: task for task in missing}.values():
            task.warm_up()
        self._work = WorkLeft(missing, self._jobs)
        self.start_task(self._task)
        self._show()
        # A long fit must not look like a hang.
        Thread(target=self._keep_showing, daemon=True).start()

    def count(self, record: Record) -> None:
        """Show one more finished task."""
        self._work.finished(record)
        self._finished += 1
        self.update(self._task, last=f"{record['label']} on {record['data']}")
        self._show()

    def _keep_showing(self) -> None:
        while not self._over.wait(1.0):
            self._show()

    def _show(self) -> None:
        share, left = self._work.share, self._work.seconds
        fits = f"{self._finished} of {self._total}"
        text = f"about {duration(left)} left" if left else ""
        self.update(self._task, completed=share, fits=fits, left=text)
        # Before the first task is finished, the share is no more than what was expected of it.
        known = None if left is None else share
        self._plain.tell(known, f"{fits}, {text or 'the time left is not known yet'}")


def duration(seconds: float) -> str:
    """Say a time in words."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"
