"""Metrics of predictions on rows that a method has not seen, each a mean of one value a row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from bblr._settings import SettingError
from bblr.comparison.session import choose

__all__ = ["METRICS", "Metric", "OutOfFold", "auc_values", "make_metric", "parse_costs"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class _About:
    """How a metric is spoken of."""

    title: str
    change: str
    higher: bool = False
    decides: bool = True
    scoring: str = "accuracy"


METRICS: dict[str, _About] = {
    "error": _About("error", "errors"),
    "balanced": _About("balanced accuracy", "points of balanced accuracy", higher=True,
                       scoring="balanced_accuracy"),
    "auc": _About("AUC", "AUC", higher=True, decides=False, scoring="roc_auc"),
    "log-loss": _About("log-loss", "log-loss", decides=False, scoring="neg_log_loss"),
    "f1": _About("F1", "F1", higher=True),
    "cost": _About("cost", "cost"),
}  # fmt: skip


@dataclass(frozen=True)
class OutOfFold:
    """What a method said of each row when it had not seen it.

    Parameters
    ----------
    truth, predictions : ndarray of int of shape (n_rows,)
        Classes, from 0 on.
    log_losses : ndarray of shape (n_rows,) or None
        −log of the probability of the true class; None without probabilities.
    auc : ndarray of shape (n_rows,) or None
        As :func:`auc_values` gives them, fold by fold; None without scores.
    """

    truth: NDArray[np.int64]
    predictions: NDArray[np.int64]
    log_losses: Floats | None = None
    auc: Floats | None = None


@dataclass(frozen=True)
class Metric:
    """A metric of predictions.

    Parameters
    ----------
    name : str
        One of ``METRICS``.
    costs : tuple of tuple of float or None
        What it costs to predict a class (column) where another is true (row); for ``cost`` only.
    """

    name: str = "error"
    costs: tuple[tuple[float, ...], ...] | None = None

    @property
    def title(self) -> str:
        """What tables show."""
        return METRICS[self.name].title

    @property
    def higher(self) -> bool:
        """Whether more is better."""
        return METRICS[self.name].higher

    @property
    def decides(self) -> bool:
        """Whether it is about predicted classes, which a threshold on probabilities changes."""
        return METRICS[self.name].decides

    @property
    def scoring(self) -> str:
        """What settings are chosen by: the metric, as far as the classifiers know it."""
        return METRICS[self.name].scoring

    def values(self, found: OutOfFold) -> Floats | None:
        """Return a value for each row, whose mean is the metric and whose spread is its error.

        For a mean over rows these are its terms. For other metrics they are the metric plus the
        influence of each row on it, so that intervals of all metrics are worked out alike. None
        where the method says too little.
        """
        truth, guess = found.truth, found.predictions
        if self.name == "error":
            return (truth != guess).astype(float)
        if self.name == "cost":
            return np.asarray(self.costs, dtype=float)[truth, guess]
        if self.name == "log-loss":
            return found.log_losses
        if self.name == "auc":
            return found.auc
        return _balanced(truth, guess) if self.name == "balanced" else _f1(truth, guess)

    def scorer(self) -> Any:
        """Return a scorer of scikit-learn, greater being better, to tune a threshold by."""
        from sklearn.metrics import make_scorer

        return make_scorer(self._score)

    def _score(self, truth: Any, predictions: Any) -> float:
        values = self.values(OutOfFold(np.asarray(truth), np.asarray(predictions)))
        assert values is not None  # thresholds are tuned for predicted classes
        return float(values.mean()) * (1 if self.higher else -1)


def _balanced(truth: Any, guess: Any) -> Floats:
    counts = np.bincount(truth)
    hits = truth == guess
    recalls = np.bincount(truth, hits, len(counts)) / np.maximum(counts, 1)
    seen = np.count_nonzero(counts)
    value = recalls[counts > 0].mean()
    # Each class counts the same, so a row of a rare class counts more.
    return value + (hits - recalls[truth]) * len(truth) / counts[truth] / seen


def _f1(truth: Any, guess: Any) -> Floats:
    """F1 of the rarer of two classes; of more, the mean over classes."""
    counts = np.bincount(truth, minlength=2)
    classes = [int(np.argmin(counts))] if len(counts) == 2 else np.flatnonzero(counts)
    parts = []
    for label in classes:
        is_so, said = truth == label, guess == label
        over, under = 2.0 * (is_so & said), 1.0 * is_so + said
        value = over.mean() / under.mean() if under.any() else 0.0
        parts.append(value + (over - value * under) / (under.mean() or 1.0))
    return np.mean(parts, axis=0)


def auc_values(truth: Any, scores: Any) -> Floats:
    """Return values of rows whose mean is the area under the ROC curve, by DeLong's components.

    Parameters
    ----------
    truth : ndarray of int of shape (n_rows,)
        Classes, from 0 on; all of the same fold, as scores of other models are on other scales.
    scores : ndarray of shape (n_rows,) or (n_rows, n_classes)
        Higher for the second class, or for each class; of more than two, each is set against
        all others, and the areas are averaged.
    """
    columns = {1: scores} if np.ndim(scores) == 1 else dict(enumerate(np.asarray(scores).T))
    if len(columns) == 2:
        columns.pop(0)
    parts = []
    for label, column in columns.items():
        mine = truth == label
        n, n_mine = len(truth), int(mine.sum())
        if n_mine in (0, n):
            continue
        beaten = np.empty(n)
        for part, others, sign in ((mine, n - n_mine, 1), (~mine, n_mine, -1)):
            own = rankdata(sign * column[part])
            beaten[part] = (rankdata(sign * column)[part] - own) / others
        area = beaten[mine].mean()
        parts.append(area + (beaten - area) * n / np.where(mine, n_mine, n - n_mine))
    return np.mean(parts, axis=0) if parts else np.full(len(truth), np.nan)


def make_metric(name: str | None, cost: str | None, classes: Sequence[str]) -> Metric:
    """Make the metric that the options ``--metric`` and ``--cost`` ask for.

    Raises
    ------
    SettingError
        If it is unknown, or costs are missing, senseless or not wanted.
    """
    (name,) = choose("metric", [name or ("error" if cost is None else "cost")], METRICS)
    if name != "cost":
        if cost is not None:
            raise SettingError("cost", f"goes with --metric cost, not with {name}; leave one out")
        return Metric(name)
    if cost is None:
        raise SettingError("metric", "'cost' needs costs, such as --cost 'yes:no=5'")
    return Metric(name, parse_costs(cost, classes))


def parse_costs(text: str, classes: Sequence[str]) -> tuple[tuple[float, ...], ...]:
    """Read costs such as ``yes:no=5``: predicting no where yes is true costs 5, other errors 1.

    Raises
    ------
    SettingError
        If it cannot be read, or names no class.
    """
    costs = 1.0 - np.eye(len(classes))
    for part in text.split(","):
        pair, _, number = part.rpartition("=")
        found = [
            (pair[:place].strip(), pair[place + 1 :].strip())
            for place, sign in enumerate(pair)
            if sign == ":"
        ]
        known = [both for both in found if set(both) <= set(classes)]
        if not found:
            raise SettingError(
                "cost", f"{part.strip()!r} cannot be read; write 'true:predicted=5'"
            )
        if not known:
            raise SettingError(
                "cost",
                f"{pair.strip()!r} does not name two classes; choose from {', '.join(classes)}",
            )
        try:
            value = float(number)
        except ValueError:
            value = np.nan
        if not 0 <= value < np.inf or known[0][0] == known[0][1]:
            raise SettingError(
                "cost", f"{part.strip()!r} must set a number of at least 0 for two classes"
            )
        costs[classes.index(known[0][0]), classes.index(known[0][1])] = value
    return tuple(tuple(row) for row in costs.tolist())
