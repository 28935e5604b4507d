"""What a classifier around another one hands on to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from numpy.typing import NDArray
from sklearn.model_selection import check_cv
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from bblr._numeric.arrays import plain_labels
from bblr.audit.models import Floats, routing_enabled

_ASKED = ("predict", "predict_proba", "predict_log_proba", "decision_function")


def _inner_has(name: str) -> Callable[[Any], bool]:
    """Return whether the classifier inside has a method, once fitted if it is."""

    def check(self: Any) -> bool:
        return hasattr(getattr(self, "estimator_", self.estimator), name)

    return check


class Delegation:
    """Methods that ask the fitted classifier inside, and what is passed on to it."""

    estimator: Any
    estimator_: Any
    cv: Any

    def predict(self, X: Any, **params: Any) -> NDArray[Any]:
        """Return the true class of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Rows.
        **params : dict
            Passed to the classifier.

        Returns
        -------
        ndarray of shape (n_samples,)
            Classes.

        Examples
        --------
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> from bblr import RobustClassifier
        >>> X, y = [[0.0], [0.1], [0.9], [1.0]] * 10, ["no", "no", "yes", "yes"] * 10
        >>> model = RobustClassifier(DecisionTreeClassifier(), random_state=0).fit(X, y)
        >>> model.predict([[0.0], [1.0]]).tolist()
        ['no', 'yes']
        """
        return self._ask("predict", X, params)

    @available_if(_inner_has("predict_proba"))
    def predict_proba(self, X: Any, **params: Any) -> Floats:
        """Return the probability of each true class, whatever label would be given.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Rows.
        **params : dict
            Passed to the classifier.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities, a column for each of `classes_`.

        Examples
        --------
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> from bblr import RobustClassifier
        >>> X, y = [[0.0], [0.1], [0.9], [1.0]] * 10, ["no", "no", "yes", "yes"] * 10
        >>> model = RobustClassifier(DecisionTreeClassifier(), random_state=0).fit(X, y)
        >>> model.predict_proba([[0.0], [1.0]]).tolist()
        [[1.0, 0.0], [0.0, 1.0]]
        """
        return self._ask("predict_proba", X, params)

    @available_if(_inner_has("predict_log_proba"))
    def predict_log_proba(self, X: Any, **params: Any) -> Floats:
        """Return the logarithm of the probability of each true class.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Rows.
        **params : dict
            Passed to the classifier.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Logarithms, a column for each of `classes_`.

        Examples
        --------
        >>> from sklearn.linear_model import LogisticRegression
        >>> from bblr import RobustClassifier
        >>> X, y = [[0.0], [0.1], [0.9], [1.0]] * 10, ["no", "no", "yes", "yes"] * 10
        >>> model = RobustClassifier(LogisticRegression(), random_state=0).fit(X, y)
        >>> bool((model.predict_log_proba(X) <= 0).all())
        True
        """
        return self._ask("predict_log_proba", X, params)

    @available_if(_inner_has("decision_function"))
    def decision_function(self, X: Any, **params: Any) -> Floats:
        """Return the decision values of the last fit.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Rows.
        **params : dict
            Passed to the classifier.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Decision values.

        Examples
        --------
        >>> from sklearn.svm import LinearSVC
        >>> from bblr import RobustClassifier
        >>> X, y = [[0.0], [0.1], [0.9], [1.0]] * 10, ["no", "no", "yes", "yes"] * 10
        >>> model = RobustClassifier(LinearSVC(), random_state=0).fit(X, y)
        >>> bool((model.decision_function([[0.0], [1.0]]) > 0).tolist() == [False, True])
        True
        """
        return self._ask("decision_function", X, params)

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
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> from bblr import RobustClassifier
        >>> X, y = [[0.0], [0.1], [0.9], [1.0]] * 10, ["no", "no", "yes", "yes"] * 10
        >>> model = RobustClassifier(DecisionTreeClassifier(), random_state=0).fit(X, y)
        >>> model.score([[0.0], [1.0]], ["no", "no"])
        0.5
        """
        # scikit-learn would turn nullable integers into floats, and merge large ones.
        return float(super().score(X, plain_labels(y), sample_weight))  # type: ignore[misc]

    def _ask(self, name: str, X: Any, params: dict[str, Any]) -> Any:
        check_is_fitted(self)
        if routing_enabled():
            params = process_routing(self, name, **params).estimator[name]
        return getattr(self.estimator_, name)(X, **params)

    def get_metadata_routing(self) -> MetadataRouter:
        """Return what is passed on to the classifier and to the splitter.

        Returns
        -------
        MetadataRouter
            As scikit-learn's user guide on metadata routing tells.

        Examples
        --------
        >>> from sklearn.linear_model import LogisticRegression
        >>> from bblr import RobustClassifier
        >>> "splitter" in str(RobustClassifier(LogisticRegression()).get_metadata_routing())
        True
        """
        mapping = MethodMapping()
        for name in ("fit", *_ASKED):
            mapping.add(caller=name, callee=name)
        router = MetadataRouter(owner=self).add(estimator=self.estimator, method_mapping=mapping)
        folds = MethodMapping().add(caller="fit", callee="split")
        return router.add(splitter=check_cv(self.cv, classifier=True), method_mapping=folds)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        inner = get_tags(self.estimator)
        tags.input_tags = inner.input_tags
        tags.classifier_tags = replace(inner.classifier_tags, multi_label=False)
        return tags
