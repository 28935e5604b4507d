"""What must hold of a fitted model: its classes, weights, scores and probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.fuzz import layouts
from tests.fuzz.data import Data
from tests.fuzz.refusals import Wrong, no_warnings, refusal

Floats = NDArray[np.float64]

_NUMBERS = ("coef_", "intercept_", "dual_coef_", "gamma_", "kernel_gamma_", "l2_")


def check_answer(model: Any, data: Data) -> None:
    """Raise Wrong unless classes, weights, scores and probabilities are as they must be."""
    with no_warnings():
        expected = known_classes(data)
        found = list(model.classes_.tolist())
        if found != expected:
            raise Wrong(f"classes_ are {found}, the labels given {expected}")
        for name in _NUMBERS:
            value = getattr(model, name, None)
            if value is not None and not np.isfinite(np.asarray(value)).all():
                raise Wrong(f"{name} is not finite: {value}")
        check_predictions(model, data.X, len(data.table))
        _check_outliers(model, data)
        _check_loss(model, data)
        _check_another_width(model, data)
        try:
            check_predictions(model, data.laid_out(_farther(data)), len(data.table))
        except (ValueError, TypeError) as error:
            refusal(error, ())


def known_classes(data: Data) -> list[Any]:
    """Return the sorted labels of the rows that count."""
    y = data.y
    values = np.asarray(y, dtype=object).ravel() if not isinstance(y, list) else y
    positive = data.weights_of_rows > 0
    factors = dict(data.case.params).get("class_weight")
    factors = factors if isinstance(factors, dict) else {}
    known = {
        value
        for value, some in zip(values, positive, strict=True)
        if some and factors.get(value) != 0
    }
    return sorted(value.item() if isinstance(value, np.generic) else value for value in known)


def _farther(data: Data) -> Floats:
    with np.errstate(all="ignore"):
        return layouts.rounded(data.case.layout, np.clip(4.0 * data.table[::-1], -1e308, 1e308))


def check_predictions(model: Any, X: Any, n: int) -> None:
    """Raise Wrong unless predictions of some rows are finite and fit together."""
    classes = np.asarray(model.classes_)
    predicted = np.asarray(model.predict(X))
    if predicted.shape != (n,) or not set(predicted.tolist()) <= set(classes.tolist()):
        raise Wrong(f"predictions are not classes: {predicted[:5]}")
    decision = np.asarray(model.decision_function(X))
    if decision.shape != ((n,) if len(classes) == 2 else (n, len(classes))):
        raise Wrong(f"scores have the shape {decision.shape}")
    if not np.isfinite(decision).all():
        raise Wrong(f"scores are not finite: {decision[:5]}")
    if decision.ndim == 1 and not np.array_equal(predicted, classes[(decision > 0).astype(int)]):
        raise Wrong("predict is not the sign of the score")
    if hasattr(model, "predict_proba"):
        _check_probabilities(model, X, predicted)


def _check_probabilities(model: Any, X: Any, predicted: NDArray[Any]) -> None:
    classes = np.asarray(model.classes_)
    p = np.asarray(model.predict_proba(X))
    if p.shape != (len(predicted), len(classes)) or not np.isfinite(p).all():
        raise Wrong(f"probabilities are not finite: {p[:5]}")
    if (p < 0).any() or (p > 1).any() or np.abs(p.sum(axis=1) - 1.0).max() > 1e-12:
        raise Wrong(f"probabilities are none: {p[:5]}")
    if not np.array_equal(predicted, classes[p.argmax(axis=1)]):
        raise Wrong("predict is not the argmax of predict_proba")
    logs = np.asarray(model.predict_log_proba(X))
    if not np.allclose(np.exp(logs), p, rtol=1e-9, atol=0.0):
        raise Wrong(f"predict_log_proba is not the logarithm of predict_proba: {logs[:5]}")


def _check_outliers(model: Any, data: Data) -> None:
    """Check that the evidence against the labels is finite, and none where they are predicted."""
    if not isinstance(data.y, list | np.ndarray) or np.ndim(data.y) != 1:
        return
    counted = data.weights_of_rows > 0
    known = np.isin(np.asarray(data.y), np.asarray(model.classes_))
    if not known.all():  # a class that has rows of weight 0 only
        return
    scores = np.asarray(model.outlier_scores(data.X, data.y))
    if scores.shape != counted.shape or not np.isfinite(scores).all():
        raise Wrong(f"outlier_scores are not finite: {scores[:5]}")
    if len(model.classes_) > 2:  # the likeliest of many classes may still be likelier wrong
        return
    right = np.asarray(model.predict(data.X)) == np.asarray(data.y)
    if (scores[right] > 1e-9).any():
        raise Wrong("outlier_scores speak against labels that are predicted")


def _check_loss(model: Any, data: Data) -> None:
    """Check that a zero-one loss is that of the weights returned, and no less than the bound."""
    loss = getattr(model, "zero_one_loss_", None)
    if loss is None or data.case.params:
        return
    wrong = np.asarray(model.predict(data.X)) != np.asarray(data.y).ravel()
    # A row on the hyperplane itself is an error, whatever its label.
    wrong |= np.asarray(model.decision_function(data.X)) == 0
    own = float(data.weights_of_rows[wrong].sum())
    total = float(data.weights_of_rows.sum())
    if abs(own - loss) > 1e-9 * total:
        raise Wrong(f"zero_one_loss_ is {loss}, and predict errs by {own}")
    if model.lower_bound_ > loss * (1 + 1e-12) or not 0 <= model.gap_ <= 1:
        raise Wrong(f"the bound {model.lower_bound_} exceeds the loss {loss}")


def _check_another_width(model: Any, data: Data) -> None:
    if data.case.layout not in ("rows", "columns", "float32", "csr"):
        return
    try:
        model.predict(data.laid_out(np.column_stack([data.table, data.table[:, :1]])))
    except ValueError as error:
        refusal(error, ())
    else:
        raise Wrong("rows with another number of columns were taken")
