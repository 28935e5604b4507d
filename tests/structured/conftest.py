"""Fixtures for the tests of joint decisions."""

import numpy as np
import pytest

from tests.structured.networks import draw


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def train(rng):
    return draw(rng, several=0.1)


@pytest.fixture
def test(rng):
    return draw(rng, several=0.1)
