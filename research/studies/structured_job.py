"""``bblr structured`` from end to end: check the settings, decide, show, write."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from joblib import cpu_count
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from bblr._bars import Lines
from bblr._settings import SettingError, check_writable
from bblr.comparison.summary import format_p
from bblr.comparison.tasks import versions
from research.paper.exhibits.table_structured import EXHIBIT as PAPER
from research.studies.structured import (
    LOCALS,
    SOURCES,
    Condition,
    Results,
    Source,
    decide,
)

__all__ = ["StructuredJob", "run_structured", "table"]

DONE, MISUSED, INTERRUPTED = 0, 2, 130
_LARGEST_SEED = 2**32 - 1


@dataclass(frozen=True)
class StructuredJob:
    """The settings of ``bblr structured``, as they were typed.

    See ``bblr structured --help`` for what each of them means.
    """

    data: tuple[str, ...]
    methods: str | None
    outliers: float
    flips: float
    repeats: int
    folds: int
    jobs: int | None
    seed: int
    out: Path | None

    def checked(self) -> tuple[list[str], list[str]]:
        """Check every setting; return the data and the local classifiers to run."""
        for name in self.data:
            if name not in SOURCES:
                raise SettingError("data", f"{name!r} is not known; choose {', '.join(SOURCES)}")
        known = {name.lower(): name for name in LOCALS}
        typed = LOCALS if self.methods is None else self.methods.split(",")
        for name in typed:
            if name.strip().lower() not in known:
                raise SettingError(
                    "methods", f"{name.strip()!r} is not known; choose {', '.join(LOCALS)}"
                )
        for setting, least in {"repeats": 1, "folds": 2, "jobs": 1, "seed": 0}.items():
            value = getattr(self, setting)
            if value is not None and value < least:
                raise SettingError(setting, f"must be at least {least}, got {value}")
        if self.seed > _LARGEST_SEED:
            raise SettingError("seed", f"must be at most {_LARGEST_SEED}, got {self.seed}")
        for setting in ("outliers", "flips"):
            share = getattr(self, setting)
            if not 0 <= share < 0.5:
                raise SettingError(setting, f"must be at least 0 and below 0.5, got {share}")
        if self.out is not None:
            check_writable("json", self.out, (".json",))
        chosen = [known[name.strip().lower()] for name in typed]
        return list(dict.fromkeys(self.data or SOURCES)), list(dict.fromkeys(chosen))


def run_structured(job: StructuredJob) -> int:
    """Carry out ``bblr structured``.

    Returns
    -------
    int
        Exit status: 0 done, 2 a setting cannot be used or data cannot be had, 130 interrupted.
    """
    messages, console = Console(stderr=True), Console()
    records: list[dict[str, Any]] = []
    try:
        names, locals_ = job.checked()
        for name in names:
            # Records to link are as they are; only pages are simulated.
            outliers = job.outliers if name == "pages" else 0.0
            condition = Condition(outliers, job.flips)
            source, results = _decide(job, name, condition, locals_, messages)
            lines = table(source, results, condition, locals_)
            console.print(*lines, "", sep="\n", highlight=False, markup=False, soft_wrap=True)
            records.append(record(source, results, condition, locals_))
    except (SettingError, OSError, ImportError) as error:
        text = " ".join(str(error).split())
        messages.print(f"Error: {text}", highlight=False, markup=False, soft_wrap=True)
        return MISUSED
    except KeyboardInterrupt:
        messages.print("Stopped; nothing was written.")
        return INTERRUPTED
    if job.out is not None:
        settings = {key: getattr(job, key) for key in ("folds", "repeats", "seed")}
        whole = {"versions": versions(), "settings": settings, "data": records}
        job.out.write_text(json.dumps(whole, indent=2) + "\n", "utf-8")
        console.print(f"Wrote {job.out}", highlight=False, soft_wrap=True)
    return DONE


def _decide(
    job: StructuredJob, name: str, condition: Condition, locals_: list[str], messages: Console
) -> tuple[Source, Results]:
    columns = (TextColumn(name), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=messages, transient=True) as progress:
        task = progress.add_task(name, total=None)
        lines = Lines(messages, name)

        def report(done: int, planned: int) -> None:
            progress.update(task, completed=done, total=planned)
            lines.tell(done / planned, f"{done} of {planned}")

        return decide(
            name,
            condition,
            folds=job.folds,
            repeats=job.repeats,
            seed=job.seed,
            jobs=job.jobs or cpu_count(),
            locals_=locals_,
            report=report,
        )


def table(source: Source, results: Results, condition: Condition, locals_: list[str]) -> list[str]:
    """Return the paper's table as lines of text."""
    n_groups = len(source.groups)
    n_members = int(results.offsets[0][-1])
    repeats = len(results.offsets)
    times = f", {repeats} repeats" if repeats > 1 else ""
    lines = [
        f"{source.title}: {n_groups:,} groups of 2 to 7, {n_members:,} candidates, "
        f"{condition.label}{times}",
        f"{'':8}{'':>11}  {'right, %':>17}  {'against alone':>17}  {'against LR':>17}",
        f"{'':8}{'':>11}  {'each':>8} {'groups':>8}  {'z':>7} {'p':>9}  {'z':>7} {'p':>9}"
        + (f"  {'paper':>6}" if source.name == "pages" else ""),
    ]
    for local in locals_:
        for number, way in enumerate(results.ways):
            shown = [
                f"{local if number == 0 else '':8}{way:>11}",
                f"{results.accuracy(local, way, 'member'):8.2f} "
                f"{results.accuracy(local, way, 'group'):8.2f}",
                _test(results, (local, way), (local, "alone")) if way != "alone" else " " * 17,
                _test(results, (local, way), ("LR", way))
                if local != "LR" and "LR" in locals_
                else " " * 17,
            ]
            if source.name == "pages":
                shown.append(f"{PAPER.figure(source.name, local, way):6.1f}")
            lines.append("  ".join(shown).rstrip())
    lines.append(
        "z and p: McNemar over groups decided right throughout; z > 0 speaks for the row."
    )
    return lines


def _test(results: Results, a: Any, b: Any) -> str:
    found = results.test(a, b, "group")
    return f"{found.z:+7.1f} {format_p(found.p_value):>9}"


def record(
    source: Source, results: Results, condition: Condition, locals_: list[str]
) -> dict[str, Any]:
    """Return everything the table shows, and more, as JSON values."""
    rows = []
    for local in locals_:
        for way in results.ways:
            row: dict[str, Any] = {"local": local, "way": way}
            for unit in ("member", "group"):
                row[f"{unit} accuracy %"] = results.accuracy(local, way, unit)
                for rival, key in (((local, "alone"), "alone"), (("LR", way), "LR")):
                    if rival != (local, way) and rival in results.right:
                        found = results.test((local, way), rival, unit)
                        row[f"{unit} McNemar against {key}"] = asdict(found)
            rows.append(row)
    return {
        "name": source.name,
        "title": source.title,
        "groups": len(source.groups),
        "members": int(results.offsets[0][-1]),
        "condition": asdict(condition),
        "rows": rows,
        "calibrations": results.calibrations,
    }
