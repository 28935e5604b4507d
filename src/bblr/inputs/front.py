"""The front door every estimator shares: validate and encode on the way in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn import config_context
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import (
    _check_sample_weight,
    check_consistent_length,
    column_or_1d,
    validate_data,
)

from bblr._checks import LARGEST
from bblr._numeric.tensors import as_numpy, is_tensor
from bblr.designs import Design, make_design
from bblr.designs.dense import surely_finite
from bblr.designs.rows import Vector
from bblr.inputs.class_weight import class_factors, kept_classes
from bblr.inputs.frames import naming_columns, refuse_no_columns
from bblr.inputs.stream import open_rows, refuse_shards, validate_streamed_training
from bblr.inputs.torch_front import (
    check_labels,
    check_tensor,
    device_of,
    encode_tensor,
    like,
    refuse_sparse,
    uses_torch,
)

Floats = NDArray[np.float64]


class Training(NamedTuple):
    """Validated training data: rows, labels, row weights, and the classes.

    Labels are -1 and +1 of two classes, and class numbers of more. They and the weights lie where
    the rows of the design do.
    """

    X: Any
    design: Design
    y: Vector
    weight: Vector
    classes: Any
    totals: Floats
    # What one example of each class weighs by its class alone.
    factors: Floats | None = None
    # The rows as the user gave them and the device, where a kernel works on an array of them.
    given: Any = None
    device: Any = None

    @property
    def class_labels(self) -> NDArray[Any]:
        """The label of each class; `totals` has its weight."""
        return np.array([-1.0, 1.0]) if len(self.classes) == 2 else np.arange(len(self.classes))

    @property
    def shares(self) -> Floats:
        """The share of each class, by weight."""
        return self.totals / self.totals.sum()

    def like_rows(self, array: NDArray[Any]) -> Any:
        """Return a result as what the rows are: an array, or a tensor on their device."""
        return like(array, self.X if self.given is None else self.given)


def validate_training(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    class_weight: Any,
    *,
    sparse: Any = ("csr", "csc"),
    stream: bool = False,
) -> Training:
    """Check what a user hands to ``fit`` and encode it.

    More than two classes are refused unless the estimator's tags say that it takes them. With
    `stream` the rows may stay on disk: X may be shards or a large memory map.
    """
    if not stream:
        refuse_shards(estimator, X)
    if uses_torch(estimator, X):
        refuse_shards(estimator, X, "with device set ")
        return _tensor_training(estimator, X, y, sample_weight, class_weight)
    source = open_rows(X, y if isinstance(y, str) else None) if stream else None
    if source is None:
        return _array_training(estimator, X, y, sample_weight, class_weight, sparse)
    with config_context(array_api_dispatch=False):
        y = validate_streamed_training(estimator, source, y)
        return _encoded(estimator, source, y, sample_weight, class_weight)


def _array_training(
    estimator: Any, X: Any, y: Any, sample_weight: Any, class_weight: Any, sparse: Any
) -> Training:
    refuse_no_columns(estimator, X)
    X = _readable(X)
    # Arrays of libraries other than torch become NumPy arrays, whatever is dispatched. A sum of
    # finite numbers that is not finite makes scikit-learn look closer; it need not warn as well.
    with config_context(array_api_dispatch=False), np.errstate(over="ignore", invalid="ignore"):
        with _naming_labels(), naming_columns(X):
            X, y = validate_data(
                estimator,
                X,
                y,
                accept_sparse=sparse,
                dtype=[np.float64, np.float32],
                accept_large_sparse=True,
                # scikit-learn looks for NaN on one thread, and words the errors.
                ensure_all_finite=not surely_finite(X),
            )
        check_format(X)
    with config_context(array_api_dispatch=False):
        return _encoded(estimator, X, y, sample_weight, class_weight)


def _encoded(
    estimator: Any, X: Any, y: NDArray[Any], sample_weight: Any, class_weight: Any
) -> Training:
    weight = _row_weights(sample_weight, y)
    classes = found_classes(y, weight > 0)
    kept = kept_classes(class_weight, classes)
    if not kept.all():
        weight[np.isin(y, classes[~kept])] = 0.0
        classes = classes[kept]
    check_classes(y, classes, estimator.__sklearn_tags__().classifier_tags.multi_class)
    # Classes of which no example has a weight count as the nearest that has; they have none.
    codes = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    totals = np.bincount(codes, weight, len(classes)).astype(np.float64)
    factors = class_factors(class_weight, classes, totals)
    weight = weight * factors[codes]
    check_heaviest(weight.max())
    labels = np.where(codes == 1, 1.0, -1.0) if len(classes) == 2 else codes
    return Training(X, make_design(X), labels, weight, classes, totals * factors, factors)


@contextmanager
def _naming_labels() -> Iterator[None]:
    """Say of which input scikit-learn speaks: of labels that are objects it does not."""
    try:
        yield
    except ValueError as error:
        if str(error).strip() != "Input contains NaN":
            raise
        raise ValueError("Input y contains NaN: remove the rows without a label.") from None


def found_classes(y: NDArray[Any], counted: Any = slice(None)) -> NDArray[Any]:
    """Return the labels of the rows that count, in their order."""
    try:
        check_classification_targets(y)
        return np.unique(y[counted])
    except TypeError as error:
        raise ValueError(
            f"y must hold labels of one kind that can be put in order: {error}. Turn them into "
            "text or numbers, for instance by [str(label) for label in y]."
        ) from None


def _readable(X: Any) -> Any:
    """Return X, of a tensor what NumPy can read: none whose gradient is asked for."""
    if not is_tensor(X):
        return X
    if str(X.layout) != "torch.strided":
        raise TypeError(
            "X is a sparse tensor, which NumPy cannot read; use X.to_dense(), or a sparse matrix "
            "of scipy."
        )
    return X.detach()


def validate_rows(estimator: Any, X: Any, sparse: Any) -> Any:
    """Return rows to be scored as a float array or a sparse matrix, checked."""
    refuse_no_columns(estimator, X)
    X = _readable(X)
    with np.errstate(over="ignore", invalid="ignore"), naming_columns(X):
        X = validate_data(
            estimator, X, accept_sparse=sparse, dtype=[np.float64, np.float32], reset=False
        )
    check_format(X)
    return X


def check_format(X: Any) -> None:
    """Raise a ValueError for a sparse matrix whose indices lead out of it.

    Compiled code does not look; it would read whatever lies there.
    """
    sparse = issparse(X)
    if not sparse:
        return
    try:
        X.check_format(full_check=True)
    except ValueError as error:
        raise ValueError(
            f"X is a sparse matrix that contradicts itself: {error}. Build it anew from rows, "
            "columns and values, for instance by scipy.sparse.coo_array."
        ) from None


def _tensor_training(
    estimator: Any, X: Any, y: Any, sample_weight: Any, class_weight: Any
) -> Training:
    """Do the same on a device; what comes in as tensors never leaves it."""
    from bblr.designs.torch.placing import as_tensor
    from bblr.designs.torch.tensor_design import TorchDesign

    device = device_of(estimator, X)
    refuse_sparse(X)
    if not is_tensor(X):
        own = _local(y), _local(sample_weight)
        done = _array_training(estimator, X, *own, class_weight, False)
        design = TorchDesign(as_tensor(done.X), device)
        vector = design.rows.vector
        return done._replace(design=design, y=vector(done.y), weight=vector(done.weight))
    X = check_tensor(estimator, X, reset=True)
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but y is None.")
    if is_tensor(y):
        check_labels(y)
    check_consistent_length(X, y)
    design = TorchDesign(X, device)
    rows = design.rows
    if sample_weight is None:
        weight = rows.ones(X)
    else:
        weight = rows.vector(_row_weights(_local(sample_weight), np.empty((len(X), 0))))
    if is_tensor(y):
        classes, codes = encode_tensor(y, weight > 0)
    else:
        y = column_or_1d(y, warn=True)
        with _naming_labels():
            assert_all_finite(y, input_name="y")
        classes = found_classes(y, rows.local(weight > 0))
        codes = rows.vector(np.minimum(np.searchsorted(classes, y), len(classes) - 1))
    known, codes = as_numpy(classes), rows.vector(codes)
    kept = kept_classes(class_weight, known)
    if not kept.all():
        # Places among the kept; those of the others do not matter without a weight.
        places = np.maximum(np.cumsum(kept) - 1, 0)
        weight = weight * rows.vector(kept)[codes]
        classes = classes[np.flatnonzero(kept).tolist()]
        known, codes = known[kept], rows.vector(places)[codes]
    check_classes(y, known, estimator.__sklearn_tags__().classifier_tags.multi_class)
    totals = rows.local(codes.bincount(weight, len(known)))
    factors = class_factors(class_weight, known, totals)
    if class_weight is not None:
        weight = weight * rows.vector(factors)[codes]
    check_heaviest(float(weight.max()))
    labels = codes if len(known) > 2 else 2.0 * codes.double() - 1.0
    return Training(X, design, labels, weight, classes, totals * factors, factors)


def _local(value: Any) -> Any:
    return as_numpy(value) if is_tensor(value) else value


def check_heaviest(heaviest: float) -> None:
    """Raise a ValueError where weights cannot be squared, or are no more than rounding."""
    if heaviest < 1 / LARGEST:
        raise ValueError(
            f"sample_weight and class_weight must come to at least {1 / LARGEST:g} together for "
            f"some row, got {heaviest:g} at most; divide them by their mean."
        )
    if not heaviest <= LARGEST:
        raise ValueError(
            f"sample_weight and class_weight must come to at most {LARGEST:g} together, got "
            f"{heaviest:g}; divide them by their mean."
        )


def validate_kernel_training(estimator: Any, X: Any, y: Any, sample_weight: Any) -> Training:
    """Check what a user hands to ``fit`` of a kernel classifier and encode it.

    Rows are picked and compared, so arrays serve even where the kernel is worked out on a device.
    """
    refuse_shards(estimator, X)
    given, labels, device = X, y, None
    if uses_torch(estimator, X):
        device = device_of(estimator, X)
        refuse_sparse(X)
        X, y, sample_weight = _local(X), _local(y), _local(sample_weight)
    sparse = _sparse_formats(estimator)
    training = _array_training(estimator, X, y, sample_weight, estimator.class_weight, sparse)
    if device is not None:
        classes = like(training.classes, labels)
        training = training._replace(given=given, classes=classes, device=device)
    if is_precomputed(estimator.kernel):
        shape = training.X.shape
        if shape[0] != shape[1]:
            raise ValueError(
                f"X must be the square matrix of the kernel of all training rows with "
                f"kernel='precomputed', got an array of shape {shape}."
            )
        if not np.allclose(training.X, training.X.T, rtol=1e-4, atol=1e-6 * _largest(training.X)):
            raise ValueError(
                "X must be symmetric with kernel='precomputed': the similarity of two rows is one "
                "number. (X + X.T) / 2 is symmetric."
            )
    return training


def is_precomputed(kernel: Any) -> bool:
    """Whether a ``kernel`` parameter says that X holds the kernel itself."""
    return isinstance(kernel, str) and kernel == "precomputed"


def _largest(X: Any) -> float:
    return float(np.abs(X).max(initial=0.0))


def _sparse_formats(estimator: Any) -> Any:
    # Rows of a kernel are picked and multiplied: CSR. A precomputed one is dense by nature.
    return False if is_precomputed(estimator.kernel) else ["csr"]


def _row_weights(sample_weight: Any, y: Any) -> Floats:
    # Newer versions of scikit-learn refuse all-zero weights, without naming the parameter.
    refuse_no_weight(sample_weight is None or bool(np.any(np.asarray(sample_weight))))
    weight = _check_sample_weight(sample_weight, y, dtype=np.float64, copy=True)
    if weight.min() < 0:
        raise ValueError(
            "Negative values in sample_weight: weights must be at least 0; "
            f"the smallest is {weight.min()}."
        )
    return np.asarray(weight, dtype=np.float64)


def refuse_no_weight(some: bool) -> None:
    """Raise a ValueError unless some weight is positive."""
    if not some:
        raise ValueError(
            "sample_weight must hold a positive weight, but every weight is zero: "
            "no example is left to learn from."
        )


def check_classes(y: Any, classes: NDArray[Any], many: bool) -> None:
    """Raise a ValueError unless there are two classes, or more where that is allowed."""
    if len(classes) < 2:
        raise ValueError(
            f"y must hold {'two or more' if many else 'two'} classes, got one class only: "
            f"{classes.tolist()}. Examples and classes of zero weight do not count."
        )
    if len(classes) > 2 and not many:
        kind = type_of_target(as_numpy(y), input_name="y")
        raise ValueError(
            f"Only binary classification is supported. The type of the target is {kind}: "
            f"y holds {len(classes)} classes. Wrap the estimator in "
            "sklearn.multiclass.OneVsRestClassifier, or choose two of them."
        )
