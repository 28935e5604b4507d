"""Can a set of rows be classified correctly all at once? A point that does it, or a proof.

By Gordan's theorem there is no theta with a positive score on every row exactly if some
combination of the rows with coefficients >= 0, not all zero, vanishes. Linear programming in
floating point finds the coefficients; whole-number arithmetic decides whether they are right.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

Floats = NDArray[np.float64]

# Coefficients of a combination below this share of the largest are rounding errors.
_ABSENT = 1e-9


def widest(rows: Floats) -> tuple[Floats, float]:
    """Return the theta in the unit box whose least score per length of a row is greatest.

    Its second value is that score; it is positive where all rows can be correct.
    """
    n, d = rows.shape
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    table = np.hstack([-rows / np.where(lengths > 0, lengths, 1.0), np.ones((n, 1))])
    cost = np.zeros(d + 1)
    cost[-1] = -1.0
    bounds = [(-1.0, 1.0)] * d + [(None, 1.0)]
    found = linprog(cost, A_ub=table, b_ub=np.zeros(n), bounds=bounds, method="highs")
    if found.x is None:
        return np.zeros(d), 0.0
    return np.asarray(found.x[:-1]), float(found.x[-1])


def contradictory(rows: Floats, given: Floats) -> bool:
    """Say whether it is proved that no theta has a positive score on every row.

    `rows` are scaled for linear programming, `given` are the same rows for exact arithmetic.
    """
    n, d = rows.shape
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit = rows / np.where(lengths > 0, lengths, 1.0)
    table = np.hstack([unit, np.ones((n, 1))]).T
    right = np.append(np.zeros(d), 1.0)
    found = linprog(np.zeros(n), A_eq=table, b_eq=right, bounds=(0, None), method="highs-ds")
    if found.x is None:
        return False
    members = np.flatnonzero(found.x > _ABSENT)
    return contradiction(given, members.tolist()) is not None


def contradiction(given: Floats, members: Sequence[int]) -> tuple[int, ...] | None:
    """Return those of the rows that contradict each other, proved in whole-number arithmetic.

    None where the rows as numbered by `members` cannot be shown to contain a contradiction by
    the one linear dependence they have; nothing then follows.
    """
    vector = _dependence([whole_numbers(given[i]) for i in members])
    if vector is None:
        return None
    signs = {(v > 0) - (v < 0) for v in vector} - {0}
    if len(signs) != 1:
        return None
    return tuple(i for i, v in zip(members, vector, strict=True) if v != 0)


def independent(rows: Floats) -> bool:
    """Say whether it is proved that square rows are independent."""
    # One more row depends on them all, and in one way only, exactly if they are.
    vector = _dependence([whole_numbers(row) for row in [*rows, np.ones(len(rows))]])
    return vector is not None and vector[-1] != 0


def whole_numbers(row: Floats) -> list[int]:
    """Return a positive multiple of a row in whole numbers; a float is one over 2^k."""
    parts = [float(v).as_integer_ratio() for v in row]
    common = max(bottom for _, bottom in parts)
    return [top * (common // bottom) for top, bottom in parts]


def _dependence(rows: list[list[int]]) -> list[int] | None:
    """Return whole coefficients of the one combination of the rows that vanishes.

    None where there is no such combination, or more than one up to a factor.
    """
    # Columns of the transposed matrix are the rows. Bareiss elimination keeps it in whole numbers,
    # all of them determinants, and so does the substitution after it.
    r, d = len(rows), len(rows[0])
    table = [[rows[i][j] for i in range(r)] for j in range(d)]
    pivots: list[int] = []
    free = -1
    previous = 1
    for column in range(r):
        line = len(pivots)
        pivot = next((k for k in range(line, d) if table[k][column] != 0), None)
        if pivot is None:
            if free >= 0:
                return None
            free = column
            continue
        table[line], table[pivot] = table[pivot], table[line]
        head = table[line]
        lead = head[column]
        for k in range(line + 1, d):
            other = table[k]
            factor = other[column]
            table[k] = [0] * (column + 1) + [
                (lead * b - factor * a) // previous
                for a, b in zip(head[column + 1 :], other[column + 1 :], strict=True)
            ]
        previous = lead
        pivots.append(column)
    if free < 0:
        return None
    vector = [0] * r
    vector[free] = previous
    for line in reversed(range(len(pivots))):
        head = table[line]
        rest = sum(head[c] * vector[c] for c in (*pivots[line + 1 :], free))
        vector[pivots[line]] = -rest // head[pivots[line]]
    return vector
