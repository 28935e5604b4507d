"""What a round of boosting asks of the loss, on the labels and scores that libraries hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bblr.losses import BetaBernoulli, Plateaus

Floats = NDArray[np.float64]
Rho = float | Sequence[float]


def _loss(rho: Rho, y: Any, scores: Any) -> tuple[BetaBernoulli, Any]:
    """Return the loss of two classes or more, and labels as it takes them."""
    if np.ndim(scores) == 1:
        return BetaBernoulli(Plateaus.from_ratio(rho)), np.where(np.asarray(y) > 0, 1.0, -1.0)
    n_classes = np.shape(scores)[1]
    return BetaBernoulli(Plateaus.from_ratio(rho, n_classes)), np.asarray(y, dtype=np.intp)


def _weights(weight: Any) -> Any:
    """Return the weights of rows, or None; XGBoost has an empty array for none."""
    return None if weight is None or np.size(weight) == 0 else np.asarray(weight, np.float64)


def step(
    rho: Rho, y: Any, scores: Any, weight: Any, several: float
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the gradient and the curvature by each score, times the weight of the row.

    Parameters
    ----------
    rho : float or sequence of float
        Ratio of the plateaus to the height above them.
    y : ndarray of shape (n_samples,)
        Class numbers.
    scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
        Raw scores.
    weight : ndarray of shape (n_samples,) or None
        Weights.
    several : float
        Factor on the curvature with more than two classes, as in the log-loss of the library.
    """
    loss, labels = _loss(rho, y, scores)
    gradient, curvature = loss.gradient_curvature(labels, scores)
    if gradient.ndim > 1:
        curvature = several * curvature
    factor = _weights(weight)
    if factor is None:
        return gradient, curvature
    factor = factor.reshape(-1, *[1] * (gradient.ndim - 1))
    return factor * gradient, factor * curvature


def mean_loss(rho: Rho, y: Any, scores: Any, weight: Any) -> float:
    """Return the weighted mean of the loss."""
    loss, labels = _loss(rho, y, scores)
    return float(np.average(loss.value(labels, scores), weights=_weights(weight)))


def class_shares(y: Any, sample_weight: Any) -> Floats:
    """Return the share of each class number, by weights of single precision as libraries hold."""
    codes = np.asarray(y, dtype=np.intp)
    weight = _weights(sample_weight)
    counts = np.bincount(codes, None if weight is None else np.float32(weight))
    if len(counts) < 2 or not counts.all():
        raise ValueError("y must hold the numbers 0, 1, ... of two or more classes, each of them.")
    return np.asarray(counts / counts.sum())
