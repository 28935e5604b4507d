"""Exact zero-one line searches over partitions.

Along a line the loss changes only where a row changes its side. Few rows are fetched, and the
search is the local one. Of many rows each partition sorts its own changes; sums over bins say
between which of them the least loss must lie, and only those changes are fetched.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bblr._numeric.zero_one import Ends, errors, line_ends, lowest, merged, middles

Floats = NDArray[np.float64]
Line = tuple[float, float, float]

_POINTS = 256
# A sum of weights in another order differs in the last digits.
_SLACK = 1e-12


def sorted_ends(decision: Floats, change: Floats, y: Any, weight: Floats) -> Ends:
    """Return the changes of a partition, sorted."""
    ends = line_ends(decision, change, y, weight)
    order = np.argsort(ends.at, kind="stable")
    return ends._replace(at=ends.at[order], gain=ends.gain[order])


def sketch(lines: Sequence[Ends]) -> list[tuple[Floats, float, float, float, float]]:
    """Return some of the sorted steps of each line, and its sums."""
    found = []
    for line in lines:
        n = len(line.at)
        some = np.unique(np.linspace(0, max(n - 1, 0), min(n, _POINTS)).astype(np.intp))
        found.append((line.at[some], *line[2:]))
    return found


def bins(lines: Sequence[Ends], edges: Sequence[Floats]) -> list[tuple[Floats, Floats]]:
    """Return the sum of all changes, and of those that lower the loss, in each bin."""
    return [
        (_binned(line.at, line.gain, cut), _binned(line.at, np.minimum(line.gain, 0.0), cut))
        for line, cut in zip(lines, edges, strict=True)
    ]


def _binned(at: Floats, gain: Floats, edges: Floats) -> Floats:
    total = np.concatenate([[0.0], np.cumsum(gain)])
    upto = total[np.searchsorted(at, edges, side="right")]
    return np.diff(np.concatenate([[0.0], upto, [total[-1]]]))


def fetch(
    lines: Sequence[Ends], spans: Sequence[Sequence[tuple[float, float]]]
) -> list[list[tuple[Floats, Floats, float]]]:
    """Return the changes in some spans (low, high] of each line, and the first one after each."""
    found = []
    for line, wanted in zip(lines, spans, strict=True):
        cut = []
        for low, high in wanted:
            a, b = np.searchsorted(line.at, [low, high], side="right")
            after = float(line.at[b]) if b < len(line.at) else np.inf
            cut.append((line.at[a:b], line.gain[a:b], after))
        found.append(cut)
    return found


def errors_at(
    decision: Floats, changes: Sequence[Floats], steps: Sequence[float], y: Any, weight: Floats
) -> list[float]:
    """Return the errors at a step along each of several changes."""
    moves = zip(changes, steps, strict=True)
    return [errors(y, decision + step * change, weight) for change, step in moves]


def search(rows: Any, decision: Any, changes: Sequence[Any], y: Any, weight: Any) -> list[Line]:
    """Return the best step along each change, and the errors there and here."""
    ends = [rows.new("lines.sorted_ends", decision, change, y, weight) for change in changes]
    sketches = rows.in_order("lines.sketch", ends)
    edges, heads = [], []
    for parts in zip(*sketches, strict=True):
        edges.append(np.unique(np.concatenate([part[0] for part in parts])))
        heads.append(tuple(sum(part[k] for part in parts) for k in (1, 2, 3)))
    far = float(sketches[0][0][4])
    bins = rows.ask("lines.bins", ends, edges)
    plans = [
        _plan(edge, gain, drop, left, here, total)
        for edge, (gain, drop), (left, here, total) in zip(edges, bins, heads, strict=True)
    ]
    fetched = rows.in_order("lines.fetch", ends, [[span for span, _ in plan] for plan in plans])
    steps = []
    for k, (left, here, total) in enumerate(heads):
        pieces = [
            ([part[k][m] for part in fetched], start) for m, (_, start) in enumerate(plans[k])
        ]
        steps.append(_best(pieces, left, here, _SLACK * total, far))
    there = rows.ask("lines.errors_at", decision, list(changes), steps, y, weight)
    # A stretch may be too narrow for any float to lie inside: believe only what is there.
    return [
        (step, left, here) if left < here - _SLACK * total else (0.0, here, here)
        for step, left, (_, here, total) in zip(steps, there, heads, strict=True)
    ]


def _plan(
    edges: Floats, gain: Floats, drop: Floats, left: float, here: float, total: float
) -> list[tuple[tuple[float, float], float]]:
    """Return the spans that may hold the least loss, each with the loss before it."""
    before = left + np.concatenate([[0.0], np.cumsum(gain)[:-1]])
    seen = min(here, left, float((before + gain).min()))
    bounds = np.concatenate([[-np.inf], edges, [np.inf]])
    chosen = np.flatnonzero(before + drop <= seen + 2.0 * _SLACK * total)
    spans: list[tuple[tuple[float, float], float]] = []
    for k in chosen:
        if spans and spans[-1][0][1] == bounds[k]:
            (low, _), start = spans[-1]
            spans[-1] = ((low, bounds[k + 1]), start)
        else:
            spans.append(((bounds[k], bounds[k + 1]), float(before[k])))
    return spans


def _best(
    pieces: Sequence[tuple[Sequence[tuple[Floats, Floats, float]], float]],
    left: float,
    here: float,
    slack: float,
    far: float,
) -> float:
    """Return the best step, given the changes of each partition and the loss before each span."""
    losses, steps = [np.array([here])], [np.array([0.0])]
    for k, (parts, start) in enumerate(pieces):
        at, gain, after = zip(*parts, strict=True)
        points, sums = merged(np.concatenate(at), np.concatenate(gain))
        bounds = np.append(points, min(after))
        losses.append(start + np.cumsum(sums))
        steps.append(middles(bounds[:-1], bounds[1:], far))
        if k == 0 and start == left and np.isfinite(bounds[0]):
            losses.append(np.array([left]))
            steps.append(middles(np.array([-np.inf]), bounds[:1], far))
    return lowest(np.concatenate(losses), np.concatenate(steps), here, slack)
