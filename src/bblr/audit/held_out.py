"""Scores of rows by models that have not seen their labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.parallel import Parallel, delayed

from bblr._checks import check_number
from bblr.audit.models import Floats, class_scores, fitted
from bblr.training.folds import Fold

# Rows that show what the columns of a decision function mean.
_KNOWN = 200


class Labelled(NamedTuple):
    """Rows with labels, class numbers, and weights if any."""

    X: Any
    y: NDArray[Any]
    classes: NDArray[Any]
    codes: NDArray[np.intp]
    weight: Floats | None


def make_folds(cv: Any, data: Labelled, random_state: Any) -> list[Fold]:
    """Return the folds of a ``cv`` parameter; every row is scored at least once.

    Rows of zero weight are in no training part, and are scored in all folds.
    """
    if not isinstance(cv, int | np.integer):
        return _given_folds(cv, data)
    check_number("cv", cv, low=2, integer=True)
    n = len(data.y)
    counted = np.arange(n) if data.weight is None else np.flatnonzero(data.weight > 0)
    counts = np.bincount(data.codes[counted], minlength=len(data.classes))
    _check_counts(counts, data)
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


def _check_counts(counts: NDArray[np.intp], data: Labelled) -> None:
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
    once = "once only" if data.weight is None else "in one row of positive weight only"
    raise ValueError(
        f"{named} {once}, and nothing can be learned of a class whose only row is held out; "
        "correct that label, leave the row out, or use in_sample=True."
    )


def _given_folds(cv: Any, data: Labelled) -> list[Fold]:
    n = len(data.y)
    folds = [
        Fold(_row_numbers(train, n), _row_numbers(test, n)) for train, test in _splits(cv, data)
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
            f"{n}; use an integer, or in_sample=True."
        )
    return folds


def _splits(cv: Any, data: Labelled) -> list[tuple[Any, Any]]:
    splitter = check_cv(cv, data.y, classifier=True)
    try:
        return list(splitter.split(np.zeros((len(data.y), 1)), data.y))
    except (TypeError, ValueError) as error:
        if "group" not in f"{cv!r} {error}".lower():
            raise
        raise ValueError(
            f"cv={cv!r} needs groups, which are not available here; pass its folds themselves, "
            f"cv=list({cv!r}.split(X, y, groups))."
        ) from error


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
    estimator: Any, data: Labelled, folds: Sequence[Fold], n_jobs: int | None
) -> Floats:
    """Return the mean score of each row for each class over the folds that hold it out."""
    parts = Parallel(n_jobs=n_jobs)(delayed(_fold_scores)(estimator, data, fold) for fold in folds)
    total, times = np.zeros((len(data.y), len(data.classes))), np.zeros(len(data.y))
    for fold, part in zip(folds, parts, strict=True):
        total[fold.test] += part
        times[fold.test] += 1
    return total / times[:, None]


def _fold_scores(estimator: Any, data: Labelled, fold: Fold) -> Floats:
    X, y = _safe_split(estimator, data.X, data.y, fold.train)
    weight = None if data.weight is None else data.weight[fold.train]
    model = fitted(estimator, X, y, weight)
    some = fold.train[:: max(1, len(fold.train) // _KNOWN)]
    rows, known = (
        _safe_split(estimator, data.X, None, part, fold.train)[0] for part in (fold.test, some)
    )
    return class_scores(model, rows, known, data.classes)
