"""One cell of the panorama: a method on one fold of one table under one condition."""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from bblr.comparison.records import Record
from bblr.comparison.tasks import recorded
from research.panorama.conditions import noise_seed
from research.panorama.fingerprints import LOADED_SOURCE
from research.panorama.methods import METHODS
from research.panorama.parts import Part, make_part, scaled
from research.panorama.scores import score
from research.panorama.tables import Table

__all__ = ["Cell", "evaluate"]


@dataclass(frozen=True)
class Cell:
    """What decides a result, and nothing else; a task of `bblr.comparison.tasks`.

    Parameters
    ----------
    table : Table
        The table.
    condition : str
        The name of the condition.
    fold : int
        Which fold is the test part.
    method : str
        The name of the method.
    part : str
        A hash of the training part, with its noise, and of the test part.
    fingerprint : dict
        Of the method.
    expected_seconds : float
        A guess.
    """

    table: Table
    condition: str
    fold: int
    method: str
    part: str
    fingerprint: dict[str, str] = field(hash=False)
    expected_seconds: float = field(default=0.0, compare=False)

    @property
    def key(self) -> str:
        """A hash of everything the result hangs on."""
        settings = json.dumps([*self._names, self.part, self.fingerprint], sort_keys=True)
        return hashlib.sha256(settings.encode()).hexdigest()[:20]

    @property
    def data(self) -> str:
        """Name of the table."""
        return self.table.name

    @property
    def _names(self) -> tuple[str, str, int, str]:
        return self.table.name, self.condition, self.fold, self.method

    def run(self) -> Record:
        """Fit in one thread and score; an error is a result too, under ``failure``."""
        settings: Record = {
            "key": self.key,
            "data": self.data,
            "kind": self.table.kind,
            "listed": self.table.listed,
            "condition": self.condition,
            "fold": self.fold,
            "method": self.method,
            "label": self.method,
            "noise_seed": noise_seed(self.data, self.condition, self.fold),
            "part": self.part,
            "fingerprint": self.fingerprint,
        }
        return recorded(settings, self._work)

    def _work(self) -> dict[str, Any]:
        method = METHODS[self.method]
        if method.ours and self.fingerprint["source"] != LOADED_SOURCE:
            raise RuntimeError("the source has changed since the run began; run it again")
        part = make_part(self.data, self.condition, self.fold)
        if method.dense_only and sparse.issparse(part.X_train):
            return {"skipped": "takes no sparse rows"}
        return evaluate(method.build(), scaled(part))


def evaluate(classifier: Any, part: Part) -> dict[str, Any]:
    """Fit a classifier to the training part and score its predictions of the test part.

    It is given the classes that occur in training, numbered without gaps; the others get
    probability 0.
    """
    classes, codes = np.unique(part.y_train, return_inverse=True)
    start = time.perf_counter()
    classifier.fit(part.X_train, codes)
    fitted = time.perf_counter()
    predictions = classes[np.asarray(classifier.predict(part.X_test))]
    done = time.perf_counter()
    proba = np.zeros((len(part.y_test), part.n_classes))
    proba[:, classes] = classifier.predict_proba(part.X_test)
    return {
        **score(part.y_train, part.y_test, predictions, proba),
        "fit_seconds": round(fitted - start, 4),
        "predict_seconds": round(done - fitted, 4),
    }
