"""Row vectors: a number a row, or one for each class, wherever the rows live.

Solvers hold such vectors (labels, weights, scores) without looking into them. They may add and
multiply them; whatever else is done with them is done here. A design whose rows live elsewhere, on
another chip or on other machines, brings a `Rows` of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logsumexp

from bblr._numeric.fused import bend_weights, fisher_weights
from bblr._numeric.sampling import systematic
from bblr._numeric.threads import map_ranges
from bblr._numeric.zero_one import exact_line, many_line
from bblr.designs._kernels.softmax import softmax_fisher

Floats = NDArray[np.float64]
Vector = Any
"""A number a row: a NumPy array here, something else elsewhere."""


class Rows:
    """Operations on row vectors that are NumPy arrays."""

    def vector(self, values: Any) -> Vector:
        """Return numbers that lie here, one a row, as a row vector."""
        return values

    def local(self, vector: Vector) -> NDArray[Any]:
        """Return a row vector as a NumPy array."""
        return np.asarray(vector)

    def ones(self, like: Vector) -> Vector:
        """Return a vector of ones beside another one."""
        return np.ones(len(like))

    def only(self, vector: Vector, rows: NDArray[np.intp]) -> Vector:
        """Return the vector with zeros for all rows but those given."""
        kept = np.zeros(len(vector))
        kept[rows] = vector[rows]
        return kept

    def pick(self, vector: Vector, rows: NDArray[np.intp]) -> Vector:
        """Return the numbers of the given rows, in their order."""
        return vector[rows]

    def total(self, vector: Vector) -> float:
        """Return the sum."""
        return float(vector.sum())

    def largest(self, vector: Vector) -> float:
        """Return the largest number, none being negative."""
        return float(vector.max(initial=0.0))

    def sums(self, matrix: Vector) -> Floats:
        """Return the sum of each column."""
        return np.ones(len(matrix)) @ matrix  # a third of the time of a sum by columns

    def means(self, matrix: Vector) -> Vector:
        """Return the mean of each row."""
        return matrix @ np.full(matrix.shape[1], 1.0 / matrix.shape[1])

    def column(self, matrix: Vector, k: int) -> Vector:
        """Return a column as a vector."""
        return np.ascontiguousarray(matrix[:, k])

    def none_below(self, vector: Vector, bound: Vector) -> bool:
        """Whether no number lies below that of the other vector."""
        return bool(np.all(vector >= bound))

    def cost(self, loss: Any, y: Vector, raw: Vector, weight: Vector) -> float:
        """Return the weighted loss."""
        return float(loss.value(y, raw) @ weight)

    def decision(self, loss: Any, raw: Vector) -> Vector:
        """Return the scores that decide, which take the plateaus into account."""
        return loss.decision(raw)

    def errors(self, loss: Any, y: Vector, raw: Vector, weight: Vector) -> float:
        """Return the weighted zero-one loss, strict: a score on the threshold is an error."""
        return float(weight @ loss.wrong(y, raw))

    def wrong(self, loss: Any, y: Vector, raw: Vector) -> NDArray[np.intp]:
        """Return the numbers of the rows that are errors."""
        return np.flatnonzero(loss.wrong(y, raw))

    def predicted(self, loss: Any, raw: Vector, weight: Vector) -> NDArray[np.bool_]:
        """Return, class by class, whether it is the most probable one of a row that counts."""
        raw = raw[weight > 0]
        if raw.ndim == 1:
            above = raw > loss.threshold
            return np.array([not above.all(), above.any()])
        best = np.argmax(loss.decision(raw), axis=1)
        return np.bincount(best, minlength=raw.shape[1]) > 0

    def fisher(self, loss: Any, raw: Vector, weight: Vector) -> Vector:
        """Return the weight of each row times the Fisher information of its score or scores."""
        if raw.ndim == 1 and loss.fused is None:
            return weight * loss.curvature(raw)
        out = np.empty(raw.shape)
        if raw.ndim == 2:
            softmax_fisher(raw, weight, np.array(loss.low), loss.b, loss.gamma, out)
            return out
        fisher_weights(loss.fused, raw, weight, out)
        return out

    def bend(self, loss: Any, y: Vector, raw: Vector, weight: Vector) -> Vector:
        """Return the weight of each row times a curvature of its loss that is never negative.

        Newton steps use it in place of the second derivative.
        """
        if loss.fused is None:
            return self.fisher(loss, raw, weight)
        out = np.empty_like(raw)

        def part(_: int, start: int, stop: int) -> None:
            bend_weights(loss.fused, raw, y, weight, start, stop, out)

        map_ranges(part, len(raw), 32 * len(raw))
        return out

    def median(self, vector: Vector, weight: Vector) -> float:
        """Return the weighted median."""
        if weight.min() == weight.max():
            middle = (len(vector) - 1) // 2
            return float(np.partition(vector, middle)[middle])
        order = np.argsort(vector)
        total = np.cumsum(weight[order])
        return float(vector[order[np.searchsorted(total, 0.5 * total[-1] * (1.0 - 1e-12))]])

    def falloff(self, vector: Vector, limit: float) -> Vector:
        """Return 1 up to the limit, and beyond it the square of what the limit is of a number."""
        # A row of weight 0 may lie so far out that its length is infinite, and so may be a limit.
        with np.errstate(invalid="ignore"):
            return np.where(vector <= limit, 1.0, limit / vector) ** 2

    def line(
        self, raw: Vector, change: Vector, y: Vector, weight: Vector, threshold: float
    ) -> tuple[float, float, float]:
        """Return the best step of the strict zero-one loss along a change of the scores.

        With it come the errors there and here.
        """
        if raw.ndim == 2:
            return many_line(raw, change, y, weight)
        step, errors, here = exact_line(raw - threshold, change, y, weight)
        return float(step), float(errors), float(here)

    def lines(
        self, raw: Vector, changes: Sequence[Vector], y: Vector, weight: Vector, threshold: float
    ) -> list[tuple[float, float, float]]:
        """Return the same for several changes."""
        return [self.line(raw, change, y, weight, threshold) for change in changes]

    def moved(self, raw: Vector, change: Vector, k: int, step: float) -> Vector:
        """Return the scores of many classes with those of one moved along a vector."""
        raw = raw.copy()
        raw[:, k] += step * change
        return raw

    def probe(
        self, raw: Vector, change: Vector, steps: Floats, y: Vector, weight: Vector, loss: Any
    ) -> Floats:
        """Return the weighted loss at raw + step * change for each of the steps."""
        from bblr.designs._kernels.probe import probe_grid, probe_supported

        fused = loss.fused
        spacing = np.diff(steps)
        uniform = len(steps) > 1 and np.allclose(spacing, spacing[0], rtol=1e-9, atol=0.0)
        if fused is not None and uniform and probe_supported(fused):
            first, apart = float(steps[0]), float(spacing[0])
            return probe_grid(fused, raw, change, y, weight, first, apart, len(steps))
        return np.array([float(loss.value(y, raw + step * change) @ weight) for step in steps])

    def many_probe(
        self,
        raw: Vector,
        change: Vector,
        k: int,
        steps: Floats,
        y: Vector,
        weight: Vector,
        loss: Any,
    ) -> Floats:
        """Return the weighted loss of many classes with the score of one moved by each step.

        The others are summed up once: with z the score less the log of that sum, the class has
        softmax sigmoid(z) and the others share the rest.
        """
        scores = loss.gamma * raw
        rest = logsumexp(np.delete(scores, k, axis=1), axis=1)
        own = y == k
        place = np.arange(len(y))
        # Of the others none exceeds their sum; what this says of the class itself is not used.
        share = np.exp(np.minimum(scores[place, y] - rest, 0.0))
        low, b = np.array(loss.low)[y], loss.b
        cost = np.empty(len(steps))
        for m, step in enumerate(steps):
            z = scores[:, k] + loss.gamma * step * change - rest
            risen = np.where(own, expit(z), share * expit(-z))
            with np.errstate(divide="ignore"):
                cost[m] = -float(weight @ np.log(np.maximum(low + b * risen, 1e-300)))
        return cost

    def many_probes(
        self,
        raw: Vector,
        changes: Sequence[tuple[Vector, int]],
        steps: Floats,
        y: Vector,
        weight: Vector,
        loss: Any,
    ) -> list[Floats]:
        """Return the same for several changes, each of the score of one class."""
        return [self.many_probe(raw, change, k, steps, y, weight, loss) for change, k in changes]


def sample(weight: Floats, size: Floats, most: int) -> tuple[NDArray[np.intp], Floats]:
    """Return about `most` rows drawn in proportion to weight * size, and their new weights.

    The sample is systematic, so the same input gives the same rows.
    """
    rows, own = systematic(weight, size, most)
    return rows, own
