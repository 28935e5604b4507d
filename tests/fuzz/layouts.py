"""The same numbers in every form in which somebody may hand them over."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

Floats = NDArray[np.float64]

# These hold the numbers as they are: fits must agree with that of plain rows.
SAME = (
    "rows", "columns", "backwards", "strided", "read_only", "object", "list", "big_endian",
    "frame", "frame_int_names", "memory_map_like", "matrix_view", "subclass",
    "csr", "csc", "coo", "lil", "dok", "bsr", "dia", "csr_array", "csr_unsorted",
    "csr_duplicates", "csr_long", "csr_zeros", "csr_read_only", "csc_long", "csc_unsorted",
)  # fmt: skip
SPARSE = tuple(name for name in SAME if name.startswith(("cs", "coo", "lil", "do", "bs", "di")))
# These round them, or put others in their place.
ROUNDED = ("float32", "float16", "longdouble", "int64", "int8", "bool", "csr_float32", "uint64")
# Tensors of torch, for the family that is about them: to load torch takes seconds.
TENSORS = ("tensor", "tensor_columns", "tensor_strided", "tensor_all", "tensor_float32",
           "tensor_int64")  # fmt: skip
ODD_TENSORS = ("tensor_grad", "tensor_half", "tensor_bool")
WRONG_TENSORS = ("tensor_flat", "tensor_sparse", "tensor_complex")
# What comes of these is a question of taste; a clear refusal will do.
ODD = (
    "frame_same_names", "frame_nullable", "frame_bools", "frame_categories", "masked",
    "csr_int", "csr_bool", "csr_float16", "csr_longdouble", "frame_multi_index", "polars",
    "object_decimals", "frame_empty_name", "dates",
)  # fmt: skip
WRONG = (
    "flat", "cube", "text", "frame_text", "frame_mixed_names", "complex", "ragged", "none",
    "string", "scalar", "dict", "csr_broken", "csr_complex", "set",
)  # fmt: skip


def rounded(layout: str, table: Floats) -> Floats:
    """Return the numbers that are left when a layout has rounded them."""
    with np.errstate(all="ignore"):
        if layout in ("float32", "csr_float32", "tensor_float32"):
            return _clipped(table, 3e38).astype(np.float32).astype(np.float64)
        if layout in ("float16", "csr_float16", "tensor_half"):
            return _clipped(table, 6e4).astype(np.float16).astype(np.float64)
        if layout in ("int64", "csr_int", "frame_nullable", "tensor_int64"):
            return np.round(np.clip(np.nan_to_num(table), -1e15, 1e15))
        if layout == "uint64":
            return np.round(np.clip(np.nan_to_num(np.abs(table)), 0, 1e15))
        if layout == "int8":
            return np.round(np.clip(np.nan_to_num(table), -128, 127))
        if layout in ("bool", "csr_bool", "frame_bools", "tensor_bool"):
            return (table > 0).astype(np.float64)
    return table


def _clipped(table: Floats, most: float) -> Floats:
    return np.where(np.isinf(table), table, np.clip(table, -most, most))


def laid_out(layout: str, table: Floats, rng: np.random.Generator) -> Any:
    """Return the numbers in a layout."""
    if layout.startswith(("csr", "csc")) or layout in ("coo", "lil", "dok", "bsr", "dia"):
        return _sparse(layout, table, rng)
    if layout.startswith("frame") or layout == "polars":
        return _frame(layout, table)
    if layout.startswith("tensor"):
        return _tensor(layout, table)
    n, d = table.shape
    made: dict[str, Callable[[], Any]] = {
        "rows": lambda: np.ascontiguousarray(table),
        "columns": lambda: np.asfortranarray(table),
        "backwards": lambda: np.ascontiguousarray(table[::-1, ::-1])[::-1, ::-1],
        "strided": lambda: np.repeat(np.repeat(table, 2, axis=0), 3, axis=1)[::2, ::3],
        "read_only": lambda: _read_only(table.copy()),
        "object": lambda: table.astype(object),
        "list": lambda: table.tolist(),
        "big_endian": lambda: table.astype(">f8"),
        "memory_map_like": lambda: _read_only(np.frombuffer(table.tobytes()).reshape(n, d)),
        "matrix_view": lambda: np.broadcast_to(table, (1, n, d))[0],
        "subclass": lambda: table.view(_Subclass),
        "float32": lambda: table.astype(np.float32),
        "float16": lambda: table.astype(np.float16),
        "longdouble": lambda: table.astype(np.longdouble),
        "int64": lambda: table.astype(np.int64),
        "uint64": lambda: table.astype(np.uint64),
        "int8": lambda: table.astype(np.int8),
        "bool": lambda: table.astype(bool),
        "masked": lambda: np.ma.masked_array(table, mask=np.zeros(table.shape, dtype=bool)),
        "object_decimals": lambda: _decimals(table),
        "flat": lambda: table.ravel(),
        "cube": lambda: table[:, :, None],
        "text": lambda: np.full(table.shape, "word"),
        "complex": lambda: table + 1j,
        "ragged": lambda: [[*row, *[0.0] * (k % 2)] for k, row in enumerate(table)],
        "none": lambda: None,
        "string": lambda: "no such folder",
        "scalar": lambda: 3.0,
        "dict": lambda: {"a": table},
        "dates": lambda: np.zeros(table.shape, dtype="datetime64[D]"),
        "set": lambda: {1.0, 2.0},
    }
    return made[layout]()


def beside(layout: str, values: Any) -> Any:
    """Return labels or weights as they are handed over with rows of this layout."""
    array = values if isinstance(values, np.ndarray) else None
    # Torch has no text, and no unsigned numbers worth the name.
    if layout != "tensor_all" or array is None or array.dtype.kind not in "bif":
        return values
    import torch

    return torch.as_tensor(np.ascontiguousarray(array))


def contents(X: Any) -> tuple[Any, ...]:
    """Return all that X holds, by which a change would show."""
    if X is None or isinstance(X, str | float | set | dict):
        return (repr(X),)
    if isinstance(X, list):
        return (pickle.dumps(X),)
    if sparse.issparse(X):
        parts = ("data", "indices", "indptr", "row", "col", "offsets", "rows")
        own = [getattr(X, part) for part in parts if hasattr(X, part)]
        return (X.shape, *(contents(part) for part in own)) if own else (dict(X.items()),)
    if hasattr(X, "detach"):
        X = X.detach().to_dense() if X.layout != _torch().strided else X.detach()
        return (str(X.dtype), X.numpy().tobytes())
    names = [str(name) for name in getattr(X, "columns", ())]
    array = np.asarray(X)
    whole = pickle.dumps(array.tolist()) if array.dtype.hasobject else array.tobytes()
    return (names, array.dtype, array.shape, whole)


class _Subclass(np.ndarray):
    """An array of somebody's own."""


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array


