"""What goes into a graph: one matrix of rows, or each column of a frame by its name."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline

from bblr._numeric.tensors import local

__all__ = ["initial_types"]


def initial_types(model: Any, X: Any) -> list[tuple[str, Any]]:
    """Return names and types of the inputs, as skl2onnx takes them, of a graph for rows as X."""
    if hasattr(X, "columns"):
        names = [str(name) for name in X.columns]
        _check_names(model, names)
        return [(name, _column_type(X, i, name)) for i, name in enumerate(names)]
    X = local(X)
    if not issparse(X):
        X = np.asarray(X)
    if X.ndim != 2:
        raise ValueError(
            f"X must have two dimensions, rows and columns, got an array of shape {X.shape}; of "
            "texts give initial_types."
        )
    _check_width(model, X.shape[1])
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType

    # skl2onnx has no name for other numbers; those of a scaler before us are doubles anyway.
    kind = FloatTensorType if X.dtype == np.float32 else DoubleTensorType
    return [("X", kind([None, X.shape[1]]))]


def _check_width(model: Any, width: int) -> None:
    known = getattr(model, "n_features_in_", width)
    if width != known:
        raise ValueError(f"X has {width} columns, the model knows {known}.")


def _check_names(model: Any, names: list[str]) -> None:
    """Refuse the columns that predict refuses: the graph only sees them side by side."""
    if len(set(names)) < len(names):
        raise ValueError(f"X must have a name of its own for each column, got {names}.")
    first = model
    while isinstance(first, Pipeline):
        first = first.steps[0][1]
    if isinstance(first, ColumnTransformer):  # takes its columns by name, wherever they are
        return
    _check_width(model, len(names))
    known = list(getattr(model, "feature_names_in_", names))
    if names != known:
        raise ValueError(f"X has the columns {names}, the model knows {known}, in this order.")


def _column_type(X: Any, i: int, name: str) -> Any:
    from skl2onnx.common.data_types import StringTensorType, guess_data_type

    values = _first(X, i)
    if values.dtype.kind in "fiub":
        return guess_data_type(values.reshape(-1, 1), None)[0][1].__class__([None, 1])
    # Also texts of Arrow and categories, for which skl2onnx has no name.
    if values.dtype.kind in "OUT" and all(isinstance(v, str) for v in values.tolist()):
        return StringTensorType([None, 1])
    raise ValueError(
        f"X must have columns of numbers or of texts, got {values.tolist()} in {name!r}; give "
        "initial_types if it is never used or its first value is missing."
    )


def _first(X: Any, i: int) -> NDArray[Any]:
    """Return the first value of a column of pandas or polars."""
    column = X.iloc[:1, i] if hasattr(X, "iloc") else X[:1, X.columns[i] : X.columns[i]]
    return np.asarray(column.to_numpy()).ravel()
