"""Scores of predictions that come block by block."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bblr.evaluation.calibration import calibration_gaps

__all__ = ["Scores", "Tally"]

_BINS = 15


@dataclass(frozen=True)
class Scores:
    """How predictions compare with labels.

    Parameters
    ----------
    rows, errors : int
        Rows, and those decided wrongly.
    confusion : ndarray of shape (n_classes, n_classes)
        Rows by their class (down) and the class predicted (across).
    log_loss, calibration_error : float or None
        None where the classifier tells no probabilities.
    """

    rows: int
    errors: int
    confusion: np.ndarray
    log_loss: float | None
    calibration_error: float | None

    @property
    def accuracy(self) -> float:
        """Share of rows decided rightly."""
        return 1.0 - self.errors / self.rows

    @property
    def recall(self) -> list[float | None]:
        """Share of each class decided rightly; None where a class has no rows."""
        counts = self.confusion.sum(axis=1)
        return [
            float(self.confusion[k, k] / count) if count else None
            for k, count in enumerate(counts)
        ]

    def as_dict(self) -> dict[str, Any]:
        """Return the scores in JSON's types."""
        return {
            "rows": self.rows,
            "errors": self.errors,
            "accuracy": self.accuracy,
            "log_loss": self.log_loss,
            "calibration_error": self.calibration_error,
            "recall": self.recall,
            "confusion": self.confusion.tolist(),
        }


@dataclass
class Tally:
    """Adds up what the scores need.

    Parameters
    ----------
    n_classes : int
        Number of classes.
    """

    n_classes: int
    _confusion: np.ndarray = field(init=False)
    _loss: float | None = field(default=None, init=False)
    _gaps: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self._confusion = np.zeros((self.n_classes, self.n_classes), dtype=np.int64)
        self._gaps = np.zeros(_BINS)

    def add(self, truth: np.ndarray, predicted: np.ndarray, proba: np.ndarray | None) -> None:
        """Count a block: classes by number, and the probabilities where there are any."""
        np.add.at(self._confusion, (truth, predicted), 1)
        if proba is not None:
            # As scikit-learn does it: a probability of 0 costs as much as the least number can.
            own = np.clip(proba[np.arange(len(truth)), truth], np.finfo(np.float64).eps, 1.0)
            self._loss = (self._loss or 0.0) - float(np.log(own).sum())
            self._gaps += calibration_gaps(truth, proba, _BINS)

    def scores(self) -> Scores:
        """Return the scores of all blocks."""
        rows = int(self._confusion.sum())
        errors = rows - int(np.trace(self._confusion))
        if self._loss is None:
            return Scores(rows, errors, self._confusion, None, None)
        calibration = float(np.abs(self._gaps).sum() / rows)
        return Scores(rows, errors, self._confusion, self._loss / rows, calibration)
