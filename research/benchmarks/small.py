"""Small tables, where what costs is not arithmetic: fits, searches, predictions, first seconds."""

from __future__ import annotations

import multiprocessing
import os
import tempfile
import time
import warnings
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_digits, make_classification, make_moons
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from bblr import BBLRClassifier, BBLRClassifierCV, KernelBBLRClassifierCV
from bblr.datasets import UCI_NAMES, load_uci
from research.benchmarks import benchmark
from research.benchmarks.timing import race, run_python, seconds, show
from research.core.cases import Measured, Run
from research.core.thresholds import Threshold

MINE = "BBLR"
GRID, CV = "GridSearchCV(LR)", "LogisticRegressionCV"
MADE = {"3,000 x 40": (3_000, 40), "10,000 x 30": (10_000, 30)}


def _z_scored(X: Any, y: Any) -> tuple[Any, Any]:
    return StandardScaler().fit_transform(X), y


def _tables(run: Run, made: Mapping[str, tuple[int, int]]) -> dict[str, tuple[Any, Any]]:
    found = {name: _z_scored(*load_uci(name, return_X_y=True)) for name in UCI_NAMES}
    for name, (n, d) in made.items():
        found[name] = make_classification(
            run.rows(n), d, n_informative=10, flip_y=0.1, random_state=run.seed
        )
    return found


def _fit(model: Any, X: Any, y: Any) -> Any:
    return clone(model).fit(X, y)


def _against(
    mine: Any, baselines: Mapping[str, Any], data: tuple[Any, Any], repeats: int
) -> tuple[dict[str, float], str, dict[str, Any]]:
    """Return the time of ours over each baseline at its better of one and two BLAS threads."""
    works = {
        name: partial(_fit, model, *data) for name, model in {MINE: mine, **baselines}.items()
    }
    timed = {}
    for threads in (1, 2):
        # Outside the clock: to set the limit takes longer than a small fit.
        with warnings.catch_warnings(), threadpool_limits(threads, user_api="blas"):
            warnings.simplefilter("ignore")
            timed[threads] = race(works, repeats, warm_up=True)
    best = {name: min(timings[name].best for timings in timed.values()) for name in works}
    note = "; ".join(f"{threads} BLAS: {show(timings)}" for threads, timings in timed.items())
    details = {f"{threads} BLAS": seconds(timings) for threads, timings in timed.items()}
    return {name: best[MINE] / best[name] for name in baselines}, note, details


def _over_tables(
    run: Run, tables: Mapping[str, Any], mine: Any, baselines: Mapping[str, Any], repeats: int
) -> Measured:
    figures: dict[str, float] = {}
    notes: list[str] = []
    details: dict[str, Any] = {}
    for name, data in tables.items():
        ratios, note, details[name] = _against(mine, baselines, data, run.times(repeats))
        figures |= {f"{name}: time / {other}": ratio for other, ratio in ratios.items()}
        notes.append(f"{name}: {note}")
    return Measured(figures, notes, details)


@benchmark(
    "small-fits",
    "BBLRClassifier().fit on each embedded table, against LogisticRegression()",
    *(Threshold(f"{name}: time / LogisticRegression", "<=", 0.25) for name in UCI_NAMES),
)
def small_fits(run: Run) -> Measured:
    baselines = {"LogisticRegression": LogisticRegression()}
    return _over_tables(run, _tables(run, {}), BBLRClassifier(), baselines, 30)


def _grid() -> GridSearchCV:
    return GridSearchCV(LogisticRegression(), {"C": np.logspace(-4, 4, 10)}, cv=5)


@benchmark(
    "small-searches",
    "BBLRClassifierCV().fit on embedded and made-up tables, against searches over ten C",
    *(Threshold(f"{name}: time / {GRID}", "<=", 0.5) for name in (*UCI_NAMES, *MADE)),
    *(Threshold(f"{name}: time / {CV}", "<=", 1.0) for name in (*UCI_NAMES, *MADE)),
)
def small_searches(run: Run) -> Measured:
    baselines = {GRID: _grid(), CV: LogisticRegressionCV(cv=5)}
    mine = BBLRClassifierCV(random_state=run.seed)
    return _over_tables(run, _tables(run, MADE), mine, baselines, 3)


