"""Pieces of rows, labels and weights for the workers of a cluster, and their validation."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array
from sklearn.utils.validation import (
    _check_feature_names,
    _check_n_features,
    assert_all_finite,
    column_or_1d,
)

from bblr._numeric.arrays import plain_labels
from bblr.designs.dense import surely_finite
from bblr.inputs.in_memory import check_indices
from bblr.inputs.labels import naming_labels, refuse_missing, refuse_negative


def resolve_client(client: Any) -> Any:
    """Return the client for a ``client`` parameter, or raise an error that says what is wrong."""
    from distributed import Client, get_client, get_worker

    try:
        get_worker()
    except ValueError:
        pass
    else:
        raise RuntimeError(
            "a fit on the cluster was asked for inside a Dask task, where it would wait for the "
            "thread it occupies. Call fit from outside, or fit the local estimator in the task."
        )
    if client is None:
        try:
            client = get_client()
        except ValueError:
            raise RuntimeError(
                "client is None and there is no Dask client to be found: make one, for instance "
                "distributed.Client(), or pass it as client."
            ) from None
    if not isinstance(client, Client):
        raise TypeError(f"client must be a distributed.Client or None, got {client!r}.")
    if client.asynchronous:
        raise TypeError(
            "client is asynchronous, and fit waits for its answers: pass a client that is not, "
            "for instance distributed.Client(address)."
        )
    if client.status != "running":
        raise ConnectionError(
            f"client is not connected to a scheduler: its status is {client.status!r}. Make a new "
            "one."
        )
    return client


def is_dask(X: Any) -> bool:
    """Whether X is a Dask array, dataframe or series."""
    from dask.base import is_dask_collection

    return bool(is_dask_collection(X))


def make_pieces(
    estimator: Any, X: Any, y: Any, sample_weight: Any
) -> tuple[list[Any], Any, list[Any]]:
    """Return what to load for each partition, how to check it, and which rows are loaded."""
    from dask.delayed import delayed
    from distributed.client import futures_of

    X = checked_collection(estimator, X, reset=True)
    blocks = _blocks(X, "X")
    columns = []
    for name, values in (("y", y), ("sample_weight", sample_weight)):
        columns.append(_aligned(X, values, len(blocks), name))
    piece = delayed(_piece, pure=False)
    pieces = [
        piece(block, *(None if column is None else column[k] for column in columns))
        for k, block in enumerate(blocks)
    ]
    known = {future.key: future for future in futures_of([X, y, sample_weight])}
    held = [known.get(block.key) for block in blocks] if known else []
    return pieces, partial(check_piece, dtype=_float_type(X).str), held


def _piece(X: Any, y: Any, weight: Any) -> tuple[Any, Any, Any]:
    return X, y, weight


def checked_collection(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Return a Dask array with all columns in one chunk, or a dataframe of numbers."""
    # Every attribute of a delayed value exists, as another delayed value.
    if not is_dask(X) or not isinstance(getattr(X, "ndim", None), int) or X.ndim != 2:
        raise TypeError(
            "X must be a Dask array of two dimensions or a Dask dataframe, got "
            f"{type(X).__name__}. For data in memory use bblr."
            f"{type(estimator).__name__.removeprefix('Dask')}, or dask.array.from_array."
        )
    if hasattr(X, "columns"):
        kinds = {str(c): kind for c, kind in X.dtypes.items()}
        wrong = [f"{c} ({k})" for c, k in kinds.items() if getattr(k, "kind", "O") not in "biuf"]
        if wrong:
            raise ValueError(
                f"X must have columns of numbers, but there is {', '.join(wrong[:5])}. Encode "
                "such columns, for instance by dask.dataframe.get_dummies, or leave them out."
            )
        _check_feature_names(estimator, X._meta, reset=reset)
        _check_n_features(estimator, X._meta, reset=reset)
        return X
    if X.dtype.kind not in "biufO":
        raise ValueError(f"X must hold real numbers, got {X.dtype}.")
    if np.isnan(X.shape[1]):
        raise ValueError(
            "X must have a known number of columns: call X.compute_chunk_sizes() before."
        )
    if X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    empty = np.empty((0, X.shape[1]))
    _check_feature_names(estimator, empty, reset=reset)
    _check_n_features(estimator, empty, reset=reset)
    return X


def _float_type(X: Any) -> np.dtype[Any]:
    kinds = list(X.dtypes) if hasattr(X, "columns") else [X.dtype]
    narrow = all(getattr(kind, "name", "") == "float32" for kind in kinds)
    return np.dtype(np.float32 if narrow else np.float64)


def _blocks(values: Any, name: str) -> list[Any]:
    delayed = values.to_delayed()
    blocks = list(np.ravel(delayed)) if isinstance(delayed, np.ndarray) else list(delayed)
    if not blocks:
        raise ValueError(f"{name} has no partitions.")
    return blocks


def _aligned(X: Any, values: Any, n: int, name: str) -> list[Any] | None:
    """Return the blocks of labels or weights; None where they are not on the cluster."""
    if values is None or not is_dask(values):
        return None
    chunks, own = getattr(X, "chunks", None), getattr(values, "chunks", None)
    if chunks and own and own[0] != chunks[0]:
        lengths = np.array([sum(chunks[0]), sum(own[0])], dtype=float)
        if np.isfinite(lengths).all():
            if lengths[0] != lengths[1]:
                raise ValueError(
                    f"{name} must have a number for each of the {int(lengths[0])} rows of X, got "
                    f"{int(lengths[1])}."
                )
            values = values.rechunk({0: chunks[0]})
    blocks = _blocks(values, name)
    if len(blocks) != n:
        raise ValueError(
            f"{name} must be partitioned as X is: X has {n} partitions, {name} has "
            f"{len(blocks)}. Repartition one of them, or hand in {name} as a NumPy array."
        )
    return blocks


def check_piece(X: Any, y: Any, weight: Any, dtype: str) -> tuple[Any, Any, Any]:
    """Validate the rows, labels and weights of a partition, on its worker."""
    check_indices(X)
    if X.shape[0]:
        # A sum that is not finite makes scikit-learn look closer; it need not warn as well.
        with np.errstate(over="ignore", invalid="ignore"):
            X = check_array(
                X, accept_sparse=["csr", "csc"], dtype=np.dtype(dtype), input_name="X",
                accept_large_sparse=True, ensure_all_finite=not surely_finite(X),
            )  # fmt: skip
    else:
        X = np.empty((0, X.shape[1]))
    return X, row_values(y, X.shape[0], "y"), row_values(weight, X.shape[0], "sample_weight")


def row_values(values: Any, n: int, name: str) -> NDArray[Any] | None:
    """Validate labels or weights of all rows, or of those of a partition."""
    if values is None:
        return None
    if name == "y":
        values = plain_labels(values)
    values = column_or_1d(np.asarray(values), warn=True)
    if len(values) != n:
        raise ValueError(
            f"{name} must have a number for each row of X: X has {n} rows, {name} has "
            f"{len(values)}."
        )
    if name == "sample_weight":
        values = np.asarray(values, dtype=np.float64)
    with naming_labels():
        assert_all_finite(values, input_name=name)
    if name == "sample_weight":
        refuse_negative(values)
    if values.dtype.kind == "O":
        refuse_missing(values)
    return values
