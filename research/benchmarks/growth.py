"""How time grows: with rows, features, entries, classes, threads and workers."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import joblib
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from bblr import BBLRClassifier
from research.benchmarks import made
from research.benchmarks.cases import Bar, Measured, Settings, case
from research.benchmarks.data import gaussian
from research.benchmarks.processes import run_python
from research.benchmarks.rivals import OURS
from research.benchmarks.series import as_record, notes, slope, time_series

ROWS, ROWS_FEATURES = (10_000, 30_000, 100_000, 300_000, 1_000_000), 20
FEATURES, FEATURES_ROWS = (16, 64, 256, 1_024, 4_096), 5_000
ENTRIES, ENTRIES_SHAPE = (4, 16, 64, 256), (20_000, 10_000)
CLASSES, CLASSES_SHAPE = (2, 4, 8, 16, 32, 64), (20_000, 50)
THREADS_SHAPE, WORKERS_SHAPE = (100_000, 100), (10_000, 30)
LOGISTIC = "LogisticRegression lbfgs"
SLOPE = "slope of log time by log n"

Maker = Callable[[], Any]
PAIR: dict[str, Maker] = {OURS: BBLRClassifier, LOGISTIC: LogisticRegression}


def _race(
    data: Mapping[int, tuple[Any, Any]],
    axis: str,
    what: str,
    repeats: int,
    rivals: Mapping[str, Maker] = PAIR,
) -> Measured:
    """Fit data of all sizes in turns."""
    smallest = data[min(data)]
    fits = {
        name: {size: lambda m=make, d=d: m().fit(*d) for size, d in data.items()}
        for name, make in rivals.items()
    }
    with warnings.catch_warnings():
        # A rival that stops at its limit of iterations has a time all the same.
        warnings.simplefilter("ignore", ConvergenceWarning)
        for make in rivals.values():
            make().fit(*smallest)  # compiled code is loaded before the clock runs
        points = time_series(fits, repeats)
    figures = {f"{name}: slope of log time": slope(found) for name, found in points.items()}
    return Measured(figures, notes(points), {"series": as_record(axis, what, points)})


@case(
    "growth-n",
    "log-log slope of the time of BBLRClassifier().fit against n = 10^4 ... 10^6, 20 features",
    Bar(SLOPE, "<=", 1.1),
)
def growth_n(settings: Settings) -> Measured:
    sizes = ROWS[:3] if settings.quick else ROWS
    X, y = gaussian(sizes[-1], ROWS_FEATURES, settings.seed)
    found = _race(
        {n: (X[:n], y[:n]) for n in sizes},
        "rows",
        f"{ROWS_FEATURES} features, dense",
        settings.repeats(5),
    )
    ours, *theirs = found.figures.items()
    remarks = [*found.notes, *(f"{name} {value:.2f}" for name, value in theirs)]
    return Measured({SLOPE: ours[1]}, remarks, found.details)


@case("growth-d", "time of a fit against the number of features, 16 ... 4,096, 5,000 dense rows")
def growth_d(settings: Settings) -> Measured:
    sizes = FEATURES[:3] if settings.quick else FEATURES
    rows = settings.rows(FEATURES_ROWS)
    data = {d: made.correlated(rows, d, settings.seed) for d in sizes}
    return _race(data, "features", f"{rows:,} rows, dense", settings.repeats(2))


@case(
    "growth-nnz", "time of a fit against the entries of a row, 4 ... 256, sparse 20,000 x 10,000"
)
def growth_nnz(settings: Settings) -> Measured:
    sizes = ENTRIES[:2] if settings.quick else ENTRIES
    rows, features = settings.rows(ENTRIES_SHAPE[0]), ENTRIES_SHAPE[1]
    data = {k: made.indicators(rows, features, k, settings.seed) for k in sizes}
    what = f"{rows:,} x {features:,}, sparse"
    rivals = {**PAIR, "LinearSVC": lambda: LinearSVC(random_state=0)}
    return _race(data, "entries of a row", what, settings.repeats(2), rivals)


@case("growth-classes", "time of a fit against the number of classes, 2 ... 64, 20,000 x 50 dense")
def growth_classes(settings: Settings) -> Measured:
    sizes = CLASSES[:3] if settings.quick else CLASSES
    rows, features = settings.rows(CLASSES_SHAPE[0]), CLASSES_SHAPE[1]
    data = {k: made.many(rows, features, k, settings.seed) for k in sizes}
    return _race(data, "classes", f"{rows:,} x {features}, dense", settings.repeats(2))


# Threads are counted when a process starts, so each count has a process of its own.
THREADS_SCRIPT = """
import json, sys
from sklearn.linear_model import LogisticRegression
from bblr import BBLRClassifier
from research.benchmarks import made
from research.benchmarks.timing import race

