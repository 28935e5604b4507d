"""Hard-assignment EM on problems whose answer is planted."""

import numpy as np
import pytest

from bblr.losses import BetaBernoulli
from bblr.penalties import GaussLaplace
from bblr.solvers import FisherScoring, HardEM, RangeSearch


@pytest.fixture
def planted(make_objective):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 12))
    y = np.where(X[:, :2] @ [3.0, -3.0] + 0.3 * rng.normal(size=400) > 0, 1.0, -1.0)
    objective = make_objective(X, y, loss=BetaBernoulli.binary(0.05, 0.9))
    return objective, FisherScoring().minimise(objective, np.zeros(13)).theta


@pytest.mark.parametrize("search", [None, RangeSearch()])
@pytest.mark.parametrize("share", [0.3, 0.5, 0.8])
def test_the_planted_weights_are_found(planted, share, search):
    objective, start = planted
    mixed = objective.with_penalty(GaussLaplace())
    solution, settled = HardEM(search=search, share=share).settle(mixed, start)
    kept = np.flatnonzero(~settled.penalty.laplacian(solution.theta[:12]))
    assert set(kept.tolist()) >= {0, 1}
    assert len(kept) <= (2 if share == 0.8 else 4)
    assert solution.reason == "no cluster changes"
    assert settled.penalty.scale < 0.1 * settled.penalty.sigma
    again = HardEM(search=search, share=share).minimise(mixed, start)
    np.testing.assert_array_equal(again.theta, solution.theta)


def test_the_prior_is_estimated_from_the_clusters(planted):
    objective, start = planted
    mixed = objective.with_penalty(GaussLaplace())
    solution, settled = HardEM(search=None).settle(mixed, start)
    assert mixed.penalty == GaussLaplace()
    value = settled.value(solution.theta)
    assert value == pytest.approx(solution.value)
    assert FisherScoring().minimise(settled, solution.theta).value > value - 1e-2


def test_some_weight_is_left(make_objective):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(40, 5)), rng.choice([-1.0, 1.0], 40)
    mixed = make_objective(X, y, loss=BetaBernoulli.binary(0.05, 0.9)).with_penalty(GaussLaplace())
    solution = HardEM(share=0.9).minimise(mixed, 0.1 * rng.normal(size=6))
    assert np.all(np.isfinite(solution.theta))


def test_missing_methods_are_named():
    with pytest.raises(TypeError, match="hard EM needs an objective with weights"):
        HardEM().minimise(object(), np.zeros(2))
