"""The local classifier: its log odds, in and out of fold, and checks of its labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logit
from sklearn.model_selection import cross_val_predict

from bblr.structured.groups import Floats, Integers, Network

__all__ = ["check_both_kinds", "check_possible", "logits", "out_of_fold"]


# Log odds of ±18: no training set supports a more extreme local probability.
_LEAST_PROBABILITY = 1e-8


def logits(local: Any, X: Any) -> Floats:
    """Return the log odds of label 1 that a fitted classifier gives."""
    column = int(np.flatnonzero(local.classes_ == 1)[0])
    return _log_odds(local.predict_proba(X)[:, column])


def _log_odds(proba: Floats) -> Floats:
    return np.asarray(
        logit(np.clip(proba, _LEAST_PROBABILITY, 1 - _LEAST_PROBABILITY).astype(np.float64))
    )


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
        Random numbers for the folds.
    n_jobs : int or None
        Fits to run in parallel.
    """
    folds = _folds(network, labels, cv, rng)[network.group]
    splits = [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in np.unique(folds)]
    if any(len(np.unique(labels[train])) < 2 for train, _ in splits):
        raise ValueError(
            "labels of the training groups of a fold are all equal; give more groups, or lower cv."
        )
    proba = cross_val_predict(local, X, labels, cv=splits, n_jobs=n_jobs, method="predict_proba")
    return _log_odds(proba[:, 1])


def _folds(network: Network, labels: Integers, cv: int, rng: Any) -> Integers:
    """Assign groups to folds, stratified by whether they hold a target."""
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
    for label, kind in ((1, "a target"), (0, "a candidate that is not a target")):
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
            f"at_most_one='hard' makes impossible ({len(wrong)} containers in all); use 'soft', "
            "or correct the labels."
        )
