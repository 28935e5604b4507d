"""Rows that are larger than memory: how the estimators take and check them."""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite, check_consistent_length
from sklearn.utils.validation import validate_data

from bblr.designs import RowSource, Shards, StreamedDesign
from bblr.designs.stream.mapped import (
    BLOCK_BYTES,
    MappedRows,
    backing_map,
    float_type,
    holds_numbers,
)
from bblr.designs.stream.shards import known_shards

# A memory map of no more than this is used as the array it is.
_LEAST_BYTES = 2 * BLOCK_BYTES


def is_shards(X: Any) -> bool:
    """Whether X stands for a directory of shards."""
    return isinstance(X, str | os.PathLike | Shards)


def refuse_shards(estimator: Any, X: Any, why: str = "") -> None:
    """Raise a TypeError where X stands for shards but the estimator needs its rows in memory."""
    if is_shards(X):
        raise TypeError(
            f"X must be an array or a sparse matrix, got {X!r}: {type(estimator).__name__} "
            f"{why}needs all rows in memory. BBLRClassifier and BBLRClassifierCV read a directory "
            "of shards."
        )


def given_labels(X: Any, y: Any) -> Any:
    """Return labels as they are, or the column of the shards that they name."""
    if not isinstance(y, str):
        return y
    if not is_shards(X):
        raise ValueError(
            f"y must be an array of classes, got {y!r}: only a directory of Parquet files has "
            "columns to choose from."
        )
    return Shards(X.path if isinstance(X, Shards) else X, label=y).labels()


def open_rows(X: Any, label: str | None = None) -> RowSource | None:
    """Return the source of the rows of shards or of a large memory map, None of other data."""
    if isinstance(X, Shards):
        return X if label in (None, X.label) else Shards(X.path, label=label, columns=X.columns)
    if is_shards(X):
        return Shards(X, label=label)
    mapped = backing_map(X)
    if mapped is None or X.ndim != 2 or not holds_numbers(X.dtype):
        return None
    large = X.size * float_type(X.dtype).itemsize > _LEAST_BYTES
    return MappedRows(X) if large else None


def validate_streamed_training(estimator: Any, source: RowSource, y: Any) -> NDArray[Any]:
    """Check rows and labels as scikit-learn would, in one pass; return the labels."""
    if isinstance(y, str):
        if not isinstance(source, Shards):
            raise ValueError(
                f"y must be an array of classes, got {y!r}: only a directory of Parquet files "
                "has columns to choose from."
            )
        y = source.labels()
    # scikit-learn checks y, sets n_features_in_ and removes names of an earlier fit.
    validate_data(estimator, source, y, skip_check_array=True)
    y = validate_data(estimator, y=y, X="no_validation")
    check_consistent_length(source, y)
    names = getattr(source, "feature_names", None)
    if names is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)
    _checked(estimator, source).read()
    return np.asarray(y)


def open_known_rows(estimator: Any, X: Any) -> StreamedDesign | None:
    """Return the rows of shards or of a large memory map with the features of a fit, or None.

    They are checked as they are read. Columns of Parquet files are found by their names; others
    than those of the fit are left unread.
    """
    names = getattr(estimator, "feature_names_in_", None)
    if is_shards(X) and names is not None:
        X = known_shards(X.path if isinstance(X, Shards) else X, names.tolist())
    source = open_rows(X)
    if source is None:
        return None
    if names is None and getattr(source, "feature_names", None) is not None:
        warnings.warn(
            f"X has feature names, but {type(estimator).__name__} was fitted without feature "
            "names",
            stacklevel=3,
        )
    if names is None or getattr(source, "feature_names", None) is None:
        validate_data(estimator, source, skip_check_array=True, reset=False)
    return _checked(estimator, source)


def _checked(estimator: Any, source: RowSource) -> StreamedDesign:
    name = type(estimator).__name__

    def inspect(rows: slice, block: NDArray[Any]) -> None:
        try:
            assert_all_finite(block, estimator_name=name, input_name="X")
        except ValueError as error:
            where = f"among the rows {rows.start} to {rows.stop - 1}"
            raise ValueError(f"{error}\nFound {where} of X.") from None

    return StreamedDesign(source, inspect=inspect)
