"""One-to-one decisions against every matching there is."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bblr.structured import Group, match_groups, matching
from bblr.structured.matching import has_cycles, match, match_probabilities


def matchings(left, right):
    """Every set of edges that uses no end twice."""
    for y in product((0, 1), repeat=len(left)):
        on = np.flatnonzero(y)
        if len(set(left[on])) == len(on) == len(set(right[on])):
            yield np.array(y)


def draw(rng, n_edges=9, n_left=4, n_right=4):
    left = rng.integers(n_left, size=n_edges)
    right = rng.integers(n_right, size=n_edges)
    return left, right, rng.normal(0.5, 2.0, size=n_edges)


@pytest.mark.parametrize("cells", [4_000_000, 0])
def test_labels_against_brute_force(rng, monkeypatch, cells):
    """With no cells allowed every component goes the way of the large ones."""
    monkeypatch.setattr(matching, "_MOST_CELLS", cells)
    for _ in range(150):
        left, right, odds = draw(rng)
        found = match(left, right, odds)
        best = max(float(odds @ y) for y in matchings(left, right))
        on = np.flatnonzero(found)
        assert len(set(left[on])) == len(on) == len(set(right[on]))
        assert float(odds @ found) == pytest.approx(best)


def test_probabilities_are_exact_without_cycles_and_near_with(rng):
    trees, gaps = 0, []
    for _ in range(200):
        left, right, odds = draw(rng, n_edges=7, n_left=4, n_right=4)
        every = np.array(list(matchings(left, right)))
        weights = np.exp(every @ odds)
        exact = weights @ every / weights.sum()
        found = match_probabilities(left, right, odds)
        if has_cycles(left, right):
            gaps.append(np.abs(found - exact))
        else:
            trees += 1
            assert_allclose(found, exact, atol=1e-8)
    assert trees > 20
    gap = np.concatenate(gaps)
    assert 0 < gap.mean() < 0.02 and gap.max() < 0.2


def test_cycles_are_seen():
    assert not has_cycles(np.array([0, 0, 1]), np.array([0, 1, 1]))
    assert has_cycles(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]))
    assert not has_cycles(np.array([0, 0]), np.array([5, 5]))
    assert not has_cycles(np.zeros(0, int), np.zeros(0, int))


def test_nothing_to_match():
    nothing = np.zeros(0, int)
    assert len(match(nothing, nothing, np.zeros(0))) == 0
    assert len(match_probabilities(nothing, nothing, np.zeros(0))) == 0
    assert match(np.array([0, 1]), np.array([0, 0]), np.array([-1.0, 0.0])).tolist() == [0, 0]


def test_containers_of_one_group_are_used_once_each():
    groups = [Group(np.zeros((3, 1)), [0, 0, 1], candidates=[7, 8, 7]), Group([])]
    labels = match_groups(groups, [[3.0, 2.0, 2.5], []])
    assert labels[0].tolist() == [0, 1, 1] and labels[1].tolist() == []


def test_misuse_is_named():
    with pytest.raises(ValueError, match="candidates are missing in group 1"):
        match_groups([Group([]), Group([[1.0]])], [[], [1.0]])
    with pytest.raises(ValueError, match="odds must hold one number"):
        match_groups([Group([[1.0]], candidates=[0])], [[1.0, 2.0]])


def test_different_candidates_are_not_taken_for_one():
    for names in ([2**53, 2**53 + 1, 0.5], [1, "1", "one"]):
        groups = [Group([[0]], candidates=[name]) for name in names]
        found = match_groups(groups, [[2.0], [3.0], [1.0]])
        assert [labels.tolist() for labels in found] == [[1], [1], [1]]


@pytest.mark.parametrize("odds", [np.nan, np.inf])
def test_odds_must_be_finite(odds):
    with pytest.raises(ValueError, match="odds must be finite"):
        match_groups([Group([[0]], candidates=[1])], [[odds]])
