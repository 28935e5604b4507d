"""Rows that are larger than memory: directories of shards, and large memory maps."""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.utils import assert_all_finite, check_consistent_length
from sklearn.utils.validation import validate_data

from bblr._numeric.arrays import plain_labels
from bblr.designs import RowSource, Shards, StreamedDesign, make_design
from bblr.designs.stream.mapped import (
    BLOCK_BYTES,
    MappedRows,
    backing_map,
    float_type,
    holds_numbers,
)
from bblr.designs.stream.shards import known_shards
from bblr.inputs.adapter import Adapter, Training, no_columns
from bblr.inputs.in_memory import ArrayAdapter
from bblr.inputs.labels import Labels, encode

# A memory map of no more than this is used as the array it is.
LEAST_BYTES = 2 * BLOCK_BYTES


class ShardAdapter(Adapter):
    """The path of a directory of shards, or :class:`bblr.Shards`."""

    @staticmethod
    def recognises(estimator: Any, X: Any) -> bool:
        """Whether X stands for a directory."""
        return isinstance(X, str | os.PathLike | Shards)

    def training(self, y: Any, sample_weight: Any, *, streamed: bool = False) -> Training:
        """Check rows in one pass, and labels, which may be the name of a column."""
        if not streamed:
            self.refuse()
        if getattr(self.estimator, "device", None) is not None:
            self.refuse("with device set ")
        if not isinstance(y, str):
            return streamed_training(self, self._opened(), y, sample_weight)
        source = self._opened(y)
        return streamed_training(self, source, source.labels(), sample_weight)

    def rows(self) -> StreamedDesign:
        """Return rows to be scored, checked as they are read.

        Columns of Parquet files are found by their names; others than those of the fit are left
        unread.
        """
        names = getattr(self.estimator, "feature_names_in_", None)
        if names is None:
            return known_rows(self.estimator, self._opened())
        return known_rows(self.estimator, known_shards(self._path, names.tolist()))

    def labels(self, y: Any) -> Any:
        """Return labels, or the column of the files that they name."""
        return Shards(self._path, label=y).labels() if isinstance(y, str) else super().labels(y)

    def callback_data(self, y: Any, sample_weight: Any) -> tuple[Any, ...]:
        """Return the training data for callbacks: none if the labels are in the files."""
        return () if isinstance(y, str) else super().callback_data(y, sample_weight)

    @property
    def _path(self) -> Any:
        return self.X.path if isinstance(self.X, Shards) else self.X

    def _opened(self, label: str | None = None) -> Shards:
        if not isinstance(self.X, Shards):
            return Shards(self.X, label=label)
        if label in (None, self.X.label):
            return self.X
        return Shards(self.X.path, label=label, columns=self.X.columns)


class MapAdapter(ArrayAdapter):
    """A large memory map or a view of one; an array to those who need all rows in memory."""

    @staticmethod
    def recognises(estimator: Any, X: Any) -> bool:
        """Whether X shows the memory of a file too large to be kept."""
        if backing_map(X) is None or X.ndim != 2 or not holds_numbers(X.dtype):
            return False
        return X.size * float_type(X.dtype).itemsize > LEAST_BYTES

    def training(self, y: Any, sample_weight: Any, *, streamed: bool = False) -> Training:
        """Check rows in one pass and labels, if the estimator reads block by block."""
        if not streamed:
            return super().training(y, sample_weight)
        if isinstance(y, str):
            raise no_columns(y)
        return streamed_training(self, MappedRows(self.X), y, sample_weight)

    def rows(self) -> StreamedDesign:
        """Return rows to be scored, checked as they are read."""
        return known_rows(self.estimator, MappedRows(self.X))


def streamed_training(given: Adapter, source: RowSource, y: Any, sample_weight: Any) -> Training:
    """Check rows and labels as scikit-learn would, in one pass, and encode the labels."""
    estimator, y = given.estimator, plain_labels(y)
    with config_context(array_api_dispatch=False):
        # scikit-learn checks y, sets n_features_in_ and removes names of an earlier fit.
        validate_data(estimator, source, y, skip_check_array=True)
        y = np.asarray(validate_data(estimator, y=y, X="no_validation"))
        check_consistent_length(source, y)
        names = getattr(source, "feature_names", None)
        if names is not None:
            estimator.feature_names_in_ = np.array(names, dtype=object)
        _checked(estimator, source).read()
    labels = Labels(y, sample_weight)
    return Training(given, source, make_design(source), *encode(estimator, labels))


def known_rows(estimator: Any, source: RowSource) -> StreamedDesign:
    """Return rows with the features of a fit, checked as they are read."""
    fitted = getattr(estimator, "feature_names_in_", None)
    found = getattr(source, "feature_names", None)
    if fitted is None and found is not None:
        warnings.warn(
            f"X has feature names, but {type(estimator).__name__} was fitted without feature "
            "names",
            stacklevel=3,
        )
    if fitted is None or found is None:
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
