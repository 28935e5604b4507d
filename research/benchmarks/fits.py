"""Whole fits against scikit-learn's linear classifiers, the first of a process, and warm ones."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from copy import deepcopy
from functools import partial
from importlib.util import find_spec
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from bblr import BBLRClassifier, BBLRClassifierCV
from bblr.datasets import UCI_NAMES, load_uci
from research.benchmarks import benchmark
from research.benchmarks.data import correlated, gaussian, trec07p, web8
from research.benchmarks.timing import Work, as_measured, race, run_python, seconds, show
from research.benchmarks.tournaments import Liblinear, made, reviews
from research.core.cases import Measured, Run, Unavailable
from research.core.parts import Parts
from research.core.thresholds import Threshold

STRENGTHS = np.logspace(-3, 3, 10)
MINE, LOGISTIC, SVC = "BBLR", "LogisticRegression", "LinearSVC"
LIBLINEAR = "liblinear-official"
ROWS, REFIT_SHAPE = 350_000, (60_000, 100)


def _fit(model: Any, X: Any, y: Any) -> Any:
    with warnings.catch_warnings():
        # A baseline at its default settings may stop short; that is reported, not mended.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return clone(model).fit(X, y)


def _race(
    models: Mapping[str, Any],
    data: tuple[Any, Any],
    repeats: int,
    test: tuple[Any, Any] | None = None,
) -> Measured:
    """Fit every model in turns; figures are the times of ours over those of the others."""
    # Compiled kernels must be loaded before the clock runs, whatever the size of the data.
    rows = np.r_[np.flatnonzero(data[1] > 0)[:50], np.flatnonzero(data[1] <= 0)[:50]]
    BBLRClassifier().fit(data[0][rows], data[1][rows])
    timings = race({name: partial(_fit, model, *data) for name, model in models.items()}, repeats)
    others = [name for name in models if name != MINE]
    figures = {f"time / {name}": timings[MINE] / timings[name] for name in others}
    if test is None:
        return as_measured(timings, figures, shape=data[0].shape)
    errors = {n: int(np.sum(t.result.predict(test[0]) != test[1])) for n, t in timings.items()}
    shown = (f"{name} {n} ({100 * n / len(test[1]):.2f} %)" for name, n in errors.items())
    figures |= {f"test errors / {name}": errors[MINE] / max(errors[name], 1) for name in others}
    note = "test errors: " + ", ".join(shown)
    return as_measured(timings, figures, note, shape=data[0].shape, errors=errors)


def _pair() -> dict[str, Any]:
    return {MINE: BBLRClassifier(), LOGISTIC: LogisticRegression(max_iter=1000)}


@benchmark(
    "fit-trec07p",
    "BBLRClassifier().fit on TREC07p, dense and z-scored, 60,319 x 256",
    Threshold(f"time / {LOGISTIC}", "<=", 1.0),
    Threshold(f"test errors / {LOGISTIC}", "<", 1.0),
)
def fit_trec07p(run: Run) -> Measured:
    parts = trec07p(run)
    return _race(_pair(), parts[:2], run.times(5), parts[2:])


@benchmark(
    "fit-isotropic",
    "BBLRClassifier().fit on isotropic Gaussian data, 100,000 x 254, 5 % of the labels flipped",
    Threshold(f"time / {LOGISTIC}", "<=", 3.0),
    Threshold(f"time / {SVC}", "<=", 0.6),
)
def fit_isotropic(run: Run) -> Measured:
    data = gaussian(run.rows(100_000), 254, run.seed)
    return _race({**_pair(), SVC: LinearSVC()}, data, run.times(5))


@benchmark(
    "fit-dense",
    "BBLRClassifier().fit on isotropic Gaussian data, 350,000 x 254, 5 % of the labels flipped",
    Threshold(f"time / {LOGISTIC}", "<=", 1.0),
    Threshold(f"time / {SVC}", "<=", 0.3),
)
def fit_dense(run: Run) -> Measured:
    data = gaussian(run.rows(ROWS), 254, run.seed)
    BBLRClassifier().fit(data[0][:2_000], data[1][:2_000])
    models = {MINE: BBLRClassifier(), LOGISTIC: LogisticRegression(), SVC: LinearSVC()}
    works: dict[str, Work] = {n: partial(_fit, model, *data) for n, model in models.items()}
    # LinearSVC takes several times as long as both others: fewer rounds of it.
    slow = race({SVC: works.pop(SVC)}, run.times(2))
    timings = {**race(works, run.times(7)), **slow}
    figures = {f"time / {name}": timings[MINE] / timings[name] for name in (LOGISTIC, SVC)}
    return as_measured(timings, figures, shape=data[0].shape)


@benchmark(
    "fit-uci",
    "BBLRClassifier().fit on each embedded UCI table, against LogisticRegression()",
    *(Threshold(f"{name}: time / {LOGISTIC}", "<=", 10.0) for name in UCI_NAMES),
)
def fit_uci(run: Run) -> Measured:
    figures, notes, details = {}, [], {}
    for name in UCI_NAMES:
        data = load_uci(name, return_X_y=True)
        models = {MINE: BBLRClassifier(), LOGISTIC: LogisticRegression()}
        works = {label: partial(_fit, model, *data) for label, model in models.items()}
        timings = race(works, run.times(30), warm_up=True)
        figures[f"{name}: time / {LOGISTIC}"] = timings[MINE] / timings[LOGISTIC]
        notes.append(f"{name}: {show(timings)}")
        details[name] = seconds(timings)
    return Measured(figures, notes, details)


@benchmark(
    "fit-digits",
    "BBLRClassifier().fit on scikit-learn's digits, ten classes, 1,797 x 64, z-scored",
    Threshold(f"time / {LOGISTIC}", "<=", 2.0),
)
def fit_digits(run: Run) -> Measured:
    X, y = load_digits(return_X_y=True)
    data = StandardScaler().fit_transform(X), y
    BBLRClassifier().fit(*data)
    return _race(_pair(), data, run.times(15))


@benchmark(
    "fit-web8",
    "BBLRClassifier().fit on web8, sparse 45,546 x 300",
    Threshold(f"time / {LOGISTIC}", "<=", 3.0),
)
def fit_web8(run: Run) -> Measured:
    return _race(_pair(), web8(run), run.times(7))


def _beside_liblinear(parts: Parts, repeats: int) -> Measured:
    if find_spec("liblinear") is None:
        raise Unavailable("liblinear-official is not installed (pip install '.[bench]')")
    models = {MINE: BBLRClassifier(), LIBLINEAR: Liblinear(), LOGISTIC: LogisticRegression()}
    measured = _race(models, parts[:2], repeats, parts[2:])
    own = (f"time / {LIBLINEAR}", f"test errors / {LOGISTIC}")
    figures = {name: measured.figures[name] for name in own}
    return Measured(figures, measured.notes, measured.details)


@benchmark(
    "fit-text",
    "BBLRClassifier().fit on 20,000 made-up documents of 40,000 words, against liblinear",
    Threshold(f"time / {LIBLINEAR}", "<=", 1.0),
    Threshold(f"test errors / {LOGISTIC}", "<=", 1.0),
)
def fit_text(run: Run) -> Measured:
    return _beside_liblinear(made("text", run), run.times(11))


@benchmark(
    "fit-reviews",
    "BBLRClassifier().fit on 1,500 reviews of books, counts of words, against liblinear",
    Threshold(f"time / {LIBLINEAR}", "<=", 1.0),
    Threshold(f"test errors / {LOGISTIC}", "<=", 1.0),
)
def fit_reviews(run: Run) -> Measured:
    return _beside_liblinear(reviews(run), run.times(31))


@benchmark(
    "cv-web8",
    "BBLRClassifierCV().fit on web8, against a grid search of LogisticRegression over 10 C",
    Threshold("time / GridSearchCV", "<=", 4.0),
)
def cv_web8(run: Run) -> Measured:
    search = GridSearchCV(LogisticRegression(max_iter=1000), {"C": STRENGTHS}, cv=5)
    models = {MINE: BBLRClassifierCV(random_state=run.seed), "GridSearchCV": search}
    return _race(models, web8(run), run.times(2))


DATA = """
import numpy as np
rng = np.random.default_rng(0)
X = rng.normal(size=(2000, 20))
y = X[:, 0] > rng.normal(size=2000)
"""
SPARSE = "import scipy.sparse as sp\nX = sp.csr_matrix(np.maximum(X - 1, 0))\n"
OWN = "from bblr import BBLRClassifier\nBBLRClassifier().fit(X, y)\n"
THEIRS = "from sklearn.linear_model import LogisticRegression\nLogisticRegression().fit(X, y)\n"
MANY = "y = np.digitize(X[:, 0], [-0.5, 0.5])\n"
KERNEL = "from bblr import KernelBBLRClassifier\nKernelBBLRClassifier().fit(X[:300], y[:300])\n"
SEARCH = "from bblr import ZeroOneClassifier\nZeroOneClassifier(time_limit=0.1).fit(X, y)\n"
COLD = {"dense": OWN, "sparse": SPARSE + OWN, "many classes": MANY + OWN, "kernel": KERNEL,
        "zero-one search": SEARCH}  # fmt: skip


@benchmark(
    "first-fit",
    "a first fit in a fresh process, warm numba cache, beyond that of LogisticRegression",
    *(Threshold(f"seconds beyond {LOGISTIC}, {kind}", "<=", 0.5) for kind in ("dense", "sparse")),
)
def first_fit(run: Run) -> Measured:
    works: dict[str, Work] = {
        f"{who}, {kind}": partial(run_python, DATA + shape + code)
        for kind, shape in (("dense", ""), ("sparse", SPARSE))
        for who, code in ((MINE, OWN), (LOGISTIC, THEIRS))
    }
    timings = race(works, run.times(7), warm_up=True)
    figures = {
        f"seconds beyond {LOGISTIC}, {kind}": timings[f"{MINE}, {kind}"].best
        - timings[f"{LOGISTIC}, {kind}"].best
        for kind in ("dense", "sparse")
    }
    return as_measured(timings, figures)


@benchmark(
    "first-compile", "a first fit in a fresh process, kernels compiled, against kernels cached"
)
def first_compile(run: Run) -> Measured:
    figures: dict[str, float] = {}
    for name in list(COLD)[:1] if run.quick else COLD:
        with TemporaryDirectory() as cache:
            # The first run fills the cache, the second finds it.
            work = partial(run_python, DATA + COLD[name], environment={"NUMBA_CACHE_DIR": cache})
            first, second = race({name: work}, 2)[name].seconds
        figures |= {f"{name}: seconds, compiling": first, f"{name}: seconds, cached": second}
    return Measured(figures)


def _refit(fitted: Any, X: Any, y: Any) -> Any:
    return deepcopy(fitted).fit(X, y)


@benchmark("warm-start", "a fit after a tenth more rows, from the last fit and from nothing")
def warm_start(run: Run) -> Measured:
    rows = run.rows(REFIT_SHAPE[0])
    X, y = correlated(rows, REFIT_SHAPE[1], run.seed)
    known = slice(0, rows - rows // 10)
    works: dict[str, Work] = {}
    models = {MINE: BBLRClassifier(), LOGISTIC: LogisticRegression()}
    for name, model in models.items():
        fitted = clone(model).set_params(warm_start=True).fit(X[known], y[known])
        works[f"{name} warm"] = partial(_refit, fitted, X, y)
        works[f"{name} cold"] = partial(model.fit, X, y)
    timings = race(works, run.times(5))
    return as_measured(
        timings,
        {f"{name}: warm / cold": timings[f"{name} warm"] / timings[f"{name} cold"]
         for name in models},
    )  # fmt: skip
