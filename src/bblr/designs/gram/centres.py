"""Centres: which rows a kernel expansion is built on, and coordinates for it.

With few rows every row is a centre, and the eigenvectors of the kernel are the coordinates. With
many, a randomly pivoted Cholesky factorisation chooses them: each new centre is drawn in
proportion to what the centres so far leave unexplained of a row. Rows drawn evenly pile up where
the data are dense; the row explained least is an outlier more often than not.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigvalsh

from bblr.designs.gram.algebra import Matrix
from bblr.designs.gram.kernel_function import Gram

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

# A direction of the kernel below this share of the largest is rounding.
RANK_TOL = 1e-12
# Eigenvalues closer to one another than this share of them are equal but for rounding.
_EQUAL = 1e-9
# Pivots drawn at a time. More are fewer products of larger matrices, but older residuals.
_BATCH = 64


class Basis(NamedTuple):
    """Coordinates u of functions sum_j a_j K(x, z_j), with a = transform @ u.

    The columns of K(x, centres) @ transform are the features of a row.
    """

    centres: Rows
    transform: Matrix


def spectral_basis(gram: Gram, rows: Rows, rkhs: bool, tol: float = RANK_TOL) -> Basis:
    """Return the basis of eigenvectors over all the given rows.

    In it the squared norm of u is that of the function (``rkhs``) or of its weights.
    """
    K = gram.native(rows, rows)
    values, vectors = gram.algebra.eigh(0.5 * (K + K.T))
    largest = float(np.abs(values).max(initial=0.0))
    if rkhs:
        _check_definite(values)
    kept = (values if rkhs else np.abs(values)) > tol * largest
    order = np.flatnonzero(kept)[::-1].copy()
    vectors = _settled(gram, values[order], vectors[:, order])
    if rkhs:
        vectors = gram.algebra.times_columns(vectors, 1.0 / np.sqrt(values[order]))
    return Basis(rows, vectors)


def _settled(gram: Gram, values: Floats, vectors: Matrix) -> Matrix:
    """Return eigenvectors of which those of equal eigenvalues depend on the rows alone.

    The last bit chooses among them otherwise, as for rows far from all others, and a
    preconditioner that is a diagonal leads each choice to another fit. The Cholesky factor of
    the projection on their span is such a choice.
    """
    apart = np.abs(np.diff(values)) > _EQUAL * np.abs(values[1:])
    for own in np.split(np.arange(len(values)), 1 + np.flatnonzero(apart)):
        if len(own) > 1:
            span = vectors[:, own]
            vectors[:, own] = gram.algebra.pivoted(span @ span.T, _EQUAL)[0]
    return vectors


def check_definite(gram: Gram, rows: Rows) -> None:
    """Raise a ValueError unless the kernel of some rows is positive semi-definite."""
    K = gram.block(rows, rows)
    _check_definite(np.asarray(eigvalsh(0.5 * (K + K.T), check_finite=False), dtype=float))


def _check_definite(values: Floats) -> None:
    """Raise a ValueError where an eigenvalue is more negative than rounding makes it."""
    low, high = float(values.min(initial=0.0)), float(np.abs(values).max(initial=0.0))
    if low < -1e-8 * max(high, 1e-300) * len(values) ** 0.5:
        raise ValueError(
            "kernel is not positive semi-definite: the smallest eigenvalue of its matrix is "
            f"{low:.3g}, the largest {high:.3g}. Use penalty='ridge', which takes any kernel, or "
            "another kernel."
        )


def centre_basis(gram: Gram, centres: Rows, sample: Rows, rkhs: bool) -> Basis:
    """Return a basis over the given centres whose features are uncorrelated on a sample of rows.

    In it the squared norm of u is that of the function (``rkhs``) or of its weights. With
    ``rkhs``, centres that others explain up to rounding are left out.
    """
    transform = None
    if rkhs:
        factor, kept = gram.algebra.pivoted(gram.native(centres, centres), RANK_TOL)
        transform = gram.algebra.inverse_lower(factor[kept]).T
        centres = centres[kept]
    features = gram.native(sample, centres)
    if transform is not None:
        features = features @ transform
    vectors = _settled(gram, *gram.algebra.eigh(features.T @ features))
    # The largest first.
    vectors = vectors[:, np.arange(len(centres))[::-1].copy()]
    return Basis(centres, vectors if transform is None else transform @ vectors)


def choose_centres(
    gram: Gram, rows: Rows, weight: Floats, count: int, rng: np.random.Generator
) -> Rows:
    """Return at most `count` of the rows by randomly pivoted Cholesky factorisation.

    Parameters
    ----------
    gram : Gram
        The kernel.
    rows : ndarray of int
        Rows to choose from.
    weight : ndarray of float
        Their weights.
    count : int
        Most centres.
    rng : Generator
        Draws the centres.
    """
    residual = gram.diagonal[rows].copy()
    floor = RANK_TOL * float(residual.max(initial=0.0))
    algebra = gram.algebra
    factor = algebra.zeros(len(rows), count)
    chosen: list[int] = []
    while len(chosen) < count:
        share = np.where(residual > floor, residual, 0.0) * weight
        candidates = int((share > 0).sum())
        if candidates == 0:
            break
        batch = min(_BATCH, count - len(chosen), candidates)
        drawn = rng.choice(len(rows), size=batch, replace=False, p=share / share.sum())
        k = len(chosen)
        columns = gram.native(rows, rows[drawn]) - factor[:, :k] @ factor[drawn, :k].T
        square = algebra.local(columns[drawn])
        # What is left of these rows, without the rounding of all rounds so far.
        residual[drawn] = np.diagonal(square)
        # Of rows that are drawn together and resemble each other one is enough for now.
        least = np.maximum(residual[drawn], 10.0 * floor)
        local, kept = algebra.pivoted(columns[drawn], 0.1, least)
        if len(kept) == 0:
            residual[drawn] = 0.0  # nothing but rounding
            continue
        new = algebra.solve_lower(local[kept], columns[:, kept].T).T
        factor[:, k : k + len(kept)] = new
        residual -= algebra.square_rows(new)
        residual[drawn[kept]] = 0.0
        chosen += drawn[kept].tolist()
    return rows[np.array(chosen, dtype=np.intp)]
