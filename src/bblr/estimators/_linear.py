"""What classifiers share once they are fitted, linear ones above all."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted, validate_data

from bblr._numeric.tensors import as_numpy, import_torch, is_tensor
from bblr.designs import Design, make_design
from bblr.estimators._stream import is_shards, open_known_rows
from bblr.estimators._tensors import chosen_classes, tensor_design, uses_torch

Floats = NDArray[np.float64]


class BinaryClassifier(ClassifierMixin, BaseEstimator):
    """A score of two classes: the positive one is predicted where it exceeds 0.

    A subclass that sets `_many` takes more classes as well; each then has a score of its own.
    """

    _many = False
    intercept_: Floats
    classes_: NDArray[Any]

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's description of what the estimator takes."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self._many
        tags.input_tags.sparse = True
        tags.array_api_support = True
        return tags

    def decision_function(self, X: Any) -> Floats:
        """Return the score of each row."""
        raise NotImplementedError(f"{type(self).__name__} must write decision_function")

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predicted class of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        ndarray of shape (n_samples,)
            Classes.
        """
        decision = self.decision_function(X)
        return chosen_classes(self.classes_, 1 * (decision > 0))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy on the given rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to classify.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row.

        Returns
        -------
        float
            Share of the rows, by weight, whose class is predicted.
        """
        if is_tensor(y):
            y = as_numpy(y)
        found = as_numpy(self.predict(X))
        weight = None if sample_weight is None else as_numpy(sample_weight)
        return float(accuracy_score(y, found, sample_weight=weight))


class LinearBinaryClassifier(BinaryClassifier):
    """A linear score of two classes."""

    coef_: Floats

    def decision_function(self, X: Any) -> Floats:
        """Return the score X @ coef_ + intercept_ of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), path or Shards
            Rows to score. A directory of shards and a large memory map are read block by block.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Of two classes one score, positive where the second is predicted; of more a score
            each.
        """
        check_is_fitted(self)
        coef, intercept = as_numpy(self.coef_), as_numpy(self.intercept_)
        design, back = self._rows(X)
        if len(coef) > 1:
            return back(design.many_scores(coef, intercept))
        return back(design.scores(coef[0], float(intercept[0])))

    def _rows(self, X: Any) -> tuple[Design, Any]:
        """Return the rows to score as a design, and what turns its scores into X's kind."""
        if uses_torch(self, X) and not is_shards(X):
            return tensor_design(self, X)
        streamed = open_known_rows(self, X)
        if streamed is not None:
            return streamed, np.asarray
        X = validate_data(
            self,
            X,
            accept_sparse=["csr", "csc"],
            dtype=[np.float64, np.float32],
            reset=False,
        )
        return make_design(X), np.asarray


class ProbabilisticClassifier(BinaryClassifier):
    """A classifier whose scores a link turns into probabilities."""

    link_: Any

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class, between the plateaus.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        decision = self.decision_function(X)
        probability: Floats = self.link_.probability(decision)
        if probability.ndim == 2:
            return probability
        if is_tensor(probability):
            return import_torch().stack([1.0 - probability, probability], dim=1)
        return np.column_stack([1.0 - probability, probability])

    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithm of the probability of each class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        probability: Any = self.predict_proba(X)
        return probability.log() if is_tensor(probability) else np.log(probability)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row: the argmax of ``predict_proba``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to classify.

        Returns
        -------
        ndarray of shape (n_samples,)
            Classes.
        """
        probability = self.predict_proba(X)
        return chosen_classes(self.classes_, probability.argmax(1))


class ProbabilisticLinearClassifier(ProbabilisticClassifier, LinearBinaryClassifier):
    """A linear classifier whose scores a link turns into probabilities."""
