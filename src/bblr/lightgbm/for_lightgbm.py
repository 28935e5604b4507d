"""Objective, metric, base score and link for LightGBM, and a classifier that sees to all."""

from __future__ import annotations

import re
from typing import Any, ClassVar

import numpy as np

from bblr.boosting import (
    BoostedClassifier,
    Floats,
    Rho,
    WatchedRows,
    class_shares,
    mean_loss,
    settled,
    step,
)

try:
    from lightgbm import Booster, LGBMClassifier
    from lightgbm.basic import LightGBMError
except ImportError as missing:
    raise ImportError(
        "bblr.lightgbm needs LightGBM, which is not installed; run: pip install 'bblr[lightgbm]'"
    ) from missing

__all__ = ["BetaBernoulliLGBMClassifier", "complete", "init_score", "metric", "objective"]

_NAME = "beta-bernoulli"


def _several(n_classes: int) -> float:
    """Return the factor on the curvature that LightGBM's own multiclass loss has."""
    return n_classes / (n_classes - 1.0)


def objective(preds: Any, train_data: Any, rho: Rho = 1.0) -> tuple[Any, Any]:
    """Return gradient and curvature of the loss, as ``lightgbm.train`` wants them.

    Parameters
    ----------
    preds : ndarray of shape (n_samples,) or (n_samples, n_classes)
        Raw scores.
    train_data : lightgbm.Dataset
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
    >>> import lightgbm as lgb
    >>> import numpy as np
    >>> from bblr.lightgbm import objective
    >>> rows = lgb.Dataset(np.arange(2.0)[:, None], [1, 1]).construct()
    >>> gradient, curvature = objective(np.array([0.5, -9.0]), rows)
    >>> gradient.round(3)                    # the row that contradicts the model has no say
    array([-0.145, -0.   ])
    """
    y, weight = train_data.get_label(), train_data.get_weight()
    several = _several(preds.shape[1]) if preds.ndim > 1 else 1.0
    return step(rho, y, preds, weight, several)


def metric(preds: Any, eval_data: Any, rho: Rho = 1.0) -> tuple[str, float, bool]:
    """Return the mean loss, as ``feval`` of ``lightgbm.train`` wants it.

    Parameters
    ----------
    preds : ndarray of shape (n_samples,) or (n_samples, n_classes)
        Raw scores.
    eval_data : lightgbm.Dataset
        Rows with class numbers and, if any, weights.
    rho : float or sequence of float, default=1.0
        As in `objective`.

    Returns
    -------
    name : str
        "beta-bernoulli".
    value : float
        The loss.
    is_higher_better : bool
        False.

    Examples
    --------
    >>> import lightgbm as lgb
    >>> import numpy as np
    >>> from bblr.lightgbm import metric
    >>> rows = lgb.Dataset(np.arange(2.0)[:, None], [1, 1]).construct()
    >>> name, value, _ = metric(np.array([0.0, 0.0]), rows, rho=0.0)
    >>> name, round(value, 3)                                      # log 2
    ('beta-bernoulli', 0.693)
    """
    return _NAME, mean_loss(rho, eval_data.get_label(), preds, eval_data.get_weight()), False


def init_score(y: Any, sample_weight: Any = None) -> Floats:
    """Return the scores that LightGBM's log-loss starts from, which an objective has to be given.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Class numbers from 0 of the training rows.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights.

    Returns
    -------
    ndarray of shape (1,) or (n_classes,)
        Log-odds of the second of two classes, or the logarithm of the share of each of more. A
        ``Dataset`` takes it repeated for each row: ``np.tile(init_score(y), (len(y), 1))``.

    Examples
    --------
    >>> from bblr.lightgbm import init_score
    >>> init_score([0, 1, 1, 1]).round(2)
    array([1.1])
    """
    logs = np.log(class_shares(y, sample_weight))
    return np.asarray(logs if len(logs) > 2 else logs[1:] - logs[0])


def complete(booster: Booster, start: Any) -> Booster:
    """Return a booster with base score and link inside, as if trained with LightGBM's log-loss.

    Its ``predict`` returns probabilities, and so it does when saved and loaded, here or by any
    other program that reads LightGBM's files.

    Parameters
    ----------
    booster : lightgbm.Booster
        Trained with `objective` from an initial score; it is left as it is.
    start : array-like of shape (1,) or (n_classes,)
        What :func:`init_score` returned for the training rows.

    Returns
    -------
    lightgbm.Booster
        A copy, up to the best iteration if training was stopped early.

    Examples
    --------
    >>> import lightgbm as lgb
    >>> import numpy as np
    >>> from bblr.lightgbm import complete, init_score, objective
    >>> X, y = np.arange(100.0)[:, None], np.repeat([0, 1], [25, 75])
    >>> start = init_score(y)
    >>> rows = lgb.Dataset(X, y, init_score=np.repeat(start, 100))
    >>> booster = lgb.train({"objective": objective, "verbosity": -1}, rows, 10)
    >>> booster.predict([[90.0]]).round(1)                   # a score without its base
    array([1.2])
    >>> complete(booster, start).predict([[90.0]]).round(2)
    array([0.91])
    """
    return Booster(model_str=_completed(booster, np.atleast_1d(start)))


