"""The compiled kernels of a GPU against the tensor operations that stand in for them."""

import gc
from typing import Any

import numpy as np
import pytest

from bblr import BBLRClassifier
from bblr.designs.dense import DenseDesign
from bblr.designs.scaled import ScaledDesign
from bblr.losses import BetaBernoulli, Logistic, Plateaus, Sigmoid
from bblr.objective import Objective
from bblr.penalties import Gaussian
from bblr.solvers import LBFGS, FisherScoring

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from bblr._numeric.device_code import Recorded  # noqa: E402
from bblr.designs.torch import device_kernels  # noqa: E402
from bblr.designs.torch import tensor_design as designs  # noqa: E402
from bblr.designs.torch.device_objective import DeviceObjective  # noqa: E402
from bblr.designs.torch.device_source import NAMES, source  # noqa: E402
from bblr.designs.torch.tensor_objective import TensorObjective  # noqa: E402
from bblr.losses.torch_fused import CODE  # noqa: E402

needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here")
LOSSES = [BetaBernoulli.binary(0.1, 0.7, 2.0), BetaBernoulli.binary(0.0, 0.9, 2.0), Logistic()]
SETTINGS = {"l2": 0.7, "unit": 1.0, "total": 500.0}


def objectives(n, d, loss, dtype, narrow=False, fit_intercept=True, most=200):
    """The objective of the same rows with compiled kernels and without."""
    rng = np.random.default_rng(d)
    X = torch.as_tensor(rng.normal(1.0, 2.0, (n, d)), dtype=dtype, device="cuda")
    y = torch.as_tensor(np.where(rng.random(n) < 0.4, 1.0, -1.0), device="cuda")
    weight = torch.as_tensor(rng.random(n) * (rng.random(n) < 0.9), device="cuda")
    centre, scale = X.double().mean(0).cpu().numpy(), X.double().std(0).cpu().numpy()
    design = designs.TorchDesign(X, X.device, narrow)
    length = design.square_norm(centre, scale) + 1.0
    own = {**SETTINGS, "y": y, "weight": weight, "loss": loss, "most": most}
    quick = design.on_device(length, centre, scale, fit_intercept, True, **own)
    names = ("run", "picked", "centre", "inverse", "square_norm", "fit_intercept")
    plain = TensorObjective(**{name: getattr(quick, name) for name in names}, **own)
    # Its pass over the rows, too, without kernels.
    slow = designs.TorchDesign(X.clone(), X.device, narrow)
    slow._kernels = lambda loss=None: None
    plain = TensorObjective(
        **{
            **vars(plain),
            "run": lambda coef, *others: slow._fused(
                coef.to(dtype if narrow else torch.float64), *others
            ),
        }
    )
    return design, slow, quick, plain, (centre, scale)


@needs_gpu
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("d", [1, 31, 33, 254, 300, 1000])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_places_and_steps_agree(loss, d, dtype):
    for fit_intercept in (True, False):
        _, _, quick, plain, _ = objectives(3001, d, loss, dtype, fit_intercept=fit_intercept)
        assert isinstance(quick, DeviceObjective)
        rng = np.random.default_rng(0)
        theta, step = (
            quick.parameters(0.3 * rng.normal(size=d + fit_intercept) / np.sqrt(d))
            for _ in range(2)
        )
        here, other = quick.start(theta), plain.start(theta)
        length = quick.parameters(np.array([0.4]))
        there, beyond = (o.place(theta, step, length) for o in (quick, plain))
        for found, expected in ((here, other), (there, beyond)):
            torch.testing.assert_close(found.raw, expected.raw, rtol=1e-10, atol=1e-10)
            torch.testing.assert_close(found.head, expected.head, rtol=1e-9, atol=1e-9)
            torch.testing.assert_close(found.theta, expected.theta, rtol=1e-12, atol=1e-12)
            torch.testing.assert_close(found.gradient, expected.gradient, rtol=1e-9, atol=1e-8)
        for most in (200, 4000):
            for expected in (False, True):
                pair = (
                    o.system(here.raw, expected, most, 1e-3, 1e-9, 0.0) for o in (quick, plain)
                )
                for one, two in zip(*pair, strict=True):
                    torch.testing.assert_close(one, two, rtol=1e-8, atol=1e-8)


@needs_gpu
def test_products_in_the_precision_of_the_rows_lose_few_digits():
    _, _, quick, _, _ = objectives(100_001, 254, LOSSES[0], torch.float32, narrow=True)
    _, _, wide, _, _ = objectives(100_001, 254, LOSSES[0], torch.float32)
    theta = quick.parameters(np.random.default_rng(1).normal(size=255) / 16)
    narrow, exact = quick.start(theta), wide.start(theta)
    assert float(narrow.head[0] / exact.head[0] - 1) == pytest.approx(0, abs=1e-7)
    size = float(exact.gradient.abs().max())
    assert float((narrow.gradient - exact.gradient).abs().max()) < 1e-5 * size
    torch.testing.assert_close(narrow.raw, exact.raw, rtol=1e-4, atol=1e-4)


