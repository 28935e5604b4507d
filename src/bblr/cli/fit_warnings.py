"""Warnings that matter: what a fit learned may be of no use, whatever its errors are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from bblr.evaluation.tally import Scores
from bblr.io.contributions import column_names
from bblr.io.model import SavedModel

__all__ = ["Caution", "cautions", "never_predicted"]

# A class with a smaller share is rare.
_RARE = 0.1
# A column that makes no more than this share of the errors of the majority class decides alone.
_ALONE = 0.01
# Different values of a feature that are looked at one by one, and rows that are looked at.
_VALUES, _ROWS = 50, 20_000
_MOST = 5


class Caution(NamedTuple):
    """A warning: what kind it is, for scripts, and the sentence."""

    kind: str
    message: str


def cautions(
    model: SavedModel, X: Any, y: np.ndarray, predicted: np.ndarray, scores: Scores | None
) -> Iterator[Caution]:
    """Yield what a user should know before he trusts the model.

    Parameters
    ----------
    model : SavedModel
        The model.
    X : {ndarray, sparse matrix} of shape (rows, features)
        Training rows.
    y, predicted : ndarray of shape (rows,)
        Their labels, and what the model makes of them.
    scores : Scores or None
        Those of held-out rows.
    """
    names, counts = np.unique(y, return_counts=True)
    classes = names.tolist()
    made, where = np.isin(names, predicted), ""
    if made.all() and scores is not None:
        made, where = scores.confusion.sum(axis=0) > 0, "on held-out rows, "
    yield from never_predicted(model, made, scores, where)
    share = counts.min() / len(y)
    if len(classes) == 2 and share < _RARE:
        rare = classes[int(np.argmin(counts))]
        yield Caution(
            "rare",
            f"class {rare!r} is rare ({counts.min():,} rows, {100 * share:.1f} %): the error "
            "says little about it; look at the AUC, and at precision and recall in bblr evaluate",
        )
    deciding = _deciding(model, X, y)
    if deciding:
        shown = ", ".join(map(repr, deciding[:_MOST])) + (", …" * bool(deciding[_MOST:]))
        one = len(deciding) == 1
        yield Caution(
            "leakage",
            f"{'column' if one else 'each of the columns'} {shown} alone determines the class; if "
            f"{'it is' if one else 'they are'} known only afterwards, leave "
            f"{'it' if one else 'them'} out with --drop {','.join(deciding)}",
        )


def never_predicted(
    model: SavedModel, made: np.ndarray, scores: Scores | None, where: str = ""
) -> Iterator[Caution]:
    """Yield a warning where a class is never predicted.

    Parameters
    ----------
    model : SavedModel
        The model.
    made : ndarray of bool, shape (n_classes,)
        Which classes are predicted.
    scores : Scores or None
        Those of rows that it was not trained on.
    where : str, default=""
        Which rows are meant, in front of the sentence.
    """
    classes = model.classes.tolist()
    never = [label for label, known in zip(classes, made, strict=True) if not known]
    if not never:
        return
    some = [label for label, known in zip(classes, made, strict=True) if known]
    shown = ", ".join(map(repr, never[:_MOST])) + (", …" * bool(never[_MOST:]))
    remedy = "--param class_weight=balanced gives all classes the same weight"
    if model.has_probabilities:
        ranks = (
            "" if scores is None or scores.mean_auc is None else f" (AUC {scores.mean_auc:.2f})"
        )
        remedy = f"bblr predict --proba still ranks rows{ranks}, and {remedy}"
    what = f"predicts {some[0]!r} for every row, never" if len(some) == 1 else "never predicts"
    yield Caution("constant", f"{where}the model {what} {shown}; {remedy}")


def _deciding(model: SavedModel, X: Any, y: np.ndarray) -> list[str]:
    """Return the columns each of which decides nearly all rows by itself."""
    if hasattr(X, "toarray"):
        return []  # columns of words and the like are many, and say little each
    _, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    every = max(1, -(-len(y) // _ROWS))
    X, codes = X[::every], codes[::every]
    allowed = _ALONE * (len(codes) - counts.max() / every)
    found, start = [], 0
    for name, width in zip(column_names(model), model.layout.widths, strict=True):
        part = X[:, start : start + width]
        start += width
        if _least_errors(part, codes) <= allowed:
            found.append(name)
    return found


def _least_errors(part: np.ndarray, codes: np.ndarray) -> float:
    """Return the errors of the best rule on one column: a class a value, or one threshold."""
    values, which = np.unique(part, axis=0, return_inverse=True)
    which = which.ravel()
    if len(values) <= min(_VALUES, len(codes) // 10):
        table = np.zeros((len(values), codes.max() + 1))
        np.add.at(table, (which, codes), 1)
        return float(len(codes) - table.max(axis=1).sum())
    return min(_threshold_errors(feature, codes) for feature in part.T)


def _threshold_errors(feature: np.ndarray, codes: np.ndarray) -> float:
    if codes.max() > 1:
        return float(len(codes))
    order = np.argsort(feature, kind="stable")
    ones = np.concatenate([[0], np.cumsum(codes[order])])
    below = np.arange(len(codes) + 1)
    ends = np.concatenate([[True], np.diff(feature[order]) > 0, [True]])
    # Ones below a threshold and the others above it are errors; or the other way round.
    wrong = (ones + (len(codes) - ones[-1]) - (below - ones))[ends]
    return float(min(wrong.min(), (len(codes) - wrong).min()))
