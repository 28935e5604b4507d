"""Made-up tables, classifiers that take no time, and records made by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from bblr.comparison.records import Record
from research.panorama.cells import Cell
from research.panorama.scores import pack
from research.panorama.tables import Table


def made_table(n_rows: int, classes: int, seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    y = np.digitize(X[:, 0] + 0.5 * rng.normal(size=n_rows), np.linspace(-1, 1, classes + 1)[1:-1])
    return X, y


MADE = {
    "small": (Table("small", "two", "choose"), *made_table(90, 2, 0)),
    "third": (Table("third", "many", "choose"), *made_table(150, 3, 1)),
    "large": (Table("large", "two", "choose"), *made_table(1000, 2, 2)),
    "broad": (Table("broad", "wide", "choose"), *made_table(120, 2, 3)),
}
MADE["broad"] = (MADE["broad"][0], sparse.csr_matrix(MADE["broad"][1]), MADE["broad"][2])


class Nearest:
    """A classifier that takes no time: the nearest mean of a class."""

    def fit(self, X: Any, y: Any) -> Nearest:
        self.means_ = np.array([np.asarray(X[y == k].mean(axis=0)).ravel() for k in np.unique(y)])
        return self

    def predict(self, X: Any) -> Any:
        return self.predict_proba(X).argmax(axis=1)

    def predict_proba(self, X: Any) -> Any:
        rows = X.toarray() if sparse.issparse(X) else X
        odds = np.exp(-((rows[:, None, :] - self.means_) ** 2).sum(axis=2))
        return (odds + 1e-9) / (odds + 1e-9).sum(axis=1, keepdims=True)


class Failing(Nearest):
    def fit(self, X: Any, y: Any) -> Nearest:
        raise RuntimeError("it never\nworks")


def cell_of(name: str, where: str, method: str, **changes: Any) -> Cell:
    settings: dict[str, Any] = {
        "data": name, "condition": where, "method": method, "group": "two", "listed": "choose",
        "fold": 0, "part": "part", "fingerprint": {"v": "1"},
    }  # fmt: skip
    return Cell(**{**settings, **changes})


def hand_made(
    errors: Mapping[tuple[str, str, str], Sequence[int]],
    kinds: Mapping[str, str],
    **changes: Any,
) -> tuple[list[Cell], dict[str, Record]]:
    """Return cells and records of one fold from the errors by (table, condition, method)."""
    cells, records = [], {}
    for (name, where, method), wrong in errors.items():
        cell = cell_of(name, where, method, group=kinds[name])
        cells.append(cell)
        records[cell.key] = hand_made_record(cell, wrong, **changes)
    return cells, records


def hand_made_record(cell: Cell, wrong: Sequence[int], **changes: Any) -> Record:
    return {
        "key": cell.key,
        "data": cell.data,
        "condition": cell.condition,
        "fold": cell.fold,
        "method": cell.method,
        "label": cell.method,
        "fingerprint": cell.fingerprint,
        "n_test": len(wrong),
        "errors": sum(wrong),
        "wrong": pack(np.array(wrong, dtype=bool)),
        "balanced_error": 0.25,
        "auc": 0.8,
        "log_loss": 0.5,
        "base_log_loss": 0.7,
        "calibration_error": 0.1,
        "constant_predictions": False,
        "constant_probabilities": False,
        "fit_seconds": 1.0,
        "predict_seconds": 0.1,
        "seconds": 1.2,
        "warnings": [],
        **changes,
    }
