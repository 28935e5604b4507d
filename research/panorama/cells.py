"""One cell of the panorama: a method on one fold of one table under one condition."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from bblr.comparison.cells import CLEAN, Condition
from bblr.comparison.records import Record
from bblr.comparison.tasks import Task
from bblr.evaluation import add_noise
from research.panorama.methods import LOADED_SOURCE, METHODS
from research.panorama.scores import score
from research.panorama.tables import Table, load

__all__ = [
    "CONDITIONS", "NOISY", "QUICK_CONDITIONS", "SCALING", "Cell", "Part", "conditions_of",
    "evaluate", "folds_of", "make_part", "noise_seed", "scaled", "spoilt",
]  # fmt: skip

# So many rows of the largest class get the label of the next one.
ONE_WAY = "one-way"
CONDITIONS = {
    "clean": CLEAN,
    "flip10": Condition(0.1, "label-flip", "training"),
    "flip20": Condition(0.2, "label-flip", "training"),
    "flip40": Condition(0.4, "label-flip", "training"),
    "oneway30": Condition(0.3, ONE_WAY, "training"),
    "outliers": Condition(0.1, "uniform-one-class", "training"),
    "random-outliers": Condition(0.1, "uniform-random", "training"),
}
NOISY = tuple(name for name, condition in CONDITIONS.items() if condition.noise)
QUICK_CONDITIONS = ("clean", "flip20", "outliers")
FOLDS = 5
SMALL, FOLDS_SMALL, FOLDS_LARGE = 1000, 3, 1
# Part of every digest: results are of one way to scale. Sparse rows are left as they are: with
# variance 1, words that hardly occur become as large as all others, which costs baselines that do
# not scale by themselves dearly (text-1, clean: LR errs on 185 of 600 rows, on 103 unscaled).
SCALING = "mean 0 and variance 1; sparse rows as they are"


def conditions_of(table: Table) -> list[str]:
    """Return the conditions a table is evaluated under: no rows can be added to sparse ones."""
    wide = table.kind == "wide"
    return [name for name, c in CONDITIONS.items() if not (wide and "uniform" in str(c.protocol))]


def noise_seed(table: str, condition: str, fold: int) -> int:
    """Return a seed that is the same for all methods, on every machine and in every run."""
    digest = hashlib.sha256(f"{table}/{condition}/{fold}".encode()).digest()
    return int.from_bytes(digest[:4], "big") & 0x7FFFFFFF


def spoilt(condition: Condition, X: Any, y: np.ndarray, seed: int) -> tuple[Any, np.ndarray]:
    """Return rows and labels with the noise of a condition; what is given is left alone."""
    if not condition.noise:
        return X, y
    if condition.protocol != ONE_WAY:
        protocol, fraction = str(condition.protocol), condition.noise
        return add_noise(X, y, protocol=protocol, fraction=fraction, random_state=seed)
    classes, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    largest = int(np.argmax(counts))
    rows = np.flatnonzero(codes == largest)
    # The small term keeps 0.3 · 10 = 2.999… from losing a row to rounding.
    n_changed = int(len(rows) * condition.noise + 1e-9)
    noisy = y.copy()
    changed = np.random.default_rng(seed).choice(rows, n_changed, replace=False)
    noisy[changed] = classes[(largest + 1) % len(classes)]
    return X, noisy


@dataclass(frozen=True)
class Part:
    """One fold of a table; classes are numbered from 0."""

    X_train: Any
    y_train: np.ndarray
    X_test: Any
    y_test: np.ndarray
    n_classes: int

    @property
    def numbers(self) -> int:
        """Numbers of the training part; of a sparse one those that are stored."""
        return int(self.X_train.nnz if _is_sparse(self.X_train) else self.X_train.size)

    @property
    def digest(self) -> str:
        """A hash of the contents, so that a result is known to be of these rows."""
        total = hashlib.sha256(SCALING.encode())
        values: Any
        for values in (self.X_train, self.y_train, self.X_test, self.y_test):
            rows = values.tocsr() if _is_sparse(values) else values
            arrays = (rows.data, rows.indices, rows.indptr) if _is_sparse(values) else (rows,)
            for array in arrays:
                total.update(f"{array.dtype.str}{array.shape}".encode())
                total.update(np.ascontiguousarray(array).data)
        return total.hexdigest()[:20]


def folds_of(n_rows: int) -> int:
    """Return how many of the five folds a table of so many rows is tested on."""
    return FOLDS_SMALL if n_rows < SMALL else FOLDS_LARGE


def make_part(table: str, condition: str, fold: int) -> Part:
    """Cut one fold of a table and add the noise of a condition to its training part alone."""
    X, y = load(table)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    train, test = list(folds.split(np.zeros(len(y)), y))[fold]
    seed = noise_seed(table, condition, fold)
    X_train, y_train = spoilt(CONDITIONS[condition], X[train], y[train], seed)
    return Part(X_train, y_train, X[test], y[test], int(y.max()) + 1)


def scaled(part: Part) -> Part:
    """Return the part with features of mean 0 and variance 1 in training, unless sparse."""
    if _is_sparse(part.X_train):
        return part
    scaler = StandardScaler()
    X_train = scaler.fit_transform(part.X_train)
    return replace(part, X_train=X_train, X_test=scaler.transform(part.X_test))


def _is_sparse(values: Any) -> bool:
    return bool(sparse.issparse(values))


@dataclass(frozen=True, kw_only=True)
class Cell(Task):
    """What decides a result, and nothing else.

    Parameters
    ----------
    group, listed : str
        Kind and list of the table.
    condition : str
        The name of the condition.
    fold : int
        Which fold is the test part.
    part : str
        A hash of the training part, with its noise, and of the test part.
    fingerprint : dict
        Versions and source of the method.
    """

    group: str
    listed: str
    condition: str
    fold: int
    part: str
    fingerprint: dict[str, str] = field(hash=False)

    @property
    def versions(self) -> Any:
        """Nothing beyond the fingerprint: baselines outlive a change of ours."""
        return None

    def work(self) -> Record:
        """Fit and score."""
        method = METHODS[self.method]
        if method.ours and self.fingerprint["source"] != LOADED_SOURCE:
            raise RuntimeError("the source has changed since the run began; run it again")
        part = make_part(self.data, self.condition, self.fold)
        if method.dense_only and _is_sparse(part.X_train):
            return {"skipped": "takes no sparse rows"}
        return evaluate(method.build(), scaled(part))


def evaluate(classifier: Any, part: Part) -> Record:
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
