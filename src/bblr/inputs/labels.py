"""Labels and weights: checked, encoded, and weighed by class."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_sample_weight

from bblr._checks import LARGEST
from bblr._numeric.arrays import missing_labels
from bblr._numeric.layouts import layout_for
from bblr._numeric.tensors import as_numpy
from bblr.designs.rows import Rows

Floats = NDArray[np.float64]

# Kinds of NumPy's types that can hold nothing but classes.
_CLASSES = "biuSU"


class Labels:
    """Labels and weights, one per row, where the rows are: NumPy arrays here."""

    codes: Any
    rows: Rows = Rows()
    # Whether every weight is 1.
    plain: bool

    def __init__(self, y: NDArray[Any], sample_weight: Any) -> None:
        self.y: Any = y
        self.plain = sample_weight is None
        self.weight: Any = row_weights(sample_weight, y)

    def classes(self) -> NDArray[Any]:
        """Return the sorted labels of the rows of positive weight."""
        return found_classes(self.y, slice(None) if self.plain else self.weight > 0)

    def numbers(self, classes: NDArray[Any]) -> Any:
        """Return the class number of each label.

        Labels whose rows all have zero weight get the number of the nearest class.
        """
        return np.minimum(np.searchsorted(classes, self.y), len(classes) - 1)

    def count(self, classes: NDArray[Any]) -> Floats:
        """Assign numbers to the labels, and return the weight of each class."""
        self.codes = self.rows.vector(self.numbers(classes))
        return self.rows.local(self.rows.xp.bincount(self.codes, self.weight, len(classes)))

    def weigh(self, factors: Floats) -> None:
        """Multiply the weight of each row by the factor of its class."""
        self.weight = self.weight * self.rows.vector(factors)[self.codes]
        self.plain = False

    def heaviest(self) -> float:
        """Return the largest weight."""
        return self.rows.largest(self.weight)

    def target(self, n_classes: int) -> Any:
        """Return the labels of the loss: signs with two classes, class numbers with more."""
        return self.rows.vector(layout_for(n_classes).signs(self.codes))


def encode(estimator: Any, labels: Labels) -> tuple[Any, Any, Any, Floats, Floats]:
    """Return what :class:`Training` holds of labels and weights, and of the classes."""
    class_weight, classes = estimator.class_weight, labels.classes()
    kept = kept_classes(class_weight, classes)
    if not kept.all():
        labels.count(classes)
        labels.weigh(kept.astype(np.float64))
        classes = classes[kept]
    check_classes(estimator, labels.y, classes)
    totals = labels.count(classes)
    factors = class_factors(class_weight, classes, totals)
    if class_weight is not None:
        labels.weigh(factors)
    if not labels.plain:
        check_heaviest(labels.heaviest())
    return labels.target(len(classes)), labels.weight, classes, totals * factors, factors


@contextmanager
def naming_labels() -> Iterator[None]:
    """Name the input in errors of scikit-learn and pandas about labels that are objects."""
    try:
        yield
    except (ValueError, TypeError) as error:
        if str(error).strip() not in ("Input contains NaN", "boolean value of NA is ambiguous"):
            raise
        raise ValueError("Input y contains NaN: remove the rows without a label.") from None


def refuse_missing(y: NDArray[Any]) -> None:
    """Raise a ValueError if labels that are objects, or dates, are missing."""
    if y.dtype.kind in _CLASSES:
        return
    missing = [row for row, label in enumerate(y.tolist()) if is_missing(label)]
    if missing:
        raise missing_labels(missing)


def is_missing(label: Any) -> bool:
    """Whether a label is None, NaN, or one of pandas' missing values, which cannot be compared."""
    missing = label is None or type(label).__name__ in ("NAType", "NaTType")
    return missing or (isinstance(label, float) and label != label)


def found_classes(y: NDArray[Any], counted: Any = slice(None)) -> NDArray[Any]:
    """Return the sorted labels of the rows of positive weight."""
    try:
        # Whole numbers and texts are classes; scikit-learn takes a while to say so.
        if y.ndim != 1 or y.dtype.kind not in _CLASSES:
            check_classification_targets(y)
        return np.unique(y[counted])
    except (TypeError, ValueError) as error:
        if y.dtype != object or y.ndim != 1:
            raise
        refuse_missing(y)
        kinds = ", ".join(sorted({type(label).__name__ for label in y.tolist()}))
        raise ValueError(
            "y must hold labels of one kind, text or whole numbers. Unknown label type: objects "
            f"of {kinds}. Turn them into text, for instance by [str(label) for label in y]."
        ) from error


