"""What is recorded about predictions of a test part."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from bblr.evaluation import expected_calibration_error

__all__ = ["pack", "score", "unpack"]

SMALLEST_PROBABILITY = 1e-15
SAME = 1e-9


def score(
    y_train: np.ndarray, y_test: np.ndarray, predictions: np.ndarray, proba: np.ndarray
) -> dict[str, Any]:
    """Return the measures of a test part as JSON values.

    Parameters
    ----------
    y_train, y_test : ndarray of int
        Class numbers; those of the training part with their noise.
    predictions : ndarray of int
        Predicted class numbers of the test part.
    proba : ndarray of shape (n_test, n_classes)
        Probabilities of all classes.
    """
    _check(y_test, predictions, proba)
    n_classes = proba.shape[1]
    wrong = predictions != y_test
    share = np.bincount(y_train, minlength=n_classes) / len(y_train)
    return {
        "n_train": len(y_train),
        "n_test": len(y_test),
        "errors": int(wrong.sum()),
        "wrong": pack(wrong),
        "balanced_error": _balanced_error(y_test, wrong),
        "auc": _auc(y_test, proba),
        "log_loss": _log_loss(y_test, proba),
        "base_log_loss": _log_loss(y_test, np.tile(share, (len(y_test), 1))),
        "calibration_error": expected_calibration_error(
            y_test, proba, labels=np.arange(n_classes)
        ),
        "constant_predictions": bool(np.all(predictions == predictions[0])),
        "constant_probabilities": bool(np.ptp(proba, axis=0).max() < SAME),
    }


def pack(wrong: np.ndarray) -> str:
    """Return a vector of errors as hexadecimal digits, eight rows in two of them."""
    return np.packbits(wrong).tobytes().hex()


def unpack(text: str, n_rows: int) -> np.ndarray:
    """Return the vector of errors that was packed."""
    bits = np.unpackbits(np.frombuffer(bytes.fromhex(text), dtype=np.uint8))
    return bits[:n_rows].astype(bool)


def _check(y_test: np.ndarray, predictions: np.ndarray, proba: np.ndarray) -> None:
    if predictions.shape != y_test.shape:
        raise ValueError(f"predict returned shape {predictions.shape} for {len(y_test)} rows")
    if not np.all(np.isfinite(proba)):
        raise ValueError("predict_proba returned values that are not finite")


def _balanced_error(y: np.ndarray, wrong: np.ndarray) -> float:
    """Return the mean over the classes of the test part of the share that is wrong."""
    return float(np.mean([wrong[y == label].mean() for label in np.unique(y)]))


def _auc(y: np.ndarray, proba: np.ndarray) -> float | None:
    """Return the area under the ROC curve, of many classes the mean of one against the rest."""
    columns = range(proba.shape[1]) if proba.shape[1] > 2 else [1]
    areas = [
        roc_auc_score(y == column, proba[:, column])
        for column in columns
        if 0 < np.sum(y == column) < len(y)
    ]
    return float(np.mean(areas)) if areas else None


def _log_loss(y: np.ndarray, proba: np.ndarray) -> float:
    given = proba[np.arange(len(y)), y]
    return float(-np.mean(np.log(np.clip(given, SMALLEST_PROBABILITY, 1.0))))
