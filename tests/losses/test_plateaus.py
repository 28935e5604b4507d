"""The plateaus in their three readings, for any number of classes."""

import dataclasses
import pickle

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bblr.losses import Plateaus

quick = settings(max_examples=200)
sizes = st.integers(2, 5)
near = {"rel": 1e-9, "abs": 1e-12}


@st.composite
def plateaus(draw, n_classes=None):
    n_classes = draw(sizes) if n_classes is None else n_classes
    parts = draw(st.lists(st.floats(0, 1), min_size=n_classes, max_size=n_classes))
    w = draw(st.floats(0, 0.999))
    low = [w * part / max(sum(parts), 1e-3) for part in parts]
    return Plateaus(low, draw(st.floats(1, 1e4)))


def same(p, q):
    return (*p.low, p.b, p.n) == pytest.approx((*q.low, q.b, q.n), **near)


@quick
@given(plateaus())
def test_to_counts_and_back(p):
    assert same(Plateaus.from_counts(p.alpha, p.n), p)


@quick
@given(plateaus())
def test_to_weight_and_back(p):
    assert same(Plateaus.from_weight(p.w, p.theta, p.n), p)
    assert sum(p.theta) == pytest.approx(1.0)


@quick
@given(plateaus(n_classes=2))
def test_a_and_b_and_back(p):
    assert same(Plateaus.binary(p.a, p.b, p.n), p)
    assert p.a == p.low[1]
    assert p.low[0] == pytest.approx(1 - p.b - p.a, **near)


@quick
@given(data=st.data(), n_classes=sizes, n=st.floats(1, 1e4))
def test_counts_to_the_others(data, n_classes, n):
    counts = st.floats(0, 1e4)
    alpha = data.draw(st.lists(counts, min_size=n_classes, max_size=n_classes))
    p = Plateaus.from_counts(alpha, n)
    total = sum(alpha) + n
    assert p.n_classes == n_classes
    assert p.alpha == pytest.approx(tuple(alpha), rel=1e-8, abs=1e-8)
    assert p.w == pytest.approx(sum(alpha) / total, **near)
    assert p.low == pytest.approx([count / total for count in alpha], **near)
    assert p.b == pytest.approx(n / total, **near)
    if sum(alpha) > 1e-2:
        assert p.theta == pytest.approx([c / sum(alpha) for c in alpha], rel=1e-6, abs=1e-6)


@quick
@given(w=st.floats(0.01, 0.99), share=st.floats(0, 1))
def test_weight_and_share_of_the_positive_class_to_the_others(w, share):
    p = Plateaus.from_weight(w, share)
    assert p.theta == pytest.approx((1 - share, share), rel=1e-9, abs=1e-9)
    assert (p.a, p.b) == pytest.approx((w * share, 1 - w), **near)
    assert same(p, Plateaus.from_weight(w, [1 - share, share]))
    assert same(p, Plateaus.from_weight(w, np.float64(share)))


@quick
@given(k=st.integers(0, 999))
def test_without_a_plateau_of_the_negatives_the_centre_is_one_at_most(k):
    p = Plateaus.binary(k / 1000, (1000 - k) / 1000)
    assert p.low[0] == 0.0
    assert all(0 <= share <= 1 for share in p.theta)
    assert same(Plateaus.from_weight(p.w, p.theta), p)


@quick
@given(w=st.floats(0, 0.99), n_classes=sizes)
def test_symmetric_plateaus_treat_all_classes_alike(w, n_classes):
    p = Plateaus.symmetric(w, n_classes)
    assert p.is_symmetric and p.every_class_can_win
    assert len(set(p.low)) == 1 and p.n_classes == n_classes
    assert p.w == pytest.approx(w, **near)


@quick
@given(k=st.integers(1, 499))
def test_symmetric_a_and_b_come_out_symmetric_to_the_last_bit(k):
    p = Plateaus.binary(k / 1000, (1000 - 2 * k) / 1000)
    assert p.low[0] == p.low[1] and p.is_symmetric


def test_no_plateaus_are_even():
    for n_classes in (2, 3, 7):
        p = Plateaus.none(n_classes)
        assert (p.w, p.b, p.low) == (0, 1, (0.0,) * n_classes)
        assert p.theta == (1 / n_classes,) * n_classes
        assert p.alpha == (0.0,) * n_classes


