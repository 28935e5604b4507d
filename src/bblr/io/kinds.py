"""Kinds of values: what a model file may hold in each place.

A kind is a type hint (``float``, ``list[Stage]``, ``Scaling | None``) or a function that is asked
about a value. Such functions also compare lengths: a letter in a shape stands for one length in
all attributes of an estimator, and the first of them says which.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from types import FunctionType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

import numpy as np
from scipy.sparse import issparse

__all__ = ["Kind", "Sizes", "array", "fits", "fitted", "labels", "link_to", "n_features", "names"]

Sizes = dict[str, int]
Kind = Callable[[Any, Sizes], bool]


def array(shape: str, *dtypes: str, sparse: bool = False) -> Kind:
    """Return the kind of finite numbers in an array, float64 unless told otherwise.

    Parameters
    ----------
    shape : str
        A letter for each length.
    *dtypes : str
        What the numbers may be.
    sparse : bool, default=False
        Whether CSR rows will do as well.
    """

    def is_array(value: Any, sizes: Sizes) -> bool:
        full = isinstance(value, np.ndarray)
        if not full and not (sparse and issparse(value)):
            return False
        return (
            value.dtype.name in (dtypes or ("float64",))
            and value.ndim == len(shape)
            and all(
                sizes.setdefault(letter, length) == length
                for letter, length in zip(shape, value.shape, strict=True)
            )
            and bool(np.isfinite(value if full else value.data).all())
        )

    return is_array


def n_features(value: Any, sizes: Sizes) -> bool:
    """Return whether a value is a number of features, "d"."""
    return fits(value, int, sizes) and value > 0 and sizes.setdefault("d", value) == value


def labels(value: Any, sizes: Sizes) -> bool:
    """Return whether a value holds classes in rising order, "c" of them with "k" scores."""
    if not isinstance(value, np.ndarray) or value.ndim != 1 or len(value) < 2:
        return False
    sizes["c"] = len(value)
    sizes["k"] = 1 if len(value) == 2 else len(value)
    finite = value.dtype.kind != "f" or np.isfinite(value).all()
    return bool(finite and np.all(value[1:] > value[:-1]))


def names(value: Any, sizes: Sizes) -> bool:
    """Return whether a value holds a name for each feature."""
    return isinstance(value, np.ndarray) and value.dtype == object and len(value) == sizes["d"]


def fitted(value: Any, sizes: Sizes) -> bool:
    """Return whether a value is a classifier fitted to as many features."""
    return hasattr(value, "classes_") and value.n_features_in_ == sizes["d"]


def link_to(kind: Any) -> Kind:
    """Return the kind of links that make probabilities of the scores; scores of 0 are tried."""

    def is_link(value: Any, sizes: Sizes) -> bool:
        scores = np.zeros(1 if sizes["c"] == 2 else (1, sizes["c"]))
        right = isinstance(value, kind) and value.plateaus.n_classes == sizes["c"]
        found = value.probability(scores) if right else np.zeros(0)
        return found.shape == scores.shape and bool(np.all((found >= 0) & (found <= 1)))

    return is_link


def fits(value: Any, kind: Any, sizes: Sizes) -> bool:
    """Return whether a value is of a kind; new lengths are put into `sizes`."""
    if isinstance(kind, FunctionType):
        return kind(value, sizes)
    origin, parts = get_origin(kind), get_args(kind)
    if hasattr(origin, "__value__"):  # what NDArray stands for, from NumPy 2.5 on
        return fits(value, origin.__value__[parts], sizes)
    if origin in (Union, UnionType):
        return any(fits(value, part, sizes) for part in parts)
    if origin is Literal:
        return isinstance(value, str) and value in parts
    if origin is np.ndarray:
        return array("n", np.dtype(get_args(parts[1])[0]).name)(value, {})
    if origin is dict:
        return type(value) is dict and all(
            fits(key, parts[0], sizes) and fits(each, parts[1], sizes)
            for key, each in value.items()
        )
    if origin in (list, tuple):
        if type(value) is not origin:
            return False
        if origin is list or parts[-1] is Ellipsis:
            parts = (parts[0],) * len(value)
        return len(value) == len(parts) and all(
            fits(each, part, sizes) for each, part in zip(value, parts, strict=True)
        )
    if kind in (float, int):
        number = Real if kind is float else Integral
        return isinstance(value, number) and not isinstance(value, bool)
    # Of other hints, such as that of a callable, nothing in a file is.
    return kind is Any or (origin is None and isinstance(value, kind))
