"""``bblr compare`` from end to end: repeated cross-validation on clean and on noisy data."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from joblib import cpu_count
from rich.console import Console

from bblr._settings import SettingError, check_writable
from bblr.comparison.cells import CLEAN, PLACES, Cell, Condition
from bblr.comparison.methods import FOLDS, REPEATS, Method, select_methods
from bblr.comparison.records import Record, RecordsError, read_records
from bblr.comparison.report import print_summary, write_report
from bblr.comparison.session import (
    DONE,
    FAILED,
    MISUSED,
    Stopped,
    check_least,
    refusal,
    run_session,
    say,
)
from bblr.comparison.sources import EMBEDDED, Table, load_table
from bblr.comparison.summary import summarise
from bblr.comparison.tasks import run_tasks

__all__ = ["CompareJob", "Comparison", "run_compare"]


@dataclass(frozen=True)
class Comparison:
    """Methods on data sets under conditions, by repeated stratified cross-validation.

    Noise enters the training part of a fold before features are scaled, and each method chooses
    its hyper-parameters inside that part, so the test part stays unseen. All methods get the
    same folds and the same noise.

    Parameters
    ----------
    tables : tuple of Table
        The data sets.
    methods : tuple of Method
        The classifiers.
    conditions : tuple of Condition, default=(CLEAN,)
        How the data are spoilt.
    repeats : int
        How often the cross-validation is repeated with other folds and other noise.
    folds : int, default=5
        Folds of each cross-validation.
    seed : int, default=0
        Decides folds, noise and whatever is random in a method.

    Raises
    ------
    SettingError
        If a setting cannot be used.
    """

    tables: tuple[Table, ...]
    methods: tuple[Method, ...]
    conditions: tuple[Condition, ...] = (CLEAN,)
    repeats: int = REPEATS
    folds: int = FOLDS
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the settings."""
        check_least(repeats=(self.repeats, 1), folds=(self.folds, 2), seed=(self.seed, 0))
        for condition in self.conditions:
            if not 0 <= condition.noise < 1:
                raise SettingError(
                    "noise", f"must be at least 0 and below 1, got {condition.noise:g}"
                )
        uniform = next((c for c in self.conditions if "uniform" in str(c.protocol)), None)
        for table in self.tables:
            if table.sparse and uniform is not None:
                raise SettingError(
                    "protocol",
                    f"{uniform.protocol!r} would fill the sparse features of {table.name!r}; "
                    "choose label-flip, or clean data only by a noise of 0",
                )
            self._check_sizes(table)

    def _check_sizes(self, table: Table) -> None:
        """Every fold needs a row of each class."""
        counts = np.bincount(table.y)
        smallest = int(np.argmin(counts))
        name, rows = table.classes[smallest], int(counts[smallest])
        if rows == 1:
            raise SettingError(
                "data",
                f"cannot be used: class {name!r} of {table.name!r} has a single row, and "
                "cross-validation needs one to train on and another to test on; correct its "
                "label if it is misspelt, or remove the row",
            )
        if rows < self.folds:
            raise SettingError(
                "folds",
                f"must be at most {rows} for {table.name!r}: its class {name!r} has only {rows} "
                f"rows, got {self.folds}",
            )

    def cells(self) -> list[Cell]:
        """All cells; those of one fold stand together, so a part of them is a fair sample."""
        return [
            Cell.of(
                table,
                method,
                condition,
                repeat=repeat,
                fold=fold,
                folds=self.folds,
                seed=self.seed,
            )
            for repeat, fold, table, condition, method in product(
                range(self.repeats), range(self.folds), self.tables, self.conditions, self.methods
            )
        ]

    def run(
        self,
        records: str | os.PathLike[str],
        *,
        jobs: int = 1,
        on_start: Callable[[list[Cell], list[Cell]], None] | None = None,
        on_record: Callable[[Record], None] | None = None,
    ) -> list[Record]:
        """Run every cell that the records file does not hold yet.

        Parameters
        ----------
        records : path-like
            File to which each cell's record is appended as soon as it is finished. A cell that
            stands there with a result is not run again; one that failed is tried again.
        jobs : int, default=1
            Cells to run at the same time, in processes; the results do not depend on it.
        on_start : callable or None
            Called with all cells and with those still to run.
        on_record : callable or None
            Called with each new record after it has been written.

        Returns
        -------
        list of dict
            The records of all cells, in the order of :meth:`cells`.
        """
        return run_tasks(self.cells(), records, jobs=jobs, on_start=on_start, on_record=on_record)


