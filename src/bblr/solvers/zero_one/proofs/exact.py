"""The least zero-one loss of one or two features, by enumeration of the arrangement.

With up to three parameters (two features and an intercept) every cell of the arrangement touches a
vertex, and a vertex is the cross product of two rows. Signs of determinants say on which side of
it every other row lies; those too close to zero for floating point are computed in whole numbers.
The rows that pass through the vertex themselves make a problem of one dimension less around it.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bblr.solvers.zero_one.certificates import whole_numbers, widest
from bblr.solvers.zero_one.problem import ZeroOneProblem
from bblr.solvers.zero_one.progress import Floats, Progress, ZeroOneSolution

Signs = NDArray[np.int8]
Row = Sequence[int]

MAX_SIZE = 3
_NUMBERS_A_CHUNK = 4_000_000


class _Cell(NamedTuple):
    """A cell of the arrangement: its loss and the sign of every row in it."""

    loss: float
    signs: Signs


@dataclass(frozen=True)
class Enumeration:
    """Examine every cell around every vertex.

    The work grows with the cube of the number of distinct rows for two features with an intercept
    (three without), and hardly faster than that number itself for one.
    """

    def minimise(
        self, problem: ZeroOneProblem, theta0: Floats, progress: Progress, **_: Any
    ) -> ZeroOneSolution:
        """Return the best of all classifiers, proved so unless the time runs out."""
        if problem.size > MAX_SIZE:
            raise ValueError(
                f"solver='exact' is for one or two features (three without intercept), not for "
                f"{len(problem.scale)}; use solver='mip' for a proof."
            )
        progress.found(theta0, problem.loss(theta0))
        cells = _line(problem) if _on_a_line(problem) else _plane(problem, progress)
        least = np.inf
        for cell in cells:
            least = min(least, cell.loss)
            self._note(problem, progress, cell)
        if progress.expired:
            return progress.solution(progress.limit)
        progress.raise_bound(problem.base + least)
        return progress.solution("every cell seen")

    def _note(self, problem: ZeroOneProblem, progress: Progress, cell: _Cell) -> None:
        if problem.base + cell.loss < progress.loss:
            theta, _ = widest(cell.signs[:, None] * problem.rows)
            progress.found(theta, problem.loss(theta))


def _on_a_line(problem: ZeroOneProblem) -> bool:
    return problem.fit_intercept and problem.size == 2


def _line(problem: ZeroOneProblem) -> list[_Cell]:
    """Return the best cell of one feature: all rows beyond a threshold get one label."""
    label = np.sign(problem.given[:, -1])
    x = problem.given[:, 0] * label
    order = np.argsort(x, kind="stable")
    weight = problem.weight[order]
    # Loss when the first k rows are called negative and the others positive; distinct x all.
    negative = np.append(0.0, np.cumsum(weight * (label[order] > 0)))
    positive = np.append(0.0, np.cumsum(weight * (label[order] < 0)))
    rising = negative + positive[-1] - positive
    best = []
    for losses, side in ((rising, 1), (weight.sum() - rising, -1)):
        k = int(np.argmin(losses))
        said = np.empty(len(x), np.int8)
        said[order] = np.where(np.arange(len(x)) < k, -side, side)
        best.append(_Cell(float(losses[k]), (said * label).astype(np.int8)))
    return best


def _plane(problem: ZeroOneProblem, progress: Progress) -> Any:
    """Yield cells that beat all those before, until every vertex has been seen."""
    rows = [whole_numbers(row) for row in problem.given]
    if problem.size == 2:
        yield _around(rows, problem.weight, progress)
        return
    best, flat = np.inf, True
    for i in range(len(rows) if problem.size == MAX_SIZE else 0):
        if progress.expired:
            return
        for j, signs in _vertices_of(problem, rows, i):
            flat = False
            if progress.expired:
                return
            if not _first_of_its_vertex(rows, i, j, signs):
                continue
            for side in (signs, -signs):
                off = float(problem.weight @ (side < 0))
                if off >= best:
                    continue
                cell = _complete(problem, rows, i, j, side.astype(np.int8), off)
                if cell.loss < best:
                    best = cell.loss
                    yield cell
    if flat:
        # All rows are multiples of one: two cells.
        signs = _signs(sum(map(operator.mul, row, rows[0])) for row in rows)
        for side in (signs, -signs):
            yield _Cell(float(problem.weight @ (side < 0)), side)


def _first_of_its_vertex(rows: Sequence[Row], i: int, j: int, signs: Signs) -> bool:
    """Say whether no earlier pair of rows makes the same vertex."""
    for m in np.flatnonzero(signs == 0).tolist():
        if m < i:
            return False
        if m == j:
            return True
        if m != i and any(_cross(rows[i], rows[m])):
            return False
    return True


def _vertices_of(problem: ZeroOneProblem, rows: Sequence[Row], i: int) -> Any:
    """Yield each later row that makes a vertex with row i, and the sign of every row there."""
    chunk = max(1, _NUMBERS_A_CHUNK // len(rows))
    for start in range(i + 1, len(rows), chunk):
        stop = min(start + chunk, len(rows))
        yield from _some_vertices(problem, rows, i, np.arange(start, stop))


def _some_vertices(
    problem: ZeroOneProblem, rows: Sequence[Row], i: int, rest: NDArray[np.int64]
) -> Any:
    # Powers of two keep signs and digits, and ordinary numbers neither overflow nor underflow.
    units = np.append(problem.units, np.ones(3 - len(problem.units)))
    given = problem.given / units
    cross = np.cross(given[i], given[rest])
    scores = cross @ given.T
    # A determinant is off by no more than a few roundings of the sum of its absolute terms.
    terms = _absolute_cross(given[i], given[rest]) @ np.abs(given).T
    doubt = 16.0 * np.finfo(float).eps * terms + 1e-200
    signs = np.sign(scores).astype(np.int8)
    signs[np.abs(scores) <= doubt] = 0
    for k, j in enumerate(rest.tolist()):
        exact = _cross(rows[i], rows[j])
        if not any(exact):
            continue
        found = signs[k].copy()
        for m in np.flatnonzero(np.abs(scores[k]) <= doubt[k]).tolist():
            value = sum(map(operator.mul, exact, rows[m]))
            found[m] = (value > 0) - (value < 0)
        yield j, found


def _absolute_cross(a: Floats, b: Floats) -> Floats:
    a, b = np.abs(a), np.abs(b)
    out = np.empty_like(b)
    for k in range(3):
        p, q = (k + 1) % 3, (k + 2) % 3
        out[:, k] = a[p] * b[:, q] + a[q] * b[:, p]
    return out


def _cross(a: Row, b: Row) -> Row:
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


def _complete(
    problem: ZeroOneProblem, rows: Sequence[Row], i: int, j: int, signs: Signs, off: float
) -> _Cell:
    """Return the best cell around a vertex, given the signs of the rows that miss it."""
    vertex = _cross(rows[i], rows[j])
    # Moves within a plane that does not contain the vertex reach every cell around it.
    dropped = max(range(3), key=lambda k: abs(vertex[k]))
    through = np.flatnonzero(signs == 0)
    flat = [[rows[m][k] for k in range(3) if k != dropped] for m in through.tolist()]
    around = _around(flat, problem.weight[through])
    signs = signs.copy()
    signs[through] = around.signs
    return _Cell(off + around.loss, signs)


def _around(rows: Sequence[Row], weight: Floats, progress: Progress | None = None) -> _Cell:
    """Return the best cell of rows with two parameters, on both sides of each breakpoint."""
    best = _Cell(np.inf, np.empty(0, np.int8))
    for pivot in rows:
        if progress is not None and progress.expired and best.loss < np.inf:
            break
        ahead = np.array([row[1] * pivot[0] - row[0] * pivot[1] for row in rows], dtype=object)
        along = np.array([row[0] * pivot[0] + row[1] * pivot[1] for row in rows], dtype=object)
        first, second = _signs(ahead), _signs(along)
        for turn in (1, -1):
            for lean in (1, -1):
                signs = np.where(first != 0, turn * first, lean * second).astype(np.int8)
                loss = float(weight @ (signs < 0))
                if loss < best.loss:
                    best = _Cell(loss, signs)
    return best


def _signs(values: Iterable[Any]) -> Signs:
    return np.array([(v > 0) - (v < 0) for v in values], dtype=np.int8)
