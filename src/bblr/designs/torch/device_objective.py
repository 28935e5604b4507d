"""The same objective where its kernels are compiled, and a step is recorded as a graph."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import torch

from bblr._numeric.device_code import DeviceKernels, Recorded
from bblr.designs.torch.tensor_objective import (
    Place,
    Tensor,
    TensorObjective,
    Walk,
    in_one_place,
    nowhere,
)

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
    numbers : tensor
        Parameters of the loss, the strength of the penalty, and the weight of all rows.
    scratch : dict
        Room for what is forgotten after a step, and a walk that is recorded.
    """

    kernels: DeviceKernels = field(kw_only=True)
    X: Tensor = field(kw_only=True)
    numbers: Tensor = field(kw_only=True)
    scratch: dict[str, Any] = field(kw_only=True)

    def walk(self) -> Walk:
        """Return a walk by this objective: the same for all with the same rows."""
        walk: Walk | None = self.scratch.get("walk")
        if walk is None or not _is_alike(walk.objective, self):
            # It refers to no design, which would refer to itself, and has room of its own.
            apart = replace(self, run=nowhere, picked=nowhere, scratch={})
            own = replace(apart, numbers=self.numbers.clone(), weight=self.weight.clone())
            walk = self.scratch["walk"] = Walk(own, Recorded(self.X.device))
        walk.objective.numbers.copy_(self.numbers)
        walk.objective.weight.copy_(self.weight)
        return walk

    def _new(self, *shape: int) -> Tensor:
        return torch.empty(shape, dtype=torch.float64, device=self.X.device)

    def _room(self, name: str, *shape: int) -> Tensor:
        """Return the same room each time: to ask for memory takes as long as to start a kernel."""
        if name not in self.scratch or self.scratch[name].shape != shape:
            self.scratch[name] = self._new(*shape)
        return self.scratch[name]

    def place(self, theta: Tensor, step: Tensor, length: Tensor) -> Place:
        """Return what there is at theta + length * step, in one pass over the rows."""
        d, size, run = self.X.shape[1], len(theta), self.kernels
        head, there, gradient = self._new(2), self._new(size), self._new(size)
        plane, raw = self._room("plane", d + 1), self._new(len(self.X))
        partial, units = self._room("partial", run.blocks, d + 2), (self.centre, self.inverse)
        run("prepare", 1, theta, step, length, *units, d, size, there, plane)
        rows_pass(run, self.X, plane, self.y, self.weight, self.numbers, raw, partial)
        run(
            "finish", 1, partial, run.blocks, d, size, there, step, *units, self.numbers,
            gradient, head, threads=1024,
        )  # fmt: skip
        return Place(there, gradient, raw, head)

    def system(
        self, raw: Tensor, expected: bool, most: int, share: float, least: float, lowest: float
    ) -> tuple[Tensor, Tensor]:
        """Return the matrix of a curvature of about `most` rows, and its diagonal."""
        (n, d), run = self.X.shape, self.kernels
        most, size, blocks = min(most, n), d + self.fit_intercept, run.blocks
        bend, totals = self._room("bend", n), self._room("totals", blocks, _TOTALS)
        reached, length = self._room("reached", n), self.square_norm
        run(
            "curve", blocks, raw, self.y, self.weight, length, self.numbers, int(expected), n,
            bend, totals,
        )  # fmt: skip
        run("reach", blocks, bend, length, totals, blocks, float(most), n, reached)
        torch.cumsum(reached, 0, out=reached)
        Z = self._room("Z", most, size)
        run(
            "pick", -(-most // 8), self.X, n, d, size, reached, bend, length, totals, blocks,
            most, self.centre, self.inverse, Z,
        )  # fmt: skip
        matrix, diagonal = self._new(size, size), self._new(size)
        torch.mm(Z.T, Z, out=matrix)
        run(
            "diagonal", 1, matrix, size, d, totals, blocks, float(share), float(least),
            float(lowest), self.numbers, diagonal,
        )  # fmt: skip
        return matrix, diagonal

    def chosen(self, found: Tensor, failed: Tensor, gradient: Tensor, diagonal: Tensor) -> Tensor:
        """Return the step of a solution, or of the diagonal alone where there was no factor."""
        step = torch.empty_like(gradient)
        self.kernels("direct", 1, found, failed, gradient, diagonal, len(step), step)
        return step


# What the steps of a walk read, besides row weights and the numbers, which they have copies of.
_READ = "X", "y", "square_norm", "centre", "inverse"
_SET = "kernels", "fit_intercept", "most"


def _is_alike(one: DeviceObjective, other: DeviceObjective) -> bool:
    """Whether two objectives have the same rows, labels and units, in the same place."""
    same = all(getattr(one, name) == getattr(other, name) for name in _SET)
    return same and in_one_place(one, other, _READ)


def rows_pass(
    run: DeviceKernels, X: Tensor, plane: Tensor, y: Tensor, weight: Tensor, numbers: Tensor,
    raw: Tensor, partial: Tensor,
) -> None:  # fmt: skip
    """Write the scores of all rows, and value, slope and gradient of each block of threads."""
    n, d = X.shape
    run("rows_pass", run.blocks, X, n, d, plane, y, weight, numbers, raw, partial)
