"""Exact inference: the jointly most probable labels, and marginal probabilities.

The score of labels y is Σ zᵢ yᵢ + Σ rₗ yₐ yᵦ − c Σ max(kₘ − 1, 0): odds z of members, couplings r
of compared pairs, and a penalty c for every target beyond the first of a container, kₘ being the
number of targets in container m. ``p(y) = exp(score) / Z``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf

import numpy as np

from bblr.structured.groups import Floats, Integers
from bblr.structured.large import decode_large, sample_large
from bblr.structured.parts import Batch, Plan, Segments

__all__ = ["Marginals", "decode", "infer", "log_score"]


# Scores held at once, about 16 MB.
_CHUNK = 2**21
# Below this, products of two probabilities are lost in rounding.
_TINY = 1e-10


@dataclass(frozen=True, eq=False)
class Marginals:
    """Marginals of members, pairs and groups.

    Parameters
    ----------
    member : ndarray of shape (n_members,)
        Probability of being a target.
    both : ndarray of shape (n_pairs,)
        Probability that both members of a pair are; 0 for pairs without influence.
    excess : ndarray of shape (n_groups,)
        Expected targets beyond the first of a container.
    log_partition : ndarray of shape (n_groups,)
        log Z; NaN for a group with a part too large to enumerate.
    """

    member: Floats
    both: Floats
    excess: Floats
    log_partition: Floats


def infer(plan: Plan, odds: Floats, couplings: Floats, penalty: float, seed: int = 0) -> Marginals:
    """Return the marginal probabilities under a plan.

    Parameters
    ----------
    plan : Plan
        The independent parts of the groups.
    odds : ndarray of shape (n_members,)
        Log odds z of being a target.
    couplings : ndarray of shape (n_pairs,)
        Log evidence r that both are targets; pairs without influence are not read.
    penalty : float
        c, at least 0; ignored where the constraint is hard or absent.
    seed : int
        For sampling the parts that are too large to enumerate.
    """
    network = plan.network
    found = Marginals(
        np.zeros(network.n_members),
        np.zeros(len(network.pairs)),
        np.zeros(network.n_groups),
        np.zeros(network.n_groups),
    )
    group = network.group
    penalty = _penalty(plan, penalty)
    if len(plan.uncoupled.members):
        member, log_z, excess = _infer_uncoupled(plan.uncoupled, odds, penalty)
        found.member[plan.uncoupled.members] = member
        own = group[plan.uncoupled.members[plan.uncoupled.starts]]
        np.add.at(found.log_partition, own, log_z)
        np.add.at(found.excess, own, excess)
    for batch in plan.batches:
        for rows, scores in _scores(batch, odds, couplings, penalty):
            top = scores.max(axis=1, keepdims=True)
            weights = np.exp(scores - top)
            total = weights.sum(axis=1)
            weights /= total[:, None]
            members, pairs = batch.members[rows], batch.pairs[rows]
            found.member[members] = weights @ batch.states
            known = pairs >= 0
            found.both[pairs[known]] = (weights @ batch.both)[known]
            own = group[members[:, 0]]
            np.add.at(found.log_partition, own, top[:, 0] + np.log(total))
            np.add.at(found.excess, own, weights @ batch.excess)
    for number, part in enumerate(plan.large):
        member, both, beyond = sample_large(part, odds, couplings, penalty, seed + number)
        found.member[part.members], found.both[part.pairs] = member, both
        found.excess[group[part.members[0]]] += beyond
        found.log_partition[group[part.members[0]]] = np.nan
    return found


def decode(plan: Plan, odds: Floats, couplings: Floats, penalty: float) -> Integers:
    """Return the most probable labels of all members together.

    Of equally probable labels those with the fewest targets are taken. Parameters as in `infer`.
    """
    labels = np.zeros(plan.network.n_members, dtype=np.int64)
    penalty = _penalty(plan, penalty)
    if len(plan.uncoupled.members):
        labels[plan.uncoupled.members] = _decode_uncoupled(plan.uncoupled, odds, penalty)
    for batch in plan.batches:
        for rows, scores in _scores(batch, odds, couplings, penalty):
            best = scores.argmax(axis=1)
            labels[batch.members[rows]] = batch.states[best].astype(np.int64)
    for part in plan.large:
        labels[part.members] = decode_large(part, odds, couplings, penalty)
    return labels


def log_score(
    plan: Plan, labels: Integers, odds: Floats, couplings: Floats, penalty: float
) -> float:
    """Return the score of given labels of all members; −inf where a constraint forbids them.

    Parameters as in `infer`.
    """
    network = plan.network
    held = np.bincount(network.containers, weights=labels, minlength=1)
    beyond = float(np.maximum(held - 1, 0).sum())
    score = float(odds @ labels)
    if beyond:
        score -= _penalty(plan, penalty) * beyond
    first, second = network.pairs.T
    return score + float(couplings @ (labels[first] * labels[second]))


def _penalty(plan: Plan, penalty: float) -> float:
    return {"hard": inf, None: 0.0}.get(plan.constraint, penalty)


def _scores(
    batch: Batch, odds: Floats, couplings: Floats, penalty: float
) -> Iterator[tuple[slice, Floats]]:
    """Yield the scores of all states, for chunks of parts."""
    padded = np.append(couplings, 0.0)
    cost = 0.0 if penalty == inf else penalty * batch.excess
    step = max(1, _CHUNK // len(batch.states))
    for start in range(0, len(batch.members), step):
        rows = slice(start, start + step)
        scores = odds[batch.members[rows]] @ batch.states.T
        scores += padded[batch.pairs[rows]] @ batch.both.T
        yield rows, scores - cost


def _infer_uncoupled(
    uncoupled: Segments, odds: Floats, penalty: float
) -> tuple[Floats, Floats, Floats]:
    """Return marginals, log Z and expected excess of each container, by a closed form.

    Z = 1 + e^c (∏(1 + e^(zᵢ − c)) − 1); as c grows, 1 + Σ e^zᵢ.
    """
    z = odds[uncoupled.members]
    segment, starts = uncoupled.segment, uncoupled.starts
    if penalty == inf:
        some = _log_sum(z, uncoupled)
        log_z = np.logaddexp(0.0, some)
        return np.exp(z - log_z[segment]), log_z, np.zeros(len(starts))
    shifted = z - penalty
    each = np.logaddexp(0.0, shifted)
    free = np.add.reduceat(each, starts)
    # log(e^free - 1), without loss where free is tiny
    exact = free > _TINY
    some = np.where(
        exact, free + np.log(-np.expm1(-np.where(exact, free, 1.0))), _log_sum(shifted, uncoupled)
    )
    log_z = np.logaddexp(0.0, penalty + some)
    member = np.exp(penalty + free[segment] + shifted - each - log_z[segment])
    expected = np.add.reduceat(member, starts)
    excess = np.maximum(expected - np.exp(penalty + some - log_z), 0.0)
    return np.minimum(member, 1.0), log_z, excess


def _log_sum(values: Floats, uncoupled: Segments) -> Floats:
    """Return log Σ exp over each container."""
    top = np.maximum.reduceat(values, uncoupled.starts)
    total = np.add.reduceat(np.exp(values - top[uncoupled.segment]), uncoupled.starts)
    return top + np.log(total)


def _decode_uncoupled(uncoupled: Segments, odds: Floats, penalty: float) -> Integers:
    """Select members whose odds exceed the penalty, and the best of a container if positive."""
    z = odds[uncoupled.members]
    labels = (z > penalty).astype(np.int64)
    top = np.maximum.reduceat(z, uncoupled.starts)
    best = np.flatnonzero((z == top[uncoupled.segment]) & (z > 0.0))
    first = np.unique(uncoupled.segment[best], return_index=True)[1]
    labels[best[first]] = 1
    return labels