def _decimals(table: Floats) -> NDArray[Any]:
    from decimal import Decimal

    out = np.empty(table.shape, dtype=object)
    for place, value in np.ndenumerate(table):
        out[place] = Decimal(float(value))
    return out


def _frame(layout: str, table: Floats) -> Any:
    d = table.shape[1]
    names: list[Any] = [f"column {j}" for j in range(d)]
    if layout == "polars":
        import polars

        return polars.DataFrame({name: table[:, j] for j, name in enumerate(names)})
    if layout == "frame_int_names":
        names = list(range(d))
    elif layout == "frame_mixed_names":
        names = [j if j % 2 else f"column {j}" for j in range(d)]
        if d < 2:
            return {"a": table}
    elif layout == "frame_same_names":
        names = ["twice"] * d
    elif layout == "frame_empty_name":
        names = ["", *names[1:]][:d]
    index = np.arange(len(table))[::-1]
    frame = pd.DataFrame(table, columns=names, index=index)
    if layout == "frame_multi_index" and d:
        frame.columns = pd.MultiIndex.from_tuples([("a", j) for j in range(d)])
    if layout == "frame_nullable":
        frame = frame.astype("int64").astype("Int64")
    if layout == "frame_bools":
        frame = frame.astype(bool)
    if layout in ("frame_categories", "frame_text") and d:
        words = pd.Series(["x", "y"] * len(table), dtype=str)[: len(table)].to_numpy()
        frame[names[0]] = pd.Categorical(words) if layout == "frame_categories" else words
    return frame


