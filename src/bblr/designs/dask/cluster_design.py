"""The design of rows that lie in partitions on a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse, vstack

from bblr.designs.base import Curvature, Design, Floats, Look, Moments, Pass
from bblr.designs.dask.vectors import DaskRows, RemoteVector, unwrapped
from bblr.designs.dense import DenseDesign
from bblr.designs.rows import Vector
from bblr.designs.sparse import SparseDesign
from bblr.losses import Loss

# Evaluations in one round trip; each keeps one or two numbers per row on the workers.
_BATCH, _BATCH_OF_MANY_ROWS = 16, 4
_MANY_ROWS = 10_000_000
# Largest sample of rows to fetch, in bytes of a dense array.
MOST_TAKEN = 2**30


class DaskDesign(Design):
    """Rows in partitions, each held by an actor as a dense or a sparse design.

    Parameters
    ----------
    rows : DaskRows
        The partitions and their vectors.
    n_features : int
        Number of columns.
    narrow : bool, default=False
        Form products at the fastest precision of a partition's design.

    Notes
    -----
    What is a sum over rows is summed on each worker, then between workers. Whatever looks at all
    rows in order, a sample or a median, is made of a few such sums first.
    """

    rows: DaskRows
    is_remote = True

    def __init__(self, rows: DaskRows, n_features: int, narrow: bool = False) -> None:
        self.rows = rows
        self.n_rows, self.n_features = rows.n_rows, n_features
        self.batch = _BATCH if self.n_rows <= _MANY_ROWS else _BATCH_OF_MANY_ROWS
        self._room = "narrow" if narrow else "design"

    def narrowed(self) -> DaskDesign:
        """Return the same design with products at the fastest precision."""
        return DaskDesign(self.rows, self.n_features, narrow=True)

    def taken(self, rows: NDArray[np.intp]) -> Design | None:
        """Return the design of some rows, fetched, or None if they would take too much memory."""
        if len(rows) * self.n_features * 8 > MOST_TAKEN:
            return None
        parts = self.rows.in_order("taken", self.rows.split(rows))
        if issparse(parts[0]):
            return SparseDesign(vstack(parts, format="csr"))
        narrow = self._room == "narrow"
        return DenseDesign(np.concatenate(parts), narrow=narrow)

    def scores(self, coef: Floats, intercepts: Floats) -> RemoteVector:
        """Return X @ coef.T + intercepts, made when it is needed."""
        return self.rows.new(f"{self._room}.scores", coef, intercepts)

    def rmatvec(self, residual: Vector) -> Floats:
        """Return X.T @ residual of a per-row vector."""
        return np.asarray(self.rows.ask(f"{self._room}.rmatvec", residual))

    def value_gradient(
        self, coef: Floats, intercepts: Floats, y: Vector, weight: Vector, loss: Loss
    ) -> Pass:
        """Return the weighted loss and its derivatives; the scores stay where they are."""
        raw = self.scores(coef, intercepts)
        name, args = f"{self._room}.value_gradient", (coef, intercepts, y, weight, loss)
        value, gradient, slopes = self.rows.session.call(
            name, *unwrapped(args), keep=raw.definition
        )
        return Pass(float(value), gradient, slopes, raw)

    def moments(self, weight: Vector) -> Moments:
        """Return the weighted moments of the columns."""
        found: Moments = self.rows.ask("moments", weight, how="moments")
        return found

    def square_norm(self, centre: Floats, scale: Floats) -> RemoteVector:
        """Return the squared length of each row, centred and scaled."""
        return self.rows.new(f"{self._room}.square_norm", centre, scale)

    def column_squares(self, weight: Vector, centre: Floats) -> Floats:
        """Return the weighted sum of squares about the centre, a number for each column."""
        return np.asarray(self.rows.ask(f"{self._room}.column_squares", weight, centre))

    def sampled_curvature(
        self, weight: Vector, size: Vector, most: int, centre: Floats
    ) -> Curvature:
        """Return the second moments about the centre, of a sample where there are many rows.

        The sample is the one that a single machine would draw: each partition is told how
        many of its rows fall to the partitions before it.
        """
        rows = self.rows
        if rows.size is not size:
            # From now on a sum of weights comes with what a sample needs next.
            rows.size = size
            rows.forget(weight)
        spread = rows.spread(weight)
        parts = [spread[number] for number in rows.sizes]
        if sum(count for *_, count, _, _ in parts) <= most:
            return self.rows.ask("whole_curvature", weight, centre)
        largest = max(top for *_, top, _ in parts)
        share = np.array([relative * (top / largest) for *_, top, relative in parts])
        scale = most / float(share.sum())
        held = scale * share
        if scale > 1.0:
            # No row counts more than once: some partitions get less than their share.
            held = np.array(rows.in_order("clipped", weight, size, largest, scale))
        before = np.concatenate([[0.0], np.cumsum(held)[:-1]])
        pairs = zip(before.tolist(), held.tolist(), strict=True)
        spans = dict(zip(rows.sizes, pairs, strict=True))
        return self.rows.ask("sampled_curvature", weight, size, largest, scale, spans, centre)

    def probes(
        self, raw: Vector, looks: Sequence[Look], y: Vector, weight: Vector, loss: Loss
    ) -> list[Floats]:
        """Return the weighted loss at the steps along several columns, in one round trip."""
        found: list[Floats] = self.rows.ask(
            f"{self._room}.probes", raw, list(looks), y, weight, loss
        )
        return found

    def along(self, j: int | None, centre: float) -> RemoteVector:
        """Return X[:, j] - centre as a per-row vector."""
        return self.rows.new(f"{self._room}.along", j, centre)

    def shifted(
        self, raw: Vector, j: int | None, centre: float, k: int, step: float
    ) -> RemoteVector:
        """Return the scores with score k moved by a step along X[:, j] - centre."""
        return self.rows.new(f"{self._room}.shifted", raw, j, centre, k, float(step))

    def axis_line(
        self, decision: Vector, j: int | None, centre: float, k: int, y: Vector, weight: Vector
    ) -> tuple[float, float, float]:
        """Return the best step of the zero-one loss along X[:, j] - centre, and what it saves."""
        change = self.rows.lifted(self.along(j, centre), k, decision)
        return self.rows.line(decision, change, y, weight)

    def table(self) -> NoReturn:
        """Refuse: the rows stay where they are."""
        raise TypeError("the rows of a cluster are not brought to one machine")

    def column(self, j: int) -> NoReturn:
        """Refuse: the rows stay where they are."""
        self.table()

    def curvature(self, rows: NDArray[np.intp], weight: Floats, centre: Floats) -> NoReturn:
        """Refuse: rows cannot be named one by one; see `sampled_curvature`."""
        self.table()