@dataclass(frozen=True)
class CompareJob:
    """The settings of ``bblr compare``, as they were typed.

    See ``bblr compare --help`` for what each of them means.
    """

    data: str | None
    target: str | None
    methods: str | None
    noise: float
    protocol: str
    noise_in: str
    repeats: int
    folds: int
    jobs: int | None
    seed: int
    out: Path
    records: Path | None
    drop: tuple[str, ...] = ()

    @property
    def records_path(self) -> Path:
        """Where the records go: beside the report unless stated."""
        return self.records if self.records is not None else self.out.with_suffix(".jsonl")

    @property
    def workers(self) -> int:
        """Processes to use: all cores unless stated."""
        return cpu_count() if self.jobs is None else self.jobs

    def comparison(self) -> Comparison:
        """Check every setting and load the data; nothing is written."""
        try:
            methods = select_methods(None if self.methods is None else self.methods.split(","))
        except ValueError as error:
            raise SettingError("methods", f"cannot be used: {error}") from None
        check_least(jobs=(self.jobs, 1))
        for setting in ("target", "drop"):
            if self.data is None and getattr(self, setting):
                raise SettingError(setting, "only goes with a DATA file; name one or leave it out")
        conditions = self._conditions()
        check_writable("out", self.out, (".html", ".htm"))
        check_writable("records", self.records_path, (".jsonl",))
        read_records(self.records_path)  # a file that holds something else is refused here
        names = EMBEDDED if self.data is None else (self.data,)
        tables = tuple(load_table(name, self.target, self.drop) for name in names)
        return Comparison(
            tables, self._able(methods, tables), conditions, self.repeats, self.folds, self.seed
        )

    def _able(self, methods: tuple[Method, ...], tables: tuple[Table, ...]) -> tuple[Method, ...]:
        """Return the methods that can take the classes; it is an error if others were named."""
        most = max(tables, key=lambda table: len(table.classes))
        unable = [method.name for method in methods if len(most.classes) > 2 and not method.many]
        if unable and self.methods is not None:
            raise SettingError(
                "methods",
                f"cannot be used: {', '.join(unable)} takes two classes and {most.name!r} has "
                f"{len(most.classes)}; leave it out",
            )
        return tuple(method for method in methods if method.name not in unable)

    def _conditions(self) -> tuple[Condition, ...]:
        from bblr.evaluation import NOISE_PROTOCOLS

        if not 0 <= self.noise < 1:
            raise SettingError("noise", f"must be at least 0 and below 1, got {self.noise:g}")
        if self.protocol not in NOISE_PROTOCOLS:
            raise SettingError(
                "protocol",
                f"{self.protocol!r} is unknown; choose from {', '.join(NOISE_PROTOCOLS)}",
            )
        place = next((place for place in PLACES if place == self.noise_in), None)
        if place is None:
            raise SettingError(
                "noise_in", f"{self.noise_in!r} is unknown; choose from {', '.join(PLACES)}"
            )
        return (CLEAN, Condition(self.noise, self.protocol, place)) if self.noise else (CLEAN,)


def run_compare(job: CompareJob) -> int:
    """Carry out ``bblr compare``.

    Returns
    -------
    int
        Exit status: 0 done, 1 some cells failed, 2 a setting cannot be used, 130 interrupted.
    """
    messages = Console(stderr=True)
    try:
        comparison = job.comparison()
    except SettingError as error:
        say(messages, refusal(error, data="DATA"))
        return MISUSED
    except RecordsError as error:
        say(messages, f"Error: --records cannot be used: {error}")
        return MISUSED
    for note in (note for table in comparison.tables for note in table.notes):
        say(messages, f"Note: {note}")
    try:
        records = run_session(
            comparison.cells(),
            job.records_path,
            jobs=job.workers,
            messages=messages,
            verb="Comparing",
        )
    except Stopped as stopped:
        return stopped.status
    return _show(job, records, messages)


def _show(job: CompareJob, records: list[Record], messages: Console) -> int:
    summary, results = summarise(records), Console()
    print_summary(summary, results)
    write_report(records, job.out)
    say(results, f"Report: {job.out}")
    if not summary.failures:
        return DONE
    first = summary.failures[0]
    say(
        messages,
        f"{len(summary.failures)} of {len(records)} fits failed, the first of them "
        f"{first['label']} on {first['data']}: {first['failure']}",
    )
    return FAILED
