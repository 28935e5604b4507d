"""One cell of a comparison: a method on one fold of one data set under one condition."""

from __future__ import annotations

import time
import warnings
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal, Self

import numpy as np
from sklearn.model_selection import StratifiedKFold

from bblr.comparison.methods import Method, tune_for
from bblr.comparison.records import Record
from bblr.comparison.sources import Table
from bblr.comparison.tasks import Task
from bblr.comparison.verdict.metrics import Metric, auc_values

__all__ = ["CLEAN", "PLACES", "Cell", "Condition", "FoldTask", "Split"]

_SMALLEST_PROBABILITY = 1e-15
# Of a fit of logistic regression with its tuning, before any is measured.
_SECONDS = 0.5
Place = Literal["training", "everywhere"]
PLACES: tuple[Place, ...] = ("training", "everywhere")


@dataclass(frozen=True)
class Condition:
    """How the data are spoilt before a classifier sees them.

    Parameters
    ----------
    noise : float
        Noisy rows as a fraction of the rows; 0 leaves the data clean.
    protocol : str or None
        A protocol of :func:`bblr.evaluation.add_noise`; None when clean.
    place : {"training", "everywhere"} or None
        Noise in the training part of each fold only, or in all data before they are split;
        None when clean.
    """

    noise: float = 0.0
    protocol: str | None = None
    place: Place | None = None

    @property
    def label(self) -> str:
        """Words for tables: ``clean``, or how much noise of which kind and where."""
        if not self.noise:
            return "clean"
        where = "in training" if self.place == "training" else "everywhere"
        return f"{100 * self.noise:g} % {self.protocol} noise {where}"


CLEAN = Condition()


@dataclass(frozen=True)
class Split:
    """Training and test part of a fold; ``rows`` are the test rows in the data set."""

    X_train: Any
    y_train: Any
    X_test: Any
    y_test: Any
    rows: Any


@dataclass(frozen=True, kw_only=True)
class FoldTask(Task):
    """A method on one fold of one data set under one condition.

    Parameters
    ----------
    fingerprint : str
        A hash of the contents of the data.
    condition : Condition
        How the data are spoilt.
    repeat, fold, folds : int
        Which fold of which repeat, of how many folds. One fold is all rows, for training and for
        test; none leaves the division to the table, which then has test rows of its own.
    """

    fingerprint: str
    condition: Condition
    repeat: int
    fold: int
    folds: int

    def random_state(self, purpose: str) -> int:
        """Make a seed that all methods share on this fold, so that they see the same data."""
        words = [self.seed, self.repeat, *purpose.encode()]
        if purpose != "folds":
            words.append(self.fold)
        return int(np.random.SeedSequence(words).generate_state(1)[0]) & 0x7FFFFFFF

    def split(self, table: Table) -> Split:
        """Cut one fold and add the noise, before anything is scaled."""
        X, y = table.X, table.y
        rows = np.arange(len(y))
        if self.folds == 1:
            return Split(X, y, X, y, rows)
        if not self.folds:
            if table.test is None:
                raise ValueError(f"{table.name!r} has no test rows of its own")
            train, test = np.delete(rows, table.test), table.test
            return Split(X[train], y[train], X[test], y[test], test)
        if self.condition.place == "everywhere":
            # Added before the split, it must be the same for every fold of a repeat.
            X, y = self._noisy(X, y, "folds")
        folds = StratifiedKFold(self.folds, shuffle=True, random_state=self.random_state("folds"))
        train, test = list(folds.split(np.zeros(len(y)), y))[self.fold]
        X_train, y_train = X[train], y[train]
        if self.condition.place == "training":
            X_train, y_train = self._noisy(X_train, y_train, "noise")
        return Split(X_train, y_train, X[test], y[test], test)

    def _noisy(self, X: Any, y: Any, purpose: str) -> tuple[Any, Any]:
        from bblr.evaluation import add_noise

        return add_noise(
            X,
            y,
            protocol=str(self.condition.protocol),
            fraction=self.condition.noise,
            random_state=self.random_state(purpose),
        )

    def estimator(self, table: Table, method: Method) -> Any:
        """Make the untrained classifier."""
        return method.build(self.random_state("estimator"), sparse=table.sparse)

    def row_values(self, estimator: Any, part: Split, probabilities: Any) -> Record:
        """Return what else a record holds of each test row."""
        return {}

    def evaluate(self, table: Table, method: Method) -> Record:
        """Fit on the training part and predict the test part."""
        part = self.split(table)
        estimator = self.estimator(table, method)
        started = time.perf_counter()
        estimator.fit(part.X_train, part.y_train)
        seconds = time.perf_counter() - started
        predictions = _labels(estimator, part)
        probabilities = _probabilities(estimator, part.X_test)
        return {
            "rows": part.rows.tolist(),
            "truth": part.y_test.tolist(),
            "predictions": predictions.tolist(),
            **_kept(probabilities, predictions),
            "errors": int(np.sum(predictions != part.y_test)),
            **_scores(part.y_test, probabilities),
            **self.row_values(estimator, part, probabilities),
            "train_errors": _strict_errors(estimator, part.X_train, part.y_train),
            "n_train": len(part.y_train),
            "n_test": len(part.y_test),
            "seconds": seconds,
            **_vectors(estimator),
        }


