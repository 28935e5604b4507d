"""The loss of an example in one kernel of a GPU.

A fit of some hundred thousand rows spends its time on starting kernels, twenty microseconds each;
written with tensor operations the loss and its curvature take thirty of them. PyTorch compiles
elementwise code at run time, in tenths of a second, and keeps it on disk. Where that fails the
tensor operations serve.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import torch

from bblr._numeric.device_code import SUMS, THREADS, DeviceKernels, device_code
from bblr.losses.fused import BETA_BERNOULLI, EXPECTED, FusedLoss
from bblr.losses.fused_softmax import FusedSoftmax

Tensor = torch.Tensor

_SHARES = """
    T z = gamma * y * raw;
    T e = exp(z < T(0) ? z : -z);
    T up = (z < T(0) ? e : T(1)) / (T(1) + e);
    T down = (z < T(0) ? T(1) : e) / (T(1) + e);
    T low = y > T(0) ? low_positive : low_negative;
"""
_ARGUMENTS = "(T y, T raw, T weight, T gamma, T low_positive, T low_negative, T span) {"
_VALUE = f"""template <typename T> T bblr_value{_ARGUMENTS}{_SHARES}
    if (low > T(0)) return -weight * log(low + span * up);
    return weight * (log1p(e) - (z < T(0) ? z : T(0)) - log(span));
}}"""
_RESIDUAL = f"""template <typename T> T bblr_residual{_ARGUMENTS}{_SHARES}
    T pull = -weight * gamma * y * down;
    return low > T(0) ? pull * span * up / (low + span * up) : pull;
}}"""
_POSITIVE = f"""template <typename T> T bblr_positive{_ARGUMENTS}{_SHARES}
    T own = low > T(0) ? span * up / (low + span * up) : T(1);
    T observed = own * down * (up - (T(1) - own) * down);
    T other_low = y > T(0) ? low_negative : low_positive;
    T other = other_low > T(0) ? span * down / (other_low + span * down) : T(1);
    T fisher = up * down * own * other;
    T positive = observed > T(0) ? observed : T(0);
    return weight * gamma * gamma * (T({EXPECTED}) * fisher + T({1.0 - EXPECTED}) * positive);
}}"""
_FISHER = f"""template <typename T> T bblr_fisher{_ARGUMENTS}
    y = T(1);{_SHARES}
    T own = low > T(0) ? span * up / (low + span * up) : T(1);
    T other = low_negative > T(0) ? span * down / (low_negative + span * down) : T(1);
    return weight * gamma * gamma * up * down * own * other;
}}"""
# For kernels that have the loss inside.
CODE = "\n".join((_VALUE, _RESIDUAL, _POSITIVE, _FISHER))
_PARAMETERS = {"gamma": 1.0, "low_positive": 0.0, "low_negative": 0.0, "span": 1.0}


@lru_cache(maxsize=1)
def _kernels() -> tuple[Callable[..., Tensor], ...]:
    """Return the kernels of value, residual and curvature; none where they cannot be compiled."""
    try:
        from torch.cuda import jiterator

        codes = (_VALUE, _RESIDUAL, _POSITIVE, _FISHER)
        made = tuple(jiterator._create_jit_fn(code, **_PARAMETERS) for code in codes)
        one = torch.ones(1, dtype=torch.float64, device="cuda")
        for kernel in made:
            kernel(one, one, one)
    except (ImportError, AttributeError, RuntimeError, TypeError):
        return ()
    return made


def parameters_of(fused: object) -> dict[str, float] | None:
    """Return what kernels must know of a loss, None where they do not have it."""
    if not (isinstance(fused, FusedLoss) and fused.code == BETA_BERNOULLI):
        return None
    return {name: float(getattr(fused, name)) for name in _PARAMETERS}


def _parameters(fused: object, raw: Tensor) -> dict[str, float] | None:
    """Return the parameters of a loss where there are kernels for it."""
    return parameters_of(fused) if raw.is_cuda and _kernels() else None


def value_residual(
    fused: object, y: Tensor, raw: Tensor, weight: Tensor
) -> tuple[Tensor, Tensor] | None:
    """Return the weighted loss and its derivative by each score; None where there is no kernel."""
    parameters = _parameters(fused, raw)
    if parameters is None:
        return None
    value, residual = _kernels()[:2]
    return value(y, raw, weight, **parameters).sum(), residual(y, raw, weight, **parameters)


def positive_curvature(fused: object, y: Tensor, raw: Tensor, weight: Tensor) -> Tensor | None:
    """Return the weighted curvature that Newton steps use; None where there is no kernel."""
    parameters = _parameters(fused, raw)
    return None if parameters is None else _kernels()[2](y, raw, weight, **parameters)


def fisher(fused: object, raw: Tensor, weight: Tensor) -> Tensor | None:
    """Return the weighted Fisher information of each score; None where there is no kernel."""
    parameters = _parameters(fused, raw)
    return None if parameters is None else _kernels()[3](weight, raw, weight, **parameters)


# As `softmax_residual` and `softmax_fisher` in fused_softmax.py.
_SOFTMAX = (
    SUMS
    + """
