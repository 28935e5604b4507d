"""Classifiers through subsets of the rows, for the combinatorial searches."""

from __future__ import annotations

import numpy as np

from bblr._numeric.compiling import njit
from bblr._numeric.elementary import JIT
from bblr._numeric.vertices import first_basis, leave_vertex

_ZERO = 1e-10


@njit(**JIT)
def vertex_through(rows, members, basis, frame, theta):
    """Write the vertex orthogonal to the rows `members` to `theta`; False if there is none."""
    d = rows.shape[1]
    if first_basis(rows, members, basis, frame) < d - 1:
        return False
    # The axis farthest from the span of the rows leaves the clearest remainder.
    axis, most = 0, -1.0
    for j in range(d):
        rest = 1.0
        for k in range(d - 1):
            rest -= frame[k, j] * frame[k, j]
        if rest > most:
            axis, most = j, rest
    theta[:] = 0.0
    theta[axis] = 1.0
    for _ in range(2):
        for k in range(d - 1):
            theta -= (theta * frame[k]).sum() * frame[k]
    theta /= np.sqrt((theta * theta).sum())
    return True


@njit(**JIT)
def vertex_losses(rows, lengths, weight, basis, theta):
    """Return the loss at theta and at -theta, rows of the basis free of charge."""
    plus, minus = 0.0, 0.0
    d = len(theta)
    for i in range(len(weight)):
        score = 0.0
        for j in range(d):
            score += rows[i, j] * theta[j]
        edge = _ZERO * lengths[i]
        plus += weight[i] if score <= edge else 0.0
        minus += weight[i] if score >= -edge else 0.0
    for i in basis:
        plus -= weight[i]
        minus -= weight[i]
    return plus, minus


@njit(**JIT)
def next_subset(places, n):
    """Move on to the next subset of range(n) by its largest member first; False at the end."""
    size = len(places)
    for k in range(size):
        limit = places[k + 1] if k + 1 < size else n
        if places[k] + 1 < limit:
            places[k] += 1
            for m in range(k):
                places[m] = m
            return True
    return False


@njit(**JIT)
def _try_subset(rows, lengths, weight, members, basis, frame, theta, rng, best, best_theta, moved):
    if not vertex_through(rows, members, basis, frame, theta):
        return best
    plus, minus = vertex_losses(rows, lengths, weight, basis, theta)
    if minus < plus:
        theta *= -1.0
    if min(plus, minus) < best:
        loss = leave_vertex(rows, weight, basis, theta, rng, moved)
        if loss < best:
            best = loss
            best_theta[:] = moved
    return best


@njit(**JIT)
def walk_subsets(rows, lengths, weight, order, places, count, rng, best, best_theta, best_members):
    """Try `count` subsets of `order` from `places` on; return (more to come, best loss).

    `places` moves along; `best_theta` and `best_members` get what beats `best`.
    """
    d = rows.shape[1]
    basis, frame = np.empty(d - 1, np.int64), np.empty((d, d))
    theta, moved = np.empty(d), np.empty(d)
    for _ in range(count):
        members = order[places]
        before = best
        best = _try_subset(
            rows, lengths, weight, members, basis, frame, theta, rng, best, best_theta, moved
        )
        if best < before:
            best_members[:] = members
        if not next_subset(places, len(order)):
            return False, best
    return True, best


@njit(**JIT)
def swap_sweep(rows, lengths, weight, members, place, rng, best, best_theta):
    """Put every row in turn at one place of a subset and keep the best; return the best loss."""
    d = rows.shape[1]
    basis, frame = np.empty(d - 1, np.int64), np.empty((d, d))
    theta, moved = np.empty(d), np.empty(d)
    trial = members.copy()
    for i in range(len(weight)):
        taken = False
        for m in members:
            taken |= m == i
        if taken:
            continue
        trial[place] = i
        before = best
        best = _try_subset(
            rows, lengths, weight, trial, basis, frame, theta, rng, best, best_theta, moved
        )
        if best < before:
            members[:] = trial
    return best
