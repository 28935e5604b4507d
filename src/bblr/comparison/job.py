"""The main job from end to end: check the settings, run, show, report."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from joblib import cpu_count
from rich.console import Console

from bblr.comparison.compare import Comparison
from bblr.comparison.methods import Method, select_methods
from bblr.comparison.records import Record, RecordsError, read_records
from bblr.comparison.report import write_report
from bblr.comparison.session import DONE, FAILED, MISUSED, Stopped, run_session, say
from bblr.comparison.settings import CLEAN, PLACES, Condition, SettingError
from bblr.comparison.sources import EMBEDDED, Table, load_table
from bblr.comparison.summary import summarise
from bblr.comparison.terminal import print_summary

__all__ = ["CompareJob", "run_compare"]


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
        if self.jobs is not None and self.jobs < 1:
            raise SettingError("jobs", f"must be at least 1, got {self.jobs}")
        if self.data is None and self.target is not None:
            raise SettingError("target", "only goes with a DATA file; name one or leave it out")
        if self.data is None and self.drop:
            raise SettingError("drop", "only goes with a DATA file; name one or leave it out")
        conditions = self._conditions()
        _check_writable("out", self.out, (".html", ".htm"))
        _check_writable("records", self.records_path, (".jsonl",))
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


def _check_writable(setting: str, path: Path, suffixes: tuple[str, ...]) -> None:
    if path.suffix.lower() not in suffixes:
        raise SettingError(setting, f"must name a {suffixes[0]} file, got {str(path)!r}")
    folder = path.parent
    if not folder.is_dir():
        raise SettingError(setting, f"needs a folder that exists; create {str(folder)!r} first")
    if path.is_dir() or not os.access(path if path.exists() else folder, os.W_OK):
        raise SettingError(setting, f"{str(path)!r} cannot be written; choose another place")


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
        say(messages, f"Error: {_option(error.setting)} {error.problem}")
        return MISUSED
    except RecordsError as error:
        say(messages, f"Error: --records cannot be used: {error}")
        return MISUSED
    for note in (note for table in comparison.tables for note in table.notes):
        say(messages, f"Note: {note}")
    try:
        records = run_session(
            comparison.fits(),
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


def _option(setting: str) -> str:
    """Turn a parameter's name into the one on the command line."""
    return "DATA" if setting == "data" else "--" + setting.replace("_", "-")
