"""Models as trees of JSON and lists of arrays, and back.

JSON's own types stand for themselves. Everything else is an object with one key that says what it
is, such as ``{"array": 3}``, or a registered type with its parameters and fitted attributes.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import BaseEstimator

from bblr._saved import VERSION, check_csr
from bblr.io.kinds import Sizes, fits
from bblr.io.registry import PARAMS, TYPES

__all__ = ["NUMBERS", "from_tree", "to_tree"]

# Kinds of NumPy's types that arrays in a file may have: bool, whole numbers and floats.
NUMBERS = "biuf"
_CSR = {kind.__name__: kind for kind in (csr_array, csr_matrix)}
# Some numbers have one hash, such as -1 and -2.
_MOST_ALIKE = 8
# What scikit-learn and bblr add to the state of an estimator.
_STAMPS = {VERSION, "_sklearn_version"}


def to_tree(value: Any, arrays: list[NDArray[Any]]) -> Any:
    """Return the tree of a value; its arrays are put at the end of the list.

    Raises
    ------
    TypeError
        If the value holds what is neither data nor a registered type.
    """
    kind = type(value)
    if value is None or kind in (bool, int) or (kind is float and isfinite(value)):
        return value
    if isinstance(value, str):
        return str(value)
    if kind is float:
        return {"float": repr(value)}
    if kind is list:
        return [to_tree(each, arrays) for each in value]
    if kind is tuple:
        return {"tuple": [to_tree(each, arrays) for each in value]}
    if kind is dict:
        return {"dict": [[to_tree(k, arrays), to_tree(v, arrays)] for k, v in value.items()]}
    if isinstance(value, np.generic) and value.dtype.kind in NUMBERS:
        return {"scalar": _put(np.asarray(value), arrays)}
    if kind is np.ndarray and value.dtype.kind in NUMBERS:
        return {"array": _put(value, arrays)}
    if kind is np.ndarray and value.ndim == 1 and all(isinstance(each, str) for each in value):
        return {"objects" if value.dtype == object else "texts": value.tolist()}
    if kind in _CSR.values():
        parts = (value.data, value.indices, value.indptr)
        return {kind.__name__: [list(value.shape), *(_put(part, arrays) for part in parts)]}
    return _object_tree(value, arrays)


def _put(array: NDArray[Any], arrays: list[NDArray[Any]]) -> int:
    arrays.append(array)
    return len(arrays) - 1


def _object_tree(value: Any, arrays: list[NDArray[Any]]) -> Any:
    name = type(value).__name__
    entry = TYPES.get(name)
    if entry is None or entry.cls is not type(value):
        raise TypeError(f"it holds an object of type {name}")
    if not isinstance(value, BaseEstimator):
        params = {each: to_tree(getattr(value, each), arrays) for each in entry.params}
        return {"type": name, "params": params}
    state = {k: v for k, v in value.__getstate__().items() if k not in _STAMPS}
    # Those of a cluster hold parameters of the local ones, too, which do not apply to them.
    foreign = state.keys() - entry.params.keys() - entry.attributes.keys() - PARAMS.keys()
    if foreign:
        raise TypeError(f"{name} has {min(foreign)}, which training does not set")
    parts = {}
    for part, kinds in (("params", entry.params), ("fitted", entry.attributes)):
        parts[part] = {each: _part_tree(state, each, arrays) for each in kinds if each in state}
    return {"type": name, **parts}


def _part_tree(state: dict[str, Any], name: str, arrays: list[NDArray[Any]]) -> Any:
    try:
        return to_tree(state[name], arrays)
    except TypeError as error:
        raise TypeError(f"{name}: {error}") from error


def from_tree(tree: Any, take: Callable[[int], NDArray[Any]]) -> Any:
    """Return the value of a tree.

    Parameters
    ----------
    tree : dict, list, str, int, float, bool or None
        What `to_tree` returned, or what a forger wrote.
    take : callable
        Returns the array with a given number; each may be taken only once.

    Raises
    ------
    ValueError
        If it is not the tree of a value that training could have made.
    """
    if isinstance(tree, str):
        tree.encode()  # half a character cannot be written anywhere
        return tree
    if isinstance(tree, list):
        return [from_tree(each, take) for each in tree]
    if not isinstance(tree, dict):
        return tree
    if "type" in tree:
        return _object(tree, take)
    ((kind, content),) = tree.items()
    match kind, content:
        case "float", "nan" | "inf" | "-inf":
            return float(content)
        case "tuple", list():
            return tuple(from_tree(content, take))
        case "dict", list():
            return _dict(from_tree(content, take))
        case "array", int():
            return take(content)
        case "scalar", int():
            return take(content)[()]
        case "texts" | "objects", list() if all(isinstance(each, str) for each in content):
            return np.array(from_tree(content, take), dtype=str if kind == "texts" else object)
        case "csr_array" | "csr_matrix", [[int(n), int(d)], *parts]:
            data, columns, pointers = map(take, parts)
            if {columns.dtype.name, pointers.dtype.name} <= {"int32", "int64"}:
                rows = _CSR[kind]((data, columns, pointers), shape=(n, d))
                check_csr(rows)
                return rows
    raise ValueError(f"{kind!r} stands for nothing that a model holds")


def _dict(pairs: list[tuple[Any, Any]]) -> dict[Any, Any]:
    """Return a dictionary; numbers chosen to have one hash would take hours to put into it."""
    if len({hash(key) for key, _ in pairs}) < len(pairs) - _MOST_ALIKE:
        raise ValueError("the keys of a dictionary have one hash")
    return dict(pairs)


def _object(tree: dict[str, Any], take: Callable[[int], NDArray[Any]]) -> Any:
    name = tree["type"]
    entry = TYPES.get(name) if isinstance(name, str) else None
    if entry is None:
        raise ValueError(f"{name!r} is not a type that a model holds")
    if not tree.keys() <= {"type", "params", "fitted"}:
        raise ValueError(f"a {name} holds more than parameters and fitted attributes")
    sizes: Sizes = {}
    value = entry.cls(**_parts(name, tree["params"], entry.params, sizes, take))
    fitted = _parts(name, tree.get("fitted", {}), entry.attributes, sizes, take)
    if fitted:
        missing = set(entry.required.split()) - fitted.keys()
        if missing:
            raise ValueError(f"{name} has no {min(missing)}")
        vars(value).update(fitted)
    if (fitted or not entry.required) and not entry.sound(value):
        raise ValueError(f"the parts of {name} contradict each other")
    return value


def _parts(
    name: str,
    parts: dict[str, Any],
    kinds: dict[str, Any],
    sizes: Sizes,
    take: Callable[[int], NDArray[Any]],
) -> dict[str, Any]:
    foreign = parts.keys() - kinds.keys()
    if foreign:
        raise ValueError(f"{name} has no {min(foreign)!r}")
    # In the order of the table: lengths are noted by the first that has them.
    values = {part: from_tree(parts[part], take) for part in kinds if part in parts}
    for part, value in values.items():
        if not fits(value, kinds[part], sizes):
            raise ValueError(f"{part} of {name} is not what training makes it")
    return values
