"""Classifiers of any library: fitted copies, and scores per row and class."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline

Floats = NDArray[np.float64]

# Least probability, for logarithms.
_LEAST = 1e-6


def fitted(estimator: Any, X: Any, y: NDArray[Any], weight: Floats | None) -> Any:
    """Return a fitted copy; the weights of a pipeline go to its last step."""
    if weight is None:
        return clone(estimator).fit(X, y)
    try:
        return clone(estimator).fit(X, y, **{_weight_name(estimator): weight})
    except (TypeError, ValueError) as error:
        if "sample_weight" not in str(error):
            raise
        raise ValueError(
            f"sample_weight cannot be used by {type(estimator).__name__}; leave it out, or use a "
            "classifier whose fit takes it, or a pipeline or a search of settings around one. "
            f"({error})"
        ) from error


def _weight_name(estimator: Any) -> str:
    if hasattr(estimator, "refit") and hasattr(estimator, "estimator"):
        # A search such as GridSearchCV passes it on.
        return _weight_name(estimator.estimator)
    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        return f"{name}__{_weight_name(last)}"
    return "sample_weight"


def class_scores(model: Any, X: Any, known: Any, classes: NDArray[Any]) -> Floats:
    """Return scores per row and class whose softmax is the class probabilities without plateaus.

    The decision function is preferred, since it does not saturate. Where it has several columns,
    the predictions for `known` training rows show whether they are classes.
    """
    if not np.array_equal(getattr(model, "classes_", ()), classes):
        raise ValueError(
            "cv must leave all classes to train on, but a fold knows "
            f"{list(getattr(model, 'classes_', ()))} of {classes.tolist()}; use an integer, or "
            "larger classes."
        )
    raw = _decisions(model, X, known, classes)
    if raw is None:
        proba = np.asarray(model.predict_proba(X), dtype=np.float64)
        raw = np.log(np.maximum(proba, _LEAST))
    if not np.isfinite(raw).all():
        bad = int((~np.isfinite(raw)).any(axis=1).sum())
        raise ValueError(
            f"estimator gives {bad} of {len(raw)} rows scores that are infinite or not a number; "
            f"scale the features, or use another classifier than {type(model).__name__}."
        )
    return raw


def _decisions(model: Any, X: Any, known: Any, classes: NDArray[Any]) -> Floats | None:
    """Return the decision function, one column per class, or None to use probabilities."""
    decides, weighs = (hasattr(model, name) for name in ("decision_function", "predict_proba"))
    if decides:
        raw = np.asarray(model.decision_function(X), dtype=np.float64)
        if raw.ndim == 1 and len(classes) == 2:
            return np.column_stack([-0.5 * raw, 0.5 * raw])
        if raw.shape[1:] == (len(classes),) and _has_column_per_class(model, known, classes):
            return raw
    if weighs:
        return None
    if decides:
        raise ValueError(
            "estimator must have a decision_function with one column per class; that of "
            f"{model!r} "
            'has others: use decision_function_shape="ovr" if there is such a parameter, or a '
            "classifier with predict_proba."
        )
    raise TypeError(
        "estimator must be a classifier with decision_function or predict_proba once fitted, "
        f"such as BBLRClassifier(); got {model!r}."
    )


def _has_column_per_class(model: Any, known: Any, classes: NDArray[Any]) -> bool:
    """Return whether columns are classes rather than pairs: three classes have three pairs.

    The largest column need not always be the prediction: `SVC` breaks ties of votes differently,
    and unequal plateaus shift the boundaries. Columns of pairs agree only by chance.
    """
    raw, predicted = np.asarray(model.decision_function(known)), np.asarray(model.predict(known))
    right = np.mean(classes[raw.argmax(axis=1)] == predicted)
    if len(classes) != 3:
        return bool(right >= 0.5)
    first, second, third = (raw > 0).T
    votes = np.column_stack(
        [first.astype(int) + second, ~first + third.astype(int), ~second + (~third).astype(int)]
    )
    return bool(right >= 0.5 and right > np.mean(classes[votes.argmax(axis=1)] == predicted))
