"""The Beta-Bernoulli loss beyond what every loss must do."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bblr.losses import BetaBernoulli, Logistic, Plateaus, ZeroOne

RAW = np.concatenate([np.linspace(-30, 30, 121), [1e9, -1e9, 745.0, -745.0]])
Y = np.tile([1.0, -1.0], len(RAW))[: len(RAW)]
quick = settings(max_examples=80)
shares = st.integers(0, 1000).map(lambda k: k / 1000)


@pytest.mark.parametrize("labels", [Y, -Y])
def test_without_plateaus_it_is_the_logistic_loss(labels):
    bare, logistic = BetaBernoulli.binary(0.0, 1.0), Logistic()
    for found, expected in zip(
        bare.value_gradient(labels, RAW), logistic.value_gradient(labels, RAW), strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-15)
    np.testing.assert_allclose(bare.probability(RAW), logistic.probability(RAW), rtol=1e-15)
    np.testing.assert_allclose(bare.curvature(RAW), logistic.curvature(RAW), rtol=1e-15)
    assert bare.fused == logistic.fused


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
        assert BetaBernoulli.binary(a, b).zero_one_scale(1) == BetaBernoulli.binary(
            a, b
        ).zero_one_scale(-1)
        assert BetaBernoulli.binary(a, b).threshold == 0.0
    assert BetaBernoulli.binary(0.1, 0.7).zero_one_scale(1) != BetaBernoulli.binary(
        0.1, 0.7
    ).zero_one_scale(-1)


def test_scale_needs_a_plateau_and_a_label():
    with pytest.raises(ValueError, match="plateau"):
        BetaBernoulli.binary(0.0, 1.0).zero_one_scale()
    with pytest.raises(ValueError, match="t must be"):
        BetaBernoulli.binary(0.1, 0.8).zero_one_scale(0)


@quick
@given(k=st.integers(0, 999))
def test_plateaus_that_add_up_to_one_leave_no_room_below(k):
    """a + b = 1 must mean low_negative = 0, not 5e-17, whatever the rounding of 1 - b - a."""
    loss = BetaBernoulli.binary(k / 1000, (1000 - k) / 1000)
    assert loss.low_negative == 0.0
    expected = 1e9 - math.log(loss.b)
    assert float(loss.value(-1, 1e9)) == pytest.approx(expected, rel=1e-15)
    assert loss.limit(-1, 1.0) == np.inf


@quick
@given(a=shares, b=shares, gamma=st.sampled_from([0.5, 1.0, 16.0]))
def test_threshold_separates_the_classes(a, b, gamma):
    if b == 0 or a + b > 1:
        return
    loss = BetaBernoulli.binary(a, b, gamma)
    raw = np.linspace(-3, 3, 61)
    raw = raw[np.abs(raw - loss.threshold) > 1e-9]
    above = raw > loss.threshold
    positive = loss.probability(raw)
    if Plateaus.binary(a, b).every_class_can_win:
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
    assert loss.a == 0.0
    assert float(loss.value(1, -1e9)) == 1e9


def test_from_prior_keeps_the_plateaus():
    prior = Plateaus.from_rates([0.8, 0.9])
    loss = BetaBernoulli(prior, gamma=4.0)
    assert (loss.a, loss.b, loss.gamma) == (prior.a, prior.b, 4.0)
    far = loss.probability([-1e9, 1e9])
    np.testing.assert_allclose(far, [1 - 0.8, 0.9], rtol=1e-15)
