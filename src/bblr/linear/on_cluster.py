"""What both classifiers for a Dask cluster share: to fit there, and to predict lazily."""

from __future__ import annotations

import copy
from typing import Any

from bblr.inputs.cluster import DaskAdapter
from bblr.linear.fitted import ProbabilisticLinearClassifier


def inherited(given: dict[str, Any]) -> dict[str, Any]:
    """Return those of the arguments of a constructor that are parameters of the local class."""
    return {k: v for k, v in given.items() if k not in ("self", "client", "__class__")}


class OnCluster(ProbabilisticLinearClassifier):
    """What both classifiers do on a cluster."""

    _local: type
    client: Any
    # Partitions are computed by NumPy on their workers.
    device: str | None = None

    def __getstate__(self) -> dict[str, Any]:
        # A connection cannot be taken along.
        return {**super().__getstate__(), "client": None}

    def __sklearn_clone__(self) -> Any:
        alone = copy.copy(self)  # without the client, which cannot be copied
        twin = super(OnCluster, alone).__sklearn_clone__()
        twin.client = self.client
        return twin

    def to_local(self) -> Any:
        """Return the same classifier for data in memory, fitted if this one is.

        Returns
        -------
        BBLRClassifier or BBLRClassifierCV
            It needs neither Dask nor a cluster.

        Examples
        --------
        >>> from bblr.dask import DaskBBLRClassifier
        >>> DaskBBLRClassifier(l2=1.0).to_local()
        BBLRClassifier(l2=1.0)
        """
        names = self._local._get_param_names()  # type: ignore[attr-defined]
        local = self._local(**{name: getattr(self, name) for name in names})
        for name, value in vars(self).items():
            if name.endswith("_") and not name.startswith("_"):
                setattr(local, name, value)
        return local

    def decision_function(self, X: Any) -> Any:
        """Return the score of each row.

        Parameters
        ----------
        X : Dask array or dataframe, or {array-like, sparse matrix}, of shape (n_samples, \
n_features)
            Rows to score.

        Returns
        -------
        Dask array or ndarray of shape (n_samples,) or (n_samples, n_classes)
            Lazy for a Dask collection; as of the local classifier for anything else.
        """
        return DaskAdapter(self, X).ask("decision_function")

    def predict_proba(self, X: Any) -> Any:
        """Return the probability of each class, between the plateaus.

        Parameters
        ----------
        X : Dask array or dataframe, or {array-like, sparse matrix}, of shape (n_samples, \
n_features)
            Rows to score.

        Returns
        -------
        Dask array or ndarray of shape (n_samples, n_classes)
            Lazy for a Dask collection. Columns are in the order of ``classes_``.
        """
        return DaskAdapter(self, X).ask("predict_proba")

    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithm of the probability of each class.

        Parameters
        ----------
        X : Dask array or dataframe, or {array-like, sparse matrix}, of shape (n_samples, \
n_features)
            Rows to score.

        Returns
        -------
        Dask array or ndarray of shape (n_samples, n_classes)
            Lazy for a Dask collection. Columns are in the order of ``classes_``.
        """
        return DaskAdapter(self, X).ask("predict_log_proba")

    def predict(self, X: Any) -> Any:
        """Return the most probable class of each row.

        Parameters
        ----------
        X : Dask array or dataframe, or {array-like, sparse matrix}, of shape (n_samples, \
n_features)
            Rows to classify.

        Returns
        -------
        Dask array or ndarray of shape (n_samples,)
            Lazy for a Dask collection.
        """
        return DaskAdapter(self, X).ask("predict")

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy on the given rows.

        Parameters
        ----------
        X : Dask array or dataframe, or {array-like, sparse matrix}, of shape (n_samples, \
n_features)
            Rows to classify.
        y : Dask array or series, or array-like, of shape (n_samples,)
            Their classes.
        sample_weight : Dask array or series, or array-like, of shape (n_samples,), default=None
            Weight of each row.

        Returns
        -------
        float
            Share of the rows, by weight, whose class is predicted.
        """
        return super().score(X, y, sample_weight)

    def outlier_scores(self, X: Any, y: Any) -> Any:
        """Return how much speaks against the label of each row.

        Parameters
        ----------
        X : Dask array or dataframe, or {array-like, sparse matrix}, of shape (n_samples, \
n_features)
            Rows to score.
        y : Dask array or series, or array-like, of shape (n_samples,)
            Their labels.

        Returns
        -------
        ndarray of shape (n_samples,)
            Log-odds that the label is wrong, as of the local classifier. Scores and labels are
            fetched from the cluster, the rows are not.
        """
        return super().outlier_scores(X, y)
