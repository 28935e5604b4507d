"""One matrix in every storage that a design takes, and the designs of others."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy import sparse

from bblr._numeric.tensors import find_device
from bblr.designs import DenseDesign, Design, Shards, StreamedDesign, make_design
from bblr.designs.gram.centres import centre_basis
from bblr.designs.gram.kernel_design import kernel_design
from bblr.designs.gram.kernel_function import Gram, KernelFunction
from bblr.designs.stream.mapped import MappedRows

N_ROWS, N_FEATURES = 1100, 5  # more than one block of rows, row-major (64) and column-major (1024)


def matrix(dtype=np.float64, seed=0):
    """A full column, two with zeros, one of large numbers, one constant."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N_ROWS, N_FEATURES))
    X[:, 1] *= rng.random(N_ROWS) < 0.3
    X[:, 2] = (rng.random(N_ROWS) < 0.7) * np.abs(X[:, 2])
    X[:, 3] = 50 + 10 * X[:, 3]
    X[:, 4] = 3.0
    return X.astype(dtype)


def _read_only(X):
    X.flags.writeable = False
    return X


def _strided(X):
    wide = np.zeros((2 * X.shape[0], 3 * X.shape[1]), X.dtype)
    wide[::2, ::3] = X
    return wide[::2, ::3]


def _long(X):
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


def _frozen(X):
    for array in (X.data, X.indices, X.indptr):
        array.flags.writeable = False
    return X


DENSE = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "read-only": lambda X: _read_only(X.copy()),
    "read-only-F": lambda X: _read_only(np.asfortranarray(X).copy(order="F")),
    "strided": _strided,
    "slice-of-rows": lambda X: np.vstack([X, X])[len(X) :],
    "slice-of-columns": lambda X: np.hstack([X, X])[:, : X.shape[1]],
    "reversed": lambda X: X[::-1].copy()[::-1],
}
SPARSE = {
    "csr-array": sparse.csr_array,
    "csr-matrix": sparse.csr_matrix,
    "csc-array": sparse.csc_array,
    "csc-matrix": sparse.csc_matrix,
    "csr-int64": lambda X: _long(sparse.csr_array(X)),
    "csc-int64": lambda X: _long(sparse.csc_array(X)),
    "csr-read-only": lambda X: _frozen(sparse.csr_array(X)),
    "csr-unsorted": lambda X: sparse.csc_array(sparse.csr_array(X)[:, ::-1])[:, ::-1].tocsr(),
}
STORAGES = {**DENSE, **SPARSE}


def saved(path, array):
    np.save(path, array)
    return np.load(path, mmap_mode="r")


def shards(folder, array, cuts, order="C"):
    for k, part in enumerate(np.split(array, cuts)):
        np.save(folder / f"part-{k:02d}.npy", np.array(part, order=order))
    return Shards(folder)


def parquet_shards(folder, array, cuts, group):
    pa = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table

    for k, part in enumerate(np.split(array, cuts)):
        part = part.astype(part.dtype.newbyteorder("="))
        table = pa.table({f"x{j}": part[:, j] for j in range(part.shape[1])})
        write_table(table, folder / f"part-{k:02d}.parquet", row_group_size=group)
    return Shards(folder)


SOURCES = {
    "C": lambda path, A: MappedRows(saved(path / "X.npy", A)),
    "F": lambda path, A: MappedRows(saved(path / "X.npy", np.asfortranarray(A))),
    "skipping": lambda path, A: MappedRows(saved(path / "X.npy", np.repeat(A, 2, axis=0))[::2]),
    "backwards": lambda path, A: MappedRows(
        saved(path / "X.npy", A[::-1, ::-1].copy())[::-1, ::-1]
    ),
    "part": lambda path, A: MappedRows(
        saved(path / "X.npy", np.pad(A, [(9, 2), (3, 4)]))[9:-2, 3:-4]
    ),
    "bare view": lambda path, A: MappedRows(np.asarray(saved(path / "X.npy", A))),
    "one shard": lambda path, A: shards(path, A, []),
    "shards, one empty": lambda path, A: shards(path, A, [1, 40, 40, 70]),
    "column-major shards": lambda path, A: shards(path, A, [50], "F"),
    "Parquet, small groups": lambda path, A: parquet_shards(path, A, [30, 30], 7),
    "Parquet, large groups": lambda path, A: parquet_shards(path, A, [30], 60),
}


