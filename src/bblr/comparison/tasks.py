"""Tasks: carried out in parallel, each recorded as soon as it is done and never done twice."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from functools import cache, cached_property, partial
from importlib.metadata import version
from platform import python_version
from typing import Any, TypeVar

from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from bblr._numeric.threads import end_with
from bblr._version import __version__
from bblr.comparison.records import Record, RecordsFile, read_records

__all__ = ["Task", "is_result", "recorded", "run_tasks", "versions"]

_MOST_WARNINGS = 5


@dataclass(frozen=True, kw_only=True)
class Task(ABC):
    """A piece of work that another process can do, and whose record is never made twice.

    A subclass adds fields for what else decides the result, and :meth:`work`. Fields with
    ``compare=False`` decide nothing.

    Parameters
    ----------
    data, method : str
        What is fitted to what; tasks that share both take about as long.
    seed : int, default=0
        Decides folds, noise and whatever is random in a method.
    expected_seconds : float or None
        How long it may take, where that is known before.
    """

    data: str
    method: str
    seed: int = 0
    expected_seconds: float | None = field(default=None, compare=False)

    @property
    def settings(self) -> Record:
        """Everything that decides the result, but for versions."""
        found: Record = {"kind": type(self).__name__}
        for one in fields(self):
            if one.compare:
                value: Any = getattr(self, one.name)
                plain = not is_dataclass(value) or isinstance(value, type)
                found[one.name] = value if plain else asdict(value)
        return found

    @property
    def versions(self) -> Any:
        """What of the software the key holds: the library, and what its numbers come from."""
        found = versions()
        return {name: found[name] for name in ("bblr", "numpy", "scipy", "scikit-learn")}

    @cached_property
    def key(self) -> str:
        """A hash of the settings and of the software that carries them out."""
        settings = {**self.settings, "bblr": self.versions}
        return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:20]

    @property
    def label(self) -> str:
        """What progress and tables show for the method."""
        return self.method

    def warm_up(self) -> None:  # noqa: B027
        """Compile what the work needs, if it needs any; other processes find it in the cache."""

    def run(self) -> Record:
        """Do the work in one thread and record it; an error is a result too."""
        return recorded({"key": self.key, **self.settings, "label": self.label}, self.work)

    @abstractmethod
    def work(self) -> Record:
        """Work the results out, as JSON values."""


AnyTask = TypeVar("AnyTask", bound=Task)


def run_tasks(
    tasks: Sequence[AnyTask],
    records: str | os.PathLike[str],
    *,
    jobs: int = 1,
    on_start: Callable[[list[AnyTask], list[AnyTask]], None] | None = None,
    on_record: Callable[[Record], None] | None = None,
) -> list[Record]:
    """Run every task that the records file does not hold yet.

    Parameters
    ----------
    tasks : sequence of Task
        What to do.
    records : path-like
        File to which each record is appended as soon as it is there. A task that stands there
        with a result is not run again; one that failed is tried again.
    jobs : int, default=1
        Tasks to run at the same time, in processes; the results do not depend on it.
    on_start : callable or None
        Called with all tasks and with those still to run.
    on_record : callable or None
        Called with each new record after it has been written.

    Returns
    -------
    list of dict
        The records of all tasks, in their order.
    """
    known = read_records(records)
    tasks = list(tasks)
    missing = [task for task in tasks if not is_result(known.get(task.key))]
    if on_start is not None:
        on_start(tasks, missing)
    if missing:
        with RecordsFile(records) as file:
            for record in _execute(missing, jobs):
                file.append(record)
                known[record["key"]] = record
                if on_record is not None:
                    on_record(record)
    return [known[task.key] for task in tasks]


def is_result(record: Record | None) -> bool:
    """Say whether a record holds a result rather than a failure or nothing."""
    return record is not None and "failure" not in record and "seconds" in record


def _execute(tasks: Sequence[Task], jobs: int) -> Iterator[Record]:
    if jobs == 1:
        yield from (task.run() for task in tasks)
        return
    # Single-task batches: an interruption then loses only the tasks in flight.
    parallel = Parallel(
        n_jobs=jobs,
        backend="loky",
        return_as="generator_unordered",
        batch_size=1,
        initializer=_settled(os.getpid()),
    )
    yield from parallel(delayed(_run)(task) for task in tasks)


def _run(task: Task) -> Record:
    return task.run()


@cache
def _settled(parent: int) -> Callable[[], None]:
    """Return how workers begin: one function, or joblib would not take the same ones again."""
    return partial(_settle, parent)


def _settle(parent: int) -> None:
    """Leave Ctrl-C to the parent, as workers that caught it too would print tracebacks."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with(parent)


def recorded(settings: Record, work: Callable[[], Record]) -> Record:
    """Do some work in one thread and join its results, or its failure, to the settings.

    Parameters
    ----------
    settings : dict
        What the result depends on, with its ``key``.
    work : callable
        Returns the results. Its ``seconds`` are kept if it has any, else the whole is timed.
    """
    record: Record = {**settings, "versions": versions()}
    started = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught, _single_threaded():
        warnings.simplefilter("always")
        try:
            found = work()
            record["seconds"] = time.perf_counter() - started
            record.update(found)
        except (Exception, SystemExit) as error:  # one cell's failure must not lose the others
            message = f"{type(error).__name__}: {' '.join(str(error).split())}"
            record["failure"] = message.encode("utf-8", "backslashreplace").decode()
            record["seconds"] = time.perf_counter() - started
    messages = dict.fromkeys(f"{w.category.__name__}: {w.message}" for w in caught)
    record["warnings"] = list(messages)[:_MOST_WARNINGS]
    return record


@contextmanager
def _single_threaded() -> Iterator[None]:
    """Parallel cells must not fight for cores, nor may their number change a result."""
    import numba

    before = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        with threadpool_limits(1):
            yield
    finally:
        numba.set_num_threads(before)


@cache
def versions() -> dict[str, str]:
    """Versions of everything a result depends on."""
    packages = ("numpy", "scipy", "scikit-learn", "numba")
    others = {package: version(package) for package in packages}
    return {"bblr": __version__, "python": python_version(), **others}
