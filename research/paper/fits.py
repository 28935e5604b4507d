"""Tasks of the reproduction, how data are cut for them, and what the fits of a method come to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from bblr.comparison.cells import CLEAN, Condition, FoldTask
from bblr.comparison.records import Record
from bblr.comparison.summary import Versus, versus
from bblr.comparison.tasks import Task, is_result
from research.paper.library import Library

__all__ = [
    "METRICS", "PaperFit", "Protocol", "Work", "compare_wrong", "finished", "fits", "shortfall",
    "significance",
]  # fmt: skip


@dataclass(frozen=True)
class Protocol:
    """Stratified cross-validation, repeated with other folds and other noise.

    Parameters
    ----------
    repeats, folds : int
        How often, and into how many folds; one fold is all rows, for training and for test, and
        none the division that the data come with.
    condition : Condition
        How the data are spoilt.
    only : int or None
        Run only so many folds of each repeat; None for all.
    words : str
        The protocol in words, where it is no cross-validation.
    """

    repeats: int = 1
    folds: int = 5
    condition: Condition = CLEAN
    only: int | None = None
    words: str = ""

    @property
    def places(self) -> list[tuple[int, int]]:
        """Repeat and fold of each part."""
        folds = range(max(self.folds, 1))[: self.only]
        return [(repeat, fold) for repeat in range(self.repeats) for fold in folds]

    @property
    def label(self) -> str:
        """The protocol in words."""
        if self.words:
            return self.words
        times = f"{self.repeats} × " if self.repeats > 1 else ""
        some = "" if self.only is None else f" of which {self.only} folds, counts scaled to all"
        return f"{times}{self.folds}-fold cross-validation{some}, {self.condition.label}"


@dataclass(frozen=True, kw_only=True)
class Work(Task):
    """A task that finds data and method by name, in whatever process it runs.

    Parameters
    ----------
    fingerprint : str
        A hash of the contents of the data.
    library : Library
        Where data and methods are looked up.
    """

    fingerprint: str
    library: Library = field(compare=False)

    @cached_property
    def settings(self) -> Record:
        """Everything that decides the result; of a user's method also its file."""
        added = self.library.digest(self.method)
        return {**super().settings, **({"added": added} if added else {})}

    @property
    def label(self) -> str:
        """What tables show for the method."""
        return self.library.method(self.method).label

    def table(self) -> Any:
        """Load the data; they must be those that the task was made for."""
        table = self.library.table(self.data)
        if table.fingerprint != self.fingerprint:
            raise ValueError(
                f"{self.data!r} is not the same each time it is loaded; make it so by a fixed seed"
            )
        return table


@dataclass(frozen=True, kw_only=True)
class PaperFit(Work, FoldTask):
    """One fold, or the whole, of one data set."""

    def work(self) -> Record:
        """Fit and score; of the predictions only the rows that are wrong are kept."""
        found = self.evaluate(self.table(), self.library.method(self.method))
        rows, truth, predictions = (
            np.asarray(found.pop(name)) for name in ("rows", "truth", "predictions")
        )
        del found["probabilities"]
        return {**found, "wrong": rows[truth != predictions].tolist()}


def fits(protocol: Protocol, data: str, method: str, **others: Any) -> list[PaperFit]:
    """Make the tasks of one method on one data set."""
    cut: dict[str, Any] = {"condition": protocol.condition, "folds": protocol.folds}
    return [
        PaperFit(data=data, method=method, repeat=repeat, fold=fold, **cut, **others)
        for repeat, fold in protocol.places
    ]


def finished(tasks: Sequence[Task], records: Mapping[str, Record]) -> list[Record]:
    """Return the records of all tasks, or none unless every task ended well.

    A figure over some of the folds is not the figure of the table.
    """
    found = [records.get(task.key) for task in tasks]
    return [record for record in found if record] if all(map(is_result, found)) else []


def shortfall(tasks: Sequence[Task], records: Mapping[str, Record]) -> str:
    """Say how many tasks did not end well, if any."""
    done = sum(is_result(records.get(task.key)) for task in tasks)
    return f"only {done} of {len(tasks)} fits ended well" if done < len(tasks) else ""


# From the records of one method on one data set to a figure of a table.
METRICS = {
    # Of a whole cross-validation, also where only some of its folds were run.
    "errors": lambda rs: max(rs[0]["folds"], 1) * float(np.mean([r["errors"] for r in rs])),
    "rate": lambda rs: 100.0 * sum(r["errors"] for r in rs) / sum(r["n_test"] for r in rs),
    "train_errors": lambda rs: float(np.mean([r["train_errors"] for r in rs])),
    "vectors": lambda rs: float(np.mean([r["vectors"] for r in rs])),
}


def compare_wrong(mine: Sequence[Record], theirs: Sequence[Record]) -> tuple[int, int, int]:
    """Count the test rows that only one of two methods gets right, over the parts both did.

    Returns
    -------
    better, worse, repeats : int
        Rows only the first gets right, rows only the second does, and repeats.
    """

    def place(record: Record) -> tuple[Any, ...]:
        return record["data"], record["repeat"], record["fold"]

    other = {place(record): set(record["wrong"]) for record in theirs}
    pairs = [(set(r["wrong"]), other[place(r)]) for r in mine if place(r) in other]
    better, worse = sum(len(b - a) for a, b in pairs), sum(len(a - b) for a, b in pairs)
    return better, worse, len({record["repeat"] for record in mine})


def significance(baseline: str, mine: Sequence[Record], theirs: Sequence[Record]) -> Versus | None:
    """Test a method against a baseline; None where they share no part."""
    if not mine or not theirs:
        return None
    return versus(baseline, *compare_wrong(mine, theirs))