@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_weak_follows_the_formulas_and_not_the_caption(n_classes):
    """The paper's caption says a = 0.1; one count a class next to n = 100 gives 0.0098."""
    p = Plateaus.weak(n_classes)
    assert p.low == pytest.approx((1 / (100 + n_classes),) * n_classes, rel=1e-12)
    assert (*p.alpha, p.n) == pytest.approx((1,) * n_classes + (100,), rel=1e-9)
    if n_classes == 2:
        assert round(p.a, 4) == 0.0098


@quick
@given(st.lists(st.integers(0, 3), min_size=2, max_size=60))
def test_empirical_is_half_weight_and_half_the_shares(labels):
    classes, counts = np.unique(labels, return_counts=True)
    assume(len(classes) > 1)
    named = np.array(["ham", "jam", "spam", "yam"])[labels]
    for y in (labels, named, np.array(labels) - 1.5):
        p = Plateaus.empirical(y)
        assert (p.w, p.b) == pytest.approx((0.5, 0.5), rel=1e-12)
        assert p.low == pytest.approx(counts / counts.sum() / 2, rel=1e-12)
        assert p.alpha == pytest.approx(counts)
        assert p.n == pytest.approx(len(labels))
        assert p.every_class_can_win


@quick
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 4)), min_size=2, max_size=30))
def test_empirical_weight_is_a_number_of_copies(rows):
    y, w = (np.array(column) for column in zip(*rows, strict=True))
    repeated = np.repeat(y, w)
    assume(len(set(repeated)) > 1 and set(repeated) == set(y))
    assert same(Plateaus.empirical(y, w), Plateaus.empirical(repeated))


@quick
@given(tnr=st.floats(1e-3, 1), share=st.floats(0, 0.999))
def test_rates_of_two_classes_become_plateaus(tnr, share):
    tpr = 1 - share * tnr
    p = Plateaus.from_rates([tnr, tpr])
    assert p.a == pytest.approx(1 - tnr, abs=1e-14)
    assert p.a + p.b == pytest.approx(tpr, abs=1e-14)


@quick
@given(rates=st.lists(st.floats(0, 1), min_size=2, max_size=6))
def test_rates_are_the_upper_ends_wherever_a_class_has_a_plateau(rates):
    assume(sum(rates) > 1 + 1e-6)
    p = Plateaus.from_rates(rates)
    for low, rate in zip(p.low, rates, strict=True):
        assert low + p.b == pytest.approx(rate, abs=1e-12) or (low == 0 and rate <= p.b + 1e-12)


@pytest.mark.parametrize("rates", [[0.1, 0.9, 0.9], [0.5, 0.95, 0.95, 0.95], [0.9, 0.9, 0.0]])
def test_a_class_hardly_recognised_leaves_the_others_their_rates(rates):
    p = Plateaus.from_rates(rates)
    worst = int(np.argmin(rates))
    assert p.low[worst] == 0.0
    for k, rate in enumerate(rates):
        if k != worst:
            assert p.low[k] + p.b == pytest.approx(rate)


@pytest.mark.parametrize(
    ("low", "expected"),
    [
        ((0.1, 0.1), True),
        ((0.1, 0.5), False),
        ((0.5, 0.1), False),
        ((0.0, 0.0), True),
        ((0.3, 0.1, 0.0), True),
        ((0.6, 0.0, 0.1), False),
    ],
)
def test_whether_every_class_can_win(low, expected):
    p = Plateaus(low)
    assert p.every_class_can_win is expected
    # The best that a class can do is low + b, against the plateau alone of another one.
    best = [low[k] + p.b > max(low[:k] + low[k + 1 :]) + 1e-12 for k in range(len(low))]
    assert all(best) is expected


@quick
@given(plateaus())
def test_they_are_frozen_hashable_and_picklable(p):
    copy = pickle.loads(pickle.dumps(p))
    assert copy == p and hash(copy) == hash(p) and hash(p.b) == hash(copy.b)
    with pytest.raises(dataclasses.FrozenInstanceError):
        p.low = (0.1, 0.1)
    assert dataclasses.replace(p, n=7.0).low == p.low


def test_rounding_errors_are_zeros():
    assert Plateaus((-1e-17, 0.2)).low == (0.0, 0.2)
    assert Plateaus.binary(-1e-17, 1.0).low == (0.0, 0.0)
    assert Plateaus.binary(0.1, 0.9).low == (0.0, 0.1)


