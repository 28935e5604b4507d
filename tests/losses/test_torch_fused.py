"""The compiled loss of a GPU against the tensor operations that stand in for it."""

import numpy as np
import pytest

from bblr.losses import BetaBernoulli, Logistic, Plateaus

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from bblr.designs.torch import tensor_rows as torch_rows  # noqa: E402
from bblr.losses import torch_fused  # noqa: E402

LOSSES = [
    BetaBernoulli.binary(0.1, 0.7, 2.0),
    BetaBernoulli.binary(0.0, 0.9, 2.0),
    BetaBernoulli.binary(0.1, 0.9, 4.0),
    BetaBernoulli.binary(0.2, 0.6, 8.0),
    Logistic(),
]


def vectors(device):
    rng = np.random.default_rng(0)
    raw = np.r_[rng.normal(scale=3, size=500), 0.0, 1e9, -1e9, 800.0, -800.0]
    y = rng.choice([-1.0, 1.0], len(raw))
    return [torch.as_tensor(v, device=device) for v in (y, raw, rng.random(len(raw)))]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here")
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_compiled_and_plain_agree(loss):
    y, raw, weight = vectors("cuda")
    value, residual = torch_fused.value_residual(loss.fused, y, raw, weight)
    costs, slopes = loss.value_gradient(y, raw)
    assert float(value) == pytest.approx(float(weight @ costs), rel=1e-12)
    torch.testing.assert_close(residual, weight * slopes, rtol=1e-10, atol=1e-14)
    found = torch_fused.positive_curvature(loss.fused, y, raw, weight)
    expected = loss.positive_curvature(y, raw, weight)
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-14)
    found = torch_fused.fisher(loss.fused, raw, weight)
    torch.testing.assert_close(found, loss.fisher(raw, weight), rtol=1e-10, atol=1e-14)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here")
@pytest.mark.parametrize("low", [(0.1, 0.1, 0.1), (0.0, 0.0, 0.0), (0.0, 0.1, 0.2)])
def test_several_scores_compiled_and_plain_agree(low):
    rng = np.random.default_rng(1)
    raw = torch.as_tensor(rng.normal(scale=4.0, size=(700, 3)), device="cuda")
    raw[:4] = torch.tensor([[1e9, 0.0, 0.0], [0.0, -1e9, 0.0], [9e2, 9e2, 0.0], [0.0, 0.0, 8e2]])
    y = torch.as_tensor(rng.integers(0, 3, len(raw)), device="cuda")
    weight = torch.as_tensor(rng.random(len(raw)), device="cuda")
    loss = BetaBernoulli(Plateaus(low), 1.7)
    value, residual = torch_fused.softmax_residual(loss.fused, y, raw, weight)
    costs, slopes = loss.value_gradient(y, raw)
    assert float(value) == pytest.approx(float(weight @ costs), rel=1e-12)
    torch.testing.assert_close(residual, weight[:, None] * slopes, rtol=1e-10, atol=1e-14)
    found = torch_fused.softmax_fisher(loss.fused, raw, weight)
    torch.testing.assert_close(found, loss.fisher(raw, weight), rtol=1e-9, atol=1e-14)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here")
def test_without_a_compiler_the_operations_serve(monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("no compiler")

    monkeypatch.setattr("torch.cuda.jiterator._create_jit_fn", fail)
    torch_fused._kernels.cache_clear()
    try:
        y, raw, weight = vectors("cuda")
        assert torch_fused.positive_curvature(LOSSES[0].fused, y, raw, weight) is None
        rows = torch_rows.TorchRows(raw.device)
        assert rows.cost(LOSSES[0], y, raw, weight) > 0
    finally:
        torch_fused._kernels.cache_clear()


def test_on_the_cpu_nothing_is_compiled():
    y, raw, weight = vectors("cpu")
    assert torch_fused.value_residual(LOSSES[0].fused, y, raw, weight) is None
    assert torch_fused.positive_curvature(LOSSES[0].fused, y, raw, weight) is None
    assert torch_fused.fisher(LOSSES[0].fused, raw, weight) is None
    if not torch.cuda.is_available():
        assert torch_fused._kernels.cache_info().currsize == 0
