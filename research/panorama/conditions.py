"""What is done to the training part of a table before a method sees it; tests stay clean."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from bblr.evaluation import add_noise
from research.panorama.tables import Table

__all__ = ["CONDITIONS", "NOISY", "QUICK_CONDITIONS", "Condition", "conditions_of", "noise_seed"]

ONE_WAY = "one-way"
OUTLIERS = ("uniform-one-class", "uniform-random")


@dataclass(frozen=True)
class Condition:
    """A kind and an amount of noise.

    Parameters
    ----------
    name : str
        What the user types and the records hold.
    protocol : str or None
        One of `bblr.evaluation.NOISE_PROTOCOLS`, or "one-way": so many rows of the largest class
        get the label of the next one. None leaves the rows as they are.
    fraction : float
        Share of the rows that are changed or added; of the rows of the class with "one-way".
    """

    name: str
    protocol: str | None = None
    fraction: float = 0.0

    @property
    def adds_rows(self) -> bool:
        """Whether rows are appended, which sparse ones cannot be."""
        return self.protocol in OUTLIERS

    def apply(self, X: Any, y: np.ndarray, seed: int) -> tuple[Any, np.ndarray]:
        """Return the training part with noise; what is given is left alone."""
        if self.protocol is None:
            return X, y
        if self.protocol == ONE_WAY:
            return X, _mislabel_largest(y, self.fraction, seed)
        X, y = add_noise(X, y, protocol=self.protocol, fraction=self.fraction, random_state=seed)
        return X, y


CONDITIONS = {
    condition.name: condition
    for condition in (
        Condition("clean"),
        Condition("flip10", "label-flip", 0.1),
        Condition("flip20", "label-flip", 0.2),
        Condition("flip40", "label-flip", 0.4),
        Condition("oneway30", ONE_WAY, 0.3),
        Condition("outliers", "uniform-one-class", 0.1),
        Condition("random-outliers", "uniform-random", 0.1),
    )
}
NOISY = tuple(name for name, condition in CONDITIONS.items() if condition.protocol)
QUICK_CONDITIONS = ("clean", "flip20", "outliers")


def conditions_of(table: Table) -> list[Condition]:
    """Return the conditions a table is evaluated under."""
    wide = table.kind == "wide"
    return [one for one in CONDITIONS.values() if not (wide and one.adds_rows)]


def noise_seed(table: str, condition: str, fold: int) -> int:
    """Return a seed that is the same for all methods, on every machine and in every run."""
    digest = hashlib.sha256(f"{table}/{condition}/{fold}".encode()).digest()
    return int.from_bytes(digest[:4], "big") & 0x7FFFFFFF


def _mislabel_largest(y: np.ndarray, fraction: float, seed: int) -> np.ndarray:
    """Give rows of the largest class the label of the next one, the first after the last."""
    classes, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    largest = int(np.argmax(counts))
    rows = np.flatnonzero(codes == largest)
    # The small term keeps 0.3 · 10 = 2.999… from losing a row to rounding.
    n_changed = int(len(rows) * fraction + 1e-9)
    changed = np.random.default_rng(seed).choice(rows, n_changed, replace=False)
    noisy = y.copy()
    noisy[changed] = classes[(largest + 1) % len(classes)]
    return noisy
