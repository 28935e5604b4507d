"""The Beta prior in its three guises."""

import dataclasses

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bblr.losses import Plateaus

quick = settings(max_examples=200)
counts = st.floats(0, 1e4)
near = {"rel": 1e-9, "abs": 1e-12}


@st.composite
def priors(draw):
    a = draw(st.floats(0, 0.99))
    b = draw(st.floats(1e-3, 1 - a))
    return Plateaus.binary(a, b, draw(st.floats(1, 1e4)))


def same(p, q):
    return (p.a, p.b, p.n) == pytest.approx((q.a, q.b, q.n), **near)


@quick
@given(priors())
def test_plateaus_to_counts_and_back(p):
    assert same(Plateaus.from_counts([p.beta, p.alpha], p.n), p)


@quick
@given(priors())
def test_plateaus_to_weight_and_back(p):
    assert same(Plateaus.from_weight(p.w, p.theta, p.n), p)


@quick
@given(alpha=counts, beta=counts, n=st.floats(1, 1e4))
def test_counts_to_the_others(alpha, beta, n):
    p = Plateaus.from_counts([beta, alpha], n)
    total = alpha + beta + n
    assert p.alpha == pytest.approx(alpha, rel=1e-8, abs=1e-8)
    assert p.beta == pytest.approx(beta, rel=1e-8, abs=1e-8)
    assert p.w == pytest.approx((alpha + beta) / total, **near)
    assert p.a == pytest.approx(alpha / total, **near)
    assert p.b == pytest.approx(n / total, **near)
    if alpha + beta > 1e-2:
        assert p.theta == pytest.approx(alpha / (alpha + beta), rel=1e-6, abs=1e-6)


@quick
@given(k=st.integers(0, 999))
def test_prior_without_negatives_has_mean_one_at_most(k):
    p = Plateaus.binary(k / 1000, (1000 - k) / 1000)
    assert 0 <= p.theta <= 1
    assert same(Plateaus.from_weight(p.w, p.theta), p)


@quick
@given(w=st.floats(0.01, 0.99), theta=st.floats(0, 1))
def test_weight_to_the_others(w, theta):
    p = Plateaus.from_weight(w, theta)
    assert p.theta == pytest.approx(theta, rel=1e-9, abs=1e-9)
    assert (p.a, p.b) == pytest.approx((w * theta, 1 - w), **near)


def test_weak_follows_the_formulas_and_not_the_caption():
    """The paper's caption says a = 0.1; alpha = beta = 1 and n = 100 give 0.0098."""
    p = Plateaus.weak()
    assert (p.a, p.b) == pytest.approx((1 / 102, 100 / 102), rel=1e-12)
    assert round(p.a, 4) == 0.0098
    assert (p.alpha, p.beta, p.n) == pytest.approx((1, 1, 100), rel=1e-9)
    assert p.theta == pytest.approx(0.5)


@quick
@given(st.lists(st.booleans(), min_size=2, max_size=60))
def test_empirical_is_half_weight_and_half_the_share(labels):
    assume(0 < sum(labels) < len(labels))
    share = np.mean(labels)
    for y in (labels, np.where(labels, "spam", "ham"), np.where(labels, 1, -1)):
        p = Plateaus.empirical(y)
        assert (p.w, p.b, p.a) == pytest.approx((0.5, 0.5, share / 2), rel=1e-12)
        assert p.n == pytest.approx(len(labels))
        assert (p.alpha, p.beta) == pytest.approx((sum(labels), len(labels) - sum(labels)))
        assert p.every_class_can_win


@quick
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 4)), min_size=2, max_size=30))
def test_empirical_weight_is_a_number_of_copies(rows):
    y, w = (np.array(column) for column in zip(*rows, strict=True))
    repeated = np.repeat(y, w)
    assume(0 < repeated.sum() < len(repeated))
    assert same(Plateaus.empirical(y, w), Plateaus.empirical(repeated))


def test_empirical_needs_two_classes():
    for y in ([1, 1, 1], [0, 1, 2], []):
        with pytest.raises(ValueError, match=r"\by\b"):
            Plateaus.empirical(y)


@quick
@given(tpr=st.floats(0, 1), tnr=st.floats(0, 1))
def test_rates_become_plateaus(tpr, tnr):
    assume(tpr + tnr > 1 + 1e-9)
    p = Plateaus.from_rates([tnr, tpr])
    assert p.a == pytest.approx(1 - tnr, abs=1e-14)
    assert p.a + p.b == pytest.approx(tpr, abs=1e-14)


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: Plateaus.binary(-0.1, 0.5), "a="),
        (lambda: Plateaus.binary(0.1, 0), "b="),
        (lambda: Plateaus.binary(0.1, -1), "b="),
        (lambda: Plateaus.binary(0.5, 0.6), r"a \+ b"),
        (lambda: Plateaus.binary("x", 0.6), "a must be a number"),
        (lambda: Plateaus.binary(0.1, None), "b must be a number"),
        (lambda: Plateaus.binary(0.1, float("nan")), "b must be finite"),
        (lambda: Plateaus.binary(0.1, 0.5, n=0), "n="),
        (lambda: Plateaus.from_counts(-1, 1, 10), "alpha"),
        (lambda: Plateaus.from_counts(1, -1, 10), "beta"),
        (lambda: Plateaus.from_counts([1, 1], 0), "n="),
        (lambda: Plateaus.from_counts(1, 1, float("inf")), "n must be finite"),
        (lambda: Plateaus.from_weight(1.0, 0.5), "w,"),
        (lambda: Plateaus.from_weight(-0.1, 0.5), "w,"),
        (lambda: Plateaus.from_weight(0.5, 1.1), "theta,"),
        (lambda: Plateaus.from_rates([0.9, 1.1]), "tpr"),
        (lambda: Plateaus.from_rates(0.9, -0.1), "tnr"),
        (lambda: Plateaus.from_rates([0.5, 0.5]), r"tpr \+ tnr"),
        (lambda: Plateaus.empirical([0, 1], [1, 0]), "sample_weight|y must"),
        (lambda: Plateaus.empirical([0, 1], [2, -1]), "sample_weight"),
    ],
)
def test_errors_name_the_parameter(make, named):
    with pytest.raises(ValueError, match=named):
        make()


def test_values_are_frozen_and_hashable():
    assert hash(Plateaus.binary(0.1, 0.8)) == hash(Plateaus.binary(0.1, 0.8, 100))
    with pytest.raises(dataclasses.FrozenInstanceError):
        Plateaus.binary(0.1, 0.8).a = 0.2


def test_a_prior_without_weight_is_even():
    p = Plateaus.binary(0, 1)
    assert (p.w, p.theta, p.alpha, p.beta) == (0, 0.5, 0, 0)


@pytest.mark.parametrize(
    ("a", "b", "expected"), [(0.1, 0.8, True), (0.5, 0.4, False), (0.1, 0.4, False), (0, 1, True)]
)
def test_every_class_can_win(a, b, expected):
    assert Plateaus.binary(a, b).every_class_can_win is expected
