"""Whole fits beside scikit-learn's linear classifiers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.svm import LinearSVC

from bblr import BBLRClassifier, BBLRClassifierCV
from research.benchmarks.cases import Bar, Measured, Settings, case
from research.benchmarks.data import gaussian, trec07p, web8
from research.benchmarks.timing import race, seconds, show

STRENGTHS = np.logspace(-3, 3, 10)
MINE = "BBLR"
LOGISTIC = "LogisticRegression"


def _logistic() -> Any:
    return LogisticRegression(max_iter=1000)


def _race(
    rivals: Mapping[str, Callable[[], Any]],
    data: tuple[Any, Any],
    repeats: int,
    test: tuple[Any, Any] | None = None,
) -> Measured:
    """Fit every rival in turns; figures are the times of the first over those of the others."""
    # Compiled kernels must be loaded before the clock runs, whatever the size of the data.
    rows = np.r_[np.flatnonzero(data[1] > 0)[:50], np.flatnonzero(data[1] <= 0)[:50]]
    BBLRClassifier().fit(data[0][rows], data[1][rows])
    fits = {name: lambda make=make: make().fit(*data) for name, make in rivals.items()}
    timings = race(fits, repeats)
    mine = timings[MINE].best
    figures = {f"time / {name}": mine / timings[name].best for name in rivals if name != MINE}
    details: dict[str, Any] = {"shape": data[0].shape, "seconds": seconds(timings)}
    notes = [show(timings)]
    if test is not None:
        errors = {n: int(np.sum(t.result.predict(test[0]) != test[1])) for n, t in timings.items()}
        shown = (f"{name} {n} ({100 * n / len(test[1]):.2f} %)" for name, n in errors.items())
        notes.append("test errors: " + ", ".join(shown))
        details["test errors"] = errors
        for name in rivals:
            if name != MINE:
                figures[f"test errors / {name}"] = errors[MINE] / max(errors[name], 1)
    return Measured(figures, notes, details)


@case(
    "fit-trec07p",
    "BBLRClassifier().fit on TREC07p, dense and z-scored, 60,319 x 256",
    Bar(f"time / {LOGISTIC}", "<=", 1.0),
    Bar(f"test errors / {LOGISTIC}", "<", 1.0),
)
def fit_trec07p(settings: Settings) -> Measured:
    X, y, X_test, y_test = trec07p(settings)
    rivals = {MINE: BBLRClassifier, LOGISTIC: _logistic}
    return _race(rivals, (X, y), settings.repeats(5), (X_test, y_test))


@case(
    "fit-isotropic",
    "BBLRClassifier().fit on isotropic Gaussian data, 100,000 x 254, 5 % of the labels flipped",
    Bar(f"time / {LOGISTIC}", "<=", 3.0),
    Bar("time / LinearSVC", "<=", 0.6),
)
def fit_isotropic(settings: Settings) -> Measured:
    data = gaussian(settings.rows(100_000), 254, settings.seed)
    rivals = {MINE: BBLRClassifier, LOGISTIC: _logistic, "LinearSVC": LinearSVC}
    return _race(rivals, data, settings.repeats(5))


@case(
    "fit-digits",
    "BBLRClassifier().fit on scikit-learn's digits, ten classes, 1,797 x 64, z-scored",
    Bar(f"time / {LOGISTIC}", "<=", 2.0),
)
def fit_digits(settings: Settings) -> Measured:
    from sklearn.datasets import load_digits
    from sklearn.preprocessing import StandardScaler

    X, y = load_digits(return_X_y=True)
    rows = slice(0, settings.rows(len(y)))
    data = StandardScaler().fit_transform(X)[rows], y[rows]
    BBLRClassifier().fit(*data)
    rivals = {MINE: BBLRClassifier, LOGISTIC: _logistic}
    return _race(rivals, data, settings.repeats(15))


@case(
    "fit-web8",
    "BBLRClassifier().fit on web8, sparse 45,546 x 300",
    Bar(f"time / {LOGISTIC}", "<=", 3.0),
)
def fit_web8(settings: Settings) -> Measured:
    X, y, _, _ = web8(settings)
    return _race({MINE: BBLRClassifier, LOGISTIC: _logistic}, (X, y), settings.repeats(7))


@case(
    "cv-web8",
    "BBLRClassifierCV().fit on web8, against a grid search of LogisticRegression over 10 C",
    Bar("time / GridSearchCV", "<=", 4.0),
)
def cv_web8(settings: Settings) -> Measured:
    X, y, _, _ = web8(settings)
    rivals = {
        MINE: lambda: BBLRClassifierCV(random_state=settings.seed),
        "GridSearchCV": lambda: GridSearchCV(_logistic(), {"C": STRENGTHS}, cv=5),
    }
    return _race(rivals, (X, y), settings.repeats(2))
