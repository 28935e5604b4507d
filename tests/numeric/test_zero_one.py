"""The exact line search on long data: the same as on short, whatever the threads."""

import numpy as np
import pytest

from bblr._numeric import threads, zero_one
from bblr._numeric.zero_one import exact_line


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
