"""Folds: which rows to train on and which to hold out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

Floats = NDArray[np.float64]

# Where examples are few one division into folds says little; a few more cost nothing.
FEW = 1000
_REPEATS = 3


class Fold(NamedTuple):
    """Row numbers to train on and to hold out."""

    train: NDArray[np.intp]
    test: NDArray[np.intp]


def check_folds(folds: Sequence[Fold], y: NDArray[Any], weight: Floats) -> None:
    """Raise a ValueError unless every fold can be fitted and says something."""
    if not folds:
        raise ValueError("cv must name at least one division of the rows, got none.")
    classes = len(np.unique(y[weight > 0]))
    for train, test in folds:
        seen = len(np.unique(y[train[weight[train] > 0]]))
        if not np.any(weight[test] > 0) or seen < classes:
            raise ValueError(
                "cv must give every fold rows to hold out and all classes to train on; rows of "
                "zero weight do not count."
            )


def _row_numbers(rows: Any, n: int) -> NDArray[np.intp]:
    """Return the numbers of rows that are given by number, from either end, or by a mask."""
    rows = np.asarray(rows)
    if rows.size == 0:
        return np.zeros(0, dtype=np.intp)
    if rows.ndim != 1 or rows.dtype.kind not in "biu" or (rows.dtype == bool and len(rows) != n):
        raise ValueError(
            "cv must give every fold as two vectors, of row numbers or of a truth value for each "
            f"row of X; got one of shape {rows.shape} and type {rows.dtype}."
        )
    if rows.dtype == bool:
        return np.flatnonzero(rows)
    if rows.max() >= n or rows.min() < -n:
        raise ValueError(f"cv names rows beyond the {n} of X.")
    return np.asarray(rows % n, dtype=np.intp)


def makes_folds(cv: Any) -> bool:
    """Say whether a ``cv`` parameter asks for folds to be made, rather than naming them."""
    return isinstance(cv, int | np.integer) and not isinstance(cv, bool)


def make_folds(
    cv: Any, y: Floats, weight: Floats, random_state: Any, groups: Any = None
) -> list[Fold]:
    """Return the folds a ``cv`` parameter stands for; examples of zero weight take no part."""
    rows = np.flatnonzero(weight > 0)
    labels = y[rows]
    if groups is not None and makes_folds(cv):
        raise ValueError(
            "groups are used by splitters that know them: pass cv=GroupKFold() or another one of "
            "sklearn.model_selection with groups, or leave groups out."
        )
    if not makes_folds(cv):
        from sklearn.model_selection import check_cv

        splitter = check_cv(cv, y, classifier=True)
        splits = splitter.split(np.zeros((len(y), 1)), y, groups)
        folds = [
            Fold(_row_numbers(train, len(y)), _row_numbers(test, len(y))) for train, test in splits
        ]
        check_folds(folds, y, weight)
        return folds
    if cv < 2:
        raise ValueError(f"cv must be at least 2 folds, got {cv}.")
    smallest = int(np.unique(labels, return_counts=True)[1].min())
    if smallest < 2:
        raise ValueError(
            "cv needs at least 2 examples of each class to hold some out; the smallest class "
            f"has {smallest}. Add examples, or use the classifier without CV in its name."
        )
    from sklearn.model_selection import StratifiedKFold

    rng = check_random_state(random_state)
    folds = []
    for _ in range(_REPEATS if len(rows) < FEW else 1):
        seed = rng.randint(2**31 - 1)
        splitter = StratifiedKFold(min(cv, smallest), shuffle=True, random_state=seed)
        folds += [Fold(rows[train], rows[test]) for train, test in splitter.split(rows, labels)]
    return folds
