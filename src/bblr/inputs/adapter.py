"""The interface of input adapters, and the training data they return."""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import isfinite
from typing import Any, NamedTuple, NoReturn, Self

import numpy as np
from numpy.typing import NDArray

from bblr._numeric.arrays import plain_labels
from bblr._numeric.tensors import as_numpy, local
from bblr.designs import Design
from bblr.designs.gram.expansion_design import Expansion
from bblr.designs.gram.kernel_function import Gram, KernelFunction
from bblr.designs.rows import Vector
from bblr.inputs.labels import refuse_missing

Floats = NDArray[np.float64]


class Training(NamedTuple):
    """Validated training data: rows, and labels and weights where the rows are.

    `X` holds the validated rows, for estimators that index them; the others use the design. Labels
    are -1 and +1 with two classes, and class numbers with more. `totals` are the total weights of
    the classes, `factors` the class weights.
    """

    given: Adapter
    X: Any
    design: Design
    y: Vector
    weight: Vector
    classes: Any
    totals: Floats
    factors: Floats

    @property
    def shares(self) -> Floats:
        """The share of each class, by weight."""
        return self.totals / self.totals.sum()


class Adapter(ABC):
    """One kind of rows: how to recognise, validate and encode it, and to return results in kind.

    Estimators ask the adapter and never look at the type of their rows. A fit enters it as a
    context, so that resources are released at the end.

    Parameters
    ----------
    estimator : estimator
        The estimator; it gets ``n_features_in_`` and ``feature_names_in_``, and errors name it.
    X : object
        The rows, as the user gave them.
    """

    def __init__(self, estimator: Any, X: Any) -> None:
        self.estimator = estimator
        self.X = X

    @staticmethod
    @abstractmethod
    def recognises(estimator: Any, X: Any) -> bool:
        """Whether this is the adapter for these rows and this estimator."""

    @abstractmethod
    def training(self, y: Any, sample_weight: Any, *, streamed: bool = False) -> Training:
        """Check rows, labels and weights, and encode them.

        More than two classes are refused unless the estimator's tags say that it takes them. With
        `streamed` the rows may stay on disk.
        """

    def matrix_training(self, y: Any, sample_weight: Any, sparse: Any) -> Training:
        """Do the same for estimators that index rows: `X` is an array or a sparse matrix."""
        self.refuse()

    def rows(self) -> Design:
        """Return rows to be scored, checked to have the features of the fit."""
        self.refuse()

    def kernel_scores(self, expansion: Expansion) -> Any:
        """Return the scores of a kernel expansion in kind, one column per score."""
        self.refuse()

    def refuse(self, why: str = "") -> NoReturn:
        """Raise a TypeError: the estimator cannot work where the rows are."""
        raise TypeError(
            f"X must be an array or a sparse matrix, got {self.X!r}: "
            f"{type(self.estimator).__name__} {why}needs all rows in memory. BBLRClassifier and "
            "BBLRClassifierCV read a directory of shards."
        )

    def scores(self, coef: Floats, intercept: Floats) -> Any:
        """Return the linear scores in kind, one column per score if there are several."""
        design = self.rows()
        with np.errstate(over="ignore", invalid="ignore"):
            found = design.scores(coef, intercept)
        return finite_scores(self.in_kind(found))

    def in_kind(self, values: Any) -> Any:
        """Return results in the kind of the rows: arrays, or tensors on their device."""
        return values

    def here(self, values: Any) -> Any:
        """Return results, or labels or weights of the rows, as a NumPy array; None as it is."""
        return None if values is None else as_numpy(values)

    def chosen(self, classes: Any, index: Any) -> Any:
        """Return the classes of these numbers, in kind."""
        return as_numpy(classes)[index]

    def labels(self, y: Any) -> Any:
        """Return labels to compare predictions with."""
        if isinstance(y, str):
            raise no_columns(y)
        y = plain_labels(local(y))
        if isinstance(y, np.ndarray) and y.dtype == object:
            refuse_missing(y)
        return y

    def callback_data(self, y: Any, sample_weight: Any) -> tuple[Any, ...]:
        """Return the training data for callbacks."""
        return self.X, y, sample_weight

    def gram(self, function: KernelFunction, X: Any) -> Gram:
        """Return the kernel of all training rows with each other."""
        return Gram(function, X)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:  # noqa: B027
        """Release the resources of the rows."""


def no_columns(y: str) -> ValueError:
    """Return the error for labels given as a column name where there are no columns."""
    return ValueError(
        f"y must be an array of classes, got {y!r}: only a directory of Parquet files has "
        "columns to choose from."
    )


def finite_scores(scores: Any) -> Any:
    """Return scores as they are, or raise a ValueError where they are not finite."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = float(scores.sum())
    # Finite scores may add up to infinity; only then is each one checked.
    if not isfinite(total) and not np.isfinite(as_numpy(scores)).all():
        raise ValueError(
            "X holds numbers so large that its scores are not finite: they are far outside the "
            "range of the training rows. Check the units of X."
        )
    return scores
