"""The paper's other tables: sizes of data, pooled tests, and joint decisions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import sqrt
from typing import Any

import numpy as np

from bblr.comparison.records import Record
from bblr.comparison.summary import Versus
from research.paper.exhibit import Entry, Given, Result
from research.paper.fits import (
    PaperFit,
    Work,
    compare_wrong,
    finished,
    fits,
    shortfall,
    significance,
)
from research.paper.table import Printed, Reading
from research.studies.structured import WAYS, Decide

__all__ = ["COUNTS", "Describe", "Details", "JointTable", "PooledTests"]

COUNTS: dict[str, Callable[[Any, Any], float]] = {
    "Examples": lambda X, y: len(y),
    "Dimensions": lambda X, y: X.shape[1],
    "Non-zeros, %": lambda X, y: 100.0 * _non_zeros(X) / (X.shape[0] * X.shape[1]),
    "Positive : negative": lambda X, y: float(np.sum(y == 1) / np.sum(y == 0)),
}


def _non_zeros(X: Any) -> int:
    return int(np.count_nonzero(np.asarray(X.data) if hasattr(X, "indptr") else X))


@dataclass(frozen=True, kw_only=True)
class Describe(Work):
    """Count the rows and columns of a data set."""

    method: str = "counts"

    @property
    def label(self) -> str:
        """What progress shows."""
        return "counts"

    def work(self) -> Record:
        """Count."""
        table = self.table()
        return {"counts": {name: count(table.X, table.y) for name, count in COUNTS.items()}}


@dataclass(frozen=True, kw_only=True)
class Details(Printed):
    """How large data sets are: the columns are some of `COUNTS`; remarks are by data set."""

    columns: tuple[str, ...]
    remarks: Mapping[str, str] = field(default_factory=dict)

    def tasks(self, given: Given) -> list[Describe]:
        """Return one count a data set."""
        rows = (*self.data, *given.library.added_sources)
        return [Describe(data=d, **given.task(d)) for d in rows if d in given.fingerprints]

    def results(self, given: Given, records: Mapping[str, Record]) -> list[Result]:
        """Show the counts."""
        found = {task.data: records.get(task.key, {}) for task in self.tasks(given)}
        entries = [
            self._entry(given, found.get(data, {}), data, place, name)
            for data in (*self.data, *given.library.added_sources)
            for place, name in enumerate(self.columns)
        ]
        whole = {"Examples": 0, "Dimensions": 0}
        return [
            self.result(unit="counts", digits=2, better=None, column_digits=whole, entries=entries)
        ]

    def _entry(self, given: Given, record: Record, data: str, place: int, name: str) -> Entry:
        ours = record.get("counts", {}).get(name)
        remark = given.missing.get(data, record.get("failure", ""))
        title = given.library.title(data)
        entry = Entry(title, name, self.figure(data, place), ours, remark=remark)
        same = entry.difference is not None and abs(entry.difference) < 0.005
        return entry if same or remark else replace(entry, remark=self.remarks.get(data, ""))


@dataclass(frozen=True, kw_only=True)
class PooledTests(Printed):
    """z of one method against baselines, over all folds of several data sets.

    Parameters
    ----------
    method : str
        The method.
    baselines : tuple of str
        The columns.
    readings : tuple of Reading
        The rows, named by their parts.
    """

    method: str
    baselines: tuple[str, ...]
    readings: tuple[Reading, ...]

    def tasks(self, given: Given) -> list[PaperFit]:
        """Return the fits; other tables have the same ones."""
        return [
            task
            for reading in self.readings
            for method in (self.method, *self.baselines)
            for task in self._fits(given, reading, method)
        ]

    def _fits(self, given: Given, reading: Reading, method: str) -> list[PaperFit]:
        protocol = reading.at(given.level)
        known = [data for data in self.data if data in given.fingerprints and protocol]
        return [t for data in known if protocol
                for t in fits(protocol, data, method, **given.task(data))]  # fmt: skip

    def results(self, given: Given, records: Mapping[str, Record]) -> list[Result]:
        """Show z as the paper has it, and z with each row of the data counted once."""
        label = given.library.method
        heads = [f"{label(self.method).label} vs {label(name).label}" for name in self.baselines]
        entries = []
        for reading in self.readings:
            if reading.at(given.level) is None:
                continue
            tasks = {m: self._fits(given, reading, m) for m in (self.method, *self.baselines)}
            found = {method: finished(mine, records) for method, mine in tasks.items()}
            short = shortfall([task for mine in tasks.values() for task in mine], records)
            zs = [_z(found[self.method], found[name]) for name in self.baselines]
            once = [f"{head}, each row once" for head in heads]
            for place, (column, ours) in enumerate(
                zip([*heads, *once], [z for z, _ in zs] + [z for _, z in zs], strict=True)
            ):
                printed = self.figure(reading.part, place)
                entries.append(Entry(reading.part, column, printed, ours, remark=short))
        return [self.result(unit="z of McNemar's test", digits=2, better=None, entries=entries)]


def _z(mine: list[Record], theirs: list[Record]) -> tuple[float | None, float | None]:
    if not mine or not theirs:
        return None, None
    better, worse, repeats = compare_wrong(mine, theirs)
    z = (better - worse) / sqrt(better + worse) if better + worse else 0.0
    return z, z / sqrt(repeats)


_BASELINE = "LR"


@dataclass(frozen=True, kw_only=True)
class JointTable(Printed):
    """Accuracy of decisions alone and joint.

    Parameters
    ----------
    locals_ : tuple of str
        Names of local classifiers; each makes two columns.
    outliers : dict of str to float
        Share of far outliers by set; 0 where it has none.
    repeats : tuple of int
        Quick and full.
    folds : int
        Folds by group.
    remarks : dict of str to str
        Why figures differ, by set.
    """

    locals_: tuple[str, ...]
    outliers: Mapping[str, float] = field(default_factory=dict)
    repeats: tuple[int, int] = (1, 3)
    folds: int = 5
    remarks: Mapping[str, str] = field(default_factory=dict)

    def tasks(self, given: Given) -> list[Decide]:
        """Return a task for each set, local classifier and fold."""
        return [
            t for d in self.data for local in self.locals_ for t in self._tasks(given, d, local)
        ]

    def _tasks(self, given: Given, data: str, local: str) -> list[Decide]:
        if data not in given.fingerprints:
            return []
        others: dict[str, Any] = {
            "fingerprint": given.fingerprints[data],
            "outliers": self.outliers.get(data, 0.0),
            "folds": self.folds,
        }
        return [
            Decide(data=data, method=local, seed=given.seed, repeat=repeat, fold=fold, **others)
            for repeat in range(self.repeats[given.level == "full"])
            for fold in range(self.folds)
        ]

    def results(self, given: Given, records: Mapping[str, Record]) -> list[Result]:
        """Show the accuracies."""
        repeats = self.repeats[given.level == "full"]
        times = f", {repeats} times with other folds and other pages" if repeats > 1 else ""
        return [
            self.result(
                reading=f"{self.reading} Run here: {self.folds} folds by group{times}.",
                unit="candidates decided right, %",
                digits=1,
                better="higher",
                entries=[e for data in self.data for e in self._row(given, records, data)],
            )
        ]

    def _row(self, given: Given, records: Mapping[str, Record], data: str) -> list[Entry]:
        tasks = {local: self._tasks(given, data, local) for local in self.locals_}
        found = {local: finished(mine, records) for local, mine in tasks.items()}
        entries: list[Entry] = []
        for local in self.locals_:
            missing = given.missing.get(data) or shortfall(tasks[local], records)
            for way in WAYS:
                wrong = sum(record[f"{way} errors"] for record in found[local])
                members = sum(record["n_members"] for record in found[local])
                entries.append(
                    Entry(
                        given.library.title(data),
                        f"{given.library.method(local).label} {way}",
                        self.figure(data, len(entries)),
                        100.0 * (1.0 - wrong / members) if members else None,
                        _tests(found, local, way, given),
                        missing or self.remarks.get(data, ""),
                    )
                )
        return entries


def _tests(
    found: Mapping[str, Sequence[Record]], local: str, way: str, given: Given
) -> tuple[Versus, ...]:
    """Test over groups decided right throughout: members of a group depend on each other."""

    def of(name: str, kind: str) -> list[Record]:
        return [{**r, "wrong": r[f"{kind} wrong"]} for r in found.get(name, [])]

    tests = []
    if local != _BASELINE:
        label = given.library.method(_BASELINE).label
        tests.append(significance(label, of(local, way), of(_BASELINE, way)))
    if way == "joint":
        tests.append(significance("alone", of(local, way), of(local, "alone")))
    return tuple(test for test in tests if test is not None)
