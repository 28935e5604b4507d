"""Weights of whole classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def kept_classes(class_weight: Any, classes: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which classes count: a weight of 0 for a class is one of 0 for its examples.

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
    """Return the factor of each of the classes that count."""
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