@benchmark(
    "search-digits",
    "BBLRClassifierCV().fit on scikit-learn's digits, ten classes, 1,797 x 64",
    Threshold(f"digits: time / {GRID}", "<=", 1.0),
)
def search_digits(run: Run) -> Measured:
    tables = {"digits": _z_scored(*load_digits(return_X_y=True))}
    mine = BBLRClassifierCV(random_state=run.seed)
    return _over_tables(run, tables, mine, {GRID: _grid()}, 2)


KERNEL_ROWS = (500, 1_000, 3_000)


@benchmark(
    "search-kernels",
    "KernelBBLRClassifierCV().fit on two moons, against GridSearchCV(SVC) over 30 settings",
    *(Threshold(f"{n:,} rows: time / GridSearchCV(SVC)", "<=", 1.0) for n in KERNEL_ROWS),
)
def search_kernels(run: Run) -> Measured:
    settings = {"C": np.logspace(-2, 3, 6), "gamma": np.logspace(-2, 2, 5)}
    tables = {
        f"{n:,} rows": make_moons(run.rows(n), noise=0.3, random_state=run.seed)
        for n in KERNEL_ROWS
    }
    baselines = {"GridSearchCV(SVC)": GridSearchCV(SVC(), settings)}
    mine = KernelBBLRClassifierCV(random_state=run.seed)
    return _over_tables(run, tables, mine, baselines, 1)


@benchmark(
    "fit-wide-dense",
    "BBLRClassifier().fit on 5,000 rows of many correlated columns, against LogisticRegression()",
    *(Threshold(f"{d:,} columns: time / LogisticRegression", "<=", 0.7) for d in (1_024, 4_096)),
)
def fit_wide_dense(run: Run) -> Measured:
    tables = {
        f"{d:,} columns": make_classification(
            run.rows(5_000), d, n_informative=60, flip_y=0.05, random_state=run.seed
        )
        for d in (1_024, 4_096)
    }
    baselines = {"LogisticRegression": LogisticRegression()}
    return _over_tables(run, tables, BBLRClassifier(), baselines, 2)


PREDICTED = (1, 1_000, 1_000_000)


@benchmark(
    "predict",
    "BBLRClassifier.predict of rows of 50 columns, against LogisticRegression.predict",
    *(Threshold(f"{n:,} rows: time / LogisticRegression", "<=", 1.0) for n in PREDICTED),
)
def predict(run: Run) -> Measured:
    X, y = make_classification(5_000, 50, random_state=run.seed)
    models = {
        MINE: BBLRClassifier().fit(X, y),
        "LogisticRegression": LogisticRegression().fit(X, y),
    }
    figures, notes = {}, []
    for n in PREDICTED:
        rows = np.random.default_rng(run.seed).normal(size=(run.rows(n) if n > 1_000 else n, 50))
        works = {name: partial(model.predict, rows) for name, model in models.items()}
        timings = race(works, run.times(5 if n > 1_000 else 200), warm_up=True)
        figures[f"{n:,} rows: time / LogisticRegression"] = (
            timings[MINE] / timings["LogisticRegression"]
        )
        notes.append(f"{n:,} rows: {show(timings)}")
    return Measured(figures, notes)


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _spin() -> None:
    while True:
        sum(range(10_000))


@benchmark(
    "fit-busy",
    "fits of at most 3,000 rows while every core is kept busy, against the same on idle cores",
    *(Threshold(f"{what}: busy / idle", "<=", 3.0) for what in ("linear", "search", "kernel")),
)
def fit_busy(run: Run) -> Measured:
    X, y = make_classification(3_000, 40, n_informative=10, flip_y=0.1, random_state=run.seed)
    moons = make_moons(500, noise=0.3, random_state=run.seed)
    works = {
        "linear": lambda: BBLRClassifier().fit(X, y),
        "search": lambda: BBLRClassifierCV(random_state=0).fit(X, y),
        "kernel": lambda: KernelBBLRClassifierCV(random_state=0).fit(*moons),
    }
    idle = race(works, run.times(3), warm_up=True)
    context = multiprocessing.get_context("spawn")
    spinners = [context.Process(target=_spin, daemon=True) for _ in range(_cores())]
    for spinner in spinners:
        spinner.start()
    try:
        time.sleep(3.0)
        busy = race(works, run.times(3))
    finally:
        for spinner in spinners:
            spinner.terminate()
    figures = {f"{what}: busy / idle": busy[what] / idle[what] for what in works}
    return Measured(figures, [f"idle: {show(idle)}", f"busy: {show(busy)}"])


