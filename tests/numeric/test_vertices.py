"""Vertices of an arrangement: points along a line in order, however they lie."""

import numpy as np
import pytest

from bblr._numeric.vertices import sort_points

KINDS = {
    "ratios": lambda rng, n: rng.normal(size=n) / rng.normal(size=n),
    "equal": lambda _, n: np.zeros(n),
    "ties": lambda rng, n: np.round(rng.normal(size=n)),
    "crowded": lambda rng, n: 1e-9 * rng.normal(size=n),
    "far": lambda rng, n: 1e12 * rng.normal(size=n),
    "of all sizes": lambda rng, n: np.exp(50 * rng.normal(size=n)) * rng.choice([-1, 1], n),
    "infinite": lambda rng, n: rng.choice([-np.inf, 0.0, 1.0, np.inf], n),
    "falling": lambda _, n: np.arange(n, 0.0, -1.0),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [0, 1, 2, 5, 300, 3000])
def test_points_are_sorted(kind, count):
    points = KINDS[kind](np.random.default_rng(count), count)
    # What lies beyond the points is left over from other lines.
    at = np.append(points, [np.nan, np.inf])
    order = np.full(count + 2, -7)
    sort_points(at, count, np.empty(count + 3, dtype=np.int64), order)
    assert sorted(order[:count]) == list(range(count))
    ordered = points[order[:count]]
    assert np.all(ordered[:-1] <= ordered[1:])
    assert (order[count:] == -7).all()


def test_what_is_no_number_is_written_nowhere_else():
    at, order = np.full(9, np.nan), np.full(12, -7)
    sort_points(at, 9, np.empty(10, dtype=np.int64), order)
    assert sorted(order[:9]) == list(range(9))
    assert (order[9:] == -7).all()
