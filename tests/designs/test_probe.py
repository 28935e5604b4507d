"""The probe along a coordinate equals the loss evaluated step by step."""

import numpy as np
import pytest

from bblr.designs import make_design
from bblr.designs.rows import Rows
from bblr.losses import LOSSES, BetaBernoulli, Sigmoid

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
    close(Rows().probe(raw, x, GRID, y, weight, loss), direct(raw, x, GRID, y, weight, loss))


@NAMED
@pytest.mark.parametrize("reach", [1e-12, 30.0, 1e4, 1e7])
def test_steps_that_leave_the_range_of_the_exponential(loss, reach):
    raw, x, y = problem(150, reach)
    raw[::3] *= 1e3
    raw[0], raw[1] = 1e9, -1e9
    for weight in (np.ones(150), WEIGHTS["unequal"](150)):
        found = Rows().probe(raw, x, GRID, y, weight, loss)
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
    close(Rows().probe(raw, x, steps, y, weight, loss), direct(raw, x, steps, y, weight, loss))


@pytest.mark.parametrize("loss", [CASES[1], CASES[4], CASES[7], CASES[8]], ids=repr)
@pytest.mark.parametrize("centre", [0.0, 1.5])
def test_designs_probe_their_columns(X, stored, rows, loss, centre):
    y, weight = rows
    raw = np.random.default_rng(9).normal(size=len(y))
    design = make_design(stored)
    for j in range(X.shape[1]):
        x = X[:, j].astype(np.float64) - centre
        found = design.probe(raw, j, centre, GRID[::8], y, weight, loss)
        close(found, direct(raw, x, GRID[::8], y, weight, loss))


def test_a_grid_is_faster_than_its_steps_one_by_one():
    """The recurrence is what the probe is for: it must be in use."""
    calls = []

    class Watched(BetaBernoulli):
        def value_gradient(self, y, raw):
            calls.append(len(raw))
            return super().value_gradient(y, raw)

    raw, x, y = problem(100)
    Rows().probe(raw, x, GRID, y, np.ones(100), Watched(0.1, 0.8))
    assert calls == []
    Rows().probe(raw, x, GRID**3, y, np.ones(100), Watched(0.1, 0.8))
    assert len(calls) == len(GRID)


@pytest.mark.parametrize("low", [1e-2, 1e-4, 2e-6])
def test_far_rows_sit_on_their_plateau_exactly(low):
    """The cut of exp(-z) must not be seen: a far wrong row costs -log(low)."""
    loss = BetaBernoulli.binary(low, 1 - 2 * low)
    raw, y = np.full(32, -900.0), np.ones(32)
    found = Rows().probe(raw, np.ones(32), np.array([0.0, 1.0]), y, y, loss)
    np.testing.assert_allclose(found, -32 * np.log(low), rtol=1e-10)
