"""Groups of candidates whose decisions depend on each other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from bblr._checks import LARGEST

__all__ = ["Group", "Network", "join"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Group:
    """Candidates that are decided together: the faces of a page, the matches of a record.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_members, n_features)
        Local features, one row per candidate. A group may be empty.
    containers : array-like of shape (n_members,), default=None
        The container (image, source) of each candidate, numbers or text; a container holds at
        most one target, as a soft or a hard constraint. All candidates share one when None.
    pairs : array-like of shape (n_pairs, 2), default=None
        Pairs of candidates that were compared, as row indices of `X`.
    similarities : array-like of shape (n_pairs,), default=None
        Similarity of the two candidates of each pair; NaN where unknown, which has no influence.
    labels : array-like of shape (n_members,), default=None
        1 for a target and 0 for the rest, where they are known.
    candidates : array-like of shape (n_members,), default=None
        Identifier of each candidate, number or text, the same in all groups it belongs to. Only
        needed with ``one_to_one=True``.

    Attributes
    ----------
    numbers : ndarray of shape (n_members,)
        The containers, numbered from 0.

    Raises
    ------
    ValueError
        If lengths differ, if a pair names a row that does not exist, one row twice or the same
        two rows as another pair, if a similarity is infinite, or if a label is not 0 or 1.

    Examples
    --------
    >>> from bblr.structured import Group
    >>> page = Group(
    ...     X=[[0.2, 1.0], [0.9, 0.0], [0.4, 1.0]],
    ...     containers=["portrait", "crowd", "crowd"],
    ...     pairs=[[0, 1], [0, 2]],
    ...     similarities=[0.3, 0.8],
    ... )
    >>> len(page), page.pairs.tolist()
    (3, [[0, 1], [0, 2]])
    """

    X: Any
    containers: Any = None
    pairs: Any = None
    similarities: Any = None
    labels: Any = None
    candidates: Any = None
    numbers: Integers = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Check everything and keep it as arrays."""
        X = _features(self.X)
        n = X.shape[0]
        pairs, similarities = _compared(self.pairs, self.similarities, n)
        values = {
            "X": X,
            "containers": _names("containers", self.containers, n),
            "pairs": pairs,
            "similarities": similarities,
            "labels": None if self.labels is None else check_labels(self.labels, n),
            "candidates": _names("candidates", self.candidates, n),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        # Once, here: numbering the containers takes longer than inference.
        object.__setattr__(self, "numbers", _numbered(self.containers, n))

    def __len__(self) -> int:
        """Return the number of candidates."""
        return int(self.X.shape[0])

    def with_labels(self, labels: Any) -> Group:
        """Return the same group with these labels, or without any when None.

        Parameters
        ----------
        labels : array-like of shape (n_members,) or None
            1 for a target and 0 for the rest.

        Returns
        -------
        Group
            A new group.

        Examples
        --------
        >>> from bblr.structured import Group
        >>> Group([[0.1], [0.7]]).with_labels([0, 1]).labels.tolist()
        [0, 1]
        """
        return Group(
            self.X, self.containers, self.pairs, self.similarities, labels, self.candidates
        )


def _features(X: Any) -> Any:
    is_sparse: bool = sp.issparse(X)
    if is_sparse:
        return X.tocsr()
    features = np.asarray(X)
    if features.ndim == 1 and features.size == 0:
        features = features.reshape(0, 0)
    if features.ndim != 2:
        raise ValueError(
            f"X must hold a row of features for each candidate, got an array of shape "
            f"{features.shape}; a single candidate is one row: [[...]]."
        )
    return features


def _compared(pairs: Any, similarities: Any, n: int) -> tuple[Integers, Floats]:
    if pairs is None and similarities is None:
        return np.empty((0, 2), dtype=np.int64), np.empty(0)
    if pairs is None or similarities is None:
        missing = "pairs" if pairs is None else "similarities"
        raise ValueError(f"{missing} is missing: give a similarity for each pair, or neither.")
    index, values = np.asarray(pairs), np.asarray(similarities, dtype=np.float64)
    if index.size == 0:
        index = np.empty((0, 2), dtype=np.int64)
    if index.ndim != 2 or index.shape[1] != 2 or not np.issubdtype(index.dtype, np.integer):
        raise ValueError(
            f"pairs must hold two row numbers for each pair, got an array of shape {index.shape} "
            f"and type {index.dtype}."
        )
    _check_length("similarities", "number", values, len(index), "pairs")
    index = index.astype(np.int64)
    if len(index):
        _check_pairs(index, values, n)
    return index, values


def _check_pairs(index: Any, values: Floats, n: int) -> None:
    low, high = index.min(axis=1), index.max(axis=1)
    if low.min() < 0 or high.max() >= n:
        raise ValueError(
            f"pairs must name rows between 0 and {n - 1}, got {int(low.min())} to "
            f"{int(high.max())}."
        )
    if (low == high).any():
        row = int(low[low == high][0])
        raise ValueError(f"pairs compare row {row} with itself; remove such pairs.")
    codes = np.sort(low * n + high)
    twice = codes[1:][codes[1:] == codes[:-1]]
    if len(twice):
        a, b = divmod(int(twice[0]), n)
        raise ValueError(
            f"pairs hold rows {a} and {b} more than once (the order within a pair does not "
            "count); give one similarity for them, such as the mean."
        )
    if np.isinf(values).any():
        raise ValueError("similarities must be finite, or NaN where unknown; got an infinite one.")
    if (np.abs(values) > LARGEST).any():
        raise ValueError(
            f"similarities must be at most {LARGEST:g} in size; divide them by a constant."
        )


def _check_length(name: str, one: str, values: NDArray[Any], n: int, of: str) -> None:
    if values.shape != (n,):
        raise ValueError(
            f"{name} must hold one {one} for each of the {n} {of}, got an array of shape "
            f"{values.shape}."
        )


def _names(what: str, names: Any, n: int) -> NDArray[Any] | None:
    if names is None:
        return None
    found = np.asarray(names)
    _check_length(what, "name", found, n, "candidates")
    if any(name is None or name != name for name in found.tolist()):
        raise ValueError(f"{what} must not be missing (NaN or None); give one for each candidate.")
    return found


def _numbered(names: NDArray[Any] | None, n: int) -> Integers:
    return np.zeros(n, dtype=np.int64) if names is None else number([names])


def number(names: Sequence[NDArray[Any]]) -> Integers:
    """Return a number for each name, the same for equal names.

    Names are compared as Python objects: conversion to one array type would make different names
    equal.
    """
    known: dict[Any, int] = {}
    found = [known.setdefault(name, len(known)) for part in names for name in part.tolist()]
    return np.array(found, dtype=np.int64)


def check_labels(labels: Any, n: int) -> Integers:
    """Return labels as an array of 0 and 1."""
    found = np.asarray(labels)
    _check_length("labels", "label", found, n, "candidates")
    if found.dtype.kind not in "biuf" or not ((found == 0) | (found == 1)).all():
        raise ValueError("labels must be 1 for a target and 0 for the rest, and nothing else.")
    return found.astype(np.int64)


@dataclass(frozen=True, eq=False)
class Network:
    """Many groups, concatenated, without their features.

    Parameters
    ----------
    offsets : ndarray of shape (n_groups + 1,)
        Start of each group's members, and the end of the last.
    containers : ndarray of shape (n_members,)
        Number of each member's container, below n_members; no two groups share one.
    pairs : ndarray of shape (n_pairs, 2)
        Pairs of compared members.
    similarities : ndarray of shape (n_pairs,)
        Their similarities.
    """

    offsets: Integers
    containers: Integers
    pairs: Integers
    similarities: Floats

    @property
    def n_members(self) -> int:
        """Number of members of all groups together."""
        return int(self.offsets[-1])

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.offsets) - 1

    @property
    def group(self) -> Integers:
        """The group of each member."""
        return np.repeat(np.arange(self.n_groups), np.diff(self.offsets))

    def split(self, values: NDArray[Any]) -> list[NDArray[Any]]:
        """Split values of all members into one array per group."""
        return [values[a:b] for a, b in zip(self.offsets[:-1], self.offsets[1:], strict=True)]


