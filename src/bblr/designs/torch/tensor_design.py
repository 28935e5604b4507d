"""Designs whose rows are torch tensors, mainly on a GPU.

Sums over rows end in float64 whatever the rows are stored in. Rows that do not fit into the memory
of the device stay where they are, and are sent there a block at a time in each pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from bblr._numeric.device_code import DeviceKernels
from bblr.designs.base import Curvature, Design, Floats, Moments, Pass, varying
from bblr.designs.dense import moments_of
from bblr.designs.rows import Vector
from bblr.designs.torch.device_kernels import kernels_for
from bblr.designs.torch.device_objective import DeviceObjective, rows_pass
from bblr.designs.torch.placing import placed
from bblr.designs.torch.tensor_lbfgs import TensorScores
from bblr.designs.torch.tensor_objective import TensorObjective, sample
from bblr.designs.torch.tensor_rows import TorchRows
from bblr.losses import Loss
from bblr.losses.torch_forms import value_residual
from bblr.losses.torch_fused import parameters_of

Tensor = torch.Tensor
Result = TypeVar("Result")

# Numbers of a block that is widened to float64 or sent to the device: 128 MiB of float64.
_BLOCK = 2**24
_LEAST_ROWS = 1024
# Sums beyond this do not fit into float32.
_WIDEST = 1e37
# Numbers that a GPU reads in the time it takes to start the kernels of a pass.
_QUICK = 2**27


def _careful(work: Callable[..., Result]) -> Callable[..., Result]:
    """Make a pass that is repeated in smaller blocks where the device has no room."""

    @wraps(work)
    def careful(self: TorchDesign, *args: Any) -> Result:
        while True:
            try:
                return work(self, *args)
            except torch.OutOfMemoryError:
                if not self.use_less():
                    raise

    return careful


class TorchDesign(Design):
    """A dense matrix as a tensor.

    Parameters
    ----------
    X : tensor of shape (n_rows, n_features), float32 or float64
        Used as it is.
    device : torch.device
        Where to compute.
    narrow : bool, default=False
        Form the products of a float32 tensor in float32.
    """

    rows: TorchRows
    is_remote = True

    def __init__(
        self, X: Tensor | list[Tensor], device: torch.device, narrow: bool = False
    ) -> None:
        self.parts = X if isinstance(X, list) else placed(X, device)
        self.device = device
        self.rows = TorchRows(device)
        self.n_rows, self.n_features = sum(map(len, self.parts)), self.parts[0].shape[1]
        self._narrow = narrow or self.parts[0].dtype == torch.float64
        self._block = _BLOCK
        self._scratch: dict[str, Any] = {}
        self._known_units: tuple[Floats, Tensor] | None = None
        self._known_varying: tuple[Floats, tuple[TorchDesign, Floats, Floats]] | None = None

    def narrowed(self) -> TorchDesign:
        """Return the same design with products in the precision of X, where sums stay finite."""
        for part in self.parts if not self._narrow else ():
            low, high = torch.aminmax(part)
            if not float(torch.maximum(high, -low)) * self.n_rows < _WIDEST:
                return self
        return TorchDesign(self.parts, self.device, True)

    @property
    def is_quick(self) -> bool:  # type: ignore[override]
        """Whether a pass over all rows takes no longer than one over a sample."""
        return len(self.parts) == 1 and self.n_rows * self.n_features <= _QUICK

    def taken(self, rows: NDArray[np.intp]) -> TorchDesign | None:
        """Return the design of some rows; None where a pass over all takes no longer."""
        if self.is_quick:
            return None
        return TorchDesign([self._picked(rows)], self.device, self._narrow)

    def some_rows(self, rows: NDArray[np.intp]) -> Floats:
        """Return a few rows in ascending order as an array."""
        return self._picked(rows).double().cpu().numpy()

    def drawn(
        self, rows: NDArray[np.intp], centre: Floats, scale: Floats, fit_intercept: bool
    ) -> Tensor:
        """Return some rows in unit-free coordinates, as a tensor."""
        origin, inverse = self._units(centre, scale)
        Z = (self._picked(rows) - origin) * inverse
        some = varying(scale)
        if len(some) < len(scale):
            Z = Z[:, torch.as_tensor(some, device=self.device)]
        return torch.nn.functional.pad(Z, (0, 1), value=1.0) if fit_intercept else Z

    def _picked(self, rows: Any) -> Tensor:
        """Return some rows on the device."""
        rows = torch.as_tensor(rows, device=self.device)
        if len(self.parts) == 1:
            (part,) = self.parts
            return part[rows.to(part.device)].to(self.device)
        out = self.parts[0].new_empty((len(rows), self.n_features), device=self.device)
        start = 0
        for part in self.parts:
            inside = (rows >= start) & (rows < start + len(part))
            out[inside] = part[(rows[inside] - start).to(part.device)].to(self.device)
            start += len(part)
        return out

    def _blocks(self, wide: bool) -> Iterator[tuple[slice, Tensor]]:
        """Yield row ranges and their rows on the device, few enough for float64 where asked."""
        start = 0
        step = max(1, self._block // max(1, self.n_features))
        for part in self.parts:
            here = part.device == self.device and not wide
            size = max(1, len(part)) if here else step
            for s in range(0, len(part), size):
                rows = part[s : s + size].to(self.device, non_blocking=True)
                yield slice(start + s, start + s + len(rows)), rows
            start += len(part)

    def _passes(self) -> Iterator[tuple[slice, Tensor]]:
        if self._narrow:
            return self._blocks(wide=False)
        return ((rows, X.double()) for rows, X in self._blocks(wide=True))

    def _coef(self, coef: Floats) -> Tensor:
        kind = self.parts[0].dtype if self._narrow else torch.float64
        return torch.as_tensor(coef, device=self.device).to(kind)

    def use_less(self) -> bool:
        """Halve the blocks of later passes; say whether they are still worth a pass."""
        enough = self._block // 2 >= _LEAST_ROWS * max(1, self.n_features)
        if enough:
            self._block //= 2
            torch.cuda.empty_cache()
        return enough

    def _added(
        self, blocks: Iterator[tuple[slice, Tensor]], make: Callable[[slice, Tensor], Tensor]
    ) -> Floats:
        """Return the sum of what is made of each block: one message from the device."""
        total: Any = sum(make(rows, X) for rows, X in blocks)
        return self.rows.local(total)

    @_careful
    def scores(self, coef: Floats, intercepts: Floats) -> Tensor:
        """Return X @ coef.T + intercepts; a single score per row has no second axis."""
        own, shift = self._products(coef, intercepts)
        return _joined([(X @ own).double().add_(shift) for _, X in self._passes()])

    def _products(self, coef: Floats, intercepts: Floats) -> tuple[Tensor, Any]:
        """Return what to multiply rows with and what to add, without an axis for one score."""
        if len(coef) == 1:
            return self._coef(coef[0]), float(intercepts[0])
        return self._coef(coef).T, torch.as_tensor(intercepts, device=self.device)

    @_careful
    def rmatvec(self, residual: Vector) -> Floats:
        """Return X.T @ residual of a per-row vector."""
        return self._added(self._passes(), lambda rows, X: _transposed(X, residual[rows]))

    def value_gradient(
        self, coef: Floats, intercepts: Floats, y: Vector, weight: Vector, loss: Loss
    ) -> Pass:
        """Return the weighted loss, its derivatives and the scores they were made of."""
        own, shift = self._products(coef, intercepts)
        found, raw = self._fused(own, shift, y, weight, loss)
        sums: Floats = self.rows.local(found)
        slopes, gradient = sums[1 : 1 + len(coef)], sums[1 + len(coef) :].reshape(coef.shape)
        return Pass(float(sums[0]), gradient, slopes, raw)

    def _kernels(self, loss: Loss | None = None) -> DeviceKernels | None:
        """Return the compiled passes over all rows, with a loss if there is one; None without."""
        if len(self.parts) > 1 or (loss is not None and parameters_of(loss.fused) is None):
            return None
        return kernels_for(self.parts[0], self._narrow)

    @_careful
    def _fused(
        self, own: Tensor, shift: Any, y: Vector, weight: Vector, loss: Loss
    ) -> tuple[Tensor, Tensor]:
        """Return value, slopes and gradient in one tensor, and the scores."""
        run, known = self._kernels(loss), parameters_of(loss.fused)
        if run is not None and known is not None:
            level = torch.as_tensor(shift, dtype=torch.float64, device=self.device)
            plane = torch.cat([own.double(), level.reshape(1)])
            raw = torch.empty(self.n_rows, dtype=torch.float64, device=self.device)
            partial = raw.new_empty((run.blocks, self.n_features + 2))
            (X,) = self.parts
            rows_pass(run, X, plane, y, weight, self._sent(*known.values()), raw, partial)
            return partial.sum(dim=0), raw
        scores = []
        total: Any = 0.0
        for rows, X in self._passes():
            scores.append((X @ own).double().add_(shift))
            value, residual = value_residual(loss, y[rows], scores[-1], weight[rows])
            slopes = residual.sum(dim=0).reshape(-1)
            total += torch.cat([value.reshape(1), slopes, _transposed(X, residual)])
        return total, _joined(scores)

    def table(self) -> Floats:
        """Return all numbers as one dense, row-major float64 array."""
        return np.concatenate([part.double().cpu().numpy() for part in self.parts])

    def column(self, j: int) -> tuple[None, Any]:
        """Return a copy of column j as float64."""
        parts = [part[:, j].to(self.device).double() for part in self.parts]
        return None, _joined(parts)

    @_careful
    def moments(self, weight: Vector) -> Moments:
        """Return the weighted moments of the columns, stable for columns far from zero."""
        first = int((weight > 0).to(torch.uint8).argmax())
        shift = self._picked([first])[0].double()
        run = self._kernels()
        if run is not None:
            (X,), d = self.parts, self.n_features
            partial = torch.empty((4 * run.blocks, 3, d), dtype=torch.float64, device=self.device)
            run(
                "moments", len(partial), X, self.n_rows, d, weight, shift, partial,
                tiles=-(-d // 32),
            )  # fmt: skip
            total = weight.sum().expand(1, d)
            sums = self.rows.local(torch.cat([partial.sum(dim=0), shift[None], total]))
            return moments_of(sums[:3], float(sums[4, 0]), sums[3])

        # A float64 operand widens X on the way: no copy of a block is made for that alone.
        def make(rows: slice, X: Tensor) -> Tensor:
            w = weight[rows]
            nonzero = w @ torch.where(X != 0, one, 0.0)
            moved = X - shift
            return torch.stack([w @ moved, w @ moved.square_(), nonzero])

        one = torch.ones((), dtype=torch.float64, device=self.device)
        sums = self._added(self._blocks(wide=True), make)
        return moments_of(sums, float(weight.sum()), self.rows.local(shift))

    @_careful
    def square_norm(self, centre: Floats, scale: Floats) -> Tensor:
        """Return the squared length of each row, centred and scaled."""
        origin, inverse = self._constants(centre, 1.0 / scale)
        run = self._kernels()
        if run is not None:
            found = torch.empty(self.n_rows, dtype=torch.float64, device=self.device)
            (X,) = self.parts
            run("lengths", 8 * run.blocks, X, self.n_rows, self.n_features, origin, inverse, found)
            return found
        lengths = [
            (X - origin).mul_(inverse).square_().sum(dim=1) for _, X in self._blocks(wide=True)
        ]
        return _joined(lengths)

    def curvature(self, rows: NDArray[np.intp], weight: Floats, centre: Floats) -> Curvature:
        """Return the second moments about the centre over the given rows."""
        where, own = (torch.as_tensor(v, device=self.device) for v in (rows, weight))
        return self._curvature(where, own, centre)

    def sampled_curvature(
        self, weight: Vector, size: Vector, most: int, centre: Floats
    ) -> Curvature:
        """Return the second moments about the centre, of a sample where there are many rows."""
        return self._curvature(*sample(weight, size, min(most, self.n_rows)), centre)

    @_careful
    def _curvature(self, rows: Tensor, weight: Tensor, centre: Floats) -> Curvature:
        d, sums = self.n_features, None
        (origin,) = self._constants(centre)
        step = max(1, self._block // max(1, d))
        for s in range(0, max(1, len(rows)), step):
            X, w = self._picked(rows[s : s + step]).double() - origin, weight[s : s + step]
            pulled = X * w[:, None]
            part = torch.cat([(pulled.T @ X).reshape(-1), pulled.sum(dim=0), w.sum()[None]])
            sums = part if sums is None else sums + part
        found = self.rows.local(sums)
        return Curvature(found[: d * d].reshape(d, d), found[d * d : -1], float(found[-1]))

    def on_device(
        self,
        square_norm: Vector,
        centre: Floats,
        scale: Floats,
        fit_intercept: bool,
        dense: bool,
        **settings: Any,
    ) -> TensorObjective | TensorScores | None:
        """Return the objective with its parameters on the device."""
        if len(self.parts) > 1:
            return None
        if len(varying(scale)) < len(scale):
            varies, centre, scale = self._of_varying(centre, scale)
            return varies.on_device(square_norm, centre, scale, fit_intercept, dense, **settings)
        origin, inverse = self._units(centre, scale)
        kind = self.parts[0].dtype if self._narrow else torch.float64

        def run(coef: Tensor, *others: Any) -> tuple[Tensor, Tensor]:
            return self._fused(coef.to(kind), *others)

        loss = settings["loss"]
        if loss.n_scores > 1:
            own = {name: settings[name] for name in ("y", "weight", "loss", "l2", "unit")}
            return TensorScores(run, origin, inverse, fit_intercept, **own, scratch=self._scratch)
        if not dense:
            return None
        given = run, self._picked, origin, inverse, square_norm, fit_intercept
        kernels, known = self._kernels(loss), parameters_of(loss.fused)
        if kernels is None or known is None:
            return TensorObjective(*given, **settings)
        return DeviceObjective(
            *given, **settings, kernels=kernels, X=self.parts[0],
            numbers=self._sent(*known.values(), settings["l2"], settings["total"]),
            scratch=self._scratch,
        )  # fmt: skip

    def _of_varying(self, centre: Floats, scale: Floats) -> tuple[TorchDesign, Floats, Floats]:
        """Return the columns that have a parameter, copied once, with their centre and scale."""
        if self._known_varying is None or self._known_varying[0] is not scale:
            some = varying(scale)
            (part,) = self.parts
            chosen = part[:, torch.as_tensor(some, device=part.device)]
            own = TorchDesign([chosen], self.device, self._narrow)
            self._known_varying = scale, (own, centre[some], scale[some])
        return self._known_varying[1]

    def _units(self, centre: Floats, scale: Floats) -> Tensor:
        """Return the centre and the inverse scale of each column, sent once."""
        if self._known_units is None or self._known_units[0] is not centre:
            self._known_units = centre, self._constants(centre, 1.0 / scale)
        return self._known_units[1]

    def _sent(self, *numbers: float) -> Tensor:
        """Return numbers on the device."""
        return torch.tensor(numbers, dtype=torch.float64, device=self.device)

    def _constants(self, *arrays: Floats) -> Tensor:
        """Return arrays on the device, sent in one message."""
        return torch.as_tensor(np.stack(arrays), device=self.device)

    @_careful
    def column_squares(self, weight: Vector, centre: Floats) -> Floats:
        """Return the weighted sum of squares about the centre, a number for each column."""
        (origin,) = self._constants(centre)
        return self._added(
            self._blocks(wide=True), lambda rows, X: weight[rows] @ (X - origin).square_()
        )


def _joined(parts: list[Tensor]) -> Tensor:
    return parts[0] if len(parts) == 1 else torch.cat(parts)


def _transposed(X: Tensor, residual: Tensor) -> Tensor:
    """Return residual.T @ X in float64, score after score."""
    narrow = residual.to(X.dtype)
    return (X.T @ narrow if narrow.ndim == 1 else narrow.T @ X).double().reshape(-1)
