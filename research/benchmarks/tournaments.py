"""All baselines at one kind of work: times in turns, with what they get wrong next to them.

Each runs with its own defaults: strength, tolerance and limit of iterations. Where a baseline
states its strength by the row (skglm), it gets what C = 1 means to the others. What a baseline
does to X before it starts is on its clock, as it is on ours.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, SGDClassifier
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from bblr import (
    BBLRClassifier,
    BBLRClassifierCV,
    KernelBBLRClassifier,
    SLAClassifier,
    ZeroOneClassifier,
)
from bblr.datasets import REVIEW_DOMAINS, fetch_reviews, load_uci
from research.benchmarks import benchmark, data
from research.benchmarks.data import cut, fetched
from research.benchmarks.timing import race, shown_ratio, shown_seconds
from research.core.cases import Measured, Run
from research.core.parts import Parts

OURS = "bblr"


@dataclass(frozen=True)
class Baseline:
    """A classifier that races.

    Parameters
    ----------
    name : str
        As tables show it.
    settings : str
        What is not a default, in words; empty where everything is.
    make : callable
        Makes an untrained classifier for so many rows.
    fits : str
        The kinds of work it can do, in words: "dense", "sparse", "wide" (more features than a
        square matrix of them is worth), "many" (classes), "kernel".
    module : str
        What must be installed, if it is not a dependency of bblr.
    """

    name: str
    settings: str
    make: Callable[[int], Any]
    fits: str
    module: str = ""

    def missing(self) -> str:
        """Say what is not installed; empty where it can race."""
        if self.module and find_spec(self.module) is None:
            return f"{self.module} is not installed (pip install '.[bench]')"
        return ""


class Liblinear(ClassifierMixin, BaseEstimator):
    """liblinear's own Python interface as a classifier: L2 logistic regression, primal."""

    def __init__(self, options: str = "-s 0 -c 1 -B 1 -q") -> None:
        self.options = options

    def fit(self, X: Any, y: Any) -> Liblinear:
        from liblinear.liblinearutil import parameter, problem, train

        self.classes_, codes = np.unique(y, return_inverse=True)
        # It reads sparse rows only; its own way from a dense array is ten times slower.
        model = train(problem(codes.astype(float), sparse.csr_matrix(X)), parameter(self.options))
        order = np.array(model.get_labels(), dtype=int)
        columns = 1 if len(order) == 2 else len(order)
        weights = np.ctypeslib.as_array(model.w, shape=(X.shape[1] + 1, columns)).copy()
        self.coef_, self.intercept_, self.order_ = weights[:-1], weights[-1], order
        return self

    def predict(self, X: Any) -> Any:
        scores = X @ self.coef_ + self.intercept_
        best = (scores[:, 0] <= 0).astype(int) if scores.shape[1] == 1 else scores.argmax(axis=1)
        return self.classes_[self.order_[best]]


def _skglm(rows: int) -> Any:
    from skglm import SparseLogisticRegression

    return SparseLogisticRegression(alpha=1.0 / rows, l1_ratio=0.0)


def _plain(name: str, settings: str, model: Any, fits: str = "kernel") -> Baseline:
    """Make a baseline whose settings do not depend on the number of rows."""
    return Baseline(name, settings, lambda rows: clone(model), fits)


def _logistic(solver: str, fits: str) -> Baseline:
    words = "" if solver == "lbfgs" else f'solver="{solver}"'
    model = LogisticRegression(solver=solver, random_state=0)
    return _plain(f"LogisticRegression {solver}", words, model, fits)


