"""Scores of rows by a classifier, and by two that follow wrong labels less."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cho_factor, cho_solve
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.utils import get_tags

from bblr._numeric.threads import one_blas_thread_for_rows
from bblr.audit.held_out import Labelled, held_out_scores
from bblr.audit.models import Floats
from bblr.audit.refits import Refit
from bblr.linear import BBLRClassifier
from bblr.training.folds import Fold

_NUMBERS = make_pipeline(MaxAbsScaler(), SimpleImputer(keep_empty_features=True))
# Random features of the kernel, in pairs.
_PAIRS = 64
# Up to here dense rows take little memory, and products of all pairs of columns little time.
_MOST_ROWS, _MOST_COLUMNS = 100_000, 256
# Penalties of the regression, as shares of the weight of all rows.
_PENALTIES = np.geomspace(3e-3, 1.0, 4)
_LEAST_SPREAD = 1e-9
# Part of the weight below which the equations of a fold are formed from its own rows.
_LEAST_SHARE = 1e-6
# Of each element of the diagonal; matters where some rows are extremely far from the others.
_LEAST_RIDGE = 1e-13


def panel_scores(
    estimator: Any,
    data: Labelled,
    folds: Sequence[Fold],
    n_jobs: int | None,
    refit: Refit | None = None,
) -> list[Floats]:
    """Return held-out scores by the classifier, by a linear one, and by one on random features.

    Where many labels are wrong a flexible classifier follows them and these, which take a fraction
    of its time, do not. Both are least squares; where rows or columns are many, the linear one is
    of ours, and the last is left out. The classifier is alone where rows are not numbers, or are a
    kernel, or where it is linear and of ours.
    """
    own = held_out_scores(estimator, data, folds, n_jobs, refit)
    last = estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator
    if isinstance(last, BBLRClassifier) or get_tags(estimator).input_tags.pairwise:
        return [own]
    try:
        numbers = data._replace(X=clone(_NUMBERS).fit_transform(data.X), params={})
        if len(data.y) > _MOST_ROWS or numbers.X.shape[1] > _MOST_COLUMNS:
            return [own, held_out_scores(BBLRClassifier(), numbers, folds, n_jobs, refit)]
    except (TypeError, ValueError):
        # Text, or infinite numbers.
        return [own]
    X = cast(Any, numbers.X).toarray() if sp.issparse(numbers.X) else numbers.X
    X = np.asarray(X, dtype=np.float64)
    weight = np.ones(len(data.y)) if data.weight is None else data.weight / data.weight.max()
    with one_blas_thread_for_rows(len(data.y)):
        columns = _standardised(X, weight)
        features = _random_features(columns)
        return [own, *(least_squares_scores(Z, data, weight, folds) for Z in (columns, features))]


def least_squares_scores(
    Z: Floats, data: Labelled, weight: Floats, folds: Sequence[Fold]
) -> Floats:
    """Return the held-out share of each class by penalised least squares.

    The equations of a fold are those of all rows less those it leaves out, so that all folds take
    little more than one. The penalty is the one of least held-out error.

    Parameters
    ----------
    Z : ndarray of shape (n_rows, n_features)
        Rows in units of one variance.
    data : Labelled
        Labels.
    weight : ndarray of shape (n_rows,)
        Weights.
    folds : sequence of Fold
        Rows to train on and to score.

    Returns
    -------
    ndarray of shape (n_rows, n_classes)
        The estimated share of each class, which may be below 0 or above 1.
    """
    Z = np.hstack([np.ones((len(Z), 1)), Z])
    shares = np.eye(len(data.classes))[data.codes]
    whole = _products(Z, shares, weight)
    ones = np.ones(Z.shape[1])
    ones[0] = _LEAST_SPREAD  # the intercept
    found, times = np.zeros((len(_PENALTIES), *shares.shape)), np.zeros(len(data.y))
    for train, test in folds:
        out = np.ones(len(data.y), dtype=bool)
        out[train] = False
        left_out = _products(Z, shares, weight, out)
        gram, sums = whole[0] - left_out[0], whole[1] - left_out[1]
        if weight[train].sum() < _LEAST_SHARE * weight.sum():
            # One row weighs more than all others together: the difference is rounding.
            gram, sums = _products(Z, shares, weight, train)
        least = _LEAST_RIDGE * np.diag(gram)
        for total, share in zip(found, _PENALTIES, strict=True):
            ridge = np.diag(np.maximum(share * weight[train].sum() * ones, least))
            total[test] += Z[test] @ cho_solve(cho_factor(gram + ridge), sums)
        times[test] += 1
    found /= times[:, None]
    errors = ((found - shares) ** 2).sum(axis=2) @ weight
    return np.asarray(found[errors.argmin()])


def _standardised(X: Floats, weight: Floats) -> Floats:
    """Return the columns that are not constant, with mean 0 and variance 1."""
    # Squares of very large or small numbers would leave the range.
    most = np.abs(X).max(axis=0)
    X = X / np.where(most > 0.0, most, 1.0)
    X -= np.average(X, axis=0, weights=weight)
    spread = np.sqrt(np.average(X**2, axis=0, weights=weight))
    seen = spread > _LEAST_SPREAD
    return np.asarray(X[:, seen] / spread[seen])


def _random_features(X: Floats) -> Floats:
    """Return cosines and sines of random projections, and the columns themselves if few."""
    n_columns = max(1, X.shape[1])
    # The kernel exp(-|x - x'|^2 / (2 n_columns)). Its draws are the same in every fit.
    draws = np.random.default_rng(0).standard_normal((X.shape[1], _PAIRS))
    angles = X @ (draws / np.sqrt(n_columns))
    parts = [np.cos(angles), np.sin(angles)]
    if n_columns <= _PAIRS:
        # All columns together have the variance of all cosines and sines.
        parts.append(X * np.sqrt(_PAIRS / n_columns))
    return np.hstack(parts)


def _products(
    Z: Floats, shares: Floats, weight: Floats, rows: Any = slice(None)
) -> tuple[Floats, Floats]:
    """Return the products of least squares over some rows."""
    Z, shares, weight = Z[rows], shares[rows], weight[rows]
    weighted = Z * weight[:, None]
    return weighted.T @ Z, weighted.T @ shares
