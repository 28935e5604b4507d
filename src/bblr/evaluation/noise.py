"""Noise protocols: appended outliers, or flipped labels."""

from __future__ import annotations

import math
import sys
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from bblr.evaluation.label_column import label_column

NOISE_PROTOCOLS = ("uniform-one-class", "uniform-random", "label-flip")
"""The protocols `add_noise` knows."""


def add_noise(
    X: Any,
    y: Any,
    *,
    protocol: str = "uniform-one-class",
    fraction: float = 0.1,
    random_state: Any = None,
    return_index: bool = False,
) -> tuple[Any, ...]:
    """Add noise to a training set.

    The uniform protocols append ⌊n · fraction⌋ rows after the given ones, each feature drawn
    uniformly from [min − ½ range, max + ½ range] of that feature (Nguyen & Sanner, 2013). They
    differ in the labels of those rows:

    - ``"uniform-one-class"``: all get the larger label, ``numpy.unique(y)[-1]`` (the article;
      its "first class" is the one labelled +1);
    - ``"uniform-random"``: each gets a class at random, all equally likely (the article's code).

    ``"label-flip"`` leaves `X` as it is and flips ⌊n · fraction⌋ labels of `y`, chosen at random
    without replacement; with more than two classes, each of the other classes is equally likely.

    Parameters
    ----------
    X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
        The features. Sparse input is for ``"label-flip"`` only.
    y : array-like of shape (n_samples,)
        The labels, numbers or text.
    protocol : {"uniform-one-class", "uniform-random", "label-flip"}, \
            default="uniform-one-class"
        The kind of noise.
    fraction : float, default=0.1
        Amount of noise, between 0 and 1, as a share of the given rows.
    random_state : int, RandomState, Generator or None, default=None
        Seed; with the same integer the two uniform protocols append the same points.
    return_index : bool, default=False
        Also return which rows are noise.

    Returns
    -------
    X : ndarray or DataFrame of shape (n_samples + n_added, n_features)
        The given rows in their order, then the noise. A float dtype is kept; integers become
        float64. A DataFrame gives a DataFrame with the same columns and a new index. With
        ``"label-flip"`` it is the given object itself.
    y : ndarray or Series
        Its labels, of the given dtype; a Series if a Series was given.
    index : ndarray of int
        Positions of the appended rows or flipped labels, ascending; only if `return_index`.

    Notes
    -----
    Add noise before normalising, as the article does, and only to the training part to measure
    test errors on clean data.

    Examples
    --------
    >>> import numpy as np
    >>> from bblr.evaluation import add_noise
    >>> X, y = np.arange(40.0).reshape(20, 2), np.repeat([-1, 1], 10)
    >>> X_noisy, y_noisy = add_noise(X, y, fraction=0.2, random_state=0)
    >>> X_noisy.shape, y_noisy[-4:]
    ((24, 2), array([1, 1, 1, 1]))
    >>> X_same, y_flipped, index = add_noise(
    ...     X, y, protocol="label-flip", random_state=0, return_index=True)
    >>> X_same is X, (y_flipped != y).sum(), len(index)
    (True, np.int64(2), 2)
    """
    if protocol not in NOISE_PROTOCOLS:
        choices = ", ".join(repr(choice) for choice in NOISE_PROTOCOLS)
        raise ValueError(f"protocol={protocol!r} is not known; choose one of {choices}")
    if not isinstance(fraction, Real) or not 0.0 <= fraction <= 1.0:
        raise ValueError(f"fraction={fraction!r} is not a number between 0 and 1")
    rng = (
        random_state
        if isinstance(random_state, np.random.Generator)
        else check_random_state(random_state)
    )
    labels, classes = _labels(y)
    n_samples = len(labels)
    # The small term keeps 0.29 · 100 = 28.999… from being rounded down.
    n_noise = math.floor(n_samples * float(fraction) + 1e-9)
    if protocol == "label-flip":
        _check_rows(X, n_samples)
        X_out, y_out, index = X, *_flip(labels, classes, n_noise, rng)
    else:
        X_out = _append_rows(X, n_samples, n_noise, rng)
        new = (
            np.full(n_noise, classes[-1], dtype=labels.dtype)
            if protocol == "uniform-one-class"
            else rng.choice(classes, size=n_noise).astype(labels.dtype)
        )
        y_out = np.concatenate([labels, new])
        index = np.arange(n_samples, n_samples + n_noise)
    y_out = _like_series(y_out, y, keep_index=protocol == "label-flip")
    return (X_out, y_out, index) if return_index else (X_out, y_out)