def test_a_is_of_two_classes_only():
    assert not hasattr(Plateaus.weak(3), "a")
    with pytest.raises(AttributeError, match="3 classes"):
        _ = Plateaus.weak(3).a


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize("rho", [0.0, 0.3, 7.0, (0.1, 0.0, 2.0)])
def test_ratios_are_those_asked_for(rho):
    plateaus = Plateaus.from_ratio(rho, 3)
    np.testing.assert_allclose(plateaus.rho, np.broadcast_to(rho, 3), atol=1e-12)
    np.testing.assert_allclose(np.array(plateaus.low) / plateaus.b, plateaus.rho)
    again = Plateaus.from_ratio(plateaus.rho, 3)
    np.testing.assert_allclose(again.low, plateaus.low, atol=1e-14)


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: Plateaus((0.5,)), "two or more classes"),
        (lambda: Plateaus((0.5, 0.5)), "sum to less than 1"),
        (lambda: Plateaus((-0.1, 0.5)), "at least 0"),
        (lambda: Plateaus("ab"), "sequence of numbers"),
        (lambda: Plateaus(0.5), "sequence of numbers"),
        (lambda: Plateaus((0.1, NAN)), "finite"),
        (lambda: Plateaus((0.1, 0.1), n=0), "n, the number"),
        (lambda: Plateaus((0.1, 0.2), n=None), "n must be a number"),
        (lambda: Plateaus.binary(-0.1, 0.5), "a="),
        (lambda: Plateaus.binary(0.1, 0), "b="),
        (lambda: Plateaus.binary(0.1, -1), "b="),
        (lambda: Plateaus.binary(0.5, 0.6), r"a \+ b"),
        (lambda: Plateaus.binary("x", 0.6), "a must be a number"),
        (lambda: Plateaus.binary(0.1, None), "b must be a number"),
        (lambda: Plateaus.binary(0.1, NAN), "b must be finite"),
        (lambda: Plateaus.binary(0.1, 0.5, n=0), "n="),
        (lambda: Plateaus.none(1), "n_classes"),
        (lambda: Plateaus.symmetric("a", 3), "w must be a number"),
        (lambda: Plateaus.symmetric(0.3, 2.5), "n_classes"),
        (lambda: Plateaus.symmetric(0.3, 0), "n_classes"),
        (lambda: Plateaus.symmetric(0.3, True), "n_classes"),
        (lambda: Plateaus.weak(1), "n_classes"),
        (lambda: Plateaus.from_counts([1, -1], 10), "alpha"),
        (lambda: Plateaus.from_counts(1, 10), "alpha"),
        (lambda: Plateaus.from_counts([1, 1], 0), "n="),
        (lambda: Plateaus.from_counts([1, 1], INF), "n must be finite"),
        (lambda: Plateaus.from_counts((1, 1), None), "n must be a number"),
        (lambda: Plateaus.from_weight(1.0, 0.5), "w,"),
        (lambda: Plateaus.from_weight(-0.1, [0.5, 0.5]), "w,"),
        (lambda: Plateaus.from_weight(0.5, 1.1), "theta,"),
        (lambda: Plateaus.from_weight(0.5, "half"), "theta"),
        (lambda: Plateaus.from_weight(0.5, [0.5, 0.4]), "theta"),
        (lambda: Plateaus.from_rates([0.9, 1.1]), "rates must be in"),
        (lambda: Plateaus.from_rates([0.9, -0.1]), "rates must be in"),
        (lambda: Plateaus.from_rates([0.5, 0.5]), "rates must sum"),
        (lambda: Plateaus.from_rates([0.3, 0.3, 0.3]), "rates must sum"),
        (lambda: Plateaus.from_rates(0.9), "rates must be a sequence"),
        (lambda: Plateaus.from_ratio(-0.1), "rho must be"),
        (lambda: Plateaus.from_ratio([1, -1]), "rho must be"),
        (lambda: Plateaus.from_ratio([1, 1], 3), "rho must be a number of at least 0, or 3"),
        (lambda: Plateaus.from_ratio("strong"), "rho must be"),
        (lambda: Plateaus.from_ratio(INF), "rho must be finite"),
        (lambda: Plateaus.from_ratio(1.0, 1), "n_classes"),
        (lambda: Plateaus.empirical([1, 1]), "two or more classes"),
        (lambda: Plateaus.empirical([]), r"\by\b"),
        (lambda: Plateaus.empirical([0, 1], [1, 0]), "sample_weight"),
        (lambda: Plateaus.empirical([0, 1], [2, -1]), "sample_weight"),
    ],
)
def test_errors_name_the_parameter(make, named):
    with pytest.raises(ValueError, match=named):
        make()
