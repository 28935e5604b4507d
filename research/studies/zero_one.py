"""``bblr zero-one``: the solvers of the zero-one loss on one data set, and the plot of them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, NullFormatter

from bblr._settings import SettingError
from bblr.comparison.document import terminal_table
from bblr.comparison.records import Record
from bblr.comparison.session import check_least, choose, say
from bblr.comparison.sources import Table, load_two_classes
from bblr.comparison.tasks import Task
from bblr.plotting.certificate import EARLIEST, CertificateDisplay
from bblr.solvers.zero_one.proofs.exact import MAX_SIZE
from bblr.zero_one.zero_one_classifier import MAX_TABLE, SOLVERS, ZeroOneClassifier
from research.core.charts import COLOURS, GREY, chart
from research.core.study import Study

__all__ = ["Solve", "chosen_solvers", "draw", "run_zero_one"]

# The order of the table: searches first, then those that can prove.
_USUAL = ("search", "sla", "csa", "pcs", "bnb", "mip", "exact")
_FOR_LARGE = ("search", "sla")
_COLOURS = dict(zip(_USUAL, COLOURS.values(), strict=True))
_DASHES = (0, (3, 2))


@dataclass(frozen=True, kw_only=True)
class Solve(Task):
    """One solver, the method, on all rows of one data set."""

    fingerprint: str
    time_limit: float
    fit_intercept: bool
    table: Table = field(compare=False, repr=False)
    verbose: bool = field(default=False, compare=False)

    @classmethod
    def of(cls, table: Table, solver: str, *, fit_intercept: bool = True, **others: Any) -> Solve:
        """Make the task of a solver on a table."""
        about: Any = {"data": table.name, "fingerprint": table.fingerprint, "table": table}
        return cls(method=solver, fit_intercept=fit_intercept, **about, **others)

    def work(self) -> Record:
        """Fit, and keep loss, bound, gap and why it stopped, and the way there."""
        # What a solver needs is loaded and compiled first: that is no part of its time.
        X, y = np.random.default_rng(0).normal(size=(12, 2)), np.arange(12) % 2
        ZeroOneClassifier(self.method, time_limit=None, random_state=0).fit(X, y)
        model = ZeroOneClassifier(
            self.method,
            time_limit=self.time_limit,
            fit_intercept=self.fit_intercept,
            random_state=self.seed,
            verbose=int(self.verbose),
        )
        started = time.perf_counter()
        # Not z-scored: solvers scale for themselves, and proofs are about the data as given.
        model.fit(self.table.X, self.table.y)
        return {
            "seconds": time.perf_counter() - started,
            "loss": float(model.zero_one_loss_),
            "lower_bound": float(model.lower_bound_),
            "gap": float(model.gap_),
            "optimal": bool(model.optimal_),
            "reason": model.reason_,
            "trace": [list(map(float, moment)) for moment in model.trace_],
        }


def chosen_solvers(names: str | None, table: Table, intercept: bool) -> tuple[str, ...]:
    """Return the solvers that are named, or else all that can take the data."""
    typed = [name for name in (names or "").split(",") if name.strip()]
    if names is not None and not typed:
        raise SettingError("solvers", f"names no solver; choose from {', '.join(SOLVERS)}")
    named = choose("solvers", typed, SOLVERS)
    n, d = table.X.shape
    refusals = {}
    if d + intercept > MAX_SIZE:
        refusals["exact"] = (
            f"'exact' is for at most {MAX_SIZE - intercept} features and the data have {d}; "
            "name mip for a proof"
        )
    if n * (d + 1) > MAX_TABLE:
        for solver in set(SOLVERS) - set(_FOR_LARGE):
            refusals[solver] = (
                f"{solver!r} is for smaller data than {n} rows of {d} features; "
                f"choose from {', '.join(_FOR_LARGE)}"
            )
    for solver in named:
        if solver in refusals:
            raise SettingError("solvers", f"cannot be used: {refusals[solver]}")
    return tuple(named) or tuple(solver for solver in _USUAL if solver not in refusals)


def run_zero_one(
    data: str,
    target: str | None,
    drop: Sequence[str],
    solvers: str | None,
    time_limit: float,
    seed: int,
    intercept: bool,
    plot: Path,
    records: Path | None,
    verbose: bool,
) -> int:
    """Carry out ``bblr zero-one``; see its help. Returns 1 where a solver failed."""
    if not 0 < time_limit < inf:
        raise SettingError(
            "time_limit", f"must be a number of seconds above 0, got {time_limit:g}"
        )
    check_least(seed=(seed, 0))
    # One at a time: they are timed.
    study = Study(records or plot.with_suffix(".jsonl"), 1, plot)
    table = load_two_classes(data, target, drop)
    tasks = [
        Solve.of(
            table, solver, time_limit=time_limit, seed=seed, fit_intercept=intercept,
            verbose=verbose,
        )
        for solver in chosen_solvers(solvers, table, intercept)
    ]  # fmt: skip
    for note in table.notes:
        say(study.messages, f"Note: {note}")
    found, status = study.run(tasks)
    if found.empty:
        return status
    n, d = table.X.shape
    title = f"{table.name} ({n:,} rows, {d:,} feature{'' if d == 1 else 's'})"
    study.console.print(title, style="bold", highlight=False, markup=False)
    best = found["loss"] == found["loss"].min()
    study.console.print(terminal_table(_texts(found), bold=best, wrap=("Why it stopped",)), "")
    say(study.console, _finding(found))
    return max(status, study.draw(lambda path: draw(found, title, path)))


def _texts(found: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "Solver": found["method"],
            "Loss": found["loss"].map("{:.0f}".format),
            "Lower\nbound": found["lower_bound"].map("{:.0f}".format),
            "Gap\n%": found["gap"].map(lambda gap: f"{100 * gap:.1f}"),
            "Optimal": found["optimal"].map({True: "yes", False: "no"}),
            "Seconds": found["seconds"].map("{:.2f}".format),
            "Why it stopped": found["reason"],
        }
    )


def _finding(found: pd.DataFrame) -> str:
    """Say what the solvers know together: one may prove what another found."""
    least, bound = found["loss"].min(), found["lower_bound"].max()
    finders = ", ".join(found["method"][found["loss"] == least])
    provers = ", ".join(found["method"][found["lower_bound"] == bound])
    if least == bound:
        return f"Least loss: {least:.0f} ({finders}), proved optimal ({provers})."
    if bound == 0:
        return f"Least loss: {least:.0f} ({finders}); no lower bound was proved."
    return (
        f"Least loss: {least:.0f} ({finders}); no linear classifier is below {bound:.0f} "
        f"({provers})."
    )


def draw(found: pd.DataFrame, title: str, path: Path) -> None:
    """Draw incumbents and bounds over time and write them as PNG or SVG, by the suffix.

    Parameters
    ----------
    found : DataFrame
        Records of solvers, at least one.
    title : str
        Name of the data.
    path : Path
        The file; what was there is replaced.
    """
    curves = [_curve(run) for run in found.itertuples()]
    with chart(path, 8.4, 4.6) as figure:
        axes = figure.add_subplot()
        for place, (run, curve) in enumerate(zip(found.itertuples(), curves, strict=True)):
            # The later the thinner and the higher: where curves lie on each other, all are seen.
            look: Any = {"color": _COLOURS[str(run.method)], "zorder": 3 + place}
            look["lw"] = 1.5 + 0.5 * (len(found) - 1 - place)
            display = CertificateDisplay(*curve.T, optimal=bool(run.optimal))
            display.plot(axes, bound_kwargs={"lw": 1.5, "ls": _DASHES}, **look)
        _scale(axes, curves)
        # A name with dollar signs in it is no formula.
        axes.set_title(title, parse_math=False)
        axes.set_xlabel("seconds (log scale)")
        axes.set_ylabel("zero-one loss (training errors)")
        figure.legend(handles=_legend(found), loc="outside right upper", handlelength=2.6)


def _curve(run: Any) -> Any:
    """Return seconds, loss and bound as columns, up to the end of the run."""
    last = run.trace[-1][0] if run.trace else 0.0
    curve = np.array([*run.trace, (max(run.seconds, last), run.loss, run.lower_bound)])
    curve[:, 0] = np.maximum(curve[:, 0], EARLIEST)
    return curve


def _scale(axes: Any, curves: Sequence[Any]) -> None:
    first = min(curve[0, 0] for curve in curves)
    last = max(curve[-1, 0] for curve in curves)
    # Ten times at least, or there would be no power of ten to label.
    axes.set_xlim(min(first, last / 10) / 1.15, 1.25 * last)
    axes.xaxis.set_minor_formatter(NullFormatter())
    _, losses, bounds = np.concatenate(curves).T
    # A bound of zero needs no proof.
    low = min([*(curve[-1, 1] for curve in curves), *bounds[bounds > 0]])
    high = max(losses.max(), low + 1.0)
    margin = 0.06 * (high - low)
    axes.set_ylim(low - margin, high + margin)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))


def _legend(found: pd.DataFrame) -> list[Line2D]:
    handles = []
    run: Any
    for run in found.itertuples():
        bound = f", bound {run.lower_bound:.0f}" if run.lower_bound else ""
        label = f"{run.method!s}: loss {run.loss:.0f}{bound}"
        handles.append(Line2D([], [], color=_COLOURS[str(run.method)], lw=3, label=label))
    grey: dict[str, Any] = {"color": GREY, "lw": 1.5}
    handles.append(Line2D([], [], ls="none", label=""))
    handles.append(Line2D([], [], label="loss", **grey))
    if found["lower_bound"].any():
        handles.append(Line2D([], [], ls=_DASHES, label="lower bound", **grey))
    dot: dict[str, Any] = {"marker": "o", "ls": "none", "mec": GREY, "mew": 1.5}
    if not found["optimal"].all():
        handles.append(Line2D([], [], mfc="white", label="end, not proved optimal", **dot))
    if found["optimal"].any():
        handles.append(Line2D([], [], mfc=GREY, label="end, proved optimal", **dot))
    return handles
