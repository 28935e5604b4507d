"""What a search minimises: a loss for each held-out row, by the name scikit-learn has for it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bblr.training.calibration import fit_link
from bblr.training.laplace import class_codes

Floats = NDArray[np.float64]

SCORINGS = ("accuracy", "balanced_accuracy", "neg_log_loss", "neg_brier_score", "roc_auc")


def row_losses(scoring: str, decision: Floats, y: Any, weight: Floats) -> Floats:
    """Return a loss for each held-out row; their weighted mean is what to minimise.

    Parameters
    ----------
    scoring : str
        One of `SCORINGS`. Probabilities come from the link that suits the decision values best.
    decision : ndarray of shape (n_rows,) or (n_rows, n_classes)
        Held-out decision values.
    y : ndarray of shape (n_rows,)
        Labels -1 and +1, or class numbers.
    weight : ndarray of shape (n_rows,)
        Weights.
    """
    codes = class_codes(np.asarray(y), decision.ndim)
    classes = 2 if decision.ndim == 1 else decision.shape[1]
    if scoring == "roc_auc":
        return _misplaced(decision, codes, weight, classes)
    if scoring in ("accuracy", "balanced_accuracy"):
        wrong = _wrong(decision, codes)
        if scoring == "accuracy":
            return wrong
        share = np.bincount(codes, weight, classes) / float(weight.sum())
        return wrong / (classes * share[codes])
    link, shift = fit_link(decision, y, weight)
    found = link.table(decision + shift)
    own = found[np.arange(len(codes)), codes]
    if scoring == "neg_log_loss":
        return -np.log(np.maximum(own, np.finfo(np.float64).tiny))
    square = np.einsum("ij,ij->i", found, found) - 2.0 * own + 1.0
    # Of two classes the Brier score counts one of them.
    return 0.5 * square if decision.ndim == 1 else square


def _wrong(decision: Floats, codes: NDArray[np.intp]) -> Floats:
    if decision.ndim == 1:
        return (~(np.where(codes == 1, decision, -decision) > 0)).astype(np.float64)
    rows, others = np.arange(len(codes)), decision.copy()
    own = others[rows, codes].copy()
    others[rows, codes] = -np.inf
    return (~(own > others.max(axis=1))).astype(np.float64)


def _misplaced(decision: Floats, codes: NDArray[np.intp], weight: Floats, classes: int) -> Floats:
    """Return, row by row, the share of the other side on the wrong side of it.

    The weighted mean is 1 - AUC; of many classes, the mean over each class against the rest.
    """
    if decision.ndim == 1:
        columns = {1: decision}
    else:
        others = np.sort(decision, axis=1)
        columns = {
            k: column - np.where(column == others[:, -1], others[:, -2], others[:, -1])
            for k, column in enumerate(decision.T)
        }
    total = float(weight.sum())
    losses = np.zeros(len(codes))
    for k, scores in columns.items():
        own = codes == k
        if not (weight[own].sum() > 0 and weight[~own].sum() > 0):
            continue  # never held out, or nothing else is: there is nothing to rank
        for side, sign in ((own, 1.0), (~own, -1.0)):
            beyond = _share_beyond(sign * scores[side], sign * scores[~side], weight[~side])
            losses[side] += beyond * total / (2.0 * float(weight[side].sum()) * len(columns))
    return losses


def _share_beyond(scores: Floats, others: Floats, weight: Floats) -> Floats:
    """Return the share of the others, by weight, that lie above each score; ties count half."""
    order = np.argsort(others)
    total = np.concatenate([[0.0], np.cumsum(weight[order])])
    above = total[-1] - total[np.searchsorted(others[order], scores, side="right")]
    equal = total[-1] - above - total[np.searchsorted(others[order], scores, side="left")]
    return (above + 0.5 * equal) / total[-1]
