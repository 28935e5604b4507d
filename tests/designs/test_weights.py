"""A weight of zero is absence, a weight of two a duplicated row."""

import numpy as np
import pytest
from scipy import sparse

from bblr.designs import ScaledDesign, make_design
from bblr.losses import BetaBernoulli, Hinge, Logistic, Plateaus, Sigmoid

LOSSES = [
    Logistic(),
    BetaBernoulli.binary(0.05, 0.7, 3.0),
    Sigmoid(4.0),
    Hinge(),
    BetaBernoulli(Plateaus((0.1, 0.0, 0.2)), 2.0),
]
STORAGE = [np.ascontiguousarray, np.asfortranarray, sparse.csr_array]


@pytest.fixture(params=STORAGE, ids=["C", "F", "csr"])
def pair(request):
    """The same data twice: rows with whole weights, and those rows written out."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(150, 4)) * (rng.random((150, 4)) < [1, 0.2, 0.8, 1]) + [100, 0, 0, 0]
    y, weight = rng.choice([-1.0, 1.0], 150), rng.integers(0, 4, 150).astype(float)
    times = weight.astype(int)
    X[weight == 0] *= 1e6  # absent rows must not be felt
    design = make_design(request.param(X))
    copies = make_design(request.param(np.repeat(X, times, axis=0)))
    return (design, y, weight), (copies, np.repeat(y, times), np.ones(times.sum()))


def classes(y, loss):
    """Labels as the loss wants them."""
    return y if loss.n_scores == 1 else (y > 0).astype(np.intp)


def scores_of(loss, plane):
    return np.outer([1.0, -0.5, 0.2][: loss.n_scores], plane)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_value_and_gradient(pair, loss):
    coef = scores_of(loss, [0.01, 1.0, -2.0, 0.3])
    one, two = (
        design.value_gradient(coef, 10 * coef[:, 0], classes(y, loss), weight, loss)
        for design, y, weight in pair
    )
    assert one.value == pytest.approx(two.value, rel=1e-12)
    np.testing.assert_allclose(one.gradient, two.gradient, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(one.slopes, two.slopes, rtol=1e-9, atol=1e-9)


def test_moments_and_scaling(pair):
    one, two = (design.moments(weight) for design, _, weight in pair)
    for found, expected in zip(one, two, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-9)
    one, two = (ScaledDesign(design, weight, True) for design, _, weight in pair)
    np.testing.assert_allclose(one.centre, two.centre, rtol=1e-12)
    np.testing.assert_allclose(one.scale, two.scale, rtol=1e-9)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_probe_and_curvature(pair, loss):
    theta, steps = scores_of(loss, [0.4, 1.0, -2.0, 0.3, 0.1]), np.linspace(-2, 2, 21)
    places = [(k, p) for k in range(loss.n_scores) for p in range(5)]
    found = []
    for design, y, weight in pair:
        scaled = ScaledDesign(design, weight, True)
        raw = scaled.scores(theta)
        probes = scaled.probes(raw, places, steps, classes(y, loss), weight, loss)
        found.append((*probes, scaled.curvature(weight, 10**6), scaled.column_squares(weight)))
    for one, two in zip(*found, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-8, atol=1e-8)
