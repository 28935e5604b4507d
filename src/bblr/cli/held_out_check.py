"""How a classifier does on rows that it was not trained on, told before it is saved."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.console import Console
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold

from bblr._bars import Bar
from bblr.evaluation.tally import Scores, Tally

__all__ = ["HeldOut", "held_out"]

_FOLDS = 5
# Rows times features times classes up to which all folds are fitted, and not only the first; and
# up to which they are where one fold has fewer rows of some class than figures can rest on.
_ALL_FOLDS, _ALL_IF_RARE, _RARE = 2**18, 2**22, 100
# Whose fits take long whatever the size.
_SLOW = ("Kernel", "ZeroOne")


@dataclass(frozen=True)
class HeldOut:
    """Scores of held-out rows, or why there are none.

    Parameters
    ----------
    how : str
        Which rows they are, or why there are none.
    scores : Scores or None
        Their scores.
    """

    how: str
    scores: Scores | None


def held_out(classifier: Any, X: Any, y: np.ndarray, seed: int, messages: Console) -> HeldOut:
    """Fit copies of a classifier to parts of the rows and score the others.

    Settings that it chooses for itself are chosen anew in each part, so that nothing of the rows
    that are scored is known. Where rows are many, of each class, one fifth is held out, once.
    """
    classes, codes = np.unique(y, return_inverse=True)
    least = int(np.bincount(codes).min())
    # A search needs two rows of each class to be left.
    needed = 3 if type(classifier).__name__.endswith("CV") else 2
    if least < needed:
        rare = classes[np.argmin(np.bincount(codes))]
        return HeldOut(f"no held-out figures: class {rare.item()!r} has too few rows", None)
    n_folds = min(_FOLDS, least)
    size = X.shape[0] * X.shape[1] * len(classes)
    most = _ALL_IF_RARE if least < _RARE * n_folds else _ALL_FOLDS
    once = size > most or any(word in type(classifier).__name__ for word in _SLOW)
    folds = list(StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(codes, codes))
    folds = folds[:1] if once else folds
    tally = Tally(len(classes))
    with (
        Bar(messages, "Checking on held-out rows", estimate=True) as bar,
        warnings.catch_warnings(),
    ):
        # Told of by the fit of all rows.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", UserWarning)
        for done, (train, test) in enumerate(folds):
            bar.tell(done / len(folds), f"part {done + 1} of {len(folds)}")
            try:
                model = clone(classifier).fit(X[train], y[train])
            except ValueError as error:  # what all rows can do, a part of them need not
                return HeldOut(f"no held-out figures: {error}", None)
            predicted = np.searchsorted(classes, model.predict(X[test]))
            if hasattr(model, "predict_proba"):
                tally.add(codes[test], predicted, model.predict_proba(X[test]))
            else:
                tally.add(codes[test], predicted, None, model.decision_function(X[test]))
    rows = sum(len(test) for _, test in folds)
    how = f"held out, {rows:,} rows" if once else f"held out, {n_folds}-fold cross-validation"
    return HeldOut(how, tally.scores())
