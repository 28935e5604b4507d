"""Losses that run inside the fused kernels: value and residual of one block of rows.

A loss states its code and its parameters (:class:`FusedLoss`); a loss without them still works
everywhere, with one pass for the scores and one for the gradient.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bblr._numeric.compiling import njit
from bblr._numeric.elementary import INLINE, exp_minus_abs, logarithm
from bblr._numeric.threads import map_ranges

Floats = NDArray[np.float64]

BETA_BERNOULLI = 0
SIGMOID = 1


class FusedLoss(NamedTuple):
    """What a kernel must know of a loss for two classes.

    `low_positive` and `low_negative` are the probabilities that an example of either class keeps
    however wrong its score is; `span` is what the sigmoid adds. The sigmoid loss has `gamma` only.
    """

    code: int
    gamma: float
    low_positive: float = 0.0
    low_negative: float = 0.0
    span: float = 1.0

    def fisher(self, raw: Floats, weight: Floats) -> Floats:
        """Return the weight of each row times the Fisher information of its score."""
        out = np.empty(raw.shape)
        fisher_weights(self, raw, weight, out)
        return out

    def residual(self, raw: Floats, y: Floats, weight: Floats) -> Floats:
        """Return the derivative of the weighted loss by each score."""
        out = np.empty_like(raw)
        value_residual(self, raw, y, weight, out)
        return out

    def positive_curvature(self, y: Floats, raw: Floats, weight: Floats) -> Floats:
        """Return the weight of each row times a curvature of its loss that is never negative."""
        out = np.empty(raw.shape)

        def part(_: int, start: int, stop: int) -> None:
            rows = slice(start, stop)
            positive_weights(self, raw[rows], y[rows], weight[rows], out[rows])

        map_ranges(part, len(raw), 32 * len(raw))
        return out


@njit(**INLINE)
def value_residual(fused, raw, y, weight, residual):
    """Return the weighted loss of some rows; write its derivative by their scores."""
    code, gamma, low_positive, low_negative, span = fused
    value = 0.0
    if code == SIGMOID:
        for i in range(len(raw)):
            z = gamma * y[i] * raw[i]
            e = exp_minus_abs(z)
            denominator = 1.0 + e
            value += weight[i] * (1.0 if z < 0.0 else e) / denominator
            residual[i] = -weight[i] * gamma * y[i] * e / (denominator * denominator)
        return value
    # p(own label) = low + span * sigmoid(z), written with e = exp(-|z|) as numerator / (1 + e).
    for i in range(len(raw)):
        z = gamma * y[i] * raw[i]
        e = exp_minus_abs(z)
        low = low_positive if y[i] > 0.0 else low_negative
        wrong = z < 0.0
        # Without a plateau the wrong side is linear, and e would underflow to log(0).
        bare = wrong and low == 0.0
        near = low if wrong else low + span
        far = low + span if wrong else low
        numerator = span if bare else near + far * e
        slope = 1.0 if bare else e
        denominator = 1.0 + e
        residual[i] = -weight[i] * gamma * y[i] * span * slope / (denominator * numerator)
        value += weight[i] * (logarithm(denominator / numerator) - (z if bare else 0.0))
    return value


# Curvatures below this are none: far out on a plateau they fall below the smallest normal number,
# and a product with such a one takes a hundred times as long as any other.
_NONE = 1e-295


@njit(**INLINE)
def fisher_weights(fused, raw, weight, out):
    """Write weight times the Fisher information of each raw score to `out`.

    For the sigmoid loss, which is no likelihood, gamma^2 s (1 - s) stands in.
    """
    code, gamma, low_positive, low_negative, span = fused
    for i in range(len(raw)):
        z = gamma * raw[i]
        e = exp_minus_abs(z)
        near, far = 1.0 / (1.0 + e), e / (1.0 + e)
        up = near if z >= 0.0 else far
        down = far if z >= 0.0 else near
        value = gamma * gamma * up * down
        if code != SIGMOID:
            value *= span * up / (low_positive + span * up) if low_positive > 0.0 else 1.0
            value *= span * down / (low_negative + span * down) if low_negative > 0.0 else 1.0
        out[i] = weight[i] * value if value > _NONE else 0.0


# Of the second derivative's positive part and of the Fisher information, what the latter makes up.
EXPECTED = 0.3


@njit(**INLINE)
def positive_weights(fused, raw, y, weight, out):
    """Write weight times a curvature that is never negative, of each raw score, to `out`.

    Mostly the second derivative, which the Fisher information falls far short of where the labels
    are cleaner than the plateaus say; it is negative for examples on the wrong side, which are
    given a share of the Fisher information alone. Of the sigmoid loss the latter is all.
    """
    code, gamma, low_positive, low_negative, span = fused
    for i in range(len(raw)):
        z = gamma * y[i] * raw[i]
        e = exp_minus_abs(z)
        near, far = 1.0 / (1.0 + e), e / (1.0 + e)
        right = near if z >= 0.0 else far
        wrong = far if z >= 0.0 else near
        low = low_positive if y[i] > 0.0 else low_negative
        other = low_negative if y[i] > 0.0 else low_positive
        # Of the probability of each label, what the sigmoid makes up. Without a plateau that is
        # all of it, however small.
        own = 1.0 if low == 0.0 else span * right / (low + span * right)
        others = 1.0 if other == 0.0 else span * wrong / (other + span * wrong)
        expected = right * wrong * own * others
        observed = own * wrong * (right - (1.0 - own) * wrong)
        found = EXPECTED * expected + (1.0 - EXPECTED) * max(observed, 0.0)
        if code == SIGMOID:
            found = right * wrong
        out[i] = weight[i] * gamma * gamma * found if found > _NONE else 0.0
