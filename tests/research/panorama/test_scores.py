"""What is recorded about predictions."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import log_loss, roc_auc_score

from research.panorama.cells import Part, evaluate
from research.panorama.scores import pack, score, unpack


@given(st.lists(st.booleans(), min_size=1, max_size=40))
def test_errors_are_packed_without_loss(bits):
    wrong = np.array(bits)
    np.testing.assert_array_equal(unpack(pack(wrong), len(wrong)), wrong)


def test_scores_of_two_classes():
    y_train, y = np.array([0, 0, 0, 1]), np.array([0, 0, 0, 1, 1])
    p = np.array([0.1, 0.2, 0.7, 0.6, 0.4])
    proba = np.column_stack([1 - p, p])
    found = score(y_train, y, proba.argmax(axis=1), proba)
    json.dumps(found, allow_nan=False)
    assert found["errors"] == 2
    np.testing.assert_array_equal(unpack(found["wrong"], 5), [0, 0, 1, 0, 1])
    assert found["balanced_error"] == pytest.approx((1 / 3 + 1 / 2) / 2)
    assert found["auc"] == pytest.approx(roc_auc_score(y, p))
    assert found["log_loss"] == pytest.approx(log_loss(y, proba))
    base = -(3 * np.log(0.75) + 2 * np.log(0.25)) / 5
    assert found["base_log_loss"] == pytest.approx(base)
    assert not found["constant_predictions"]
    assert not found["constant_probabilities"]


def test_scores_of_many_classes():
    y = np.array([0, 1, 2, 2, 0, 1])
    rng = np.random.default_rng(0)
    proba = rng.dirichlet(np.ones(3), size=6)
    found = score(y, y, proba.argmax(axis=1), proba)
    assert found["auc"] == pytest.approx(roc_auc_score(y, proba, multi_class="ovr"))


def test_undefined_and_constant():
    y = np.zeros(4, dtype=int)
    proba = np.tile([0.0, 1.0], (4, 1))
    found = score(np.array([0, 1]), y, proba.argmax(axis=1), proba)
    assert found["auc"] is None
    assert found["log_loss"] == pytest.approx(-np.log(1e-15))
    assert found["constant_predictions"]
    assert found["constant_probabilities"]


def test_class_lost_to_noise_gets_probability_zero():
    class Constant:
        def fit(self, X, y):
            assert set(y) == {0, 1}
            return self

        def predict(self, X):
            return np.ones(len(X), dtype=int)

        def predict_proba(self, X):
            return np.tile([0.3, 0.7], (len(X), 1))

    X = np.zeros((4, 1))
    part = Part(X, np.array([0, 2, 2, 0]), X[:3], np.array([2, 1, 2]), 3)
    found = evaluate(Constant(), part)
    assert found["errors"] == 1
    expected = -(2 * np.log(0.7) + np.log(1e-15)) / 3
    assert found["log_loss"] == pytest.approx(expected)
