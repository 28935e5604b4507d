"""What every registered loss must do, and some at other parameters beside."""

import dataclasses
import math
import pickle

import numpy as np
import pytest

from bblr.losses import LOSSES, BetaBernoulli, Logistic, Ramp, ZeroOne, get_loss

SHARP = [name for name, loss in LOSSES.items() if hasattr(loss, "gamma")]
CASES = [loss for loss in LOSSES.values() if loss.name not in SHARP]
CASES += [LOSSES[name].sharpened(gamma) for name in SHARP for gamma in (0.5, 1.0, 2.0, 32.0)]
CASES += [
    BetaBernoulli.binary(a, b, 2.0) for a, b in [(0.05, 0.6), (0.3, 0.4), (0.0, 0.8), (0.25, 0.75)]
]
CASES += [Ramp(3.0, s=-0.25), Ramp(1.0, s=0.0)]
LIKELIHOODS = [loss for loss in CASES if loss.has_probability]
EXTREMES = np.array([-1e9, -745.0, 745.0, 1e9])


@pytest.fixture(params=CASES, ids=repr)
def loss(request):
    return request.param


@pytest.fixture(params=LIKELIHOODS, ids=repr)
def likelihood(request):
    return request.param


def exact_margin_value(loss, z):
    """The textbook formula in plain Python floats, for a margin whose tail is exact."""
    g = getattr(loss, "gamma", 1.0)
    right = z > 0
    return {
        "zero-one": 0.0 if right else 1.0,
        "logistic": 0.0 if right else -z,
        "hinge": max(0.0, 1 - z),
        "squared": (1 - z) ** 2,
        "generalized-logistic": max(0.0, 1 - z),
        "sigmoid": 0.0 if right else 1.0,
        "ramp": 0.0 if right else 1 - getattr(loss, "s", 0.0),
        "tanh": 0.0 if right else 2.0,
        "squared-tanh": (0.65 - math.copysign(1, z)) ** 2,
    }[loss.name] + 0 * g


@pytest.mark.parametrize("raw", EXTREMES)
@pytest.mark.parametrize("y", [-1, 1])
def test_far_scores_cost_exactly_what_they_should(loss, raw, y):
    value, gradient = (float(v) for v in loss.value_gradient(y, raw))
    assert math.isfinite(value)
    assert math.isfinite(gradient)
    if isinstance(loss, BetaBernoulli):
        low = loss.low[1] if y == 1 else loss.low[0]
        if y * raw > 0:
            expected, slope = -math.log(low + loss.b), 0.0
        elif abs(low) > 1e-12:
            expected, slope = -math.log(low), 0.0
        else:
            expected, slope = loss.gamma * abs(raw) - math.log(loss.b), -y * loss.gamma
        assert value == pytest.approx(expected, rel=1e-14, abs=1e-13)
        assert gradient == pytest.approx(slope, abs=1e-140)
    else:
        assert value == pytest.approx(exact_margin_value(loss, y * raw), rel=1e-15, abs=1e-150)
        if loss.name not in ("logistic", "hinge", "squared", "generalized-logistic"):
            assert abs(gradient) < 1e-150


def test_value_is_never_negative(loss):
    raw = np.concatenate([np.linspace(-50, 50, 1001), EXTREMES])
    for y in (-1, 1):
        assert np.all(loss.value(y, raw) >= 0)


def test_huge_gamma_reaches_the_limit(loss):
    raw = np.array([-1e3, -1.0, -1e-3, 1e-3, 1.0, 3.0, 1e3])
    sharp = loss.sharpened(1e9)
    for y in (-1, 1):
        limit = loss.limit(y, raw)
        finite = np.isfinite(limit)
        np.testing.assert_allclose(sharp.value(y, raw)[finite], limit[finite], atol=1e-8)
        # Without a plateau the limit is infinite, and the value on its way there.
        assert np.all(sharp.value(y, raw)[~finite] > 1e5)


@pytest.mark.parametrize("name", ["sigmoid", "ramp", "tanh", "squared-tanh", "beta-bernoulli"])
def test_limit_is_a_multiple_of_the_zero_one_loss_plus_a_constant(name):
    raw, y = np.array([-2.0, -1e-9, 1e-9, 5.0]), np.array([1, -1, 1, -1])
    limit = LOSSES[name].limit(y, raw)
    errors = ZeroOne().value(y, raw)
    constant, height = limit[errors == 0], limit[errors == 1]
    np.testing.assert_allclose(constant, constant[0])
    np.testing.assert_allclose(height, height[0])
    assert height[0] > constant[0]


