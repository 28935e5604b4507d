"""The chosen method on all rows: its coefficients, and the code that fits it again."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import signature
from textwrap import indent
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
    if hasattr(fitted, "flip_matrix_"):
        from sklearn.base import clone

        found = clone(fitted).set_params(estimator=_chosen(fitted.estimator_))
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
    parts: list[type] = []
    text = _written(estimator, parts)
    homes = sorted({_import_of(part) for part in parts})
    imports, *rest = source.split("\n", 1)
    return "\n".join([imports, *homes, *rest, "", f"model = {text}", "model.fit(X, y)"])


def _written(estimator: Any, parts: list[type]) -> str:
    """Write the call that makes an estimator, its parts on lines of their own; note the parts."""
    from sklearn.pipeline import Pipeline

    defaults = signature(type(estimator)).parameters
    inner, plain = [], []
    parts.append(type(estimator))
    if type(estimator) is Pipeline:
        inner = [_written(step, parts) for _, step in estimator.steps]
    else:
        for name, value in estimator.get_params(deep=False).items():
            if isinstance(value, BaseEstimator):
                inner.append(_written(value, parts))
            elif repr(value) != repr(defaults[name].default):
                plain.append(f"{name}={value!r}")
    name = "make_pipeline" if type(estimator) is Pipeline else type(estimator).__name__
    if not inner:
        return f"{name}({', '.join(plain)})"
    lines = ",\n".join([*inner, *plain])
    return f"{name}(\n{indent(lines, '    ')},\n)"


def _import_of(part: type) -> str:
    """Return the line that imports a class from its public module, or what makes a pipeline."""
    names = part.__module__.split(".")
    private = next((i for i, name in enumerate(names) if name.startswith("_")), len(names))
    home = "bblr" if names[0] == "bblr" else ".".join(names[:private])
    return (
        f"from {home} import {'make_pipeline' if part.__name__ == 'Pipeline' else part.__name__}"
    )


def _coefficients(fitted: Any) -> Record:
    """Return the coefficients of a linear fit: of one standard deviation, and of one unit."""
    final = fitted
    while hasattr(final, "estimator_"):
        final = final.estimator_
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
