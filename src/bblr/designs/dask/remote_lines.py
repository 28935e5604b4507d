"""Exact zero-one line searches over partitions.

Along a line the loss changes only where a row changes its side. Few rows are fetched, and the
search is the local one. Of many rows each partition sorts its own changes; sums over bins say
between which of them the least loss must lie, and only those changes are fetched.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bblr._numeric.zero_one import right_stretch

Floats = NDArray[np.float64]
Line = tuple[float, float, float]

_POINTS = 256
# A sum of weights in another order differs in the last digits.
_SLACK = 1e-12
# Beyond this a step plus or minus 1 is the step itself.
_FAR = 2.0**52


class Ends(NamedTuple):
    """Where the loss of a partition changes along a line, and by how much.

    `left` is the loss far to the left, `here` at step 0, `total` the weight of all rows. Beyond
    the first and the last change a step goes on by 1, of many classes (`far` = 1) by as much as
    it has come: as the local searches do.
    """

    at: Floats
    gain: Floats
    left: float
    here: float
    total: float
    far: float


def ends_of(part: Any, decision: Floats, change: Floats, y: Any, weight: Floats) -> Ends:
    """Return the changes of a partition, sorted."""
    several = decision.ndim == 2
    at, gain, left, here = (_several if several else _one)(decision, change, y, weight)
    order = np.argsort(at, kind="stable")
    return Ends(at[order], gain[order], left, here, float(weight.sum()), float(several))


def _one(
    raw: Floats, change: Floats, y: Floats, weight: Floats
) -> tuple[Floats, Floats, float, float]:
    wrong = y * raw <= 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        at = np.where(change != 0.0, -raw / change, np.inf)
    moves = (weight > 0.0) & (np.abs(at) < _FAR)
    # Far to the left exactly the rows that improve with the step are wrong.
    rising = y * change > 0.0
    left = float(weight[(moves & rising) | (~moves & wrong)].sum())
    gain = np.where(rising, -weight, weight)
    return at[moves], gain[moves], left, float(weight[wrong].sum())


def _several(
    raw: Floats, change: Floats, y: NDArray[np.intp], weight: Floats
) -> tuple[Floats, Floats, float, float]:
    low, high, still = right_stretch(raw, change, y)
    held = weight * (low < high)
    enters, leaves = np.isfinite(low) & (held > 0), np.isfinite(high) & (held > 0)
    at = np.concatenate([low[enters], high[leaves]])
    gain = np.concatenate([-held[enters], held[leaves]])
    total = float(weight.sum())
    left = total - float(held[low == -np.inf].sum())
    return at, gain, left, total - float(weight[still].sum())


def line_sketch(
    part: Any, lines: Sequence[Ends]
) -> list[tuple[Floats, float, float, float, float]]:
    """Return some of the sorted steps of each line, and its sums."""
    found = []
    for line in lines:
        n = len(line.at)
        some = np.unique(np.linspace(0, max(n - 1, 0), min(n, _POINTS)).astype(np.intp))
        found.append((line.at[some], *line[2:]))
    return found


def line_bins(
    part: Any, lines: Sequence[Ends], edges: Sequence[Floats]
) -> list[tuple[Floats, Floats]]:
    """Return the sum of all changes, and of those that lower the loss, in each bin."""
    return [
        (_binned(line.at, line.gain, cut), _binned(line.at, np.minimum(line.gain, 0.0), cut))
        for line, cut in zip(lines, edges, strict=True)
    ]


def _binned(at: Floats, gain: Floats, edges: Floats) -> Floats:
    total = np.concatenate([[0.0], np.cumsum(gain)])
    upto = total[np.searchsorted(at, edges, side="right")]
    return np.diff(np.concatenate([[0.0], upto, [total[-1]]]))


def line_fetch(
    part: Any, lines: Sequence[Ends], spans: Sequence[Sequence[tuple[float, float]]]
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


def line_errors(
    part: Any,
    decision: Floats,
    changes: Sequence[Floats],
    steps: Sequence[float],
    y: Any,
    weight: Floats,
) -> list[float]:
    """Return the errors at a step along each of several changes."""
    errors = []
    for change, step in zip(changes, steps, strict=True):
        at = decision + step * change
        if at.ndim == 2:
            own = at[np.arange(len(y)), y].copy()
            at[np.arange(len(y)), y] = -np.inf
            wrong = own <= at.max(axis=1)
        else:
            wrong = y * at <= 0.0
        errors.append(float(weight @ wrong))
    return errors


def search(rows: Any, decision: Any, changes: Sequence[Any], y: Any, weight: Any) -> list[Line]:
    """Return the best step along each change, and the errors there and here."""
    ends = [rows.new("ends_of", decision, change, y, weight) for change in changes]
    sketches = rows.in_order("line_sketch", ends)
    edges, heads = [], []
    for parts in zip(*sketches, strict=True):
        edges.append(np.unique(np.concatenate([part[0] for part in parts])))
        heads.append(tuple(sum(part[k] for part in parts) for k in (1, 2, 3)))
    far = float(sketches[0][0][4])
    bins = rows.ask("line_bins", ends, edges)
    plans = [
        _plan(edge, gain, drop, left, here, total)
        for edge, (gain, drop), (left, here, total) in zip(edges, bins, heads, strict=True)
    ]
    fetched = rows.in_order("line_fetch", ends, [[span for span, _ in plan] for plan in plans])
    steps = []
    for k, (left, here, total) in enumerate(heads):
        pieces = [
            (_merged([part[k][m] for part in fetched]), start)
            for m, (_, start) in enumerate(plans[k])
        ]
        steps.append(_best(pieces, left, here, _SLACK * total, far))
    there = rows.ask("line_errors", decision, list(changes), steps, y, weight)
    # A stretch may be too narrow for any float to lie inside: believe only what is there.
    return [
        (step, errors, here) if errors < here - _SLACK * total else (0.0, here, here)
        for step, errors, (_, here, total) in zip(steps, there, heads, strict=True)
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


def _merged(parts: Sequence[tuple[Floats, Floats, float]]) -> tuple[Floats, Floats, float]:
    at = np.concatenate([part[0] for part in parts])
    gain = np.concatenate([part[1] for part in parts])
    points, place = np.unique(at, return_inverse=True)
    sums = np.bincount(place, gain, len(points)).astype(np.float64)
    return points, sums, min(part[2] for part in parts)


def _best(
    pieces: Sequence[tuple[tuple[Floats, Floats, float], float]],
    left: float,
    here: float,
    slack: float,
    far: float,
) -> float:
    """Return the middle of the best stretch, the nearest to 0 among equals; 0 if none gains."""
    values, steps = [np.array([here])], [np.array([0.0])]
    for k, ((points, gain, after), start) in enumerate(pieces):
        bounds = np.append(points, after)
        values.append(start + np.cumsum(gain))
        steps.append(_middles(bounds[:-1], bounds[1:], far))
        if k == 0 and start == left and np.isfinite(bounds[0]):
            values.append(np.array([left]))
            steps.append(_middles(np.array([-np.inf]), bounds[:1], far))
    value, step = np.concatenate(values), np.concatenate(steps)
    least = float(value.min())
    if not least < here - slack:
        return 0.0
    equal = step[value <= least + slack]
    return float(equal[np.argmin(np.abs(equal))])


def _middles(low: Floats, high: Floats, far: float) -> Floats:
    with np.errstate(invalid="ignore"):
        middle = 0.5 * (low + high)
    first, last = np.isinf(low), np.isinf(high)
    middle[first] = high[first] - np.maximum(1.0, far * np.abs(high[first]))
    middle[last] = low[last] + np.maximum(1.0, far * np.abs(low[last]))
    return middle


LINE_OPERATIONS = (ends_of, line_sketch, line_bins, line_fetch, line_errors)