@dataclass(frozen=True, kw_only=True)
class Cell(FoldTask):
    """A cell of a comparison, with the data and the method that it takes along.

    Parameters
    ----------
    table : Table
        The data.
    classifier : Method
        The method.
    tuned : Metric or None, default=None
        What a threshold on the scores is chosen for, by cross-validation inside the training
        part; None leaves it where it is.
    scoring : str, default="accuracy"
        What a method that tunes settings chooses them by.
    """

    table: Table = field(compare=False, repr=False)
    classifier: Method = field(compare=False, repr=False)
    tuned: Metric | None = None
    scoring: str = "accuracy"

    @classmethod
    def of(
        cls,
        table: Table,
        method: Method,
        condition: Condition = CLEAN,
        scoring: str = "accuracy",
        **place: Any,
    ) -> Self:
        """Make a cell; ``place`` is its repeat, fold, folds and seed, and what it is tuned for."""
        return cls(
            data=table.name,
            fingerprint=table.fingerprint,
            condition=condition,
            method=method.name,
            table=table,
            classifier=method,
            expected_seconds=_SECONDS * method.weight * (1 + 3 * bool(place.get("tuned"))),
            # A method without settings to choose is the same for every metric, and so its record.
            scoring=scoring if method.tunes else "accuracy",
            **place,
        )

    def estimator(self, table: Table, method: Method) -> Any:
        """Make the untrained classifier, with a threshold to choose if that is asked for."""
        found = super().estimator(table, method)
        if self.scoring != "accuracy":
            found = tune_for(found, self.scoring)
        if self.tuned is None or method.name == "majority":
            return found
        from sklearn.model_selection import StratifiedKFold, TunedThresholdClassifierCV

        cv = StratifiedKFold(3, shuffle=True, random_state=self.random_state("estimator"))
        return TunedThresholdClassifierCV(found, scoring=self.tuned.scorer(), cv=cv)

    def row_values(self, estimator: Any, part: Split, probabilities: Any) -> Record:
        """Return log-losses, and what makes up the area under the ROC curve."""
        scores, losses = probabilities, None
        if probabilities is not None:
            given = probabilities[np.arange(len(part.y_test)), part.y_test]
            losses = _rounded(-np.log(np.maximum(given, _SMALLEST_PROBABILITY)))
        elif hasattr(estimator, "decision_function"):
            scores = np.asarray(estimator.decision_function(part.X_test))
        found = None if scores is None else _rounded(auc_values(part.y_test, scores))
        return {"log_losses": losses, "auc": found}

    @property
    def label(self) -> str:
        """What tables show for the method."""
        return self.classifier.label

    def warm_up(self) -> None:
        """Fit a few rows of each class; what goes wrong is told by the fit itself."""
        if "BBLR" not in self.method and "SLA" not in self.method:
            return
        y = self.table.y
        rows = np.concatenate([np.flatnonzero(y == label)[:30] for label in np.unique(y)])
        with warnings.catch_warnings(), suppress(Exception):
            warnings.simplefilter("ignore")
            estimator: Any = self.classifier.build(0, sparse=self.table.sparse)
            estimator.fit(self.table.X[rows], y[rows])

    def work(self) -> Record:
        """Fit and score."""
        return self.evaluate(self.table, self.classifier)


def _rounded(values: Any) -> list[float]:
    return [float(f"{value:.7g}") for value in values.tolist()]


def _labels(estimator: Any, part: Split) -> Any:
    """Predict the test part, and see that what comes back are classes, one a row."""
    found = np.asarray(estimator.predict(part.X_test))
    classes = np.unique(part.y_train)
    if found.shape != part.y_test.shape or not np.all(np.isin(found, classes)):
        known = f"0 to {classes[-1]}" if len(classes) > 2 else "0 or 1"
        n = len(part.y_test)
        raise ValueError(f"predict must return a class, {known}, for each of the {n} rows")
    return found.astype(int)


def _vectors(estimator: Any) -> Record:
    """Return the number of support vectors, of a method that has any."""
    final = getattr(estimator, "best_estimator_", estimator)
    counts = getattr(final[-1] if hasattr(final, "steps") else final, "n_support_", None)
    return {} if counts is None else {"vectors": int(np.sum(counts))}


def _probabilities(estimator: Any, X: Any) -> Any:
    """Probabilities, a column a class, or None from a method that has none."""
    if not hasattr(estimator, "predict_proba"):
        return None
    probabilities = np.asarray(estimator.predict_proba(X), dtype=np.float64)
    if not np.all(np.isfinite(probabilities)):
        raise ValueError("predict_proba returned values that are not finite")
    return probabilities


def _kept(probabilities: Any, predictions: Any) -> Record:
    """Choose what a record keeps: the second class's probability, of more the predicted one's.

    Either can be held against how often it came true.
    """
    if probabilities is None:
        return {"probabilities": None}
    many = probabilities.shape[1] > 2
    kept = probabilities[np.arange(len(predictions)), predictions if many else 1]
    return {"probabilities": kept.round(6).tolist()} | ({"of": "predicted"} if many else {})


def _scores(y: Any, probabilities: Any) -> Record:
    from bblr.evaluation import expected_calibration_error

    if probabilities is None:
        return {"log_loss": None, "calibration_error": None}
    chosen = probabilities[np.arange(len(y)), y]
    labels = np.arange(probabilities.shape[1])
    return {
        "log_loss": float(-np.mean(np.log(np.maximum(chosen, _SMALLEST_PROBABILITY)))),
        "calibration_error": expected_calibration_error(y, probabilities, labels=labels),
    }


def _strict_errors(estimator: Any, X: Any, y: Any) -> int:
    """Zero-one loss in which a score of exactly 0, or a tie between classes, is an error."""
    wrong = np.asarray(estimator.predict(X)) != y
    if hasattr(estimator, "decision_function"):
        scores = np.asarray(estimator.decision_function(X))
        if scores.ndim == 2:
            best = np.sort(scores, axis=1)[:, -2:]
            scores = best[:, 1] - best[:, 0]
        wrong = wrong | (scores == 0)
    return int(np.sum(wrong))
