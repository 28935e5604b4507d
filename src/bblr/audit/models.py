"""Classifiers of any library: fitted copies, and scores per row and class."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import clone, is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.validation import has_fit_parameter

Floats = NDArray[np.float64]

# Least probability, for logarithms.
_LEAST = 1e-6


def check_estimator(estimator: Any) -> None:
    """Raise a TypeError unless it is a classifier."""
    # Some estimators have these methods only once they are fitted.
    whole = hasattr(estimator, "__sklearn_tags__") and not isinstance(estimator, type)
    if not whole or not is_classifier(estimator):
        raise TypeError(
            "estimator must be a classifier with decision_function or predict_proba, such as "
            f"BBLRClassifier(); got {estimator!r}."
        )


def check_learns(estimator: Any, remedy: str = "") -> None:
    """Raise a ValueError for a classifier that cannot be trained."""
    parts = (estimator, *estimator.get_params().values())
    if any(isinstance(part, FrozenEstimator) and is_classifier(part) for part in parts):
        raise ValueError(
            "estimator is frozen: it cannot be trained without the rows it is to score. Pass the "
            f"classifier itself{remedy}."
        )


def fitted(
    estimator: Any,
    X: Any,
    y: NDArray[Any],
    weight: Floats | None,
    params: Mapping[str, Any] = MappingProxyType({}),
) -> Any:
    """Return a fitted copy; the weights of a pipeline go to its last step."""
    if weight is None:
        return clone(estimator).fit(X, y, **params)
    try:
        return clone(estimator).fit(X, y, **{**params, _weight_name(estimator): weight})
    except (TypeError, ValueError) as error:
        if takes_weights(estimator) or "sample_weight" not in str(error):
            raise
        raise ValueError(
            f"sample_weight cannot be used by {type(estimator).__name__}; leave it out, or use a "
            "classifier whose fit takes it, or a pipeline or a search of settings around one. "
            f"({error})"
        ) from error


def takes_weights(estimator: Any) -> bool:
    """Return whether weights can be passed to ``fit``, to the last step of a pipeline.

    With metadata routing, whether they have been requested.
    """
    if routing_enabled():
        routing = get_routing_for_object(estimator)
        if not hasattr(routing, "fit"):
            return bool(routing.consumes("fit", ["sample_weight"]))
        # By its own name or by another.
        request = routing.fit.requests.get("sample_weight")
        return request is True or isinstance(request, str)
    if isinstance(estimator, Pipeline):
        return takes_weights(estimator.steps[-1][1])
    if _is_search(estimator):
        return takes_weights(estimator.estimator)
    return bool(has_fit_parameter(estimator, "sample_weight"))


def routing_enabled() -> bool:
    """Return whether scikit-learn routes metadata by request."""
    return bool(get_config()["enable_metadata_routing"])


def _is_search(estimator: Any) -> bool:
    return hasattr(estimator, "refit") and hasattr(estimator, "estimator")


def _weight_name(estimator: Any) -> str:
    if routing_enabled():
        return "sample_weight"
    if _is_search(estimator):
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
