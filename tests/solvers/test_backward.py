"""Backward elimination against solving each smaller problem afresh."""

import numpy as np
import pytest

from bblr.solvers import eliminate


@pytest.fixture
def quadratic():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(12, 6))
    H, b = A.T @ A + 0.1 * np.eye(6), rng.normal(size=6)
    return H, b


def _minimum(H, b, kept):
    w = np.linalg.solve(H[np.ix_(kept, kept)], b[kept])
    return w, -0.5 * b[kept] @ w


def test_each_step_is_the_best_single_removal(quadratic):
    H, b = quadratic
    kept = np.arange(6)
    weights, value = _minimum(H, b, kept)
    for drop in eliminate(weights, np.linalg.inv(H)):
        trials = {}
        for j in kept:
            rest = kept[kept != j]
            trials[j] = (_minimum(H, b, rest)[1] if len(rest) else 0.0) - value
        best = min(trials, key=trials.get)
        assert drop.dropped == best
        assert drop.cost == pytest.approx(trials[best], rel=1e-8)
        kept = kept[kept != best]
        np.testing.assert_array_equal(drop.kept, kept)
        if len(kept):
            weights, value = _minimum(H, b, kept)
            np.testing.assert_allclose(drop.weights, weights, rtol=1e-8)
    assert len(kept) == 0


def test_input_is_left_alone(quadratic):
    H, b = quadratic
    C, w = np.linalg.inv(H), np.linalg.solve(H, b)
    before = C.copy(), w.copy()
    list(eliminate(w, C))
    np.testing.assert_array_equal(C, before[0])
    np.testing.assert_array_equal(w, before[1])


def test_a_weight_of_zero_goes_first():
    assert next(eliminate(np.array([1.0, 0.0, 2.0]), np.eye(3))).dropped == 1
