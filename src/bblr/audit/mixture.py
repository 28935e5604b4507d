"""Labels as a mixture: a true class drawn from sharpened scores, and then possibly flipped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

from bblr.audit.compiled_mixture import flip_pass
from bblr.audit.models import Floats

# Widths of the priors on the logarithm of the sharpness and on the shifts of the classes.
_LOG_GAMMA_SCALE, _SHIFT_SCALE = 3.0, 1.0
# Largest share of blind (uninformative) labels: every class can still be the most probable.
_MOST_BLIND = 0.95
# Fewer rows than this count as none, since the logit of their share would diverge.
_LEAST_BLIND, _LOGIT_PRECISION = 0.1, 1e-4
# Bounds on the sum of the weights.
_LEAST_TOTAL, _MOST_TOTAL = 1.0, 1e9
_STEPS, _HALVINGS, _DECREMENT, _FAR = 60, 30, 1e-4, 50.0
_LEAST_CURVATURE = 1e-3
_TINY = 1e-300


class MixtureFit(NamedTuple):
    """Log sharpness and shifts of the classes, and their log posterior."""

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
    """Rows with labels g of probability sum_k T[k, g] s_k, s = softmax(gamma * score + shift).

    Parameters
    ----------
    below : ndarray of shape (n_rows, n_classes)
        Scores, each less the highest of its row, in units of their spread.
    codes : ndarray of shape (n_rows,)
        Class numbers of the labels.
    weight : ndarray of shape (n_rows,)
        Weights.
    """

    below: Floats
    codes: NDArray[np.intp]
    weight: Floats

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

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return self.below.shape[1]

    @property
    def total(self) -> float:
        """Sum of the weights."""
        return float(self.weight.sum())

    @property
    def precision(self) -> Floats:
        """Precision of the prior on log gamma and the shifts."""
        return np.r_[_LOG_GAMMA_SCALE**-2, np.full(self.n_classes, _SHIFT_SCALE**-2)]

    def start(self) -> Floats:
        """Return a sharpness of 2 and no shifts."""
        return np.r_[np.log(2.0), np.zeros(self.n_classes)]

    def logits(self, free: Floats) -> Floats:
        """Return gamma * score + shift."""
        free = np.clip(free, -_FAR, _FAR)
        return np.exp(free[0]) * self.below + free[1:]

    def shares(self, free: Floats) -> Floats:
        """Return the probability of each true class before the label is known."""
        raw = self.logits(free)
        s = np.exp(raw - raw.max(axis=1, keepdims=True))
        return np.asarray(s / s.sum(axis=1, keepdims=True))

    def overlap(self, free: Floats) -> tuple[Floats, Floats]:
        """Return the share of each class that looks like another, and the size of the class."""
        s = self.shares(free)
        size = self.weight @ s
        return (self.weight @ (s * (1.0 - s))) / np.maximum(size, _TINY), size

    def sums(
        self, flips: Floats, free: Floats, toward: Floats | None = None, *, inform: bool = True
    ) -> Sums:
        """Pass over the rows once; the log posterior and its derivatives include the prior."""
        k = self.n_classes
        free = np.clip(free, -_FAR, _FAR)
        toward = np.zeros((k, k)) if toward is None else toward
        gradient, moved = np.zeros(k + 2), np.zeros((k, k))
        information = np.zeros((k + 2, k + 2) if inform else (0, 0))
        value = flip_pass(
            self.below, self.codes, self.weight, flips, toward, np.exp(free[0]), free[1:],
            np.empty_like(self.below), gradient, information, moved,
        )  # fmt: skip
        pull = self.precision * free
        gradient[1:] -= pull
        if inform:
            information[np.arange(1, k + 2), np.arange(1, k + 2)] += self.precision
        return Sums(float(value) - 0.5 * float(pull @ free), gradient, information, moved)

    def calibrated(self, flips: Floats, free: Floats) -> MixtureFit:
        """Return the likeliest sharpness and shifts for given flip rates."""

        def evaluate(free: Floats) -> tuple[float, Floats, Floats]:
            sums = self.sums(flips, free)
            return sums.value, sums.gradient[1:], sums.information[1:, 1:]

        return _newton(evaluate, free)

    def blind(self, without: MixtureFit) -> tuple[float, MixtureFit]:
        """Return the most likely share of labels drawn uniformly from all classes, and its fit."""
        k = self.n_classes
        toward = np.full((k, k), 1.0 / k) - np.eye(k)

        def evaluate(x: Floats) -> tuple[float, Floats, Floats]:
            part = float(expit(np.clip(x[0], -_FAR, _FAR)))
            sums = self.sums(symmetric_flips(_MOST_BLIND * part, k), x[1:], toward)
            # From the share to its logit.
            slope = _MOST_BLIND * part * (1.0 - part)
            sums.information[0] *= slope
            sums.information[:, 0] *= slope
            second = slope * (1.0 - 2.0 * part) * sums.gradient[0]
            sums.information[0, 0] += _LOGIT_PRECISION - second
            sums.gradient[0] = slope * sums.gradient[0] - _LOGIT_PRECISION * x[0]
            value = sums.value - 0.5 * _LOGIT_PRECISION * x[0] ** 2
            return value, sums.gradient, sums.information

        # As many as are misclassified, and one more: from 0 the logit would not move.
        wrong = self.weight @ (self.logits(without.free).argmax(axis=1) != self.codes)
        part = min(max((wrong + 1.0) / (self.total + 1.0), 0.01), 0.8)
        least = np.log(_LEAST_BLIND / self.total)
        x, value = _newton(evaluate, np.r_[np.log(part / (1.0 - part)), without.free], least)
        if x[0] < least:
            return 0.0, without
        return _MOST_BLIND * float(expit(x[0])), MixtureFit(x[1:], value)

    def rates_by_class(self, pseudo_counts: Floats, free: Floats) -> tuple[Floats, Floats]:
        """Return the most likely flip rates, given pseudo-counts by true class and label.

        Also the sharpness and shifts fitted with them, by a search that stops early.
        """
        k, total = self.n_classes, self.total
        off = ~np.eye(k, dtype=bool)

        def unpack(x: Floats) -> Floats:
            raw = np.zeros((k, k))
            raw[off] = np.clip(x[1 + k :], -_FAR, _FAR)
            flips = np.exp(raw - raw.max(axis=1, keepdims=True))
            return np.asarray(flips / flips.sum(axis=1, keepdims=True))

        def evaluate(x: Floats) -> tuple[float, Floats]:
            flips = unpack(x)
            sums = self.sums(flips, x[: 1 + k], inform=False)
            value = sums.value + float((pseudo_counts * np.log(np.maximum(flips, _TINY))).sum())
            counts = sums.moved + pseudo_counts
            by_flips = counts - counts.sum(axis=1, keepdims=True) * flips
            return -value / total, -np.r_[sums.gradient[1:], by_flips[off]] / total

        first = np.log(np.maximum(pseudo_counts, _TINY))
        first = np.maximum(first - np.diag(first)[:, None], np.log(0.05 / k))[off]
        found = minimize(
            evaluate, np.r_[free, first], jac=True, method="L-BFGS-B",
            options={"maxiter": 300, "gtol": 1e-6, "ftol": 1e-7},
        )  # fmt: skip
        return unpack(found.x), found.x[: 1 + k]


def symmetric_flips(blind: float, n_classes: int) -> Floats:
    """Return the flip rates if a share of the labels is drawn uniformly from all classes."""
    return (1.0 - blind) * np.eye(n_classes) + blind / n_classes


def _newton(
    evaluate: Callable[[Floats], tuple[float, Floats, Floats]],
    free: Floats,
    least: float = -np.inf,
) -> MixtureFit:
    """Maximise a log posterior by Newton steps, from its gradient and negative Hessian.

    Also stops when the first parameter falls below `least`.
    """
    value, gradient, information = evaluate(free)
    for _ in range(_STEPS):
        if free[0] < least:
            break
        # Where the function is not concave, the size of the curvature still scales the step.
        curvature, axes = np.linalg.eigh(information)
        step = axes @ ((axes.T @ gradient) / np.maximum(np.abs(curvature), _LEAST_CURVATURE))
        if float(gradient @ step) < _DECREMENT:
            break
        for _ in range(_HALVINGS):
            new = evaluate(free + step)
            if new[0] > value:
                break
            step *= 0.5
        else:
            break
        free, (value, gradient, information) = free + step, new
    return MixtureFit(free, value)