@needs_gpu
@pytest.mark.parametrize("d", [1, 40, 254, 1000])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_moments_and_lengths_agree(d, dtype):
    quick, slow, _, _, units = objectives(2003, d, LOSSES[0], dtype)
    quick.parts[0][::3] = 0.0
    slow.parts[0][::3] = 0.0
    weight = torch.rand(2003, dtype=torch.float64, device="cuda")
    weight[:5] = 0.0
    for found, expected in zip(quick.moments(weight), slow.moments(weight), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    torch.testing.assert_close(
        quick.square_norm(*units), slow.square_norm(*units), rtol=1e-10, atol=1e-10
    )


@needs_gpu
def test_the_same_rows_give_the_same_bits():
    _, _, quick, _, _ = objectives(50_000, 100, LOSSES[0], torch.float32, narrow=True)
    theta = np.random.default_rng(1).normal(size=101) / 10
    one, two = quick.start(theta), quick.start(theta)
    assert torch.equal(one.head, two.head) and torch.equal(one.gradient, two.gradient)
    assert torch.equal(quick.newton_step(one), quick.newton_step(two))


@needs_gpu
def test_what_kernels_do_not_know_is_left_to_tensors(monkeypatch):
    X = torch.randn(100, 5, device="cuda").double()
    assert device_kernels.kernels_for(X, True) is not None
    assert device_kernels.kernels_for(X.T.contiguous().T, True) is None
    assert device_kernels.kernels_for(torch.randn(9, 1025, device="cuda"), True) is None
    assert designs.TorchDesign(X, X.device)._kernels(Sigmoid(2.0)) is None

    def fail(*_, **__):
        raise RuntimeError("no compiler")

    monkeypatch.setattr("torch.cuda._compile_kernel", fail)
    device_kernels._compiled.cache_clear()
    try:
        assert device_kernels.kernels_for(X, True) is None
    finally:
        device_kernels._compiled.cache_clear()


def objectives_of(design, X, y, weight):
    """What makes the same objective on NumPy and on the device."""
    here = ScaledDesign(DenseDesign(X), weight, True)
    labels, own = (torch.as_tensor(values, device=design.device) for values in (y, weight))
    there = ScaledDesign(design, own, True)
    return (
        lambda loss, l2: Objective(loss, Gaussian(l2), here, y, weight),
        lambda loss, l2: Objective(loss, Gaussian(l2), there, labels, own),
    )


@needs_gpu
@pytest.mark.parametrize("classes", [2, 4])
def test_recorded_descents_are_those_of_numpy(classes, monkeypatch):
    """One after another with other losses and penalties, from near and from far away."""
    monkeypatch.setattr("bblr.designs.scaled.is_small_table", lambda *_: False)
    rng = np.random.default_rng(classes)
    X = rng.normal(1.0, 2.0, (900, 12))
    plane = rng.normal(size=(12, classes))
    y = np.argmax((X - 1.0) @ plane + 2.0 * rng.gumbel(size=(900, classes)), axis=1)
    weight = rng.random(900)
    solver: type[Any]
    if classes == 2:
        y, solver = np.where(y == 1, 1.0, -1.0), FisherScoring
        losses = [BetaBernoulli.binary(low, 0.9 - low, g) for low, g in ((0.0, 1), (0.1, 3))]
    else:
        solver = LBFGS
        losses = [BetaBernoulli(Plateaus((low,) * classes), g) for low, g in ((0.0, 1), (0.05, 2))]
    design = designs.TorchDesign(torch.as_tensor(X, device="cuda"), torch.device("cuda", 0))
    one, other = objectives_of(design, X, y, weight)
    for loss in losses:
        for l2 in (5.0, 0.5):
            plain, quick = one(loss, l2), other(loss, l2)
            for scale in (0.0, 0.1, 3.0):
                theta = scale * np.random.default_rng(3).normal(size=plain.size)
                expected, found = (
                    solver(tol=1e-10).minimise(each, theta) for each in (plain, quick)
                )
                assert found.reason == expected.reason
                assert found.value == pytest.approx(expected.value, rel=1e-8)
                np.testing.assert_allclose(found.theta, expected.theta, rtol=1e-3, atol=1e-4)
                np.testing.assert_allclose(
                    found.raw.cpu().numpy(), quick.scores(found.theta).cpu().numpy(), atol=1e-8
                )
    assert ("walk" if classes == 2 else "scores") in quick.design.design._scratch


@needs_gpu
@pytest.mark.parametrize("classes", [2, 4])
def test_a_fit_leaves_no_rows_behind(classes):
    """Nor does it wait for the garbage collector: the rows may be most of the memory."""
    X = torch.randn(60_000, 30, device="cuda")
    y = X[:, :classes].argmax(dim=1)
    BBLRClassifier(device="cuda").fit(X, y)
    gc.collect()
    before = torch.cuda.memory_allocated()
    gc.disable()
    try:
        for _ in range(3):
            BBLRClassifier(device="cuda").fit(X.clone(), y)
        assert torch.cuda.memory_allocated() - before < X.nbytes
    finally:
        gc.enable()


@needs_gpu
def test_what_cannot_be_recorded_is_done_all_the_same():
    x = torch.zeros(3, device="cuda")
    calls = []

    def waits():
        calls.append(float(x[0]))
        x.add_(1.0)

    record = Recorded(x.device)
    for _ in range(4):
        record(waits)
    assert calls[0] == 0.0 and float(x[0]) == 4.0

    def adds():
        calls.append(None)
        x.add_(1.0)

    record, before = Recorded(x.device), len(calls)
    for _ in range(5):
        record(adds)
    assert float(x[0]) == 9.0 and len(calls) == before + 2


def test_on_the_cpu_nothing_is_recorded():
    calls = []
    record = Recorded(torch.device("cpu"))
    for _ in range(3):
        record(lambda: calls.append(1))
    assert len(calls) == 3


def test_rows_elsewhere_have_no_kernels():
    assert device_kernels.kernels_for(torch.ones(3, 3), True) is None


def test_the_source_has_every_kernel_that_is_named():
    text = source(CODE, "float", "float", 8, 2)
    for name in NAMES:
        assert f" {name}(" in text
