"""Rates at which labels were flipped between classes, from held-out scores."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from bblr.audit.mixture import Mixture, symmetric_flips
from bblr.audit.models import Floats

# Pseudo-rows per class that follow the common rate: few, so that a class can deviate from it.
_POOLED = 20.0
# Twice the log likelihood that a rate must gain to count, and for each further parameter.
_LEAST_GAIN, _GAIN_EACH = 4.0, 2.0
# Share of the overlap that may be mistaken for noise: all in one class, less over all classes.
_OVERLAP_ONE, _OVERLAP_ALL = 1.0, 0.5
# Rates of a class are ignored below this trust.
_LEAST_TRUST = 0.1
# Least rate of uninformative labels, in rows per class, and its maximum.
_LEAST_ROWS, _MOST_FLOOR = 1.0, 0.1
# Beyond this many classes pairs have too few rows, and one rate is used for all.
_MOST_CLASSES = 100
_TINY = 1e-300


class Flips(NamedTuple):
    """Flip rates, and log-odds and suggestions for each row.

    Parameters
    ----------
    rates : ndarray of shape (n_classes, n_classes)
        Share of the rows of each true class (row) that were given each label (column).
    log_odds : ndarray of shape (n_rows,)
        Log-odds that the label of each row is wrong.
    suggested : ndarray of shape (n_rows,)
        Most probable class of each row other than its label, as a class number.
    """

    rates: Floats
    log_odds: Floats
    suggested: NDArray[np.intp]


def estimate_flips(scores: Floats, codes: NDArray[np.intp], weight: Floats) -> Flips:
    """Estimate by maximum likelihood how often each class was given the label of each other.

    Label g of a row has probability sum_k T[k, g] s_k, where s is the softmax of its scores, with
    fitted sharpness and shifts, and T the matrix of flip rates. Far from the boundaries s is 0 or
    1, and the labels depend on T alone; near them noise cannot be told from overlap. So rates are
    shrunk unless they improve the likelihood clearly and exceed the overlap.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, n_classes)
        Scores by models that have not seen the labels; only differences within a row matter.
    codes : ndarray of shape (n_rows,)
        Class numbers of the labels.
    weight : ndarray of shape (n_rows,)
        Weights; a row of weight 2 counts as two rows, one of weight 0 is only scored.

    Returns
    -------
    Flips
        Rates, log-odds and suggestions.

    Examples
    --------
    A quarter of the first class was given the label of the second, and none the other way:

    >>> import numpy as np
    >>> from bblr.audit.flips import estimate_flips
    >>> rng = np.random.default_rng(0)
    >>> truth = np.repeat([0, 1], 500)
    >>> right = rng.normal(4.0, 1.0, size=1000) * (2 * truth - 1)
    >>> codes = np.where((truth == 0) & (rng.random(1000) < 0.25), 1, truth)
    >>> found = estimate_flips(np.column_stack([-right, right]), codes, np.ones(1000))
    >>> float(np.mean(codes[:500])), found.rates.round(2)
    (0.258, array([[0.74, 0.26],
           [0.  , 1.  ]]))
    """
    rows = Mixture.of(scores, codes, weight)
    flips, free = _shrunken_rates(rows)
    moved = rows.sums(flips, free, inform=False).moved
    # A class to which no row seems to belong keeps its prior rates.
    moved += flips / rows.total
    joint = np.log(np.maximum(flips, _TINY)).T[codes] + rows.logits(free)
    every = np.arange(len(codes))
    own = joint[every, codes].copy()
    joint[every, codes] = -np.inf
    return Flips(
        moved / moved.sum(axis=1, keepdims=True),
        np.asarray(logsumexp(joint, axis=1)) - own,
        joint.argmax(axis=1).astype(np.intp),
    )


def _shrunken_rates(rows: Mixture) -> tuple[Floats, Floats]:
    """Return shrunken flip rates, and the sharpness and shifts fitted with them."""
    k, total = rows.n_classes, rows.total
    without = rows.calibrated(np.eye(k), rows.start())
    blind, with_blind = rows.blind(without)
    gain = with_blind.value - without.value
    overlap, size = rows.overlap(with_blind.free)
    shared = _OVERLAP_ALL * float(overlap @ size) / total
    floor = min(_LEAST_ROWS * k / total, _MOST_FLOOR)
    kept = _shrinkage(gain, 1)
    common = symmetric_flips(
        max(blind * kept * _above_overlap(blind * (k - 1) / k, shared), floor), k
    )
    flips, free = common, with_blind.free
    if k <= _MOST_CLASSES:
        pooled = symmetric_flips(max(blind * kept, floor), k)
        flips, free = _rates_by_class(rows, pooled, common, free)
    return flips, rows.calibrated(flips, free).free


def _rates_by_class(
    rows: Mixture, pooled: Floats, common: Floats, free: Floats
) -> tuple[Floats, Floats]:
    """Return the flip rates of each class, shrunk towards the common ones.

    Also the sharpness and shifts to continue from.
    """
    flips, own = rows.rates_by_class(_POOLED * pooled, free)
    own, value = rows.calibrated(flips, own)
    overlap, _ = rows.overlap(own)
    found = common.copy()
    n_classes = rows.n_classes
    for k in range(n_classes):
        without = flips.copy()
        without[k] = pooled[k]
        # Refitted sharpness and shifts would recover part of the loss: where all of it is too
        # little, no refit is needed.
        most = value - rows.sums(without, own, inform=False).value
        if _shrinkage(most, n_classes - 1) < _LEAST_TRUST:
            continue
        gain = value - rows.calibrated(without, own).value
        apart = abs(float(flips[k, k] - pooled[k, k]))
        above = _above_overlap(apart, _OVERLAP_ONE * float(overlap[k]))
        trust = _shrinkage(gain, n_classes - 1) * above
        if trust >= _LEAST_TRUST:
            found[k] += trust * (flips[k] - common[k])
            free = own
    return found, free


def _shrinkage(gain: float, parameters: int) -> float:
    """Return the factor by which to shrink an estimate, given its gain in log likelihood."""
    least = _LEAST_GAIN + _GAIN_EACH * (parameters - 1)
    return 1.0 - (least / max(2.0 * gain, least)) ** 2


def _above_overlap(wrong: float, overlap: float) -> float:
    """Return, between 0 and 1, how far a rate exceeds what overlap could explain."""
    return wrong**2 / max(wrong**2 + overlap**2, _TINY)
