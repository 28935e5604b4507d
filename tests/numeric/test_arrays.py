"""Small helpers for arrays."""

import numpy as np
import pytest

from bblr._numeric.arrays import quantiles


@pytest.mark.parametrize("n", [1, 2, 9, 10, 100])
@pytest.mark.parametrize("weight", [1.0, 0.1, 3.0])
def test_quantiles_are_the_same_for_equal_weights_and_for_nearly_equal_ones(n, weight):
    values, shares = np.random.default_rng(n).normal(size=n), (0.1, 0.5, 0.85, 1.0)
    equal, nearly = np.full(n, weight), np.full(n, weight)
    nearly[-1] *= 1.0 + 1e-15
    found = quantiles(values, equal, shares)
    assert found == quantiles(values, nearly, shares)
    for share, quantile in zip(shares, found, strict=True):
        assert np.mean(values <= quantile) >= share - 1e-9
        assert np.mean(values < quantile) < share


def test_a_row_of_weight_two_is_a_row_twice():
    values = np.array([3.0, 1.0, 2.0, 5.0])
    assert quantiles(values, np.array([1.0, 2.0, 1.0, 1.0]), (0.4, 0.5)) == quantiles(
        np.array([3.0, 1.0, 1.0, 2.0, 5.0]), np.ones(5), (0.4, 0.5)
    )
