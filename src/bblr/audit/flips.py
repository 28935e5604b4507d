"""Rates at which labels were flipped between classes, from held-out scores."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from bblr.audit.mixture import Mixture, even

Floats = NDArray[np.float64]

# Imagined rows of each class that follow the common rate: few, so that a class can go its own way.
_POOLED = 20.0
# Twice the log likelihood that a rate must gain to count at all, and for each parameter more.
_LEAST_GAIN, _GAIN_EACH = 4.0, 2.0
# How much of the overlap may pass for noise: all of it in one class, less where classes agree.
_OVERLAP_ONE, _OVERLAP_ALL = 1.0, 0.5
# Less trust than this in the rates of a class is none: they would decide which class is accused.
_LEAST_TRUST = 0.1
# No estimate says that nothing at all can be wrong: a label may be blind, for each class.
_LEAST_ROWS, _MOST_FLOOR = 1.0, 0.1
# Beyond so many classes pairs have too few rows, and one rate serves all.
_MOST_CLASSES = 100
_TINY = 1e-300


class Flips(NamedTuple):
    """The rates and what they say of each row.

    Parameters
    ----------
    rates : ndarray of shape (n_classes, n_classes)
        Share of the rows of each true class (row) that were given each label (column).
    log_odds : ndarray of shape (n_rows,)
        Log-odds that the label of each row is wrong.
    suggested : ndarray of shape (n_rows,)
        Number of the likeliest class of each row, its label apart.
    """

    rates: Floats
    log_odds: Floats
    suggested: NDArray[np.intp]


def estimate_flips(scores: Floats, codes: NDArray[np.intp], weight: Floats) -> Flips:
    """Estimate by maximum likelihood how often each class was given the label of each other.

    Label g of a row has probability sum_k T[k, g] s_k, where s is the softmax of its scores,
    sharpened and shifted as suits all rows best, and T the matrix of flip rates. Far from the
    boundaries s is 0 or 1, and the labels show T alone; near them noise and overlap look alike.
    So a rate is believed as far as the likelihood gains by it and as it exceeds the overlap.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, n_classes)
        Scores by models that have not seen the labels; only differences within a row count.
    codes : ndarray of shape (n_rows,)
        Class numbers of the labels.
    weight : ndarray of shape (n_rows,)
        Weights; a row of weight 2 counts as two rows, one of weight 0 is judged and no more.

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
    flips, free = _believed(rows)
    moved = rows.sums(flips, free, inform=False).moved
    # A class that no row seems to belong to keeps the rates that were assumed for it.
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


def _believed(rows: Mixture) -> tuple[Floats, Floats]:
    """Return the flip rates to believe in, and the sharpness and shifts that go with them."""
    k, total = rows.n_classes, rows.total
    without = rows.calibrated(np.eye(k), rows.start())
    blind, with_blind = rows.blind(without)
    gain = with_blind.value - without.value
    overlap, size = rows.overlap(with_blind.free)
    shared = _OVERLAP_ALL * float(overlap @ size) / total
    floor = min(_LEAST_ROWS * k / total, _MOST_FLOOR)
    kept = _kept(gain, 1)
    common = even(max(blind * kept * _clear(blind * (k - 1) / k, shared), floor), k)
    flips, free = common, with_blind.free
    if k <= _MOST_CLASSES:
        pooled = even(max(blind * kept, floor), k)
        flips, free = _own_rates(rows, pooled, common, free)
    return flips, rows.calibrated(flips, free).free


def _own_rates(
    rows: Mixture, pooled: Floats, common: Floats, free: Floats
) -> tuple[Floats, Floats]:
    """Return the flip rates of each class where they are to be believed, else the common ones.

    Also the sharpness and shifts to go on from.
    """
    flips, own = rows.unequal(_POOLED * pooled, free)
    own, value = rows.calibrated(flips, own)
    overlap, _ = rows.overlap(own)
    believed = common.copy()
    n_classes = rows.n_classes
    for k in range(n_classes):
        without = flips.copy()
        without[k] = pooled[k]
        # Other sharpness and shifts make up for some of the loss: where even all of it is too
        # little, they need not be sought.
        most = value - rows.sums(without, own, inform=False).value
        if _kept(most, n_classes - 1) < _LEAST_TRUST:
            continue
        gain = value - rows.calibrated(without, own).value
        apart = abs(float(flips[k, k] - pooled[k, k]))
        clear = _clear(apart, _OVERLAP_ONE * float(overlap[k]))
        trust = _kept(gain, n_classes - 1) * clear
        if trust >= _LEAST_TRUST:
            believed[k] += trust * (flips[k] - common[k])
            free = own
    return believed, free


def _kept(gain: float, parameters: int) -> float:
    """Return how much of an estimate to keep, by the log likelihood that it gains."""
    least = _LEAST_GAIN + _GAIN_EACH * (parameters - 1)
    return 1.0 - (least / max(2.0 * gain, least)) ** 2


def _clear(wrong: float, overlap: float) -> float:
    """Return how far a rate stands out above what overlap could pass off as noise."""
    return wrong**2 / max(wrong**2 + overlap**2, _TINY)