_ALL = "dense sparse wide many"
_HUBER = SGDClassifier(loss="modified_huber", random_state=0)
LINEAR = (
    _plain(OURS, "", BBLRClassifier(), _ALL),
    _logistic("lbfgs", _ALL),
    _logistic("liblinear", "dense sparse wide"),
    _logistic("newton-cholesky", "dense sparse many"),
    _logistic("saga", _ALL),
    _plain("LinearSVC", "", LinearSVC(random_state=0), _ALL),
    _plain("SGDClassifier", 'loss="modified_huber"', _HUBER, _ALL),
    Baseline("liblinear-official", "-s 0 -c 1 -B 1", lambda rows: Liblinear(), _ALL, "liblinear"),
    Baseline("skglm", "SparseLogisticRegression(alpha=1/n, l1_ratio=0)", _skglm, _ALL, "skglm"),
)
KERNEL = (
    _plain(OURS, "KernelBBLRClassifier()", KernelBBLRClassifier()),
    _plain(
        f"{OURS} sparse",
        'KernelBBLRClassifier(sparsity="backward")',
        KernelBBLRClassifier(sparsity="backward", random_state=0),
    ),
    _plain("SVC", "", SVC()),
)


def racing(baselines: Sequence[Baseline], kind: str) -> tuple[list[Baseline], dict[str, str]]:
    """Return those that can do a kind of work, and why the others of them are not installed."""
    able = [baseline for baseline in baselines if kind in baseline.fits.split()]
    missing = {baseline.name: baseline.missing() for baseline in able if baseline.missing()}
    return [baseline for baseline in able if baseline.name not in missing], missing


ERROR, TRAINING_ERROR = "held-out error, %", "training error, %"
LIMIT = "stopped at its limit of iterations"
# Enough for every class to occur, and too few to take time.
TRIED = 300


