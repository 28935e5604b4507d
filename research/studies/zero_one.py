"""``bblr zero-one`` from end to end: check the settings, run the solvers, show, draw, write."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from pathlib import Path

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table as RichTable

from bblr._bars import Bar, FitBar
from bblr._settings import SettingError, check_writable
from bblr.comparison.document import DASH, shown, terminal_table
from bblr.comparison.session import DONE, FAILED, INTERRUPTED, MISUSED, check_least, refusal, say
from bblr.comparison.sources import Table, load_two_classes
from bblr.comparison.tasks import versions
from bblr.solvers.zero_one.exact import MAX_SIZE
from bblr.zero_one.zero_one_classifier import MAX_TABLE, SOLVERS, ZeroOneClassifier
from research.studies.zero_one_plot import Run, draw

__all__ = ["ZeroOneJob", "run_zero_one"]

# The order of the table: searches first, then those that can prove.
_USUAL = ("search", "sla", "csa", "pcs", "bnb", "mip", "exact")
_FOR_LARGE = ("search", "sla")


@dataclass(frozen=True)
class ZeroOneJob:
    """The settings of ``bblr zero-one``, as they were typed.

    See ``bblr zero-one --help`` for what each of them means.
    """

    data: str
    target: str | None
    solvers: str | None
    time_limit: float
    seed: int
    intercept: bool
    plot: Path
    out: Path | None
    verbose: bool
    drop: tuple[str, ...] = ()

    def prepared(self) -> tuple[Table, tuple[str, ...]]:
        """Check every setting, load the data and choose the solvers; nothing is written."""
        named = None if self.solvers is None else _named(self.solvers)
        if not 0 < self.time_limit < inf:
            raise SettingError(
                "time_limit", f"must be a number of seconds above 0, got {self.time_limit:g}"
            )
        check_least(seed=(self.seed, 0))
        check_writable("plot", self.plot, (".png", ".svg"))
        if self.out is not None:
            check_writable("json", self.out, (".json",))
        table = load_two_classes(self.data, self.target, self.drop)
        return table, self._able(table, named)

    def _able(self, table: Table, named: tuple[str, ...] | None) -> tuple[str, ...]:
        """Return the solvers that were named, or else all that can take the data."""
        n, d = table.X.shape
        refusals = {}
        if d + self.intercept > MAX_SIZE:
            refusals["exact"] = (
                f"'exact' is for at most {MAX_SIZE - self.intercept} features and the data have "
                f"{d}; name mip for a proof"
            )
        if n * (d + 1) > MAX_TABLE:
            for solver in set(SOLVERS) - set(_FOR_LARGE):
                refusals[solver] = (
                    f"{solver!r} is for smaller data than {n} rows of {d} features; "
                    f"choose from {', '.join(_FOR_LARGE)}"
                )
        for solver in named or ():
            if solver in refusals:
                raise SettingError("solvers", f"cannot be used: {refusals[solver]}")
        return named or tuple(solver for solver in _USUAL if solver not in refusals)

    def classifier(self, solver: str) -> ZeroOneClassifier:
        """Build the classifier that runs one solver."""
        return ZeroOneClassifier(
            solver,
            time_limit=self.time_limit,
            fit_intercept=self.intercept,
            random_state=self.seed,
            verbose=int(self.verbose),
        )


def _named(names: str) -> tuple[str, ...]:
    chosen = [name.strip().lower() for name in names.split(",") if name.strip()]
    if not chosen:
        raise SettingError("solvers", f"names no solver; choose from {', '.join(SOLVERS)}")
    for name in chosen:
        if name not in SOLVERS:
            raise SettingError("solvers", f"{name!r} is unknown; choose from {', '.join(SOLVERS)}")
    return tuple(dict.fromkeys(chosen))


def run_zero_one(job: ZeroOneJob) -> int:
    """Carry out ``bblr zero-one``.

    Returns
    -------
    int
        Exit status: 0 done, 1 a solver failed or a file could not be written, 2 a setting cannot
        be used, 130 interrupted. What was found before a failure or an interruption is shown,
        drawn and written all the same.
    """
    messages = Console(stderr=True)
    try:
        table, solvers = job.prepared()
    except SettingError as error:
        say(messages, refusal(error, data="DATA"))
        return MISUSED
    for note in table.notes:
        say(messages, f"Note: {note}")
    runs: list[Run] = []
    status = DONE
    try:
        for solver in solvers:
            if not messages.is_terminal:
                say(messages, f"{solver} ...")
            # Lines that a solver prints would break a bar.
            with Bar(messages, solver, shown=not job.verbose) as bar:
                runs.append(_run(job, table, solver, bar))
            say(messages, f"{solver}: {_in_words(runs[-1])}")
            if job.out is not None and len(runs) < len(solvers):
                _save_figures(job, job.out, table, runs, messages)  # at once: solvers take long
    except KeyboardInterrupt:
        say(messages, f"Stopped after {len(runs)} of {len(solvers)} solvers.")
        status = INTERRUPTED
    sound = _show(job, table, runs, messages) if runs else True
    return status or (DONE if sound else FAILED)


def _run(job: ZeroOneJob, table: Table, solver: str, bar: Bar) -> Run:
    started = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            _warm_up(solver)
            classifier = job.classifier(solver)
            if hasattr(classifier, "set_callbacks"):
                classifier.set_callbacks(FitBar(bar))
            started = time.perf_counter()
            # Not z-scored: solvers scale for themselves, and proofs are about the data as given.
            classifier.fit(table.X, table.y)
        except Exception as error:  # one solver's failure must not lose the others
            message = f"{type(error).__name__}: {' '.join(str(error).split())}"
            return Run(solver, time.perf_counter() - started, failure=message)
    return Run(
        solver,
        time.perf_counter() - started,
        loss=classifier.zero_one_loss_,
        lower_bound=classifier.lower_bound_,
        gap=classifier.gap_,
        optimal=classifier.optimal_,
        reason=classifier.reason_,
        trace=tuple(classifier.trace_),
        warnings=tuple(dict.fromkeys(f"{w.category.__name__}: {w.message}" for w in caught)),
    )


def _warm_up(solver: str) -> None:
    """Load and compile what a solver needs, lest its time be charged for that."""
    X, y = np.random.default_rng(0).normal(size=(12, 2)), np.arange(12) % 2
    ZeroOneClassifier(solver, time_limit=None, random_state=0).fit(X, y)


def _show(job: ZeroOneJob, table: Table, runs: list[Run], messages: Console) -> bool:
    """Print the table and write the files; say whether all went well."""
    results = Console()
    n, d = table.X.shape
    title = f"{table.name} ({n:,} rows, {d:,} feature{'' if d == 1 else 's'})"
    results.print(title, style="bold", highlight=False, markup=False)
    results.print(_table(runs), "")
    done = [run for run in runs if not run.failure]
    sound = len(done) == len(runs)
    if done:
        say(results, _finding(done))
    if job.out is not None and _save_figures(job, job.out, table, runs, messages):
        say(results, f"Figures: {job.out}")
    elif job.out is not None:
        sound = False
    if done and _save("plot", job.plot, lambda path: draw(done, title, path), messages):
        say(results, f"Plot: {job.plot}")
    elif done:
        sound = False
    return sound


def _table(runs: list[Run]) -> RichTable:
    best = min((run.loss for run in runs if not run.failure), default=None)
    rows = [
        {
            "Solver": run.solver,
            "Loss": shown(run.found(run.loss), "{:.0f}"),
            "Lower\nbound": shown(run.found(run.lower_bound), "{:.0f}"),
            "Gap\n%": shown(run.found(100 * run.gap), "{:.1f}"),
            "Optimal": DASH if run.failure else "yes" if run.optimal else "no",
            "Seconds": f"{run.seconds:.2f}",
            "Why it stopped": "failed" if run.failure else run.reason,
        }
        for run in runs
    ]
    bold = [run.loss == best for run in runs]
    return terminal_table(pd.DataFrame(rows), bold=bold, wrap=("Why it stopped",))


def _in_words(run: Run) -> str:
    if run.failure:
        return f"failed: {run.failure}"
    return (
        f"loss {run.loss:.0f}, bound {run.lower_bound:.0f}, gap {100 * run.gap:.1f} %, "
        f"{run.seconds:.2f} s, {run.reason}"
    )


def _finding(runs: list[Run]) -> str:
    """Say what the solvers know together: one may prove what another found."""
    least = min(run.loss for run in runs)
    bound = max(run.lower_bound for run in runs)
    finders = ", ".join(run.solver for run in runs if run.loss == least)
    provers = ", ".join(run.solver for run in runs if run.lower_bound == bound)
    if least == bound:
        return f"Least loss: {least:.0f} ({finders}), proved optimal ({provers})."
    if bound == 0:
        return f"Least loss: {least:.0f} ({finders}); no lower bound was proved."
    return (
        f"Least loss: {least:.0f} ({finders}); no linear classifier is below {bound:.0f} "
        f"({provers})."
    )


def _save_figures(
    job: ZeroOneJob, path: Path, table: Table, runs: list[Run], messages: Console
) -> bool:
    n, d = table.X.shape
    record = {
        "versions": versions(),
        "settings": {
            "seed": job.seed,
            "time_limit": job.time_limit,
            "fit_intercept": job.intercept,
        },
        "data": {
            "name": table.name,
            "fingerprint": table.fingerprint,
            "rows": n,
            "features": d,
            "classes": table.classes,
        },
        "solvers": [run.as_record() for run in runs],
    }
    text = json.dumps(record, indent=2, default=float) + "\n"
    return _save("json", path, lambda path: path.write_text(text, encoding="utf-8"), messages)


def _save(setting: str, path: Path, write: Callable[[Path], object], messages: Console) -> bool:
    """Write a file; say so where that fails, as when the disk is full, and go on."""
    try:
        write(path)
    except OSError as error:
        say(messages, f"Error: --{setting} {str(path)!r} was not written: {error}")
        return False
    return True
