"""The range search: probes on a grid along every coordinate."""

import numpy as np
import pytest

from bblr.losses import BetaBernoulli, Sigmoid
from bblr.solvers import LBFGS, RangeSearch


class Table:
    """An objective whose gain by each step along each parameter is given."""

    def __init__(self, gains):
        self.gains = gains
        self.current = 10.0
        self.probed = []

    def scores(self, theta):
        return np.zeros(3)

    def value(self, theta, raw=None):
        return self.current

    def probes(self, theta, js, steps, raw=None):
        return [self._probe(j, steps) for j in js]

    def _probe(self, j, steps):
        self.probed.append((j, steps))
        return self.current - np.array([self.gains(j, round(step, 9)) for step in steps])

    def shifted(self, raw, j, step):
        self.current -= self.gains(j, round(step, 9))
        return raw


def test_finds_a_planted_better_step(make_objective):
    """All coordinates at their best but the first: the grid finds its way back."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    y = np.where(X @ [1, -1, 2, 0.5, 3] > 0, 1.0, -1.0)
    objective = make_objective(X, y, loss=Sigmoid(20.0), l2=0.0)
    best = np.array([1, -1, 2, 0.5, 3, 0.0])
    displaced = best.copy()
    displaced[0] -= 5.0
    found = RangeSearch(radius=8.0, spacing=0.5).minimise(objective, displaced)
    assert found.theta[0] == pytest.approx(best[0], abs=0.6)
    assert found.value < objective.value(displaced) - 50
    assert found.reason == "step taken"
    assert found.value == pytest.approx(objective.value(found.theta), rel=1e-9)


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("batch", [2, 3, 100])
def test_looking_at_several_parameters_together_changes_nothing(make_objective, batch, first):
    objective = make_objective(loss=BetaBernoulli.binary(0.1, 0.8, 8.0))
    search = RangeSearch(first=first)
    alone = search.minimise(objective, np.zeros(4))
    objective.design.design.batch = batch
    together = search.minimise(objective, np.zeros(4))
    assert together.theta.tobytes() == alone.theta.tobytes()
    assert together.n_iter == alone.n_iter > 0


def test_leaves_the_start_alone_and_is_reproducible(make_objective):
    objective, start = make_objective(loss=BetaBernoulli.binary(0.1, 0.8, 8.0)), np.zeros(4)
    one, two = (RangeSearch().minimise(objective, start) for _ in range(2))
    assert np.all(start == 0)
    assert one.theta.tobytes() == two.theta.tobytes()
    assert one.n_iter > 0


def test_at_a_convex_minimum_no_step_gains(make_objective):
    objective = make_objective()
    minimum = LBFGS(tol=1e-12).minimise(objective, np.zeros(4))
    for gain in (0.1, 0.0):
        found = RangeSearch(min_gain=gain).minimise(objective, minimum.theta)
        assert (found.n_iter, found.reason) == (0, "no step gains")
        np.testing.assert_array_equal(found.theta, minimum.theta)


def test_best_step_of_each_coordinate_in_turn():
    gains = {(0, 0.4): 1.0, (0, -0.6): 3.0, (2, 0.2): 0.5, (2, 0.8): 0.4}
    found = RangeSearch(1.0, 0.2).minimise(Table(lambda j, s: gains.get((j, s), 0.0)), np.zeros(3))
    np.testing.assert_allclose(found.theta, [-0.6, 0, 0.2])
    assert found.n_iter == 2
    assert found.value == pytest.approx(10.0 - 3.5)


@pytest.mark.parametrize(
    ("paying", "taken"),
    [
        ([(1, 0.2), (1, -0.2)], (1, 0.2)),
        ([(1, -0.2), (1, 0.4)], (1, -0.2)),
        ([(1, 0.6), (1, -0.4)], (1, -0.4)),
        ([(1, 0.4), (1, -0.4)], (1, 0.4)),
        ([(2, 0.2), (1, -1.0)], (1, -1.0)),
    ],
)
def test_first_takes_the_shortest_step_of_the_first_coordinate(paying, taken):
    """The order of Algorithm 2: +e, -e, +2e, -2e, ... and the first that gains counts."""
    table = Table(lambda j, s: 1.0 + abs(s) if (j, s) in paying else 0.0)
    found = RangeSearch(1.0, 0.2, first=True).minimise(table, np.zeros(4))
    expected = np.zeros(4)
    expected[taken[0]] = taken[1]
    np.testing.assert_allclose(found.theta, expected)
    assert found.n_iter == 1
    assert max(j for j, _ in table.probed) == taken[0]


def test_a_gain_below_the_least_does_not_count():
    table = Table(lambda j, s: 0.0999 if s else 0.0)
    assert RangeSearch(first=True).minimise(table, np.zeros(2)).n_iter == 0
    assert RangeSearch(first=False).minimise(table, np.zeros(2)).n_iter == 0


@pytest.mark.parametrize(("radius", "spacing"), [(8.0, 0.2), (1.0, 0.25), (0.35, 0.2)])
def test_no_probe_leaves_the_radius(radius, spacing):
    table = Table(lambda j, s: 0.0)
    RangeSearch(radius, spacing).minimise(table, np.zeros(1))
    steps = table.probed[0][1]
    assert np.abs(steps).max() <= radius * (1 + 1e-9)
    np.testing.assert_allclose(np.diff(steps), spacing)


@pytest.mark.parametrize("method", ["probes", "scores", "value", "shifted"])
def test_missing_methods_are_named(method):
    table = Table(lambda j, s: 0.0)
    setattr(table, method, None)
    with pytest.raises(TypeError, match=f"range search.*{method}.*Table"):
        RangeSearch().minimise(table, np.zeros(1))
