"""Compare classifiers by repeated cross-validation, on clean and on noisy data."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np

from bblr.comparison.cells import Cell, Fit
from bblr.comparison.defaults import FOLDS, REPEATS
from bblr.comparison.methods import Method
from bblr.comparison.records import Record
from bblr.comparison.runner import run_tasks
from bblr.comparison.settings import CLEAN, Condition, SettingError
from bblr.comparison.sources import Table

__all__ = ["Comparison"]


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
        if self.repeats < 1:
            raise SettingError("repeats", f"must be at least 1, got {self.repeats}")
        if self.folds < 2:
            raise SettingError("folds", f"must be at least 2, got {self.folds}")
        if self.seed < 0:
            raise SettingError("seed", f"must be 0 or more, got {self.seed}")
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
            Cell(
                data=table.name,
                fingerprint=table.fingerprint,
                condition=condition,
                method=method.name,
                repeat=repeat,
                fold=fold,
                folds=self.folds,
                seed=self.seed,
            )
            for repeat, fold, table, condition, method in product(
                range(self.repeats), range(self.folds), self.tables, self.conditions, self.methods
            )
        ]

    def fits(self) -> list[Fit]:
        """All cells with what it takes to carry them out."""
        tables = {table.name: table for table in self.tables}
        methods = {method.name: method for method in self.methods}
        return [Fit(cell, tables[cell.data], methods[cell.method]) for cell in self.cells()]

    def run(
        self,
        records: str | os.PathLike[str],
        *,
        jobs: int = 1,
        on_start: Callable[[list[Fit], list[Fit]], None] | None = None,
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
        return run_tasks(self.fits(), records, jobs=jobs, on_start=on_start, on_record=on_record)
