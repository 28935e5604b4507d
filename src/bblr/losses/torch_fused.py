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
