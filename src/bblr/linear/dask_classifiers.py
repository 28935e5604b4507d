"""The linear classifiers for data on a Dask cluster."""

from __future__ import annotations

from typing import Any, Self

from bblr.linear.classifier import BBLRClassifier
from bblr.linear.classifier_cv import BBLRClassifierCV
from bblr.linear.generalized import GeneralizedLinearClassifier
from bblr.linear.on_cluster import OnCluster, inherited


class DaskBBLRClassifier(OnCluster, BBLRClassifier):
    """Beta-Bernoulli logistic regression on a Dask cluster.

    The same model and the same fit as :class:`~bblr.BBLRClassifier`, on rows that lie in the
    partitions of a Dask array or dataframe and stay on the workers that load them. Each pass over
    the data sends one gradient per worker, and a number or two.

    Parameters
    ----------
    prior, l2, gamma_min, gamma_max, gamma_growth, leverage, noise_free_proba, solver, tol, \
max_iter, fit_intercept, class_weight, warm_start, random_state, verbose
        As in :class:`~bblr.BBLRClassifier`. ``prior="learned"`` brings one score per row to the
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
    array([[0.9, 0.1],
           [0.7, 0.3]])
    """

    _local = BBLRClassifier

    def __init__(
        self,
        prior: Any = "auto",
        *,
        l2: Any = "auto",
        gamma_min: float = 1.0,
        gamma_max: Any = "auto",
        gamma_growth: float = 2.0,
        leverage: Any = "auto",
        noise_free_proba: bool = False,
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
        super().__init__(**inherited(locals()))
        self.client = client

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the classifier on the cluster.

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
        return super().fit(X, y, sample_weight)


class DaskBBLRClassifierCV(OnCluster, BBLRClassifierCV):
    """Beta-Bernoulli logistic regression that tunes itself by cross-validation, on a Dask cluster.

    The same search over the same folds as :class:`~bblr.BBLRClassifierCV`, on rows that stay on
    the workers. A fold is a mask of bits, sent once; labels, weights and the held-out scores of
    the chosen path are brought to the client, one byte per label and one number per row and class.

    Parameters
    ----------
    prior, l2s, gamma_limit, leverage, scoring, noise_free_proba, cv
        As in :class:`~bblr.BBLRClassifierCV`.
    n_jobs : int or None, default=None
        Taken for the sake of the local classifier; it does not apply: all workers work on one
        fold after the other.
    solver, tol, max_iter, fit_intercept, class_weight, random_state, verbose
        As in :class:`~bblr.BBLRClassifierCV`.
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
        l2s: Any = "auto",
        gamma_limit: float = 8.0,
        leverage: Any = "tuned",
        scoring: str = "accuracy",
        noise_free_proba: bool = False,
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
        super().__init__(**inherited(locals()))
        self.client = client

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Choose the meta-parameters and fit the classifier on the cluster.

        Parameters
        ----------
        X : Dask array or dataframe of shape (n_samples, n_features)
            Training rows; chunks may be dense or scipy.sparse, of unknown length, or empty.
        y : Dask array or series partitioned as X, or array-like, of shape (n_samples,)
            Classes.
        sample_weight : as y, default=None
            Weight of each row: 2 is a row that occurs twice, 0 one that does not occur.
        groups : array-like of shape (n_samples,), default=None
            Groups of the rows, for splitters that keep them together.

        Returns
        -------
        self
            Fitted estimator.
        """
        return super().fit(X, y, sample_weight, groups)


class DaskGeneralizedLinearClassifier(OnCluster, GeneralizedLinearClassifier):
    """A loss, a penalty and a solver on a Dask cluster.

    The same fit as :class:`~bblr.GeneralizedLinearClassifier`, on rows that stay on the workers.

    Parameters
    ----------
    loss, penalty, gammas, leverage, solver, tol, max_iter, fit_intercept, class_weight, verbose
        As in :class:`~bblr.GeneralizedLinearClassifier`. A loss of your own must be importable on
        the workers.
    client : distributed.Client or None, default=None
        Client of the cluster; None is the current one.

    Attributes
    ----------
    coef_, intercept_, classes_, loss_, path_, n_iter_, n_features_in_, feature_names_in_
        As in :class:`~bblr.GeneralizedLinearClassifier`.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from bblr.dask import DaskGeneralizedLinearClassifier
    >>> from bblr.datasets import load_uci
    >>> X, y = load_uci("heart", return_X_y=True)
    >>> X, y = da.from_array(X, chunks=(100, -1)), da.from_array(y, chunks=100)
    >>> with Client(n_workers=2, processes=False, dashboard_address=":0") as client:
    ...     model = DaskGeneralizedLinearClassifier("sigmoid", penalty=2.0).fit(X, y)
    ...     model.score(X, y) > 0.8
    True
    """

    _local = GeneralizedLinearClassifier

    def __init__(
        self,
        loss: Any = "logistic",
        *,
        penalty: Any = 1.0,
        gammas: Any = None,
        leverage: float | None = None,
        solver: Any = "auto",
        tol: float = 1e-4,
        max_iter: int = 100,
        fit_intercept: bool = True,
        class_weight: Any = None,
        verbose: int = 0,
        client: Any = None,
    ) -> None:
        super().__init__(**inherited(locals()))
        self.client = client

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the classifier on the cluster.

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
        return super().fit(X, y, sample_weight)
