"""A fit on one part of one data set, and what the fits of one method come to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bblr.comparison.cells import Cell, Condition, evaluate
from bblr.comparison.records import Record
from bblr.comparison.summary import versus
from bblr.comparison.tasks import is_result
from research.paper.protocols import AnyProtocol
from research.paper.results import Significance
from research.paper.work import Work

__all__ = [
    "METRICS", "PaperFit", "compare_wrong", "finished", "fits", "shortfall", "significance",
]  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class PaperFit(Work):
    """One fold, or the whole, of one data set; see :class:`bblr.comparison.cells.Cell`."""

    condition: Condition
    repeat: int
    fold: int
    folds: int

    def work(self) -> Record:
        """Fit and score; of the predictions only the rows that are wrong are kept."""
        cell = Cell(
            data=self.data,
            fingerprint=self.fingerprint,
            condition=self.condition,
            method=self.method,
            repeat=self.repeat,
            fold=self.fold,
            folds=self.folds,
            seed=self.seed,
        )
        table, method = self.table(), self.library.method(self.method)
        found = evaluate(cell, table, method)
        rows, truth, predictions = (
            np.asarray(found.pop(name)) for name in ("rows", "truth", "predictions")
        )
        del found["probabilities"]
        return {**found, "wrong": rows[truth != predictions].tolist()}


def fits(protocol: AnyProtocol, data: str, method: str, **others: Any) -> list[PaperFit]:
    """Make the tasks of one method on one data set."""
    return [
        PaperFit(
            data=data,
            method=method,
            condition=protocol.condition,
            repeat=repeat,
            fold=fold,
            folds=protocol.folds,
            **others,
        )
        for repeat, fold in protocol.places
    ]


def finished(tasks: Sequence[Work], records: Mapping[str, Record]) -> list[Record]:
    """Return the records of all tasks, or none unless every task ended well.

    A figure over some of the folds is not the figure of the table.
    """
    found = [records.get(task.key) for task in tasks]
    return [record for record in found if record] if all(map(is_result, found)) else []


def shortfall(tasks: Sequence[Work], records: Mapping[str, Record]) -> str:
    """Say how many tasks did not end well, if any."""
    done = sum(is_result(records.get(task.key)) for task in tasks)
    return f"only {done} of {len(tasks)} fits ended well" if done < len(tasks) else ""


def _repeats(records: Sequence[Record]) -> int:
    return len({record["repeat"] for record in records})


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
    other = {_place(record): set(record["wrong"]) for record in theirs}
    pairs = [(set(r["wrong"]), other[_place(r)]) for r in mine if _place(r) in other]
    better = sum(len(b - a) for a, b in pairs)
    worse = sum(len(a - b) for a, b in pairs)
    return better, worse, _repeats(mine)


def _place(record: Record) -> tuple[Any, ...]:
    return record["data"], record["repeat"], record["fold"]


def significance(
    rival: str, mine: Sequence[Record], theirs: Sequence[Record]
) -> Significance | None:
    """Test a method against a rival; None where they share no part."""
    if not mine or not theirs:
        return None
    found = versus(rival, *compare_wrong(mine, theirs))
    return Significance(rival, found.z, found.p)
