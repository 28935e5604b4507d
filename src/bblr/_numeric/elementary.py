"""Exponential and logarithm that LLVM vectorises together with the loop around them.

numba ships no vector mathematics library any more, and the library's ``exp`` and ``log`` per row
cost as much as reading the row. These two are polynomials without a branch, accurate to about two
units in the last place.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from bblr._numeric.compiling import njit, watch_compilation

# `error_model="numpy"` drops the division check that would keep a loop scalar; the fast-math flags
# allow sums to be re-ordered into lanes but keep NaN and infinity meaningful.
JIT: Any = {
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"reassoc", "contract", "arcp", "nsz"},
    # Nobody calls these functions from C: a quarter less to compile.
    "no_cfunc_wrapper": True,
}

# Every compiled function of the package has these settings, so nobody gets past this line.
watch_compilation()

# Written into its callers before types are known, a small function costs half the time to compile.
INLINE: dict[str, Any] = {**JIT, "inline": "always"}

# Re-ordering would merge the two halves of ln 2 below, and with them lose the last seven digits.
EXACT: dict[str, Any] = {**JIT, "fastmath": {"contract", "arcp", "nsz"}}
# For what several compiled functions call, and nothing else.
INNER: dict[str, Any] = {"no_cpython_wrapper": True}

_LOG2_E = 1.4426950408889634
_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10
_MANTISSA, _EXPONENT = 0xFFFFFFFFFFFFF, 0x7FF
_ONE_BITS = 0x3FF0000000000000
# Added to a number this one leaves its nearest whole number in the last bits; to convert floats
# to integers is what only the latest processors do in a vector.
_ROUND = 1.5 * 2.0**52
# An exponent in place of these bits' last ones is a float this much larger.
_INTEGER_BITS, _INTEGER = 0x4330000000000000, 2.0**52
_BIAS = 1023.0
_SQRT2 = 1.4142135623730951
# Beyond this the exponential is below the smallest normal number and changes nothing.
_LIMIT = 700.0


@intrinsic
def _bits(_: Any, number: Any) -> Any:
    """Return the bits of a float as an integer."""

    def generate(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.int64(types.float64), generate


@intrinsic
def _float(_: Any, bits: Any) -> Any:
    """Return the float of some bits."""

    def generate(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.int64), generate


@njit(**EXACT, **INNER)
def exp_minus_abs(x):
    """Return exp(-|x|), but never less than exp(-700)."""
    t = -min(abs(x), _LIMIT)
    rounded = t * _LOG2_E + (_ROUND + _BIAS)
    power = _float(_bits(rounded) << 52)
    k = rounded - (_ROUND + _BIAS)
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
    return (p * r + 1.0) * power


@njit(**EXACT, **INNER)
def logarithm(x):
    """Return the logarithm of a positive, normal number."""
    bits = _bits(x)
    k = _float((bits >> 52) & _EXPONENT | _INTEGER_BITS) - (_INTEGER + _BIAS)
    m = _float((bits & _MANTISSA) | _ONE_BITS)
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
    return k * _LN2_HIGH + (f * p + k * _LN2_LOW)