def _torch() -> Any:
    import torch

    return torch


def _tensor(layout: str, table: Floats) -> Any:
    torch = _torch()
    X = torch.as_tensor(np.ascontiguousarray(table).copy())
    made: dict[str, Callable[[], Any]] = {
        "tensor": lambda: X, "tensor_all": lambda: X,
        "tensor_columns": lambda: X.T.contiguous().T,
        "tensor_strided": lambda: X.repeat_interleave(2, dim=0)[::2],
        "tensor_float32": lambda: X.to(torch.float32), "tensor_int64": lambda: X.to(torch.int64),
        "tensor_half": lambda: X.to(torch.float16), "tensor_bool": lambda: X.to(torch.bool),
        "tensor_grad": lambda: X.requires_grad_(), "tensor_flat": lambda: X.ravel(),
        "tensor_sparse": lambda: X.to_sparse(), "tensor_complex": lambda: X + 1j,
    }  # fmt: skip
    return made[layout]()


def _sparse(layout: str, table: Floats, rng: np.random.Generator) -> Any:
    X = sparse.csr_matrix(table)
    if layout in ("csr", "csc", "coo", "lil", "dok", "bsr", "dia"):
        return X.asformat(layout)
    if layout == "csr_array":
        return sparse.csr_array(table)
    if layout in ("csr_long", "csc_long"):
        X = X.asformat(layout[:3])
        X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
        return X
    if layout in ("csr_unsorted", "csc_unsorted"):
        return _shuffled(X.asformat(layout[:3]), rng)
    if layout == "csr_duplicates":
        return _duplicated(X)
    if layout == "csr_zeros":
        X = sparse.csr_matrix(np.where(table == 0.0, 7.0, table))
        X.data[X.data == 7.0] = 0.0
        return X if (table != 7.0).all() else sparse.csr_matrix(table)
    if layout == "csr_read_only":
        for part in (X.data, X.indices, X.indptr):
            part.flags.writeable = False
        return X
    if layout == "csr_broken":
        if not X.nnz:  # where no entries are, none can be out of place
            X = sparse.csr_matrix(np.ones_like(table))
        X.indices = X.indices + 1000
        return X
    kinds = {
        "csr_float32": np.float32, "csr_float16": np.float16, "csr_longdouble": np.longdouble,
        "csr_int": np.int64, "csr_bool": bool, "csr_complex": complex,
    }  # fmt: skip
    if layout == "csr_float16":  # scipy has no such products; only the storage is asked for
        return sparse.csr_matrix((X.data.astype(np.float32), X.indices, X.indptr), X.shape)
    return X.astype(kinds[layout])


def _shuffled(X: Any, rng: np.random.Generator) -> Any:
    for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        order = a + rng.permutation(b - a)
        X.indices[a:b], X.data[a:b] = X.indices[order], X.data[order]
    X.has_sorted_indices = False
    return X


def _duplicated(X: Any) -> Any:
    """Each entry twice, with half of its value: by definition they are added."""
    counts = 2 * np.diff(X.indptr)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    halves = np.repeat(X.data * 0.5, 2)
    return sparse.csr_matrix((halves, np.repeat(X.indices, 2), indptr), X.shape)
