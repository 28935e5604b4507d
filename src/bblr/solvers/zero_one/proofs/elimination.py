"""Contradictions shown in floating point, with a bound of its rounding: the compiled part."""

from __future__ import annotations

import math

import numpy as np

from bblr._numeric.compiling import njit
from bblr._numeric.elementary import EXACT, INNER

# A sum of so many terms at most is off by less than this share of the sum of their sizes.
_TERMS, _ROUNDING = 400, 1e-13
# Products of numbers within these bounds neither overflow nor lose digits.
_LEAST, _LARGEST = 1e-100, 1e100


@njit(**EXACT, **INNER)
def invert(matrix, inverse):
    """Invert by elimination, which overwrites the matrix; say whether that went well."""
    m = len(matrix)
    for i in range(m):
        for j in range(m):
            inverse[i, j] = 1.0 if i == j else 0.0
    for k in range(m):
        p = k
        for i in range(k + 1, m):
            if abs(matrix[i, k]) > abs(matrix[p, k]):
                p = i
        pivot = matrix[p, k]
        if not abs(pivot) > 1e-12:
            return False
        for j in range(m):
            matrix[k, j], matrix[p, j] = matrix[p, j], matrix[k, j]
            inverse[k, j], inverse[p, j] = inverse[p, j], inverse[k, j]
        for j in range(m):
            matrix[k, j] /= pivot
            inverse[k, j] /= pivot
        for i in range(m):
            factor = matrix[i, k]
            if i != k and factor != 0.0:
                for j in range(m):
                    matrix[i, j] -= factor * matrix[k, j]
                    inverse[i, j] -= factor * inverse[k, j]
    return True


@njit(**EXACT, **INNER)
def _equations(given, rows, matrix):
    """Fill in what the coefficients of a combination solve: the columns vanish, the sum is one.

    Returns whether there are as many equations as rows. Columns that are a multiple of the last
    one within the rows vanish with it and are left out.
    """
    d, m, count = given.shape[1], len(rows), 0
    for j in range(d):
        value, same = given[rows[0], j] * given[rows[0], d - 1], j < d - 1
        for k in range(m):
            last = given[rows[k], d - 1]
            same = same and abs(last) == 1.0 and given[rows[k], j] == value * last
        if same:
            continue
        if count == m - 1:
            return False
        top = 0.0
        for k in range(m):
            top = max(top, abs(given[rows[k], j]))
        if not _LEAST < top < _LARGEST:
            return False
        power = math.frexp(top)[1]
        for k in range(m):
            # A power of two changes no digit.
            matrix[count, k] = math.ldexp(given[rows[k], j], -power)
            if matrix[count, k] != 0.0 and abs(matrix[count, k]) < _LEAST:
                return False
        count += 1
    matrix[m - 1] = 1.0
    return count == m - 1


@njit(**EXACT, **INNER)
def _residual(left, right, a, b, equal):
    """Return at least the size of one entry of a product, less what it should be."""
    off, size = -equal, 1.0
    for k in range(len(left)):
        term = left[a, k] * right[k, b]
        off += term
        size += abs(term)
    return abs(off) + _ROUNDING * size


@njit(**EXACT)
def shown(given, sets, sizes):
    """Say of each set whether it is certain that its rows, and no fewer, contradict each other.

    With a matrix A, nearly its inverse R and nearly the solution x of A x = e, no entry of x is
    further off than that of |R| |A x - e|, over one less the norm of R A - I. Where that is not
    enough to tell the signs of the coefficients, whole numbers may still do it.
    """
    verdicts = np.zeros(len(sizes), np.bool_)
    for s in range(len(sizes)):
        m = sizes[s]
        matrix, inverse = np.empty((m, m)), np.empty((m, m))
        if m > _TERMS or not _equations(given, sets[s, :m], matrix):
            continue
        if not invert(matrix.copy(), inverse):
            continue
        norm, slip = 0.0, 0.0
        left = np.empty(m)
        for a in range(m):
            total = 0.0
            for b in range(m):
                total += _residual(inverse, matrix, a, b, 1.0 if a == b else 0.0)
            norm = max(norm, total)
            left[a] = _residual(matrix, inverse, a, m - 1, 1.0 if a == m - 1 else 0.0)
        for a in range(m):
            total = 0.0
            for k in range(m):
                total += abs(inverse[a, k]) * left[k]
            slip = max(slip, total)
        if norm < 0.5:
            verdicts[s] = inverse[:, m - 1].min() > 1.01 * slip / (1.0 - norm)
    return verdicts
