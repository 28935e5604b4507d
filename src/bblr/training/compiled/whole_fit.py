"""The whole way of a small fit with two classes, compiled: start, settings, stages, scores alone."""

from __future__ import annotations

from math import exp, floor, log
from typing import Any, NamedTuple

import numpy as np

from bblr._numeric.compiling import njit
from bblr._numeric.elementary import INLINE, JIT, exp_minus_abs
from bblr.designs.small_tables import Rules, newton_descent
from bblr.losses.fused import FusedLoss
from bblr.training.compiled.settling import alone_scores, stray_share

# Below this a plateau is none.
_TINY = 1e-300


class Rounds(NamedTuple):
    """How many rounds an estimation takes at most, when it stands still, and how far it may go.

    Converged when the penalty (as a factor) moves by less than `steady` and the plateaus (in sum)
    by less than `steady_low`. A step towards where updates seem to end is at most `stride` times
    an update. The penalty stays between `least_l2` and `most_l2`; the sum of the plateaus stays
    below `most_weight`, and they differ by less than a share of `most_apart` of what is between.
    """

    most: int
    steady: float
    steady_low: float
    stride: float
    least_l2: float
    most_l2: float
    most_weight: float
    most_apart: float


@njit(**INLINE)
def ahead(l2, low, new_l2, new_low, before, known, rules):
    """Return the penalty of the next round, and whether it and the plateaus stand still.

    Round after round updates fall by about the same share, often a sixth only, and after two of
    them it is `known` what all will come to: the logarithm of each number goes there. `before`
    holds these logarithms and updates. The plateaus of the next round replace the new ones.
    """
    moved = 0.0
    for k in range(len(low)):
        moved += abs(new_low[k] - low[k])
    still = new_l2 == l2 or abs(log(new_l2 / l2)) < rules.steady
    if still and moved < rules.steady_low:
        return new_l2, True
    taken, highest, lowest = 0.0, 0.0, 1.0
    for k in range(len(low) + 1):
        here, there = (l2, new_l2) if k == 0 else (low[k - 1], new_low[k - 1])
        here = max(here, _TINY)
        at, step = log(here), log(max(there, _TINY) / here)
        if known:
            came, fell = at - before[0, k], before[1, k] - step
            if came * step > 0.0 and came * fell > 0.0:
                there *= exp(step * (min(max(came / fell, 1.0), rules.stride) - 1.0))
        before[0, k], before[1, k], before[2, k] = at, step, there
        if k > 0:
            taken, highest, lowest = taken + there, max(highest, there), min(lowest, there)
    # A penalty that is given stays as it is, and every class must be able to win.
    if before[2, 0] != new_l2:
        new_l2 = min(max(before[2, 0], rules.least_l2), rules.most_l2)
    if taken < rules.most_weight and highest - lowest < rules.most_apart * (1.0 - taken):
        for k in range(len(low)):
            new_low[k] = before[2, k + 1]
    return new_l2, False


class Descents(NamedTuple):
    """How the descents of a walk go: to its start, between two updates, at each gamma, at the last.

    `units` are what tolerances are counted in, of the first and of the others, `total` is the
    weight of all rows.
    """

    first: Rules
    between: Rules
    loose: Rules
    last: Rules
    first_unit: float
    unit: float
    total: float


class Walked(NamedTuple):
    """Where a walk has led.

    The weights, their scores, what those would be without a row's own pull, the number of weights
    that the data have settled (-1 where that is not known), penalty and plateaus, the steps and
    rounds of their estimation, value, steps and reason of the descent at each gamma, and whether
    both classes were predicted all along; where they were not, the walk has ended there.
    """

    theta: Any
    raw: Any
    alone: Any
    settled: float
    l2: float
    low: Any
    n_iter: int
    rounds: int
    ends: Any
    both: bool


@njit(**INLINE)
def _stray_rates(alone, y, weight, gamma, low, pseudo, total, most, steps):
    """Return the plateaus that scores say which were not trained on; see `stray_share`."""
    own, codes = np.empty(len(y)), np.empty(len(y), np.int64)
    for i in range(len(y)):
        z = gamma * y[i] * alone[i]
        e = exp_minus_abs(z)
        own[i] = (1.0 if z >= 0.0 else e) / (1.0 + e)
        codes[i] = 1 if y[i] > 0.0 else 0
    return stray_share(own, codes, weight, low, pseudo, total, most, steps)


@njit(**JIT)
def fit_two(
    Zt, y, weight, first_weight, counted, unit, fused, gammas, l2, pseudo, find_l2, find_low, penalised,
    start, descents, least_rest, imagined, most_low, steps, rules,
):  # fmt: skip
    """Descend under the first weights, estimate penalty and plateaus, descend at each gamma.

    Where nothing is to be found there must be a gamma. Returns what `Walked` holds.
    """
    theta, raw, taken, rounds, stage = start, y, 0, 0, 0
    alone, settled, before = y, -1.0, np.empty((3, 3))
    low, ends = np.empty(2), np.empty((len(gammas) + 1, 4))
    low[0], low[1], total = fused[3], fused[2], descents.total
    settling = find_l2 or find_low
    # One call for all: what is called twice is compiled twice.
    first = descents.first.max_iter > 0
    while True:
        span, gamma = 1.0 - (low[0] + low[1]), fused[1]
        own, one, ruled = weight, descents.unit, descents.between
        if first:
            own, one, ruled = first_weight, descents.first_unit, descents.first
        elif not settling:
            gamma = gammas[stage]
            ruled = descents.last if stage == len(gammas) - 1 else descents.loose
        now = FusedLoss(fused[0], gamma, low[1], low[0], span)
        theta, value, raw, n_iter, reason = newton_descent(
            Zt, None, y, own, now, l2, penalised, theta, ruled, one, total, len(y)
        )
        if first:
            first = False
            continue
        if settling or stage == len(gammas) - 1:
            alone, settled = alone_scores(
                Zt, raw, y, weight, unit, now, l2, penalised, total, least_rest
            )
        end = stage
        if settling:
            rounds += 1
            taken += n_iter
            new_l2, new_low = l2, low
            if find_l2:
                square = _TINY
                for j in range(penalised):
                    square += theta[j] * theta[j]
                new_l2 = min(max(settled / square, rules.least_l2), rules.most_l2)
            if find_low:
                new_low = _stray_rates(
                    alone, y, weight, gamma, low, pseudo, total + imagined, most_low, steps
                )
            l2, still = ahead(l2, low, new_l2, new_low, before, rounds > 1, rules)
            low = new_low
            if not still and rounds < rules.most:
                continue
            settling, end = False, len(gammas)
            for k in range(2):
                # Rounded, so that equal plateaus stay equal.
                low[k] = floor(low[k] * 1e12 + 0.5) / 1e12
        else:
            ends[stage, 0], ends[stage, 1], ends[stage, 2] = value, n_iter, reason
            stage += 1
        middle, lowest, highest = (log(0.5 - low[1]) - log(0.5 - low[0])) / gamma, np.inf, -np.inf
        wrong = 0.0
        for i in range(len(raw)):
            lowest, highest = min(lowest, raw[i]), max(highest, raw[i])
            wrong += 0.0 if y[i] * (raw[i] - middle) > 0.0 else counted[i]
        ends[end, 3] = wrong
        if end >= len(gammas) - 1 and not lowest <= middle < highest:
            return theta, raw, alone, settled, l2, low, taken, rounds, ends, False
        if stage == len(gammas):
            return theta, raw, alone, settled, l2, low, taken, rounds, ends, True