def test_sharpened_changes_gamma_and_nothing_else(loss):
    sharper = loss.sharpened(7.0)
    assert type(sharper) is type(loss)
    if not hasattr(loss, "gamma"):
        assert sharper is loss
        return
    given = [field.name for field in dataclasses.fields(loss) if field.init]
    before, after = ({name: getattr(one, name) for name in given} for one in (loss, sharper))
    assert after == {**before, "gamma": 7.0}
    assert sharper.sharpened(loss.gamma) == loss
    raw = np.linspace(-3, 3, 50)
    assert not np.allclose(sharper.value(1, raw), loss.value(1, raw), rtol=1e-6)


@pytest.mark.parametrize("gamma", [0.0, -1.0, float("nan"), float("inf")])
@pytest.mark.parametrize("name", SHARP)
def test_gamma_must_be_positive_and_finite(name, gamma):
    with pytest.raises(ValueError, match="gamma"):
        LOSSES[name].sharpened(gamma)


def test_frozen_hashable_and_picklable(loss):
    copy = pickle.loads(pickle.dumps(loss))
    assert copy == loss
    assert hash(copy) == hash(loss)
    for field in dataclasses.fields(loss):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(loss, field.name, 1.0)


def test_accepts_lists_and_broadcasts(loss):
    value, gradient = loss.value_gradient([1, -1, 1], [0.25, -2, 3])
    assert value.dtype == gradient.dtype == np.float64
    single = [float(loss.value(y, r)) for y, r in ((1, 0.25), (-1, -2), (1, 3))]
    np.testing.assert_array_equal(value, single)


def test_curvature_is_finite_and_not_negative(loss):
    curvature = loss.curvature(np.concatenate([np.linspace(-40, 40, 101), EXTREMES]))
    assert np.all(np.isfinite(curvature))
    assert np.all(curvature >= 0)


def test_loss_is_minus_log_probability(likelihood):
    raw = np.linspace(-8, 8, 201)
    positive = likelihood.probability(raw)
    np.testing.assert_allclose(np.exp(-likelihood.value(1, raw)), positive, rtol=1e-12)
    np.testing.assert_allclose(
        np.exp(-likelihood.value(-1, raw)), 1 - positive, rtol=1e-9, atol=1e-15
    )


def test_the_decision_is_zero_where_both_classes_are_equally_probable(likelihood):
    even = -likelihood.shift[0]
    assert likelihood.decision(even) == 0.0
    assert likelihood.probability(even) == pytest.approx(0.5, abs=1e-14)
    assert likelihood.wrong([1, -1], [even, even]).all()
    np.testing.assert_array_equal(likelihood.predicted([even - 1, even + 1]), [0, 1])


def test_two_classes_have_one_score(loss):
    assert (loss.n_scores, loss.n_classes, len(loss.shift)) == (1, 2, 1)
    if not loss.has_probability:
        assert loss.shift == (0.0,)
        assert loss.without_plateaus() is loss


def test_losses_without_a_probability_say_so():
    for loss in CASES:
        if not loss.has_probability:
            with pytest.raises(TypeError, match=loss.name):
                loss.probability(0.0)


def test_registry_is_keyed_by_name():
    assert all(name == loss.name for name, loss in LOSSES.items())
    assert get_loss("hinge") is LOSSES["hinge"]
    for known in LOSSES:
        with pytest.raises(ValueError, match=f"name.*{known}.*'nonsense'"):
            get_loss("nonsense")


def test_zero_one_is_strict():
    assert list(ZeroOne().value([1, -1, 1, -1], [0.0, -0.0, 1e-300, 1e-300])) == [1, 1, 0, 1]


def test_logistic_curvature_is_the_second_derivative():
    raw, step = np.linspace(-5, 5, 41), 1e-5
    slope = [Logistic().value_gradient(1, raw + s)[1] for s in (step, -step)]
    curvature = (slope[0] - slope[1]) / (2 * step)
    np.testing.assert_allclose(Logistic().curvature(raw), curvature, rtol=1e-7, atol=1e-10)
