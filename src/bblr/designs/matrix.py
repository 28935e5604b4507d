"""Common code of designs in memory: compiled passes over row ranges, one per thread."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bblr._numeric.layouts import layout_of
from bblr._numeric.threads import map_ranges
from bblr.designs._kernels.passes import Kernel, Passes
from bblr.designs.base import Design, Floats, Pass
from bblr.designs.rows import Vector
from bblr.losses import Loss


class MatrixDesign(Design):
    """A matrix whose arrays are passed to compiled passes.

    A subclass defines `_arrays`, the first arguments of every pass, its `_passes`, the number of
    its `_entries`, and `_work`, roughly the number of operations of a pass.
    """

    @property
    @abstractmethod
    def _arrays(self) -> tuple[NDArray[Any], ...]: ...

    @property
    @abstractmethod
    def _passes(self) -> Passes: ...

    @property
    @abstractmethod
    def _entries(self) -> int: ...

    @property
    @abstractmethod
    def _work(self) -> int: ...

    def _narrowed(self, values: Floats) -> NDArray[Any]:
        """Return numbers in the precision of products."""
        return np.ascontiguousarray(values)

    def _sum_parts(
        self, kernel: Kernel, shape: tuple[int, ...], *args: Any
    ) -> tuple[Floats, float]:
        # One accumulator per thread, added in order: same threads, same bits. They are the price
        # of threads, since weights and sums move between cores. With six to eight entries per
        # column, as in wide text, two threads gain nothing.
        def part(_: int, start: int, stop: int) -> tuple[Floats, float | None]:
            own = np.zeros(shape)
            return own, kernel(*self._arrays, *args, start, stop, own)

        enough = self._entries >= 16 * int(np.prod(shape))
        parts = map_ranges(part, self.n_rows, self._work if enough else 0)
        total, value = parts[0][0], parts[0][1] or 0.0
        for own, more in parts[1:]:
            total += own
            value += more or 0.0
        return total, value

    def _filled(self, kernel: Kernel, *args: Any) -> Floats:
        """Return the per-row vector that a pass writes."""
        out = np.empty(self.n_rows)

        def part(_: int, start: int, stop: int) -> None:
            kernel(*self._arrays, *args, start, stop, out)

        map_ranges(part, self.n_rows, self._work)
        return out

    def scores(self, coef: Floats, intercepts: Floats) -> Floats:
        """Return X @ coef.T + intercepts; a single score per row has no second axis."""
        kernel = self._passes.scores
        columns = [
            self._filled(kernel, self._narrowed(own), float(intercept))
            for own, intercept in zip(coef, intercepts, strict=True)
        ]
        found: Floats = layout_of(len(columns)).joined(columns)
        return found

    def rmatvec(self, residual: Floats) -> Floats:
        """Return X.T @ residual of a per-row vector."""
        own = self._narrowed(residual)
        return self._sum_parts(self._passes.pull, (self.n_features,), own)[0]

    def value_gradient(
        self, coef: Floats, intercepts: Floats, y: Vector, weight: Floats, loss: Loss
    ) -> Pass:
        """Return the weighted loss and its derivatives and the scores, reading X once."""
        fused: Any = loss.fused
        if fused is None:
            return super().value_gradient(coef, intercepts, y, weight, loss)
        if len(coef) > 1:
            return self._several_value_gradient(coef, intercepts, y, weight, fused)
        own = self._narrowed(coef[0]), float(intercepts[0]), y, weight, fused
        value, gradient, raw = self._one_value_gradient(*own)
        return Pass(value, gradient[None, :-1], gradient[-1:], raw)

    def _one_value_gradient(self, *args: Any) -> tuple[float, Floats, Floats]:
        """Return the weighted loss, its gradient with the intercept's last, and the scores."""
        raw = np.empty(self.n_rows)
        kernel, shape = self._passes.value_gradient, (self.n_features + 1,)
        gradient, value = self._sum_parts(kernel, shape, *args, raw)
        return value, gradient, raw

    @abstractmethod
    def _several_value_gradient(
        self, coef: Floats, intercepts: Floats, y: Any, weight: Floats, fused: Any
    ) -> Pass:
        """Return the same for several scores per row."""

    def square_norm(self, centre: Floats, scale: Floats) -> Floats:
        """Return the squared length of each row, centred and scaled."""
        return self._filled(self._passes.square_norm, centre, 1.0 / scale)
