"""The baselines: what a practitioner would try first, tuned as well as is usual.

The strength of a linear baseline is chosen from ten by the accuracy in five stratified folds;
where a method has probabilities, the log-loss decides between equally accurate ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import LinearSVC

__all__ = [
    "STRENGTHS",
    "CleanedLogistic",
    "TunedLogistic",
    "TunedSVM",
    "choose_strength",
    "make_boosting",
    "make_forest",
]

STRENGTHS = tuple(float(strength) for strength in np.logspace(-4, 4, 10))
# Ten again, but for squared hinge: beyond C = 10 standardised columns gain nothing and liblinear
# needs minutes for a fit.
MACHINE_STRENGTHS = tuple(float(strength) for strength in np.logspace(-5, 1, 10))
INNER_FOLDS = 5
TREES = 200
_SMALLEST = 1e-15


def inner_folds(y: np.ndarray) -> StratifiedKFold:
    """Return five folds, fewer where a class has fewer rows."""
    fewest = int(np.unique(y, return_counts=True)[1].min())
    return StratifiedKFold(max(2, min(INNER_FOLDS, fewest)), shuffle=True, random_state=0)


def choose_strength(
    make: Callable[[float], Any],
    X: Any,
    y: np.ndarray,
    strengths: tuple[float, ...] = STRENGTHS,
) -> float:
    """Return the C of the fewest held-out errors; of equals the one of least log-loss.

    Parameters
    ----------
    make : callable
        Returns a classifier with the C it is given. It is fitted with ascending C, so that one
        with ``warm_start`` starts each fit from the last.
    X, y : training part
        What the folds are made of.
    strengths : tuple of float
        The values of C, ascending.
    """
    found = np.zeros((len(strengths), 2))
    for train, test in inner_folds(y).split(np.zeros(len(y)), y):
        X_train, X_test = X[train], X[test]
        classifier = make(strengths[0])
        for place, strength in enumerate(strengths):
            classifier.set_params(C=strength).fit(X_train, y[train])
            found[place] += _held_out(classifier, X_test, y[test])
    # Of full ties the strongest penalty: lexsort is stable.
    return strengths[int(np.lexsort((found[:, 1], found[:, 0]))[0])]


def _held_out(classifier: Any, X: Any, y: np.ndarray) -> tuple[float, float]:
    """Return the errors and, of a classifier with probabilities, the summed log-loss."""
    classes = classifier.classes_
    if not hasattr(classifier, "predict_proba"):
        return float(np.sum(classifier.predict(X) != y)), 0.0
    table = classifier.predict_proba(X)
    column = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    given = np.where(classes[column] == y, table[np.arange(len(y)), column], 0.0)
    errors = np.sum(classes[table.argmax(axis=1)] != y)
    return float(errors), float(-np.log(np.maximum(given, _SMALLEST)).sum())


def _logistic(strength: float, *, warm_start: bool = False) -> LogisticRegression:
    return LogisticRegression(C=strength, max_iter=10_000, warm_start=warm_start)


def _tuned_strength(X: Any, y: np.ndarray) -> float:
    return choose_strength(lambda strength: _logistic(strength, warm_start=True), X, y)


class TunedLogistic:
    """Logistic regression with an L2 penalty, C chosen from ten."""

    def fit(self, X: Any, y: np.ndarray) -> Self:
        """Choose C, then fit all rows."""
        self.model_ = _logistic(_tuned_strength(X, y)).fit(X, y)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable class."""
        return self.model_.predict(X)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the model's probabilities."""
        return self.model_.predict_proba(X)


class TunedSVM:
    """Linear support vector machine (squared hinge), C chosen from ten.

    It decides by its own scores; the probabilities are those of Platt's scaling of the scores of
    held-out rows, with the C that was chosen.
    """

    def fit(self, X: Any, y: np.ndarray) -> Self:
        """Choose C, fit all rows, and scale the scores of held-out ones."""
        machine = _machine(choose_strength(_machine, X, y, MACHINE_STRENGTHS))
        scaled = CalibratedClassifierCV(
            machine, method="sigmoid", ensemble=False, cv=inner_folds(y)
        )
        self.scaled_ = scaled.fit(X, y)
        self.machine_ = scaled.calibrated_classifiers_[0].estimator
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the class on whose side of the plane a row lies."""
        return self.machine_.predict(X)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the scaled scores."""
        return self.scaled_.predict_proba(X)


def _machine(strength: float) -> LinearSVC:
    return LinearSVC(C=strength, dual="auto", random_state=0)


class CleanedLogistic:
    """Cleanlab's CleanLearning around logistic regression, C chosen on the rows as they are."""

    def __init__(self) -> None:
        from cleanlab.classification import CleanLearning  # may be absent; slow to import

        self._learning = CleanLearning

    def fit(self, X: Any, y: np.ndarray) -> Self:
        """Choose C, leave out the rows whose labels look wrong, fit the others."""
        cleaner = self._learning(
            _logistic(_tuned_strength(X, y)),
            seed=0,
            cv_n_folds=inner_folds(y).get_n_splits(),
            find_label_issues_kwargs={"n_jobs": 1},
        )
        self.cleaner_ = cleaner.fit(X, y)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable class."""
        return self.cleaner_.predict(X)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of the fit to the rows that were kept."""
        return self.cleaner_.predict_proba(X)


def make_boosting() -> HistGradientBoostingClassifier:
    """Return gradient boosting with default settings."""
    return HistGradientBoostingClassifier(random_state=0)


def make_forest() -> RandomForestClassifier:
    """Return a random forest in one thread."""
    return RandomForestClassifier(TREES, random_state=0, n_jobs=1)
