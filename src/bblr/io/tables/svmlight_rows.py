"""Rows of svmlight files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from typing import Any

import numpy as np
import scipy.sparse as sp

from bblr.io.tables.opening import SVMLIGHT_ROW, DataFile

# A model has a number for each index, and a name.
_MOST_FEATURES = 2**24
_INDEX = re.compile(rb"\s0*(\d+):")

__all__ = ["SvmlightRows", "svmlight_blocks"]


@dataclass(frozen=True)
class SvmlightRows:
    """Rows of an svmlight file with indices as they stand there.

    Parameters
    ----------
    X : csr_matrix of shape (rows, largest index + 1)
        Features; column j is index j of the file.
    y : ndarray of shape (rows,)
        Labels.
    """

    X: Any
    y: np.ndarray

    @property
    def zero_based(self) -> bool:
        """Whether index 0 occurs, so that the first feature must have it."""
        return bool(self.X.nnz and self.X.indices.min() == 0)

    def features(self, n_features: int, *, zero_based: bool) -> Any:
        """Return the matrix of the features, the first of which has index 0 or 1."""
        start = 0 if zero_based else 1
        parts = (self.X.data, self.X.indices - start, self.X.indptr)
        return sp.csr_matrix(parts, shape=(self.X.shape[0], n_features))


def svmlight_blocks(file: DataFile, lines: int | None) -> Iterator[SvmlightRows]:
    """Yield the rows of so many lines at a time, or of all."""
    first, found = 1, False
    while content := b"".join(islice(file.stream, lines)):
        rows = _parsed(file.name, content, first)
        first += lines or 0
        if len(rows.y):
            found = True
            yield rows
    if not found:
        raise ValueError(f"{file.name} holds no rows; each needs a label and index:value pairs")


def _parsed(name: str, content: bytes, first: int) -> SvmlightRows:
    """Read lines; `first` is the number of the first of them."""
    from sklearn.datasets import load_svmlight_file

    try:
        X, y = load_svmlight_file(BytesIO(content), zero_based=True)
    except (ValueError, OverflowError) as error:
        _check_indices(name, content, first)
        lines = content.decode("utf-8-sig", errors="replace").split("\n")
        for number, line in enumerate(lines, start=first):
            row = line.strip()
            if row and not row.startswith("#") and not SVMLIGHT_ROW.fullmatch(row):
                raise ValueError(
                    f"{name}, line {number}: {row[:60]!r} is not an svmlight row; expected a "
                    "label and then index:value pairs"
                ) from error
        raise ValueError(f"{name} is not a sound svmlight file: {error}") from error
    if X.shape[1] > _MOST_FEATURES + 1:
        _check_indices(name, content, first)
    if not np.isfinite(X.data).all():
        index = int(X.indices[~np.isfinite(X.data)][0]) + int(X.indices.min() == 0)
        raise ValueError(f"{name}: feature x{index} holds nan or infinite values; remove them")
    return SvmlightRows(X, y)


def _check_indices(name: str, content: bytes, first: int) -> None:
    """Raise an error that names the line of an index that is too large for a model."""
    for number, line in enumerate(content.split(b"\n"), start=first):
        for index in _INDEX.findall(line.partition(b"#")[0]):
            # Python does not make numbers of thousands of digits.
            if len(index) > 9 or int(index) > _MOST_FEATURES:
                raise ValueError(
                    f"{name}, line {number}: index {index[:20].decode()} is beyond "
                    f"{_MOST_FEATURES:,}, and a model has a number for every index up to the "
                    "largest; number the features without gaps"
                )
