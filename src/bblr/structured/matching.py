"""One-to-one decisions: each container and each candidate is used at most once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components, min_weight_full_bipartite_matching

from bblr.structured.groups import Floats, Group, Integers, check_groups, join, number

__all__ = ["candidate_graph", "has_cycles", "match", "match_groups", "match_probabilities"]


# Above this many cells a component is solved as a sparse problem instead of a dense one.
_MOST_CELLS = 4_000_000
_TOLERANCE = 1e-10
_MOST_ROUNDS = 1000


def candidate_graph(groups: Sequence[Group]) -> tuple[Integers, Integers]:
    """Return the container and the candidate of each member of groups, both numbered."""
    for k, group in enumerate(groups):
        if group.candidates is None and len(group):
            raise ValueError(
                f"candidates are missing in group {k}; one_to_one=True needs the "
                "identifier of each candidate."
            )
    network = join(groups)
    if network.n_members == 0:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    return network.containers, number([group.candidates for group in groups if len(group)])


def match_groups(groups: Sequence[Group], odds: Sequence[Floats]) -> list[Integers]:
    """Return the most probable labels where each container and candidate is used at most once.

    The same as ``JointModel(one_to_one=True).predict``, but for given odds: for instance those of
    several models, each for the groups it was not trained on, or of a model from another library.

    Parameters
    ----------
    groups : sequence of Group
        Groups with `candidates`.
    odds : sequence of array-like of shape (n_members,)
        Log odds of being a target for each group's members, such as those of
        ``JointModel.decision_function``.

    Returns
    -------
    list of ndarray of shape (n_members,)
        1 for a target and 0 for the rest.

    Examples
    --------
    >>> from bblr.structured import Group, match_groups
    >>> groups = [Group([[0], [0]], candidates=["a", "b"]), Group([[0]], candidates=["a"])]
    >>> [labels.tolist() for labels in match_groups(groups, [[2.0, 1.5], [3.0]])]
    [[0, 1], [1]]
    """
    groups = check_groups(groups)
    values = [np.asarray(value, dtype=np.float64) for value in odds]
    if [value.shape for value in values] != [(len(group),) for group in groups]:
        raise ValueError("odds must hold one number for each member of each group.")
    if not all(np.isfinite(value).all() for value in values):
        raise ValueError("odds must be finite; clip certain ones, to 50 and -50 for instance.")
    left, right = candidate_graph(groups)
    return join(groups).split(match(left, right, np.concatenate([np.zeros(0), *values])))


def match(left: Integers, right: Integers, odds: Floats) -> Integers:
    """Return the most probable labels of the edges of a bipartite graph, a matching.

    Only edges with positive odds can be in it, so the graph falls apart into small components.

    Parameters
    ----------
    left, right : ndarray of shape (n_edges,)
        The two ends of each edge, numbered on each side from 0.
    odds : ndarray of shape (n_edges,)
        Log odds.
    """
    labels = np.zeros(len(odds), dtype=np.int64)
    edges = np.flatnonzero(odds > 0)
    if len(edges) == 0:
        return labels
    component = _components(left[edges], right[edges])
    order = np.argsort(component, kind="stable")
    bounds = np.searchsorted(component[order], np.arange(component.max() + 2))
    sizes = np.diff(bounds)
    labels[edges[order[bounds[:-1][sizes == 1]]]] = 1
    for k in np.flatnonzero(sizes > 1):
        own = edges[order[bounds[k] : bounds[k + 1]]]
        labels[own[_assign(left[own], right[own], odds[own])]] = 1
    return labels


def _components(left: Integers, right: Integers) -> Integers:
    """Return the component of each edge."""
    n = left.max() + 1
    shape = (n + right.max() + 1,) * 2
    graph = coo_matrix((np.ones(len(left), np.int8), (left, n + right)), shape=shape)
    nodes = connected_components(graph, directed=False)[1]
    return np.unique(nodes[left], return_inverse=True)[1].astype(np.int64)


def _assign(left: Integers, right: Integers, odds: Floats) -> Integers:
    """Return which edges of one component are chosen."""
    rows, row = np.unique(left, return_inverse=True)
    columns, column = np.unique(right, return_inverse=True)
    # A candidate twice in one container: only the better edge can be chosen.
    best = np.lexsort((-odds, column, row))
    first = np.ones(len(best), dtype=bool)
    first[1:] = (np.diff(row[best]) != 0) | (np.diff(column[best]) != 0)
    kept = best[first]
    if len(rows) * len(columns) <= _MOST_CELLS:
        table = np.zeros((len(rows), len(columns)))
        table[row[kept], column[kept]] = odds[kept]
        number = np.full(table.shape, -1)
        number[row[kept], column[kept]] = kept
        chosen = number[linear_sum_assignment(table, maximize=True)]
        return chosen[chosen >= 0]
    # A row may also stay unmatched, in a column of its own. Every row is used once, so adding a
    # constant to its costs, which must not be 0, changes nothing.
    top = odds.max() + 1.0
    alone = np.arange(len(rows))
    costs = coo_matrix(
        (
            np.concatenate([top - odds[kept], np.full(len(rows), top)]),
            (
                np.concatenate([row[kept], alone]),
                np.concatenate([column[kept], len(columns) + alone]),
            ),
        )
    ).tocsr()
    taken = dict(zip(*min_weight_full_bipartite_matching(costs), strict=True))
    return np.array([e for e in kept if taken[row[e]] == column[e]], dtype=np.int64)


def match_probabilities(left: Integers, right: Integers, odds: Floats) -> Floats:
    """Return the probability of each edge over all matchings, by belief propagation.

    Exact where the graph has no cycles; others Bethe's approximation, whose fixed point for
    matchings is unique.

    Parameters are those of `match`.
    """
    if len(odds) == 0:
        return np.zeros(0)
    # A candidate twice in one container counts as one edge with their joint odds.
    codes, edge = np.unique(left * (right.max() + 1) + right, return_inverse=True)
    joint = np.full(len(codes), -np.inf)
    np.logaddexp.at(joint, edge, odds)
    found = _propagate(codes // (right.max() + 1), codes % (right.max() + 1), joint)
    return np.asarray(found[edge] * np.exp(odds - joint[edge]))


def _propagate(left: Integers, right: Integers, odds: Floats) -> Floats:
    from bblr.structured.compiled_sums import free_ends

    ends = [(np.argsort(end, kind="stable"), _starts(end)) for end in (left, right)]
    # Messages: log probability that an end is free for an edge, given its other edges.
    from_left, from_right, new = np.zeros((3, len(odds)))
    for _ in range(_MOST_ROUNDS):
        free_ends(odds + from_right, *ends[0], from_left)
        free_ends(odds + from_left, *ends[1], new)
        change = np.abs(new - from_right).max()
        from_right = 0.5 * (new + from_right)
        if change < _TOLERANCE:
            break
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(odds + from_left + from_right, -700, 700))))


def _starts(end: Integers) -> Integers:
    """Return where the edges of each end begin, edges sorted by it."""
    return np.concatenate([[0], np.cumsum(np.bincount(end))])


def has_cycles(left: Integers, right: Integers) -> bool:
    """Whether a bipartite graph is anything but a set of trees."""
    if len(left) == 0:
        return False
    _, row = np.unique(left, return_inverse=True)
    _, column = np.unique(right, return_inverse=True)
    n = row.max() + 1 + column.max() + 1
    n_components = _components(row, column).max() + 1
    edges = len(np.unique(row * (column.max() + 1) + column))
    return bool(edges > n - n_components)
