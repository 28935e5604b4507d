"""The loss of an example in one kernel of a GPU.

A fit of some hundred thousand rows spends its time on starting kernels, twenty microseconds each;
written with tensor operations the loss and its curvature take thirty of them. PyTorch compiles
elementwise code at run time, in tenths of a second, and keeps it on disk. Where that fails the
tensor operations serve.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import torch

from bblr.losses.fused import BETA_BERNOULLI, EXPECTED, FusedLoss

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
_PARAMETERS = {"gamma": 1.0, "low_positive": 0.0, "low_negative": 0.0, "span": 1.0}


@lru_cache(maxsize=1)
def _kernels() -> tuple[Callable[..., Tensor], ...] | None:
    """Return the kernels of value, residual and curvature, None where none can be compiled."""
    try:
        from torch.cuda import jiterator

        codes = (_VALUE, _RESIDUAL, _POSITIVE)
        made = tuple(jiterator._create_jit_fn(code, **_PARAMETERS) for code in codes)
        one = torch.ones(1, dtype=torch.float64, device="cuda")
        for kernel in made:
            kernel(one, one, one)
    except (ImportError, AttributeError, RuntimeError, TypeError):
        return None
    return made


def _known(fused: FusedLoss | None, raw: Tensor) -> bool:
    return raw.is_cuda and fused is not None and fused.code == BETA_BERNOULLI


def value_residual(
    fused: FusedLoss | None, y: Tensor, raw: Tensor, weight: Tensor
) -> tuple[Tensor, Tensor] | None:
    """Return the weighted loss and its derivative by each score; None where there is no kernel."""
    kernels = _kernels() if _known(fused, raw) else None
    if kernels is None or fused is None:
        return None
    parameters = _parameters(fused)
    value, residual = (kernel(y, raw, weight, **parameters) for kernel in kernels[:2])
    return value.sum(), residual


def positive_curvature(
    fused: FusedLoss | None, y: Tensor, raw: Tensor, weight: Tensor
) -> Tensor | None:
    """Return the weighted curvature that Newton steps use; None where there is no kernel."""
    kernels = _kernels() if _known(fused, raw) else None
    if kernels is None or fused is None:
        return None
    return kernels[2](y, raw, weight, **_parameters(fused))


def _parameters(fused: FusedLoss) -> dict[str, float]:
    return {name: float(getattr(fused, name)) for name in _PARAMETERS}
