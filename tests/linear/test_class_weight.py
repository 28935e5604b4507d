"""Weights of classes: those of their examples, and scikit-learn's rules for dicts."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

from bblr import (
    BBLRClassifier,
    BBLRClassifierCV,
    KernelBBLRClassifier,
    SLAClassifier,
    ZeroOneClassifier,
)

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["a", "b", "c"])[Y]
MANY = [
    BBLRClassifier(),
    BBLRClassifierCV(l2s=(3.0,), cv=2, random_state=0),
    KernelBBLRClassifier(random_state=0),
]
TWO = [SLAClassifier(), ZeroOneClassifier("pcs", max_steps=3, random_state=0)]


def scores(model):
    return model.decision_function(X)


@pytest.mark.parametrize("model", MANY, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("labels", [Y, NAMES, NAMES.astype(object)], ids=["int", "str", "object"])
def test_a_class_of_weight_0_is_examples_of_weight_0(model, labels):
    out = labels[100]
    weighted = clone(model).set_params(class_weight={out: 0}).fit(X, labels)
    given = clone(model).fit(X, labels, sample_weight=(labels != out) * 1.0)
    assert weighted.classes_.tolist() == given.classes_.tolist() == sorted(set(labels[:100]))
    np.testing.assert_array_equal(scores(weighted), scores(given))


@pytest.mark.parametrize("model", TWO, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("out", [0, 1, 2])
def test_two_of_three_classes_are_left_for_those_who_take_two(model, out):
    weighted = clone(model).set_params(class_weight={out: 0.0}).fit(X, Y)
    assert weighted.classes_.tolist() == sorted({0, 1, 2} - {out})
    if isinstance(model, SLAClassifier):
        alone = clone(model).fit(X, Y, sample_weight=np.where(out == Y, 0.0, 1.0))
        np.testing.assert_array_equal(scores(weighted), scores(alone))


def test_tensors_are_no_exception():
    torch = pytest.importorskip("torch")
    weights = {0: 1.0, 1: 0.0, 2: 2.0}
    local = BBLRClassifier(class_weight=weights).fit(X, Y)
    rows, names = torch.as_tensor(X), torch.as_tensor(Y)
    for labels in (names, Y):
        model = BBLRClassifier(class_weight=weights, device="cpu").fit(rows, labels)
        assert model.classes_.tolist() == [0, 2]
        found = model.decision_function(rows).numpy()
        np.testing.assert_allclose(found, scores(local), atol=1e-6)
    assert BBLRClassifier(class_weight={2: 0}, device="cpu").fit(X, Y).classes_.tolist() == [0, 1]


def test_dicts_of_more_classes_than_y_has():
    pairs = X[:100], Y[:100]
    plain = BBLRClassifier(class_weight={0: 2.0, 1: 1.0}).fit(*pairs)
    more = BBLRClassifier(class_weight={0: 2.0, 1: 1.0, 2: 5.0, "x": 7}).fit(*pairs)
    np.testing.assert_array_equal(scores(plain), scores(more))


@pytest.mark.parametrize(
    "weights",
    [{}, {0: 2.0}, {0: 2.0, 1: 1.0, 7: 3.0}, {7: 3.0}, {0: 2.0, 7: 3.0}, {0.0: 2.0}, {"0": 2.0}],
    ids=str,
)
def test_dicts_are_taken_and_refused_as_by_scikit_learn(weights):
    def refused(model):
        try:
            model.set_params(class_weight=weights).fit(X[:100], Y[:100])
        except ValueError as error:
            assert "class_weight" in str(error)
            return True
        return False

    assert refused(BBLRClassifier()) == refused(LogisticRegression())


def test_errors_tell_what_is_left():
    with pytest.raises(ValueError, match=r"got one class only: \[1\].*zero weight do not count"):
        BBLRClassifier(class_weight={0: 0.0}).fit(X[:100], Y[:100])
    with pytest.raises(ValueError, match="class_weight must hold a positive weight"):
        BBLRClassifier(class_weight={0: 0.0, 1: 0}).fit(X[:100], Y[:100])
    words = "names no, not among the classes 0, 1 of y, and leaves out 0, 1; name the classes as"
    with pytest.raises(ValueError, match=words):
        BBLRClassifier(class_weight={"no": 2.0}).fit(X[:100], Y[:100])