def _completed(booster: Booster, start: Any) -> str:
    """Return the text of a model that has base score and link."""
    text = booster.model_to_string()
    if "\nobjective=" in text:
        raise ValueError("booster must be one that was trained with objective, and not complete.")
    if "\nis_linear=1" in text:
        raise ValueError("booster must have constant leaves: linear_tree=True has no base score.")
    n_scores = booster.num_model_per_iteration()
    if len(start) != n_scores:
        raise ValueError(f"start must hold {n_scores} numbers, one a score, got {len(start)}.")
    # Files keep the base score in the leaves of the first tree of each class, and so do we.
    copy = Booster(model_str=text)
    for k, tree in enumerate(copy.dump_model(num_iteration=1)["tree_info"]):
        for leaf in range(tree["num_leaves"]):
            copy.set_leaf_output(k, leaf, copy.get_leaf_output(k, leaf) + float(start[k]))
    link = "binary sigmoid:1" if n_scores == 1 else f"multiclass num_class:{n_scores}"
    return str(copy.model_to_string()).replace(
        "\nfeature_names=", f"\nobjective={link}\nfeature_names=", 1
    )


class BetaBernoulliLGBMClassifier(BoostedClassifier):
    """LightGBM with the Beta-Bernoulli loss, and all that a custom loss needs taken care of.

    Base score, link, weights, many classes and the metric for early stopping are set here.

    Each round is one of log-loss in which a row counts by s_y / (rho + s_y), where s_y is the
    probability that the model gives its label so far: rows that contradict the model lose their
    say.

    Parameters
    ----------
    estimator : lightgbm.LGBMClassifier or None, default=None
        Classifier with the settings of the trees; LightGBM's defaults if None.
    rho : float or sequence of float, default=1.0
        Ratio of the plateaus to the height above them, for all classes or for each; 0 is log-loss.
        See ``Plateaus.rho``.

    Attributes
    ----------
    estimator_ : lightgbm.LGBMClassifier
        The fitted one, with numbers for classes. Its ``booster_`` is a plain model of LightGBM,
        base score and link included.
    classes_ : ndarray of shape (n_classes,)
        Classes.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    bblr.xgboost.BetaBernoulliXGBClassifier : The same with XGBoost.

    Examples
    --------
    >>> from bblr.datasets import load_uci
    >>> from bblr.lightgbm import BetaBernoulliLGBMClassifier
    >>> from lightgbm import LGBMClassifier
    >>> X, y = load_uci("breast", return_X_y=True)
    >>> trees = LGBMClassifier(n_estimators=20, num_leaves=7, verbosity=-1)
    >>> model = BetaBernoulliLGBMClassifier(trees, rho=0.5).fit(X, y)
    >>> model.score(X, y) > 0.97
    True
    """

    _own: ClassVar[frozenset[str]] = frozenset(
        {"init_score", "eval_init_score", "eval_metric", "init_model", "eval_X", "eval_y"}
    )

    def _model(self) -> Any:
        estimator = LGBMClassifier(verbosity=-1) if self.estimator is None else self.estimator
        allowed = {
            "objective": (None, "binary", "multiclass"),
            "metric": (None, "None"),
            "scale_pos_weight": (1, 1.0),
            "is_unbalance": (False,),
            "linear_tree": (False,),
        }
        remedy = "the loss is set here; for class weights use class_weight or sample_weight."
        return settled(estimator, LGBMClassifier, allowed, remedy)

    def _train(
        self, model: Any, X: Any, y: Any, weight: Any, watched: list[WatchedRows], fit_params: Any
    ) -> Any:
        rho, start = self.rho, init_score(y, weight)

        def by_arrays(labels: Any, scores: Any, weights: Any) -> tuple[Any, Any]:
            return step(rho, labels, scores, weights, _several(max(2, len(start))))

        def followed(labels: Any, scores: Any, weights: Any) -> tuple[str, float, bool]:
            return _NAME, mean_loss(rho, labels, scores, weights), False

        def repeated(count: int) -> Any:
            return np.tile(start, (count, 1)) if len(start) > 1 else np.repeat(start, count)

        # A metric of its own would see raw scores for probabilities.
        model.set_params(objective=by_arrays, metric="None", class_weight=None)
        link = "multiclass" if len(start) > 1 else "binary"
        try:
            model.fit(
                X, y, sample_weight=weight, init_score=repeated(len(y)), eval_metric=followed,
                **_watch(watched, repeated), **fit_params,
            )  # fmt: skip
        except LightGBMError:
            # LightGBM refuses any objective but its own where it can split no feature, and the
            # model is constant; everything else is an error.
            model.set_params(objective=link).fit(X, y, sample_weight=weight)
            if re.search(r"^split_feature=\d", model.booster_.model_to_string(), re.MULTILINE):
                raise
            return model
        model.booster_.model_from_string(_completed(model.booster_, start))
        return model.set_params(objective=link)

    def _scores(self, X: Any) -> Any:
        return self.estimator_.predict(X, raw_score=True)


def _watch(parts: list[WatchedRows], repeated: Any) -> dict[str, Any]:
    """Return what ``fit`` is told of the rows to follow the loss on."""
    if not parts:
        return {}
    return {
        "eval_X": tuple(part.X for part in parts),
        "eval_y": tuple(part.y for part in parts),
        "eval_sample_weight": [part.weight for part in parts],
        "eval_init_score": [repeated(len(part.y)) for part in parts],
    }
