"""Training sets that allow for wrong labels: which rows, with which labels and weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from bblr.audit.models import Floats

Codes = NDArray[np.intp]

# A copy of a row that weighs less than this changes little but the time of the fit.
_LEAST_WEIGHT = 0.02


class Refit(NamedTuple):
    """Rows to train on, by number, with class numbers and weights.

    Parameters
    ----------
    rows : ndarray of int
        Row numbers; a row may occur more than once.
    codes : ndarray of int
        Class numbers to train them with.
    weight : ndarray or None
        Weights, if any.
    """

    rows: Codes
    codes: Codes
    weight: Floats | None

    def within(self, rows: Codes) -> Self:
        """Return the part of it that lies within these rows, in their order."""
        order = np.argsort(self.rows, kind="stable")
        start, stop = (np.searchsorted(self.rows[order], rows, side) for side in ("left", "right"))
        found = [order[i:j] for i, j in zip(start, stop, strict=True)]
        at = np.concatenate(found) if found else order[:0]
        weight = None if self.weight is None else self.weight[at]
        return type(self)(self.rows[at], self.codes[at], weight)

    def weighted(self, weight: Floats | None) -> Self:
        """Return it with the weights of the rows themselves as factors."""
        if weight is None:
            return self
        own = weight[self.rows] if self.weight is None else self.weight * weight[self.rows]
        return self._replace(weight=own)

    def joined(self, other: Self) -> Self:
        """Return both together; missing weights are 1."""
        weight = None
        if self.weight is not None or other.weight is not None:
            parts = [np.ones(len(r.rows)) if r.weight is None else r.weight for r in (self, other)]
            weight = np.concatenate(parts)
        rows = np.concatenate([self.rows, other.rows])
        return type(self)(rows, np.concatenate([self.codes, other.codes]), weight)


def given_refit(codes: Codes, weight: Floats | None) -> Refit:
    """Return all rows with the labels they were given."""
    return Refit(np.arange(len(codes)), codes, weight)


def with_all_classes(refit: Refit, codes: Codes, weight: Floats | None, rows: Codes) -> Refit:
    """Return a training set of these rows in which no class is lost.

    One that would be lost cannot be learned: its rows keep the labels they were given. With them
    another may lose the only rows that had been given its label, and so on.
    """
    present = np.unique(codes[rows])
    for _ in present:
        counted = refit.codes if refit.weight is None else refit.codes[refit.weight > 0]
        lost = np.setdiff1d(present, counted)
        if not lost.size:
            break
        theirs = rows[np.isin(codes[rows], lost)]
        given = given_refit(codes, weight if refit.weight is not None else None)
        refit = refit.within(np.setdiff1d(rows, theirs)).joined(given.within(theirs))
    return refit


def own_probability(posterior: Floats, codes: Codes) -> Floats:
    """Return the probability that each given label is right."""
    return np.asarray(posterior[np.arange(len(codes)), codes])


def _leave_out(posterior: Floats, codes: Codes, weighs: bool) -> Refit:
    """Weigh each row by how much more likely its label is right than wrong."""
    quality = own_probability(posterior, codes)
    rows = np.flatnonzero(quality >= 0.5)
    weight = np.maximum(2.0 * quality[rows] - 1.0, _LEAST_WEIGHT)
    return Refit(rows, codes[rows], weight if weighs else None)


def _weights(posterior: Floats, codes: Codes, weighs: bool) -> Refit:
    return Refit(np.arange(len(codes)), codes, own_probability(posterior, codes))


def _soft(posterior: Floats, codes: Codes, weighs: bool) -> Refit:
    heavy = posterior >= min(_LEAST_WEIGHT, 1.0 / posterior.shape[1])
    labels, rows = np.nonzero(heavy.T)
    return Refit(rows, labels, posterior[rows, labels])


def _replace(posterior: Floats, codes: Codes, weighs: bool) -> Refit:
    """Weigh each row by how far its likeliest class exceeds chance.

    With two classes that is the difference in expected errors between the two labels: what a
    classifier minimises with these weights is the expected number of errors. A label that nobody
    gave counts half.
    """
    k, most = posterior.shape[1], posterior.max(axis=1)
    # A label that is as likely as any other stays.
    stays = own_probability(posterior, codes) >= most
    labels = np.where(stays, codes, posterior.argmax(axis=1))
    margin = (k * most - 1.0) / (k - 1.0)
    weight = np.maximum(np.where(stays, margin, 0.5 * margin), _LEAST_WEIGHT)
    return Refit(np.arange(len(codes)), labels, weight if weighs else None)


Method = Callable[[Floats, Codes, bool], Refit]
# Each takes P(true class | row), the given labels, and whether the classifier takes weights.
METHODS: dict[str, Method] = {
    "leave_out": _leave_out,
    "weights": _weights,
    "soft": _soft,
    "replace": _replace,
}
# These are nothing without weights.
WEIGHTED = ("weights", "soft")
