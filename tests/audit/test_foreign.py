"""Classifiers that are not ours, and data that are not plain arrays."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_digits, load_iris
from sklearn.ensemble import (
    BaggingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, LeaveOneOut
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from bblr import find_label_errors


class Both(SVC):
    """Pairwise columns, and probabilities beside them."""

    def predict_proba(self, X):
        by_class = SVC(decision_function_shape="ovr").fit(*self.seen_).decision_function(X)
        odds = np.exp(by_class)
        return odds / odds.sum(axis=1, keepdims=True)

    def fit(self, X, y, sample_weight=None):
        self.seen_ = (X, y)
        return super().fit(X, y, sample_weight)


@pytest.mark.parametrize("in_sample", [False, True])
def test_pairs_of_three_classes_are_not_taken_for_classes(in_sample):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=r'estimator must.*"ovr"'):
        find_label_errors(SVC(decision_function_shape="ovo"), X, y, in_sample=in_sample)
    pairs = find_label_errors(
        Both(decision_function_shape="ovo"), X, y, in_sample=in_sample, random_state=0
    )
    by_class = find_label_errors(SVC(), X, y, in_sample=in_sample, random_state=0)
    np.testing.assert_allclose(pairs.scores, by_class.scores, atol=0.5)
    assert by_class.n_errors < 20


def test_pairs_are_known_by_the_rows_of_training_not_the_one_held_out():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match='"ovr"'):
        find_label_errors(SVC(decision_function_shape="ovo"), X[::5], y[::5], cv=LeaveOneOut())


def test_pairs_of_many_classes_are_refused_by_name():
    X, y = load_digits(return_X_y=True)
    few = slice(0, 300)
    with pytest.raises(ValueError, match=r'estimator must.*SVC.*"ovr"'):
        find_label_errors(SVC(decision_function_shape="ovo"), X[few], y[few])
    # Ties of votes: not every row is predicted by its largest column.
    found = find_label_errors(SVC(C=0.01), X[few], y[few], random_state=0)
    assert np.isfinite(found.scores).all()


def test_a_stack_has_its_methods_once_it_is_fitted():
    X, y = load_iris(return_X_y=True)
    parts = [("nb", GaussianNB()), ("rf", RandomForestClassifier(5, random_state=0))]
    stack = StackingClassifier(parts, cv=2)
    assert not hasattr(stack, "predict_proba")
    y[3] = 2
    assert find_label_errors(stack, X, y, cv=3, random_state=0).ranking[0] == 3
    with pytest.raises(TypeError, match="estimator must be a classifier with decision_function"):
        find_label_errors(VotingClassifier(parts, voting="hard"), X, y)


class Odd(ClassifierMixin, BaseEstimator):
    """A classifier whose scores hold what `value` says."""

    def __init__(self, value=np.nan, method="decision_function"):
        self.value, self.method = value, method

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def __getattr__(self, name):
        if name not in ("decision_function", "predict_proba") or name != self.method:
            raise AttributeError(name)
        return self._scores

    def _scores(self, X):
        if self.method == "predict_proba":
            return np.full((len(X), 2), self.value)
        return np.where(np.arange(len(X)) == 1, self.value, X[:, 0])


@pytest.mark.parametrize(
    "model", [Odd(), Odd(np.inf), Odd(-np.inf), Odd(method="predict_proba")], ids=repr
)
@pytest.mark.parametrize("in_sample", [False, True])
def test_scores_that_are_no_numbers_are_refused(model, in_sample):
    X, y = np.arange(40.0).reshape(20, 2), np.arange(20) % 2
    with pytest.raises(ValueError, match=r"estimator gives.*not a number.*Odd"):
        find_label_errors(model, X, y, in_sample=in_sample)


def test_a_frozen_classifier_is_scored_in_sample_or_not_at_all():
    X, y = load_iris(return_X_y=True)
    frozen = FrozenEstimator(LogisticRegression(max_iter=1000).fit(X, y))
    for model in (frozen, make_pipeline(StandardScaler(), frozen), BaggingClassifier(frozen)):
        with pytest.raises(ValueError, match=r"estimator is frozen.*in_sample=True.*outlier_sco"):
            find_label_errors(model, X, y)
    assert np.isfinite(find_label_errors(frozen, X, y, in_sample=True).scores).all()
    scaled = make_pipeline(FrozenEstimator(StandardScaler().fit(X)), LogisticRegression())
    assert np.isfinite(find_label_errors(scaled, X, y, random_state=0).scores).all()


def test_weights_reach_the_last_step_of_all():
    X, y = load_iris(return_X_y=True)
    weight = 1.0 + np.arange(len(y)) % 3
    inner = make_pipeline(StandardScaler(), LogisticRegression(C=0.5))
    plain = find_label_errors(inner, X, y, sample_weight=weight, random_state=0)
    search = GridSearchCV(inner, {"logisticregression__C": [0.5]}, cv=2)
    for model in (make_pipeline("passthrough", inner), search, make_pipeline(search)):
        found = find_label_errors(model, X, y, sample_weight=weight, random_state=0)
        np.testing.assert_allclose(found.scores, plain.scores, rtol=1e-9)
    other = find_label_errors(search, X, y, random_state=0)
    assert not np.allclose(other.scores, plain.scores, rtol=1e-3)


@pytest.mark.parametrize(
    "model",
    [
        KNeighborsClassifier(),
        VotingClassifier([("nb", make_pipeline(StandardScaler(), GaussianNB()))], voting="soft"),
    ],
    ids=lambda model: type(model).__name__,
)
def test_weights_that_cannot_be_passed_on_are_refused_by_name(model):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(
        ValueError, match=f"sample_weight cannot be used by {type(model).__name__}"
    ):
        find_label_errors(model, X, y, sample_weight=np.ones(len(y)))
