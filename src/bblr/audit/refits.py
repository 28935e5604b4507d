"""Training sets that allow for wrong labels: which rows, with which labels and weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bblr.audit.models import Floats

__all__ = ["METHODS", "WEIGHTED", "Refit", "given_refit"]

# A copy of a row that weighs less than this changes nothing but the time of the fit.
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

    rows: NDArray[np.intp]
    codes: NDArray[np.intp]
    weight: Floats | None


def given_refit(codes: NDArray[np.intp], weight: Floats | None, rows: Any = None) -> Refit:
    """Return rows with the labels they were given; all of them by default."""
    rows = np.arange(len(codes)) if rows is None else rows
    return Refit(rows, codes[rows], None if weight is None else weight[rows])


def _leave_out(posterior: Floats, codes: NDArray[np.intp], weighs: bool) -> Refit:
    quality = _own(posterior, codes)
    rows = np.flatnonzero(quality >= 0.5)
    return Refit(rows, codes[rows], quality[rows] if weighs else None)


def _weights(posterior: Floats, codes: NDArray[np.intp], weighs: bool) -> Refit:
    return Refit(np.arange(len(codes)), codes, np.maximum(_own(posterior, codes), _LEAST_WEIGHT))


def _soft(posterior: Floats, codes: NDArray[np.intp], weighs: bool) -> Refit:
    heavy = posterior >= min(_LEAST_WEIGHT, 1.0 / posterior.shape[1])
    labels, rows = np.nonzero(heavy.T)
    return Refit(rows, labels, posterior[rows, labels])


def _replace(posterior: Floats, codes: NDArray[np.intp], weighs: bool) -> Refit:
    """Weigh each row by how much its likeliest class exceeds chance.

    With two classes that is the difference in expected errors between the two labels: what a
    classifier minimises with these weights is the expected number of errors.
    """
    k, rows = posterior.shape[1], np.arange(len(codes))
    # A label that is as likely as any other stays.
    certain = posterior.max(axis=1)
    labels = np.where(_own(posterior, codes) >= certain, codes, posterior.argmax(axis=1))
    margin = (k * certain - 1.0) / (k - 1.0)
    return Refit(rows, labels, np.maximum(margin, _LEAST_WEIGHT) if weighs else None)


def _own(posterior: Floats, codes: NDArray[np.intp]) -> Floats:
    return np.asarray(posterior[np.arange(len(codes)), codes])


METHODS: dict[str, Callable[[Floats, NDArray[np.intp], bool], Refit]] = {
    "leave_out": _leave_out,
    "weights": _weights,
    "soft": _soft,
    "replace": _replace,
}
"""Each takes P(true class | row), the given labels, and whether the classifier takes weights."""

WEIGHTED = ("weights", "soft")
"""Methods that are nothing without weights."""
