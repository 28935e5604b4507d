"""Find rows whose label is probably wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils._param_validation import validate_parameter_constraints

from bblr._checks import CONSTRAINTS
from bblr.audit.flips import estimate_flips
from bblr.audit.held_out import labelled, make_folds, with_fixed_settings
from bblr.audit.models import check_estimator, check_learns, class_scores, fitted
from bblr.audit.panel import panel_scores
from bblr.audit.result import LabelErrors

__all__ = ["find_label_errors"]

# What else there is for a classifier that cannot be trained.
_FROZEN = (
    "; or score all rows with the frozen one by in_sample=True, or by outlier_scores if it is a "
    "classifier of bblr"
)


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

    Every row is scored by models that were trained without it: by the classifier and, to the
    extent that the labels agree better with them, by a linear and a smooth one. The scores give
    estimates of the rates at which each class was given the label of each other class, and these
    rates the log-odds that a label is wrong.

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
    The other two are left out where rows are not numbers or are a kernel, where the estimator is a
    linear classifier of bblr itself, and with ``in_sample=True``.

    With s the softmax of the scores, with fitted sharpness and shifts, and T[k, g] the rate at
    which class k is given label g, the odds that label g is wrong are
    sum_{k != g} T[k, g] s_k / (T[g, g] s_g).

    Where classes overlap, noise is hard to tell from overlap. Rates are estimated only as far as
    the evidence asks for them: none, one for all classes, or some of their own for a class.
    Without evidence for any, few labels are flagged, and the number of errors is underestimated
    rather than overestimated.

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
    check_estimator(estimator)
    settings = {"n_jobs": n_jobs, "random_state": random_state, "in_sample": in_sample}
    validate_parameter_constraints(
        {**CONSTRAINTS, "in_sample": ["boolean"]}, settings, "find_label_errors"
    )
    data = labelled(X, y, sample_weight, estimator)
    if in_sample:
        model = fitted(estimator, data.X, data.y, data.weight)
        scores = [class_scores(model, data.X, data.X, data.classes)]
    else:
        check_learns(estimator, _FROZEN)
        folds = make_folds(cv, data, random_state, else_in_sample=True)
        scores = panel_scores(with_fixed_settings(estimator, data), data, folds, n_jobs)
    weight = np.ones(len(data.y)) if data.weight is None else data.weight
    flips = estimate_flips(scores, data.codes, weight)
    return LabelErrors(
        flips.log_odds,
        data.classes[flips.suggested],
        flip_rates=flips.rates,
        classes=data.classes,
        given=data.y,
    )