_START = """
import sys, time
t = time.process_time()
import sklearn.linear_model
from sklearn.utils.validation import validate_data
u = time.process_time()
from bblr import BBLRClassifier
v = time.process_time()
import numpy as np
X = np.random.default_rng(0).normal(size=(300, 5))
BBLRClassifier().fit(X, X[:, 0] > 0)
print(v - u, time.process_time() - v)
"""
_FIRST = """
import time, warnings
import numpy as np
warnings.simplefilter("ignore")
from bblr import BBLRClassifier, BBLRClassifierCV, KernelBBLRClassifier, ZeroOneClassifier
X = np.random.default_rng(0).normal(size=(60, 3))
y = {labels}
t = time.process_time()
{model}.fit(X, y)
print(time.process_time() - t)
"""
_FIRSTS = {
    "several classes": ("BBLRClassifier()", "np.arange(60) % 3"),
    "search": ("BBLRClassifierCV(random_state=0)", "X[:, 0] > 0.1 * X[:, 1]"),
    "kernel": ("KernelBBLRClassifier()", "X[:, 0] > 0.1 * X[:, 1]"),
    "zero-one": ("ZeroOneClassifier(random_state=0)", "X[:, 0] > X[:, 1] ** 2"),
}
_PREDICT = """
import resource, subprocess, sys, tempfile
from pathlib import Path
import numpy as np
folder = tempfile.TemporaryDirectory()
rows, model, scored = (str(Path(folder.name) / name) for name in ("rows.csv", "m.bblr", "out.csv"))
X = np.random.default_rng(0).normal(size=(200, 4)).round(3)
lines = [",".join(map(str, row)) + "," + ("yes" if row[0] > 0 else "no") for row in X]
Path(rows).write_text("\\n".join(["a,b,c,d,y", *lines]) + "\\n")
def bblr(*arguments):
    command = [sys.executable, "-c", "from _bblr_command import main; main()", *arguments]
    subprocess.run(command, check=True, capture_output=True)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
before = bblr("fit", rows, "--target", "y", "--model", model)
print(bblr("predict", model, rows, "--out", scored) - before)
"""
_VERSION = """
import resource, subprocess, sys
subprocess.run([sys.executable, "-c", "from _bblr_command import main; main()", "--version"],
               check=True, stdout=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime)
"""


@benchmark(
    "first-seconds",
    "processor time of the import beyond scikit-learn, of first fits, and of bblr --version",
    Threshold("import beyond scikit-learn, seconds", "<=", 0.3),
    Threshold("first fit of a process, seconds", "<=", 0.4),
    Threshold("first fit ever, seconds", "<=", 4.0),
    *(Threshold(f"first fit ever: {what}, seconds", "<=", 8.0) for what in _FIRSTS),
    Threshold("bblr --version, seconds", "<=", 0.3),
    Threshold("bblr predict of a small file, seconds", "<=", 1.5),
)
def first_seconds(run: Run) -> Measured:
    with tempfile.TemporaryDirectory() as cache:
        where = {"NUMBA_CACHE_DIR": cache}
        ever = float(run_python(_START, environment=where).split()[1])
        later = [run_python(_START, environment=where).split() for _ in range(run.times(3))]
    firsts = {}
    for what, (model, labels) in _FIRSTS.items():
        with tempfile.TemporaryDirectory() as cache:
            script = _FIRST.format(model=model, labels=labels)
            firsts[what] = float(run_python(script, environment={"NUMBA_CACHE_DIR": cache}))
    figures = {
        "import beyond scikit-learn, seconds": min(float(imported) for imported, _ in later),
        "first fit of a process, seconds": min(float(fitted) for _, fitted in later),
        "first fit ever, seconds": ever,
        **{f"first fit ever: {what}, seconds": firsts[what] for what in _FIRSTS},
        "bblr --version, seconds": min(float(run_python(_VERSION)) for _ in range(3)),
        "bblr predict of a small file, seconds": float(run_python(_PREDICT)),
    }
    return Measured(figures, [])
