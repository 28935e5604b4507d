"""The bars of speed: dense and sparse passes, whole fits, and what a second thread brings."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any

import numba
import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from bblr import BBLRClassifier
from bblr._numeric.threads import num_threads
from bblr._numeric.zero_one import exact_line
from bblr.datasets import UCI_NAMES, load_uci
from bblr.designs import DenseDesign, SparseDesign
from bblr.losses import BetaBernoulli
from research.benchmarks.cases import Bar, Measured, Settings, Unavailable, case
from research.benchmarks.data import gaussian, review_words, web8
from research.benchmarks.passes import READERS, STEPS
from research.benchmarks.timing import Timing, race, seconds, show

ROWS, FEATURES = 350_000, 254
LOSS = BetaBernoulli.binary(0.1, 0.8, gamma=4.0)
IN_A_ROW = 20
DOMAINS = ("books", "dvd", "electronics", "kitchen")


def _times(rivals: Mapping[str, Callable[[], Any]], repeats: int) -> dict[str, Timing]:
    with warnings.catch_warnings():
        # A rival at its default settings may stop short; that is its own affair.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return race(rivals, repeats, warm_up=True)


@case(
    "fit-dense",
    "BBLRClassifier().fit on isotropic Gaussian data, 350,000 x 254, 5 % of the labels flipped",
    Bar("time / LogisticRegression", "<=", 1.0),
    Bar("time / LinearSVC", "<=", 0.3),
)
def fit_dense(settings: Settings) -> Measured:
    X, y = gaussian(settings.rows(ROWS), FEATURES, settings.seed)
    tried = slice(2_000)
    BBLRClassifier().fit(X[tried], y[tried])
    makers = {
        "BBLR": BBLRClassifier,
        "LogisticRegression": LogisticRegression,
        "LinearSVC": LinearSVC,
    }
    fits = {name: lambda make=make: make().fit(X, y) for name, make in makers.items()}
    # LinearSVC takes several times as long as both others: fewer rounds of it.
    slow = race({"LinearSVC": fits.pop("LinearSVC")}, settings.repeats(2))
    timings = {**race(fits, settings.repeats(7)), **slow}
    return Measured(
        {f"time / {name}": timings["BBLR"].best / timings[name].best for name in list(makers)[1:]},
        [show(timings)],
        {"shape": X.shape, "seconds": seconds(timings)},
    )


@case(
    "fit-uci",
    "BBLRClassifier().fit on each embedded UCI table, against LogisticRegression()",
    *(Bar(f"{name}: time / LogisticRegression", "<=", 10.0) for name in UCI_NAMES),
)
def fit_uci(settings: Settings) -> Measured:
    figures, notes, details = {}, [], {}
    for name in UCI_NAMES:
        X, y = load_uci(name, return_X_y=True)
        rivals = {
            "BBLR": partial(BBLRClassifier().fit, X, y),
            "LogisticRegression": partial(LogisticRegression().fit, X, y),
        }
        timings = _times(rivals, settings.repeats(30))
        ratio = timings["BBLR"].best / timings["LogisticRegression"].best
        figures[f"{name}: time / LogisticRegression"] = ratio
        notes.append(f"{name}: {show(timings)}")
        details[name] = seconds(timings)
    return Measured(figures, notes, details)


def _csr(X: Any, settings: Settings) -> dict[str, Timing]:
    """Race a pass for value and gradient against the two products of scipy it consists of."""
    rng = np.random.default_rng(settings.seed)
    n, d = X.shape
    coef, residual = rng.normal(scale=0.1, size=d), rng.normal(size=n)
    y, weight, design = np.where(residual > 0, 1.0, -1.0), np.ones(n), SparseDesign(X)
    # In a row, as in a fit: a single one would measure how cold the caches are.
    rivals = {
        f"{IN_A_ROW} passes": lambda: [
            design.value_gradient(coef[None], np.array([0.1]), y, weight, LOSS).value
            for _ in range(IN_A_ROW)
        ],
        "scipy": lambda: [(X @ coef, X.T @ residual) for _ in range(IN_A_ROW)],
    }
    return race(rivals, settings.repeats(40), warm_up=True)


def _over_scipy(timings: Mapping[str, Timing]) -> float:
    return timings[f"{IN_A_ROW} passes"].best / timings["scipy"].best


@case(
    "csr-web8",
    "value and gradient of web8, 45,546 x 300, 13 entries a row, against scipy's two products",
    Bar("time / scipy", "<=", 0.6),
)
def csr_web8(settings: Settings) -> Measured:
    timings = _csr(web8(settings)[0], settings)
    ratio = _over_scipy(timings)
    note = f"{show(timings)}, {num_threads()} threads"
    return Measured({"time / scipy": ratio}, [note], {"seconds": seconds(timings)})


@case(
    "csr-reviews",
    "value and gradient of reviews, 2,000 x 12,130 to 28,310, against scipy's two products",
    *(Bar(f"{domain}: time / scipy", "<=", 0.6) for domain in DOMAINS),
)
def csr_reviews(settings: Settings) -> Measured:
    figures, notes, details = {}, [], {}
    for domain in DOMAINS:
        X = review_words(domain)
        timings = _csr(X, settings)
        figures[f"{domain}: time / scipy"] = _over_scipy(timings)
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


def _with_threads(count: int, work: Callable[[], Any]) -> Callable[[], Any]:
    def run() -> Any:
        with _threads(count):
            return work()

    return run


def _read(X: Any, count: int, pool: ThreadPoolExecutor) -> Any:
    # Whichever reads fastest stands for the memory, as in the cases of the passes.
    return list(pool.map(READERS["read by loop"], np.array_split(X.ravel(), count)))


@case(
    "threads",
    "two threads over one on 350,000 x 254: gradient, probe, zero-one line; a bare read beside",
    Bar("gradient: one thread / two", ">=", 1.6),
    Bar("probe of 81 steps: one thread / two", ">=", 1.6),
    Bar("zero-one line: one thread / two", ">=", 1.6),
)
def threads(settings: Settings) -> Measured:
    if num_threads() < 2:
        raise Unavailable("two threads need two cores; see NUMBA_NUM_THREADS and OMP_NUM_THREADS")
    X, y = gaussian(settings.rows(ROWS), FEATURES, settings.seed)
    rng = np.random.default_rng(settings.seed + 1)
    coef, direction = rng.normal(scale=0.1, size=(2, 1, FEATURES))
    design, weight = DenseDesign(X), np.ones(len(y))
    zero = np.zeros(1)
    raw, change = design.scores(coef, zero), design.scores(direction, zero)
    works = {
        "gradient": lambda: design.value_gradient(coef, zero + 0.1, y, weight, LOSS).value,
        "probe of 81 steps": lambda: design.probe(raw, (9, 0.0, 0, STEPS), y, weight, LOSS),
        "zero-one line": lambda: exact_line(raw, change, y, weight),
    }
    with ThreadPoolExecutor(2) as pool:
        rivals = {
            f"{name}, {count}": _with_threads(count, work)
            for name, work in works.items()
            for count in (1, 2)
        }
        rivals |= {f"bare read, {count}": partial(_read, X, count, pool) for count in (1, 2)}
        timings = race(rivals, settings.repeats(25), warm_up=True)

    def gain(name: str) -> float:
        return timings[f"{name}, 1"].best / timings[f"{name}, 2"].best

    limit = f"a bare read of the matrix, the limit of the gradient: {gain('bare read'):.2f}"
    return Measured(
        {f"{name}: one thread / two": gain(name) for name in works},
        [show(timings), limit],
        {"seconds": seconds(timings)},
    )
