"""How predictions compare with labels: errors, ranking, calibration, and each class by itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bblr.evaluation.calibration import Bins, calibration_gaps, reliability_bins

__all__ = ["Scores", "Tally", "interval"]

_BINS = 15
# Rows of a group that is told of one by one, and most such groups.
_LEAST_GROUP, _GROUPS = 20, 10
_MOST_CLASSES = 12


@dataclass(frozen=True)
class Scores:
    """How predictions compare with labels.

    Parameters
    ----------
    confusion : ndarray of shape (n_classes, n_classes)
        Rows by their class (down) and the class predicted (across).
    auc, average_precision : tuple of float or None
        Of each class against the rest, by its score; None where one of the two has no rows.
    log_loss, calibration_error : float or None
        None where the classifier tells no probabilities.
    calibration : Bins or None
        Groups of about as many rows each: what was predicted and what came, of the second of two
        classes, or of the most probable one of more.
    """

    confusion: np.ndarray
    auc: tuple[float | None, ...]
    average_precision: tuple[float | None, ...]
    log_loss: float | None
    calibration_error: float | None
    calibration: Bins | None

    @property
    def rows(self) -> int:
        """Rows in all."""
        return int(self.confusion.sum())

    @property
    def errors(self) -> int:
        """Rows decided wrongly."""
        return self.rows - int(np.trace(self.confusion))

    @property
    def counts(self) -> np.ndarray:
        """Rows of each class."""
        return np.asarray(self.confusion.sum(axis=1))

    @property
    def mean_auc(self) -> float | None:
        """The AUC, of more than two classes the mean over each against the rest."""
        known = [value for value in self.auc if value is not None]
        return float(np.mean(known)) if known else None

    @property
    def recall(self) -> list[float | None]:
        """Share of each class that was predicted."""
        return _ratios(np.diag(self.confusion), self.counts)

    @property
    def precision(self) -> list[float | None]:
        """Share of the predictions of each class that were right."""
        return _ratios(np.diag(self.confusion), self.confusion.sum(axis=0))

    @property
    def f1(self) -> list[float | None]:
        """Harmonic mean of precision and recall."""
        return _ratios(2 * np.diag(self.confusion), self.counts + self.confusion.sum(axis=0))

    @property
    def balanced_accuracy(self) -> float:
        """Mean recall of the classes that have rows."""
        return float(np.mean([value for value in self.recall if value is not None]))

    @property
    def majority_errors(self) -> int:
        """Errors of predicting the most frequent of these labels for every row."""
        return self.rows - int(self.counts.max())

    @property
    def majority_log_loss(self) -> float:
        """Log-loss of predicting the shares of the classes for every row."""
        shares = self.counts[self.counts > 0] / self.rows
        return float(-(shares * np.log(shares)).sum())

    def as_dict(self) -> dict[str, Any]:
        """Return the scores in JSON's types; lists are in the order of the classes."""
        low, high = interval(self.errors, self.rows)
        bins = self.calibration
        return {
            "rows": self.rows,
            "errors": self.errors,
            "error": self.errors / self.rows,
            "error_interval": [low, high],
            "accuracy": 1.0 - self.errors / self.rows,
            "balanced_accuracy": self.balanced_accuracy,
            "auc": self.mean_auc,
            "log_loss": self.log_loss,
            "calibration_error": self.calibration_error,
            "majority": {
                "error": self.majority_errors / self.rows,
                "log_loss": self.majority_log_loss,
            },
            "precision": self.precision,
            "recall": self.recall,
            "f1": self.f1,
            "class_auc": list(self.auc),
            "average_precision": list(self.average_precision),
            "confusion": self.confusion.tolist(),
            "calibration": None
            if bins is None
            else {key: getattr(bins, key).tolist() for key in bins._fields},
        }

    def overall(self) -> Iterator[str]:
        """Yield lines on all classes together, the most frequent class beside them."""
        low, high = interval(self.errors, self.rows)
        error, base = self.errors / self.rows, self.majority_errors / self.rows
        most = f"(majority class: {_percent(base)})"
        yield f"error              {_percent(error)}  {most}"
        yield f"  95 % interval    {_percent(low)} to {_percent(high)}"
        if self.mean_auc is not None:
            yield f"AUC                {self.mean_auc:.4f}  (chance: 0.5)"
        if self.log_loss is not None:
            shares = f"(class shares: {self.majority_log_loss:.4f})"
            yield f"log-loss           {self.log_loss:.4f}  {shares}"

    def by_class(self, classes: Sequence[Any]) -> Iterator[str]:
        """Yield a table of the classes, and the confusion matrix where it is of a size to read."""
        names = [str(label) for label in classes]
        wide = max(5, *map(len, names))
        heads = ("rows", "precision", "recall", "F1", "AUC", "average precision")
        yield "  ".join([f"{'class':<{wide}}", *(f"{head:>9}" for head in heads)])
        columns = (self.precision, self.recall, self.f1, self.auc, self.average_precision)
        for name, count, *values in zip(names, self.counts.tolist(), *columns, strict=True):
            shown = ("none" if value is None else f"{value:.4f}" for value in values)
            yield "  ".join([f"{name:<{wide}}", f"{count:>9,}", *(f"{one:>9}" for one in shown)])
        if len(names) > _MOST_CLASSES:
            return
        yield "class (down) by prediction (across)"
        width = max(*map(len, names), len(f"{self.rows:,}"))
        yield "  ".join([" " * wide, *(f"{name:>{width}}" for name in names)])
        for name, row in zip(names, self.confusion.tolist(), strict=True):
            yield "  ".join([f"{name:<{wide}}", *(f"{count:{width},}" for count in row)])

    def calibrated(self, classes: Sequence[Any]) -> Iterator[str]:
        """Yield a table of what was predicted and what came."""
        if self.calibration is None:
            return
        yield f"calibration error  {self.calibration_error:.4f}"
        what = f"of {classes[1]}" if len(classes) == 2 else "of being right"
        yield f"  probability {what}: predicted, observed, rows"
        for predicted, observed, size in zip(*self.calibration, strict=True):
            yield f"  {_percent(predicted):>8}  {_percent(observed):>8}  {size:>8,}"


