"""Per-row vectors in the partitions of a cluster: the client holds only their definitions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

from bblr.designs.dask.calls import Definition, Session
from bblr.designs.dask.partition import replaced
from bblr.designs.dask.remote_lines import search
from bblr.designs.rows import Floats, Rows, Vector
from bblr.losses import Loss

# Sorted numbers that each partition reports in the search for a median.
_POINTS = 512
# Up to this many rows are fetched for exact line searches.
FEW_ROWS = 200_000


class RemoteVector:
    """One number per row, on the workers; made there when it is first needed.

    Parameters
    ----------
    session : Session
        Where the rows are.
    definition : Definition
        How the vector is made.
    """

    # NumPy's numbers leave products with a vector to the vector.
    __array_ufunc__ = None

    def __init__(self, session: Session, definition: Definition) -> None:
        self.session, self.definition = session, definition
        session.live.add(definition.key)
        finalize(self, session.live.discard, definition.key).atexit = False

    def _with(self, name: str, other: Any) -> RemoteVector:
        other = other.definition if isinstance(other, RemoteVector) else float(other)
        return RemoteVector(self.session, self.session.define(name, (self.definition, other)))

    def __add__(self, other: Any) -> RemoteVector:
        return self._with("operator.add", other)

    def __mul__(self, other: Any) -> RemoteVector:
        return self._with("operator.mul", other)

    __radd__ = __add__
    __rmul__ = __mul__


def unwrapped(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return arguments with the definitions of their vectors."""
    found: tuple[Any, ...] = replaced(args, RemoteVector, lambda vector: vector.definition)
    return found


def _made(name: str) -> Any:
    """Return a method that makes a vector by the method of that name of the rows."""

    def method(self: DaskRows, *args: Any) -> RemoteVector:
        return self.new(f"rows.{name}", *args)

    return method


def _summed(name: str, kind: Callable[[Any], Any]) -> Any:
    """Return a method that adds up what the method of that name of the rows returns."""

    def method(self: DaskRows, *args: Any) -> Any:
        return kind(self.ask(f"rows.{name}", *args))

    return method


