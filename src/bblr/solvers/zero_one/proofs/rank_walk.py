"""Sets of rows on which every classifier errs several times: the compiled part.

A set of rows has rank k if no k - 1 of its rows meet all contradictions within it: then every
classifier errs on at least k of them. Such a set grows from one contradiction. As long as some
k - 1 rows meet all those found so far, one without these rows is added, the one that brings least.

Contradictions are corners of a simplex: combinations of the rows that vanish, with coefficients of
at least 0 that sum to one. A step of the simplex method takes microseconds with so few equations.
"""

from __future__ import annotations

import numpy as np

from bblr._numeric.compiling import njit
from bblr._numeric.elementary import INNER, JIT
from bblr.solvers.zero_one.proofs.elimination import invert

# A coefficient, a pivot or a saving below this is rounding.
_ROUNDING = 1e-9
# Steps between two fresh inverses, and to one corner.
_FRESH, _STEPS = 40, 400
# What it costs to take a row that is ruled out, or a column of the identity.
BANNED, NO_ROW = 1e3, 1e6


@njit(**JIT, **INNER)
def _renew(table, basis, inverse):
    m = len(basis)
    matrix = np.empty((m, m))
    for k in range(m):
        for j in range(m):
            matrix[j, k] = table[basis[k], j]
    return invert(matrix, inverse)


@njit(**JIT, **INNER)
def _cheapest(table, basis, inverse, cost):
    """Go to the corner of least cost; say whether it was reached."""
    n, m = table.shape
    price, along = np.empty(m), np.empty(m)
    for step in range(_STEPS):
        if step % _FRESH == _FRESH - 1 and not _renew(table, basis, inverse):
            return False
        price[:] = 0.0
        for k in range(m):
            c = cost[basis[k]]
            if c != 0.0:
                for j in range(m):
                    price[j] += c * inverse[k, j]
        enter, least = -1, -_ROUNDING
        for i in range(n):
            saving = cost[i]
            for j in range(m):
                saving -= price[j] * table[i, j]
            if saving < least:
                enter, least = i, saving
        if enter < 0:
            return True
        leave, ratio, size = -1, np.inf, 0.0
        for k in range(m):
            a = 0.0
            for j in range(m):
                a += inverse[k, j] * table[enter, j]
            along[k] = a
            if a > _ROUNDING:
                t = max(inverse[k, m - 1], 0.0) / a
                if t < ratio - 1e-12 or (t <= ratio + 1e-12 and a > size):
                    leave, ratio, size = k, t, a
        if leave < 0:
            return False
        for j in range(m):
            inverse[leave, j] /= along[leave]
        for k in range(m):
            a = along[k]
            if k != leave and a != 0.0:
                for j in range(m):
                    inverse[k, j] -= a * inverse[leave, j]
        basis[leave] = enter
    return False


@njit(**JIT)
def first_corner(table, basis, inverse):
    """Start from the columns of the identity that end the table; say whether the rows allow it.

    A row of the table is a row of the data of length one, and a 1.
    """
    n, m = table.shape
    cost = np.zeros(n)
    for k in range(m):
        basis[k] = n - m + k
        cost[n - m + k] = NO_ROW
    return _renew(table, basis, inverse) and _cheapest(table, basis, inverse, cost)


@njit(**JIT, **INNER)
def _contradiction(table, basis, inverse, cost, rows):
    """Put the rows of the cheapest contradiction into `rows`; return how many, 0 for none."""
    if not _cheapest(table, basis, inverse, cost):
        _renew(table, basis, inverse)
        return 0
    m, size = len(basis), 0
    for k in range(m):
        if inverse[k, m - 1] > _ROUNDING:
            if cost[basis[k]] >= BANNED:
                return 0
            rows[size] = basis[k]
            size += 1
    return size


