"""Classifiers of many classes: what they agree with, and what does not change them."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import softmax
from sklearn.datasets import load_digits, load_iris, load_wine, make_blobs
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import recall_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from bblr import (
    BBLRClassifier,
    BBLRClassifierCV,
    KernelBBLRClassifier,
    KernelBBLRClassifierCV,
    Plateaus,
)
from bblr.losses import BetaBernoulli
from bblr.training.link import Link, _Likelihood

LINEAR = [
    BBLRClassifier(),
    BBLRClassifier("learned"),
    BBLRClassifier("empirical"),
    BBLRClassifier("weak", gamma_max=1),
    BBLRClassifier(Plateaus((0.1, 0.05, 0.0)), leverage=3.0),
    BBLRClassifier(solver="sla", gamma_max=2.0),
    BBLRClassifier(solver="search", gamma_max=2.0, random_state=0),
    BBLRClassifierCV(cv=2, l2s=(1.0, 10.0), gamma_limit=2.0, random_state=0),
    BBLRClassifierCV("learned", cv=2, l2s=(3.0,), gamma_limit=1.0, random_state=0),
]
KERNEL = [
    KernelBBLRClassifier(),
    KernelBBLRClassifier(penalty="ridge", prior="learned", random_state=0),
    KernelBBLRClassifier(sparsity="backward", random_state=0),
    KernelBBLRClassifier(sparsity="backward", max_vectors=9, random_state=0),
    KernelBBLRClassifier(sparsity="gauss-laplace", random_state=0),
    KernelBBLRClassifier(max_centers=20, random_state=0),
    KernelBBLRClassifierCV(
        cv=2, l2s=(0.3,), kernel_gammas=(0.1, 0.5), sparsity="backward", random_state=0
    ),
]


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return StandardScaler().fit_transform(X), np.array(["c", "a", "b"])[y]


@pytest.mark.parametrize("model", LINEAR + KERNEL, ids=str)
def test_fits_and_speaks_in_probabilities(model, wine):
    X, y = wine
    model.fit(X[::2], y[::2])
    assert model.classes_.tolist() == ["a", "b", "c"]
    probability = model.predict_proba(X)
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)
    assert (probability >= np.array(model.link_.plateaus.low) - 1e-12).all()
    np.testing.assert_array_equal(model.predict(X), model.classes_[probability.argmax(axis=1)])
    assert model.decision_function(X).shape == (len(y), 3)
    assert model.score(X[1::2], y[1::2]) > 0.9


@pytest.mark.parametrize("model", KERNEL, ids=str)
def test_speaks_as_svc_does(model, wine):
    X, y = wine
    model.fit(X, y)
    m = len(model.support_)
    assert model.dual_coef_.shape == (3, m)
    assert model.n_support_.tolist() == [int((y[model.support_] == k).sum()) for k in "abc"]
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])
    similar = rbf_kernel(X, X[model.support_], gamma=model.kernel_gamma_)
    expected = similar @ model.dual_coef_.T + model.intercept_
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-9)
    if model.get_params().get("max_vectors"):
        assert m <= model.max_vectors


def test_a_linear_kernel_is_the_linear_model(wine):
    X, y = wine
    exact = {"l2": 2.0, "gamma_max": 1.0, "tol": 1e-13, "max_iter": 2000, "prior": "mild"}
    linear = BBLRClassifier(leverage=None, **exact).fit(X, y)
    kernel = KernelBBLRClassifier("linear", max_centers=None, **exact).fit(X, y)
    np.testing.assert_allclose(kernel.decision_function(X), linear.decision_function(X), atol=1e-5)


def test_a_precomputed_kernel_is_the_named_one(wine):
    X, y = wine
    exact = {"tol": 1e-13, "max_iter": 2000}
    named = KernelBBLRClassifier(kernel_gamma=0.1, **exact).fit(X, y)
    given = KernelBBLRClassifier("precomputed", **exact).fit(rbf_kernel(X, gamma=0.1), y)
    np.testing.assert_allclose(
        given.decision_function(rbf_kernel(X, gamma=0.1)), named.decision_function(X), atol=1e-6
    )


def test_without_plateaus_it_is_multinomial_logistic_regression(wine):
    X, y = wine
    # The penalty of many classes counts twice, so that two of them are the binary model.
    plain = BBLRClassifier(
        Plateaus((0.0,) * 3), l2=0.5, gamma_max=1.0, leverage=None, tol=1e-14
    ).fit(X, y)
    expected = LogisticRegression(C=1.0, tol=1e-10, max_iter=2000).fit(X, y)
    np.testing.assert_allclose(
        softmax(plain.decision_function(X), axis=1), expected.predict_proba(X), atol=1e-5
    )


def test_two_classes_take_the_binary_path(wine):
    X, y = wine
    X, y = X[y != "a"], y[y != "a"]
    model = BBLRClassifier(Plateaus((0.2, 0.1))).fit(X, y)
    assert model.coef_.shape == (1, X.shape[1])
    assert model.prior_ == Plateaus.binary(0.1, 0.7)


@pytest.mark.parametrize(
    "model", [BBLRClassifier(tol=1e-12), KernelBBLRClassifier(tol=1e-12)], ids=str
)
def test_copies_are_weights(model, wine):
    X, y = wine
    count = np.random.default_rng(0).integers(0, 4, len(y))
    weighted = model.fit(X, y, sample_weight=count).predict_proba(X)
    copied = model.fit(np.repeat(X, count, axis=0), np.repeat(y, count)).predict_proba(X)
    np.testing.assert_allclose(weighted, copied, atol=1e-5)


def test_sparse_rows_units_and_names_do_not_matter(wine):
    X, y = wine
    X = np.where(X > 0.5, X, 0.0)
    dense = BBLRClassifier(tol=1e-12).fit(X, y)
    stored = BBLRClassifier(tol=1e-12).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(stored.coef_, dense.coef_, atol=1e-5)
    other = BBLRClassifier(tol=1e-12).fit(X * np.geomspace(1e-3, 1e3, X.shape[1]), y)
    np.testing.assert_array_equal(
        other.predict(X * np.geomspace(1e-3, 1e3, X.shape[1])), dense.predict(X)
    )
    renamed = BBLRClassifier(tol=1e-12).fit(X, np.where(y == "a", "z", y))
    np.testing.assert_allclose(renamed.coef_, np.roll(dense.coef_, -1, axis=0), atol=1e-5)


@pytest.mark.parametrize("gamma_max", [1.0, 2.0])
def test_no_step_is_remembered_in_one_storage_alone(wine, gamma_max):
    X, y = wine
    model = BBLRClassifier("robust", l2=4.0, gamma_max=gamma_max)
    dense = model.fit(X, y).coef_
    np.testing.assert_allclose(model.fit(sp.csr_array(X), y).coef_, dense, atol=1e-12)


@pytest.mark.parametrize(("n_classes", "seed"), [(3, 4), (10, 3), (10, 7)])
def test_learned_plateaus_of_far_rows_ask_for_no_order(n_classes, seed):
    """Rounding errors of 1e-16 grew to a tenth of the scores, and to .8 in probabilities."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=300)
    y[: 4 * n_classes] = np.arange(4 * n_classes) % n_classes
    X = rng.normal(size=(300, 6)) + 2 * rng.normal(size=(n_classes, 6))[y]
    X[rng.random(300) < 0.1] *= 20
    y = np.where(rng.random(300) < 0.15, rng.integers(n_classes, size=300), y)
    order, model = rng.permutation(300), BBLRClassifier("learned")
    fitted = model.fit(X, y)
    expected, likely = fitted.decision_function(X), fitted.predict_proba(X)
    most = 1e-7 * np.abs(expected).max()
    for rows, labels in [(np.asfortranarray(X), y), (X[order], y[order]), (sp.csr_array(X), y)]:
        again = model.fit(rows, labels)
        np.testing.assert_allclose(again.decision_function(X), expected, rtol=0, atol=most)
        np.testing.assert_allclose(again.predict_proba(X), likely, atol=1e-7)


