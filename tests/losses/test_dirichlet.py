"""The Dirichlet-discrete loss and its prior: derivatives, limits, and two classes."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from bblr import Plateaus
from bblr.losses import BetaBernoulli

PRIORS = [
    Plateaus.symmetric(0.3, 4),
    Plateaus.weak(3),
    Plateaus((0.3, 0.1, 0.0)),
    Plateaus((0.0, 0.0, 0.0)),
    Plateaus.from_beta(Plateaus.binary(0.3, 0.5)),
]


def _scores(classes, n=30, scale=3.0):
    rng = np.random.default_rng(0)
    return rng.integers(0, classes, n), scale * rng.standard_normal((n, classes))


@pytest.mark.parametrize("gamma", [0.5, 1.0, 8.0])
@pytest.mark.parametrize("prior", PRIORS, ids=str)
def test_gradient_is_that_of_the_value(prior, gamma):
    y, raw = _scores(prior.n_classes)
    loss = BetaBernoulli(prior, gamma)
    _, slope = loss.value_gradient(y, raw)
    for i in range(len(y)):
        numeric = approx_fprime(raw[i], lambda r, i=i: loss.value(y[i : i + 1], r[None])[0], 1e-7)
        np.testing.assert_allclose(slope[i], numeric, atol=2e-5)
    np.testing.assert_allclose(slope.sum(axis=1), 0.0, atol=1e-12)


@pytest.mark.parametrize("prior", PRIORS, ids=str)
def test_curvature_is_the_expected_square_of_the_gradient(prior):
    _, raw = _scores(prior.n_classes)
    loss = BetaBernoulli(prior, 2.0)
    probability = loss.probability(raw)
    expected = sum(
        probability[:, [k]] * loss.value_gradient(np.full(len(raw), k), raw)[1] ** 2
        for k in range(prior.n_classes)
    )
    np.testing.assert_allclose(loss.curvature(raw), expected, rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize(
    "beta", [Plateaus.binary(0.2, 0.6), Plateaus.binary(0.05, 0.7), Plateaus.binary(0.0, 1.0)]
)
def test_two_classes_are_the_beta_bernoulli_model(beta):
    f = np.concatenate([np.linspace(-40, 40, 101), [-1e9, 1e9]])
    raw = np.column_stack([-f / 2, f / 2])
    two = BetaBernoulli(beta, 1.5)
    many = BetaBernoulli(Plateaus.from_beta(beta), 1.5)
    np.testing.assert_allclose(many.probability(raw)[:, 1], two.probability(f), atol=1e-15)
    for y in (0, 1):
        codes, sign = np.full(len(f), y), 2.0 * y - 1.0
        value, slope = many.value_gradient(codes, raw)
        expected, derivative = two.value_gradient(np.full(len(f), sign), f)
        np.testing.assert_allclose(value, expected, rtol=1e-13, atol=1e-15)
        np.testing.assert_allclose(slope[:, 1], derivative, rtol=1e-12, atol=1e-15)
        far = np.abs(f) > 2
        wrong = two.wrong(np.full(len(f), sign), f)
        np.testing.assert_array_equal(many.wrong(codes, raw)[far], wrong[far])
    np.testing.assert_allclose(many.curvature(raw)[:, 1], two.curvature(f), atol=1e-14)


@pytest.mark.parametrize("prior", PRIORS, ids=str)
def test_far_scores_stay_finite(prior):
    raw = np.array([[1e9, -1e9] + [0.0] * (prior.n_classes - 2)] * 2)
    y = np.array([0, 1])
    value, slope = BetaBernoulli(prior).value_gradient(y, raw)
    assert np.isfinite(value).all() and np.isfinite(slope).all()
    assert value[1] <= -np.log(max(prior.low[1], 1e-300)) or prior.low[1] == 0.0


def test_probabilities_sum_to_one_and_keep_off_the_plateaus():
    prior = Plateaus((0.2, 0.1, 0.05))
    _, raw = _scores(3, scale=100.0)
    probability = BetaBernoulli(prior).probability(raw)
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)
    assert (probability >= np.array(prior.low) - 1e-15).all()


def test_large_gamma_counts_errors():
    y, raw = _scores(4)
    loss = BetaBernoulli(Plateaus.symmetric(0.4, 4), 1e4)
    np.testing.assert_allclose(loss.value(y, raw), loss.limit(y, raw), atol=1e-12)
    right, wrong = -np.log(0.1 + 0.6), -np.log(0.1)
    np.testing.assert_allclose((loss.limit(y, raw) - right) / (wrong - right), loss.wrong(y, raw))


def test_a_tie_is_an_error():
    loss = BetaBernoulli(Plateaus((0.1, 0.1, 0.1)))
    assert loss.wrong([0, 1, 2], np.array([[1.0, 1.0, 0.0]] * 3)).all()


def test_errors_follow_the_probabilities_not_the_scores():
    loss = BetaBernoulli(Plateaus((0.3, 0.0, 0.0)))
    raw = np.array([[0.0, 0.1, -5.0]])
    assert loss.wrong([1], raw).all() and not loss.wrong([0], raw).any()


def test_constructors_agree_with_those_of_the_beta_prior():
    y = np.array([0, 1, 1, 1])
    pairs = [
        (Plateaus.weak(2), Plateaus.weak()),
        (Plateaus.empirical(y), Plateaus.empirical(y)),
        (Plateaus.from_rates([0.8, 0.9]), Plateaus.from_rates([0.8, 0.9])),
        (Plateaus.from_counts([2, 1], 50), Plateaus.from_counts([2, 1], 50)),
        (Plateaus.from_weight(0.3, [0.6, 0.4]), Plateaus.from_weight(0.3, 0.4)),
    ]
    for many, two in pairs:
        assert many.as_beta().a == pytest.approx(two.a, abs=1e-14)
        assert many.as_beta().b == pytest.approx(two.b, abs=1e-14)
        assert Plateaus.from_beta(two).low == pytest.approx(many.low, abs=1e-14)


def test_readings_of_a_prior():
    prior = Plateaus.from_counts([1, 2, 3], 94)
    assert prior.w == pytest.approx(0.06)
    assert prior.theta == pytest.approx((1 / 6, 2 / 6, 3 / 6))
    assert prior.alpha == pytest.approx((1, 2, 3))
    assert Plateaus((0.0, 0.0)).theta == (0.5, 0.5)
    assert not Plateaus((0.6, 0.0, 0.1)).every_class_can_win


@pytest.mark.parametrize("rates", [[0.1, 0.9, 0.9], [0.5, 0.95, 0.95, 0.95], [0.9, 0.9, 0.0]])
def test_a_class_hardly_recognised_leaves_the_others_their_rates(rates):
    prior = Plateaus.from_rates(rates)
    worst = int(np.argmin(rates))
    assert prior.low[worst] == 0.0
    for k, rate in enumerate(rates):
        if k != worst:
            assert prior.low[k] + prior.b == pytest.approx(rate)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Plateaus((0.5,)), "two or more classes"),
        (lambda: Plateaus((0.5, 0.5)), "sum to less than 1"),
        (lambda: Plateaus((-0.1, 0.5)), "at least 0"),
        (lambda: Plateaus("ab"), "sequence of numbers"),
        (lambda: Plateaus((0.1, np.nan)), "finite"),
        (lambda: Plateaus((0.1, 0.1), n=0), "n, the number"),
        (lambda: Plateaus.from_weight(1.0, [0.5, 0.5]), "w, the weight"),
        (lambda: Plateaus.from_weight(0.5, [0.5, 0.4]), "theta"),
        (lambda: Plateaus.from_counts([-1, 1], 10), "alpha"),
        (lambda: Plateaus.from_rates([0.3, 0.3, 0.3]), "rates"),
        (lambda: Plateaus.from_rates([1.3, 0.3]), "rates"),
        (lambda: Plateaus((0.1, 0.2), n=None), "n must be a number"),
        (lambda: Plateaus.from_counts((1, 1), None), "n must be a number"),
        (lambda: Plateaus.symmetric("a", 3), "w must be a number"),
        (lambda: Plateaus.symmetric(0.3, 2.5), "n_classes"),
        (lambda: Plateaus.symmetric(0.3, 0), "n_classes"),
        (lambda: Plateaus.weak(1), "n_classes"),
        (lambda: Plateaus.empirical([1, 1]), "two or more classes"),
        (lambda: Plateaus.empirical([0, 1], [1, 0]), "sample_weight"),
        (lambda: Plateaus.weak(3).as_beta(), "no Beta prior"),
    ],
)
def test_bad_priors_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()
