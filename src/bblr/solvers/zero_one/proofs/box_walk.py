"""Boxes of parameters without a loss below a number: the compiled part.

Over a box of parameters, the score of a row lies between two sums over its sides. A row that is
not positive anywhere in the box is wrong for all of it, and where such rows weigh enough the box
is done. Before a box is halved its sides are moved in: next to a side, further rows are wrong
throughout, and the slab in which they weigh enough goes.
"""

from __future__ import annotations

import numpy as np

from bblr._numeric.compiling import njit
from bblr._numeric.elementary import JIT

# Rounding of a score of parameters of at most one in size, as a share of the sum of the sizes of
# the row's entries. A score takes some hundred operations at most, each off by 2^-53 of that sum.
ROUNDING = 1e-13
# A slab is as thick as a number of these parts of its box.
_PARTS = 32
# Sides are moved in again as long as less than this share of the box is left.
_SHRUNK = 0.8
# How deep boxes lie in each other, a parameter.
_DEPTH = 80
# What the halves are worth to the choice of the side to cut: the lesser one counts most.
_LESSER, _REACH = 3.0, 1e-3


@njit(**JIT)
def walk_boxes(rows, weight, error, need, boxes, most, least, stuck):
    """Look into boxes, halving those in which less than `need` is known to be wrong.

    Returns the boxes left after `most` looks, and how many looks there were, and how many boxes
    were put into `stuck`: those in which no row's score changes by more than `least`.
    """
    n, size = rows.shape
    room = len(boxes) + _DEPTH * size
    stack = np.empty((room, 2, size))
    count = len(boxes)
    stack[:count] = boxes
    # The rows undecided in a box, a part of those of the box around it, and what is wrong.
    first, last, known = np.zeros(room, np.int64), np.full(room, n), np.zeros(room)
    pool = np.empty(n * (_DEPTH * size // 2 + 2), np.int32)
    for i in range(n):
        pool[i] = i
    top, reach = np.empty(n), np.empty(size)
    gone = np.empty((size, 2, _PARTS))
    low, high = np.empty(size), np.empty(size)
    looks, n_stuck = 0, 0
    while count > 0 and looks < most and n_stuck < len(stuck):
        count -= 1
        looks += 1
        for k in range(size):
            low[k], high[k] = stack[count, 0, k], stack[count, 1, k]
        begin, end, wrong = first[count], last[count], known[count]
        new, cut, left = end, -1, 0.0
        while left < _SHRUNK:
            end_new = new
            for p in range(begin, end):
                i = pool[p]
                up, down = error[i], -error[i]
                for k in range(size):
                    a, b = rows[i, k] * low[k], rows[i, k] * high[k]
                    up += max(a, b)
                    down += min(a, b)
                if up <= 0.0:
                    wrong += weight[i]
                elif down <= 0.0:
                    pool[end_new] = i
                    top[end_new - new] = up
                    end_new += 1
            begin, end = new, end_new
            if wrong >= need:
                break
            # What is wrong in addition in slabs of a side, by the thickness of the slab.
            gone[:] = 0.0
            reach[:] = 0.0
            for p in range(begin, end):
                i = pool[p]
                up, w = top[p - new], weight[i]
                for k in range(size):
                    fall = abs(rows[i, k]) * (high[k] - low[k])
                    reach[k] += fall
                    if fall > up:
                        part = min(int((1.0 - up / fall) * _PARTS), _PARTS - 1)
                        gone[k, 0 if rows[i, k] > 0.0 else 1, part] += w
            left, cut, best = 1.0, -1, 0.0
            for k in range(size):
                if reach[k] <= least:
                    continue
                width = high[k] - low[k]
                below, above, half_below, half_above = 0.0, 0.0, 0.0, 0.0
                thick_below, thick_above = 0, 0
                for part in range(_PARTS - 1, -1, -1):
                    below += gone[k, 0, part]
                    above += gone[k, 1, part]
                    if thick_below == 0 and wrong + below >= need:
                        thick_below = part
                    if thick_above == 0 and wrong + above >= need:
                        thick_above = part
                    if part == _PARTS // 2:
                        half_below, half_above = below, above
                low[k] += width * (thick_below / _PARTS)
                high[k] -= width * (thick_above / _PARTS)
                left *= max(0.0, (high[k] - low[k]) / width)
                lesser, greater = min(half_below, half_above), max(half_below, half_above)
                score = _LESSER * lesser + greater + _REACH * reach[k]
                if score > best:
                    cut, best = k, score
            if left == 0.0:
                break
        if wrong >= need or left == 0.0:
            continue
        if cut < 0 or count + 2 > room or end + n > len(pool):
            for k in range(size):
                stuck[n_stuck, 0, k], stuck[n_stuck, 1, k] = low[k], high[k]
            n_stuck += 1
            continue
        middle = 0.5 * (low[cut] + high[cut])
        for half in range(2):
            for k in range(size):
                stack[count, 0, k], stack[count, 1, k] = low[k], high[k]
            stack[count, 1 - half, cut] = middle
            first[count], last[count], known[count] = begin, end, wrong
            count += 1
    return stack[:count].copy(), looks, n_stuck