def row_weights(sample_weight: Any, y: Any) -> Floats:
    """Return the weight of each row, checked."""
    if sample_weight is None:
        return np.ones(len(y))
    given = np.asarray(sample_weight)
    objects = given.dtype == object
    if (
        given.dtype.kind in "cmMV"
        or (objects and given.ndim == 0)
        or np.ma.is_masked(sample_weight)
    ):
        raise ValueError(
            "sample_weight must hold a number for each row, got "
            f"{type(sample_weight).__name__} of {given.dtype}."
        )
    # Newer versions of scikit-learn refuse all-zero weights, without naming the parameter.
    with config_context(array_api_dispatch=False):
        refuse_no_weight(objects or bool(np.any(given)))
        try:
            weight = _check_sample_weight(sample_weight, y, dtype=np.float64, copy=True)
        except (TypeError, ValueError) as error:
            if "sample" in str(error).lower():
                raise
            raise ValueError(f"sample_weight must hold a number for each row: {error}.") from None
    refuse_no_weight(bool(np.any(weight)))
    refuse_negative(weight)
    return np.asarray(weight, dtype=np.float64)


def refuse_no_weight(some: bool) -> None:
    """Raise a ValueError unless some weight is positive."""
    if not some:
        raise ValueError(
            "sample_weight must hold a positive weight, but every weight is zero: "
            "no example is left to learn from."
        )


def refuse_negative(weight: Floats) -> None:
    """Raise a ValueError for weights below 0."""
    if len(weight) and weight.min() < 0:
        raise ValueError(
            "Negative values in sample_weight: weights must be at least 0; "
            f"the smallest is {weight.min()}."
        )


def check_classes(estimator: Any, y: Any, classes: NDArray[Any]) -> None:
    """Raise a ValueError unless there are two classes, or more where that is allowed."""
    if len(classes) == 2:
        return
    many = estimator.__sklearn_tags__().classifier_tags.multi_class
    if len(classes) < 2:
        raise ValueError(
            f"y must hold {'two or more' if many else 'two'} classes, got one class only: "
            f"{classes.tolist()}. Examples and classes of zero weight do not count."
        )
    if not many:
        kind = type_of_target(as_numpy(y), input_name="y")
        raise ValueError(
            f"Only binary classification is supported. The type of the target is {kind}: "
            f"y holds {len(classes)} classes. Wrap the estimator in "
            "sklearn.multiclass.OneVsRestClassifier, or choose two of them."
        )


def check_heaviest(heaviest: float) -> None:
    """Raise a ValueError if weights are too large to be squared, or too small."""
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


def kept_classes(class_weight: Any, classes: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which classes have a positive weight: 0 for a class is 0 for all its examples.

    A dict may name more classes than y has, as in scikit-learn, but only if it names all of those:
    a class that is written differently would go unnoticed.
    """
    if not isinstance(class_weight, dict):
        return np.ones(len(classes), dtype=bool)
    known = classes.tolist()
    unknown = [label for label in class_weight if label not in known]
    left_out = [label for label in known if label not in class_weight]
    if unknown and left_out:
        raise ValueError(
            f"class_weight names {_said(unknown)}, not among the classes {_said(known)} of y, and "
            f"leaves out {_said(left_out)}; name the classes as they are in y, or name them all."
        )
    kept = _looked_up(class_weight, classes) > 0
    if not kept.any():
        raise ValueError(
            "class_weight must hold a positive weight, but it is 0 for every class of y: no "
            "example is left to learn from."
        )
    return kept


def class_factors(class_weight: Any, classes: NDArray[Any], totals: Floats) -> Floats:
    """Return the factor of each class of positive weight."""
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, str) and class_weight == "balanced":
        return np.asarray(totals.sum() / (len(classes) * totals))
    if not isinstance(class_weight, dict):
        raise ValueError(
            "class_weight must be 'balanced', a dict of weights by class, or None; "
            f"got {class_weight!r}."
        )
    return _looked_up(class_weight, classes)


def _looked_up(class_weight: dict[Any, Any], classes: NDArray[Any]) -> Floats:
    try:
        factors = np.array([float(class_weight.get(label, 1.0)) for label in classes.tolist()])
    except (TypeError, ValueError):
        raise ValueError(f"class_weight must hold numbers, got {class_weight}.") from None
    if not (np.isfinite(factors) & (factors >= 0)).all():
        raise ValueError(
            f"class_weight must hold finite weights of at least 0, got {class_weight}."
        )
    return factors


def _said(labels: list[Any]) -> str:
    return ", ".join(map(str, labels))
