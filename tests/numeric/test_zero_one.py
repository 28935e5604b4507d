"""Exact line searches: fewest errors, and the same on long data whatever the threads."""

import numpy as np
import pytest

from bblr._numeric import threads, zero_one
from bblr._numeric.zero_one import exact_line, zero_one_line
from bblr.losses import BetaBernoulli, Plateaus


def case(kind, n=5000, seed=0):
    rng = np.random.default_rng(seed)
    raw, direction = rng.normal(size=(2, n))
    y = np.where(raw + rng.normal(size=n) > 0, 1.0, -1.0)
    weight = rng.uniform(0.5, 2.0, n) * (rng.random(n) < 0.9)
    if kind == "ties":
        raw, direction = np.round(4 * raw), np.round(2 * direction)
    if kind == "still":
        direction[:] = 0.0
    return raw - 0.3, direction, y, np.round(8 * weight)


@pytest.mark.parametrize("kind", ["plain", "ties", "still"])
@pytest.mark.parametrize("parts", [1, 2, 3])
def test_long_lines_are_short_ones(monkeypatch, kind, parts):
    rows = case(kind)
    monkeypatch.setattr(zero_one, "_MANY", 10**9)
    expected = exact_line(*rows)
    monkeypatch.setattr(zero_one, "_MANY", 1)
    monkeypatch.setattr(threads, "num_threads", lambda: parts)
    monkeypatch.setattr(threads, "MIN_WORK", 1)
    assert exact_line(*rows) == expected
    assert expected[1] <= expected[2]


def test_the_minimum_is_the_least_over_all_stretches():
    raw, direction, y, weight = case("ties", 3000)
    step, errors, here = exact_line(raw, direction, y, weight)
    points = np.unique(-raw[direction != 0] / direction[direction != 0])
    middles = np.r_[points[0] - 1, 0.5 * (points[1:] + points[:-1]), points[-1] + 1]
    counts = [weight @ (y * (raw + t * direction) <= 0) for t in middles]
    assert errors == min(counts) == weight @ (y * (raw + step * direction) <= 0)
    assert here == weight @ (y * raw <= 0) and errors < here


def test_points_that_rounding_tells_apart_are_one():
    """Between them is no stretch to go to, however few its errors seem to be."""
    near = 1.0 + np.array([0.0, 1e-15, 3e-15])
    # The first row improves at 1, the others get worse there: in between none were wrong.
    raw, direction = np.r_[-near[0], near[1:]], np.array([1.0, -1.0, -1.0])
    for order in ([0, 1, 2], [2, 1, 0], [1, 0, 2]):
        y = np.ones(3)[order]
        step, errors, here = exact_line(raw[order], direction[order], y, y)
        assert (step, errors, here) == (0.0, 1.0, 1.0)


def test_lines_of_several_scores_against_a_fine_grid():
    rng = np.random.default_rng(4)
    for _ in range(200):
        n, classes = rng.integers(1, 15), rng.integers(2, 5)
        # Whole numbers, so that scores tie and lines run parallel.
        raw = rng.integers(-3, 4, (n, classes)).astype(float)
        change = rng.integers(-2, 3, (n, classes)).astype(float)
        y, weight = rng.integers(0, classes, n), rng.integers(0, 3, n).astype(float)
        loss = BetaBernoulli(Plateaus.symmetric(0.1, int(classes)))

        def errors(step, raw=raw, change=change, y=y, weight=weight, loss=loss):
            return float(weight @ loss.wrong(y, raw + step * change))

        step, found, here = zero_one_line(raw, change, y, weight)
        # Scores cross at quotients of small whole numbers; between any two there is a point here.
        grid = np.concatenate([np.linspace(-8, 8, 16 * 36 + 1) + 1e-3, [-50.0, 50.0]])
        assert here == errors(0.0)
        assert found == min(here, *(errors(t) for t in grid))
        assert errors(step) == found
        assert zero_one_line(raw, change, y, weight) == (step, found, here)


def test_steps_that_rounding_tells_apart_are_one():
    """Rows along one direction change sides at the same steps, but for their last bits."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=60), rng.integers(0, 3, 60)
    for _ in range(50):
        theta, direction = rng.normal(size=(2, 3))
        raw, change, weight = np.outer(x, theta), np.outer(x, direction), np.ones(60)
        step, found, here = zero_one_line(raw, change, y, weight)
        points = [
            (theta[k] - theta[j]) / (direction[j] - direction[k])
            for k, j in ((0, 1), (0, 2), (1, 2))
        ]
        points = np.sort(points)
        middles = np.r_[points[0] - 1, 0.5 * (points[1:] + points[:-1]), points[-1] + 1, 0.0]
        there = [zero_one.errors(y, raw + t * change, weight) for t in middles]
        assert found == min(there) and here == there[-1]
        order = rng.permutation(60)
        again = zero_one_line(raw[order] * (1 + 1e-15), change[order], y[order], weight)
        np.testing.assert_allclose(again, (step, found, here), rtol=1e-9)


def test_two_columns_are_a_line_of_their_difference():
    raw, direction, y, weight = case("plain", 400)
    two = [np.column_stack([-v / 2, v / 2]) for v in (raw, direction)]
    found = zero_one_line(*two, (y > 0).astype(int), weight)
    expected = exact_line(raw, direction, y, weight)
    assert found[1:] == pytest.approx(expected[1:])
    assert found[0] == pytest.approx(expected[0], rel=1e-9)
