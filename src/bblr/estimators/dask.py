"""The linear classifiers for data on a Dask cluster."""

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
from bblr.estimators._dask_front import checked_collection, dask_training, is_dask
from bblr.estimators._training import DEFAULT_L2
from bblr.estimators.linear import BBLRClassifier
from bblr.estimators.linear_cv import BBLRClassifierCV

Floats = NDArray[np.float64]


class _OnCluster(BaseEstimator):
    """What both classifiers do on a cluster, beside fitting."""

    _local: type
    client: Any
    classes_: NDArray[Any]
    # Partitions are computed by NumPy on their workers.
    device: str | None = None
    _check_parameters: Callable[[], None]
    _fit: Callable[[Any], Self]

    def __getstate__(self) -> dict[str, Any]:
        # A connection cannot be taken along.
        return {**super().__getstate__(), "client": None}

    def __sklearn_clone__(self) -> Any:
        alone = copy.copy(self)  # without the client, which cannot be copied
        twin = super(_OnCluster, alone).__sklearn_clone__()
        twin.client = self.client
        return twin

    @all_or_nothing
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
        self._check_parameters()
        with dask_training(self, X, y, sample_weight) as training:
            return self._fit(training)

    def to_local(self) -> Any:
        """Return the same classifier for data in memory, fitted if this one is.

        Returns
        -------
        BBLRClassifier or BBLRClassifierCV
            It needs neither Dask nor a cluster.
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


class DaskBBLRClassifier(_OnCluster, BBLRClassifier):
    """Beta-Bernoulli logistic regression on a Dask cluster.

    The same model and the same fit as :class:`~bblr.BBLRClassifier`, on rows that lie in the
    partitions of a Dask array or dataframe and stay on the workers that load them. What travels
    is a gradient a worker in each pass over the data, and a number or two.

    Parameters
    ----------
    prior, l2, gamma_min, gamma_max, gamma_growth, leverage, solver, tol, max_iter, \
fit_intercept, class_weight, warm_start, random_state, verbose
        As in :class:`~bblr.BBLRClassifier`. ``prior="learned"`` brings a score a row to the
        client in each of its rounds.
    client : distributed.Client or None, default=None
        Client of the cluster; None is the current one. It is neither pickled nor copied with the
        classifier; clones share it.

    Attributes
    ----------
    coef_, intercept_, classes_, gamma_, prior_, link_, path_, n_iter_, n_features_in_, \
feature_names_in_
        As in :class:`~bblr.BBLRClassifier`.

    See Also
    --------
    DaskBBLRClassifierCV : Chooses plateaus, penalty and schedule by cross-validation.
    bblr.BBLRClassifier : The same for data in memory.

    Notes
    -----
    A worker that is lost in the middle of a fit costs the time to load its partitions again, by
    the Dask graph they come from, on the workers that are left: the fit goes on with the same
    answer. The number of partitions changes nothing but the order of sums.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from bblr.dask import DaskBBLRClassifier
    >>> from bblr.datasets import load_uci
    >>> X, y = load_uci("heart", return_X_y=True)
    >>> X, y = da.from_array(X, chunks=(100, -1)), da.from_array(y, chunks=100)
    >>> with Client(n_workers=2, processes=False, dashboard_address=":0") as client:
    ...     model = DaskBBLRClassifier().fit(X, y)
    ...     model.predict_proba(X)[:2].compute().round(1)
    array([[0.8, 0.2],
           [0.2, 0.8]])
    """

    _local = BBLRClassifier

    def __init__(
        self,
        prior: Any = "robust",
        *,
        l2: float = DEFAULT_L2,
        gamma_min: float = 1.0,
        gamma_max: Any = "auto",
        gamma_growth: float = 2.0,
        leverage: float | None = None,
        solver: Any = "auto",
        tol: float = 1e-4,
        max_iter: int = 100,
        fit_intercept: bool = True,
        class_weight: Any = None,
        warm_start: bool = False,
        random_state: Any = None,
        verbose: int = 0,
        client: Any = None,
    ) -> None:
        super().__init__(
            prior,
            l2=l2,
            gamma_min=gamma_min,
            gamma_max=gamma_max,
            gamma_growth=gamma_growth,
            leverage=leverage,
            solver=solver,
            tol=tol,
            max_iter=max_iter,
            fit_intercept=fit_intercept,
            class_weight=class_weight,
            warm_start=warm_start,
            random_state=random_state,
            verbose=verbose,
        )
        self.client = client


class DaskBBLRClassifierCV(_OnCluster, BBLRClassifierCV):
    """Beta-Bernoulli logistic regression that tunes itself by cross-validation, on a Dask cluster.

    The same search over the same folds as :class:`~bblr.BBLRClassifierCV`, on rows that stay on
    the workers. A fold is a mask of bits, sent once; labels, weights and the held-out scores of
    the chosen path are brought to the client, a byte a label and a number a row and class.

    Parameters
    ----------
    prior, l2s, gamma_limit, leverage, cv, solver, tol, max_iter, fit_intercept, class_weight, \
random_state, verbose
        As in :class:`~bblr.BBLRClassifierCV`.
    n_jobs : int or None, default=None
        Taken for the sake of the local classifier; it does not apply: all workers work on one
        fold after the other.
    client : distributed.Client or None, default=None
        Client of the cluster; None is the current one. It is neither pickled nor copied with the
        classifier; clones share it.

    Attributes
    ----------
    coef_, intercept_, classes_, gamma_, l2_, leverage_, prior_, link_, trials_, path_, n_iter_, \
n_features_in_, feature_names_in_
        As in :class:`~bblr.BBLRClassifierCV`.

    See Also
    --------
    DaskBBLRClassifier : The same model with meta-parameters given.
    bblr.BBLRClassifierCV : The same for data in memory.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from bblr.dask import DaskBBLRClassifierCV
    >>> from bblr.datasets import load_uci
    >>> X, y = load_uci("heart", return_X_y=True)
    >>> X = da.from_array(X, chunks=(150, -1))
    >>> with Client(n_workers=2, processes=False, dashboard_address=":0") as client:
    ...     model = DaskBBLRClassifierCV("mild", l2s=(3.0,), cv=2, random_state=0).fit(X, y)
    >>> bool(model.to_local().score(X.compute(), y) > 0.8)
    True
    """

    _local = BBLRClassifierCV

    def __init__(
        self,
        prior: Any = "tuned",
        *,
        l2s: Any = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0),
        gamma_limit: float = 8.0,
        leverage: Any = "tuned",
        cv: Any = 5,
        n_jobs: int | None = None,
        solver: str = "auto",
        tol: float = 1e-4,
        max_iter: int = 100,
        fit_intercept: bool = True,
        class_weight: Any = None,
        random_state: Any = None,
        verbose: int = 0,
        client: Any = None,
    ) -> None:
        super().__init__(
            prior,
            l2s=l2s,
            gamma_limit=gamma_limit,
            leverage=leverage,
            cv=cv,
            n_jobs=n_jobs,
            solver=solver,
            tol=tol,
            max_iter=max_iter,
            fit_intercept=fit_intercept,
            class_weight=class_weight,
            random_state=random_state,
            verbose=verbose,
        )
        self.client = client
