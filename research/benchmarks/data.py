"""The data of the benchmarks: made up from a seed, or read from the research data."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer

from research.core.cases import Run, available
from research.core.parts import Parts

__all__ = [
    "Parts",
    "correlated",
    "fetched",
    "gaussian",
    "indicators",
    "many",
    "rings",
    "text",
    "trec07p",
    "web8",
]  # fmt: skip

FLIPPED = 0.05
# How far a word's share in the classes differs, in log odds.
BENT = 0.15


def cut(X: Any, y: Any, n_train: int) -> Parts:
    """Take the first rows for training and the others for test."""
    return Parts(X[:n_train], y[:n_train], X[n_train:], y[n_train:])


def _labels(scores: Any, rng: np.random.Generator) -> Any:
    """Label the upper half of the scores +1, and flip some labels."""
    y = np.where(scores > np.median(scores), 1, -1)
    y[rng.random(len(y)) < FLIPPED] *= -1
    return y


def correlated(n_rows: int, n_features: int, seed: int) -> tuple[Any, Any]:
    """Make dense rows with five common factors: so that no solver gets a spherical problem."""
    rng = np.random.default_rng(seed)
    factors = rng.standard_normal((n_rows, 5)) @ rng.standard_normal((5, n_features))
    X = rng.standard_normal((n_rows, n_features)) + factors
    return X, _labels(X @ rng.standard_normal(n_features), rng)


def indicators(n_rows: int, n_features: int, per_row: int, seed: int) -> tuple[Any, Any]:
    """Make sparse rows of so many ones (fewer where a draw repeats), some columns rare."""
    rng = np.random.default_rng(seed)
    share = 1.0 / np.arange(10, n_features + 10)
    columns = rng.choice(n_features, size=n_rows * per_row, p=share / share.sum())
    rows = np.repeat(np.arange(n_rows), per_row)
    X = sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(n_rows, n_features))
    X.data[:] = 1.0
    noise = 0.3 * np.sqrt(per_row) * rng.standard_normal(n_rows)
    return X, _labels(X @ rng.standard_normal(n_features) + noise, rng)


def text(n_rows: int, n_words: int, seed: int, *, length: int = 120) -> tuple[Any, Any]:
    """Make tf-idf weights of documents: words follow Zipf's law, shifted a little by the class."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n_rows) < 0.5, 1, -1)
    counts = rng.poisson(length, size=n_rows)
    bend = BENT * rng.standard_normal(n_words)
    words = np.empty(int(counts.sum()), dtype=np.int64)
    label = np.repeat(y, counts)
    for sign in (-1, 1):
        share = np.exp(sign * bend) / np.arange(1, n_words + 1)
        words[label == sign] = rng.choice(n_words, (label == sign).sum(), p=share / share.sum())
    rows = np.repeat(np.arange(n_rows), counts)
    X = sparse.csr_matrix((np.ones(len(rows)), (rows, words)), shape=(n_rows, n_words))
    y[rng.random(n_rows) < FLIPPED] *= -1
    return TfidfTransformer(sublinear_tf=True).fit_transform(X), y


def rings(n_rows: int, n_features: int, seed: int) -> tuple[Any, Any]:
    """Make dense rows whose class is inside or outside a wavy shell."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, n_features))
    return X, _labels((X**2).sum(axis=1) + 2.0 * np.sin(2.0 * X[:, 0]), rng)


def many(n_rows: int, n_features: int, n_classes: int, seed: int) -> tuple[Any, Any]:
    """Make dense rows of many classes, each by the plane that scores highest."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, n_features))
    y = np.argmax(X @ rng.standard_normal((n_features, n_classes)), axis=1)
    astray = rng.random(n_rows) < FLIPPED
    y[astray] = rng.integers(n_classes, size=int(astray.sum()))
    return X, y


def gaussian(
    n_rows: int, n_features: int, seed: int, *, flipped: float = FLIPPED, dtype: Any = np.float64
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Make isotropic Gaussian rows, labelled by a random plane, some labels flipped."""
    rng = np.random.default_rng(seed)
    X = np.empty((n_rows, n_features), dtype=dtype)
    rng.standard_normal(out=X, dtype=dtype)
    y = np.where(X @ rng.standard_normal(n_features).astype(dtype) > 0, 1.0, -1.0)
    y[rng.random(n_rows) < flipped] *= -1
    return X, y


def fetched(fetch: Any, **settings: Any) -> Any:
    """Read rows and labels that are available, or skip the case."""
    return available(fetch, download_if_missing=False, return_X_y=True, **settings)


def web8(run: Run) -> tuple[Any, Any]:
    """Read the training rows of web8, or skip the case."""
    from bblr.datasets import fetch_web8

    X, y = fetched(fetch_web8)
    rows = slice(run.rows(len(y)))
    return X[rows], y[rows]


def trec07p(run: Run) -> Parts:
    """Read TREC07p, a random fifth of it for testing, dense and z-scored, or skip the case."""
    from sklearn.model_selection import train_test_split
    from sklearn.preprocessing import StandardScaler

    from bblr.datasets import fetch_trec07p

    X, y = fetched(fetch_trec07p)
    rows = slice(run.rows(len(y)))
    X_train, X_test, y_train, y_test = train_test_split(
        X[rows].toarray(), y[rows], test_size=0.2, random_state=run.seed
    )
    return Parts(X_train, y_train, X_test, y_test).scaled(StandardScaler())