def join(groups: Sequence[Group]) -> Network:
    """Concatenate groups."""
    offsets = np.zeros(len(groups) + 1, dtype=np.int64)
    np.cumsum([len(group) for group in groups], out=offsets[1:])
    # A group has no more containers than members, so adding the offsets keeps them distinct.
    containers = _concatenate([g.numbers for g in groups], np.empty(0, np.int64))
    containers = containers + np.repeat(offsets[:-1], np.diff(offsets))
    shift = np.repeat(offsets[:-1], [len(group.pairs) for group in groups])
    pairs = _concatenate([group.pairs for group in groups], np.empty((0, 2), np.int64))
    similarities = _concatenate([group.similarities for group in groups], np.empty(0))
    return Network(offsets, containers, pairs + shift[:, None], similarities)


def _concatenate(arrays: list[Any], empty: Any) -> Any:
    return np.concatenate(arrays) if arrays else empty


def stack_features(groups: Sequence[Group]) -> Any:
    """Return the features of all members, stacked."""
    parts = [group.X for group in groups if len(group)]
    widths = {part.shape[1] for part in parts}
    if len(widths) > 1:
        raise ValueError(
            f"X must have the same number of features in every group, got {sorted(widths)}."
        )
    if any(sp.issparse(part) for part in parts):
        return sp.vstack([sp.csr_matrix(part) for part in parts], format="csr")
    return np.concatenate(parts)


def stack_labels(groups: Sequence[Group]) -> Integers:
    """Return the labels of all members; every group must have them."""
    for k, group in enumerate(groups):
        if group.labels is None and len(group):
            raise ValueError(f"labels are missing in group {k}; they are needed in each group.")
    return _concatenate(
        [group.labels for group in groups if len(group)], np.empty(0, dtype=np.int64)
    )


def check_groups(groups: Any) -> list[Group]:
    """Return groups as a list, or raise a TypeError."""
    if isinstance(groups, Group):
        raise TypeError("groups must be a list of Group; wrap a single one in a list: [group].")
    if not isinstance(groups, Iterable):
        raise TypeError(f"groups must be a list of Group, got {type(groups).__name__}.")
    found = list(groups)
    for k, group in enumerate(found):
        if not isinstance(group, Group):
            raise TypeError(f"groups[{k}] must be a Group, got {type(group).__name__}.")
    return found
