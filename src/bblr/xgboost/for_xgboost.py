"""Objective, metric and base score for XGBoost, and a classifier that sees to all of them."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from bblr.boosting import (
    BoostedClassifier,
    Rho,
    WatchedRows,
    class_shares,
    mean_loss,
    settled,
    step,
)

try:
    from xgboost import XGBClassifier
except ImportError as missing:
    raise ImportError(
        "bblr.xgboost needs XGBoost, which is not installed; run: pip install 'bblr[xgboost]'"
    ) from missing

__all__ = ["BetaBernoulliXGBClassifier", "base_score", "metric", "objective"]

_NAME = "beta-bernoulli"
# The factor on the curvature that XGBoost's own multiclass loss has.
_SEVERAL = 2.0


def objective(preds: Any, dtrain: Any, rho: Rho = 1.0) -> tuple[Any, Any]:
    """Return gradient and curvature of the loss, as ``obj`` of ``xgboost.train`` wants them.

    Parameters
    ----------
    preds : ndarray of shape (n_samples,) or (n_samples, n_classes)
        Raw scores.
    dtrain : xgboost.DMatrix
        Rows with class numbers and, if any, weights.
    rho : float or sequence of float, default=1.0
        Ratio of the plateaus to the height above them, for all classes or for each; 0 is log-loss.
        For another one pass ``functools.partial(objective, rho=0.3)``.

    Returns
    -------
    gradient, curvature : ndarray of the shape of preds
        Of the loss of each row, times its weight.

    Examples
    --------
    >>> import numpy as np
    >>> import xgboost as xgb
    >>> from bblr.xgboost import objective
    >>> rows = xgb.DMatrix(np.arange(2.0)[:, None], [1, 1])
    >>> gradient, curvature = objective(np.array([0.5, -9.0]), rows)
    >>> gradient.round(3)                    # the row that contradicts the model has no say
    array([-0.145, -0.   ])
    """
    return step(rho, dtrain.get_label(), preds, dtrain.get_weight(), _SEVERAL)


def metric(preds: Any, evals: Any, rho: Rho = 1.0) -> tuple[str, float]:
    """Return the mean loss, as ``custom_metric`` of ``xgboost.train`` wants it.

    Parameters
    ----------
    preds : ndarray of shape (n_samples,) or (n_samples, n_classes)
        Raw scores.
    evals : xgboost.DMatrix
        Rows with class numbers and, if any, weights.
    rho : float or sequence of float, default=1.0
        As in `objective`.

    Returns
    -------
    name : str
        "beta-bernoulli".
    value : float
        The loss.

    Examples
    --------
    >>> import numpy as np
    >>> import xgboost as xgb
    >>> from bblr.xgboost import metric
    >>> rows = xgb.DMatrix(np.arange(2.0)[:, None], [1, 1])
    >>> name, value = metric(np.array([0.0, 0.0]), rows, rho=0.0)
    >>> name, round(value, 3)                                      # log 2
    ('beta-bernoulli', 0.693)
    """
    return _NAME, mean_loss(rho, evals.get_label(), preds, evals.get_weight())


def base_score(y: Any, sample_weight: Any = None) -> float | list[float]:
    """Return the ``base_score`` that XGBoost's log-loss starts from.

    Given an objective, XGBoost does not look for it.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Class numbers from 0 of the training rows.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights.

    Returns
    -------
    float or list of float
        Share of the second of two classes, or the centred logarithm of the share of each of more.

    Examples
    --------
    >>> from bblr.xgboost import base_score
    >>> base_score([0, 1, 1, 1])
    0.75
    """
    shares = class_shares(y, sample_weight)
    if len(shares) == 2:
        return float(shares[1])
    logs = np.log(shares)
    return [float(value) for value in logs - logs.mean()]


class BetaBernoulliXGBClassifier(BoostedClassifier):
    """XGBoost with the Beta-Bernoulli loss, and all that a custom loss needs taken care of.

    Base score, link, weights, many classes and the metric for early stopping are set here.

    Each round is one of log-loss in which a row counts by s_y / (rho + s_y), where s_y is the
    probability that the model gives its label so far: rows that contradict the model lose their
    say.

    Parameters
    ----------
    estimator : xgboost.XGBClassifier or None, default=None
        Classifier with the settings of the trees; XGBoost's defaults if None.
    rho : float or sequence of float, default=1.0
        Ratio of the plateaus to the height above them, for all classes or for each; 0 is log-loss.
        See ``Plateaus.rho``.

    Attributes
    ----------
    estimator_ : xgboost.XGBClassifier
        The fitted one, with numbers for classes. It is a plain model of XGBoost, which
        ``estimator_.save_model`` saves with base score and link.
    classes_ : ndarray of shape (n_classes,)
        Classes.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    bblr.lightgbm.BetaBernoulliLGBMClassifier : The same with LightGBM.

    Examples
    --------
    >>> from bblr.datasets import load_uci
    >>> from bblr.xgboost import BetaBernoulliXGBClassifier
    >>> from xgboost import XGBClassifier
    >>> X, y = load_uci("breast", return_X_y=True)
    >>> trees = XGBClassifier(n_estimators=20, max_depth=3)
    >>> model = BetaBernoulliXGBClassifier(trees, rho=0.5).fit(X, y)
    >>> model.score(X, y) > 0.97
    True
    """

    _own: ClassVar[frozenset[str]] = frozenset(
        {"base_margin", "base_margin_eval_set", "sample_weight_eval_set", "xgb_model"}
    )
    _types: ClassVar[tuple[type, ...]] = (np.float32,)

    def _model(self) -> Any:
        estimator = XGBClassifier() if self.estimator is None else self.estimator
        allowed = {
            "objective": (None, "binary:logistic", "multi:softprob"),
            "eval_metric": (None,),
            "base_score": (None,),
            "scale_pos_weight": (None, 1, 1.0),
            "num_class": (None,),
        }
        remedy = "loss, metric and base score are set here; for class weights use sample_weight."
        return settled(estimator, XGBClassifier, allowed, remedy)

    def _train(
        self, model: Any, X: Any, y: Any, weight: Any, watched: list[WatchedRows], fit_params: Any
    ) -> Any:
        rho = self.rho

        def by_arrays(labels: Any, scores: Any, sample_weight: Any = None) -> tuple[Any, Any]:
            return step(rho, labels, scores, sample_weight, _SEVERAL)

        def followed(labels: Any, scores: Any, sample_weight: Any = None) -> float:
            return mean_loss(rho, labels, scores, sample_weight)

        followed.__name__ = _NAME
        model.set_params(
            objective=by_arrays, eval_metric=followed, base_score=base_score(y, weight)
        )
        watch = [(part.X, part.y) for part in watched] or None
        weights = [part.weight for part in watched]
        model.fit(
            X, y, sample_weight=weight, eval_set=watch,
            sample_weight_eval_set=weights if any(w is not None for w in weights) else None,
            **{"verbose": False, **fit_params},
        )  # fmt: skip
        # The booster holds the link already; these would be tied to this process.
        model.objective = "multi:softprob" if len(self.classes_) > 2 else "binary:logistic"
        model.eval_metric = None
        return model

    def _scores(self, X: Any) -> Any:
        return self.estimator_.predict(X, output_margin=True)
