"""Kernels on a device: similarities, centres and features as tensors of float64."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from bblr._numeric.tensors import local
from bblr.designs.base import Design
from bblr.designs.gram.algebra import Algebra, Floats
from bblr.designs.gram.centres import Basis
from bblr.designs.gram.kernel_function import Gram, KernelFunction
from bblr.designs.torch.placing import as_tensor
from bblr.designs.torch.tensor_design import Tensor, TorchDesign

# Numbers of a block of similarities, 128 MiB of float64.
_BLOCK = 2**24
# Up to this size a factorisation is left to the CPU: it has fewer rows than a GPU has cores.
_SMALL = 512
# Kernels worked out on the device; the others are worked out by NumPy and sent there.
ON_DEVICE = ("rbf", "poly", "linear", "laplacian", "cosine")


class DeviceAlgebra(Algebra):
    """Operations on matrices that are tensors.

    Parameters
    ----------
    device : torch.device
        Where they are.
    """

    def __init__(self, device: torch.device) -> None:
        self.device = device

    def tensor(self, values: Floats) -> Tensor:
        """Return an array as a tensor on the device."""
        return as_tensor(values).to(self.device)

    def zeros(self, rows: int, columns: int) -> Tensor:
        """Return a matrix of zeros."""
        return torch.zeros(rows, columns, dtype=torch.float64, device=self.device)

    def eigh(self, matrix: Tensor) -> tuple[Floats, Tensor]:
        """Return the eigenvalues of a symmetric matrix, in rising order, and the vectors."""
        values, vectors = torch.linalg.eigh(matrix)
        return self.local(values), vectors

    def solve_lower(self, factor: Tensor, right: Tensor) -> Tensor:
        """Return the solution of a lower triangular system."""
        return torch.linalg.solve_triangular(factor, right, upper=False)

    def square_rows(self, matrix: Tensor) -> Floats:
        """Return the squared length of each row."""
        return self.local(matrix.square().sum(dim=1))

    def pivoted(
        self, K: Tensor, tol: float, scale: Floats | None = None
    ) -> tuple[Tensor, NDArray[np.intp]]:
        """Return a pivoted Cholesky factor of K, and its pivots in order.

        Where every row is needed any order will do, and a plain factor is found much faster.
        """
        if len(K) > _SMALL and scale is None:
            factor, failed = torch.linalg.cholesky_ex(K)
            left = factor.diagonal().square()
            if not failed and bool(left.min() > tol * K.diagonal().max()):
                return factor, np.arange(len(K))
        found, pivots = super().pivoted(self.local(K), tol, scale)
        return self.tensor(found), pivots


class DeviceGram(Gram):
    """The kernel of every two rows, worked out on a device.

    Parameters
    ----------
    function : KernelFunction
        The kernel.
    X : ndarray or CSR matrix of shape (n_rows, n_features)
        The rows.
    device : torch.device
        Where to compute.
    """

    algebra: DeviceAlgebra

    def __init__(self, function: KernelFunction, X: Any, device: torch.device) -> None:
        super().__init__(function, X)
        self.device = device
        self.algebra = DeviceAlgebra(device)
        self._rows = None
        if function.name in ON_DEVICE:
            rows = self.algebra.tensor(np.asarray(X, dtype=np.float64))
            # Distances do not change with the origin, but those far from it lose their digits.
            self._rows = rows - rows.mean(dim=0) if function.name == "rbf" else rows

    def like(self, function: KernelFunction, X: Any) -> DeviceGram:
        """Return the kernel of other rows, or another kernel, worked out in the same place."""
        return DeviceGram(function, X, self.device)

    def native(self, rows: Any, columns: Any) -> Tensor:
        """Return the values of some rows (a slice or numbers) with others (numbers)."""
        if self._rows is None:
            return self.algebra.tensor(super().block(rows, columns))
        return device_kernel(self.function, self._rows[rows], self._rows[columns])

    def block(self, rows: Any, columns: Any) -> Floats:
        """Return the same as an array."""
        return self.algebra.local(self.native(rows, columns))


def device_kernel(function: KernelFunction, X: Tensor, Z: Tensor) -> Tensor:
    """Return the matrix of K(x, z), one row per x and one column per z."""
    if function.name == "laplacian":
        return torch.cdist(X, Z, p=1.0).mul_(-function.gamma).exp_()
    if function.name == "cosine":
        X, Z = (torch.nn.functional.normalize(rows, dim=1) for rows in (X, Z))
    if function.name == "rbf":
        out = torch.addmm(-X.square().sum(dim=1)[:, None], X, Z.T, alpha=2.0)
        out -= Z.square().sum(dim=1)
        out.clamp_(max=0.0).mul_(function.gamma).exp_()
    else:
        out = X @ Z.T
        if function.name == "poly":
            out = (function.gamma * out + function.coef0) ** function.degree
    if not bool(torch.isfinite(out.sum())):
        raise function.overflow()
    return out


def device_design(gram: Gram, basis: Basis) -> Design:
    """Return the features of all rows, kept on the device as far as it has room."""
    assert isinstance(gram, DeviceGram)
    features, count = [], 0
    step = max(1, _BLOCK // max(basis.transform.shape))
    try:
        while count < gram.n_rows:
            rows = slice(count, min(count + step, gram.n_rows))
            features.append(gram.native(rows, basis.centres) @ basis.transform)
            count = rows.stop
    except torch.OutOfMemoryError:
        # What else a pass needs must fit as well.
        features = features[: len(features) * 3 // 4]
    cached = torch.cat(features) if count == gram.n_rows and _room(features) else None
    return (
        TorchKernelDesign(gram, basis, features, step)
        if cached is None
        else TorchDesign(cached, gram.device)
    )


def _room(features: list[Tensor]) -> bool:
    """Whether there is room for all features once more while they are joined."""
    device = features[0].device
    if device.type != "cuda":
        return True
    need = sum(part.numel() * part.element_size() for part in features)
    return bool(1.2 * need < torch.cuda.mem_get_info(device)[0])


class TorchKernelDesign(TorchDesign):
    """Features of which the first blocks are kept, and the others computed as they are needed.

    Parameters
    ----------
    gram : DeviceGram
        The kernel and the rows.
    basis : Basis
        Centres and coordinates.
    kept : list of tensor
        Features of the first rows.
    step : int
        Rows of the other blocks.
    """

    def __init__(self, gram: DeviceGram, basis: Basis, kept: list[Tensor], step: int) -> None:
        m = basis.transform.shape[1]
        empty = torch.empty((0, m), dtype=torch.float64, device=gram.device)
        super().__init__(kept or [empty], gram.device, True)
        self.n_rows = gram.n_rows
        self.gram, self.basis, self.step = gram, basis, step
        self._known = sum(len(part) for part in kept)

    def narrowed(self) -> TorchDesign:
        """Return the design itself: the features are float64."""
        return self

    def on_device(self, *_: Any, **settings: Any) -> None:
        """Leave it to the caller: not all features are available."""

    def _kernels(self, loss: Any = None) -> None:
        """Leave passes to tensor operations, block by block."""

    def _picked(self, rows: Any) -> Tensor:
        return self._made(np.asarray(local(rows)))

    def _made(self, rows: Any) -> Tensor:
        return self.gram.native(rows, self.basis.centres) @ self.basis.transform

    def _blocks(self, wide: bool) -> Iterator[tuple[slice, Tensor]]:
        if self._known:
            yield from super()._blocks(wide)
        step = max(1, min(self.step, self._block // max(1, self.n_features)))
        for s in range(self._known, self.n_rows, step):
            rows = slice(s, min(s + step, self.n_rows))
            yield rows, self._made(rows)

    def table(self) -> Floats:
        """Return all features as one dense array."""
        return np.concatenate([X.cpu().numpy() for _, X in self._blocks(wide=True)])

    def column(self, j: int) -> tuple[None, Any]:
        """Return the values of feature j."""
        return None, torch.cat([X[:, j] for _, X in self._blocks(wide=True)])
