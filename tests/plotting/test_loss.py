from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from bblr import BBLRClassifier, Plateaus
from bblr.losses import LOSSES, BetaBernoulli, Hinge, Sigmoid
from bblr.plotting import LossDisplay


def test_curves_are_the_losses():
    display = LossDisplay.from_losses()
    assert len(display.curves) == len(LOSSES) == len(display.lines_)
    drawn = zip(LOSSES.values(), display.curves.values(), display.lines_, strict=True)
    for loss, curve, line in drawn:
        np.testing.assert_array_equal(curve, loss.value(1, display.margins))
        np.testing.assert_array_equal(line.get_ydata(), curve)
    assert display.margins[0] < 0 < display.margins[-1]


def test_probabilities_are_those_of_the_losses():
    display = LossDisplay.from_losses(["logistic"], kind="probability", margins=[-2, 0, 2])
    np.testing.assert_allclose(display.curves["logistic"], expit([-2, 0, 2]))
    assert "robability" in display.ax_.get_ylabel()


def test_losses_by_name_by_object_and_by_label():
    by_name = LossDisplay.from_losses("hinge").curves
    by_object = LossDisplay.from_losses([Hinge()]).curves
    by_label = LossDisplay.from_losses({"mine": Hinge()}).curves
    np.testing.assert_array_equal(by_name["hinge"], by_object["hinge"])
    np.testing.assert_array_equal(by_name["hinge"], by_label["mine"])
    two = LossDisplay.from_losses([Sigmoid(1.0), Sigmoid(8.0)])
    assert list(two.curves) == ["sigmoid, γ = 1", "sigmoid, γ = 8"]


@pytest.mark.parametrize(
    "prior", [Plateaus.binary(0.2, 0.6), Plateaus.binary(0.05, 0.7), Plateaus.binary(0, 1)]
)
def test_loss_of_an_estimator_is_minus_the_log_of_its_probability(heart, prior):
    X, y = heart
    model = BBLRClassifier(prior).fit(X, y)
    display = LossDisplay.from_estimator(model, X, y)
    margins, losses = display.examples
    own = model.predict_proba(X)[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    np.testing.assert_allclose(losses, -np.log(own), atol=1e-9)
    right = model.predict(X) == y
    np.testing.assert_array_equal(margins > 0, right)
    curves = list(display.curves.values())
    assert len(curves) == 2  # the link has a plateau of its own on either side
    for k, label in enumerate(model.classes_):
        curve = curves[k % len(curves)]
        near = (y == label) & (np.abs(margins) < display.margins[-1])
        at = np.interp(margins[near], display.margins, curve)
        np.testing.assert_allclose(losses[near], at, atol=2e-3)


def test_probability_is_the_loss_in_other_units(uneven, heart):
    loss = LossDisplay.from_estimator(uneven, *heart)
    probability = LossDisplay.from_estimator(uneven, *heart, kind="probability")
    for label, curve in loss.curves.items():
        np.testing.assert_allclose(probability.curves[label], np.exp(-curve))
        assert np.all(np.diff(probability.curves[label]) >= 0)
        assert probability.curves[label][400] == pytest.approx(0.5)
    np.testing.assert_allclose(probability.examples[1], np.exp(-loss.examples[1]))


def test_curve_shows_both_plateaus(uneven):
    display = LossDisplay.from_estimator(uneven)
    own = BetaBernoulli(uneven.link_.plateaus, uneven.link_.gamma)
    for t, label in ((-1, "class 0"), (1, "class 1")):
        plateaus = own.limit([t, t], [-t, t])
        np.testing.assert_allclose(display.curves[label][[0, -1]], plateaus, rtol=0.01)


def test_far_examples_are_drawn_at_the_ends_and_keep_their_margins(linear, heart):
    X, y = heart
    far = X.copy()
    far[0] *= 1e6
    display = LossDisplay.from_estimator(linear, far, y)
    assert np.abs(display.examples[0]).max() > 1e3 > display.margins[-1]
    assert np.abs(display.examples_.get_xdata()).max() <= display.margins[-1]


def test_zero_one_classifier_has_a_step(proved):
    display = LossDisplay.from_estimator(proved, margins=[-1, -1e-9, 0, 1e-9, 1])
    for curve in display.curves.values():
        assert curve[0] == curve[1] == curve[2] > curve[3] == curve[4]


def test_many_classes_lie_on_the_curve_or_below(many, iris):
    X, y = iris
    display = LossDisplay.from_estimator(many, X, y, margins=np.linspace(-6, 6, 4001))
    assert list(display.curves) == [""]
    margins, losses = display.examples
    own = many.predict_proba(X)[np.arange(len(y)), y]
    np.testing.assert_allclose(losses, -np.log(own), atol=1e-9)
    np.testing.assert_array_equal(margins > 0, many.predict(X) == y)
    assert np.all(losses <= np.interp(margins, display.margins, display.curves[""]) + 1e-3)


def test_many_classes_share_a_curve_since_their_plateaus_are_in_the_decision(iris):
    X, y = iris
    model = BBLRClassifier("empirical").fit(X[40:], np.array(list("abc"))[y[40:]])
    assert list(LossDisplay.from_estimator(model).curves) == [""]


def test_misuse_names_the_remedy(linear, heart):
    with pytest.raises(ValueError, match="kind must be 'loss' or 'probability', got 'risk'"):
        LossDisplay.from_estimator(linear, kind="risk")
    with pytest.raises(ValueError, match="kind must be"):
        LossDisplay.from_losses(kind="risk")
    with pytest.raises(ValueError, match="choose among logistic, beta-bernoulli"):
        LossDisplay.from_losses(["hinge"], kind="probability")
    with pytest.raises(ValueError, match="name must be one of"):
        LossDisplay.from_losses(["hing"])
    with pytest.raises(ValueError, match="X and y must be given together"):
        LossDisplay.from_estimator(linear, heart[0])
    with pytest.raises(ValueError, match="y must hold a class of the estimator"):
        LossDisplay.from_estimator(linear, heart[0], heart[1] + 7)
    with pytest.raises(ValueError, match="at least one curve"):
        LossDisplay([0, 1], {})
