"""What a first fit costs in a fresh process, and what starting from the last fit saves."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from functools import partial
from tempfile import TemporaryDirectory
from typing import Any

from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from bblr import BBLRClassifier
from research.benchmarks import made
from research.benchmarks.cases import Bar, Measured, Settings, case
from research.benchmarks.processes import run_python
from research.benchmarks.timing import race, seconds, show

MAKE_DATA = """
import numpy as np
rng = np.random.default_rng(0)
X = rng.normal(size=(2000, 20))
y = X[:, 0] > rng.normal(size=2000)
"""
SPARSE = "import scipy.sparse as sp\nX = sp.csr_matrix(np.maximum(X - 1, 0))\n"
MINE = "from bblr import BBLRClassifier\nBBLRClassifier().fit(X, y)\n"
THEIRS = "from sklearn.linear_model import LogisticRegression\nLogisticRegression().fit(X, y)\n"
MANY = "y = np.digitize(X[:, 0], [-0.5, 0.5])\n"
KERNEL = "from bblr import KernelBBLRClassifier\nKernelBBLRClassifier().fit(X[:300], y[:300])\n"
SEARCH = "from bblr import ZeroOneClassifier\nZeroOneClassifier(time_limit=0.1).fit(X, y)\n"
REFIT_SHAPE = (60_000, 100)


@case(
    "first-fit",
    "a first fit in a fresh process, warm numba cache, beyond that of LogisticRegression",
    Bar("seconds beyond LogisticRegression, dense", "<=", 0.5),
    Bar("seconds beyond LogisticRegression, sparse", "<=", 0.5),
)
def first_fit(settings: Settings) -> Measured:
    scripts = {
        "BBLR": MAKE_DATA + MINE,
        "LR": MAKE_DATA + THEIRS,
        "BBLR sparse": MAKE_DATA + SPARSE + MINE,
        "LR sparse": MAKE_DATA + SPARSE + THEIRS,
    }
    runs = {name: lambda code=code: run_python(code) for name, code in scripts.items()}
    timings = race(runs, settings.repeats(7), warm_up=True)
    best = {name: timing.best for name, timing in timings.items()}
    return Measured(
        {
            "seconds beyond LogisticRegression, dense": best["BBLR"] - best["LR"],
            "seconds beyond LogisticRegression, sparse": best["BBLR sparse"] - best["LR sparse"],
        },
        [show(timings)],
        {"seconds": seconds(timings)},
    )


@case("first-compile", "a first fit in a fresh process, kernels compiled, against kernels cached")
def first_compile(settings: Settings) -> Measured:
    scripts = {
        "dense": MAKE_DATA + MINE,
        "sparse": MAKE_DATA + SPARSE + MINE,
        "many classes": MAKE_DATA + MANY + MINE,
        "kernel": MAKE_DATA + KERNEL,
        "zero-one search": MAKE_DATA + SEARCH,
    }
    figures: dict[str, float] = {}
    for name in list(scripts)[:1] if settings.quick else scripts:
        with TemporaryDirectory() as cache:
            # The first run fills the cache, the second finds it.
            run = partial(run_python, scripts[name], environment={"NUMBA_CACHE_DIR": cache})
            first, second = race({name: run}, 2)[name].seconds
        figures[f"{name}: seconds, compiling"] = first
        figures[f"{name}: seconds, cached"] = second
    return Measured(figures)


def _refit(fitted: Any, X: Any, y: Any) -> Any:
    return deepcopy(fitted).fit(X, y)


@case("warm-start", "a fit after a tenth more rows, from the last fit and from nothing")
def warm_start(settings: Settings) -> Measured:
    rows = settings.rows(REFIT_SHAPE[0])
    X, y = made.correlated(rows, REFIT_SHAPE[1], settings.seed)
    known = slice(0, rows - rows // 10)
    runs: dict[str, Callable[[], Any]] = {}
    models = {"BBLR": BBLRClassifier(), "LogisticRegression": LogisticRegression()}
    for name, model in models.items():
        fitted = clone(model).set_params(warm_start=True).fit(X[known], y[known])
        runs[f"{name} warm"] = partial(_refit, fitted, X, y)
        runs[f"{name} cold"] = partial(model.fit, X, y)
    timings = race(runs, settings.repeats(5))
    figures = {
        f"{name}: warm / cold": timings[f"{name} warm"].best / timings[f"{name} cold"].best
        for name in models
    }
    return Measured(figures, [show(timings)], {"seconds": seconds(timings)})
