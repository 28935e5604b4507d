"""The Gauss-Laplace mixture penalty."""

import numpy as np
import pytest
from scipy import integrate

from bblr.penalties import GaussLaplace

PENALTIES = [GaussLaplace(), GaussLaplace(0.2, 3.0, 0.05), GaussLaplace(0.9, 0.5, 2.0)]


@pytest.fixture
def theta():
    return np.random.default_rng(3).normal(size=8)


@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
def test_it_is_a_density(penalty):
    mass, _ = integrate.quad(
        lambda a: np.exp(-penalty.value(np.array([a]))), -60, 60, points=[0.0], limit=200
    )
    assert mass == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
def test_gradient_against_differences(penalty, theta):
    step = 1e-6
    for j, axis in enumerate(np.eye(len(theta))):
        up, down = penalty.value(theta + step * axis), penalty.value(theta - step * axis)
        assert penalty.gradient(theta)[j] == pytest.approx((up - down) / (2 * step), rel=1e-5)
    assert penalty.gradient(np.zeros(3)) == pytest.approx(0.0)


@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
def test_the_parabola_lies_above(penalty, theta):
    for j in range(len(theta)):
        moves = np.linspace(-3, 3, 61)
        slope, bend = penalty.gradient(theta)[j], penalty.curvature(theta)[j]
        parabola = penalty.value(theta) + slope * moves + 0.5 * bend * moves**2
        assert np.all(penalty.along(theta, j, moves) <= parabola + 1e-9)


def test_along_is_the_value_at_each_step(theta):
    penalty, steps = PENALTIES[1], np.linspace(-2, 2, 9)
    for j, axis in enumerate(np.eye(len(theta))):
        direct = [penalty.value(theta + step * axis) for step in steps]
        np.testing.assert_allclose(penalty.along(theta, j, steps), direct, rtol=1e-12)


def test_it_counts_in_the_limit():
    penalty = GaussLaplace(0.5, 1e4, 1e-6)
    costs = [penalty.value(np.array([a])) for a in (0.0, 0.1, 1.0, 10.0)]
    assert costs[0] < costs[1] - 10
    assert costs[1] == pytest.approx(costs[3], abs=1e-3)


def test_clusters_by_the_posterior():
    penalty = GaussLaplace(0.5, 2.0, 0.1)
    found = penalty.laplacian(np.array([0.0, 0.05, -0.05, 1.5, -1.9]))
    assert found.tolist() == [True, True, True, False, False]
    # A Laplacian tail outlasts the Gaussian; no one would call such a weight near zero.
    heavy = GaussLaplace(0.5, 1.0, 0.9)
    assert heavy.posterior(np.array([30.0]))[0] > 0.5
    assert not heavy.laplacian(np.array([30.0]))[0]


def test_estimates_are_those_of_greatest_likelihood():
    theta = np.array([0.1, -0.3, 2.0, -4.0, 0.2])
    narrow = np.array([True, True, False, False, True])
    found = GaussLaplace().estimated(theta, narrow)
    assert found.sigma == pytest.approx(np.sqrt((4 + 16) / 2))
    assert found.scale == pytest.approx(0.2)
    assert found.share == pytest.approx(3 / 7)
    for cluster in (np.ones(5, bool), np.zeros(5, bool)):
        GaussLaplace().estimated(theta, cluster)
    GaussLaplace().estimated(np.zeros(5), narrow)


@pytest.mark.parametrize(
    ("kwargs", "name"),
    [({"share": 1.0}, "share"), ({"sigma": 0.0}, "sigma"), ({"scale": -1}, "scale")],
)
def test_bad_parameters_are_named(kwargs, name):
    with pytest.raises(ValueError, match=name):
        GaussLaplace(**kwargs)
