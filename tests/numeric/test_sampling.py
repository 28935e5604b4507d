"""Systematic samples, against the plain formula."""

import numpy as np
import pytest

from bblr._numeric.sampling import systematic


def plain(weight, size, most):
    share = weight * size
    share = np.minimum(share / share.sum() * most, 1.0)
    ticks = np.floor(np.cumsum(share) + 0.5)
    chosen = np.flatnonzero(np.diff(ticks, prepend=0.0) > 0)
    return chosen, weight[chosen] / share[chosen]


@pytest.mark.parametrize("most", [1, 7, 100, 999])
@pytest.mark.parametrize("tail", [0.1, 3.0])
def test_the_sample_is_that_of_the_formula(most, tail):
    rng = np.random.default_rng(most)
    weight = rng.random(1500) * (rng.random(1500) < 0.8)
    size = np.exp(tail * rng.normal(size=1500))
    rows, own = systematic(weight, size, most)
    expected, shares = plain(weight, size, most)
    np.testing.assert_array_equal(rows, expected)
    np.testing.assert_allclose(own, shares, rtol=1e-12)
    assert len(rows) <= most + 1


def test_sums_are_kept_on_average():
    rng = np.random.default_rng(0)
    weight, size = rng.random(20_000), rng.exponential(size=20_000)
    rows, own = systematic(weight, size, 2_000)
    assert own @ size[rows] == pytest.approx(weight @ size, rel=1e-3)


@pytest.mark.parametrize("scale", [1.0, 1e-310])
def test_few_rows_are_all_taken_and_none_without_weight(scale):
    weight = scale * np.array([0.0, 1.0, 2.0, 0.0, 3.0])
    rows, own = systematic(weight, np.ones(5), 3)
    assert rows.tolist() == [1, 2, 4]
    np.testing.assert_array_equal(own, weight[rows])
    assert len(systematic(np.zeros(5), np.ones(5), 3)[0]) == 0


def test_vanishing_weights():
    rows, own = systematic(np.full(500, 1e-310), np.ones(500), 100)
    assert len(rows) == 100 and np.all(np.isfinite(own)) and np.all(own > 0)
