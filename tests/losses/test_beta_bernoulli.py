"""The Beta-Bernoulli loss beyond what every loss must do: limits, plateaus, decisions."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bblr.losses import BetaBernoulli, Logistic, Plateaus, ZeroOne
from bblr.losses.fused_softmax import FusedSoftmax

RAW = np.concatenate([np.linspace(-30, 30, 121), [1e9, -1e9, 745.0, -745.0]])
Y = np.tile([1.0, -1.0], len(RAW))[: len(RAW)]
MANY = [
    Plateaus.symmetric(0.3, 4),
    Plateaus.weak(3),
    Plateaus((0.3, 0.1, 0.0)),
    Plateaus.none(3),
    Plateaus((0.2, 0.3)),
    Plateaus((0.05, 0.0, 0.1, 0.2, 0.0)),
]
quick = settings(max_examples=80)
shares = st.integers(0, 1000).map(lambda k: k / 1000)


def scores(n_classes, n=30, scale=3.0):
    rng = np.random.default_rng(0)
    return rng.integers(0, n_classes, n), scale * rng.standard_normal((n, n_classes))


@pytest.mark.parametrize("labels", [Y, -Y])
def test_without_plateaus_it_is_the_logistic_loss(labels):
    bare, logistic = BetaBernoulli(Plateaus.none()), Logistic()
    for found, expected in zip(
        bare.value_gradient(labels, RAW), logistic.value_gradient(labels, RAW), strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-15)
    np.testing.assert_allclose(bare.probability(RAW), logistic.probability(RAW), rtol=1e-15)
    np.testing.assert_allclose(bare.curvature(RAW), logistic.curvature(RAW), rtol=1e-15)
    assert bare.fused == logistic.fused


def test_without_plateaus_keeps_gamma_and_the_number_of_classes():
    for low in [(0.1, 0.2), (0.1, 0.0, 0.3)]:
        bare = BetaBernoulli(Plateaus(low), 3.0).without_plateaus()
        assert bare == BetaBernoulli(Plateaus.none(len(low)), 3.0)
        assert bare.without_plateaus() == bare


def test_gamma_only_scales_the_score():
    sharp, plain = BetaBernoulli.binary(0.1, 0.7, 8.0), BetaBernoulli.binary(0.1, 0.7)
    np.testing.assert_allclose(sharp.value(Y, RAW), plain.value(Y, 8.0 * RAW), rtol=1e-14)
    np.testing.assert_allclose(sharp.probability(RAW), plain.probability(8.0 * RAW), rtol=1e-14)


@pytest.mark.parametrize("loss", [BetaBernoulli.binary(0.1, 0.8), BetaBernoulli.binary(0.05, 0.6)])
@pytest.mark.parametrize("t", [-1, 1])
def test_scaled_and_shifted_it_tends_to_the_zero_one_loss(loss, t):
    s, c = loss.zero_one_scale(t)
    raw = np.array([-9.0, -0.1, -1e-6, 1e-6, 0.1, 9.0])
    scaled = s * (loss.sharpened(1e9).value(t, raw) - c)
    np.testing.assert_allclose(scaled, ZeroOne().value(t, raw), atol=1e-14)
    np.testing.assert_allclose(s * (loss.limit(t, raw) - c), ZeroOne().value(t, raw), atol=1e-14)


def test_symmetric_plateaus_share_one_scale():
    for a, b in [(0.1, 0.8), (0.25, 0.5), (0.05, 0.9), (0.01, 0.98), (0.3, 0.4)]:
        loss = BetaBernoulli.binary(a, b)
        assert loss.zero_one_scale(1) == loss.zero_one_scale(-1)
        assert loss.threshold == 0.0
    uneven = BetaBernoulli.binary(0.1, 0.7)
    assert uneven.zero_one_scale(1) != uneven.zero_one_scale(-1)


def test_scale_needs_a_plateau_and_a_label():
    with pytest.raises(ValueError, match="plateau"):
        BetaBernoulli.binary(0.0, 1.0).zero_one_scale()
    with pytest.raises(ValueError, match="t must be"):
        BetaBernoulli.binary(0.1, 0.8).zero_one_scale(0)


@quick
@given(k=st.integers(0, 999))
def test_plateaus_that_add_up_to_one_leave_no_room_below(k):
    """a + b = 1 must mean a least probability of 0, not 5e-17, whatever the rounding."""
    loss = BetaBernoulli.binary(k / 1000, (1000 - k) / 1000)
    assert loss.low[0] == 0.0
    expected = 1e9 - math.log(loss.b)
    assert float(loss.value(-1, 1e9)) == pytest.approx(expected, rel=1e-15)
    assert loss.limit(-1, 1.0) == np.inf


@quick
@given(a=shares, b=shares, gamma=st.sampled_from([0.5, 1.0, 16.0]))
def test_the_decision_separates_two_classes(a, b, gamma):
    if b == 0 or a + b > 1:
        return
    loss = BetaBernoulli.binary(a, b, gamma)
    raw = np.linspace(-3, 3, 61)
    raw = raw[np.abs(raw - loss.threshold) > 1e-9]
    above = raw > loss.threshold
    np.testing.assert_array_equal(loss.decision(raw) > 0, above)
    np.testing.assert_array_equal(loss.predicted(raw), above.astype(int))
    np.testing.assert_array_equal(loss.wrong(np.ones(len(raw)), raw), ~above)
    positive = loss.probability(raw)
    if loss.plateaus.every_class_can_win:
        # Equal to 1/2 only where the sigmoid has run onto a plateau that is itself near 1/2.
        assert np.all(positive[above] >= 0.5 - 1e-15)
        assert np.all(positive[~above] <= 0.5 + 1e-15)
    else:
        assert not np.isfinite(loss.threshold)
        assert np.all(above == above[0])
        assert np.all(positive >= 0.5 - 1e-9 if above[0] else positive <= 0.5 + 1e-9)


@pytest.mark.parametrize(
    ("a", "b", "named"),
    [(-0.1, 0.5, "a,"), (0.1, 0.0, "b,"), (0.6, 0.5, "a \\+ b"), (math.nan, 0.5, "a ")],
)
def test_plateaus_are_checked(a, b, named):
    with pytest.raises(ValueError, match=named):
        BetaBernoulli.binary(a, b)


def test_plateaus_are_stored_as_checked():
    """What passes the check must be what is computed with: -1e-17 is a zero."""
    loss = BetaBernoulli.binary(-1e-17, 1.0)
    assert loss.low == (0.0, 0.0)
    assert float(loss.value(1, -1e9)) == 1e9


def test_far_scores_have_the_probability_of_their_plateau():
    plateaus = Plateaus.from_rates([0.8, 0.9])
    loss = BetaBernoulli(plateaus, gamma=4.0)
    assert (loss.low, loss.b, loss.gamma) == (plateaus.low, plateaus.b, 4.0)
    np.testing.assert_allclose(loss.probability([-1e9, 1e9]), [1 - 0.8, 0.9], rtol=1e-15)


@pytest.mark.parametrize("plateaus", MANY, ids=str)
def test_far_scores_of_several_classes_stay_finite(plateaus):
    raw = np.array([[1e9, -1e9] + [0.0] * (plateaus.n_classes - 2)] * 2)
    value, slope = BetaBernoulli(plateaus).value_gradient(np.array([0, 1]), raw)
    assert np.isfinite(value).all() and np.isfinite(slope).all()
    assert value[0] == pytest.approx(-math.log(plateaus.low[0] + plateaus.b), abs=1e-14)
    low = plateaus.low[1]
    assert value[1] == pytest.approx(-math.log(low) if low else 2e9 - math.log(plateaus.b))


@pytest.mark.parametrize("plateaus", MANY, ids=str)
def test_probabilities_sum_to_one_and_keep_off_the_plateaus(plateaus):
    y, raw = scores(plateaus.n_classes, scale=100.0)
    loss = BetaBernoulli(plateaus)
    probability = loss.probability(raw)
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)
    assert (probability >= np.array(plateaus.low) - 1e-15).all()
    own = probability[np.arange(len(y)), y]
    seen = own > 1e-300
    np.testing.assert_allclose(loss.value(y, raw)[seen], -np.log(own[seen]), atol=1e-12)


@pytest.mark.parametrize("plateaus", MANY, ids=str)
def test_a_constant_added_to_all_scores_changes_nothing(plateaus):
    y, raw = scores(plateaus.n_classes)
    loss = BetaBernoulli(plateaus, 2.0)
    for there, here in zip(
        loss.value_gradient(y, raw + 7.0), loss.value_gradient(y, raw), strict=True
    ):
        np.testing.assert_allclose(there, here, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(loss.value_gradient(y, raw)[1].sum(axis=1), 0.0, atol=1e-12)


@pytest.mark.parametrize("plateaus", MANY, ids=str)
def test_large_gamma_reaches_the_limit(plateaus):
    y, raw = scores(plateaus.n_classes)
    limit, value = (
        BetaBernoulli(plateaus).limit(y, raw),
        BetaBernoulli(plateaus, 1e4).value(y, raw),
    )
    finite = np.isfinite(limit)
    np.testing.assert_allclose(value[finite], limit[finite], atol=1e-12)
    assert np.all(value[~finite] > 100.0)


def test_symmetric_plateaus_count_errors_in_the_limit():
    y, raw = scores(4)
    loss = BetaBernoulli(Plateaus.symmetric(0.4, 4), 1e4)
    right, wrong = -np.log(0.1 + 0.6), -np.log(0.1)
    np.testing.assert_allclose((loss.limit(y, raw) - right) / (wrong - right), loss.wrong(y, raw))


def test_scores_that_tie_share_the_limit():
    loss = BetaBernoulli(Plateaus((0.1, 0.1, 0.2)))
    found = loss.limit([0, 2], np.array([[1.0, 1.0, 0.0], [2.0, 2.0, 2.0]]))
    np.testing.assert_allclose(found, -np.log([0.1 + 0.3, 0.2 + 0.2]))


def test_a_tie_is_an_error():
    loss = BetaBernoulli(Plateaus((0.1, 0.1, 0.1)))
    assert loss.wrong([0, 1, 2], np.array([[1.0, 1.0, 0.0]] * 3)).all()


def test_errors_follow_the_probabilities_not_the_scores():
    loss = BetaBernoulli(Plateaus((0.3, 0.0, 0.0)))
    raw = np.array([[0.0, 0.1, -5.0]])
    assert loss.wrong([1], raw).all() and not loss.wrong([0], raw).any()


@pytest.mark.parametrize("plateaus", [p for p in MANY if p.every_class_can_win], ids=str)
def test_the_decision_is_the_likeliest_class_where_two_compete(plateaus):
    """The decision is linear: exact between the class of the highest plateau and another one."""
    highest = int(np.argmax(plateaus.low))
    loss = BetaBernoulli(plateaus, 2.0)
    for k in set(range(plateaus.n_classes)) - {highest}:
        raw = np.full((201, plateaus.n_classes), -1e3)
        raw[:, highest], raw[:, k] = 0.0, np.linspace(-3, 3, 201) + 1e-4
        likeliest = loss.probability(raw).argmax(axis=1)
        np.testing.assert_array_equal(loss.predicted(raw), likeliest)
        np.testing.assert_array_equal(loss.wrong(np.full(201, k), raw), likeliest != k)


def test_a_class_that_cannot_win_is_never_predicted():
    loss = BetaBernoulli(Plateaus((0.6, 0.0, 0.1)))
    raw = np.array([[-9.0, 9.0, 0.0], [-9.0, 0.0, 9.0]])
    assert loss.probability(raw).argmax(axis=1).tolist() == [0, 0]
    assert loss.predicted(raw).tolist() == [0, 0]
    assert loss.wrong([1, 0], raw).tolist() == [True, False]


@pytest.mark.parametrize("low", [(0.2, 0.2), (0.25, 0.05), (0.0, 0.0), (0.0, 0.1), (0.6, 0.1)])
def test_two_columns_of_two_classes_are_one_score(low):
    """P(positive) of f is the softmax of (-f/2, f/2); a derivative by f is one by the second."""
    loss = BetaBernoulli(Plateaus(low), 1.5)
    f = np.concatenate([np.linspace(-40, 40, 101), [-1e9, 1e9]])
    raw, weight = np.column_stack([-f / 2, f / 2]), np.linspace(0, 2, len(f))
    np.testing.assert_allclose(loss.probability(raw)[:, 1], loss.probability(f), atol=1e-15)
    near = np.abs(f - loss.threshold) > 1e-9
    np.testing.assert_array_equal(loss.predicted(raw)[near], loss.predicted(f)[near])
    for code in (0, 1):
        codes, sign = np.full(len(f), code), np.full(len(f), 2.0 * code - 1.0)
        value, slope = loss.value_gradient(codes, raw)
        expected, derivative = loss.value_gradient(sign, f)
        np.testing.assert_allclose(value, expected, rtol=1e-13, atol=1e-15)
        np.testing.assert_allclose(slope, np.outer(derivative, [-1, 1]), rtol=1e-12, atol=1e-15)
        wrong = loss.wrong(sign, f)
        np.testing.assert_array_equal(loss.wrong(codes, raw)[near], wrong[near])
        np.testing.assert_allclose(loss.limit(codes, raw), loss.limit(sign, f), rtol=1e-13)
        steps = np.linspace(-2, 2, 9)
        found = loss.along(codes[:-2], raw[:-2], f[:-2], 1, steps, weight[:-2])
        single = loss.along(sign[:-2], f[:-2], f[:-2], 0, steps, weight[:-2])
        np.testing.assert_allclose(found, single, rtol=1e-10)
    np.testing.assert_allclose(loss.curvature(raw)[:, 1], loss.curvature(f), atol=1e-14)
    wide = FusedSoftmax(np.array(low), loss.b, loss.gamma)
    np.testing.assert_allclose(wide.fisher(raw, weight)[:, 1], loss.fisher(f, weight), atol=1e-14)
