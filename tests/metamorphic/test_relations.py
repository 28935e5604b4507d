"""A sample of pairs that must agree; thousands are for ``python -m tests.metamorphic``."""

import warnings

import pytest

from tests.metamorphic.pairs import Pairs
from tests.metamorphic.problems import LINEAR, SHARES
from tests.metamorphic.relations import RELATIONS


@pytest.mark.parametrize("seed", range(12))
def test_the_same_problem_put_differently_has_the_same_scores(seed):
    pairs = Pairs()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        list(pairs.add(seed, (*LINEAR, "KernelBBLRClassifier"), 8))
    assert not pairs.beyond


# What a long run has found beyond its tolerance, until it was mended.
FOUND = [
    (771_000_025, "csr"),
    (771_000_031, "csc"),
    (772_000_079, "csr"),
    (772_000_098, "columns"),
]


@pytest.mark.parametrize(("seed", "relation"), FOUND)
def test_what_a_long_run_has_found_stays_mended(seed, relation):
    pairs = Pairs([relation])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        list(pairs.add(seed, (), 1))
    assert pairs.tried == 1 and not pairs.beyond


def test_every_relation_is_tried():
    pairs = Pairs()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in (100, 101, 102, 103, 104):
            list(pairs.add(seed, ("GeneralizedLinearClassifier",), len(RELATIONS)))
    assert not pairs.beyond
    assert {name for name in RELATIONS if not pairs.gaps[name]} <= {"one unit"}
    assert "pairs" in pairs.report()


def test_every_estimator_is_drawn():
    import bblr

    known = {name for name in bblr.__all__ if hasattr(getattr(bblr, name), "fit")}
    assert known == set(SHARES)
