"""What each column adds to the score of a row, compared with the average training row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bblr.io.model import SavedModel

__all__ = ["column_names", "contributions", "explainable", "margins", "turning_points"]

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
# Numbers of a block of rows.
_BLOCK = 2**22


def column_names(model: SavedModel) -> list[str]:
    """Return the columns of the file that have features, in the order of the features."""
    layout = model.layout
    return [column.name for column in layout.columns] or layout.feature_names


def explainable(model: SavedModel) -> str | None:
    """Return why rows cannot be explained, or None."""
    if model.typical is None:
        return "was saved without what training rows are like; fit it again"
    if getattr(model.classifier, "kernel", None) == "precomputed":
        return "has a kernel of its own, which knows no columns; fit it with another kernel"
    return None


def margins(model: SavedModel, X: Any, towards: Codes, against: Codes) -> Floats:
    """Return by how much each row scores higher for a class than for another.

    Parameters
    ----------
    model : SavedModel
        The model.
    X : {ndarray, sparse matrix} of shape (rows, features)
        Encoded rows.
    towards, against : ndarray of int, shape (rows,)
        The two classes of each row, by number.

    Returns
    -------
    ndarray of shape (rows,)
        Log-odds before the plateaus, where the model tells probabilities; 0 is the boundary.
    """
    found = _sharpness(model) * np.asarray(model.decision_function(X), dtype=np.float64)
    if found.ndim == 1:
        return np.where(towards == 1, found, -found)
    rows = np.arange(len(found))
    return found[rows, towards] - found[rows, against]


def _sharpness(model: SavedModel) -> float:
    """Return what turns scores into log-odds; 1 where there is no such thing."""
    return float(getattr(getattr(model.classifier, "link_", None), "gamma", 1.0))


def contributions(model: SavedModel, X: Any, towards: Codes, against: Codes) -> Floats:
    """Return by how much the margin would fall if a column were as in the average row.

    Of a linear model the parts add up to the margin over that of the average row; of a kernel
    they need not, since columns act together.

    Parameters
    ----------
    model : SavedModel
        The model, with what training rows are like.
    X : {ndarray, sparse matrix} of shape (rows, features)
        Encoded rows.
    towards, against : ndarray of int, shape (rows,)
        The two classes of each row, by number.

    Returns
    -------
    ndarray of shape (rows, columns)
        In the units of :func:`margins`, in the order of :func:`column_names`.
    """
    assert model.typical is not None
    whole = X.shape[0]
    some = max(1, _BLOCK // X.shape[1])
    part = _linear if hasattr(model.classifier, "coef_") else _replaced
    blocks = []
    for start in range(0, whole, some):
        rows = slice(start, start + some)
        dense = X[rows].toarray() if hasattr(X, "toarray") else np.asarray(X[rows])
        blocks.append(part(model, dense, towards[rows], against[rows]))
    return np.concatenate(blocks) if blocks else np.empty((0, len(model.layout.widths)))


def _linear(model: SavedModel, X: Floats, towards: Codes, against: Codes) -> Floats:
    coef = _sharpness(model) * np.asarray(model.classifier.coef_)
    if model.scaling is not None:
        coef = coef / model.scaling.scale
    if len(coef) == 1:
        coef = np.vstack([-coef, coef]) / 2.0
    assert model.typical is not None
    parts = (X - model.typical.mean) * (coef[towards] - coef[against])
    starts = np.cumsum([0, *model.layout.widths[:-1]])
    return np.asarray(np.add.reduceat(parts, starts, axis=1))


def turning_points(model: SavedModel, x: Floats, towards: int, against: int) -> Floats:
    """Return, for each feature, the value at which a row would change from a class to another.

    Parameters
    ----------
    model : SavedModel
        A linear model.
    x : ndarray of shape (features,)
        An encoded row.
    towards, against : int
        The two classes, by number.

    Returns
    -------
    ndarray of shape (features,)
        Not finite where the feature does not tell them apart.
    """
    coef = np.asarray(model.classifier.coef_, dtype=np.float64)
    if len(coef) == 1:
        coef = np.vstack([-coef, coef]) / 2.0
    pair = np.array([towards]), np.array([against])
    margin = margins(model, x[np.newaxis], *pair) / _sharpness(model)
    with np.errstate(divide="ignore", invalid="ignore"):
        return x - margin / (coef[towards] - coef[against])


def _replaced(model: SavedModel, X: Floats, towards: Codes, against: Codes) -> Floats:
    assert model.typical is not None
    whole, found, start = margins(model, X, towards, against), [], 0
    for width in model.layout.widths:
        other = X.copy()
        other[:, start : start + width] = model.typical.mean[start : start + width]
        found.append(whole - margins(model, other, towards, against))
        start += width
    return np.column_stack(found)
