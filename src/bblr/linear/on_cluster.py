"""What both classifiers for a Dask cluster share: to fit there, and to predict lazily."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from bblr._checks import all_or_nothing
from bblr.inputs.dask_front import checked_collection, dask_training, is_dask
from bblr.training.callbacks import with_callbacks
from bblr.training.monitor import Watch


class OnCluster(BaseEstimator):
    """What both classifiers do on a cluster."""

    _local: type
    client: Any
    classes_: NDArray[Any]
    # Partitions are computed by NumPy on their workers.
    device: str | None = None
    _check_parameters: Callable[[], None]
    _fit: Callable[..., Self]

    def __getstate__(self) -> dict[str, Any]:
        # A connection cannot be taken along.
        return {**super().__getstate__(), "client": None}

    def __sklearn_clone__(self) -> Any:
        alone = copy.copy(self)  # without the client, which cannot be copied
        twin = super(OnCluster, alone).__sklearn_clone__()
        twin.client = self.client
        return twin

    @all_or_nothing
    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the classifier on the cluster, its meta-parameters included where it tunes them.

        Parameters
        ----------
        X : Dask array or dataframe of shape (n_samples, n_features)
            Training rows; chunks may be dense or scipy.sparse, of unknown length, or empty.
        y : Dask array or series partitioned as X, or array-like, of shape (n_samples,)
            Classes.
        sample_weight : as y, default=None
            Weight of each row: 2 is a row that occurs twice, 0 one that does not occur.

        Returns
        -------
        self
            Fitted estimator.
        """
        return self._fit_there(X, y, sample_weight)

    def _fit_there(self, X: Any, y: Any, sample_weight: Any, **options: Any) -> Self:
        self._check_parameters()
        with dask_training(self, X, y, sample_weight) as training:
            return self._fit(training, Watch(self), **options)

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
        width = len(self.classes_) if self._fitted and len(self.classes_) > 2 else None
        return self._lazily("decision_function", X, width, np.float64)

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
        return self._lazily("predict_proba", X, len(self.classes_) if self._fitted else 0, float)

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
        width = len(self.classes_) if self._fitted else 0
        return self._lazily("predict_log_proba", X, width, float)

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
        dtype = self.classes_.dtype if self._fitted else object
        return self._lazily("predict", X, None, dtype)

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
        from dask.base import compute

        # Arrays and frames are not computed together, which Dask warns of.
        found, y, weight = (compute(values)[0] for values in (self.predict(X), y, sample_weight))
        return float(accuracy_score(np.asarray(y), found, sample_weight=weight))

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
        from dask.base import compute

        local = self.to_local()
        decision, y = (compute(values)[0] for values in (self.decision_function(X), y))
        return local._outlier_scores(np.asarray(decision), np.asarray(y))

    @property
    def _fitted(self) -> bool:
        return hasattr(self, "classes_")

    def _lazily(self, method: str, X: Any, width: int | None, dtype: Any) -> Any:
        check_is_fitted(self)
        local = self.to_local()
        if not is_dask(X):
            return getattr(local, method)(X)
        X = checked_collection(self, X, reset=False)
        shape = () if width is None else (width,)
        known = {"model": local, "method": method, "shape": shape, "dtype_": np.dtype(dtype)}
        if not hasattr(X, "columns"):
            return X.map_blocks(
                _apply,
                **known,
                dtype=dtype,
                meta=np.empty((0, *shape), dtype),
                **({"drop_axis": 1} if width is None else {"chunks": (X.chunks[0], (width,))}),
            )
        import dask.array as da
        from dask.delayed import delayed

        apply = delayed(_apply)
        parts = [
            da.from_delayed(apply(part, **known), (np.nan, *shape), dtype=dtype)
            for part in X.to_delayed()
        ]
        return da.concatenate(parts, allow_unknown_chunksizes=True)


def _apply(
    block: Any, model: Any, method: str, shape: tuple[int, ...], dtype_: np.dtype[Any]
) -> NDArray[Any]:
    if block.shape[0] == 0:
        return np.empty((0, *shape), dtype_)
    found: NDArray[Any] = getattr(model, method)(block)
    return found
