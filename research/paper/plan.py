"""What a reproduction has to run, and with which data."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from bblr._settings import SettingError
from bblr.comparison.records import Record
from bblr.comparison.tasks import Task
from bblr.datasets._remote import DATA_HOME, default_home
from research.paper.exhibit import Exhibit, Given, Level
from research.paper.findings import findings
from research.paper.library import Library
from research.paper.results import FigureResult, Reproduction, TableResult

__all__ = ["Plan", "make_plan"]

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
    seconds : dict of str to float
        About how long each takes.
    """

    exhibits: tuple[Exhibit, ...]
    given: Given
    tasks: Mapping[str, Task]
    seconds: Mapping[str, float]

    def guess(self, task: Task) -> float:
        """Say about how long a task takes."""
        return self.seconds[task.key]

    def results(self, records: Sequence[Record]) -> list[TableResult | FigureResult]:
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
        Records at hand, by key: what they hold can be shown without the data.
    download : bool
        Whether to fetch data that are not at hand.
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
    seconds: dict[str, float] = {}
    for exhibit in exhibits:
        mine = {
            task.key: task
            for task in exhibit.tasks(given)
            if task.data not in absent or task.key in known
        }
        new = [key for key in mine if key not in tasks]
        each = 60.0 * _CORES * exhibit.minutes[level == "full"] / max(len(new), 1)
        seconds |= dict.fromkeys(new, each)
        tasks |= mine
    # Long tasks first: at the end no core then waits long for the last of them.
    order = sorted(tasks, key=lambda key: -seconds[key])
    return Plan(tuple(exhibits), given, {key: tasks[key] for key in order}, seconds)


def _anywhere(message: str) -> str:
    """Name the data folder as everybody does, so that a report does not tell where it was made."""
    home = Path(os.environ.get(DATA_HOME) or default_home()).expanduser()
    text = " ".join(message.split()).replace(str(home), f"${DATA_HOME}")
    return text.replace(" and download_if_missing is False", "")
