"""``bblr reproduce`` from end to end: check the settings, run, show, report."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from joblib import cpu_count
from rich.console import Console
from rich.text import Text

from bblr._atomic import whole_file
from bblr._settings import SettingError
from bblr.comparison.records import Record, RecordsError, read_records
from bblr.comparison.session import (
    DONE,
    FAILED,
    INTERRUPTED,
    MISUSED,
    Stopped,
    run_session,
    say,
)
from research.paper.exhibit import Exhibit, Level
from research.paper.library import Library
from research.paper.plan import Plan, make_plan
from research.paper.registry import select
from research.paper.terminal import print_findings, print_list, print_table

__all__ = ["ReproduceJob", "run_reproduce"]

# With so many exhibits or fewer, their tables are printed.
_FEW = 3
_LARGEST_SEED = 2**31 - 1


@dataclass(frozen=True)
class ReproduceJob:
    """The settings of ``bblr reproduce``, as they were typed.

    See ``bblr reproduce --help`` for what each of them means.
    """

    names: tuple[str, ...]
    level: Level
    list_only: bool
    jobs: int | None
    seed: int
    out: Path
    files: tuple[Path, ...]
    download: bool

    @property
    def records_path(self) -> Path:
        """Where the records go."""
        return self.out / "records.jsonl"

    @property
    def workers(self) -> int:
        """Processes to use: all cores unless stated."""
        return cpu_count() if self.jobs is None else self.jobs

    @property
    def library(self) -> Library:
        """Where data and methods are looked up."""
        files = (str(path.expanduser().absolute()) for path in self.files)
        return Library(tuple(dict.fromkeys(files)))

    def chosen(self) -> list[Exhibit]:
        """Check every setting and look the exhibits up; nothing is written."""
        exhibits = select(self.names)
        for setting, least in {"jobs": 1, "seed": 0}.items():
            value = getattr(self, setting)
            if value is not None and value < least:
                raise SettingError(setting, f"must be at least {least}, got {value}")
        if self.seed > _LARGEST_SEED:
            raise SettingError("seed", f"must be at most {_LARGEST_SEED}, got {self.seed}")
        self.library.check()
        if not self.list_only:
            self._check_out()
        return exhibits

    def _check_out(self) -> None:
        if self.out.exists() and not self.out.is_dir():
            raise SettingError("out", f"must name a folder, and {str(self.out)!r} is a file")
        parent = self.out if self.out.exists() else self.out.absolute().parent
        if not parent.is_dir():
            raise SettingError("out", f"needs a folder that exists; create {str(parent)!r} first")
        if not os.access(parent, os.W_OK):
            raise SettingError("out", f"{str(parent)!r} cannot be written; choose another place")
        read_records(self.records_path)  # a file that holds something else is refused here


def run_reproduce(job: ReproduceJob) -> int:
    """Carry out ``bblr reproduce``.

    Returns
    -------
    int
        Exit status: 0 done, though data may have been missing; 1 some fits failed; 2 a setting
        cannot be used; 130 interrupted.
    """
    messages, console = Console(stderr=True), Console()
    try:
        exhibits = job.chosen()
        if job.list_only:
            print_list(exhibits, console)
            return DONE
        plan = _planned(job, exhibits, messages)
    except SettingError as error:
        say(messages, f"Error: {_option(error.setting)} {error.problem}")
        return MISUSED
    except RecordsError as error:
        say(messages, f"Error: {error}")
        return MISUSED
    except KeyboardInterrupt:
        say(messages, "Stopped while loading the data; nothing was run.")
        return INTERRUPTED
    try:
        job.out.mkdir(exist_ok=True)
        records = run_session(
            list(plan.tasks.values()),
            job.records_path,
            jobs=job.workers,
            messages=messages,
            verb="Reproducing",
            guess=plan.guess,
        )
        return _show(job, plan, records, messages, console)
    except Stopped as stopped:
        return stopped.status
    except OSError as error:
        say(messages, f"Error: {error}; what was run stands in {job.records_path}.")
        return FAILED


def _planned(job: ReproduceJob, exhibits: Sequence[Exhibit], messages: Console) -> Plan:
    with messages.status("Loading data") as status:
        plan = make_plan(
            exhibits,
            job.level,
            job.seed,
            job.library,
            known=read_records(job.records_path),
            download=job.download,
            report=lambda title: status.update(Text(f"Loading {title}")),
        )
    for name, why in plan.given.missing.items():
        say(messages, f"Left out: {job.library.title(name)}: {why}")
    if set(plan.given.missing) - set(job.library.added_sources) and not job.download:
        say(messages, "--download fetches what has a public address.")
    return plan


def _show(
    job: ReproduceJob, plan: Plan, records: list[Record], messages: Console, console: Console
) -> int:
    from research.paper.report import render_markdown, write_report

    found = plan.reproduction(records)
    write_report(job.out / "report.html", found)
    with whole_file(job.out / "tables.md") as file:
        file.write(render_markdown(found).encode())
    # Files first: a terminal that cannot show a sign must not cost the report.
    if len(plan.exhibits) <= _FEW:
        for result in found.results:
            print_table(result, console)
    print_findings(found.findings, console)
    say(console, f"Report: {job.out / 'report.html'}")
    failures = found.failures
    if not failures:
        return DONE
    say(messages, f"{len(failures)} of {len(records)} fits failed, the first: {failures[0]}")
    return FAILED


def _option(setting: str) -> str:
    return "NAME" if setting == "name" else "--" + setting.replace("_", "-")
