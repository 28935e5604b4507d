"""The paper's table of joint decisions: a local classifier alone, and inside the joint model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from bblr.comparison.records import Record
from research.paper.exhibit import Exhibit, Given
from research.paper.fits import finished, shortfall, significance
from research.paper.results import Entry, FigureResult, Significance, TableResult
from research.paper.work import Work
from research.studies.structured import (
    Condition,
    Source,
    cut,
    division,
    joint_model,
    load_source,
)

__all__ = ["Decide", "JointTable"]

WAYS = ("alone", "joint")
_RIVAL = "LR"


@lru_cache(maxsize=4)
def _source(name: str, seed: int, outliers: float) -> Source:
    return load_source(name, seed, Condition(outliers), download=False)


@dataclass(frozen=True, kw_only=True)
class Decide(Work):
    """One fold of one set of groups, with one local classifier."""

    outliers: float
    repeat: int
    fold: int
    folds: int

    def work(self) -> Record:
        """Fit on the other folds and decide this one, alone and jointly."""
        seed = self.seed + self.repeat
        source = _source(self.data, seed, self.outliers)
        tested = division(len(source.groups), self.folds, seed) == self.fold
        train, test = cut(source, tested)
        model = joint_model(self.method, self.seed).fit(train)
        numbers = np.flatnonzero(tested)
        found: Record = {"n_groups": len(test), "n_members": sum(map(len, test))}
        decided = {"alone": model.predict_independent(test), "joint": model.predict(test)}
        for way in WAYS:
            wrong = [np.sum(a != g.labels) for a, g in zip(decided[way], test, strict=True)]
            found[f"{way} errors"] = int(sum(wrong))
            found[f"{way} wrong"] = numbers[np.flatnonzero(wrong)].tolist()
        return found


@dataclass(frozen=True, kw_only=True)
class JointTable(Exhibit):
    """Accuracy of decisions alone and joint.

    Parameters
    ----------
    data : tuple of str
        Names of the sets of groups, the rows.
    locals_ : tuple of str
        Names of local classifiers; each makes two columns.
    outliers : dict of str to float
        Share of far outliers by set; 0 where it has none.
    repeats : tuple of int
        Quick and full.
    folds : int
        Folds by group.
    printed : dict of str to tuple
        The paper's accuracies by set, in the order of the columns.
    remarks : dict of str to str
        Why figures differ, by set.
    """

    data: tuple[str, ...]
    locals_: tuple[str, ...]
    outliers: Mapping[str, float] = field(default_factory=dict)
    repeats: tuple[int, int] = (1, 3)
    folds: int = 5
    printed: Mapping[str, tuple[float | None, ...]] = field(default_factory=dict)
    remarks: Mapping[str, str] = field(default_factory=dict)

    @property
    def needs(self) -> tuple[str, ...]:
        """Names of the data it uses."""
        return self.data

    def figure(self, data: str, local: str, way: str) -> float | None:
        """Return the accuracy that the paper prints, if it prints one."""
        place = len(WAYS) * self.locals_.index(local) + WAYS.index(way)
        figures = self.printed.get(data, ())
        return figures[place] if place < len(figures) else None

    def tasks(self, given: Given) -> list[Decide]:
        """Return a task for each set, local classifier and fold."""
        return [
            task
            for data in self.data
            for local in self.locals_
            for task in self._tasks(given, data, local)
        ]

    def _tasks(self, given: Given, data: str, local: str) -> list[Decide]:
        if data not in given.fingerprints:
            return []
        return [
            Decide(
                data=data,
                fingerprint=given.fingerprints[data],
                method=local,
                seed=given.seed,
                library=given.library,
                outliers=self.outliers.get(data, 0.0),
                repeat=repeat,
                fold=fold,
                folds=self.folds,
            )
            for repeat in range(self.repeats[given.level == "full"])
            for fold in range(self.folds)
        ]

    def results(
        self, given: Given, records: Mapping[str, Record]
    ) -> list[TableResult | FigureResult]:
        """Show the accuracies."""
        labels = tuple(
            f"{given.library.method(local).label} {way}" for local in self.locals_ for way in WAYS
        )
        entries = [entry for data in self.data for entry in self._row(given, records, data)]
        repeats = self.repeats[given.level == "full"]
        times = f", {repeats} times with other folds and other pages" if repeats > 1 else ""
        return [
            TableResult(
                name=self.name,
                title=self.title,
                about=self.about,
                reading=f"{self.reading} Run here: {self.folds} folds by group{times}.",
                unit="candidates decided right, %",
                digits=1,
                better="higher",
                rows=tuple(given.library.title(data) for data in self.data),
                columns=labels,
                entries=tuple(entries),
                notes=self.notes,
            )
        ]

    def _remark(self, given: Given, records: Mapping[str, Record], data: str, local: str) -> str:
        missing = given.missing.get(data, "")
        short = shortfall(self._tasks(given, data, local), records)
        return missing or short or self.remarks.get(data, "")

    def _row(self, given: Given, records: Mapping[str, Record], data: str) -> list[Entry]:
        found = {local: finished(self._tasks(given, data, local), records)
                 for local in self.locals_}  # fmt: skip
        entries: list[Entry] = []
        for local in self.locals_:
            for way in WAYS:
                entries.append(
                    Entry(
                        row=given.library.title(data),
                        column=f"{given.library.method(local).label} {way}",
                        printed=self.figure(data, local, way),
                        ours=_accuracy(found[local], way),
                        tests=_tests(found, local, way, given),
                        remark=self._remark(given, records, data, local),
                    )
                )
        return entries


def _accuracy(records: Sequence[Record], way: str) -> float | None:
    if not records:
        return None
    wrong = sum(record[f"{way} errors"] for record in records)
    return 100.0 * (1.0 - wrong / sum(record["n_members"] for record in records))


def _tests(
    found: Mapping[str, list[Record]], local: str, way: str, given: Given
) -> tuple[Significance, ...]:
    """Test over groups decided right throughout: members of a group hang together."""

    def of(name: str, kind: str) -> list[Record]:
        return [{**r, "wrong": r[f"{kind} wrong"]} for r in found.get(name, [])]

    tests = []
    if local != _RIVAL:
        rival = given.library.method(_RIVAL).label
        tests.append(significance(rival, of(local, way), of(_RIVAL, way)))
    if way == "joint":
        tests.append(significance("alone", of(local, way), of(local, "alone")))
    return tuple(test for test in tests if test is not None)
