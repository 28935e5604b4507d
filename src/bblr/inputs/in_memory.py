"""Rows in memory: NumPy arrays, sparse matrices, and whatever NumPy can read."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np
from scipy.sparse import csr_array, csr_matrix, issparse
from sklearn import config_context
from sklearn.utils.validation import validate_data

from bblr._numeric.arrays import leads_out, plain_labels
from bblr._numeric.tensors import local
from bblr.designs import Design, make_design
from bblr.designs.dense import surely_finite
from bblr.designs.gram.expansion_design import Expansion
from bblr.inputs.adapter import Adapter, Floats, Training, finite_scores
from bblr.inputs.labels import Labels, encode, naming_labels

_PRECISIONS = (np.dtype(np.float64), np.dtype(np.float32))


class ArrayAdapter(Adapter):
    """Arrays and sparse matrices, used without a copy; lists and the like become arrays."""

    @staticmethod
    def recognises(estimator: Any, X: Any) -> bool:
        """Whether X is a sparse matrix or an array with its memory to itself.

        Another array may be the view of a file. It is taken for an array, as is everything else,
        if no other adapter recognises it.
        """
        plain = (isinstance(X, np.ndarray) and X.base is None) or issparse(X)
        return (
            plain
            and getattr(estimator, "device", None) is None
            and not hasattr(estimator, "client")
        )

    def training(self, y: Any, sample_weight: Any, *, streamed: bool = False) -> Training:
        """Check rows, labels and weights, and encode them."""
        X, y = self.read(y)
        return self._encoded(X, self._design(X), y, sample_weight)

    def matrix_training(self, y: Any, sample_weight: Any, sparse: Any) -> Training:
        """Do the same for estimators that index rows."""
        X, y = self.read(y, sparse=sparse)
        return self._encoded(X, make_design(X), y, sample_weight)

    def rows(self) -> Design:
        """Return rows to be scored."""
        return self._design(self._known())

    def kernel_scores(self, expansion: Expansion) -> Any:
        """Return the scores of a kernel expansion, one column per score."""
        X = self.read(sparse=expansion.sparse, reset=False)
        with np.errstate(over="ignore", invalid="ignore"):
            return finite_scores(self.in_kind(expansion.scores(X)))

    def _known(self) -> Any:
        """Return rows that have the features of the fit."""
        return self.read(reset=False)

    def _design(self, X: Any) -> Design:
        return make_design(X)

    def _encoded(self, X: Any, design: Design, y: Any, sample_weight: Any) -> Training:
        y, weight, *classes = encode(self.estimator, Labels(y, sample_weight))
        vector = design.rows.vector
        return Training(self, X, design, vector(y), vector(weight), *classes)

    def read(self, *y: Any, sparse: Any = ("csr", "csc"), reset: bool = True) -> Any:
        """Return rows as scikit-learn checks them, and labels if there are any."""
        check_indices(self.X)
        if self._is_checked(*y, csr="csr" in (sparse or ()), reset=reset):
            return (self.X, *y) if y else self.X
        # Arrays of libraries other than torch become NumPy arrays, whatever is dispatched. A sum
        # of finite numbers that is not finite makes scikit-learn look closer; it need not warn.
        quiet = np.errstate(over="ignore", invalid="ignore")
        check_masks(self.X)
        with config_context(array_api_dispatch=False), quiet, naming_labels():
            return validate_data(
                self.estimator,
                self.X,
                *map(plain_labels, y),
                reset=reset,
                accept_sparse=sparse,
                dtype=[np.float64, np.float32],
                accept_large_sparse=True,
                # scikit-learn looks for NaN on one thread, and words the errors.
                ensure_all_finite=not surely_finite(self.X),
            )

    def _is_checked(self, *y: Any, csr: bool, reset: bool) -> bool:
        """Whether scikit-learn's checks would change nothing.

        On small arrays they take longer than many fits. Sparse rows may come as `csr`.
        """
        kinds = (np.ndarray, csr_array, csr_matrix) if csr else (np.ndarray,)
        plain = self._is_plain(reset, kinds) and (not y or _are_labels(y[0], self.X.shape[0]))
        if not plain:
            return False
        if not surely_finite(self.X if isinstance(self.X, np.ndarray) else self.X.data):
            return False
        if reset:
            self.estimator.n_features_in_ = self.X.shape[1]
        return True

    def _is_plain(self, reset: bool, kinds: tuple[type, ...] = (np.ndarray,)) -> bool:
        """Whether X is of the right shape, of one of some kinds, and needs no conversion."""
        X, estimator = self.X, self.estimator
        return (
            type(X) in kinds
            and X.ndim == 2
            and X.dtype in _PRECISIONS
            and min(X.shape) > 0
            and not hasattr(estimator, "feature_names_in_")
            and (reset or X.shape[1] == estimator.n_features_in_)
        )

    def scores(self, coef: Floats, intercept: Floats) -> Any:
        """Return the linear scores of the rows, one column per score if there are several."""
        if self._is_plain(reset=False):
            with np.errstate(over="ignore", invalid="ignore"):
                found = self._design(self.X).scores(coef, intercept)
                # Rows that are not finite have scores that are not finite: check those in full.
                if isfinite(float(found.sum())):
                    return self.in_kind(found)
        return super().scores(coef, intercept)


def _are_labels(y: Any, n: int) -> bool:
    return type(y) is np.ndarray and y.shape == (n,) and y.dtype.kind in "biuSU"


def check_indices(X: Any) -> None:
    """Raise a ValueError for a sparse matrix with indices out of range.

    This comes first, since SciPy's own conversions do not check them.
    """
    sparse = issparse(X)
    if sparse and X.format in ("csr", "csc") and X.ndim == 2 and leads_out(X):
        raise ValueError(
            "X is a sparse matrix that contradicts itself: its indices or row pointers lead out "
            "of it. Build it anew from rows, columns and values, for instance by "
            "scipy.sparse.coo_array."
        )


def check_masks(X: Any) -> None:
    """Raise a ValueError for a masked array that hides numbers: NumPy would hand them on."""
    if np.ma.is_masked(X):
        raise ValueError(
            f"Input X contains NaN: it is a masked array that hides {np.ma.count_masked(X)} of "
            "its numbers. Fill them, for instance by sklearn.impute.SimpleImputer on "
            "X.filled(numpy.nan)."
        )


def rows_in_memory(X: Any) -> Any:
    """Return rows that can be indexed: a frame as it is, a sparse matrix as CSR, or an array."""
    X = local(X)
    if hasattr(X, "tocsr"):
        # Not every sparse format can be indexed by rows.
        return X.tocsr()
    if hasattr(X, "shape"):
        return X
    try:
        rows = np.asarray(X)
    except ValueError as error:
        raise ValueError(f"X must have rows of one length: {error}") from None
    if not rows.ndim:
        raise TypeError(f"X must hold rows, got {type(X).__name__}.")
    return rows
