"""Every kind of work beside every rival that can do it; reported, without bars."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, SGDClassifier
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from bblr import BBLRClassifierCV, SLAClassifier, ZeroOneClassifier
from bblr.datasets import REVIEW_DOMAINS, fetch_reviews, load_uci
from research.benchmarks import made
from research.benchmarks.cases import Measured, Settings, case
from research.benchmarks.data import at_hand
from research.benchmarks.made import Parts, divide
from research.benchmarks.rivals import KERNEL, LINEAR, OURS, Rival, racing
from research.benchmarks.tournament import TRAINING_ERROR, tournament

DENSE = (40_000, 100)
CSR = (60_000, 300, 12)
TEXT = (20_000, 40_000)
KERNEL_SHAPE = (10_000, 10)
CV = (10_000, 30)
MANY = (20_000, 50, 10)
TEST_SHARE = 0.25
STRENGTHS = np.logspace(-3, 3, 10)


def _made(make: Callable[..., Any], rows: int, *shape: int, settings: Settings) -> Parts:
    """Make data with a quarter more rows, for the test."""
    n_train = settings.rows(rows)
    X, y = make(n_train + int(TEST_SHARE * n_train), *shape, settings.seed)
    return divide(X, y, n_train)


def _linear(kind: str, parts: Parts, repeats: int) -> Measured:
    return tournament(*racing(LINEAR, kind), parts, repeats)


@case("rivals-dense", "fits of 40,000 x 100 dense rows with common factors")
def rivals_dense(settings: Settings) -> Measured:
    parts = _made(made.correlated, *DENSE, settings=settings)
    return _linear("dense", parts, settings.repeats(3))


@case("rivals-csr", "fits of 60,000 x 300 sparse rows of twelve ones each")
def rivals_csr(settings: Settings) -> Measured:
    parts = _made(made.indicators, *CSR, settings=settings)
    return _linear("sparse", parts, settings.repeats(3))


@case("rivals-text", "fits of 20,000 made-up documents of 40,000 words, tf-idf")
def rivals_text(settings: Settings) -> Measured:
    parts = _made(made.text, *TEXT, settings=settings)
    return _linear("wide", parts, settings.repeats(3))


@case("rivals-reviews", "fits of 1,500 reviews of books, 500 held out, counts of words")
def rivals_reviews(settings: Settings) -> Measured:
    X, y = at_hand(fetch_reviews, domain=REVIEW_DOMAINS[0])
    rows = slice(settings.rows(len(y)))
    split = train_test_split(
        X[rows], y[rows], test_size=TEST_SHARE, random_state=settings.seed, stratify=y[rows]
    )
    X_train, X_test, y_train, y_test = split
    return _linear("wide", Parts(X_train, y_train, X_test, y_test), settings.repeats(3))


@case("rivals-many", "fits of 20,000 x 50 dense rows of ten classes")
def rivals_many(settings: Settings) -> Measured:
    parts = _made(made.many, *MANY, settings=settings)
    return _linear("many", parts, settings.repeats(3))


@case("rivals-kernel", "fits of 10,000 x 10 dense rows with the RBF kernel")
def rivals_kernel(settings: Settings) -> Measured:
    parts = _made(made.rings, *KERNEL_SHAPE, settings=settings)
    return tournament(*racing(KERNEL, "kernel"), parts, settings.repeats(2))


def _grid(name: str, model: Any) -> Rival:
    grid = {"C": STRENGTHS}
    settings = "GridSearchCV, 10 C, 5 folds"
    return Rival(name, settings, lambda rows: GridSearchCV(model, grid, cv=5), "cv")


@case("rivals-cv", "fits with settings chosen by five folds, 10,000 x 30 dense rows")
def rivals_cv(settings: Settings) -> Measured:
    parts = _made(made.correlated, *CV, settings=settings)
    rivals = (
        Rival(OURS, "BBLRClassifierCV()", lambda rows: BBLRClassifierCV(random_state=0), "cv"),
        _grid("LogisticRegression lbfgs", LogisticRegression()),
        Rival(
            "LogisticRegressionCV",
            "10 C, 5 folds",
            lambda rows: LogisticRegressionCV(Cs=STRENGTHS, cv=5),
            "cv",
        ),
        _grid("LinearSVC", LinearSVC(random_state=0)),
    )
    return tournament(rivals, {}, parts, settings.repeats(2))


@case("rivals-zero-one", "fewest training errors on Pima, 768 x 8: searched, not approximated")
def rivals_zero_one(settings: Settings) -> Measured:
    X, y = load_uci("pima", return_X_y=True)
    X = StandardScaler().fit_transform(X)  # the rivals need it
    limit = 0.2 if settings.quick else 20.0
    rivals = (
        Rival(
            OURS,
            "ZeroOneClassifier()",
            lambda rows: ZeroOneClassifier(time_limit=limit, random_state=settings.seed),
            "zero-one",
        ),
        Rival("SLA", "SLAClassifier()", lambda rows: SLAClassifier(), "zero-one"),
        Rival("LogisticRegression lbfgs", "", lambda rows: LogisticRegression(), "zero-one"),
        Rival("LinearSVC", "", lambda rows: LinearSVC(random_state=0), "zero-one"),
        Rival("SVC", 'kernel="linear"', lambda rows: SVC(kernel="linear"), "zero-one"),
        Rival(
            "SGDClassifier",
            'loss="modified_huber"',
            lambda rows: SGDClassifier(loss="modified_huber", random_state=0),
            "zero-one",
        ),
    )
    parts = Parts(X, y, X, y)
    return tournament(rivals, {}, parts, settings.repeats(3), score=TRAINING_ERROR)
