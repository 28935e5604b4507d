"""Records put together: one result a table, condition and method, the folds joined."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bblr.comparison.records import Record
from bblr.comparison.tasks import is_result
from research.panorama.scores import unpack
from research.panorama.tables import Table
from research.panorama.tasks import Cell

__all__ = ["GROUPS", "Results", "SetResult"]

GROUPS = {
    "all": ("two", "rare", "many", "wide"),
    "two": ("two", "rare", "wide"),
    "many": ("many",),
    "rare": ("rare",),
    "wide": ("wide",),
}


@dataclass(frozen=True)
class SetResult:
    """What a method did on a table under a condition, over its folds.

    Parameters
    ----------
    wrong : ndarray of bool
        Which test rows are errors, fold after fold.
    balanced_error, log_loss, base_log_loss, calibration_error : float
        Means over the folds.
    auc : float or None
        Mean over the folds in which it is defined.
    constant : tuple of bool
        For each fold, whether all predictions are the same.
    constant_probabilities : tuple of bool
        For each fold, whether all probabilities are the same.
    fit_seconds : float
        Of all folds.
    """

    wrong: np.ndarray
    balanced_error: float
    log_loss: float
    base_log_loss: float
    calibration_error: float
    auc: float | None
    constant: tuple[bool, ...]
    constant_probabilities: tuple[bool, ...]
    fit_seconds: float

    @property
    def errors(self) -> int:
        """Test rows that are errors."""
        return int(self.wrong.sum())

    @property
    def rate(self) -> float:
        """Error rate in percent."""
        return 100.0 * float(self.wrong.mean())


class Results:
    """The results of a plan, as far as they are there.

    Parameters
    ----------
    cells : sequence of Cell
        What was planned, for all methods.
    records : dict of str to dict
        The records that are there, by key.
    unread : iterable of Table
        Tables that should have been planned and could not be read.
    """

    def __init__(
        self,
        cells: Sequence[Cell],
        records: Mapping[str, Record],
        unread: Iterable[Table] = (),
    ) -> None:
        self._unread = {table.kind for table in unread}
        self.records = [records[cell.key] for cell in cells if cell.key in records]
        self.kinds = {cell.data: cell.table.kind for cell in cells}
        self.conditions = tuple(dict.fromkeys(cell.condition for cell in cells))
        planned: dict[tuple[str, str, str], list[Cell]] = {}
        for cell in cells:
            planned.setdefault((cell.data, cell.condition, cell.method), []).append(cell)
        self._found = {
            place: [records.get(cell.key) for cell in sorted(own, key=lambda cell: cell.fold)]
            for place, own in planned.items()
        }
        joined = {place: _join(found) for place, found in self._found.items()}
        self._sets = {place: one for place, one in joined.items() if one is not None}
        self.methods = tuple(dict.fromkeys(record["method"] for record in self.records))

    def tables(self, group: str) -> list[str]:
        """Return the names of the tables of a group."""
        return sorted(name for name, kind in self.kinds.items() if kind in GROUPS[group])

    def of(self, method: str, condition: str, group: str = "all") -> dict[str, SetResult]:
        """Return the finished sets of a method, by table."""
        places = {name: (name, condition, method) for name in self.tables(group)}
        return {name: self._sets[p] for name, p in places.items() if p in self._sets}

    def pairs(
        self, method: str, other: str, condition: str, group: str = "all"
    ) -> dict[str, tuple[SetResult, SetResult]]:
        """Return the sets that both of two methods have finished, by table."""
        mine, theirs = self.of(method, condition, group), self.of(other, condition, group)
        return {name: (mine[name], theirs[name]) for name in mine if name in theirs}

    def is_run(self, methods: Iterable[str], condition: str, group: str = "all") -> bool:
        """Say whether all that was planned for these methods has been tried, and anything was."""
        if self._unread.intersection(GROUPS[group]):
            return False
        found = self._planned(methods, condition, group)
        return bool(found) and all(record is not None for record in found)

    def n_failed(self, method: str, condition: str, group: str = "all") -> int:
        """Return how many fits of a method ended in an error."""
        found = self._planned([method], condition, group)
        return sum(record is not None and "failure" in record for record in found)

    def _planned(self, methods: Iterable[str], condition: str, group: str) -> list[Record | None]:
        """Return the records of all planned cells; a method that was not planned lacks one."""
        names = [name for name in self.tables(group) if self._has(name, condition)]
        places = [(name, condition, method) for method in methods for name in names]
        return [record for place in places for record in self._found.get(place, [None])]

    def _has(self, table: str, condition: str) -> bool:
        return any(place[:2] == (table, condition) for place in self._found)


def _join(records: Sequence[Record | None]) -> SetResult | None:
    """Join the folds of a set; None where one is missing, failed or was skipped."""
    found = [r for r in records if r is not None and is_result(r) and "skipped" not in r]
    if len(found) < len(records):
        return None

    def mean(name: str) -> float:
        return float(np.mean([record[name] for record in found]))

    areas = [record["auc"] for record in found if record["auc"] is not None]
    return SetResult(
        np.concatenate([unpack(record["wrong"], record["n_test"]) for record in found]),
        mean("balanced_error"),
        mean("log_loss"),
        mean("base_log_loss"),
        mean("calibration_error"),
        float(np.mean(areas)) if areas else None,
        tuple(record["constant_predictions"] for record in found),
        tuple(record["constant_probabilities"] for record in found),
        float(sum(record["fit_seconds"] for record in found)),
    )
