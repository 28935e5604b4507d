"""``bblr reproduce`` from end to end: check the settings, run, show, report."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from joblib import cpu_count
from rich.console import Console
from rich.text import Text

from bblr._settings import SettingError
from bblr.comparison.document import DASH, terminal_table
from bblr.comparison.records import Record, read_records
from bblr.comparison.session import (
    DONE,
    FAILED,
    check_least,
    duration,
    failures,
    run_session,
    say,
)
from bblr.comparison.tasks import Task
from bblr.datasets._remote import DATA_HOME, default_home
from research.core.thresholds import MET, MISSED, NOT_JUDGED
from research.paper.exhibit import Exhibit, Given, Level, Result, select
from research.paper.findings import findings
from research.paper.library import Library
from research.paper.report import Reproduction, document, matrix

__all__ = ["Plan", "make_plan", "run_reproduce"]

# The minutes that exhibits declare are those of so many cores.
_CORES = 2


@dataclass(frozen=True)
class Plan:
    """Exhibits, what they were given, and all their tasks, each once.

    Parameters
    ----------
    exhibits : tuple of Exhibit
        What to show.
    given : Given
        Level, seed, data and methods.
    tasks : dict of str to Task
        By key; those that take long first.
    """

    exhibits: tuple[Exhibit, ...]
    given: Given
    tasks: Mapping[str, Task]

    def results(self, records: Sequence[Record]) -> list[Result]:
        """Work out everything to show, from the records alone."""
        by_key = {record["key"]: record for record in records}
        return [
            result for exhibit in self.exhibits for result in exhibit.results(self.given, by_key)
        ]

    def reproduction(self, records: Sequence[Record]) -> Reproduction:
        """Gather all that a report tells."""
        results, given = self.results(records), self.given
        versions = {tuple(sorted(record["versions"].items())) for record in records}
        failed = [record for record in records if "failure" in record]
        return Reproduction(
            results,
            findings(results, given.level),
            given.level,
            given.seed,
            [dict(items) for items in sorted(versions)],
            {given.library.title(name): why for name, why in given.missing.items()},
            [f"{r['label']} on {r['data']}: {r['failure']}" for r in failed],
        )


def make_plan(
    exhibits: Sequence[Exhibit],
    level: Level,
    seed: int,
    library: Library,
    *,
    known: Mapping[str, Record] = MappingProxyType({}),
    download: bool = False,
    report: Callable[[str], None] = lambda title: None,
) -> Plan:
    """Load the data that can be had and list the tasks.

    Parameters
    ----------
    exhibits : sequence of Exhibit
        What to show.
    level : {"quick", "full"}
        How much to run.
    seed : int
        Decides folds, noise and whatever is random in a method.
    library : Library
        Where data and methods are looked up.
    known : dict of str to dict
        Records available, by key: what they hold can be shown without the data.
    download : bool
        Whether to fetch data that are not available.
    report : callable
        Called with the title of each data set before it is loaded.

    Raises
    ------
    SettingError
        If data of the user's files cannot be used.
    """
    names = dict.fromkeys(name for exhibit in exhibits for name in exhibit.needs)
    recorded = {r["data"]: r["fingerprint"] for r in known.values() if "fingerprint" in r}
    fingerprints, missing, absent, whole = {}, {}, set(), set()
    for name in (*names, *library.added_sources):
        report(library.title(name))
        try:
            table = library.table(name, download=download)
            fingerprints[name] = table.fingerprint
            if getattr(table, "test", None) is None:
                whole.add(name)
        except (OSError, ImportError) as error:
            absent.add(name)
            if name in recorded:
                fingerprints[name] = recorded[name]
            else:
                missing[name] = _anywhere(str(error))
        except Exception as error:
            if name not in library.added_sources:
                raise
            problem = " ".join(str(error).split())
            raise SettingError("with", f"the data {name!r} cannot be used: {problem}") from error
    given = Given(level, seed, fingerprints, missing, frozenset(whole), library)
    tasks: dict[str, Task] = {}
    for exhibit in exhibits:
        mine = {
            task.key: task
            for task in exhibit.tasks(given)
            if task.key not in tasks and (task.data not in absent or task.key in known)
        }
        each = 60.0 * _CORES * exhibit.minutes[level == "full"] / max(len(mine), 1)
        tasks |= {key: replace(task, expected_seconds=each) for key, task in mine.items()}
    # Long tasks first: at the end no core then waits long for the last of them.
    order = sorted(tasks.items(), key=lambda item: -(item[1].expected_seconds or 0.0))
    return Plan(tuple(exhibits), given, dict(order))


def _anywhere(message: str) -> str:
    """Name the data folder as everybody does, so that a report does not tell where it was made."""
    home = Path(os.environ.get(DATA_HOME) or default_home()).expanduser()
    text = " ".join(message.split()).replace(str(home), f"${DATA_HOME}")
    return text.replace(" and download_if_missing is False", "")


# With so many exhibits or fewer, their tables are printed.
_FEW = 3
_VERDICTS = {MET: "yes", MISSED: "NO", NOT_JUDGED: "not judged"}


def _check_folder(out: Path) -> None:
    if out.exists() and not out.is_dir():
        raise SettingError("out", f"must name a folder, and {str(out)!r} is a file")
    parent = out if out.exists() else out.absolute().parent
    if not parent.is_dir():
        raise SettingError("out", f"needs a folder that exists; create {str(parent)!r} first")
    if not os.access(parent, os.W_OK):
        raise SettingError("out", f"{str(parent)!r} cannot be written; choose another place")


def run_reproduce(
    names: Sequence[str],
    level: Level,
    list_only: bool,
    jobs: int | None,
    seed: int,
    out: Path,
    files: Sequence[Path],
    download: bool,
) -> int:
    """Carry out ``bblr reproduce``; see its help.

    Returns
    -------
    int
        Exit status: 0 done, though data may have been missing; 1 some fits failed.
    """
    messages, console = Console(stderr=True), Console()
    exhibits = select(names)
    check_least(jobs=(jobs, 1), seed=(seed, 0))
    library = Library(tuple(dict.fromkeys(str(p.expanduser().absolute()) for p in files)))
    library.check()
    if list_only:
        print_list(exhibits, console)
        return DONE
    _check_folder(out)
    path = out / "records.jsonl"
    known = read_records(path)
    with messages.status("Loading data") as status:
        plan = make_plan(
            exhibits,
            level,
            seed,
            library,
            known=known,
            download=download,
            report=lambda title: status.update(Text(f"Loading {title}")),
        )
    for name, why in plan.given.missing.items():
        say(messages, f"Left out: {library.title(name)}: {why}")
    if set(plan.given.missing) - set(library.added_sources) and not download:
        say(messages, "--download fetches what has a public address.")
    out.mkdir(exist_ok=True)
    tasks = list(plan.tasks.values())
    records = run_session(
        tasks, path, jobs=jobs or cpu_count(), messages=messages, verb="Reproducing"
    )
    _show(plan.reproduction(records), out, console, few=len(exhibits) <= _FEW)
    failed = failures(records)
    if failed:
        say(messages, failed)
    return FAILED if failed else DONE


def _show(found: Reproduction, out: Path, console: Console, *, few: bool) -> None:
    # Files first: a terminal that cannot show a sign must not cost the report.
    document(found).write(out / "report.html", out / "tables.md")
    if few:
        for result in found.results:
            print_result(result, console)
    for verdict in found.findings:
        say(console, f"{_VERDICTS[verdict.status]}: {verdict.name} {verdict.figure}")
        for row in verdict.notes:
            say(console, f"  {row}")
    say(console, f"Report: {out / 'report.html'}")


def print_list(exhibits: Sequence[Exhibit], console: Console) -> None:
    """Print what each exhibit is, what it needs and what it costs."""
    width = max(len(exhibit.name) for exhibit in exhibits)
    lines = [f"{'':{width}}  {'quick':>11}  {'full':>11}"]
    for exhibit in exhibits:
        lines.append(f"{exhibit.name:{width}}  {_costs(exhibit.minutes)}  {exhibit.title}")
        lines.append(f"{'':{width + 28}}data: {', '.join(exhibit.needs) or 'none'}")
    totals = [sum(exhibit.minutes[level] for exhibit in exhibits) for level in (0, 1)]
    lines.append(f"{'together':{width}}  {_costs(totals)}")
    lines.append("Times on two cores; fits that tables share are counted with the first of them.")
    say(console, "\n".join(lines))


def _costs(minutes: Sequence[float]) -> str:
    return "  ".join(f"{duration(60.0 * m) if m else DASH:>11}" for m in minutes)


def print_result(result: Result, console: Console) -> None:
    """Print a table with the printed figures in brackets; of a figure what it shows, in words."""
    if not result.is_table:
        console.print(result.title, style="bold", highlight=False, markup=False)
        for panel in result.panels:
            console.print(panel.text, highlight=False, markup=False)
        return
    part = f": {result.part}" if result.part else ""
    heading = f"{result.title}{part} (ours, printed in brackets)"
    console.print(heading, style="bold", highlight=False, markup=False)
    console.print(terminal_table(matrix(result)[0]))
