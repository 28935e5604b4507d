"""Exponential and logarithm over short blocks, written so that LLVM vectorises them.

numba ships no vector mathematics library any more, and a scalar ``exp`` and ``log`` per row cost
as much as reading the row. These two are polynomials over a block of at most ``BLOCK`` numbers,
accurate to about two units in the last place.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from bblr._numeric.compiling import announce_compilation

BLOCK = 64

# `error_model="numpy"` drops the division check that would keep a loop scalar; the fast-math flags
# allow sums to be re-ordered into lanes but keep NaN and infinity meaningful.
JIT: dict[str, Any] = {
    "cache": True,
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"reassoc", "contract", "arcp", "nsz"},
}

# Every compiled function of the package has these settings, so nobody gets past this line.
announce_compilation()

# Re-ordering would merge the two halves of ln 2 below, and with them lose the last seven digits.
EXACT: dict[str, Any] = {**JIT, "fastmath": {"contract", "arcp", "nsz"}}

_LOG2_E = 1.4426950408889634
_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10
_MANTISSA = 0xFFFFFFFFFFFFF
_ONE_BITS = 0x3FF0000000000000
_SQRT2 = 1.4142135623730951
# Beyond this the exponential is below the smallest normal number and changes nothing.
_LIMIT = 700.0


@njit(**EXACT)
def exp_minus_abs(x, out, bits, n):
    """Write exp(-|x|) of the first `n` numbers to `out`; `bits` is an int64 work space."""
    power = bits.view(np.float64)
    for i in range(n):
        t = -min(abs(x[i]), _LIMIT)
        k = np.floor(t * _LOG2_E + 0.5)
        bits[i] = (np.int64(k) + 1023) << 52
        r = (t - k * _LN2_HIGH) - k * _LN2_LOW
        p = 1.0 / 6227020800.0
        p = p * r + 1.0 / 479001600.0
        p = p * r + 1.0 / 39916800.0
        p = p * r + 1.0 / 3628800.0
        p = p * r + 1.0 / 362880.0
        p = p * r + 1.0 / 40320.0
        p = p * r + 1.0 / 5040.0
        p = p * r + 1.0 / 720.0
        p = p * r + 1.0 / 120.0
        p = p * r + 1.0 / 24.0
        p = p * r + 1.0 / 6.0
        p = p * r + 0.5
        p = p * r + 1.0
        out[i] = p * r + 1.0
    for i in range(n):
        out[i] *= power[i]


@njit(**EXACT)
def log_in_place(x, bits, n):
    """Replace the first `n` positive, normal numbers of `x` by their logarithms."""
    mantissa = bits.view(np.float64)
    source = x.view(np.int64)
    for i in range(n):
        bits[i] = (source[i] & _MANTISSA) | _ONE_BITS
    for i in range(n):
        k = np.float64((source[i] >> 52) - 1023)
        m = mantissa[i]
        above = m > _SQRT2
        m = 0.5 * m if above else m
        k = k + 1.0 if above else k
        f = (m - 1.0) / (m + 1.0)
        s = f * f
        p = 2.0 / 19.0
        p = p * s + 2.0 / 17.0
        p = p * s + 2.0 / 15.0
        p = p * s + 2.0 / 13.0
        p = p * s + 2.0 / 11.0
        p = p * s + 2.0 / 9.0
        p = p * s + 2.0 / 7.0
        p = p * s + 2.0 / 5.0
        p = p * s + 2.0 / 3.0
        p = p * s + 2.0
        x[i] = k * _LN2_HIGH + (f * p + k * _LN2_LOW)
