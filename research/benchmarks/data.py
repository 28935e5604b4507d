"""The data of the benchmarks: made up from a seed, or read from the research data."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from research.benchmarks.cases import Settings, Unavailable

__all__ = ["at_hand", "gaussian", "review_words", "trec07p", "web8"]

TREC_TEST_SHARE = 0.2


def gaussian(
    n_rows: int, n_features: int, seed: int, *, flipped: float = 0.05, dtype: Any = np.float64
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Make isotropic Gaussian rows, labelled by a random plane, some labels flipped."""
    rng = np.random.default_rng(seed)
    X = np.empty((n_rows, n_features), dtype=dtype)
    rng.standard_normal(out=X, dtype=dtype)
    y = np.where(X @ rng.standard_normal(n_features).astype(dtype) > 0, 1.0, -1.0)
    y[rng.random(n_rows) < flipped] *= -1
    return X, y


def web8(settings: Settings) -> tuple[Any, Any, Any, Any]:
    """Read web8, or skip the case."""
    from bblr.datasets import fetch_web8

    X_train, y_train = at_hand(fetch_web8)
    X_test, y_test = at_hand(fetch_web8, subset="test")
    rows = slice(settings.rows(len(y_train)))
    return X_train[rows], y_train[rows], X_test, y_test


def review_words(domain: str) -> Any:
    """Read the words of the product reviews of one domain as CSR, or skip the case."""
    from bblr.datasets import fetch_reviews

    return at_hand(partial(fetch_reviews, domain))[0].tocsr()


def trec07p(settings: Settings) -> tuple[Any, Any, Any, Any]:
    """Read TREC07p, a random fifth of it for testing, dense and z-scored, or skip the case."""
    from sklearn.model_selection import train_test_split
    from sklearn.preprocessing import StandardScaler

    from bblr.datasets import fetch_trec07p

    X, y = at_hand(fetch_trec07p)
    rows = slice(settings.rows(len(y)))
    X_train, X_test, y_train, y_test = train_test_split(
        X[rows].toarray(), y[rows], test_size=TREC_TEST_SHARE, random_state=settings.seed
    )
    scaler = StandardScaler().fit(X_train)
    return scaler.transform(X_train), y_train, scaler.transform(X_test), y_test


def at_hand(fetch: Callable[..., Any], **settings: Any) -> Any:
    """Read research data that are at hand, or skip the case."""
    try:
        return fetch(download_if_missing=False, return_X_y=True, **settings)
    except FileNotFoundError as missing:
        raise Unavailable(str(missing)) from None
