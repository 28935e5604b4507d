"""Independent parts of groups, and batches of parts with the same layout."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from bblr.structured.groups import Floats, Integers, Network

__all__ = ["Batch", "Constraint", "Part", "Plan", "Segments", "make_plan"]

Constraint = Literal["soft", "hard"] | None


@dataclass(frozen=True, eq=False)
class Segments:
    """Containers whose members have no coupled pairs.

    Parameters
    ----------
    members : ndarray of shape (n,)
        Their members, container by container.
    starts : ndarray of shape (n_containers,)
        Start of each container in `members`.
    """

    members: Integers
    starts: Integers

    @cached_property
    def segment(self) -> Integers:
        """The position of each member's container."""
        marks = np.zeros(len(self.members), dtype=np.int64)
        marks[self.starts[1:]] = 1
        return np.cumsum(marks)


@dataclass(frozen=True, eq=False)
class Batch:
    """Parts of one layout, small enough to enumerate their feasible states.

    Parameters
    ----------
    members : ndarray of shape (n_parts, n)
        The members of each part.
    pairs : ndarray of shape (n_parts, n_columns)
        Index of the pair at each place of the layout; -1 where a part has none.
    states : ndarray of shape (n_states, n)
        Feasible labels, those with the fewest targets first.
    both : ndarray of shape (n_states, n_columns)
        Whether both members of the pair at a place are targets.
    excess : ndarray of shape (n_states,)
        Targets beyond the first of a container, summed over containers.
    """

    members: Integers
    pairs: Integers
    states: Floats
    both: Floats
    excess: Floats


@dataclass(frozen=True, eq=False)
class Part:
    """One part with too many states to enumerate.

    Parameters
    ----------
    members : ndarray of shape (n,)
        Its members.
    containers : ndarray of shape (n,)
        Their containers, numbered from 0.
    pairs : ndarray of shape (n_pairs,)
        Its pairs.
    ends : ndarray of shape (n_pairs, 2)
        The two members of each, as indices into `members`.
    """

    members: Integers
    containers: Integers
    pairs: Integers
    ends: Integers


@dataclass(frozen=True, eq=False)
class Plan:
    """The part of inference that does not depend on odds.

    Parameters
    ----------
    network : Network
        The groups.
    constraint : {"soft", "hard"} or None
        The constraint on containers.
    uncoupled : Segments
        Members with a closed form.
    batches : list of Batch
        Parts whose states are enumerated.
    large : list of Part
        Parts with too many states.
    """

    network: Network
    constraint: Constraint
    uncoupled: Segments
    batches: list[Batch]
    large: list[Part]


def make_plan(
    network: Network, constraint: Constraint, active: NDArray[np.bool_], max_states: int
) -> Plan:
    """Split groups into independent parts.

    Parameters
    ----------
    network : Network
        The groups.
    constraint : {"soft", "hard"} or None
        The constraint on containers.
    active : ndarray of shape (n_pairs,)
        Whether each pair has an influence.
    max_states : int
        Parts with more feasible states are not enumerated.
    """
    n = network.n_members
    containers = np.arange(n) if constraint is None else network.containers
    if constraint == "hard":
        # Two members of one container are never both targets.
        first, second = containers[network.pairs.T]
        active = active & (first != second)
    pairs = np.flatnonzero(active)
    ends = network.pairs[pairs]
    part = _parts(containers, ends)
    coupled = np.zeros(n, dtype=bool)
    coupled[np.isin(part, part[ends[:, 0]])] = True
    uncoupled = _segments(np.flatnonzero(~coupled), containers)
    batches, large = _batches(
        np.flatnonzero(coupled), part, containers, pairs, ends, constraint, max_states
    )
    return Plan(network, constraint, uncoupled, batches, large)


def _parts(containers: Integers, ends: Integers) -> Integers:
    """Return the connected part of each member, by shared containers and by pairs."""
    n = len(containers)
    rows = np.concatenate([np.arange(n), ends[:, 0]])
    columns = np.concatenate([n + containers, ends[:, 1]])
    graph = coo_matrix((np.ones(len(rows), np.int8), (rows, columns)), shape=(2 * n, 2 * n))
    return connected_components(graph, directed=False)[1][:n].astype(np.int64)


def _segments(members: Integers, containers: Integers) -> Segments:
    members = members[np.argsort(containers[members], kind="stable")]
    own = containers[members]
    starts = np.flatnonzero(np.diff(own, prepend=-1))
    return Segments(members, starts)


