"""The same objective where its kernels are compiled: fifteen launches a step instead of sixty."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch

from bblr._numeric.device_code import DeviceKernels
from bblr.designs.torch.tensor_objective import Place, Tensor, TensorObjective

# Numbers summed up for each block of threads: curvature, share of a sample, rows that count.
_TOTALS = 3


@dataclass(frozen=True, eq=False)
class DeviceObjective(TensorObjective):
    """The objective of one score a row on a GPU.

    Parameters
    ----------
    kernels : DeviceKernels
        The kernels for these rows.
    X : tensor of shape (n_rows, n_features)
        The rows.
    numbers : list of float
        Parameters of the loss.
    """

    kernels: DeviceKernels = field(kw_only=True)
    X: Tensor = field(kw_only=True)
    numbers: list[float] = field(kw_only=True)

    def _new(self, *shape: int) -> Tensor:
        return torch.empty(shape, dtype=torch.float64, device=self.X.device)

    def place(self, theta: Tensor, step: Tensor, t: float, before: Tensor) -> Place:
        """Return what there is at theta + t * step, in one pass over the rows."""
        (n, d), size, run = self.X.shape, len(theta), self.kernels
        there, plane, gradient = self._new(size), self._new(d + 1), self._new(size)
        units = self.centre, self.inverse
        run("prepare", 1, theta, step, t, *units, d, size, there, plane)
        raw, partial = rows_pass(run, self.X, plane, self.y, self.weight, self.numbers)
        head = self._new(3)
        run(
            "finish", 1, partial, run.blocks, d, size, there, step, before, *units,
            float(self.l2), gradient, head, threads=1024,
        )  # fmt: skip
        return Place(there, gradient, raw, head)

    def system(
        self, raw: Tensor, expected: bool, most: int, share: float, least: float
    ) -> tuple[Tensor, Tensor]:
        """Return the matrix of a curvature of about `most` rows, and its diagonal."""
        (n, d), run = self.X.shape, self.kernels
        most, size, blocks = min(most, n), d + self.fit_intercept, run.blocks
        bend, totals, reached = self._new(n), self._new(blocks, _TOTALS), self._new(n)
        length = self.square_norm
        run(
            "curve", blocks, raw, self.y, self.weight, length, *self.numbers, int(expected), n,
            bend, totals,
        )  # fmt: skip
        run("reach", blocks, bend, length, totals, blocks, float(most), n, reached)
        reached = reached.cumsum(0)
        Z = self._new(most, size)
        run(
            "pick", -(-most // 8), self.X, n, d, size, reached, bend, length, totals, blocks,
            most, self.centre, self.inverse, Z,
        )  # fmt: skip
        matrix, diagonal = Z.T @ Z, self._new(size)
        run(
            "diagonal", 1, matrix, size, d, totals, blocks, float(share), float(least),
            float(self.l2), diagonal,
        )  # fmt: skip
        return matrix, diagonal

    def chosen(self, found: Tensor, failed: Tensor, gradient: Tensor, diagonal: Tensor) -> Tensor:
        """Return the step of a solution, or of the diagonal alone where there was no factor."""
        step = torch.empty_like(gradient)
        self.kernels("direct", 1, found, failed, gradient, diagonal, len(step), step)
        return step


def rows_pass(
    run: DeviceKernels, X: Tensor, plane: Tensor, y: Tensor, weight: Tensor, numbers: list[float]
) -> tuple[Any, Any]:
    """Return the scores of all rows, and value, slope and gradient of each block of threads."""
    n, d = X.shape
    raw = torch.empty(n, dtype=torch.float64, device=X.device)
    partial = torch.empty((run.blocks, d + 2), dtype=torch.float64, device=X.device)
    run("rows_pass", run.blocks, X, n, d, plane, y, weight, *numbers, raw, partial)
    return raw, partial
