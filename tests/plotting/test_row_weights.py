from __future__ import annotations

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bblr import BBLRClassifier, ZeroOneClassifier
from bblr.plotting import LossDisplay, WeightDisplay


def test_points_are_weights_by_margin(linear, heart):
    display = WeightDisplay.from_estimator(linear, *heart)
    np.testing.assert_array_equal(display.weights, linear.training_weights(*heart))
    margins, _ = LossDisplay.from_estimator(linear, *heart).examples
    np.testing.assert_array_equal(display.margins, margins)
    np.testing.assert_array_equal(display.line_.get_xdata(), margins)
    little = int((display.weights < 0.5).sum())
    assert f": {little} of 270 rows" in display.line_.get_label()


def test_many_classes_and_pipelines(iris):
    X, y = iris
    model = make_pipeline(StandardScaler(), BBLRClassifier()).fit(X, y)
    display = WeightDisplay.from_estimator(model, X, y, name="iris")
    wrong = model.predict(X) != y
    np.testing.assert_array_equal(display.margins < 0, wrong)
    assert display.line_.get_label().startswith("iris: ")


def test_refusals(heart):
    with pytest.raises(TypeError, match="counts errors"):
        model = ZeroOneClassifier(max_steps=1, random_state=0).fit(*heart)
        WeightDisplay.from_estimator(model, *heart)
    with pytest.raises(ValueError, match="as many points"):
        WeightDisplay([1.0, 2.0], [0.5])