extern "C" __global__ void softmax_residual(
    const double* scores, const long long* y, const double* weight, const double* numbers,
    int n, int classes, double* residual, double* partial) {
    const double gamma = numbers[0], b = numbers[1], *low = numbers + 2;
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
    const double* scores, const double* weight, const double* numbers, int n, int classes,
    double* out) {
    const double gamma = numbers[0], b = numbers[1], *low = numbers + 2;
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
_SOFTMAX_NAMES = "softmax_residual", "softmax_fisher"


@lru_cache(maxsize=8)
def _softmax_kernels(device: torch.device) -> DeviceKernels | None:
    return device_code(_SOFTMAX, _SOFTMAX_NAMES, device)


@dataclass(frozen=True, eq=False)
class SoftmaxOnDevice:
    """The loss of several classes with its parameters on a device, where they can be set anew.

    Parameters
    ----------
    numbers : tensor
        What :func:`softmax_numbers` returns.
    """

    numbers: Tensor

    @property
    def fused(self) -> SoftmaxOnDevice:
        """What kernels must know of the loss."""
        return self


def softmax_numbers(fused: object, device: torch.device) -> Tensor | None:
    """Return gamma, b and the low plateaus on a device; None where there is no kernel for them."""
    if device.type != "cuda" or _softmax_kernels(device) is None:
        return None
    if isinstance(fused, SoftmaxOnDevice):
        return fused.numbers
    if not isinstance(fused, FusedSoftmax):
        return None
    return _on_device((float(fused.gamma), float(fused.b), *fused.low.tolist()), device)


@lru_cache(maxsize=8)
def _on_device(numbers: tuple[float, ...], device: torch.device) -> Tensor:
    return torch.tensor(numbers, dtype=torch.float64, device=device)


def _known(fused: object, raw: Tensor) -> tuple[DeviceKernels, Tensor] | None:
    """Return kernels and the parameters of a loss, where they compute it for scores."""
    if not (raw.is_cuda and raw.is_contiguous() and len(raw) < 2**31):
        return None
    run, numbers = _softmax_kernels(raw.device), softmax_numbers(fused, raw.device)
    return None if run is None or numbers is None else (run, numbers)


def _blocks(run: DeviceKernels, raw: Tensor) -> int:
    return max(1, min(8 * run.blocks, -(-len(raw) // THREADS)))


def softmax_residual(
    fused: object, y: Tensor, raw: Tensor, weight: Tensor
) -> tuple[Tensor, Tensor] | None:
    """Return the weighted loss and its derivative by each score; None where there is no kernel."""
    known = _known(fused, raw)
    if known is None:
        return None
    run, numbers = known
    residual, blocks = torch.empty_like(raw), _blocks(run, raw)
    partial = torch.empty(blocks, dtype=torch.float64, device=raw.device)
    given = raw, y, weight.contiguous(), numbers, *raw.shape
    run("softmax_residual", blocks, *given, residual, partial)
    return partial.sum(), residual


def softmax_fisher(fused: object, raw: Tensor, weight: Tensor) -> Tensor | None:
    """Return the weighted Fisher information of each score; None where there is no kernel."""
    known = _known(fused, raw)
    if known is None:
        return None
    run, numbers = known
    out = torch.empty_like(raw)
    given = raw, weight.contiguous(), numbers, *raw.shape
    run("softmax_fisher", _blocks(run, raw), *given, out)
    return out