def test_class_weights_and_warm_start(wine):
    X, y = wine
    balanced = BBLRClassifier(class_weight="balanced", tol=1e-12).fit(X, y)
    factors = {k: len(y) / (3 * (y == k).sum()) for k in "abc"}
    weight = np.array([factors[k] for k in y])
    given = BBLRClassifier(tol=1e-12).fit(X, y, sample_weight=weight)
    # What one row of a class weighs is known in the first case alone.
    np.testing.assert_allclose(balanced.coef_, given.coef_, atol=1e-3)
    model = BBLRClassifier("robust", l2=3.0, warm_start=True, gamma_max=1.0, tol=1e-8).fit(X, y)
    first = model.n_iter_
    assert model.fit(X, y).n_iter_ < first


def test_flipped_labels_cost_less_than_in_logistic_regression():
    X, y = load_digits(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.4, random_state=0, stratify=y)
    rng = np.random.default_rng(0)
    flipped = np.where(rng.random(len(y)) < 0.2, rng.integers(0, 10, len(y)), y)
    scale = StandardScaler().fit(X)
    baseline = LogisticRegression(max_iter=1000).fit(scale.transform(X), flipped)
    own = BBLRClassifier(gamma_max=2.0).fit(X, flipped)
    assert own.score(X_test, y_test) > baseline.score(scale.transform(X_test), y_test) + 0.02


def test_search_finds_a_plane_for_each_class():
    X, y = load_iris(return_X_y=True)
    model = BBLRClassifier(l2=1e-3, random_state=0).fit(X, y)
    assert (model.predict(X) != y).sum() <= 1


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (BBLRClassifier(Plateaus.binary(0.1, 0.8)), "has 2, y holds 3 classes"),
        (BBLRClassifier(Plateaus.weak(4)), "has 4, y holds 3 classes"),
        (BBLRClassifier(Plateaus((0.6, 0.0, 0.1))), "every class"),
        (KernelBBLRClassifier(Plateaus.binary(0.1, 0.8)), "kernel"),
        (KernelBBLRClassifierCV(prior=Plateaus.binary(0.1, 0.8)), "has 2, y holds 3 classes"),
    ],
)
def test_priors_that_do_not_fit_are_named(model, message, wine):
    with pytest.raises(ValueError, match=message):
        model.fit(*wine)