@njit(**JIT, **INNER)
def _look(sets, sizes, count, hits, barred, left, degree):
    """Ask whether `left` more rows can meet the sets that none of the rows taken out is in.

    Returns whether they cannot; if it is open, also the row that would do it, or -1, and the set
    to branch on, or -1 where a contradiction without the rows is to be found first.
    """
    free, pick, fewest = 0, -1, sets.shape[1] + 1
    degree[:] = 0
    for u in range(count):
        if hits[u] == 0:
            free += 1
            open_rows = 0
            for k in range(sizes[u]):
                if barred[sets[u, k]] == 0:
                    degree[sets[u, k]] += 1
                    open_rows += 1
            if open_rows < fewest:
                pick, fewest = u, open_rows
    if free == 0:
        return False, -1, -1
    if left == 0 or fewest == 0:
        return True, -1, -1
    # A share of each set, so small that those a row is in sum to one at most: a set has one over
    # the sets that its commonest row is in. No fewer rows meet the sets than there are shares.
    shares, first = 0.0, 0
    for u in range(count):
        if hits[u] == 0:
            top = 1
            for k in range(sizes[u]):
                top = max(top, degree[sets[u, k]])
            shares += 1.0 / top
    if shares > left + _ROUNDING:
        return True, -1, -1
    if left > 1:
        return False, -1, pick
    for i in range(len(degree)):
        if degree[i] > degree[first]:
            first = i
    return False, first, -1


@njit(**JIT, **INNER)
def _sort_down(rows, size, z):
    for a in range(1, size):
        i, b = rows[a], a
        while b > 0 and z[rows[b - 1]] < z[i]:
            rows[b] = rows[b - 1]
            b -= 1
        rows[b] = i


@njit(**JIT)
def grow_set(table, basis, inverse, z, cost, barred, rank, most, looks, sets, sizes, inside):
    """Unite contradictions until their union has a rank, while z sums to less than `most` over it.

    Returns how many contradictions show the rank, 0 where z or the limit of `looks` at a set is in
    the way. `inside` marks the rows of the union. Rows for which `barred` is not 0 are never taken
    out: the rank holds where they are right.
    """
    n, count, total, looked = len(z), 0, 0.0, 0
    member, hits = np.zeros((len(sets), n), np.bool_), np.zeros(len(sets), np.int64)
    degree = np.empty(n, np.int64)
    inside[:] = False
    # The rows taken out so far, each from a set of contradictions that the others leave; its rows
    # before are barred, lest the same rows be taken out in another order.
    chosen, used, place = (
        np.zeros(rank, np.int64),
        np.zeros(rank, np.int64),
        np.zeros(rank, np.int64),
    )
    level, enter = 0, True
    while level >= 0:
        while enter:
            looked += count + 1
            if looked > looks:
                return 0
            shown, banned, pick = _look(sets, sizes, count, hits, barred, rank - 1 - level, degree)
            if shown:
                level, enter = level - 1, False
            elif pick >= 0:
                _sort_down(sets[pick], sizes[pick], z)
                used[level], place[level] = pick, -1
                break
            else:
                if count == len(sets):
                    return 0
                for sign in range(2):
                    change = BANNED if sign == 0 else -BANNED
                    for k in range(level):
                        cost[chosen[k]] += change
                    if banned >= 0:
                        cost[banned] += change
                    if sign == 0:
                        sizes[count] = _contradiction(table, basis, inverse, cost, sets[count])
                if sizes[count] == 0:
                    return 0
                for k in range(sizes[count]):
                    i = sets[count, k]
                    member[count, i] = True
                    if not inside[i]:
                        inside[i] = True
                        total += z[i]
                        cost[i] = 0.0
                count += 1
                if total >= most:
                    return 0
        if level < 0:
            break
        enter = True
        u = used[level]
        if place[level] >= 0:
            for v in range(count):
                hits[v] -= member[v, chosen[level]]
            barred[chosen[level]] = level + 1
        place[level] += 1
        while place[level] < sizes[u] and barred[sets[u, place[level]]] != 0:
            place[level] += 1
        if place[level] < sizes[u]:
            chosen[level] = sets[u, place[level]]
            for v in range(count):
                hits[v] += member[v, chosen[level]]
            level += 1
            continue
        for k in range(sizes[u]):
            if barred[sets[u, k]] == level + 1:
                barred[sets[u, k]] = 0
        level, enter = level - 1, False
    return count
