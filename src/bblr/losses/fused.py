"""Losses that run inside the fused kernels: value and residual of one block of rows.

A loss states its code and its parameters (:class:`FusedLoss`); a loss without them still works
everywhere, with one pass for the scores and one for the gradient.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from bblr._numeric.elementary import JIT, exp_minus_abs, log_in_place
from bblr._numeric.threads import map_ranges

Floats = NDArray[np.float64]

# Rows of a block where nothing but the loss is computed: the longer, the less it costs to set
# up the loops. A block of 64 takes twice the time a row, one of 2,048 leaves the L1 cache.
_LONG = 512

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
        value_residual(self, raw, y, weight, 0, len(raw), out)
        return out

    def positive_curvature(self, y: Floats, raw: Floats, weight: Floats) -> Floats:
        """Return the weight of each row times a curvature of its loss that is never negative."""
        out = np.empty(raw.shape)

        def part(_: int, start: int, stop: int) -> None:
            positive_weights(self, raw, y, weight, start, stop, out)

        map_ranges(part, len(raw), 32 * len(raw))
        return out


@njit(**JIT)
def _beta_bernoulli(z, y, weight, n, gamma, low_positive, low_negative, span, e, ratio, bits, out):
    # p(own label) = low + span * sigmoid(z), written with e = exp(-|z|) as numerator / (1 + e).
    for i in range(n):
        low = low_positive if y[i] > 0.0 else low_negative
        wrong = z[i] < 0.0
        # Without a plateau the wrong side is linear, and e would underflow to log(0).
        bare = wrong and low == 0.0
        near = low if wrong else low + span
        far = low + span if wrong else low
        numerator = span if bare else near + far * e[i]
        slope = 1.0 if bare else e[i]
        denominator = 1.0 + e[i]
        ratio[i] = denominator / numerator
        out[i] = -weight[i] * gamma * y[i] * span * slope / (denominator * numerator)
        e[i] = z[i] if bare else 0.0
    log_in_place(ratio, bits, n)
    value = 0.0
    for i in range(n):
        value += weight[i] * (ratio[i] - e[i])
    return value


@njit(**JIT)
def _sigmoid(z, y, weight, n, gamma, e, out):
    value = 0.0
    for i in range(n):
        denominator = 1.0 + e[i]
        numerator = 1.0 if z[i] < 0.0 else e[i]
        value += weight[i] * numerator / denominator
        out[i] = -weight[i] * gamma * y[i] * e[i] / (denominator * denominator)
    return value


@njit(**JIT)
def block_value_residual(fused, raw, y, weight, n, work, bits, residual):
    """Weighted loss of `n` rows; writes its derivative by `raw` to `residual`.

    `work` is a (3, n) float64 and `bits` an int64 work space of n, or longer.
    """
    code, gamma, low_positive, low_negative, span = fused
    z, e, ratio = work[0], work[1], work[2]
    for i in range(n):
        z[i] = gamma * y[i] * raw[i]
    exp_minus_abs(z, e, bits, n)
    if code == SIGMOID:
        return _sigmoid(z, y, weight, n, gamma, e, residual)
    return _beta_bernoulli(
        z, y, weight, n, gamma, low_positive, low_negative, span, e, ratio, bits, residual
    )


@njit(**JIT)
def value_residual(fused, raw, y, weight, start, stop, residual):
    """Weighted loss of the rows `start` to `stop`; writes their residuals."""
    work = np.empty((3, _LONG))
    bits = np.empty(_LONG, np.int64)
    value = 0.0
    for s in range(start, stop, _LONG):
        n = min(_LONG, stop - s)
        value += block_value_residual(
            fused, raw[s : s + n], y[s : s + n], weight[s : s + n], n, work, bits,
            residual[s : s + n],
        )  # fmt: skip
    return value


@njit(**JIT)
def fisher_weights(fused, raw, weight, out):
    """Write weight times the Fisher information of each raw score to `out`.

    For the sigmoid loss, which is no likelihood, gamma^2 s (1 - s) stands in.
    """
    code, gamma, low_positive, low_negative, span = fused
    z = np.empty(_LONG)
    e = np.empty(_LONG)
    bits = np.empty(_LONG, np.int64)
    for s in range(0, len(raw), _LONG):
        n = min(_LONG, len(raw) - s)
        for i in range(n):
            z[i] = gamma * raw[s + i]
        exp_minus_abs(z, e, bits, n)
        for i in range(n):
            near, far = 1.0 / (1.0 + e[i]), e[i] / (1.0 + e[i])
            up = near if z[i] >= 0.0 else far
            down = far if z[i] >= 0.0 else near
            value = gamma * gamma * up * down
            if code != SIGMOID:
                if low_positive > 0.0:
                    value *= span * up / (low_positive + span * up)
                if low_negative > 0.0:
                    value *= span * down / (low_negative + span * down)
            out[s + i] = weight[s + i] * value


# Of the second derivative's positive part and of the Fisher information, what the latter makes up.
EXPECTED = 0.3


@njit(**JIT)
def _block_positive(fused, raw, y, weight, n, z, e, bits, out):
    _, gamma, low_positive, low_negative, span = fused
    for i in range(n):
        z[i] = gamma * y[i] * raw[i]
    exp_minus_abs(z, e, bits, n)
    for i in range(n):
        near, far = 1.0 / (1.0 + e[i]), e[i] / (1.0 + e[i])
        right = near if z[i] >= 0.0 else far
        wrong = far if z[i] >= 0.0 else near
        low = low_positive if y[i] > 0.0 else low_negative
        other = low_negative if y[i] > 0.0 else low_positive
        # Of the probability of each label, what the sigmoid makes up. Without a plateau that is
        # all of it, however small.
        own = 1.0 if low == 0.0 else span * right / (low + span * right)
        others = 1.0 if other == 0.0 else span * wrong / (other + span * wrong)
        expected = right * wrong * own * others
        observed = own * wrong * (right - (1.0 - own) * wrong)
        found = EXPECTED * expected + (1.0 - EXPECTED) * max(observed, 0.0)
        out[i] = weight[i] * gamma * gamma * found


@njit(**JIT)
def positive_weights(fused, raw, y, weight, start, stop, out):
    """Write weight times a curvature that is never negative, of each raw score, to `out`.

    Mostly the second derivative, which the Fisher information falls far short of where the labels
    are cleaner than the plateaus say; it is negative for examples on the wrong side, which are
    given a share of the Fisher information alone.
    """
    if fused[0] == SIGMOID:
        fisher_weights(fused, raw[start:stop], weight[start:stop], out[start:stop])
        return
    z = np.empty(_LONG)
    e = np.empty(_LONG)
    bits = np.empty(_LONG, np.int64)
    for s in range(start, stop, _LONG):
        n = min(_LONG, stop - s)
        # Slices, not sums of indices: whether a loop is vectorised, and so its last bit, must not
        # depend on where the arrays lie.
        _block_positive(
            fused, raw[s : s + n], y[s : s + n], weight[s : s + n], n, z, e, bits, out[s : s + n]
        )