@pytest.mark.parametrize("even", [True, False])
def test_link_has_the_gradient_of_its_likelihood(even):
    rng = np.random.default_rng(0)
    y, decision = rng.integers(0, 3, 50), rng.standard_normal((50, 3))
    likelihood = _Likelihood(decision, y, rng.random(50), even)
    free = 0.3 * rng.standard_normal(2 if even else 5)
    _, gradient = likelihood(free)
    h = 1e-6
    numeric = [
        (likelihood(free + h * e)[0] - likelihood(free - h * e)[0]) / (2 * h)
        for e in np.eye(len(free))
    ]
    np.testing.assert_allclose(gradient, numeric, atol=1e-7)


def test_link_recovers_what_made_the_labels():
    rng = np.random.default_rng(0)
    decision = 2.0 * rng.standard_normal((40_000, 3))
    for prior, even in ((Plateaus.symmetric(0.3, 3), True),
                        (Plateaus((0.2, 0.1, 0.05)), False)):  # fmt: skip
        truth = BetaBernoulli(prior, 1.5).probability(decision)
        y = (rng.random(len(truth))[:, None] > truth.cumsum(axis=1)).sum(axis=1)
        link = Link.fit(decision, y, np.ones(len(y)), even=even)
        assert link.plateaus.low == pytest.approx(prior.low, abs=0.02)
        assert link.gamma == pytest.approx(1.5, rel=0.1)


@pytest.mark.parametrize("prior", ["robust", "mild", "weak", "learned"])
@pytest.mark.parametrize("weight", [3.0, 10.0])
def test_a_heavy_class_does_not_swallow_the_others(prior, weight):
    X, y = load_iris(return_X_y=True)
    model = BBLRClassifier(prior, class_weight={1: weight}).fit(X, y)
    recall = [np.mean(model.predict(X[y == k]) == k) for k in range(3)]
    assert recall[0] > 0.97  # a plane parts the first class from the others
    assert min(recall) > 0.7


@pytest.mark.parametrize("classes", [2, 3])
def test_a_frequent_class_does_not_swallow_the_others(classes):
    counts = [400] + [20] * (classes - 1)
    X, y = make_blobs(counts, n_features=3, cluster_std=1.0, random_state=1)
    for model in (BBLRClassifier(), BBLRClassifierCV(cv=2, random_state=0)):
        assert recall_score(y, model.fit(X, y).predict(X), average="macro") > 0.85


def test_no_overflow_without_a_penalty():
    X, y = load_iris(return_X_y=True)
    BBLRClassifier(l2=0, random_state=0).fit(X, y)  # warnings are errors here


def test_heavy_weights_are_refused():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="sample_weight"):
        BBLRClassifier().fit(X, y, sample_weight=np.full(150, 1e155))


ROWS = np.arange(150)
BAD_FOLDS = {
    "one class": [(ROWS[:50], ROWS[50:])],
    "nothing held out": [(ROWS, ROWS[:0])],
    "rows that are not there": [(ROWS, ROWS + 10)],
    "nothing": [],
}


@pytest.mark.parametrize("folds", BAD_FOLDS)
@pytest.mark.parametrize(
    "model", [BBLRClassifierCV(), KernelBBLRClassifierCV(l2s=(1.0,), kernel_gammas=(1.0,))],
    ids=str,
)  # fmt: skip
def test_folds_that_say_nothing_are_refused(model, folds):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="cv "):
        model.set_params(cv=BAD_FOLDS[folds]).fit(X, y)


@pytest.mark.parametrize("even", [True, False])
def test_link_looks_at_nothing_beyond_numbers(even):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 20)
    decision = rng.standard_normal((20, 3))
    decision -= decision.max(axis=1, keepdims=True)
    likelihood = _Likelihood(decision, y, np.ones(20), even)
    for free in (-759.0, 759.0):
        value, gradient = likelihood(np.full(2 if even else 5, free))
        assert np.isfinite(value) and np.isfinite(gradient).all()
    value, _ = likelihood(np.array([-759.0, *([0.0] * (1 if even else 4))]))
    assert value > likelihood(np.zeros(2 if even else 5))[0]


@pytest.mark.parametrize("seed", range(20))
def test_link_of_scores_that_say_nothing(seed):
    rng = np.random.default_rng(seed)
    decision, y = rng.standard_normal((40, 4)), rng.integers(0, 4, 40)
    for even in (True, False):
        link = Link.fit(decision, y, np.full(40, 1 / 3), even=even)
        assert min(link.plateaus.low) > 0 and 0 < link.gamma < np.inf
