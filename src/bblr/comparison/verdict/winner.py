"""The chosen method on all rows: its coefficients, and the code that fits it again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from bblr.comparison.cells import Cell
from bblr.comparison.records import Record

__all__ = ["FinalFit", "refitting_code"]


@dataclass(frozen=True, kw_only=True)
class FinalFit(Cell):
    """A fit on all rows, once it is known which method to use."""

    def random_state(self, purpose: str) -> int:
        """Return the seed itself, which then stands in the code that fits it again."""
        return self.seed

    def work(self) -> Record:
        """Fit, and keep what can be said of the fit."""
        part = self.split(self.table)
        fitted = self.estimator(self.table, self.classifier).fit(part.X_train, part.y_train)
        chosen = _chosen(fitted)
        code = refitting_code(chosen, self.table.source) if self.table.source else None
        return {"code": code, **_coefficients(chosen)}


def _chosen(fitted: Any) -> Any:
    """Return what tuning chose, as one would write it by hand."""
    if hasattr(fitted, "best_threshold_"):
        from sklearn.model_selection import FixedThresholdClassifier

        found = FixedThresholdClassifier(
            _chosen(fitted.estimator_), threshold=float(fitted.best_threshold_)
        )
        found.estimator_ = _chosen(fitted.estimator_)
        return found
    return getattr(fitted, "best_estimator_", fitted)


def refitting_code(estimator: Any, source: str) -> str:
    """Write Python code that reads the data and fits an estimator with the same parameters.

    Parameters
    ----------
    estimator : estimator
        One whose parameters are numbers, texts and estimators.
    source : str
        Code that reads ``X`` and ``y``.
    """
    from sklearn import config_context

    parts = [type(part) for part in _parts(estimator)]
    homes = sorted({f"from {_home(part)} import {part.__name__}" for part in parts})
    with config_context(print_changed_only=True):
        # Without the limit, long lists of parameters would be cut off.
        text = estimator.__repr__(N_CHAR_MAX=100_000)
    imports, *rest = source.split("\n", 1)
    return "\n".join([imports, *homes, *rest, "", f"model = {text}", "model.fit(X, y)"])


def _parts(estimator: Any) -> Iterator[Any]:
    """Yield an estimator and those it is made of."""
    yield estimator
    for value in estimator.get_params(deep=True).values():
        if isinstance(value, BaseEstimator):
            yield value


def _home(part: type) -> str:
    """Return the public module of a class."""
    names = part.__module__.split(".")
    if names[0] == "bblr":
        return "bblr"
    private = next((i for i, name in enumerate(names) if name.startswith("_")), len(names))
    return ".".join(names[:private])


def _coefficients(fitted: Any) -> Record:
    """Return the coefficients of a linear fit: of one standard deviation, and of one unit."""
    final = getattr(fitted, "estimator_", fitted)
    scaler, model = (None, final) if not hasattr(final, "steps") else (final[0], final[-1])
    found = getattr(model, "coef_", None)
    if found is None or scaler is None:
        return {}
    per_scale = np.atleast_2d(np.asarray(found, dtype=float))
    return {
        "scaled": per_scale.tolist(),
        "per_unit": (per_scale / scaler.scale_).tolist(),
        "spread": type(scaler).__name__ == "StandardScaler",
    }