def _labels(y: Any) -> tuple[np.ndarray, np.ndarray]:
    labels = label_column("y", y)
    try:
        classes = np.unique(labels)
    except TypeError as error:
        raise ValueError(f"y must be one column of labels of one kind: {error}") from error
    if len(classes) < 2:
        raise ValueError(
            f"y holds one class only ({classes.tolist()[0]!r}); two or more are needed"
        )
    return labels, classes


def _flip(
    labels: np.ndarray, classes: np.ndarray, n_noise: int, rng: Any
) -> tuple[np.ndarray, np.ndarray]:
    index = np.sort(rng.choice(len(labels), size=n_noise, replace=False))
    step = np.ones(n_noise, dtype=np.intp)
    if len(classes) > 2:
        step += rng.choice(len(classes) - 1, size=n_noise)
    flipped = labels.copy()
    flipped[index] = classes[(np.searchsorted(classes, labels[index]) + step) % len(classes)]
    return flipped, index


def _append_rows(X: Any, n_samples: int, n_noise: int, rng: Any) -> Any:
    if sparse.issparse(X):
        raise ValueError(
            "X is sparse, and uniform noise would fill it; pass X.toarray(), or use "
            "protocol='label-flip'"
        )
    is_frame = _pandas_type(X, "DataFrame")
    values = _numbers(X.to_numpy() if is_frame else X)
    _check_rows(values, n_samples)
    noise = _uniform_box(values, n_noise, rng)
    if is_frame:
        return _append_to_frame(X, noise)
    return np.concatenate([values, noise.astype(values.dtype)])


def _numbers(X: Any) -> np.ndarray:
    values = np.asarray(X)
    if values.ndim != 2:
        raise ValueError(
            f"X must have two dimensions, rows and features; its shape is {values.shape}"
        )
    if values.dtype.kind != "f":
        try:
            values = values.astype(np.float64)
        except (ValueError, TypeError) as error:
            raise ValueError(
                f"X must hold numbers only ({error}); encode the rest first"
            ) from error
    if not np.isfinite(values).all():
        raise ValueError("X holds nan or infinite values; fill them in or remove those rows")
    return values


def _check_rows(X: Any, n_samples: int) -> None:
    if not hasattr(X, "shape") and not hasattr(X, "__len__"):
        raise ValueError(f"X must hold rows, got {type(X).__name__}")
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if n_rows != n_samples:
        raise ValueError(f"X has {n_rows} rows and y {n_samples} labels; they must match")


def _uniform_box(values: np.ndarray, n_noise: int, rng: Any) -> np.ndarray:
    low = values.min(axis=0).astype(np.float64)
    high = values.max(axis=0).astype(np.float64)
    with np.errstate(over="ignore"):
        width = high - low
        low, width = low - width / 2, 2 * width
    if not np.isfinite(width).all():
        raise ValueError("X spans more than a float64 can hold; rescale it first")
    return low + rng.uniform(size=(n_noise, values.shape[1])) * width


def _pandas_type(value: Any, name: str) -> bool:
    """Whether `value` is a pandas object of this type, without importing pandas."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(value, getattr(pandas, name))


def _append_to_frame(frame: Any, noise: np.ndarray) -> Any:
    import pandas as pd

    rows = pd.DataFrame(noise, columns=frame.columns)
    columns = []
    for j, dtype in enumerate(frame.dtypes):
        kept = dtype if dtype.kind == "f" else np.dtype(np.float64)
        both = [frame.iloc[:, j].astype(kept), rows.iloc[:, j].astype(kept)]
        columns.append(pd.concat(both, ignore_index=True))
    return pd.concat(columns, axis=1)


def _like_series(labels: np.ndarray, y: Any, *, keep_index: bool) -> Any:
    if not _pandas_type(y, "Series"):
        return labels
    import pandas as pd

    return pd.Series(labels, dtype=y.dtype, name=y.name, index=y.index if keep_index else None)
