"""The loss along a coordinate, compiled, equals the loss evaluated step by step."""

import numpy as np
import pytest

from bblr._numeric import threads
from bblr.losses import LOSSES, BetaBernoulli, Sigmoid
from bblr.losses.fused_line import along_grid

GRID = np.arange(-40, 41) * 0.2
CASES = [
    BetaBernoulli.binary(0.1, 0.8),
    BetaBernoulli.binary(0.05, 0.7, 8.0),
    BetaBernoulli.binary(0.0098, 0.9804, 200.0),
    BetaBernoulli.binary(1e-5, 0.5, 2.0),
    Sigmoid(2.0),
    Sigmoid(200.0),
    BetaBernoulli.binary(0.0, 1.0, 3.0),  # no plateau: step by step
    BetaBernoulli.binary(0.2, 0.8, 3.0),
    LOSSES["hinge"],
    LOSSES["logistic"],
]
NAMED = pytest.mark.parametrize("loss", CASES, ids=repr)


def direct(raw, x, steps, y, weight, loss):
    return np.array([float(loss.value(y, raw + step * x) @ weight) for step in steps])


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=2e-9, atol=1e-9)


def problem(n, reach=1.0, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=n), reach * rng.standard_t(2, size=n), rng.choice([-1.0, 1.0], n)


WEIGHTS = {
    "ones": lambda n: np.ones(n),
    "equal": lambda n: np.full(n, 0.37),
    "unequal": lambda n: np.random.default_rng(8).uniform(0.1, 2.0, n),
    "some-zero": lambda n: np.random.default_rng(8).integers(0, 3, n).astype(float),
    "none": lambda n: np.zeros(n),
}


@NAMED
@pytest.mark.parametrize("weights", sorted(WEIGHTS))
@pytest.mark.parametrize("n", [1, 63, 200, 1023])
def test_uniform_grid(loss, weights, n, threaded):
    raw, x, y = problem(n)
    weight = WEIGHTS[weights](n)
    close(loss.along(y, raw, x, 0, GRID, weight), direct(raw, x, GRID, y, weight, loss))


@NAMED
@pytest.mark.parametrize("reach", [1e-12, 30.0, 1e4, 1e7])
def test_steps_that_leave_the_range_of_the_exponential(loss, reach):
    raw, x, y = problem(150, reach)
    raw[::3] *= 1e3
    raw[0], raw[1] = 1e9, -1e9
    for weight in (np.ones(150), WEIGHTS["unequal"](150)):
        found = loss.along(y, raw, x, 0, GRID, weight)
        # The step 0 of the grid is a sum of steps, off by 1e-15, which a long x makes visible.
        np.testing.assert_allclose(
            found, direct(raw, x, GRID, y, weight, loss), rtol=max(2e-9, 1e-15 * reach * 200)
        )


@NAMED
@pytest.mark.parametrize(
    "steps",
    [
        np.array([0.0, 0.1, 0.3, 0.7]),
        np.array([0.5]),
        np.array([]),
        np.zeros(4),
        np.linspace(3, -3, 12),
        np.arange(2000) * 0.01,
    ],
    ids=["uneven", "one", "none", "same", "falling", "many"],
)
def test_any_steps(loss, steps):
    raw, x, y = problem(130)
    weight = WEIGHTS["unequal"](130)
    close(loss.along(y, raw, x, 0, steps, weight), direct(raw, x, steps, y, weight, loss))


def test_a_grid_is_faster_than_its_steps_one_by_one():
    """The recurrence is what the grid is for: it must be in use where it can be."""
    raw, x, y = problem(100)
    for loss in CASES[:6]:
        assert along_grid(loss.fused, raw, x, y, np.ones(100), GRID) is not None
        assert along_grid(loss.fused, raw, x, y, np.ones(100), GRID**3) is None
    for bare in (BetaBernoulli.binary(0.0, 1.0), BetaBernoulli.binary(0.2, 0.8)):
        assert along_grid(bare.fused, raw, x, y, np.ones(100), GRID) is None


@pytest.fixture(params=[False, True], ids=["serial", "threaded"])
def threaded(request, monkeypatch):
    monkeypatch.setattr(threads, "MIN_WORK", 1 if request.param else 10**12)


@pytest.mark.parametrize("low", [1e-2, 1e-4, 2e-6])
def test_far_rows_sit_on_their_plateau_exactly(low):
    """The cut of exp(-z) must not be seen: a far wrong row costs -log(low)."""
    loss = BetaBernoulli.binary(low, 1 - 2 * low)
    raw, y = np.full(32, -900.0), np.ones(32)
    found = loss.along(y, raw, np.ones(32), 0, np.array([0.0, 1.0]), y)
    np.testing.assert_allclose(found, -32 * np.log(low), rtol=1e-10)
