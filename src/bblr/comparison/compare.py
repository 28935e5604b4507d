"""``bblr compare`` from end to end: repeated cross-validation on clean and on noisy data."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any, cast

import numpy as np
from joblib import cpu_count
from rich.console import Console

from bblr._settings import SettingError, check_writable
from bblr.comparison.cells import CLEAN, PLACES, Cell, Condition, Place
from bblr.comparison.methods import (
    FOLDS,
    NOISE,
    REPEATS,
    Method,
    select_file_methods,
    select_methods,
)
from bblr.comparison.records import Record
from bblr.comparison.report import print_summary, print_verdict
from bblr.comparison.session import (
    DONE,
    FAILED,
    check_least,
    check_records,
    choose,
    failures,
    run_session,
    say,
)
from bblr.comparison.sources import Table, load_table
from bblr.comparison.summary import summarise
from bblr.comparison.tasks import run_tasks
from bblr.comparison.verdict.metrics import Metric, make_metric
from bblr.comparison.verdict.verdict_page import Compared, write_report
from bblr.comparison.verdict.winner import FinalFit
from bblr.comparison.verdict.wording import as_json
from bblr.datasets import UCI_NAMES
from bblr.io.results import Results

__all__ = ["Comparison", "run_compare"]


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
    tuned : Metric or None, default=None
        What each method chooses a threshold for, inside the training part.
    scoring : str, default="accuracy"
        What each method chooses its other settings by, there too.

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
    tuned: Metric | None = None
    scoring: str = "accuracy"

    def __post_init__(self) -> None:
        """Check the settings."""
        check_least(repeats=(self.repeats, 1), folds=(self.folds, 2), seed=(self.seed, 0))
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
            Cell.of(
                table,
                method,
                condition,
                repeat=repeat,
                fold=fold,
                folds=self.folds,
                seed=self.seed,
                tuned=self.tuned,
                scoring=self.scoring,
            )
            for repeat, fold, table, condition, method in product(
                range(self.repeats), range(self.folds), self.tables, self.conditions, self.methods
            )
        ]

    def run(
        self,
        records: str | os.PathLike[str],
        *,
        jobs: int = 1,
        on_start: Callable[[list[Cell], list[Cell]], None] | None = None,
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
        return run_tasks(self.cells(), records, jobs=jobs, on_start=on_start, on_record=on_record)


def _able(
    methods: tuple[Method, ...], tables: tuple[Table, ...], named: bool
) -> tuple[Method, ...]:
    """Return the methods that can take the data; it is an error if others were named."""
    most = max(tables, key=lambda table: len(table.classes))
    unable = {}
    for method in methods:
        if len(most.classes) > 2 and not method.many:
            unable[method] = f"takes two classes and {most.name!r} has {len(most.classes)}"
        elif any(table.sparse for table in tables) and not method.sparse:
            unable[method] = "takes no sparse features"
    if unable and named:
        method, why = next(iter(unable.items()))
        raise SettingError("methods", f"cannot be used: {method.name} {why}; leave it out")
    return tuple(method for method in methods if method not in unable)


def _conditions(noise: float, protocol: str, noise_in: str) -> tuple[Condition, ...]:
    from bblr.evaluation import NOISE_PROTOCOLS

    if not 0 <= noise < 1:
        raise SettingError("noise", f"must be at least 0 and below 1, got {noise:g}")
    (kind,) = choose("protocol", [protocol], NOISE_PROTOCOLS)
    (place,) = choose("noise_in", [noise_in], PLACES)
    return (CLEAN, Condition(noise, kind, cast(Place, place))) if noise else (CLEAN,)


def _tuned(metric: Metric, tables: Sequence[Table]) -> Metric:
    """Return what thresholds are tuned for, if it can be done."""
    if not metric.decides:
        raise SettingError(
            "tune_threshold", f"changes nothing about --metric {metric.name}; leave it out"
        )
    if any(len(table.classes) > 2 for table in tables):
        raise SettingError("tune_threshold", "is for two classes; leave it out")
    return metric


def run_compare(
    data: str | None,
    target: str | None,
    drop: Sequence[str],
    kinds: Mapping[str, Sequence[str]],
    methods: str | None,
    metric: str | None,
    cost: str | None,
    tune_threshold: bool,
    noise: float | None,
    protocol: str,
    noise_in: str,
    repeats: int,
    folds: int,
    jobs: int | None,
    seed: int,
    out: Path,
    json: Path | None,
    records: Path | None,
) -> int:
    """Carry out ``bblr compare``; see its help. Returns 1 where fits failed."""
    check_least(jobs=(jobs, 1))
    for setting, given in {"target": target, "drop": drop, **kinds}.items():
        if data is None and given:
            raise SettingError(setting, "only goes with a DATA file; name one or leave it out")
    if noise is None:
        noise = NOISE if data is None else 0.0
    conditions = _conditions(noise, protocol, noise_in)
    check_writable("out", out, (".html", ".htm"))
    report = Results("compare", json)
    records = records or out.with_suffix(".jsonl")
    check_records(records)
    names = UCI_NAMES if data is None else (data,)
    choice = select_methods if data is None else select_file_methods
    try:
        chosen = choice(None if methods is None else methods.split(","))
    except ValueError as error:
        raise SettingError("methods", f"cannot be used: {error}") from None
    tables = tuple(load_table(name, target, drop, **kinds) for name in names)
    able = _able(chosen, tables, named=methods is not None)
    wanted = make_metric(metric, cost, tables[0].classes)
    tuned = _tuned(wanted, tables) if tune_threshold else None
    # Where a threshold is still to be placed, how rows are ranked is all that matters.
    scoring = "roc_auc" if tuned else wanted.scoring
    comparison = Comparison(tables, able, conditions, repeats, folds, seed, tuned, scoring)
    messages, results = Console(stderr=True), Console(stderr=report.is_piped)
    for note in (note for table in tables for note in table.notes):
        say(messages, f"Note: {note}")
    jobs = jobs or cpu_count()
    found = run_session(
        comparison.cells(), records, jobs=jobs, messages=messages, verb="Comparing"
    )
    compared = Compared(found, wanted, tables)
    if data is None:
        print_summary(summarise(found), results)
    else:
        print_verdict(compared.standings, results)
        for final in _final(compared, comparison, records, messages):
            compared = replace(compared, final=final)
            found = [*found, final]
    write_report(compared, out)
    say(results, f"Report: {out}")
    settings = {"seed": seed, "tuned_threshold": tune_threshold, "report": out}
    report.save({**settings, **as_json(compared.standings)})
    failed = failures(found)
    if failed:
        say(messages, failed)
    return FAILED if failed else DONE


def _final(
    compared: Compared, comparison: Comparison, records: Path, messages: Console
) -> list[Record]:
    """Fit the method to use on all rows."""
    name = compared.standings[0].decision.method
    place: dict[str, Any] = {"repeat": 0, "fold": 0, "folds": 1, "seed": comparison.seed}
    place |= {"tuned": comparison.tuned, "scoring": comparison.scoring}
    fits = [
        FinalFit.of(comparison.tables[0], method, **place)
        for method in comparison.methods
        if method.name == name
    ]
    return run_session(fits, records, jobs=1, messages=messages, verb="Fitting all rows")
