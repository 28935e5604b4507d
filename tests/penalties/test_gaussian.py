"""The Gaussian penalty."""

import numpy as np
import pytest

from bblr.penalties import Gaussian


@pytest.fixture
def theta():
    return np.random.default_rng(3).normal(size=6)


@pytest.mark.parametrize("l2", [0.0, 0.5, 40.0])
def test_derivatives_against_differences(theta, l2):
    penalty, step = Gaussian(l2), 1e-4
    for j, axis in enumerate(np.eye(len(theta))):
        up, down = penalty.value(theta + step * axis), penalty.value(theta - step * axis)
        assert penalty.gradient(theta)[j] == pytest.approx((up - down) / (2 * step), abs=1e-7)
        second = (up + down - 2 * penalty.value(theta)) / step**2
        assert penalty.curvature(theta)[j] == pytest.approx(second, abs=1e-4)
    assert penalty.value(theta) == pytest.approx(0.5 * l2 * np.sum(theta**2))


def test_along_is_the_value_at_each_step(theta):
    penalty, steps = Gaussian(3.0), np.linspace(-2, 2, 9)
    for j, axis in enumerate(np.eye(len(theta))):
        direct = [penalty.value(theta + step * axis) for step in steps]
        np.testing.assert_allclose(penalty.along(theta, j, steps), direct, rtol=1e-13)


@pytest.mark.parametrize("l2", [-1.0, float("nan"), float("inf")])
def test_l2_must_be_finite_and_not_negative(l2):
    with pytest.raises(ValueError, match="l2"):
        Gaussian(l2)
