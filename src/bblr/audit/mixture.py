"""Labels as a mixture: a true class drawn from calibrated scores, and then possibly flipped."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from bblr._numeric.threads import one_blas_thread
from bblr.audit.compiled_mixture import flip_pass
from bblr.audit.models import Floats

# The logarithm of the usual sharpness, in units of the spread of the scores. Where labels are
# flipped so often that they hardly say how sharp the scores are, the prior on it decides.
_LOG_GAMMA = 0.4
# Widths of the priors on the logarithm of the sharpness, on how far that of one class may deviate
# from it, and on the shifts of the classes. Classes that are confused with one another have scores
# that are worth less than those of the others; with one sharpness that would look like flips.
_LOG_GAMMA_SCALE, _DEVIATION_SCALE, _SHIFT_SCALE = 1.0, 0.5, 1.0
# As good as no deviation.
_NO_DEVIATION = 0.01
# Bounds on the sum of the weights.
_LEAST_TOTAL, _MOST_TOTAL = 1.0, 1e9
_STEPS, _HALVINGS, _DECREMENT, _FAR = 60, 30, 1e-4, 50.0
# Where the function is not concave, the size of the curvature still scales a step. Small ones
# would multiply rounding errors; the search of flip rates takes more steps, and bears less.
_LEAST_CURVATURE, _LEAST_IN_SEARCH = 0.1, 3.0
# Most rounds of the search of flip rates, and the least gain of one, per row.
_ROUNDS, _GAIN = 300, 1e-7
# Share of the labels of a class that all others start from.
_LEAST_RATE = 0.05
_TINY = 1e-300


class MixtureFit(NamedTuple):
    """Log sharpnesses and shifts of the classes, and their log posterior."""

    free: Floats
    value: float


class Sums(NamedTuple):
    """Sums over the rows; see `flip_pass`."""

    value: float
    gradient: Floats
    information: Floats
    moved: Floats


@dataclass(frozen=True, eq=False)
class Mixture:
    """Rows with labels g of probability sum_k T[k, g] s_k, s = softmax(gamma * (score + shift)).

    Parameters
    ----------
    scores : ndarray of shape (n_rows, n_classes)
        Scores, the highest of each row near 0, in units of their spread or of log-probability.
    codes : ndarray of shape (n_rows,)
        Class numbers of the labels.
    weight : ndarray of shape (n_rows,)
        Weights.
    deviation : float, default=0.01
        How far the log sharpness of a class may deviate from that of the others.
    unit : float, default=0.0
        The logarithm of the unit of the scores, in which the prior expects them.
    """

    scores: Floats
    codes: NDArray[np.intp]
    weight: Floats
    deviation: float = _NO_DEVIATION
    unit: float = 0.0

    @classmethod
    def of(cls, scores: Floats, codes: NDArray[np.intp], weight: Floats) -> Mixture:
        """Make one from scores in any unit; some weights must be positive."""
        centred = scores - scores.mean(axis=1, keepdims=True)
        # Scaled by a power of two, which is exact, since squares of large scores may overflow.
        power = np.frexp(np.abs(centred).max())[1]
        spread = np.average((np.ldexp(centred, -power) ** 2).mean(axis=1), weights=weight)
        scale = float(np.ldexp(np.sqrt(spread), power)) or 1.0
        share = weight / weight.max()
        with np.errstate(over="ignore"):
            total = np.clip(weight.max() * share.sum(), _LEAST_TOTAL, _MOST_TOTAL)
        below = (scores - scores.max(axis=1, keepdims=True)) / scale
        return cls(np.ascontiguousarray(below), codes, share * (total / share.sum()))

    def by_class(self, free: Floats) -> Mixture:
        """Return the same rows scored by log-probabilities, each class with its own sharpness.

        Two classes can only be confused with one another: they keep one sharpness.
        """
        scores = np.ascontiguousarray(log_softmax(self.logits(free), axis=1))
        deviation = _DEVIATION_SCALE if self.n_classes > 2 else _NO_DEVIATION
        return replace(self, scores=scores, deviation=deviation, unit=float(free[0]))

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return self.scores.shape[1]

    @property
    def total(self) -> float:
        """Sum of the weights."""
        return float(self.weight.sum())

    @cached_property
    def precision(self) -> Floats:
        """Precision of the prior on the log sharpnesses and the shifts."""
        k = self.n_classes
        common, own = _LOG_GAMMA_SCALE**2, self.deviation**2
        found = np.diag(np.full(2 * k, _SHIFT_SCALE**-2))
        found[:k, :k] = (np.eye(k) - common / (own + common * k)) / own
        return found

    def start(self) -> Floats:
        """Return sharpnesses of 1 and no shifts."""
        return np.zeros(2 * self.n_classes)

    def logits(self, free: Floats) -> Floats:
        """Return gamma * (score + shift)."""
        free, k = np.clip(free, -_FAR, _FAR), self.n_classes
        return np.exp(free[:k]) * (self.scores + free[k:])

    def sums(self, flips: Floats, free: Floats, *, inform: bool = True) -> Sums:
        """Pass over the rows once; the log posterior and its derivatives include the prior."""
        k = self.n_classes
        free = np.clip(free, -_FAR, _FAR)
        gradient, moved = np.zeros(2 * k), np.zeros((k, k))
        information = np.zeros((2 * k, 2 * k) if inform else (0, 0))
        value = flip_pass(
            self.scores, self.codes, self.weight, np.ascontiguousarray(flips), np.exp(free[:k]),
            free[k:], np.empty_like(self.scores), gradient, information, moved,
        )  # fmt: skip
        away = free.copy()
        away[:k] += self.unit - _LOG_GAMMA
        pull = self.precision @ away
        gradient -= pull
        if inform:
            information += self.precision
        return Sums(value - 0.5 * float(pull @ away), gradient, information, moved)

    def calibrated(self, flips: Floats, free: Floats) -> MixtureFit:
        """Return the most likely sharpnesses and shifts at given rates, by Newton steps."""
        now = self.sums(flips, free)
        for _ in range(_STEPS):
            step = _newton_step(now, _LEAST_CURVATURE)
            if float(now.gradient @ step) < _DECREMENT:
                break
            for _ in range(_HALVINGS):
                new = self.sums(flips, free + step)
                if new.value > now.value:
                    break
                step *= 0.5
            else:
                break
            free, now = free + step, new
        return MixtureFit(free, now.value)

    def likeliest_flips(
        self, pseudo_counts: Floats, flips: Floats, free: Floats
    ) -> tuple[Floats, Floats]:
        """Return the most likely flip rates, given pseudo-counts by true class and label.

        Also the sharpnesses and shifts fitted with them; the search begins at the given ones and
        stops early. Rates follow from expected counts, as in expectation-maximisation, which damps
        rounding errors: a quasi-Newton search of both has them grow until they choose its end.
        """

        def at(flips: Floats, free: Floats) -> tuple[Sums, float]:
            sums = self.sums(flips, free)
            prior = float((pseudo_counts * np.log(np.maximum(flips, _TINY))).sum())
            return sums, sums.value + prior

        # A rate of zero would stay there.
        flips = np.maximum(flips, flips.diagonal()[:, None] * _LEAST_RATE / self.n_classes)
        flips /= flips.sum(axis=1, keepdims=True)
        now, value = at(flips, free)
        for _ in range(_ROUNDS):
            counts = now.moved + pseudo_counts
            rates = counts / counts.sum(axis=1, keepdims=True)
            step = _newton_step(now, _LEAST_IN_SEARCH)
            for _ in range(_HALVINGS):
                new, found = at(rates, free + step)
                if found > value:
                    break
                step *= 0.5
            else:
                break
            gain, value = found - value, found
            flips, free, now = rates, free + step, new
            if gain < _GAIN * self.total:
                break
        return flips, free


def _newton_step(sums: Sums, least: float) -> Floats:
    """Return the step of the sharpnesses and shifts at given rates, no curvature below `least`."""
    with one_blas_thread(len(sums.gradient)):
        curvature, axes = np.linalg.eigh(sums.information)
    scaled = (axes.T @ sums.gradient) / np.maximum(np.abs(curvature), least)
    return np.asarray(axes @ scaled)


def symmetric_flips(blind: float, n_classes: int) -> Floats:
    """Return the flip rates if a share of the labels is drawn uniformly from all classes."""
    return (1.0 - blind) * np.eye(n_classes) + blind / n_classes
