"""Calibration: whether predicted probabilities match observed frequencies."""

from __future__ import annotations

from numbers import Integral
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bblr.evaluation.label_column import label_column


def expected_calibration_error(
    y_true: ArrayLike, proba: ArrayLike, n_bins: int = 15, *, labels: ArrayLike | None = None
) -> float:
    """Mean gap between confidence and accuracy over bins of equal width.

    The confidence of an example is the probability of its most probable class. With examples
    binned by confidence, Bₘ = ((m − 1)/M, m/M], the error is
    ``Σₘ |Bₘ|/n · |accuracy(Bₘ) − mean confidence(Bₘ)|`` (Guo et al., 2017).

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        The true labels.
    proba : array-like of shape (n_samples,) or (n_samples, n_classes)
        For two classes the probability of the larger label; otherwise one column per class, in
        the sorted order of the labels, as from `predict_proba`.
    n_bins : int, default=15
        M, the number of bins over [0, 1].
    labels : array-like of shape (n_classes,) or None, default=None
        All labels; needed if a class does not occur in `y_true`.

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
    check_bins(n_bins)
    column, table, _ = as_columns(y_true, proba, labels)
    return float(np.abs(calibration_gaps(column, table, n_bins)).sum() / len(column))


def check_bins(n_bins: int) -> None:
    """Raise a ValueError unless `n_bins` is a number of bins."""
    if not isinstance(n_bins, Integral) or isinstance(n_bins, bool) or n_bins < 1:
        raise ValueError(f"n_bins={n_bins!r} is not a whole number of at least 1")


def as_columns(
    y_true: ArrayLike, proba: ArrayLike, labels: ArrayLike | None, name: str = "proba"
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the column of each example's class, the probabilities by column, and the classes.

    `name` is the name of the probabilities in messages.
    """
    y = label_column("y_true", y_true)
    table = _proba_table(proba, len(y), name)
    known = y if labels is None else label_column("labels", labels)
    try:
        classes = np.unique(known)
        column = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    except TypeError as error:
        raise ValueError(
            f"y_true and labels must hold labels of one kind that can be sorted: {error}"
        ) from None
    table = _a_column_a_class(table, classes, name)
    if not np.array_equal(classes[column], y):
        raise ValueError("y_true holds a label that is not among labels; add it there")
    return column, table, classes


def calibration_gaps(column: np.ndarray, table: np.ndarray, n_bins: int) -> np.ndarray:
    """Sum of hits less confidence in each bin, given the column of each example's class.

    The sums of parts of the data add up to those of all.
    """
    hit, confidence = hits(column, table)
    bins = _even_bins(confidence, n_bins)
    return np.bincount(bins, weights=hit - confidence, minlength=n_bins)


def hits(column: np.ndarray, table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return whether the most probable class is that of the example, and its probability."""
    return table.argmax(axis=1) == column, table.max(axis=1)


def _even_bins(probability: np.ndarray, n_bins: int) -> np.ndarray:
    edges = np.linspace(0.0, 1.0, n_bins + 1)
    # side="left" leaves a probability on an edge in the bin below it.
    return np.clip(np.searchsorted(edges, probability, side="left") - 1, 0, n_bins - 1)


class Bins(NamedTuple):
    """The non-empty bins of a reliability diagram."""

    predicted: np.ndarray
    """Mean probability of the event."""
    observed: np.ndarray
    """Observed frequency of the event."""
    size: np.ndarray
    """Examples."""

    @property
    def gap(self) -> float:
        """Mean distance between the two, weighted by examples."""
        return float(np.average(np.abs(self.predicted - self.observed), weights=self.size))


def reliability_bins(
    event: np.ndarray, probability: np.ndarray, n_bins: int, strategy: str = "uniform"
) -> Bins:
    """Compare the observed frequency of an event with its predicted probability.

    Parameters
    ----------
    event : ndarray of shape (n_samples,)
        Whether the event occurred.
    probability : ndarray of shape (n_samples,)
        Predicted probabilities.
    n_bins : int
        Bins over [0, 1]; those without examples are left out.
    strategy : {"uniform", "quantile"}, default="uniform"
        Bins of equal width, or of equal count.

    Returns
    -------
    Bins
        From low to high probability.
    """
    if strategy == "uniform":
        bins = _even_bins(probability, n_bins)
        parts = [np.flatnonzero(bins == m) for m in range(n_bins)]
    elif strategy == "quantile":
        parts = np.array_split(np.argsort(probability, kind="stable"), n_bins)
    else:
        raise ValueError(f"strategy must be 'uniform' or 'quantile', got {strategy!r}.")
    kept = [part for part in parts if len(part)]
    return Bins(
        np.array([probability[part].mean() for part in kept]),
        np.array([event[part].mean() for part in kept]),
        np.array([len(part) for part in kept]),
    )


def _proba_table(proba: ArrayLike, n_samples: int, name: str) -> np.ndarray:
    try:
        table = np.asarray(proba, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must hold numbers; give what predict_proba returns") from None
    if table.ndim not in (1, 2) or len(table) != n_samples:
        raise ValueError(
            f"{name} has shape {table.shape} for {n_samples} labels in y_true; give one "
            "probability, or one row of them, for each"
        )
    if not np.all((table >= 0.0) & (table <= 1.0)):
        raise ValueError(f"{name} holds values outside [0, 1] or nan; give probabilities")
    return table


def _a_column_a_class(table: np.ndarray, classes: np.ndarray, name: str) -> np.ndarray:
    n_columns = 2 if table.ndim == 1 else table.shape[1]
    if n_columns != len(classes):
        remedy = f"give it shape (n, {len(classes)}), one column per class"
        if n_columns > len(classes):
            remedy = "name all classes with labels="
        raise ValueError(
            f"{name} has {n_columns} classes, and there are {len(classes)} in y_true or labels; "
            f"{remedy}"
        )
    if table.ndim == 1:
        return np.column_stack([1.0 - table, table])
    if not np.allclose(table.sum(axis=1), 1.0, atol=1e-4):
        raise ValueError(f"the rows of {name} do not sum to 1; normalise them")
    return table
