"""Inference against brute force, and its limits."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bblr.structured.groups import Group, join
from bblr.structured.inference import decode, infer
from bblr.structured.parts import make_plan
from tests.structured.networks import Problem, brute_force, random_problem, score_labels

CONSTRAINTS = ("soft", "hard", None)
MANY = 2**14


def scores_of(labels, problem, constraint, active):
    """The score of given labels, group by group."""
    network = problem.network
    found = []
    for start, stop in zip(network.offsets[:-1], network.offsets[1:], strict=True):
        inside = [
            (k, a - start, b - start)
            for k, (a, b) in enumerate(network.pairs)
            if start <= a < stop and active[k]
        ]
        own = network.containers[start:stop]
        found.append(score_labels(labels[start:stop], problem, own, start, inside, constraint)[0])
    return np.array(found)


@pytest.mark.parametrize("constraint", CONSTRAINTS)
@pytest.mark.parametrize("density", [0.0, 0.2, 0.8])
def test_hundreds_of_random_networks_against_brute_force(rng, constraint, density):
    problem = random_problem(rng, n_groups=150, density=density)
    active = rng.random(len(problem.couplings)) < 0.9
    plan = make_plan(problem.network, constraint, active, MANY)
    assert not plan.large and bool(plan.batches) == (density > 0)
    truth = brute_force(problem, constraint, active)
    found = infer(plan, problem.odds, problem.couplings, problem.penalty)
    for name in ("member", "excess", "log_partition"):
        assert_allclose(getattr(found, name), truth[name], atol=1e-10, err_msg=name)
    assert_allclose(found.both, truth["both"], atol=1e-10)
    labels = decode(plan, problem.odds, problem.couplings, problem.penalty)
    assert_allclose(scores_of(labels, problem, constraint, active), truth["best"], atol=1e-10)


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_closed_form_equals_listing(rng, constraint):
    """Pairs of no weight force a listing of what otherwise has a closed form."""
    problem = random_problem(rng, n_groups=60, density=0.7)
    problem = Problem(problem.groups, problem.odds, 0.0 * problem.couplings, problem.penalty)
    every = np.ones(len(problem.couplings), dtype=bool)
    listed = make_plan(problem.network, constraint, every, MANY)
    closed = make_plan(problem.network, constraint, ~every, MANY)
    assert listed.batches and not closed.batches
    one, other = (
        infer(p, problem.odds, problem.couplings, problem.penalty) for p in (listed, closed)
    )
    for name in ("member", "excess", "log_partition"):
        assert_allclose(getattr(one, name), getattr(other, name), atol=1e-10)


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_large_parts_against_listing(rng, constraint):
    """The same networks, taken for too large to list."""
    problem = random_problem(rng, most=9, n_groups=25, density=0.6, scale=1.5)
    every = np.ones(len(problem.couplings), dtype=bool)
    plans = [make_plan(problem.network, constraint, every, size) for size in (MANY, 1)]
    assert len(plans[1].large) > 10 and not plans[1].batches
    exact, sampled = (infer(p, problem.odds, problem.couplings, problem.penalty) for p in plans)
    assert np.abs(exact.member - sampled.member).max() < 0.03
    assert np.abs(exact.both - sampled.both).max() < 0.05
    own = sorted({problem.network.group[part.members[0]] for part in plans[1].large})
    assert np.isnan(sampled.log_partition[own]).all()
    assert np.abs(exact.excess - sampled.excess).max() < 0.08
    labels = [decode(p, problem.odds, problem.couplings, problem.penalty) for p in plans]
    assert_allclose(*(scores_of(one, problem, constraint, every) for one in labels), atol=1e-6)


def test_a_large_soft_penalty_is_the_hard_constraint(rng):
    problem = random_problem(rng, n_groups=80, density=0.3)
    every = np.ones(len(problem.couplings), dtype=bool)
    for penalty in (200.0, 5000.0):
        soft = make_plan(problem.network, "soft", every, MANY)
        hard = make_plan(problem.network, "hard", every, MANY)
        one = infer(soft, problem.odds, problem.couplings, penalty)
        other = infer(hard, problem.odds, problem.couplings, np.inf)
        assert_allclose(one.member, other.member, atol=1e-10)
        assert_allclose(one.log_partition, other.log_partition, atol=1e-10)
        assert_array_equal(
            decode(soft, problem.odds, problem.couplings, penalty),
            decode(hard, problem.odds, problem.couplings, np.inf),
        )


@pytest.mark.parametrize("constraint", CONSTRAINTS)
@pytest.mark.parametrize("size", [1e-9, 1e3, 1e6])
def test_extreme_odds_stay_finite(rng, constraint, size):
    problem = random_problem(rng, n_groups=40, density=0.3)
    every = np.ones(len(problem.couplings), dtype=bool)
    plan = make_plan(problem.network, constraint, every, MANY)
    found = infer(plan, size * problem.odds, size * problem.couplings, size)
    assert np.isfinite(found.log_partition).all()
    assert found.member.min() >= 0 and found.member.max() <= 1 + 1e-12
    if size > 1:
        labels = decode(plan, size * problem.odds, size * problem.couplings, size)
        assert_array_equal(labels, found.member > 0.5)


def test_empty_groups_and_single_members():
    groups = [Group([]), Group([[1.0]]), Group(np.zeros((0, 1))), Group([[2.0]])]
    network = join(groups)
    plan = make_plan(network, "hard", np.zeros(0, dtype=bool), MANY)
    found = infer(plan, np.array([1.0, -2.0]), np.zeros(0), np.inf)
    assert_allclose(found.member, 1 / (1 + np.exp([-1.0, 2.0])))
    assert_allclose(found.log_partition, [0, np.log1p(np.exp(1)), 0, np.log1p(np.exp(-2))])
    assert decode(plan, np.array([1.0, -2.0]), np.zeros(0), np.inf).tolist() == [1, 0]
    nothing = make_plan(join([]), "soft", np.zeros(0, dtype=bool), MANY)
    assert len(infer(nothing, np.zeros(0), np.zeros(0), 1.0).member) == 0


def test_ties_go_to_fewer_targets_and_then_to_the_first():
    network = join([Group(np.zeros((3, 1)), pairs=[[0, 2]], similarities=[1.0])])
    for active in (False, True):
        for constraint in CONSTRAINTS:
            plan = make_plan(network, constraint, np.array([active]), MANY)
            assert decode(plan, np.zeros(3), np.zeros(1), 0.0).tolist() == [0, 0, 0]
            if constraint == "hard":
                assert decode(plan, np.ones(3), np.zeros(1), 0.0).tolist() == [1, 0, 0]


def test_sampling_is_repeatable(rng):
    problem = random_problem(rng, most=8, n_groups=6, density=0.9)
    every = np.ones(len(problem.couplings), dtype=bool)
    plan = make_plan(problem.network, "soft", every, 1)
    runs = [infer(plan, problem.odds, problem.couplings, 1.0, seed=s).member for s in (3, 3, 4)]
    assert_array_equal(runs[0], runs[1])
    assert not np.array_equal(runs[0], runs[2])