class DaskRows(Rows):
    """Operations on per-row vectors of a session.

    Parameters
    ----------
    session : Session
        Where the rows are.
    sizes : dict of int to int
        Number of rows of each partition.
    """

    def __init__(self, session: Session, sizes: dict[int, int]) -> None:
        self.session = session
        self.sizes = sizes
        ends = np.cumsum([0, *sizes.values()])
        self._spans = {n: slice(a, b) for n, a, b in zip(sizes, ends[:-1], ends[1:], strict=True)}
        self.starts = {number: int(span.start) for number, span in self._spans.items()}
        self.n_rows = int(ends[-1])
        # By key, of vectors that are asked for again and again.
        self._gathered: dict[int, NDArray[Any]] = {}
        self._kinds: dict[int, Any] = {}
        self._spreads: dict[int, dict[int, Any]] = {}
        self._masks: dict[int, tuple[NDArray[np.intp], RemoteVector]] = {}
        self.size: RemoteVector | None = None

    means, column, decision = _made("means"), _made("column"), _made("decision")
    fisher, positive_curvature = _made("fisher"), _made("positive_curvature")
    falloff, moved, lifted = _made("falloff"), _made("moved"), _made("lifted")
    cost, errors = _summed("cost", float), _summed("errors", float)
    sums, predicted = _summed("sums", np.asarray), _summed("predicted", np.asarray)
    probe = _summed("probe", np.asarray)

    def new(self, name: str, *args: Any) -> RemoteVector:
        """Return the vector that an operation will make."""
        return RemoteVector(self.session, self.session.define(name, unwrapped(args)))

    def ask(self, name: str, *args: Any, how: str = "sum") -> Any:
        """Return the combined answer of all partitions to an operation."""
        return self.session.call(name, *unwrapped(args), how=how)

    def in_order(self, name: str, *args: Any) -> list[Any]:
        """Return the answers of all partitions, in their order."""
        found = self.ask(name, *args, how="gather")
        return [found[number] for number in self.sizes]

    def vector(self, values: Any) -> RemoteVector:
        """Send local numbers, one per row, to the workers."""
        values = np.asarray(values)
        parts = {number: values[span] for number, span in self._spans.items()}
        return RemoteVector(self.session, self.session.define("parts", (), parts))

    def local(self, vector: Vector) -> NDArray[Any]:
        """Return a per-row vector as a NumPy array: it is gathered here."""
        if isinstance(vector, np.ndarray):
            return vector
        if vector.definition.key in self._kinds:
            return self._standing(vector)
        return np.concatenate(self.in_order("rows.local", vector))

    def stands(self, vector: RemoteVector, dtype: Any) -> RemoteVector:
        """Mark a vector of labels or weights: it is gathered at most once."""
        self._kinds[vector.definition.key] = dtype
        return vector

    def _standing(self, vector: RemoteVector) -> NDArray[Any]:
        key = vector.definition.key
        if key not in self._gathered:
            parts = self.in_order("operations.compact", vector)
            self._gathered = {k: v for k, v in self._gathered.items() if k in self.session.live}
            self._gathered[key] = np.concatenate(
                [part.astype(self._kinds.get(key, part.dtype)) for part in parts]
            )
        return self._gathered[key]

    def ones(self, like: Vector) -> RemoteVector:
        """Return a vector of ones."""
        return self.new("ones")

    def split(self, rows: NDArray[np.intp]) -> RemoteVector:
        """Return the numbers of some rows, in ascending order, within their partitions."""
        parts = {}
        for number, span in self._spans.items():
            first, last = np.searchsorted(rows, [span.start, span.stop])
            parts[number] = rows[first:last] - span.start
        return RemoteVector(self.session, self.session.define("parts", (), parts))

    def pick(self, vector: Vector, rows: NDArray[np.intp]) -> NDArray[Any]:
        """Return the numbers of the given rows, in ascending order, fetched."""
        return np.concatenate(self.in_order("operator.getitem", vector, self.split(rows)))

    def only(self, vector: Vector, rows: NDArray[np.intp]) -> RemoteVector:
        """Return the vector with zeros for all rows but those given, sent once as bits."""
        held = self._masks.get(id(rows))
        if held is None:
            mask = np.zeros(self.n_rows, dtype=bool)
            mask[rows] = True
            parts = {n: np.packbits(mask[span]) for n, span in self._spans.items()}
            sent = RemoteVector(self.session, self.session.define("parts", (), parts))
            # The rows are held as well: their number is theirs as long as they live.
            held = self._masks[id(rows)] = (rows, sent)
        return self.new("operations.kept", vector, held[1])

    def spread(self, vector: RemoteVector) -> dict[int, Any]:
        """Return each partition's sum and its share of a sample."""
        key = vector.definition.key
        found = self._spreads.get(key)
        if found is None:
            found = self.ask("operations.spread", vector, self.size, how="gather")
            # A vector that is no longer referenced is never queried again.
            self._spreads = {k: v for k, v in self._spreads.items() if k in self.session.live}
            self._spreads[key] = found
        return found

    def forget(self, vector: RemoteVector) -> None:
        """Query the partitions about a vector again."""
        self._spreads.pop(vector.definition.key, None)

    def total(self, vector: Vector) -> float:
        """Return the sum."""
        if isinstance(vector, np.ndarray):
            return float(vector.sum())
        return float(sum(self.spread(vector)[number][0] for number in self.sizes))

    def largest(self, vector: Vector) -> float:
        """Return the largest number, none being negative."""
        if isinstance(vector, np.ndarray):
            return float(vector.max(initial=0.0))
        return max(self.spread(vector)[number][1] for number in self.sizes)

    def all_at_least(self, vector: Vector, bound: Vector) -> bool:
        """Whether every number is at least that of the other vector."""
        return all(self.in_order("rows.all_at_least", vector, bound))

    def wrong(self, loss: Loss, y: Vector, raw: Vector) -> NDArray[np.intp]:
        """Return the numbers of the rows that are errors."""
        found = self.in_order("rows.wrong", loss, y, raw)
        starts = self.starts.values()
        return np.concatenate([rows + s for rows, s in zip(found, starts, strict=True)])

    def median(self, vector: Vector, weight: Vector) -> float:
        """Return the weighted median.

        Each partition tells some of its sorted numbers; then only those between the two that must
        enclose the median are fetched.
        """
        sketches = self.in_order("operations.sketch", vector, weight, _POINTS)
        target = 0.5 * sum(total[-1] for _, total in sketches if len(total)) * (1.0 - 1e-12)
        low, high = enclose(sketches, target)
        found = self.in_order("operations.between", vector, weight, low, high)
        below = sum(weight for weight, _, _ in found)
        values = np.concatenate([values for _, values, _ in found])
        order = np.argsort(values)
        total = below + np.cumsum(np.concatenate([held for _, _, held in found])[order])
        return float(values[order[min(np.searchsorted(total, target), len(order) - 1)]])

    def line(
        self, decision: Vector, change: Vector, y: Vector, weight: Vector
    ) -> tuple[float, float, float]:
        """Return the best step of the strict zero-one loss along a change of the scores."""
        return self.lines(decision, [change], y, weight)[0]

    def lines(
        self, decision: Vector, changes: Sequence[Vector], y: Vector, weight: Vector
    ) -> list[tuple[float, float, float]]:
        """Return the same for several changes, in the same round trips."""
        if self.n_rows > FEW_ROWS:
            return search(self, decision, changes, y, weight)
        own = Rows()
        labels, weights = self._standing(y), self._standing(weight)
        parts = zip(*self.in_order("operations.columns", decision, *changes), strict=True)
        here, *directions = (np.concatenate(part) for part in parts)
        return [own.line(here, change, labels, weights) for change in directions]


def enclose(sketches: Sequence[tuple[Floats, Floats]], target: float) -> tuple[float, float]:
    """Return two numbers such that the weight up to the second alone reaches the target.

    They are found from some sorted numbers of each partition, with the weight up to each.
    """
    points = np.unique(np.concatenate([values for values, _ in sketches]))
    least, most = np.zeros(len(points)), np.zeros(len(points))
    for values, total in sketches:
        if len(values):
            padded = np.concatenate([[0.0], total])
            least += padded[np.searchsorted(values, points, side="right")]
            after = np.searchsorted(values, points, side="left")
            most += total[np.minimum(after, len(total) - 1)]
    low = np.flatnonzero(most < target)
    high = np.flatnonzero(least >= target)
    return (
        float(points[low[-1]]) if len(low) else -np.inf,
        float(points[high[0]]) if len(high) else np.inf,
    )
