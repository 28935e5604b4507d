"""Intervals of metrics and of paired differences from cross-validation.

Rows of one fold share a model and the training parts overlap, so that the spread of rows alone
understates how far a cross-validated figure is from its expectation. The variance is therefore
multiplied as Nadeau and Bengio do (Machine Learning 52, 2003): folds of a share 1/K of the rows
add 1/(K − 1) to the 1/K of independent ones. `bblr claims verdict-coverage` counts how often
equal methods get a winner.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm, t

__all__ = ["LEVEL", "Interval", "intervals"]

LEVEL = 0.95
_DRAWS = 20_000


@dataclass(frozen=True)
class Interval:
    """An estimate with the ends of its 95 % interval."""

    value: float
    low: float
    high: float

    def flipped(self) -> Interval:
        """Return the interval of the negative."""
        return Interval(-self.value, -self.high, -self.low)


def intervals(values: NDArray[np.float64], folds: int, *, simultaneous: bool) -> list[Interval]:
    """Return the intervals of the means of columns.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_columns)
        A value for each row, averaged over repeats of the cross-validation.
    folds : int
        Folds of the cross-validation; below 2, each row was tested once by one model.
    simultaneous : bool
        Whether all intervals hold together with 95 %, so that the best may be picked, or each
        by itself. The limit is that of the largest of correlated normal variables (a max-t test).
    """
    n, n_columns = values.shape
    means = values.mean(axis=0)
    apart = values - means
    # A row more at the far end: a difference that rests on few rows is not more certain than they
    # are many.
    squares = (apart**2).sum(axis=0) + (np.abs(values).max(axis=0)) ** 2
    shared = folds / (folds - 1) if folds > 1 else 0.0
    errors = np.sqrt(squares * (1 + shared)) / n
    tail = (1 - LEVEL) / 2
    if simultaneous and n_columns > 1:
        tail = float(norm.sf(_largest(apart)))
    # As many degrees of freedom as rows that matter.
    fourths = (apart**4).sum(axis=0)
    freedom = np.maximum((apart**2).sum(axis=0) ** 2 / np.where(fourths > 0, fourths, 1.0), 2.0)
    reach: Any = t.isf(tail, freedom) * errors
    return [
        Interval(float(mean), float(mean - r), float(mean + r))
        for mean, r in zip(means, reach, strict=True)
    ]


def _largest(apart: NDArray[np.float64]) -> float:
    """Return the quantile of the largest of normal variables that correlate as the columns do."""
    lengths = np.sqrt((apart**2).sum(axis=0))
    unit = apart[:, lengths > 0] / lengths[lengths > 0]
    if not unit.shape[1]:
        return float(norm.isf((1 - LEVEL) / 2))
    eigenvalues, vectors = np.linalg.eigh(unit.T @ unit)
    root = vectors * np.sqrt(np.maximum(eigenvalues, 0))
    draws = np.random.default_rng(0).normal(size=(_DRAWS, len(root))) @ root.T
    return float(np.quantile(np.abs(draws).max(axis=1), LEVEL))
