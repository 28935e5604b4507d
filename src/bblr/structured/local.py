"""The local classifier: its log odds, in and out of fold, and what its labels must be."""

from __future__ import annotations

from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import clone

from bblr.structured.groups import Network

__all__ = ["check_both_kinds", "check_possible", "logits", "out_of_fold"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Log odds of ±18: a local probability beyond that is a claim no training set can support.
_SURE = 1e-8


def logits(local: Any, X: Any) -> Floats:
    """Return the log odds of label 1 that a fitted classifier gives."""
    column = int(np.flatnonzero(local.classes_ == 1)[0])
    p = np.clip(local.predict_proba(X)[:, column], _SURE, 1 - _SURE).astype(np.float64)
    return np.asarray(np.log(p) - np.log1p(-p))


def out_of_fold(
    local: Any, X: Any, labels: Integers, network: Network, cv: int, rng: Any, n_jobs: int | None
) -> Floats:
    """Return log odds of each member from a classifier that did not see its group.

    Parameters
    ----------
    local : estimator
        The classifier; it is cloned.
    X, labels : array-like of shape (n_members, n_features) and ndarray of shape (n_members,)
        Features and labels of all members.
    network : Network
        Their groups.
    cv : int
        Number of folds.
    rng : RandomState
        Decides the folds.
    n_jobs : int or None
        Fits to run at a time.
    """
    folds = _folds(network, labels, cv, rng)[network.group]
    parts = Parallel(n_jobs=n_jobs)(
        delayed(_held_out)(local, X, labels, folds == k) for k in np.unique(folds)
    )
    found = np.empty(len(labels))
    for k, part in zip(np.unique(folds), parts, strict=True):
        found[folds == k] = part
    return found


def _held_out(local: Any, X: Any, labels: Integers, test: NDArray[np.bool_]) -> Floats:
    if len(np.unique(labels[~test])) < 2:
        raise ValueError(
            "labels of all groups but one fold are all alike; give more groups, or lower cv."
        )
    return logits(clone(local).fit(X[~test], labels[~test]), X[test])


def _folds(network: Network, labels: Integers, cv: int, rng: Any) -> Integers:
    """Deal groups into folds, those with targets and those without evenly."""
    with_target = np.zeros(network.n_groups, dtype=np.int64)
    with_target[network.group[labels == 1]] = 1
    filled = np.diff(network.offsets) > 0
    shuffled = rng.permutation(np.flatnonzero(filled))
    dealt = shuffled[np.argsort(with_target[shuffled], kind="stable")]
    folds = np.zeros(network.n_groups, dtype=np.int64)
    folds[dealt] = np.arange(len(dealt)) % min(int(cv), len(dealt))
    return folds


def check_both_kinds(network: Network, labels: Integers) -> None:
    """Raise a ValueError unless at least two groups hold a target, and two something else."""
    for label, kind in ((1, "a target"), (0, "a candidate that is none")):
        count = len(np.unique(network.group[labels == label]))
        if count < 2:
            raise ValueError(
                f"groups hold {kind} in {count} of {network.n_groups} groups; fit needs at least "
                "two such groups."
            )


def check_possible(network: Network, labels: Integers) -> None:
    """Raise a ValueError where a container holds two targets."""
    held = np.bincount(network.containers, weights=labels)
    wrong = np.flatnonzero(held > 1)
    if len(wrong):
        group = int(network.group[np.flatnonzero(network.containers == wrong[0])[0]])
        raise ValueError(
            f"labels of group {group} have {int(held[wrong[0]])} targets in one container, which "
            f"at_most_one='hard' makes impossible ({len(wrong)} containers in all); take 'soft', "
            "or correct the labels."
        )
