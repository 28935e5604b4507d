"""The exponential and logarithm against numpy in extended precision."""

import numpy as np
import pytest
from numba import njit

from bblr._numeric.elementary import EXACT, exp_minus_abs, logarithm

ULPS = 4.0


@njit(**EXACT)
def exp_of(x):
    out = np.empty(len(x))
    for i in range(len(x)):
        out[i] = exp_minus_abs(x[i])
    return out


@njit(**EXACT)
def log_of(x):
    out = np.empty(len(x))
    for i in range(len(x)):
        out[i] = logarithm(x[i])
    return out


def ulps(found, exact):
    return np.max(np.abs(found - exact) / np.spacing(np.abs(exact).astype(np.float64)))


@pytest.mark.parametrize("reach", [1e-12, 1e-3, 1.0, 40.0, 699.0])
def test_exp_is_exact_to_a_few_units_in_the_last_place(reach):
    x = np.random.default_rng(0).uniform(-reach, reach, 4000)
    assert ulps(exp_of(x), np.exp(-np.abs(x.astype(np.longdouble)))) <= ULPS


def test_exp_never_leaves_the_normal_numbers():
    x = np.array([0.0, -0.0, 745.0, -745.0, 1e9, -1e9, 1e300, np.inf, -np.inf])
    found = exp_of(x)
    assert found[0] == found[1] == 1.0
    assert np.all(found[2:] >= np.finfo(np.float64).tiny)
    assert np.all(found[2:] < 1e-300)


@pytest.mark.parametrize("spread", [1e-15, 1e-9, 1e-3, 1.0, 600.0])
def test_log_is_exact_to_a_few_units_in_the_last_place(spread):
    x = np.exp(np.random.default_rng(1).uniform(-spread, spread, 4000))
    exact = np.log(x.astype(np.longdouble))
    assert ulps(log_of(x), exact) <= ULPS


def test_log_of_one_is_zero_and_of_powers_of_two_exact():
    k = np.arange(-1000, 1000.0)
    assert np.array_equal(log_of(np.ones(3)), np.zeros(3))
    np.testing.assert_allclose(log_of(2.0**k), k * np.log(2), rtol=4e-16, atol=0)
