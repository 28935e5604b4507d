"""Cases: claims and benchmarks alike measure figures and hold them against thresholds."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
from rich.console import Console

from bblr._atomic import whole_file
from bblr._settings import SettingError
from bblr.comparison.records import Record
from bblr.comparison.session import DONE, FAILED, INTERRUPTED, LiveProgress, failures, say
from bblr.comparison.tasks import Task, run_tasks
from research.core.machine import machine, stolen
from research.core.thresholds import MISSED, Threshold, Verdict, tally, verdict_table

__all__ = [
    "Case", "Measured", "Outcome", "Run", "Unavailable", "available", "case", "merged", "pick",
    "read_cases", "run_cases", "show_cases",
]  # fmt: skip


class Unavailable(Exception):
    """A case cannot run here; the message says what is missing and how to get it."""


def available(read: Callable[..., Any], **settings: Any) -> Any:
    """Read research data that are available, or skip the case."""
    try:
        return read(**settings)
    except FileNotFoundError as missing:
        raise Unavailable(str(missing)) from None


@dataclass(frozen=True)
class Run:
    """How to run cases.

    Parameters
    ----------
    seed : int, default=0
        Decides folds, noise, made-up data and whatever is random in a method.
    quick : bool, default=False
        Little data and few repeats: shows that a case works, says nothing about its figures.
    jobs : int, default=1
        Fits to run at a time, where they are not timed.
    repeats : int, default=10
        Repeats of a cross-validation.
    records : Path or None
        Where results are kept as they come, so that a run that was stopped can go on.
    console : Console
        For progress.
    """

    seed: int = 0
    quick: bool = False
    jobs: int = 1
    repeats: int = 10
    records: Path | None = None
    console: Console = field(default_factory=lambda: Console(quiet=True))

    def times(self, full: int) -> int:
        """How often to time each baseline."""
        return min(full, 2) if self.quick else full

    def rows(self, full: int) -> int:
        """How many rows of data to take."""
        return min(full, max(2_000, full // 20)) if self.quick else full

    def tell(self, line: str) -> str:
        """Show a line of progress, and return it."""
        say(self.console, line)
        return line

    def frame(self, tasks: Sequence[Task]) -> pd.DataFrame:
        """Run tasks and return their records as a frame; an error where one of them failed."""
        return pd.DataFrame(self.results(tasks))

    def results(self, tasks: Sequence[Task]) -> list[Record]:
        """Run tasks and return their records; an error where one of them failed."""
        with (
            tempfile.TemporaryDirectory() as folder,
            LiveProgress(self.console, self.jobs, "Fitting") as progress,
        ):
            records = run_tasks(
                tasks,
                self.records or Path(folder) / "records.jsonl",
                jobs=self.jobs,
                on_start=progress.begin,
                on_record=progress.count,
            )
        failed = failures(records)
        if failed:
            raise RuntimeError(failed)
        return records


@dataclass(frozen=True)
class Measured:
    """What a case found.

    Parameters
    ----------
    figures : dict of str to float
        A value for each threshold of the case, by its figure; of a case without thresholds all
        are reported.
    notes : list of str
        Lines to show below the figures.
    details : dict
        Whatever else the record should hold; JSON values only.
    """

    figures: Mapping[str, float]
    notes: Sequence[str] = ()
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Case:
    """A named measurement with the thresholds that its figures must keep, if any."""

    name: str
    description: str
    thresholds: tuple[Threshold, ...]
    work: Callable[[Run], Measured]

    @property
    def theme(self) -> str:
        """The module that registered it."""
        work = self.work.func if isinstance(self.work, partial) else self.work
        return work.__module__.rpartition(".")[2]

    def run(self, run: Run) -> Outcome:
        """Measure; what is missing or goes wrong must not lose the other cases."""
        started = time.perf_counter()
        measured, skipped, failure = None, "", ""
        try:
            measured = self.work(run)
            absent = [t.figure for t in self.thresholds if t.figure not in measured.figures]
            if absent:
                measured, failure = None, f"no value was measured for {', '.join(absent)}"
        except Unavailable as reason:
            skipped = str(reason)
        except Exception as error:
            failure = f"{type(error).__name__}: {' '.join(str(error).split())}"
        return Outcome(self, measured, skipped, failure, time.perf_counter() - started)


def case(
    register: dict[str, Case], name: str, description: str, *thresholds: Threshold
) -> Callable[[Callable[[Run], Measured]], Callable[[Run], Measured]]:
    """Register a function as the case of that name."""

    def decorate(work: Callable[[Run], Measured]) -> Callable[[Run], Measured]:
        if name in register:
            raise ValueError(f"two cases are named {name!r}; rename one")
        register[name] = Case(name, description, thresholds, work)
        return work

    return decorate


@dataclass(frozen=True)
class Outcome:
    """A case that was run, or why it could not be."""

    case: Case
    measured: Measured | None = None
    skipped: str = ""
    failure: str = ""
    seconds: float = 0.0

    @property
    def verdicts(self) -> list[Verdict]:
        """How each figure stands to its threshold."""
        figures = {} if self.measured is None else self.measured.figures
        thresholds = self.case.thresholds or [Threshold(name) for name in figures]
        failed = bool(self.failure)
        return [t.judge(figures.get(t.figure), failed=failed) for t in thresholds]

    @property
    def missed(self) -> list[str]:
        """Figures that miss their thresholds; all of them where an error stopped the case."""
        return [verdict.name for verdict in self.verdicts if verdict.status == MISSED]

    def as_record(self) -> Record:
        """Return the outcome as JSON values."""
        about = {"theme": self.case.theme, "description": self.case.description}
        record: Record = {**about, "seconds": round(self.seconds, 3)}
        if self.measured is None:
            kind = "skipped" if self.skipped else "failure"
            return {**record, kind: self.skipped or self.failure}
        values = {name: float(value) for name, value in self.measured.figures.items()}
        record["figures"] = [
            {
                "figure": t.figure,
                "value": values[t.figure],
                "relation": t.relation,
                "limit": t.limit,
                "met": t.met(values[t.figure]),
            }
            for t in self.case.thresholds
        ]
        if not self.case.thresholds:
            record["reported"] = values
        notes = list(self.measured.notes)
        return {**record, "notes": notes, "details": dict(self.measured.details)}

    def print(self, console: Console) -> None:
        """Show the figures with their thresholds, then the notes."""
        if self.measured is None:
            why = f"skipped: {self.skipped}" if self.skipped else f"FAILED: {self.failure}"
            say(console, f"{self.case.name}: {why}")
            return
        say(console, f"{self.case.name} ({self.seconds:.1f} s)")
        if self.verdicts:
            console.print(verdict_table(self.verdicts))
        for note in self.measured.notes:
            say(console, f"    {note}")


def pick(names: Sequence[str], cases: Mapping[str, Case]) -> list[Case]:
    """Return the cases of these names, patterns or themes, in their own order; all without any.

    Raises
    ------
    SettingError
        If a name stands for no case.
    """
    picked = set() if names else set(cases)
    for name in names:
        found = {c.name for c in cases.values() if fnmatchcase(c.name, name) or c.theme == name}
        if not found:
            raise SettingError("name", f"{name!r} is no case; choose from {', '.join(cases)}")
        picked |= found
    return [case for name, case in cases.items() if name in picked]


def show_cases(cases: Iterable[Case]) -> None:
    """Print what each case measures, and its thresholds."""
    for chosen in cases:
        print(f"{chosen.name} ({chosen.theme})\n  {chosen.description}")
        for threshold in chosen.thresholds:
            print(f"    {threshold.figure} {threshold.label}")


def read_cases(path: Path | None, *, quick: bool = False) -> Record:
    """Read the file that outcomes will go into.

    Raises
    ------
    SettingError
        If it holds something else, or measured figures that a quick run would replace.
    """
    if path is None or not path.exists():
        if path is not None and not path.absolute().parent.is_dir():
            raise SettingError(
                "json", f"needs a folder that exists; create {str(path.parent)!r} first"
            )
        return {"runs": {}, "cases": {}}
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        known = found["runs"].keys() >= {one["run"] for one in found["cases"].values()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        known = False
    if not known:
        raise SettingError("json", f"{str(path)!r} is no record of cases; name another file")
    if quick and any(not run["settings"]["quick"] for run in found["runs"].values()):
        raise SettingError("json", f"{str(path)!r} holds figures that --quick would replace")
    return found


def merged(
    before: Record,
    stamp: Mapping[str, Any],
    order: Iterable[str],
    outcomes: Sequence[Outcome],
) -> Record:
    """Put the outcomes of a run into a record.

    A case that ran replaces its earlier figures and points to this run: its date, machine and
    versions. A case that could not run here leaves what was measured elsewhere.

    Parameters
    ----------
    before : dict
        The record so far.
    stamp : dict
        The run; its date names it.
    order : iterable of str
        Names of all cases.
    outcomes : sequence of Outcome
        What the run found.
    """
    name = str(stamp["date"])
    found = dict(before["cases"])
    for outcome in outcomes:
        own = outcome.case.name
        if not (outcome.skipped and "skipped" not in found.get(own, {"skipped": ""})):
            found[own] = {"run": name, **outcome.as_record()}
    names = [*(n for n in order if n in found), *(n for n in found if n not in order)]
    runs = {**before["runs"], name: dict(stamp)}
    used = {found[n]["run"] for n in names}
    return {
        "runs": {run: runs[run] for run in runs if run in used},
        "cases": {n: found[n] for n in names},
    }


def run_cases(
    picked: Sequence[Case],
    run: Run,
    *,
    cases: Mapping[str, Case],
    out: Path | None = None,
    strict: bool = False,
) -> int:
    """Run cases one after the other, show each, and write all of them as they come.

    Returns
    -------
    int
        Exit status: 0 done, 1 a case failed or, if strict, missed a threshold, 130 interrupted.
    """
    messages, console = Console(stderr=True), Console()
    before, where, start = read_cases(out, quick=run.quick), machine(), stolen()
    settings = {"quick": run.quick, "seed": run.seed, "repeats": run.repeats}
    outcomes: list[Outcome] = []
    share = 0.0
    try:
        for place, chosen in enumerate(picked, 1):
            say(messages, f"[{place}/{len(picked)}] {chosen.name} ...")
            outcomes.append(chosen.run(run))
            outcomes[-1].print(console)
            now = stolen()
            share = (now[0] - start[0]) / max(now[1] - start[1], 1)
            if out is not None:  # at once: some cases take long
                stamp = {**where, "stolen": round(share, 4), "settings": settings}
                record = merged(before, stamp, list(cases), outcomes)
                text = json.dumps(record, indent=1, ensure_ascii=False, default=float) + "\n"
                with whole_file(out) as file:
                    file.write(text.encode())
    except KeyboardInterrupt:
        say(messages, f"Stopped after {len(outcomes)} of {len(picked)} cases.")
        return INTERRUPTED
    say(console, tally([verdict for outcome in outcomes for verdict in outcome.verdicts]))
    load = f"{where['load'][0]:.1f}" if where["load"] else "unknown"
    say(
        console,
        f"Load before the run: {load} on {where['cores']} cores; processor time taken by others "
        f"on the host: {100 * share:.0f} %",
    )
    if run.quick:
        say(console, "Quick run on little data: these figures say nothing about the thresholds.")
    sys.stdout.flush()
    failed = any(outcome.failure for outcome in outcomes)
    return FAILED if failed or (strict and any(o.missed for o in outcomes)) else DONE