@dataclass(frozen=True)
class Case:
    """A design, its numbers, and how exact its products with them are."""

    design: Design
    X: np.ndarray
    products: float = 1e-11

    def vector(self, values):
        return self.design.rows.vector(values)

    def local(self, vector):
        return self.design.rows.local(vector)


def stored(name, dtype):
    return lambda _: Case(make_design(STORAGES[name](matrix(dtype))), matrix(dtype).astype(float))


def streamed(name, dtype):
    def make(path):
        X = matrix(dtype)
        return Case(StreamedDesign(SOURCES[name](path, X)), X.astype(float))

    return make


def narrow(design):
    """Make a design whose products are in float32."""

    def make(path):
        X = matrix(np.float32)
        return Case(design(path, X).narrowed(), X.astype(float), 3e-6)

    return make


def _kernel(gram_of):
    X = np.random.default_rng(9).normal(size=(N_ROWS, 3))
    gram = gram_of(KernelFunction("rbf", 0.2), X)
    basis = centre_basis(gram, np.arange(0, N_ROWS, 160), np.arange(N_ROWS), True)
    return gram, basis


def kernel(kept):
    """Make the features of a kernel, of which only some rows are kept."""

    def make(_):
        gram, basis = _kernel(Gram)
        m = basis.transform.shape[1]
        design = kernel_design(gram, basis, kept * 8 * m)
        assert design.cached.n_rows == kept
        design.step = 97
        return Case(design, gram.block(slice(None), basis.centres) @ basis.transform, 1e-10)

    return make


def device():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    # Tests run side by side; threads that wait for one another would only wait for cores.
    torch.set_num_threads(1)
    # Where there is a GPU, it is what is tested.
    return find_device("cuda" if torch.cuda.is_available() else "cpu")


def tensor_design(kind, X):
    """Make a design of all rows at once, of several parts, or in small blocks."""
    where = device()
    import torch

    from bblr.designs.torch.tensor_design import TorchDesign

    design = TorchDesign(torch.from_numpy(X), where)
    if kind == "parts":
        (whole,) = design.parts
        design.parts = [whole[:200], whole[200:200], whole[200:]]
    if kind == "blocks":
        design._block = 64 * X.shape[1]
    return design


def tensors(kind, dtype, order="C"):
    def make(_):
        X = np.array(matrix(dtype), order=order)
        return Case(tensor_design(kind, X), X.astype(float))

    return make


def tensor_kernel(kept):
    def make(_):
        where = device()
        from bblr.designs.torch.tensor_kernel import DeviceGram, TorchKernelDesign

        gram, basis = _kernel(lambda function, X: DeviceGram(function, X, where))
        features = gram.native(slice(None), basis.centres) @ basis.transform
        design = TorchKernelDesign(gram, basis, [features[:kept]] if kept else [], step=97)
        return Case(design, features.cpu().numpy(), 1e-10)

    return make


DTYPES = {"f64": np.float64, "f32": np.float32}
IN_MEMORY = {
    f"{name} {kind}": stored(name, dtype) for name in STORAGES for kind, dtype in DTYPES.items()
}
ELSEWHERE = {
    **{
        f"on disk, {name} {kind}": streamed(name, dtype)
        for name in SOURCES
        for kind, dtype in DTYPES.items()
    },
    "narrow": narrow(lambda _, X: DenseDesign(X)),
    "narrow F": narrow(lambda _, X: DenseDesign(np.asfortranarray(X))),
    "narrow on disk": narrow(lambda path, X: StreamedDesign(SOURCES["C"](path, X))),
    **{f"kernel, {kept} rows kept": kernel(kept) for kept in (0, 500, 1099)},
    **{
        f"torch, {kind} {name}": tensors(kind, dtype)
        for kind in ("whole", "parts", "blocks")
        for name, dtype in DTYPES.items()
    },
    "torch, column-major": tensors("whole", np.float64, "F"),
    **{f"torch kernel, {kept} rows kept": tensor_kernel(kept) for kept in (0, 500, 1099)},
}
CASES = {**IN_MEMORY, **ELSEWHERE}
