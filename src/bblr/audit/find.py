"""Find rows whose label is probably wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.utils import get_tags
from sklearn.utils._param_validation import validate_parameter_constraints
from sklearn.utils.validation import (
    _check_sample_weight,
    _num_samples,
    assert_all_finite,
    check_consistent_length,
    column_or_1d,
)

from bblr._checks import CONSTRAINTS
from bblr._numeric.tensors import local
from bblr.audit.fixed_settings import with_fixed_settings
from bblr.audit.flips import estimate_flips
from bblr.audit.held_out import Labelled, held_out_scores, make_folds
from bblr.audit.models import class_scores, fitted
from bblr.audit.result import LabelErrors
from bblr.inputs.disk import ShardAdapter
from bblr.inputs.in_memory import rows_in_memory
from bblr.inputs.labels import found_classes

__all__ = ["find_label_errors"]


def find_label_errors(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    cv: Any = 5,
    in_sample: bool = False,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> LabelErrors:
    """Rank rows by the evidence that their label is wrong.

    Every row is scored by models that were trained without it. The scores give estimates of the
    rates at which each class was given the label of each other class, and these the log-odds that
    a label is wrong.

    Parameters
    ----------
    estimator : classifier
        Any classifier with ``decision_function`` or ``predict_proba``, including pipelines; it is
        cloned. ``BBLRClassifier()`` ranked best in our comparisons.
    X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
        Rows in memory, in any form that the estimator accepts.
    y : array-like of shape (n_samples,)
        Labels, two classes or more.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights for ``fit``, passed to the last step of a pipeline, also within a search. Rows of
        weight 0 are scored as well.
    cv : int, splitter or iterable, default=5
        Folds. An integer means shuffled stratified folds; scores of rows that a splitter holds out
        more than once are averaged.
    in_sample : bool, default=False
        Score rows by one model trained on all of them. It takes a fifth of the time, but a model
        that has seen a label tends to reproduce it, in many dimensions always.
    n_jobs : int or None, default=None
        Folds to run in parallel, by joblib. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed for the folds.

    Returns
    -------
    LabelErrors
        ``ranking``, ``scores``, ``suggested``, ``wrong_plateau``, ``flip_rates``, ``n_errors``,
        ``class_errors``, and ``indices``, as many rows of each class from the top of the ranking.

    Notes
    -----
    With s the softmax of the scores, with fitted sharpness and shifts, and T[k, g] the rate at
    which class k is given label g, the odds that label g is wrong are
    sum_{k != g} T[k, g] s_k / (T[g, g] s_g).

    Where classes overlap, noise cannot be told from overlap. Rates are shrunk unless they improve
    the likelihood clearly and exceed the overlap, so that few clean labels are flagged; the number
    of errors is then underestimated rather than overestimated.

    ``BBLRClassifierCV`` and ``KernelBBLRClassifierCV`` choose their settings once, on all rows;
    the folds are fitted with these. Other searches (``GridSearchCV``) are run in every fold.

    Labels that the classifier cannot learn look like errors. Where classes overlap, review the
    rows before you change their labels.

    Examples
    --------
    >>> from bblr import BBLRClassifier, find_label_errors
    >>> from bblr.datasets import load_uci
    >>> X, y = load_uci("breast", return_X_y=True)
    >>> y[[5, 50, 500]] = 1 - y[[5, 50, 500]]
    >>> found = find_label_errors(BBLRClassifier(), X, y, random_state=0)
    >>> set(found.indices) >= {5, 50, 500}
    True
    """
    _check_estimator(estimator)
    validate_parameter_constraints(CONSTRAINTS, {"n_jobs": n_jobs}, "find_label_errors")
    data = _labelled(X, y, sample_weight)
    if get_tags(estimator).input_tags.pairwise and not sp.issparse(data.X):
        # Rows and columns of a kernel are selected by position, not by the names of a frame.
        data = data._replace(X=np.asarray(data.X))
    if in_sample:
        model = fitted(estimator, data.X, data.y, data.weight)
        raw = class_scores(model, data.X, data.X, data.classes)
    else:
        _check_learns(estimator)
        folds = make_folds(cv, data, random_state)
        raw = held_out_scores(with_fixed_settings(estimator, data), data, folds, n_jobs)
    weight = np.ones(len(data.y)) if data.weight is None else data.weight
    flips = estimate_flips(raw, data.codes, weight)
    return LabelErrors(
        flips.log_odds,
        data.classes[flips.suggested],
        flip_rates=flips.rates,
        classes=data.classes,
        given=data.y,
    )


def _check_estimator(estimator: Any) -> None:
    # Some estimators have these methods only once they are fitted.
    whole = hasattr(estimator, "__sklearn_tags__") and not isinstance(estimator, type)
    if not whole or not is_classifier(estimator):
        raise TypeError(
            "estimator must be a classifier with decision_function or predict_proba, such as "
            f"BBLRClassifier(); got {estimator!r}."
        )


def _check_learns(estimator: Any) -> None:
    parts = (estimator, *estimator.get_params().values())
    if any(isinstance(part, FrozenEstimator) and is_classifier(part) for part in parts):
        raise ValueError(
            "estimator is frozen: it cannot be trained without the rows it is to score. Pass the "
            "classifier itself; or score all rows with the frozen one by in_sample=True, or by "
            "outlier_scores if it is a classifier of bblr."
        )


def _labelled(X: Any, y: Any, sample_weight: Any) -> Labelled:
    if ShardAdapter.recognises(None, X):
        raise TypeError("X must be rows in memory, from which folds are taken; got rows on disk.")
    X = rows_in_memory(X)
    if y is None:
        raise ValueError("y must hold the labels to audit, got None.")
    y = column_or_1d(local(y))
    check_consistent_length(X, y)
    if any(map(_is_missing, y.tolist())):
        raise ValueError("y holds missing labels; fill them in or leave these rows out.")
    assert_all_finite(y, input_name="y")
    classes = found_classes(y)
    codes = np.searchsorted(classes, y)
    if len(classes) < 2:
        raise ValueError(f"y must hold two or more classes, got {classes.tolist()} only.")
    weight = None
    if sample_weight is not None:
        weight = _check_sample_weight(sample_weight, np.empty((_num_samples(X), 1)), copy=True)
        if weight.min() < 0:
            raise ValueError(f"sample_weight must be at least 0, got {weight.min()}.")
    return Labelled(X, y, classes, codes, weight)


def _is_missing(label: Any) -> bool:
    # None, NaN, and pandas' missing values, which cannot be compared.
    missing = label is None or type(label).__name__ in ("NAType", "NaTType")
    return missing or (isinstance(label, float) and label != label)