rows, features, seed, repeats = map(int, sys.argv[1:])
dense = made.correlated(rows, features, seed)
sparse = made.indicators(rows, 3 * features, features // 8, seed)
fits = {
    "bblr, dense": lambda: BBLRClassifier().fit(*dense),
    "bblr, sparse": lambda: BBLRClassifier().fit(*sparse),
    "LogisticRegression lbfgs, dense": lambda: LogisticRegression().fit(*dense),
}
timings = race(fits, repeats, warm_up=True)
print(json.dumps({name: timing.best for name, timing in timings.items()}))
"""

WORKERS_SCRIPT = """
import json, sys
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from bblr import BBLRClassifierCV
from research.benchmarks import made
from research.benchmarks.timing import race

rows, features, seed, repeats, workers = map(int, sys.argv[1:])
X, y = made.correlated(rows, features, seed)
grid = {"C": np.logspace(-3, 3, 10)}
fits = {
    "bblr, BBLRClassifierCV": lambda: BBLRClassifierCV(n_jobs=workers, random_state=0).fit(X, y),
    "LogisticRegression lbfgs, GridSearchCV": lambda: GridSearchCV(
        LogisticRegression(), grid, cv=5, n_jobs=workers
    ).fit(X, y),
}
timings = race(fits, repeats, warm_up=True)
print(json.dumps({name: timing.best for name, timing in timings.items()}))
"""


def _counts() -> list[int]:
    """Return 1, 2, 4 ... and the number of cores."""
    cores = joblib.cpu_count()
    return sorted({*(2**k for k in range(cores.bit_length()) if 2**k <= cores), cores})


def _limits(threads: int) -> dict[str, str]:
    names = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    return {name: str(threads) for name in names}


def _in_processes(
    run: Callable[[int], str], counts: Sequence[int], rounds: int, axis: str, what: str
) -> Measured:
    """Run a script for each count, in turns, and keep the best; figures are speed-ups."""
    best: dict[str, dict[int, float]] = {}
    for _ in range(rounds):
        for count in counts:
            for name, seconds in json.loads(run(count)).items():
                times = best.setdefault(name, {})
                times[count] = min(seconds, times.get(count, seconds))
    points = {name: sorted(times.items()) for name, times in best.items()}
    most = counts[-1]
    figures = {
        f"{name}: {axis} 1 / {most}": times[1] / times[most] for name, times in best.items()
    }
    return Measured(figures, notes(points), {"series": as_record(axis, what, points)})


@case("growth-threads", "time of a fit with 1, 2, 4 ... threads, 100,000 x 100 dense and sparse")
def growth_threads(settings: Settings) -> Measured:
    rows, features = settings.rows(THREADS_SHAPE[0]), THREADS_SHAPE[1]
    repeats = settings.repeats(3)
    return _in_processes(
        lambda threads: run_python(
            THREADS_SCRIPT, rows, features, settings.seed, repeats, environment=_limits(threads)
        ),
        _counts(),
        1 if settings.quick else 2,
        "threads",
        f"{rows:,} x {features}, dense; x {3 * features} with {features // 8} entries, sparse",
    )


@case(
    "growth-workers", "time of a choice by five folds with n_jobs = 1, 2, 4 ..., one thread each"
)
def growth_workers(settings: Settings) -> Measured:
    rows, features = settings.rows(WORKERS_SHAPE[0]), WORKERS_SHAPE[1]
    return _in_processes(
        lambda workers: run_python(
            WORKERS_SCRIPT, rows, features, settings.seed, 1, workers, environment=_limits(1)
        ),
        _counts(),
        1 if settings.quick else 2,
        "workers",
        f"{rows:,} x {features}, dense, five folds",
    )
