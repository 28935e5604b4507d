"""The fused passes over the data: gradients, probes, lines, and what a second thread brings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from bblr._numeric.threads import num_threads
from bblr._numeric.zero_one import exact_line
from bblr.datasets import REVIEW_DOMAINS, fetch_reviews
from bblr.designs import DenseDesign, ScaledDesign, SparseDesign
from bblr.losses import BetaBernoulli
from research.benchmarks import benchmark
from research.benchmarks.data import fetched, gaussian, web8
from research.benchmarks.timing import Timing, Work, as_measured, race, seconds, show
from research.core.cases import Measured, Run, Unavailable
from research.core.thresholds import Threshold

ROWS, FEATURES = 350_000, 254
LOSS = BetaBernoulli.binary(0.1, 0.8, gamma=4.0)
STEPS = np.arange(-40, 41) / 40.0
IN_A_ROW = 20


@numba.njit(nogil=True, fastmath=True)
def _add_up(x: Any) -> float:
    total = 0.0
    for i in range(len(x)):
        total += x[i]
    return total


# Whichever reads fastest on this machine stands for its bandwidth.
READERS: dict[str, Callable[[NDArray[Any]], Any]] = {
    "read by max": np.max,
    "read by sum": np.sum,
    "read by loop": _add_up,
}


def _read(read: Any, X: NDArray[Any], count: int, pool: ThreadPoolExecutor) -> Any:
    return list(pool.map(read, np.array_split(X.ravel(), count)))


def _fused(run: Run, dtype: type) -> Measured:
    X, y = gaussian(run.rows(ROWS), FEATURES, run.seed, dtype=dtype)
    coef = np.random.default_rng(run.seed + 1).normal(scale=0.1, size=(1, FEATURES))
    weight, intercept = np.ones(len(y)), np.array([0.1])
    # What a fit makes of X: for such columns, products in the precision of X.
    design = ScaledDesign(DenseDesign(X), weight, fit_intercept=True).design
    with ThreadPoolExecutor(num_threads()) as pool:
        works: dict[str, Work] = {
            name: partial(_read, read, X, num_threads(), pool) for name, read in READERS.items()
        }
        works["pass"] = lambda: design.value_gradient(coef, intercept, y, weight, LOSS).value
        timings = race(works, run.times(25), warm_up=True)
    best_read, mine = min(timings[name].best for name in READERS), timings["pass"].best
    rates = [f"{X.nbytes / 1e9 / s:.1f} GB/s" for s in (best_read, mine)]
    return as_measured(
        timings,
        {"bandwidth / bandwidth of a bare read": best_read / mine},
        f"bare read {rates[0]}, pass {rates[1]}, {num_threads()} threads",
        shape=X.shape,
    )


for _dtype in (np.float64, np.float32):
    benchmark(
        f"fused-{_dtype.__name__}",
        f"value and gradient of 350,000 x 254 {_dtype.__name__}, against reading the matrix",
        Threshold("bandwidth / bandwidth of a bare read", ">=", 0.80),
    )(partial(_fused, dtype=_dtype))


def _numpy_probe(raw: Any, x: Any, y: Any, weight: Any) -> NDArray[np.float64]:
    costs = []
    for step in STEPS:
        z = LOSS.gamma * y * (raw + step * x)
        low = np.where(y > 0, LOSS.low[1], LOSS.low[0])
        costs.append(weight @ -np.log(low + LOSS.b / (1.0 + np.exp(-z))))
    return np.array(costs)


@benchmark(
    "probe",
    "the loss at 81 steps along one coordinate, 350,000 rows, against NumPy",
    Threshold("time / NumPy", "<=", 1 / 25),
)
def probe(run: Run) -> Measured:
    X, y = gaussian(run.rows(ROWS), FEATURES, run.seed)
    weight = np.ones(len(y))
    raw = X @ np.random.default_rng(run.seed + 1).normal(scale=0.1, size=FEATURES)
    design, j = DenseDesign(X), FEATURES // 2
    works: dict[str, Work] = {
        "probe": lambda: design.probes(raw, [(j, 0.0, 0, STEPS)], y, weight, LOSS),
        "NumPy": lambda: _numpy_probe(raw, X[:, j], y, weight),
    }
    timings = race(works, run.times(9), warm_up=True)
    np.testing.assert_allclose(timings["probe"].result[0], timings["NumPy"].result, rtol=1e-9)
    return as_measured(timings, {"time / NumPy": timings["probe"] / timings["NumPy"]})


@benchmark(
    "zero-one-line",
    "one exact line search over 350,000 x 254, against one pass for value and gradient",
    Threshold("time / pass", "<=", 8.0),
)
def zero_one_line(run: Run) -> Measured:
    X, y = gaussian(run.rows(ROWS), FEATURES, run.seed)
    coef, direction = np.random.default_rng(run.seed + 1).normal(size=(2, 1, FEATURES))
    design, weight, zero = DenseDesign(X), np.ones(len(y)), np.zeros(1)
    raw = design.scores(coef, zero)
    works: dict[str, Work] = {
        "line": lambda: exact_line(raw, design.scores(direction, zero), y, weight),
        "pass": lambda: design.value_gradient(coef, zero, y, weight, LOSS),
    }
    timings = race(works, run.times(9), warm_up=True)
    return as_measured(timings, {"time / pass": timings["line"] / timings["pass"]})


def _csr(X: Any, run: Run) -> dict[str, Timing]:
    """Race a pass for value and gradient against the two products of scipy it consists of."""
    rng = np.random.default_rng(run.seed)
    n, d = X.shape
    coef, residual = rng.normal(scale=0.1, size=d), rng.normal(size=n)
    y, weight, design = np.where(residual > 0, 1.0, -1.0), np.ones(n), SparseDesign(X)
    # In a row, as in a fit: a single one would measure how cold the caches are.
    works: dict[str, Work] = {
        "passes": lambda: [
            design.value_gradient(coef[None], np.array([0.1]), y, weight, LOSS).value
            for _ in range(IN_A_ROW)
        ],
        "scipy": lambda: [(X @ coef, X.T @ residual) for _ in range(IN_A_ROW)],
    }
    return race(works, run.times(40), warm_up=True)


@benchmark(
    "csr-web8",
    "value and gradient of web8, 45,546 x 300, 13 entries a row, against scipy's two products",
    Threshold("time / scipy", "<=", 0.6),
)
def csr_web8(run: Run) -> Measured:
    timings = _csr(web8(run)[0], run)
    figures = {"time / scipy": timings["passes"] / timings["scipy"]}
    return as_measured(timings, figures, f"{num_threads()} threads")


@benchmark(
    "csr-reviews",
    "value and gradient of reviews, 2,000 x 12,130 to 28,310, against scipy's two products",
    *(Threshold(f"{domain}: time / scipy", "<=", 0.6) for domain in REVIEW_DOMAINS),
)
def csr_reviews(run: Run) -> Measured:
    figures, notes, details = {}, [], {}
    for domain in REVIEW_DOMAINS:
        X = fetched(partial(fetch_reviews, domain))[0].tocsr()
        timings = _csr(X, run)
        figures[f"{domain}: time / scipy"] = timings["passes"] / timings["scipy"]
        notes.append(f"{domain}, {X.shape[1]:,} words: {show(timings)}, {num_threads()} threads")
        details[domain] = seconds(timings)
    return Measured(figures, notes, details)


@contextmanager
def _threads(count: int) -> Iterator[None]:
    before = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
    numba.config.NUMBA_NUM_THREADS = count  # type: ignore[attr-defined]
    try:
        yield
    finally:
        numba.config.NUMBA_NUM_THREADS = before  # type: ignore[attr-defined]


def _with_threads(count: int, work: Work) -> Any:
    with _threads(count):
        return work()


@benchmark(
    "threads",
    "two threads over one on 350,000 x 254: gradient, probe, zero-one line; and a bare read",
    *(
        Threshold(f"{name}: one thread / two", ">=", 1.6)
        for name in ("gradient", "probe of 81 steps", "zero-one line")
    ),
)
def threads(run: Run) -> Measured:
    if num_threads() < 2:
        raise Unavailable("two threads need two cores; see NUMBA_NUM_THREADS and OMP_NUM_THREADS")
    X, y = gaussian(run.rows(ROWS), FEATURES, run.seed)
    rng = np.random.default_rng(run.seed + 1)
    coef, direction = rng.normal(scale=0.1, size=(2, 1, FEATURES))
    design, weight, zero = DenseDesign(X), np.ones(len(y)), np.zeros(1)
    raw, change = design.scores(coef, zero), design.scores(direction, zero)
    works: dict[str, Work] = {
        "gradient": lambda: design.value_gradient(coef, zero + 0.1, y, weight, LOSS).value,
        "probe of 81 steps": lambda: design.probes(raw, [(9, 0.0, 0, STEPS)], y, weight, LOSS),
        "zero-one line": lambda: exact_line(raw, change, y, weight),
    }
    both: dict[str, Work] = {
        f"{name}, {count}": partial(_with_threads, count, work)
        for name, work in works.items()
        for count in (1, 2)
    }
    with ThreadPoolExecutor(2) as pool:
        reads = {f"bare read, {n}": partial(_read, _add_up, X, n, pool) for n in (1, 2)}
        timings = race({**both, **reads}, run.times(25), warm_up=True)
    gains = {name: timings[f"{name}, 1"] / timings[f"{name}, 2"] for name in (*works, "bare read")}
    limit = f"a bare read of the matrix, the limit of the gradient: {gains.pop('bare read'):.2f}"
    figures = {f"{name}: one thread / two": gain for name, gain in gains.items()}
    return as_measured(timings, figures, limit)
