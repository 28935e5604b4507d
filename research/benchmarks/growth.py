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
from research.benchmarks import benchmark
from research.benchmarks.data import correlated, gaussian, indicators, many
from research.benchmarks.timing import run_python, series, slope, time_series
from research.benchmarks.tournaments import OURS
from research.core.cases import Measured, Run
from research.core.thresholds import Threshold

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
    models: Mapping[str, Maker] = PAIR,
) -> Measured:
    """Fit data of all sizes in turns."""
    smallest = data[min(data)]
    fits = {
        name: {size: lambda m=make, d=d: m().fit(*d) for size, d in data.items()}
        for name, make in models.items()
    }
    with warnings.catch_warnings():
        # A baseline that stops at its limit of iterations has a time all the same.
        warnings.simplefilter("ignore", ConvergenceWarning)
        for make in models.values():
            make().fit(*smallest)  # compiled code is loaded before the clock runs
        points = time_series(fits, repeats)
    figures = {f"{name}: slope of log time": slope(found) for name, found in points.items()}
    return series(figures, points, axis, what)


@benchmark(
    "growth-n",
    "log-log slope of the time of BBLRClassifier().fit against n = 10^4 ... 10^6, 20 features",
    Threshold(SLOPE, "<=", 1.1),
)
def growth_n(run: Run) -> Measured:
    sizes = ROWS[:3] if run.quick else ROWS
    X, y = gaussian(sizes[-1], ROWS_FEATURES, run.seed)
    data = {n: (X[:n], y[:n]) for n in sizes}
    found = _race(data, "rows", f"{ROWS_FEATURES} features, dense", run.times(5))
    (_, ours), *theirs = found.figures.items()
    remarks = [*found.notes, *(f"{name} {value:.2f}" for name, value in theirs)]
    return Measured({SLOPE: ours}, remarks, found.details)


@benchmark(
    "growth-d", "time of a fit against the number of features, 16 ... 4,096, 5,000 dense rows"
)
def growth_d(run: Run) -> Measured:
    sizes = FEATURES[:3] if run.quick else FEATURES
    rows = run.rows(FEATURES_ROWS)
    data = {d: correlated(rows, d, run.seed) for d in sizes}
    return _race(data, "features", f"{rows:,} rows, dense", run.times(2))


@benchmark(
    "growth-nnz", "time of a fit against the entries of a row, 4 ... 256, sparse 20,000 x 10,000"
)
def growth_nnz(run: Run) -> Measured:
    sizes = ENTRIES[:2] if run.quick else ENTRIES
    rows, features = run.rows(ENTRIES_SHAPE[0]), ENTRIES_SHAPE[1]
    data = {k: indicators(rows, features, k, run.seed) for k in sizes}
    what = f"{rows:,} x {features:,}, sparse"
    models = {**PAIR, "LinearSVC": lambda: LinearSVC(random_state=0)}
    return _race(data, "entries of a row", what, run.times(2), models)


@benchmark(
    "growth-classes", "time of a fit against the number of classes, 2 ... 64, 20,000 x 50 dense"
)
def growth_classes(run: Run) -> Measured:
    sizes = CLASSES[:3] if run.quick else CLASSES
    rows, features = run.rows(CLASSES_SHAPE[0]), CLASSES_SHAPE[1]
    data = {k: many(rows, features, k, run.seed) for k in sizes}
    return _race(data, "classes", f"{rows:,} x {features}, dense", run.times(2))


# Threads are counted when a process starts, so each count has a process of its own.
THREADS_SCRIPT = """
import json, sys
from sklearn.linear_model import LogisticRegression
from bblr import BBLRClassifier
from research.benchmarks.data import correlated, indicators
from research.benchmarks.timing import race

rows, features, seed, repeats = map(int, sys.argv[1:])
dense = correlated(rows, features, seed)
sparse = indicators(rows, 3 * features, features // 8, seed)
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
from research.benchmarks.data import correlated, indicators
from research.benchmarks.timing import race

rows, features, seed, repeats, workers = map(int, sys.argv[1:])
X, y = correlated(rows, features, seed)
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
    # Two as well where there are more: thresholds are about two.
    figures = {
        f"{name}: {axis} 1 / {many}": times[1] / times[many]
        for name, times in best.items()
        for many in sorted({min(2, counts[-1]), counts[-1]})
    }
    return series(figures, points, axis, what)


@benchmark(
    "growth-threads",
    "time of a fit with 1, 2, 4 ... threads, 100,000 x 100 dense and sparse",
    Threshold(f"{OURS}, dense: threads 1 / 2", ">=", 1.6),
)
def growth_threads(run: Run) -> Measured:
    rows, features = run.rows(THREADS_SHAPE[0]), THREADS_SHAPE[1]
    repeats = run.times(3)
    return _in_processes(
        lambda threads: run_python(
            THREADS_SCRIPT, rows, features, run.seed, repeats, environment=_limits(threads)
        ),
        _counts(),
        1 if run.quick else 2,
        "threads",
        f"{rows:,} x {features}, dense; x {3 * features} with {features // 8} entries, sparse",
    )


@benchmark(
    "growth-workers", "time of a choice by five folds with n_jobs = 1, 2, 4 ..., one thread each"
)
def growth_workers(run: Run) -> Measured:
    rows, features = run.rows(WORKERS_SHAPE[0]), WORKERS_SHAPE[1]
    return _in_processes(
        lambda workers: run_python(
            WORKERS_SCRIPT, rows, features, run.seed, 1, workers, environment=_limits(1)
        ),
        _counts(),
        1 if run.quick else 2,
        "workers",
        f"{rows:,} x {features}, dense, five folds",
    )