def _ratios(top: np.ndarray, bottom: np.ndarray) -> list[float | None]:
    return [float(t / b) if b else None for t, b in zip(top, bottom, strict=True)]


def _percent(share: float) -> str:
    return f"{100 * share:.2f} %"


def interval(errors: int, rows: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a rate of errors.

    Examples
    --------
    >>> from bblr.evaluation.tally import interval
    >>> [round(end, 3) for end in interval(0, 100)]
    [0.0, 0.037]
    """
    z = 1.959963984540054
    share, more = errors / rows, z * z / rows
    middle = (share + more / 2) / (1 + more)
    half = z * np.sqrt(share * (1 - share) / rows + more / (4 * rows)) / (1 + more)
    return max(0.0, float(middle - half)), min(1.0, float(middle + half))


@dataclass
class Tally:
    """Adds up what the scores need; of each row it keeps what ranks it, a number a class.

    Parameters
    ----------
    n_classes : int
        Number of classes.
    """

    n_classes: int
    _confusion: np.ndarray = field(init=False)
    _loss: float | None = field(default=None, init=False)
    _gaps: np.ndarray = field(init=False)
    _truth: list[np.ndarray] = field(default_factory=list, init=False)
    _scores: list[np.ndarray] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self._confusion = np.zeros((self.n_classes, self.n_classes), dtype=np.int64)
        self._gaps = np.zeros(_BINS)

    def add(
        self,
        truth: np.ndarray,
        predicted: np.ndarray,
        proba: np.ndarray | None,
        decision: np.ndarray | None = None,
    ) -> None:
        """Count a block.

        Parameters
        ----------
        truth, predicted : ndarray of int, shape (n_rows,)
            Classes by number.
        proba : ndarray of shape (n_rows, n_classes) or None
            Probabilities, where there are any.
        decision : ndarray of shape (n_rows,) or (n_rows, n_classes), default=None
            What ranks rows where there are no probabilities.
        """
        np.add.at(self._confusion, (truth, predicted), 1)
        ranks = decision if proba is None else proba
        if ranks is not None:
            one = ranks.ndim == 2 and self.n_classes == 2
            self._truth.append(truth)
            self._scores.append(np.array(ranks[:, 1] if one else ranks))
        if proba is not None:
            # As scikit-learn does it: a probability of 0 costs as much as the least number can.
            own = np.clip(proba[np.arange(len(truth)), truth], np.finfo(np.float64).eps, 1.0)
            self._loss = (self._loss or 0.0) - float(np.log(own).sum())
            self._gaps += calibration_gaps(truth, proba, _BINS)

    def scores(self) -> Scores:
        """Return the scores of all blocks."""
        rows = int(self._confusion.sum())
        none = (None,) * self.n_classes
        if not self._scores:
            return Scores(self._confusion, none, none, None, None, None)
        truth, scores = np.concatenate(self._truth), np.concatenate(self._scores)
        columns = [-scores, scores] if scores.ndim == 1 else list(scores.T)
        ranked = [_ranking(truth == k, column) for k, column in enumerate(columns)]
        auc, precision = zip(*ranked, strict=True)
        if self._loss is None:
            return Scores(self._confusion, auc, precision, None, None, None)
        groups = int(np.clip(rows // _LEAST_GROUP, 1, _GROUPS))
        if scores.ndim == 1:
            bins = reliability_bins(truth == 1, scores, groups, "quantile")
        else:
            right = scores.argmax(axis=1) == truth
            bins = reliability_bins(right, scores.max(axis=1), groups, "quantile")
        calibration = float(np.abs(self._gaps).sum() / rows)
        return Scores(self._confusion, auc, precision, self._loss / rows, calibration, bins)


def _ranking(own: np.ndarray, scores: np.ndarray) -> tuple[float | None, float | None]:
    """Return the AUC and the average precision of a class."""
    from sklearn.metrics import average_precision_score, roc_auc_score

    if own.all() or not own.any():
        return None, None
    return float(roc_auc_score(own, scores)), float(average_precision_score(own, scores))
