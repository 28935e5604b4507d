"""Evidence against the label of a row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bblr._numeric.arrays import plain_labels
from bblr._numeric.layouts import layout

Floats = NDArray[np.float64]

_LARGEST = 1e300


def log_odds_wrong(decision: Any, codes: NDArray[np.intp], gamma: float, b: float) -> Floats:
    """Return the log-odds that the label of each row is wrong.

    A label is drawn from the softmax s of gamma * decision with probability b, and otherwise
    from all K classes alike: that is what puts plateaus of height low = (1 - b) / K under the
    probabilities. So label g is wrong at odds of (1 - s_g) / s_g * low / (low + b).

    Parameters
    ----------
    decision : ndarray of shape (n_rows,) or (n_rows, n_classes)
        Scores; with two classes only that of the second.
    codes : ndarray of shape (n_rows,)
        Class numbers of the labels.
    gamma : float
        Sharpness.
    b : float
        Height of the upper plateaus over the lower ones.
    """
    against = log_odds_against(decision, codes, gamma)
    decision = np.asarray(decision)
    low = max((1.0 - b) / layout(decision).n_classes(decision), np.finfo(np.float64).tiny)
    return against + (np.log(low) - np.log(low + b))


def log_odds_against(decision: Any, codes: NDArray[np.intp], gamma: float) -> Floats:
    """Return the log-odds of all other classes against the label of each row, without plateaus."""
    with np.errstate(over="ignore"):
        raw = np.clip(gamma * np.asarray(decision, dtype=np.float64), -_LARGEST, _LARGEST)
    return np.asarray(layout(raw).against(raw, codes))


def label_codes(y: Any, classes: NDArray[Any]) -> NDArray[np.intp]:
    """Return the number of each label among the sorted classes, or raise an error."""
    labels = np.asarray(plain_labels(y))
    if labels.ndim != 1:
        raise ValueError(f"y must be one column of labels, got an array of shape {labels.shape}.")
    known = np.isin(labels, classes)
    if not known.all():
        raise ValueError(
            f"y holds {labels[~known].tolist()[0]!r}, which is not a class of the model; it knows "
            f"{classes.tolist()[:20]}."
        )
    return np.searchsorted(classes, labels)
