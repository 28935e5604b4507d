"""A scikit-learn classifier around that of a library, trained with the Beta-Bernoulli loss."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, NamedTuple, Self, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import (
    _safe_indexing,
    assert_all_finite,
    check_consistent_length,
    column_or_1d,
)
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import check_is_fitted, validate_data

from bblr._checks import all_or_nothing
from bblr._numeric.arrays import plain_labels
from bblr._numeric.layouts import layout
from bblr.boosting.steps import Floats, Rho
from bblr.inputs.labels import found_classes, refuse_missing, row_weights
from bblr.losses import Plateaus


class WatchedRows(NamedTuple):
    """Rows to follow the loss on, with class numbers and weights."""

    X: Any
    y: Any
    weight: Any


class BoostedClassifier(ClassifierMixin, BaseEstimator):
    """What the classifiers around either library share; a subclass writes the last three methods.

    Parameters
    ----------
    estimator : object or None, default=None
        Classifier of the library, with its settings.
    rho : float or sequence of float, default=1
        Ratio of the plateaus to the height above them.
    """

    # Arguments of the library's fit that this one sets itself.
    _own: ClassVar[frozenset[str]]
    # Types of numbers that the library computes with.
    _types: ClassVar[tuple[type, ...]] = (np.float64, np.float32)

    def __init__(self, estimator: Any = None, *, rho: Rho = 1.0) -> None:
        self.estimator = estimator
        self.rho = rho

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags

    @all_or_nothing
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        eval_set: Any = None,
        eval_sample_weight: Any = None,
        **fit_params: Any,
    ) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Training rows; NaN is a missing value.
        y : array-like of shape (n_samples,)
            Classes, two or more.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights; rows of weight 0 are left out.
        eval_set : list of (X, y), default=None
            Rows on which the loss is followed, for early stopping.
        eval_sample_weight : list of array-like, default=None
            Weights of the rows of each part of `eval_set`.
        **fit_params : object
            What else the ``fit`` of the library takes.

        Returns
        -------
        self
            Fitted estimator.

        Examples
        --------
        >>> from bblr.lightgbm import BetaBernoulliLGBMClassifier
        >>> X = [[i] for i in range(100)]
        >>> y = ["low" if i < 50 else "high" for i in range(100)]
        >>> BetaBernoulliLGBMClassifier().fit(X, y).predict([[10], [90]])
        array(['low', 'high'], dtype='<U4')
        """
        for name in sorted(self._own & fit_params.keys()):
            raise ValueError(
                f"{name} must be left out: {type(self).__name__} sets the base score, the loss "
                "and the metric."
            )
        model = self._model()
        X, y = self._checked(X, y)
        weight = _row_weights(y, sample_weight, getattr(model, "class_weight", None))
        if weight is not None:
            kept = np.flatnonzero(weight > 0)
            X, y, weight = _safe_indexing(X, kept), y[kept], weight[kept]
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            got = f"one class: {self.classes_}" if len(y) else "no rows"
            raise ValueError(f"y must hold two or more classes, got {got}.")
        Plateaus.from_ratio(self.rho, len(self.classes_))  # before the library is asked
        watched = self._watched(eval_set, eval_sample_weight)
        self.estimator_ = self._train(model, X, codes, weight, watched, fit_params)
        return self

    def _checked(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Return valid rows and labels."""
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        if _is_frame(X):
            # The library knows kinds of columns.
            validate_data(self, X, skip_check_array=True)
        else:
            kinds = {"dtype": self._types, "ensure_min_samples": 2, **_ARRAYS}
            with np.errstate(over="ignore"):  # refused by its words
                X = _as_known(validate_data(self, X, **kinds))
        y = _labels_of(X, y)
        found_classes(y)
        return X, y

    def _rows(self, X: Any) -> Any:
        """Return valid rows of as many columns as the training rows."""
        check_is_fitted(self, "n_features_in_")
        if not _is_frame(X):
            with np.errstate(over="ignore"):
                X = validate_data(self, X, reset=False, dtype=self._types, **_ARRAYS)
            return _as_known(X)
        validate_data(self, X, reset=False, skip_check_array=True)
        return X

    def _watched(self, eval_set: Any, weights: Any) -> list[WatchedRows]:
        """Return rows, class numbers and weights of each part of the data to follow."""
        parts = [] if eval_set is None else eval_set
        if not isinstance(parts, list | tuple) or not all(map(_is_pair, parts)):
            raise ValueError("eval_set must be a list of pairs: eval_set=[(X, y)].")
        if weights is None:
            weights = [None] * len(parts)
        if not isinstance(weights, list | tuple):
            raise ValueError(
                "eval_sample_weight must be a list with the weights of each part of eval_set: "
                "eval_sample_weight=[weights]."
            )
        if len(weights) != len(parts):
            raise ValueError(
                f"eval_sample_weight must hold weights for each of the {len(parts)} parts of "
                f"eval_set, got {len(weights)}."
            )
        found = []
        for k, ((X, y), weight) in enumerate(zip(parts, weights, strict=True)):
            with _naming(f"eval_set[{k}]"):
                X = self._rows(X)
                y = _labels_of(X, y)
            if not np.isin(y, self.classes_).all():
                raise ValueError("eval_set must hold no class that the training rows lack.")
            if weight is not None:
                with _naming(f"eval_sample_weight[{k}]"):
                    weight = _single(row_weights(weight, y))
            found.append(WatchedRows(X, np.searchsorted(self.classes_, y), weight))
        return found

    def decision_function(self, X: Any) -> Floats:
        """Return the raw scores.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Log-odds of the second of two classes, or a score for each of more.

        Examples
        --------
        >>> from bblr.lightgbm import BetaBernoulliLGBMClassifier
        >>> X = [[i] for i in range(100)]
        >>> model = BetaBernoulliLGBMClassifier().fit(X, [i > 49 for i in range(100)])
        >>> model.decision_function([[10], [90]]) > 0
        array([False,  True])
        """
        check_is_fitted(self, "estimator_")
        return np.asarray(self._scores(self._rows(X)), dtype=np.float64)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of the highest score.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Classes.

        Examples
        --------
        >>> from bblr.lightgbm import BetaBernoulliLGBMClassifier
        >>> X = [[i] for i in range(100)]
        >>> model = BetaBernoulliLGBMClassifier().fit(X, [i > 49 for i in range(100)])
        >>> model.predict([[10], [90]])
        array([False,  True])
        """
        scores = self.decision_function(X)
        found: NDArray[Any] = self.classes_[layout(scores).predicted(scores)]
        return found

    def predict_proba(self, X: Any) -> Floats:
        """Return the sigmoid or softmax of the raw scores, which is about the true class.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities without the plateaus.

        Examples
        --------
        >>> from bblr.lightgbm import BetaBernoulliLGBMClassifier
        >>> X = [[i] for i in range(100)]
        >>> model = BetaBernoulliLGBMClassifier().fit(X, [i > 49 for i in range(100)])
        >>> model.predict_proba([[10], [90]])[:, 1] > 0.5
        array([False,  True])
        """
        check_is_fitted(self, "estimator_")
        return np.asarray(self.estimator_.predict_proba(self._rows(X)), dtype=np.float64)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy on the given rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Rows to classify.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row.

        Returns
        -------
        float
            Share of the rows, by weight, whose class is predicted.

        Examples
        --------
        >>> from bblr.lightgbm import BetaBernoulliLGBMClassifier
        >>> X = [[i] for i in range(100)]
        >>> model = BetaBernoulliLGBMClassifier().fit(X, [i > 49 for i in range(100)])
        >>> model.score([[10], [90]], [False, False])
        0.5
        """
        # scikit-learn would turn nullable integers into floats, and merge large ones.
        return float(super().score(X, plain_labels(y), sample_weight))

    def _model(self) -> Any:
        """Return a copy of the library's classifier, with settings that agree with this one."""
        raise NotImplementedError

    def _train(
        self, model: Any, X: Any, y: Any, weight: Any, watched: list[WatchedRows], fit_params: Any
    ) -> Any:
        """Return the library's classifier, trained on class numbers."""
        raise NotImplementedError

    def _scores(self, X: Any) -> Any:
        """Return the raw scores of valid rows."""
        raise NotImplementedError


# Sums of larger weights are infinite in single precision; smaller ones would be 0.
_HEAVIEST = 1e20
# How arrays are checked, for training and for prediction.
_ARRAYS: dict[str, Any] = {"accept_sparse": "csr", "ensure_all_finite": "allow-nan"}


def _is_frame(X: Any) -> bool:
    return hasattr(X, "columns") and hasattr(X, "shape")


def _as_known(X: Any) -> Any:
    """Return sparse rows as a matrix: LightGBM predicts no arrays of SciPy."""
    return X if not issparse(X) else csr_matrix(cast(Any, X))


def _is_pair(part: Any) -> bool:
    return isinstance(part, list | tuple) and len(part) == 2


def _labels_of(X: Any, y: Any) -> NDArray[Any]:
    """Return the labels of rows, none of them missing."""
    if y is None:
        raise ValueError("y must hold a label for each row, got None.")
    y = column_or_1d(plain_labels(y), warn=True)
    check_consistent_length(X, y)
    refuse_missing(y)
    assert_all_finite(y, input_name="y")
    return y


@contextmanager
def _naming(argument: str) -> Iterator[None]:
    """Say which part of an argument an error is about."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise ValueError(f"{argument}: {error}") from error


def _row_weights(y: Any, sample_weight: Any, class_weight: Any) -> Any:
    """Return what each row weighs, None where all weigh the same."""
    if sample_weight is None and class_weight is None:
        return None
    return _single(row_weights(sample_weight, y) * compute_sample_weight(class_weight, y))


def _single(weight: Floats) -> Floats:
    """Return weights that single precision can hold."""
    if weight.max() > _HEAVIEST or 0 < weight.max() < 1 / _HEAVIEST:
        raise ValueError(
            f"sample_weight and class_weight must come to at most {_HEAVIEST:g}, and for some row "
            f"to at least {1 / _HEAVIEST:g}, got {weight.max():g}: the library keeps weights in "
            "single precision; divide all by one number."
        )
    return weight


def settled(estimator: Any, kind: Any, allowed: dict[str, tuple[Any, ...]], remedy: str) -> Any:
    """Return a copy of a classifier, or say which of its settings must be left as they are."""
    if not isinstance(estimator, kind):
        raise TypeError(f"estimator must be a {kind.__name__} or None, got {estimator!r}.")
    given = estimator.get_params()
    for name, values in allowed.items():
        if name in given and given[name] not in values:
            raise ValueError(f"estimator must leave {name} alone, got {given[name]!r}: {remedy}")
    return clone(estimator)
