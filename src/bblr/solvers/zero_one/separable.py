"""Can all rows be right at once? Found out before any search.

The rows that are not yet clear of the hyperplane are fitted by least squares, again and again:
this is Newton's method on the squared hinge loss. Its minimum is zero exactly if some theta is
right on all rows; otherwise what the rows lack at the minimum are coefficients of a combination
that vanishes, and by Gordan's theorem there is no such theta. Both show after a few systems of
equations, where linear programming takes hundreds of pivots. The linear programme decides what
this leaves in doubt, and then finds the middle of the cell.

Nothing here is a proof that rows cannot be separated: where no theta is found, a search goes on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dposv

from bblr._numeric.threads import one_blas_thread
from bblr.solvers.zero_one.certificates import widest
from bblr.solvers.zero_one.progress import Floats, Progress

Ints = NDArray[np.intp]

# Margins below this, per length of a row and of theta, count as zero.
_THIN = 1e-9
# What keeps the systems of equations soluble where columns depend on each other, a row.
_RIDGE = 1e-13
# A row is clear of the hyperplane with this share of the score of 1 that all are to reach.
_CLEAR = 0.5
_ITERATIONS = 50
_HALVINGS = 30
# Of many rows so many a parameter, and so many more, come first. The others are looked at, and
# join them where they are wrong.
_ROWS_A_PARAMETER, _ROWS_MORE = 20, 1_000
_ROUNDS = 30
# Numbers in the table of those rows, and multiplications for all systems of equations.
_MOST_NUMBERS = 5_000_000
_MOST_WORK = 2e10
# Parameters up to which a linear programme takes less than a second or so.
_MOST_PARAMETERS = 256
# Rows that come closer than the margin by no more than this share of it may.
_CLOSE = 1e-6


@dataclass
class _Budget:
    """Multiplications left, counted and not timed, so that the outcome is the same everywhere."""

    left: float

    def spend(self, work: float) -> bool:
        """Take off some; say whether there were as many."""
        self.left -= work
        return self.left >= 0


def separating(rows: Floats, progress: Progress) -> list[Floats]:
    """Return parameters with positive scores on all rows, those with the widest margin first.

    An empty list where the rows cannot be separated, or where it would take too long to say.
    """
    size = rows.shape[1]
    theta = separate(len(rows), size, rows.__getitem__, rows.__matmul__, progress)
    if theta is None:
        return []
    if size > _MOST_PARAMETERS or progress.expired:
        return [theta]
    wide, margin = _widest(_unit(rows), theta, progress)
    return [wide, theta] if margin > _THIN else [theta]


def separate(
    n: int,
    size: int,
    take: Callable[[Ints], Floats],
    score: Callable[[Floats], Floats],
    progress: Progress,
) -> Floats | None:
    """Return parameters with positive scores on all rows, or None where none are found.

    Parameters
    ----------
    n, size : int
        Number of rows and of parameters.
    take : callable
        Gives the signed rows of ascending numbers as a table.
    score : callable
        Gives the score of every signed row.
    progress : Progress
        The clock.
    """
    most = _MOST_NUMBERS // size
    if n > most and most < 2 * size:
        return None  # a part of the rows that can be handled says nothing about all
    first = min(n, most, _ROWS_A_PARAMETER * size + _ROWS_MORE)
    chosen = np.zeros(n, dtype=bool)
    chosen[np.linspace(0, n - 1, first).astype(np.intp)] = True
    budget = _Budget(_MOST_WORK)
    theta = np.zeros(size)
    for _ in range(_ROUNDS):
        found = _separate_table(_unit(take(np.flatnonzero(chosen))), theta, budget, progress)
        if found is None or progress.expired:
            return None
        theta, scores = found, score(found)
        wrong = np.flatnonzero(~(scores > 0))
        if len(wrong) == 0:
            return theta
        new = wrong[~chosen[wrong]]
        room = min(most - int(chosen.sum()), first)
        if len(new) == 0 or room <= 0:
            return None
        chosen[new[np.argsort(scores[new], kind="stable")[:room]]] = True
    return None


def _unit(rows: Floats) -> Floats:
    # A row too long for its square to have a float becomes zeros, which nothing separates.
    with np.errstate(over="ignore"):
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1.0)


def _separate_table(
    unit: Floats, theta: Floats, budget: _Budget, progress: Progress
) -> Floats | None:
    """Return parameters with positive scores on all rows of a table, from others."""
    with one_blas_thread(min(unit.shape)):
        theta, reach = _regress(unit, theta, budget, progress)
    if np.all(unit @ theta > 0):
        return theta
    if reach <= _THIN or unit.shape[1] > _MOST_PARAMETERS or progress.expired:
        return None
    wide, margin = _widest(unit, theta, progress)
    return wide if margin > _THIN else None


def _regress(
    unit: Floats, theta: Floats, budget: _Budget, progress: Progress
) -> tuple[Floats, float]:
    """Return the parameters of least squared hinge loss, and what no margin exceeds.

    For all coefficients r >= 0 the least score of a theta of length one is at most the length of
    the combination r @ unit over the sum of r.
    """
    n, size = unit.shape
    score, reach = unit @ theta, np.inf
    for _ in range(_ITERATIONS):
        short = score < 1.0
        count = int(short.sum())
        work = count * float(size) * min(count, size)
        if count == 0 or progress.expired or not budget.spend(work):
            break
        step = _least_squares(unit[short], 1.0 - score[short], _RIDGE * n)
        if step is None:
            break
        change = unit @ step
        share = _share(score, change)
        theta, score = theta + share * step, score + share * change
        lack = np.maximum(0.0, 1.0 - score)
        if float(score.min()) >= _CLEAR:
            break
        reach = min(reach, float(np.linalg.norm(lack @ unit) / lack.sum()))
        if reach <= _THIN or (share == 1.0 and np.array_equal(score < 1.0, short)):
            break
    return theta, reach


def _least_squares(rows: Floats, target: Floats, ridge: float) -> Floats | None:
    """Return the theta whose scores are nearest to the target; None where rounding forbids it."""
    wide = rows.shape[0] < rows.shape[1]
    table = rows @ rows.T if wide else rows.T @ rows
    table[np.diag_indices_from(table)] += ridge
    right = target if wide else target @ rows
    _, solved, failed = dposv(table, right, overwrite_a=True)
    if failed or not np.all(np.isfinite(solved)):
        return None
    return np.asarray(rows.T @ solved if wide else solved)


def _share(score: Floats, change: Floats) -> float:
    """Return the share of a step after which the squared hinge loss no longer falls."""

    def rises(share: float) -> bool:
        lack = np.maximum(0.0, 1.0 - score - share * change)
        return float(lack @ change) < 0

    if not rises(1.0):
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if rises(middle) else (middle, high)
    return high


def _widest(unit: Floats, theta: Floats, progress: Progress) -> tuple[Floats, float]:
    """Return the theta in the unit box of the widest margin, and the margin; see `widest`.

    The linear programme has the rows nearest to the hyperplane, and others as they come too close.
    """
    n, size = unit.shape
    score = unit @ theta
    inside = np.zeros(n, dtype=bool)
    new = np.argsort(score, kind="stable")[: 2 * size + 20]
    for _ in range(_ROUNDS):
        inside[new] = True
        theta, margin = widest(unit[inside])
        if margin <= _THIN or progress.expired:
            return theta, 0.0
        score = unit @ theta
        close = np.flatnonzero((score < (1.0 - _CLOSE) * margin) & ~inside)
        if len(close) == 0:
            break
        new = close[np.argsort(score[close], kind="stable")[: size + 10]]
    return theta, float(score.min())
