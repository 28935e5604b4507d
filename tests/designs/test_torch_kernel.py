"""Kernels on a device: the same values, centres and features as those of NumPy."""

import numpy as np
import pytest

from bblr._numeric.tensors import find_device
from bblr.designs.gram.centres import centre_basis, choose_centres, spectral_basis
from bblr.designs.gram.kernel_design import kernel_design
from bblr.designs.gram.kernel_function import Gram, KernelFunction

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
# Tests run side by side; threads that wait for one another would only wait for cores.
torch.set_num_threads(1)

from bblr.designs.torch.tensor_kernel import DeviceGram, TorchKernelDesign  # noqa: E402

# Where there is a GPU, it is what is tested.
DEVICE = find_device("cuda" if torch.cuda.is_available() else "cpu")


def close(found, expected, **tolerance):
    tolerance = tolerance or {"rtol": 1e-10, "atol": 1e-10}
    found = found.cpu().numpy() if torch.is_tensor(found) else found
    np.testing.assert_allclose(found, expected, **tolerance)


@pytest.mark.parametrize("name", ["rbf", "poly", "linear", "laplacian", "cosine", "callable"])
def test_kernels_agree(name):
    X = np.random.default_rng(6).normal(size=(60, 3)) + 5.0
    kernel = (lambda A, B: (A @ B.T) ** 2) if name == "callable" else name
    function = KernelFunction(kernel, 0.3, 2.0, 1.0)
    here, there = Gram(function, X), DeviceGram(function, X, DEVICE)
    some = np.array([1, 5, 50])
    close(there.block(slice(10, 40), some), here.block(slice(10, 40), some))
    close(there.native(some, some), here.block(some, some))
    close(there.diagonal, here.diagonal)


def test_centres_and_features_agree():
    X = np.random.default_rng(7).normal(size=(300, 3))
    function, every = KernelFunction("rbf", 0.2), np.arange(300)
    here, there = Gram(function, X), DeviceGram(function, X, DEVICE)
    weight = np.linspace(1, 2, 300)
    drawn = [
        choose_centres(gram, every, weight, 40, np.random.default_rng(0)) for gram in (here, there)
    ]
    np.testing.assert_array_equal(*drawn)
    for rkhs in (True, False):
        one = centre_basis(here, drawn[0], every, rkhs)
        other = centre_basis(there, drawn[0], every, rkhs)
        expected = here.block(every, one.centres) @ one.transform
        found = there.native(every, other.centres) @ other.transform
        # Coordinates may turn within a space; what they span does not.
        close(np.abs(np.linalg.svd(expected.T @ found.cpu().numpy())[1]),
              np.linalg.svd(expected)[1] ** 2, rtol=1e-6)  # fmt: skip
    whole = [spectral_basis(gram, every[:50], True) for gram in (here, there)]
    close(whole[1].transform.abs(), np.abs(whole[0].transform), rtol=1e-5, atol=1e-5)


def test_a_plain_factor_serves_where_every_centre_is_needed(monkeypatch):
    from bblr.designs.torch import tensor_kernel as torch_kernel

    monkeypatch.setattr(torch_kernel, "_SMALL", 8)
    X = np.random.default_rng(8).normal(size=(40, 3))
    algebra = DeviceGram(KernelFunction("rbf", 1.0), X, DEVICE).algebra
    K = DeviceGram(KernelFunction("rbf", 1.0), X, DEVICE).native(slice(None), np.arange(40))
    factor, kept = algebra.pivoted(K, 1e-12)
    np.testing.assert_array_equal(kept, np.arange(40))
    close(factor @ factor.T, K.cpu().numpy())
    twice = K[:, [*range(40), 3]][[*range(40), 3]]
    factor, kept = algebra.pivoted(twice, 1e-12)
    assert len(kept) == 40


@pytest.mark.parametrize("room", [True, False])
def test_features_are_kept_where_there_is_room(monkeypatch, room):
    monkeypatch.setattr("bblr.designs.torch.tensor_kernel._room", lambda features: room)
    monkeypatch.setattr("bblr.designs.torch.tensor_kernel._BLOCK", 1000)
    X = np.random.default_rng(9).normal(size=(300, 3))
    gram = DeviceGram(KernelFunction("rbf", 0.2), X, DEVICE)
    basis = centre_basis(gram, np.arange(0, 300, 30), np.arange(300), True)
    design = kernel_design(gram, basis, 0.0)
    assert isinstance(design, TorchKernelDesign) is not room
    close(design.table(), (gram.native(slice(None), basis.centres) @ basis.transform).cpu())
