"""Per-row vectors: labels, weights, and one or more scores per row, wherever the rows are.

To solvers such vectors (labels, weights, scores) are opaque: they may be added and multiplied.
Every other operation is defined here. A design whose rows are elsewhere, on
another device or on other machines, has its own `Rows`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bblr._numeric.arrays import quantiles
from bblr._numeric.layouts import layout
from bblr._numeric.tensors import NUMPY
from bblr._numeric.zero_one import zero_one_line
from bblr.losses import Loss

Floats = NDArray[np.float64]
Vector = Any
"""A per-row vector: a NumPy array, or what a design of rows elsewhere uses."""


class Rows:
    """Operations on per-row vectors that are NumPy arrays.

    Most of them are written for whatever has the functions of `xp`.
    """

    xp: Any = NUMPY

    def vector(self, values: Any) -> Vector:
        """Return local numbers, one per row, as a per-row vector."""
        return values

    def local(self, vector: Vector) -> NDArray[Any]:
        """Return a per-row vector as a NumPy array."""
        return np.asarray(vector)

    def ones(self, like: Vector) -> Vector:
        """Return a vector of ones with the rows of another one."""
        return np.ones(len(like))

    def only(self, vector: Vector, rows: NDArray[np.intp]) -> Vector:
        """Return the vector with zeros for all rows but those given."""
        kept, where = self.xp.zeros_like(vector), self.vector(rows)
        kept[where] = vector[where]
        return kept

    def pick(self, vector: Vector, rows: NDArray[np.intp]) -> Vector:
        """Return the numbers of the given rows, in their order."""
        return vector[self.vector(rows)]

    def total(self, vector: Vector) -> float:
        """Return the sum."""
        return float(vector.sum())

    def largest(self, vector: Vector) -> float:
        """Return the largest number, none being negative."""
        return float(vector.max()) if len(vector) else 0.0

    def sums(self, matrix: Vector) -> Floats:
        """Return the sum of each column."""
        return self.local(self.ones(matrix) @ matrix)  # a third of the time of a sum by columns

    def means(self, matrix: Vector) -> Vector:
        """Return the mean of each row."""
        return matrix @ (self.ones(matrix.T) / matrix.shape[1])

    def column(self, matrix: Vector, k: int) -> Vector:
        """Return what belongs to score k as a vector."""
        return self.xp.clone(layout(matrix).score(matrix, k))

    def all_at_least(self, vector: Vector, bound: Vector) -> bool:
        """Whether every number is at least that of the other vector."""
        return bool((vector >= bound).all())

    def form(self, loss: Loss) -> Any:
        """Return a loss whose methods take row vectors and return them."""
        return loss

    def cost(self, loss: Loss, y: Vector, raw: Vector, weight: Vector) -> float:
        """Return the weighted loss."""
        return float(self.form(loss).value(y, raw) @ weight)

    def decision(self, loss: Loss, raw: Vector) -> Vector:
        """Return the scores that decide, which take the plateaus into account."""
        return self.form(loss).decision(raw)

    def errors(self, loss: Loss, y: Vector, raw: Vector, weight: Vector) -> float:
        """Return the weighted zero-one loss, strict: a score on the threshold is an error."""
        return float(weight @ self.vector(self.form(loss).wrong(y, raw) + 0.0))

    def wrong(self, loss: Loss, y: Vector, raw: Vector) -> NDArray[np.intp]:
        """Return the numbers of the rows that are errors."""
        return np.flatnonzero(self.local(self.form(loss).wrong(y, raw)))

    def predicted(self, loss: Loss, raw: Vector, weight: Vector) -> NDArray[np.bool_]:
        """Return, class by class, whether it is predicted for a row that counts."""
        found = self.form(loss).predicted(raw[weight > 0])
        return self.local(self.xp.bincount(found, minlength=loss.n_classes) > 0)

    def residual(self, loss: Loss, y: Vector, raw: Vector, weight: Vector) -> Vector:
        """Return the derivative of the weighted loss by each score, of a loss that is compiled."""
        assert loss.fused is not None
        return loss.fused.residual(raw, y, weight)

    def fisher(self, loss: Loss, raw: Vector, weight: Vector) -> Vector:
        """Return the weight of each row times the Fisher information of its score or scores."""
        return self.form(loss).fisher(raw, weight)

    def positive_curvature(self, loss: Loss, y: Vector, raw: Vector, weight: Vector) -> Vector:
        """Return the weight of each row times a curvature of its loss that is never negative."""
        return self.form(loss).positive_curvature(y, raw, weight)

    def median(self, vector: Vector, weight: Vector) -> float:
        """Return the weighted median."""
        return quantiles(vector, weight, (0.5,))[0]

    def falloff(self, vector: Vector, limit: float) -> Vector:
        """Return 1 up to the limit, and beyond it the square of what the limit is of a number."""
        # A row of weight 0 may lie so far out that its length is infinite, and so may be a limit.
        with np.errstate(invalid="ignore"):
            return self.xp.where(vector <= limit, 1.0, limit / vector) ** 2

    def line(
        self, decision: Vector, change: Vector, y: Vector, weight: Vector
    ) -> tuple[float, float, float]:
        """Return the best step of the strict zero-one loss along a change of the scores.

        With it come the errors there and here.
        """
        return zero_one_line(decision, change, y, weight)

    def lines(
        self, decision: Vector, changes: Sequence[Vector], y: Vector, weight: Vector
    ) -> list[tuple[float, float, float]]:
        """Return the same for several changes."""
        return [self.line(decision, change, y, weight) for change in changes]

    def moved(self, raw: Vector, change: Vector, k: int, step: float) -> Vector:
        """Return the scores with score k moved by a step along a vector."""
        raw = self.xp.clone(raw)
        layout(raw).score(raw, k)[:] += step * change
        return raw

    def lifted(self, change: Vector, k: int, like: Vector) -> Vector:
        """Return a change of score k alone as one of all scores, shaped like another one."""
        return self.moved(self.xp.zeros_like(like), change, k, 1.0)

    def probe(
        self,
        raw: Vector,
        change: Vector,
        k: int,
        steps: Floats,
        y: Vector,
        weight: Vector,
        loss: Loss,
    ) -> Floats:
        """Return the weighted loss with score k moved by each of the steps along a vector."""
        return self.local(self.form(loss).along(y, raw, change, k, steps, weight))