def _fit(make: Callable[[int], Any], X: Any, y: Any) -> tuple[Any, bool]:
    """Fit a baseline; also tell whether its limit of iterations stopped it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = make(X.shape[0]).fit(X, y)
    return model, any(issubclass(w.category, ConvergenceWarning) for w in caught)


def tournament(
    baselines: Sequence[Baseline],
    missing: Mapping[str, str],
    parts: Parts,
    repeats: int,
    *,
    score: str = ERROR,
) -> Measured:
    """Fit every baseline in turns and put its time over that of the first next to its error.

    Parameters
    ----------
    baselines : sequence of Baseline
        Who races; the first is ours.
    missing : mapping of str to str
        Who does not, and why.
    parts : Parts
        Rows to fit, and rows to count errors on: nobody wins by stopping early.
    repeats : int
        Fits of each.
    score : str, default=ERROR
        What the errors are called.

    Returns
    -------
    Measured
        No figures; the table is in its notes and, as ``table``, in its details.
    """
    for baseline in baselines:
        # Compiled code is loaded before the clock runs.
        _fit(baseline.make, parts.X_train[:TRIED], parts.y_train[:TRIED])
    timings = race(
        {b.name: partial(_fit, b.make, parts.X_train, parts.y_train) for b in baselines}, repeats
    )
    ours = timings[baselines[0].name]
    table: list[dict[str, Any]] = []
    for baseline in baselines:
        timing = timings[baseline.name]
        model, stopped = timing.result
        wrong = np.mean(np.asarray(model.predict(parts.X_test)) != parts.y_test)
        table.append(
            {
                "baseline": baseline.name,
                "settings": baseline.settings,
                "seconds": round(timing.best, 6),
                "ratio": round(timing / ours, 6),
                "error": round(100.0 * float(wrong), 3),
                "stopped": stopped,
                "runs": [round(s, 6) for s in timing.seconds],
            }
        )
    width = max(len(row["baseline"]) for row in table)
    notes = [f"{'':<{width}}  {'time':>9}  {'/ ours':>7}  {score:>18}"]
    notes += [
        f"{row['baseline']:<{width}}  {shown_seconds(row['seconds']):>9}"
        f"  {shown_ratio(row['ratio']):>7}  {row['error']:>18.2f}"
        f"{'  ' + LIMIT if row['stopped'] else ''}"
        for row in table
    ]
    notes += [f"{name}: {reason}" for name, reason in missing.items()]
    details = {"shape": list(parts.X_train.shape), "score": score, "table": table}
    return Measured({}, notes, {**details, "missing": dict(missing)})


TEST_SHARE = 0.25
STRENGTHS = np.logspace(-3, 3, 10)
# How to make the rows, and their shape: a quarter more of them are for the test.
SHAPES: dict[str, tuple[Any, tuple[int, ...]]] = {
    "dense": (data.correlated, (40_000, 100)),
    "csr": (data.indicators, (60_000, 300, 12)),
    "text": (data.text, (20_000, 40_000)),
    "many": (data.many, (20_000, 50, 10)),
    "kernel": (data.rings, (10_000, 10)),
    "cv": (data.correlated, (10_000, 30)),
}


def made(kind: str, run: Run) -> Parts:
    """Make the rows of a kind, for training and for test."""
    make, (rows, *shape) = SHAPES[kind]
    n_train = run.rows(rows)
    X, y = make(n_train + int(TEST_SHARE * n_train), *shape, run.seed)
    return cut(X, y, n_train)


def _linear(run: Run, kind: str, fits: str) -> Measured:
    return tournament(*racing(LINEAR, fits), made(kind, run), run.times(3))


for _kind, _fits, _about in (
    ("dense", "dense", "40,000 x 100 dense rows with common factors"),
    ("csr", "sparse", "60,000 x 300 sparse rows of twelve ones each"),
    ("text", "wide", "20,000 made-up documents of 40,000 words, tf-idf"),
    ("many", "many", "20,000 x 50 dense rows of ten classes"),
):
    benchmark(f"baselines-{_kind}", f"fits of {_about}")(partial(_linear, kind=_kind, fits=_fits))


def reviews(run: Run) -> Parts:
    """Read reviews of books, a quarter of them for test, or skip the case."""
    X, y = fetched(fetch_reviews, domain=REVIEW_DOMAINS[0])
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=TEST_SHARE, random_state=run.seed, stratify=y
    )
    return Parts(X_train, y_train, X_test, y_test)


@benchmark("baselines-reviews", "fits of 1,500 reviews of books, 500 held out, counts of words")
def baselines_reviews(run: Run) -> Measured:
    return tournament(*racing(LINEAR, "wide"), reviews(run), run.times(3))


@benchmark("baselines-kernel", "fits of 10,000 x 10 dense rows with the RBF kernel")
def baselines_kernel(run: Run) -> Measured:
    return tournament(*racing(KERNEL, "kernel"), made("kernel", run), run.times(2))


@benchmark("baselines-cv", "fits with settings chosen by five folds, 10,000 x 30 dense rows")
def baselines_cv(run: Run) -> Measured:
    folds = "GridSearchCV, 10 C, 5 folds"
    logistic, machine = (
        GridSearchCV(model, {"C": STRENGTHS}, cv=5)
        for model in (LogisticRegression(), LinearSVC(random_state=0))
    )
    baselines = (
        _plain(OURS, "BBLRClassifierCV()", BBLRClassifierCV(random_state=0)),
        _plain("LogisticRegression lbfgs", folds, logistic),
        _plain("LogisticRegressionCV", "10 C, 5 folds", LogisticRegressionCV(Cs=STRENGTHS, cv=5)),
        _plain("LinearSVC", folds, machine),
    )
    return tournament(baselines, {}, made("cv", run), run.times(2))


@benchmark("baselines-zero-one", "fewest training errors on Pima, 768 x 8: searched, not smoothed")
def baselines_zero_one(run: Run) -> Measured:
    X, y = load_uci("pima", return_X_y=True)
    X = StandardScaler().fit_transform(X)  # the baselines need it
    search = ZeroOneClassifier(time_limit=0.2 if run.quick else 20.0, random_state=run.seed)
    baselines = (
        _plain(OURS, "ZeroOneClassifier()", search),
        _plain("SLA", "SLAClassifier()", SLAClassifier()),
        _plain("LogisticRegression lbfgs", "", LogisticRegression()),
        _plain("LinearSVC", "", LinearSVC(random_state=0)),
        _plain("SVC", 'kernel="linear"', SVC(kernel="linear")),
        _plain("SGDClassifier", 'loss="modified_huber"', _HUBER),
    )
    return tournament(baselines, {}, Parts(X, y, X, y), run.times(3), score=TRAINING_ERROR)
