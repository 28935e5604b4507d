"""Calibration: whether predicted probabilities come true as often as they say."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import column_or_1d


def expected_calibration_error(
    y_true: ArrayLike, proba: ArrayLike, n_bins: int = 15, *, labels: ArrayLike | None = None
) -> float:
    """Mean gap between confidence and accuracy over bins of equal width.

    Each example's confidence is the probability of its most probable class. With the examples
    put into bins Bₘ = ((m − 1)/M, m/M] by confidence,

        ECE = Σₘ |Bₘ|/n · |accuracy(Bₘ) − mean confidence(Bₘ)|   (Guo et al., 2017).

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        The true labels.
    proba : array-like of shape (n_samples,) or (n_samples, n_classes)
        For two classes the probability of the larger label, or else one column a class in the
        sorted order of the labels (as `predict_proba` gives them).
    n_bins : int, default=15
        M, the number of bins over [0, 1].
    labels : array-like of shape (n_classes,), optional
        All the labels. Needed where a class does not occur in `y_true`.

    Returns
    -------
    float
        Between 0 (calibrated) and 1.

    Examples
    --------
    >>> from bblr.evaluation import expected_calibration_error
    >>> y = [0, 0, 0, 1, 1, 1, 1, 0]
    >>> round(expected_calibration_error(y, [0.25] * 4 + [0.75] * 4), 3)
    0.0
    >>> round(expected_calibration_error(y, [0.05] * 4 + [0.95] * 4), 3)
    0.2
    """
    if not isinstance(n_bins, Integral) or isinstance(n_bins, bool) or n_bins < 1:
        raise ValueError(f"n_bins={n_bins!r} is not a whole number of at least 1")
    y = column_or_1d(np.asarray(y_true))
    classes = np.unique(y if labels is None else np.asarray(labels))
    table = _proba_table(proba, len(y), classes)
    column = np.searchsorted(classes, y)
    if not np.array_equal(classes[np.minimum(column, len(classes) - 1)], y):
        raise ValueError("y_true holds a label that is not among labels; add it there")
    return float(np.abs(calibration_gaps(column, table, n_bins)).sum() / len(y))


def calibration_gaps(column: np.ndarray, table: np.ndarray, n_bins: int) -> np.ndarray:
    """Sum of hits less confidence in each bin, given the column of each example's class.

    The sums of parts of the data add up to those of all.
    """
    predicted = table.argmax(axis=1)
    confidence = table.max(axis=1)
    edges = np.linspace(0.0, 1.0, n_bins + 1)
    # side="left" leaves a confidence on an edge in the bin below it.
    bins = np.clip(np.searchsorted(edges, confidence, side="left") - 1, 0, n_bins - 1)
    return np.bincount(bins, weights=(predicted == column) - confidence, minlength=n_bins)


def _proba_table(proba: ArrayLike, n_samples: int, classes: np.ndarray) -> np.ndarray:
    table = np.asarray(proba, dtype=np.float64)
    if n_samples == 0:
        raise ValueError("y_true is empty; give at least one example")
    if table.ndim not in (1, 2) or len(table) != n_samples:
        raise ValueError(
            f"proba has shape {table.shape} for {n_samples} labels in y_true; give one "
            "probability, or one row of them, for each"
        )
    if not np.all((table >= 0.0) & (table <= 1.0)):
        raise ValueError("proba holds values outside [0, 1] or nan; give probabilities")
    n_columns = 2 if table.ndim == 1 else table.shape[1]
    if n_columns != len(classes):
        raise ValueError(
            f"proba speaks of {n_columns} classes and y_true of {len(classes)}; "
            "name all classes with labels="
        )
    if table.ndim == 1:
        return np.column_stack([1.0 - table, table])
    if not np.allclose(table.sum(axis=1), 1.0, atol=1e-4):
        raise ValueError("the rows of proba do not sum to 1; normalise them")
    return table
