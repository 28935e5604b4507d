"""Compiled loops: Gibbs sampling of one large part, and messages of a matching."""

from __future__ import annotations

from typing import Any

import numpy as np

from bblr._numeric.compiling import njit

_CODE: dict[str, Any] = {"nogil": True, "error_model": "numpy"}


@njit(**_CODE)
def _field(i, y, odds, start, other, coupling, counts, containers, penalty, hard):
    # The gain in log score if i is a target, all others fixed.
    value = odds[i]
    for k in range(start[i], start[i + 1]):
        if y[other[k]]:
            value += coupling[k]
    others = counts[containers[i]] - y[i]
    if others > 0:
        value = -np.inf if hard else value - penalty
    return value


@njit(**_CODE)
def _score(y, odds, start, other, coupling, counts, penalty, hard):
    total = 0.0
    for i in range(len(y)):
        if y[i]:
            total += odds[i]
            for k in range(start[i], start[i + 1]):
                if y[other[k]] and other[k] > i:
                    total += coupling[k]
    if not hard:
        for m in range(len(counts)):
            total -= penalty * max(counts[m] - 1, 0)
    return total


@njit(**_CODE)
def sample(
    odds, start, other, coupling, ends, containers, by_container, bounds, penalty, hard, betas,
    burn_in, sweeps, rng, member, both,
):  # fmt: skip
    """Fill `member` and `both` with probabilities; return the expected targets beyond the first.

    A sweep draws each member given all others and proposes to move the target of each container;
    then neighbouring temperatures may exchange their states.
    """
    n, n_containers, n_chains = len(odds), len(bounds) - 1, len(betas)
    y = np.zeros((n_chains, n), np.int64)
    counts = np.zeros((n_chains, n_containers), np.int64)
    excess = 0.0
    for sweep in range(burn_in + sweeps):
        for h in range(n_chains):
            for i in range(n):
                value = _field(
                    i, y[h], odds, start, other, coupling, counts[h], containers, penalty, hard
                )
                chance = 1.0 / (1.0 + np.exp(-betas[h] * value))
                new = 1 if rng.random() < chance else 0
                counts[h, containers[i]] += new - y[h, i]
                y[h, i] = new
                if h == 0 and sweep >= burn_in:
                    member[i] += chance
            for m in range(n_containers):
                size = bounds[m + 1] - bounds[m]
                if size < 2:
                    continue
                i = by_container[bounds[m] + rng.integers(0, size)]
                j = by_container[bounds[m] + rng.integers(0, size)]
                if y[h, i] == 1 and y[h, j] == 0:
                    before = _field(
                        i, y[h], odds, start, other, coupling, counts[h], containers, penalty, hard
                    )
                    y[h, i] = 0
                    counts[h, m] -= 1
                    after = _field(
                        j, y[h], odds, start, other, coupling, counts[h], containers, penalty, hard
                    )
                    if rng.random() < np.exp(min(0.0, betas[h] * (after - before))):
                        y[h, j] = 1
                    else:
                        y[h, i] = 1
                    counts[h, m] += 1
        for h in range(n_chains - 1):
            low = _score(y[h], odds, start, other, coupling, counts[h], penalty, hard)
            high = _score(y[h + 1], odds, start, other, coupling, counts[h + 1], penalty, hard)
            gain = (betas[h] - betas[h + 1]) * (high - low)
            if rng.random() < np.exp(min(0.0, gain)):
                for i in range(n):
                    y[h, i], y[h + 1, i] = y[h + 1, i], y[h, i]
                for m in range(n_containers):
                    counts[h, m], counts[h + 1, m] = counts[h + 1, m], counts[h, m]
        if sweep >= burn_in:
            for k in range(len(ends)):
                both[k] += y[0, ends[k, 0]] * y[0, ends[k, 1]]
            for m in range(n_containers):
                excess += max(counts[0, m] - 1, 0)
    for i in range(n):
        member[i] /= sweeps
    for k in range(len(ends)):
        both[k] /= sweeps
    return excess / sweeps


@njit(**_CODE)
def free_ends(weight, order, starts, out):
    """Write −log(1 + Σ e^weight of the other edges at the same end) to `out`.

    Summed from both sides, since subtracting a large edge from the total would cancel small ones.
    """
    after = np.empty(len(weight))
    for end in range(len(starts) - 1):
        total = 0.0
        for k in range(starts[end + 1] - 1, starts[end] - 1, -1):
            after[k] = total
            total = np.logaddexp(total, weight[order[k]])
        total = -np.inf
        for k in range(starts[end], starts[end + 1]):
            out[order[k]] = -np.logaddexp(total, after[k])
            total = np.logaddexp(total, weight[order[k]])
