from __future__ import annotations

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bblr import BBLRClassifier, KernelBBLRClassifier
from bblr.plotting import CoefficientDisplay


def test_points_are_the_coefficients_of_a_deviation(linear, heart):
    X, _ = heart
    display = CoefficientDisplay.from_estimator(linear, X, max_features=5)
    effects = linear.coef_[0] * X.std(axis=0)
    order = np.argsort(-np.abs(effects))[:5]
    assert display.shown_ == [f"x{j}" for j in order]
    (line,) = display.lines_
    np.testing.assert_allclose(line.get_xdata(), effects[order])
    assert (np.diff(line.get_ydata()) < 0).all()
    assert display.ax_.get_xlabel() == "Coefficient, for a standard deviation, towards 1"


def test_units_do_not_change_effects(heart):
    X, y = heart
    scale = np.logspace(-3, 3, X.shape[1])
    one, two = (BBLRClassifier().fit(Z, y) for Z in (X, X * scale))
    shown = [
        CoefficientDisplay.from_estimator(model, Z).lines_[0].get_xdata()
        for model, Z in ((one, X), (two, X * scale))
    ]
    np.testing.assert_allclose(shown[0], shown[1], rtol=1e-4)


def test_many_classes_have_points_of_their_own(many, iris):
    display = CoefficientDisplay.from_estimator(many, iris[0])
    assert len(display.lines_) == 3
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["0", "1", "2"]
    assert "towards" not in display.ax_.get_xlabel()


def test_a_pipeline_is_looked_into(heart):
    X, y = heart
    model = make_pipeline(StandardScaler(), BBLRClassifier()).fit(X, y)
    display = CoefficientDisplay.from_estimator(model, X)
    np.testing.assert_allclose(display.coefficients, model[-1].coef_)
    assert display.feature_names[:2] == ["x0", "x1"]


def test_refusals(moons):
    with pytest.raises(TypeError, match="kernel classifiers have none"):
        CoefficientDisplay.from_estimator(KernelBBLRClassifier().fit(*moons))
    with pytest.raises(ValueError, match="feature_names must hold 2"):
        CoefficientDisplay([1.0, 2.0], ["a"])
    with pytest.raises(ValueError, match="labels must hold 1"):
        CoefficientDisplay([1.0, 2.0], ["a", "b"], labels=["no", "yes"])
    with pytest.raises(ValueError, match="finite"):
        CoefficientDisplay([1.0, np.nan], ["a", "b"])
    with pytest.raises(ValueError, match="max_features"):
        CoefficientDisplay([1.0], ["a"], max_features=0)
