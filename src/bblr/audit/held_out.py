"""Scores of rows by models that have not seen their labels."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import (
    _check_method_params,
    assert_all_finite,
    check_consistent_length,
    column_or_1d,
)

from bblr._checks import check_number
from bblr._numeric.arrays import plain_labels
from bblr._numeric.tensors import local
from bblr._numeric.threads import as_child, jobs_for
from bblr.audit.models import Floats, class_scores, fitted
from bblr.audit.refits import Refit, given_refit, with_all_classes
from bblr.inputs.disk import ShardAdapter
from bblr.inputs.in_memory import rows_in_memory
from bblr.inputs.labels import found_classes, is_missing, refuse_missing, row_weights
from bblr.kernel import KernelBBLRClassifier, KernelBBLRClassifierCV
from bblr.linear import BBLRClassifier, BBLRClassifierCV
from bblr.training.folds import Fold

# Rows that show what the columns of a decision function mean.
_KNOWN = 200
# Settings that a classifier has in common with the one that chooses some of them.
_SHARED = ("tol", "max_iter", "fit_intercept", "class_weight", "device", "random_state")
_KERNEL = ("kernel", "degree", "coef0", "penalty", "sparsity", "max_centers", "cache_size")


class Labelled(NamedTuple):
    """Rows with labels, class numbers, weights if any, and what else ``fit`` takes."""

    X: Any
    y: NDArray[Any]
    classes: NDArray[Any]
    codes: NDArray[np.intp]
    weight: Floats | None
    params: Mapping[str, Any] = MappingProxyType({})


def labelled(X: Any, y: Any, sample_weight: Any, estimator: Any) -> Labelled:
    """Return checked rows and labels; rows of a kernel are picked by position."""
    if ShardAdapter.recognises(None, X):
        raise TypeError("X must be rows in memory, from which folds are taken; got rows on disk.")
    X = rows_in_memory(X)
    if y is None:
        raise ValueError("y must hold the labels to audit, got None.")
    y = column_or_1d(plain_labels(local(y)), warn=True)
    check_consistent_length(X, y)
    refuse_missing(y)
    assert_all_finite(y, input_name="y")
    classes = found_classes(y)
    codes = np.searchsorted(classes, y)
    if len(classes) < 2:
        got = f"1 class only: {classes.tolist()[0]!r}" if len(classes) else "no rows"
        raise ValueError(f"y must hold two or more classes, got {got}.")
    weight = None if sample_weight is None else row_weights(sample_weight, y)
    if get_tags(estimator).input_tags.pairwise and not sp.issparse(X):
        # Rows and columns of a kernel are selected by position, not by the names of a frame.
        X = np.asarray(X)
    return Labelled(X, y, classes, codes, weight)


def make_folds(
    cv: Any, data: Labelled, random_state: Any, groups: Any = None, *, else_in_sample: bool = False
) -> list[Fold]:
    """Return the folds of a ``cv`` parameter; every row is scored at least once.

    Rows of zero weight are in no training part, and are scored in all folds. Errors name
    ``in_sample`` as a way out where the caller has such a parameter.
    """
    if groups is not None:
        groups = _checked_groups(groups, cv, len(data.y))
    if not isinstance(cv, int | np.integer):
        return _given_folds(cv, data, groups, else_in_sample)
    check_number("cv", cv, low=2, integer=True)
    n = len(data.y)
    counted = np.arange(n) if data.weight is None else np.flatnonzero(data.weight > 0)
    counts = np.bincount(data.codes[counted], minlength=len(data.classes))
    _check_counts(counts, data, else_in_sample)
    rng = check_random_state(random_state)
    others = np.setdiff1d(np.arange(n), counted)
    fold_of = _assign_folds(data.codes[counted], min(int(cv), len(counted)), rng)
    return [
        Fold(counted[fold_of != k], np.append(counted[fold_of == k], others))
        for k in range(fold_of.max() + 1)
    ]


def _assign_folds(codes: NDArray[np.intp], n_folds: int, rng: Any) -> NDArray[np.intp]:
    """Assign shuffled rows to folds in turn, class by class: a class of two is in two folds."""
    order = rng.permutation(len(codes))
    order = order[np.argsort(codes[order], kind="stable")]
    fold_of = np.empty(len(codes), dtype=np.intp)
    fold_of[order] = np.arange(len(codes)) % n_folds
    return fold_of


def _check_counts(counts: NDArray[np.intp], data: Labelled, else_in_sample: bool) -> None:
    """Raise a ValueError unless each class has two rows, one of which is held out."""
    if counts.min() >= 2:
        return
    rare = data.classes[counts == counts.min()].tolist()
    named = f"y holds {', '.join(map(repr, rare[:5]))}{' …' if len(rare) > 5 else ''}"
    if counts.min() == 0:
        raise ValueError(
            f"{named} in no row of positive weight, and nothing can be learned of such a class; "
            "give its rows some weight, or leave them out."
        )
    remedy = "correct that label, or leave the row out"
    if else_in_sample:
        remedy = "correct that label, leave the row out, or use in_sample=True"
    once = "once only" if data.weight is None else "in one row of positive weight only"
    raise ValueError(
        f"{named} {once}, and nothing can be learned of a class whose only row is held out; "
        f"{remedy}."
    )


def _checked_groups(groups: Any, cv: Any, n: int) -> NDArray[Any]:
    """Return the group of each row, or say what is wrong with them."""
    if cv is None or isinstance(cv, int | np.integer):
        raise ValueError(
            f"groups would be ignored: cv={cv!r} does not look at them; use a splitter that "
            "does, such as cv=GroupKFold(5), or leave groups out."
        )
    found = np.asarray(groups)
    if found.shape != (n,):
        raise ValueError(
            f"groups must hold one group for each of the {n} rows, got an array of shape "
            f"{found.shape}."
        )
    missing = [row for row, group in enumerate(found.tolist()) if is_missing(group)]
    if missing:
        raise ValueError(f"groups must not be missing, but row {missing[0]} has none.")
    return found


def _given_folds(cv: Any, data: Labelled, groups: Any, else_in_sample: bool) -> list[Fold]:
    n = len(data.y)
    folds = [
        Fold(_row_numbers(train, n), _row_numbers(test, n))
        for train, test in _splits(cv, data, groups, else_in_sample)
    ]
    # A fold that holds out nothing needs no fit.
    folds = [fold for fold in folds if len(fold.test)]
    scored = np.zeros(n, dtype=bool)
    for train, test in folds:
        if not len(train):
            raise ValueError("cv must leave rows to train on in every fold.")
        if np.intersect1d(train, test).size:
            raise ValueError("cv must not train a fold on rows that it holds out.")
        scored[test] = True
    if not scored.all():
        raise ValueError(
            f"cv must hold out every row at least once, but leaves out {int((~scored).sum())} of "
            f"{n}; use an integer{', or in_sample=True' if else_in_sample else ''}."
        )
    return folds


def _splits(cv: Any, data: Labelled, groups: Any, else_in_sample: bool) -> list[tuple[Any, Any]]:
    splitter = check_cv(cv, data.y, classifier=True)
    try:
        return list(splitter.split(np.zeros((len(data.y), 1)), data.y, groups))
    except (TypeError, ValueError) as error:
        if "unpack" in str(error):
            raise ValueError(
                "cv must name two sets of rows for each fold, to train on and to hold out."
            ) from None
        if groups is not None or "group" not in f"{cv!r} {error}".lower():
            raise
        remedy = (
            f", which are not available here; pass its folds themselves, cv=list({cv!r}.split(X, "
            "y, groups))."
            if else_in_sample
            else "; pass them to fit: fit(X, y, groups=...)."
        )
        raise ValueError(f"cv={cv!r} needs groups{remedy}") from error


def _row_numbers(rows: Any, n: int) -> NDArray[np.intp]:
    """Return row indices, also from a mask; negative ones could hide that a row is held out."""
    rows = np.asarray(rows)
    if rows.dtype == bool and rows.shape == (n,):
        return np.flatnonzero(rows)
    whole = rows.dtype.kind in "iu" or rows.size == 0
    if rows.ndim != 1 or not whole or rows.min(initial=0) < 0 or rows.max(initial=0) >= n:
        raise ValueError(
            f"cv must name rows by their numbers, 0 to {n - 1}, or by masks of {n} rows; got "
            f"{np.array2string(rows, threshold=6, edgeitems=2)}."
        )
    return rows.astype(np.intp)


def held_out_scores(
    estimator: Any,
    data: Labelled,
    folds: Sequence[Fold],
    n_jobs: int | None,
    refit: Refit | None = None,
) -> Floats:
    """Return the mean score of each row for each class over the folds that hold it out.

    Folds are trained on the labels as given, or on their part of a training set that allows for
    wrong labels.
    """
    whole = given_refit(data.codes, data.weight) if refit is None else refit
    parts = Parallel(n_jobs=jobs_for(len(folds), n_jobs))(
        delayed(as_child)(os.getpid(), _fold_scores, estimator, data, fold, whole)
        for fold in folds
    )
    total, times = np.zeros((len(data.y), len(data.classes))), np.zeros(len(data.y))
    for fold, part in zip(folds, parts, strict=True):
        total[fold.test] += part
        times[fold.test] += 1
    return total / times[:, None]


def _fold_scores(estimator: Any, data: Labelled, fold: Fold, whole: Refit) -> Floats:
    refit = with_all_classes(whole.within(fold.train), data.codes, data.weight, fold.train)
    model = trained(estimator, data, refit)
    some = fold.train[:: max(1, len(fold.train) // _KNOWN)]
    rows, known = (
        _safe_split(estimator, data.X, None, part, fold.train)[0] for part in (fold.test, some)
    )
    return class_scores(model, rows, known, data.classes)


def trained(estimator: Any, data: Labelled, refit: Refit) -> Any:
    """Return a copy of the estimator fitted to a training set made of the rows."""
    X = _safe_split(estimator, data.X, None, refit.rows)[0]
    params = _check_method_params(data.X, data.params, refit.rows)
    return fitted(estimator, X, data.classes[refit.codes], refit.weight, params)


def with_fixed_settings(estimator: Any, data: Labelled) -> Any:
    """Return the estimator, with settings chosen once on all rows if it is a CV class of bblr.

    A few settings chosen with all labels reveal nothing about a single one, and choosing them
    again in each fold would take several times longer.
    """
    last = estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator
    if type(last) not in (BBLRClassifierCV, KernelBBLRClassifierCV):
        return estimator
    model = fitted(estimator, data.X, data.y, data.weight)
    if not isinstance(estimator, Pipeline):
        return _without_search(model)
    copy = clone(estimator)
    return copy.set_params(**{estimator.steps[-1][0]: _without_search(model.steps[-1][1])})


def _without_search(model: Any) -> BBLRClassifier | KernelBBLRClassifier:
    gammas = sorted({stage.gamma for stage in model.path_})
    options: dict[str, Any] = {
        "prior": model.prior_,
        "l2": model.l2_,
        "gamma_min": min(gammas[0], model.gamma_),
        "gamma_max": model.gamma_,
        "gamma_growth": gammas[1] / gammas[0] if len(gammas) > 1 else 2.0,
        **{name: getattr(model, name) for name in _SHARED},
    }
    if isinstance(model, BBLRClassifierCV):
        return BBLRClassifier(leverage=model.leverage_, solver=model.solver, **options)
    vectors = None if model.sparsity is None else len(model.support_)
    options |= {name: getattr(model, name) for name in _KERNEL}
    return KernelBBLRClassifier(kernel_gamma=model.kernel_gamma_, max_vectors=vectors, **options)
