"""The loss of several scores a row in one kernel of a GPU, and its Fisher information."""

from __future__ import annotations

from functools import lru_cache

import torch

from bblr._numeric.device_code import SUMS, THREADS, DeviceKernels, device_code
from bblr.losses.fused_softmax import FusedSoftmax

Tensor = torch.Tensor

# As `softmax_residual` and `softmax_fisher` in fused_softmax.py.
_SOURCE = (
    SUMS
    + """
extern "C" __global__ void softmax_residual(
    const double* scores, const long long* y, const double* weight, const double* low,
    double b, double gamma, int n, int classes, double* residual, double* partial) {
    double value = 0.0;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (long long)gridDim.x * blockDim.x) {
        const double* own_scores = scores + i * classes;
        double* out = residual + i * classes;
        const int own = (int)y[i];
        const double w = weight[i];
        double top = own_scores[0];
        for (int k = 1; k < classes; ++k) top = fmax(top, own_scores[k]);
        double others = 0.0;
        for (int k = 0; k < classes; ++k) {
            const double e = exp(gamma * (own_scores[k] - top));
            out[k] = e;
            others += k == own ? 0.0 : e;
        }
        const double total = others + out[own];
        double share = 1.0;
        if (low[own] == 0.0) {
            value += w * (log(total) - gamma * (own_scores[own] - top) - log(b));
        } else {
            const double rising = b * out[own] / total, p = low[own] + rising;
            value -= w * log(p);
            share = rising / p;
        }
        const double factor = gamma * share * w / total;
        for (int k = 0; k < classes; ++k) out[k] *= factor;
        out[own] = -factor * others;
    }
    value = all_threads(value);
    if (threadIdx.x == 0) partial[blockIdx.x] = value;
}
extern "C" __global__ void softmax_fisher(
    const double* scores, const double* weight, const double* low, double b, double gamma,
    int n, int classes, double* out) {
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (long long)gridDim.x * blockDim.x) {
        const double* own_scores = scores + i * classes;
        double* found = out + i * classes;
        double top = own_scores[0], total = 0.0, whole = 0.0;
        for (int k = 1; k < classes; ++k) top = fmax(top, own_scores[k]);
        for (int k = 0; k < classes; ++k) {
            found[k] = exp(gamma * (own_scores[k] - top));
            total += found[k];
        }
        for (int k = 0; k < classes; ++k) {
            const double s = found[k] / total, p = low[k] + b * s;
            whole += p > 0.0 ? s * s / p : 0.0;
        }
        const double factor = weight[i] * gamma * b * gamma * b;
        for (int k = 0; k < classes; ++k) {
            const double s = found[k] / total, p = low[k] + b * s, q = p > 0.0 ? s * s / p : 0.0;
            found[k] = factor * (q * (1.0 - s) * (1.0 - s) + s * s * fmax(whole - q, 0.0));
        }
    }
}
"""
)
_NAMES = "softmax_residual", "softmax_fisher"


@lru_cache(maxsize=8)
def _kernels(device: torch.device) -> DeviceKernels | None:
    return device_code(_SOURCE, _NAMES, device)


@lru_cache(maxsize=8)
def _lowest(low: tuple[float, ...], device: torch.device) -> Tensor:
    return torch.tensor(low, dtype=torch.float64, device=device)


def _known(fused: object, raw: Tensor) -> DeviceKernels | None:
    """Return the kernels where they compute a loss for scores."""
    here = isinstance(fused, FusedSoftmax) and raw.is_cuda and raw.is_contiguous()
    return _kernels(raw.device) if here and len(raw) < 2**31 else None


def _parameters(fused: FusedSoftmax, raw: Tensor) -> tuple[Tensor, float, float, int, int]:
    low = _lowest(tuple(fused.low.tolist()), raw.device)
    return low, float(fused.b), float(fused.gamma), *raw.shape


def _blocks(run: DeviceKernels, raw: Tensor) -> int:
    return max(1, min(8 * run.blocks, -(-len(raw) // THREADS)))


def value_residual(
    fused: object, y: Tensor, raw: Tensor, weight: Tensor
) -> tuple[Tensor, Tensor] | None:
    """Return the weighted loss and its derivative by each score; None where there is no kernel."""
    run = _known(fused, raw)
    if run is None or not isinstance(fused, FusedSoftmax):
        return None
    residual, blocks = torch.empty_like(raw), _blocks(run, raw)
    partial = torch.empty(blocks, dtype=torch.float64, device=raw.device)
    parameters = _parameters(fused, raw)
    run("softmax_residual", blocks, raw, y, weight.contiguous(), *parameters, residual, partial)
    return partial.sum(), residual


def fisher(fused: object, raw: Tensor, weight: Tensor) -> Tensor | None:
    """Return the weighted Fisher information of each score; None where there is no kernel."""
    run = _known(fused, raw)
    if run is None or not isinstance(fused, FusedSoftmax):
        return None
    out = torch.empty_like(raw)
    parameters = _parameters(fused, raw)
    run("softmax_fisher", _blocks(run, raw), raw, weight.contiguous(), *parameters, out)
    return out
