"""Summaries of fits, the weight of each training row, and the address of the documentation."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from scipy.special import softmax

from bblr import (
    BBLRClassifier,
    BBLRClassifierCV,
    KernelBBLRClassifier,
    Plateaus,
    SLAClassifier,
    ZeroOneClassifier,
)
from bblr.datasets import load_uci
from bblr.linear.fit_digest import chosen_settings, joint_effects, spreads
from bblr.losses import BetaBernoulli
from bblr.structured import JointModel


@pytest.fixture(scope="module")
def heart():
    return load_uci("heart", return_X_y=True)


MODELS = {
    "auto": BBLRClassifier(),
    "bounded": BBLRClassifier("empirical", leverage=1.0),
    "sharp": BBLRClassifier("robust", l2=3.0),
    "balanced": BBLRClassifier(class_weight={0: 1.0, 1: 3.0}),
    "three": BBLRClassifier("mild"),
    "tuned": BBLRClassifierCV(cv=3, random_state=0),
}


@pytest.mark.parametrize("name", MODELS)
def test_weighted_residuals_of_a_fit_add_up_to_nothing(heart, name):
    """The intercept has no penalty: its derivative is that of weighted logistic regression."""
    X, y = heart
    if name == "three":
        y = y + (X[:, 0] > 60)
    model = MODELS[name].set_params(tol=1e-11, max_iter=1000)
    sample_weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    model.fit(X, y, sample_weight)
    weight = sample_weight * model.training_weights(X, y, sample_weight)
    if name == "balanced":
        weight *= np.where(y == 1, 3.0, 1.0)
    loss = BetaBernoulli(model.prior_, model.gamma_)
    raw = model.decision_function(X) - np.array(loss.shift)
    raw = raw if raw.ndim == 2 else np.column_stack([-raw / 2, raw / 2])
    residuals = softmax(model.gamma_ * raw, axis=1) - (y[:, None] == model.classes_)
    total = weight @ residuals
    assert np.abs(total).max() < 1e-4 * (weight @ np.abs(residuals)).max()


def test_weights_fall_with_the_distance_on_the_wrong_side():
    X = np.linspace(-1, 1, 80)[:, None]
    y = (X[:, 0] > 0).astype(int)
    y[[45, 60, 79]] = 0
    weights = BBLRClassifier("robust", l2=1.0, leverage=None).fit(X, y).training_weights(X, y)
    assert (weights[[45, 60, 79]].argsort() == [2, 1, 0]).all()
    assert ((weights >= 0) & (weights <= 1)).all() and weights[10] > 0.5 > weights[79]


def test_weights_of_kernels_and_of_those_that_have_none(heart):
    X, y = heart
    kernel = KernelBBLRClassifier().fit((X - X.mean(0)) / X.std(0), y)
    weights = kernel.training_weights((X - X.mean(0)) / X.std(0), y)
    assert weights.shape == y.shape and (weights <= 1).all()
    model = ZeroOneClassifier(max_steps=1, random_state=0).fit(X, y)
    with pytest.raises(TypeError, match="counts errors, not rows"):
        model.training_weights(X, y)
    with pytest.raises(ValueError, match="not a class of the model"):
        kernel.training_weights(X, y + 5)


def test_a_summary_ranks_by_what_a_deviation_makes(heart):
    X, y = heart
    frame = pd.DataFrame(X * np.logspace(-3, 3, 13), columns=[f"f{j}" for j in range(13)])
    model = BBLRClassifier().fit(frame, y)
    summary = model.summary(frame, max_coefficients=4)
    effects = np.abs(model.coef_[0] * frame.to_numpy().std(axis=0))
    assert [c.feature for c in summary.coefficients] == [f"f{j}" for j in np.argsort(-effects)[:4]]
    assert model.summary().coefficients[0].feature == f"f{np.abs(model.coef_).argmax()}"
    assert summary.settings["l2"] == f"{model.l2_:g}"
    text, html = str(summary), summary._repr_html_()
    for shown in ("13 features, classes 0, 1", "f", "per standard deviation"):
        assert shown in text and shown in html
    sparse = model.fit(csr_matrix(X), y).summary(csr_matrix(X))
    assert sparse.coefficients[0].effect == pytest.approx(model.summary(X).coefficients[0].effect)


def test_joint_effects_are_those_of_uncorrelated_features():
    rng = np.random.default_rng(0)
    X, coef = rng.normal(size=(200, 5)), rng.normal(size=(3, 5))
    X = np.linalg.qr(X - X.mean(axis=0))[0] * np.sqrt(len(X))
    found = joint_effects(coef, {1: 3})
    np.testing.assert_allclose(found[:, 1], np.std(X[:, 1:4] @ coef[:, 1:4].T, axis=0))
    np.testing.assert_array_equal(found[:, [2, 3]], 0.0)
    np.testing.assert_array_equal(found[:, [0, 4]], coef[:, [0, 4]])


def test_plateaus_of_many_classes_are_told_by_their_range():
    model = BBLRClassifier()
    model.prior_ = Plateaus((0.1, 0.02, 0.05), n=10.0)
    assert chosen_settings(model)["plateaus"] == "0.02 to 0.1 and 0.85 to 0.93"
    model.prior_ = Plateaus((0.1, 0.1, 0.1), n=10.0)
    assert chosen_settings(model)["plateaus"] == "0.1 and 0.8"


@pytest.mark.parametrize("model", [SLAClassifier(), KernelBBLRClassifier(), ZeroOneClassifier(
    max_steps=1, random_state=0)], ids=lambda m: type(m).__name__)  # fmt: skip
def test_every_classifier_has_a_summary(heart, model):
    text = str(model.fit(*heart).summary())
    assert text.startswith(f"{type(model).__name__}: 13 features")
    assert ("support vectors" in text) == isinstance(model, KernelBBLRClassifier)


def test_names_are_escaped_in_a_notebook(heart):
    X, y = heart
    frame = pd.DataFrame(X, columns=[f"<b>{j}" for j in range(13)])
    html = BBLRClassifier().fit(frame, y).summary()._repr_html_()
    assert "<b>" not in html and "&lt;b&gt;" in html


def test_the_documentation_is_linked_where_its_address_is_known(monkeypatch):
    monkeypatch.delenv("BBLR_DOCS", raising=False)
    assert BBLRClassifier()._get_doc_link() == ""
    monkeypatch.setenv("BBLR_DOCS", "https://docs.example/bblr/")
    page = "https://docs.example/bblr/api/bblr.BBLRClassifier.html"
    assert BBLRClassifier()._get_doc_link() == page
    assert page in BBLRClassifier()._repr_html_()
    assert JointModel()._get_doc_link().endswith("/api/bblr.structured.JointModel.html")
    assert pickle.loads(pickle.dumps(BBLRClassifier()))._get_doc_link() == page


def test_spreads_are_those_of_numpy_dense_and_sparse(monkeypatch):
    monkeypatch.setattr("bblr.linear.fit_digest._BLOCK", 7)
    rng = np.random.default_rng(0)
    X = np.where(rng.random((50, 4)) < 0.5, 0.0, 1e6 + rng.normal(size=(50, 4)))
    X[:, 3] = 1e6
    for rows in (X, csr_matrix(X), pd.DataFrame(X)):
        np.testing.assert_allclose(spreads(rows), X.std(axis=0), rtol=1e-9, atol=1e-6)
