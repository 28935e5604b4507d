"""Checks of the arguments of Displays, before Matplotlib or NumPy fail on them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

Floats = NDArray[np.float64]


def last_step(estimator: Any) -> Any:
    """Return the classifier at the end of pipelines and inside searches."""
    while True:
        if hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif hasattr(estimator, "steps"):
            estimator = estimator.steps[-1][1]
        else:
            return estimator


def fitted(estimator: Any, remedy: str) -> Any:
    """Return the classifier inside an estimator, which must be a fitted instance."""
    # A class has no steps yet.
    model = estimator if isinstance(estimator, type) else last_step(estimator)
    if isinstance(model, type):
        raise TypeError(f"estimator must be an instance; write {model.__name__}(...).fit(X, y).")
    if not hasattr(model, "fit"):
        raise TypeError(
            f"estimator must be a fitted classifier, got {model!r:.60} of type "
            f"{type(model).__name__}; {remedy}."
        )
    check_is_fitted(model)
    if hasattr(model, "best_params_") and hasattr(model, "refit"):
        raise TypeError(
            f"estimator is a {type(model).__name__} that keeps no classifier; set refit=True and "
            "fit it again."
        )
    return model


def fitted_attribute(display: type, estimator: Any, attribute: str, remedy: str) -> Any:
    """Return the classifier inside an estimator, which must be fitted and have an attribute."""
    model = fitted(estimator, remedy)
    if not hasattr(model, attribute):
        raise TypeError(
            f"{display.__name__} needs an estimator with {attribute}, and this "
            f"{type(model).__name__} has none; {remedy}."
        )
    return model


def one_dimensional(name: str, values: Any) -> Floats:
    """Return the values as a one-dimensional array without NaN; the name is for messages."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"{name} must be a sequence of numbers, got {values!r:.60}; give one number per point."
        ) from None
    if array.ndim != 1:
        raise ValueError(
            f"{name} must be one-dimensional, got shape {array.shape}; give one number per point."
        )
    if np.isnan(array).any():
        raise ValueError(f"{name} must hold no NaN; leave such points out of all the curves.")
    return array


def finite(name: str, values: Any) -> Floats:
    """Return the values as a one-dimensional array of finite numbers."""
    array = one_dimensional(name, values)
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite; leave infinite points out of all the curves.")
    return array


def positive(name: str, array: Floats) -> Floats:
    """Return the array, or raise a ValueError unless all values are positive."""
    if (array <= 0).any():
        raise ValueError(f"{name} must be above 0, got {array.min():g}.")
    return array


def same_length(columns: Mapping[str, Floats | None]) -> None:
    """Raise a ValueError unless the columns have the same length and are not empty."""
    lengths = {name: len(column) for name, column in columns.items() if column is not None}
    if len(set(lengths.values())) != 1 or 0 in lengths.values():
        said = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise ValueError(f"The curves must have as many points each, and at least one: {said}.")


def check_text(name: str, value: Any) -> Any:
    """Return the value, or raise a TypeError unless it is a string or None."""
    if value is not None and not isinstance(value, str):
        raise TypeError(f"{name} must be a string or None, got {value!r:.60}.")
    return value


def check_subset(subset: Any) -> Any:
    """Return the subset, or raise a ValueError unless it is a known one or None."""
    if subset not in ("training", "held-out", None):
        raise ValueError(f"subset must be 'training', 'held-out' or None, got {subset!r:.60}.")
    return subset


def check_axes(ax: Any) -> None:
    """Raise a TypeError unless `ax` is a Matplotlib Axes or None."""
    from matplotlib.axes import Axes

    if ax is None or isinstance(ax, Axes):
        return
    if isinstance(ax, np.ndarray | list | tuple):
        remedy = "plt.subplots returns several: pass one of them, as in ax=axes[0]"
    elif hasattr(ax, "add_subplot"):
        remedy = "pass ax=figure.add_subplot()"
    else:
        remedy = "take one from plt.subplots(), or leave it out"
    raise TypeError(f"ax must be a Matplotlib Axes or None, got {type(ax).__name__}; {remedy}.")


def check_style(given: Any, name: str = "") -> dict[str, Any]:
    """Return the properties of a line by their full names."""
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.lines import Line2D

    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise TypeError(f"{name} must be a dict of properties of a line, got {given!r:.60}.")
    look: dict[str, Any] = normalize_kwargs(dict(given), Line2D)
    # Invalid properties are refused here, before there is a figure.
    Line2D([], []).set(**{key: look[key] for key in look if key not in ("scalex", "scaley")})
    return look