def _batches(
    members: Integers,
    part: Integers,
    containers: Integers,
    pairs: Integers,
    ends: Integers,
    constraint: Constraint,
    max_states: int,
) -> tuple[list[Batch], list[Part]]:
    if len(members) == 0:
        return [], []
    size = np.bincount(containers)[containers]
    order = members[np.lexsort((members, containers[members], -size[members], part[members]))]
    codes, starts = np.unique(part[order], return_index=True)
    stops = np.append(starts[1:], len(order))
    place = np.empty(len(part), dtype=np.int64)
    place[order] = np.arange(len(order)) - np.repeat(starts, stops - starts)
    owner = np.searchsorted(codes, part[ends[:, 0]])
    by_owner = np.argsort(owner, kind="stable")
    bounds = np.searchsorted(owner[by_owner], np.arange(len(codes) + 1))
    width = stops - starts
    listed = _n_states(order, starts, width, size, constraint) <= np.log2(max_states) + 1e-9
    large = []
    for k in np.flatnonzero(~listed):
        own = order[starts[k] : stops[k]]
        coupled = by_owner[bounds[k] : bounds[k + 1]]
        numbers = np.unique(containers[own], return_inverse=True)[1].astype(np.int64)
        large.append(Part(own, numbers, pairs[coupled], place[ends[coupled]]))
    batches = []
    for sizes, chosen in _layouts(order, starts, width, size, np.flatnonzero(listed)):
        n = len(sizes)
        rows = order[starts[chosen][:, None] + np.arange(n)]
        number = np.full(len(codes), -1)
        number[chosen] = np.arange(len(chosen))
        coupled = np.flatnonzero(number[owner] >= 0)
        spots = np.sort(place[ends[coupled]], axis=1)
        columns, column = np.unique(spots[:, 0] * n + spots[:, 1], return_inverse=True)
        index = np.full((len(chosen), len(columns)), -1)
        index[number[owner[coupled]], column] = pairs[coupled]
        states, excess = _states(sizes, constraint)
        both = states[:, columns // n] * states[:, columns % n]
        batches.append(Batch(rows, index, states, both, excess))
    return batches, large


def _n_states(
    order: Integers, starts: Integers, width: Integers, size: Integers, constraint: Constraint
) -> Floats:
    """Return the binary logarithm of the number of feasible states of each part."""
    if constraint != "hard":
        return width.astype(np.float64)
    # A container of N members has N + 1 choices; each member contributes an equal share.
    own = size[order]
    return np.add.reduceat(np.log2(own + 1.0) / own, starts)


def _layouts(
    order: Integers, starts: Integers, width: Integers, size: Integers, listed: Integers
) -> list[tuple[tuple[int, ...], Integers]]:
    """Group parts by the sizes of their members' containers."""
    found = []
    for n in np.unique(width[listed]):
        chosen = listed[width[listed] == n]
        keys = size[order[starts[chosen][:, None] + np.arange(n)]]
        layouts, which = np.unique(keys, axis=0, return_inverse=True)
        by_layout = np.argsort(which.ravel(), kind="stable")
        bounds = np.searchsorted(which.ravel()[by_layout], np.arange(len(layouts) + 1))
        for k, layout in enumerate(layouts):
            found.append((tuple(layout.tolist()), chosen[by_layout[bounds[k] : bounds[k + 1]]]))
    return found


def _states(sizes: tuple[int, ...], constraint: Constraint) -> tuple[Floats, Floats]:
    """Enumerate the feasible labels of a layout, and the targets beyond the first of each."""
    blocks = []
    place = 0
    while place < len(sizes):
        count = sizes[place]
        if constraint == "hard":
            blocks.append(np.vstack([np.zeros(count), np.eye(count)]))
        else:
            blocks.append(np.array(list(product((0.0, 1.0), repeat=count))))
        place += count
    states, excess = np.zeros((1, 0)), np.zeros(1)
    for choices in blocks:
        beyond = np.maximum(choices.sum(axis=1) - 1.0, 0.0)
        excess = (excess[:, None] + beyond).ravel()
        left = np.repeat(states, len(choices), axis=0)
        states = np.hstack([left, np.tile(choices, (len(states), 1))])
    fewest = np.argsort(states.sum(axis=1), kind="stable")
    return states[fewest], excess[fewest]
