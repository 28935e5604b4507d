"""The zero-one problem in the form every solver of this folder takes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from bblr._numeric.vertices import strict_loss

Floats = NDArray[np.float64]

# Allowance for rounding in sums of weights, as a share of the largest weight.
_ROUNDING = 1e-6
# Columns to sort by before rows are compared whole, and up to how many are sorted by one by one.
_KEY, _NARROW = 4, 16
# Beyond this, products with weights overflow.
_LARGEST = 1e305


@dataclass(frozen=True, eq=False)
class ZeroOneProblem:
    """Distinct rows times their labels: theta classifies a row correctly if its score is > 0.

    Equal rows are merged, and where weights are not whole numbers, rows lighter than a millionth
    of the heaviest are left out, which can only lower the loss. Where equal rows have both labels,
    the lighter label is wrong under every classifier; its weight is part of `base`, and what the
    heavier one weighs more is the weight of the row.

    Attributes
    ----------
    rows : ndarray of shape (n, D)
        Signed rows, centred and scaled, the intercept's column last if there is one.
    given : ndarray of shape (n, D)
        The same rows in the units of the user, for exact arithmetic.
    label : ndarray of shape (n,)
        Labels, -1 or +1: what the rows were multiplied by.
    weight : ndarray of shape (n,)
        Positive weights.
    base : float
        Loss that no classifier avoids.
    ties : ndarray of shape (m, D)
        Scaled rows that weigh the same with either label. They are in `base`, but a hyperplane
        must not pass through one: then both labels would be wrong.
    light : ndarray of shape (k, D)
        Signed, scaled rows that were left out because they are so light.
    centre, scale : ndarray of shape (n_features,)
        What was taken off the features and what they were divided by.
    units : ndarray of shape (n_features,)
        Powers of two next to the largest entries of the features.
    fit_intercept : bool
        Whether there is an intercept.
    """

    rows: Floats
    given: Floats
    label: Floats
    weight: Floats
    base: float
    ties: Floats
    light: Floats
    centre: Floats
    scale: Floats
    units: Floats
    fit_intercept: bool

    @classmethod
    def from_data(cls, X: Floats, y: Floats, weight: Floats, fit_intercept: bool = True) -> Self:
        """Merge equal rows and scale the features."""
        kept = weight > 0
        if not kept.all():
            X, y, weight = X[kept], y[kept], weight[kept]
        points, group = distinct(X)
        if points.size and not max(points.max(), -points.min()) <= _LARGEST:
            raise ValueError(
                f"X holds numbers beyond {_LARGEST:g}, whose scores would not be finite. Divide "
                "them by a constant, for instance with sklearn.preprocessing.MaxAbsScaler."
            )
        positive = y > 0
        up = np.bincount(group, weight * positive, len(points)).astype(np.float64)
        down = np.bincount(group, weight * ~positive, len(points)).astype(np.float64)
        # Squares of very large or small numbers overflow or underflow.
        units = _units(points)
        plain = points / units
        centre, scale = _centre_scale(plain, up + down, fit_intercept)
        scale = np.where(scale * units > 0, scale, 1.0)  # a part of the least float is none
        standard = (plain - centre) / scale
        base = np.minimum(up, down)
        if not fit_intercept:
            # The score of a row of zeros is zero, which is an error for either label.
            base = np.where(np.any(points != 0, axis=1), base, up + down)
        net = np.where(base < up + down, np.abs(up - down), 0.0)
        light = np.zeros(len(net), dtype=bool)
        if not _whole(net):
            light = (net > 0) & (net < _ROUNDING * net.max(initial=0.0))
        left = (net > 0) & ~light
        tied = (net == 0) & (base < up + down)
        sign = np.sign(up - down)[:, None]
        ones = np.ones((len(net), int(fit_intercept)))
        scaled = np.hstack([standard, ones])
        rest = slice(None) if left.all() else left
        return cls(
            np.ascontiguousarray(sign[rest] * scaled[rest]),
            np.ascontiguousarray(sign[rest] * np.hstack([points[rest], ones[rest]])),
            sign[rest, 0],
            net[rest],
            float(base.sum()),
            scaled[tied],
            sign[light] * scaled[light],
            centre * units,
            scale * units,
            units,
            fit_intercept,
        )

    @property
    def size(self) -> int:
        """Number of parameters."""
        return self.rows.shape[1]

    @cached_property
    def step(self) -> float:
        """The number that every loss is a multiple of; 0 if there is none of useful size."""
        if not _whole(self.weight):
            return 0.0
        step = float(np.gcd.reduce(self.weight.astype(np.int64)))
        # Rounding must not bridge a step.
        return step if 0.5 * _ROUNDING * float(self.weight.max(initial=0.0)) < 0.9 * step else 0.0

    @property
    def slack(self) -> float:
        """By how much a loss may undercut a bound: nothing, where losses go by steps."""
        return 0.0 if self.step else _ROUNDING * float(self.weight.max(initial=0.0))

    def loss(self, theta: Floats) -> float:
        """Return the strict, weighted zero-one loss."""
        return self.base + float(strict_loss(self.rows, self.weight, np.ascontiguousarray(theta)))

    def pack(self, coef: Floats, intercept: float) -> Floats:
        """Return the parameters of a classifier given in the units of the user."""
        theta = coef * self.scale
        if not self.fit_intercept:
            return theta
        return np.append(theta, intercept + float(coef @ self.centre))

    def unpack(self, theta: Floats) -> tuple[Floats, float]:
        """Return weights and intercept in the units of the user, smaller where they must be."""
        size = np.frexp(theta[: len(self.scale)])[1] - np.frexp(self.scale)[1]
        beyond = int(size.max(initial=0)) - _LARGEST_POWER
        if beyond > 0:
            # The same classifier: only the direction counts.
            theta = np.ldexp(theta, -beyond)
        coef = theta[: len(self.scale)] / self.scale
        if not self.fit_intercept:
            return coef, 0.0
        return coef, float(theta[-1] - coef @ self.centre)

    def round_up(self, bound: float) -> float:
        """Return the least loss that is possible above a bound on the loss without `base`.

        A bound is a sum of floats. It is lowered by far more than their rounding before use.
        """
        bound = max(0.0, bound - 0.5 * _ROUNDING * float(self.weight.max(initial=0.0)))
        return self.base + (float(np.ceil(bound / self.step)) * self.step if self.step else bound)


# Weights up to this power of two can be added up, and multiplied by a centre of their size.
_LARGEST_POWER = 500


def distinct(points: Floats) -> tuple[Floats, NDArray[np.intp]]:
    """Return the distinct rows in lexicographic order, and which of them each row is.

    As `np.unique`, in half the time: few rows agree in all of the first columns, and only these
    are sorted by the others.
    """
    order = np.lexsort(points[:, :_KEY].T[::-1])
    rows = points[order]
    alike = np.zeros(len(points) + 1, dtype=bool)
    alike[1:-1] = (rows[1:, :_KEY] == rows[:-1, :_KEY]).all(axis=1)
    unsure = np.flatnonzero(alike[1:] | alike[:-1])
    if len(unsure):
        some = rows[unsure]
        if some.shape[1] <= _NARROW:
            place = np.lexsort(some.T[::-1])
        else:
            place = np.unique(some, axis=0, return_inverse=True)[1].ravel().argsort()
        order[unsure], rows[unsure] = order[unsure[place]], some[place]
    new = np.ones(len(points), dtype=bool)
    new[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    group = np.empty(len(points), dtype=np.intp)
    group[order] = np.cumsum(new) - 1
    return rows[new], group


def _whole(weight: Floats) -> bool:
    # Beyond 2^53 whole numbers have gaps.
    return bool(np.all(weight == np.round(weight)) and weight.sum() < 2.0**53)


def _units(points: Floats) -> Floats:
    """Return the power of two next to the largest entry of each column."""
    largest = np.abs(points).max(axis=0, initial=0.0)
    return np.ldexp(1.0, np.frexp(np.where(largest > 0, largest, 1.0))[1] - 1)


def _centre_scale(points: Floats, weight: Floats, fit_intercept: bool) -> tuple[Floats, Floats]:
    d = points.shape[1]
    column, total = weight[:, None], weight.sum()
    centre = (points * column).sum(axis=0) / total if fit_intercept else np.zeros(d)
    scale = np.sqrt(((points - centre) ** 2 * column).sum(axis=0) / total)
    flat = ~(scale > 1e-12 * np.abs(points).max(axis=0, initial=0.0))
    return centre, np.where(flat, 1.0, scale)
