"""Classifiers around others in model files."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from bblr import BBLRClassifier, KernelBBLRClassifier, RobustClassifier
from bblr.io import ModelFileError, load_model, save_model
from tests.io.models import data


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("noise", ["auto", 0.2])
@pytest.mark.parametrize("inner", [BBLRClassifier(), KernelBBLRClassifier()])
def test_around_ours_they_come_back(inner, noise, classes, tmp_path):
    X, y = data(classes)
    model = RobustClassifier(inner, noise=noise, random_state=0).fit(X, y)
    save_model(model, tmp_path / "model.bblr")
    again = load_model(tmp_path / "model.bblr")
    assert vars(again).keys() == vars(model).keys()
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    for name in ("flip_matrix_", "label_quality_", "kept_", "classes_"):
        np.testing.assert_array_equal(getattr(again, name), getattr(model, name))
    assert again.fit(X, y).method_ == model.method_


def test_around_others_they_are_refused(tmp_path):
    X, y = data(2)
    model = RobustClassifier(DecisionTreeClassifier(max_depth=2), random_state=0).fit(X, y)
    with pytest.raises(ModelFileError, match=r"an object of type DecisionTreeClassifier.*joblib"):
        save_model(model, tmp_path / "model.bblr")
    assert not (tmp_path / "model.bblr").exists()
