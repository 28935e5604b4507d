"""The kernel classifiers: what they agree with, and what their attributes promise."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import StandardScaler

from bblr import BBLRClassifier, KernelBBLRClassifier, KernelBBLRClassifierCV, Plateaus
from bblr.datasets import load_uci
from bblr.designs.gram.kernel_function import KernelFunction

EXACT = {"tol": 1e-13, "max_iter": 2000}
MODELS = [
    KernelBBLRClassifier(),
    KernelBBLRClassifier("laplacian", penalty="ridge"),
    KernelBBLRClassifier("poly", coef0=1.0),
    KernelBBLRClassifier(sparsity="backward", random_state=0),
    KernelBBLRClassifier(sparsity="backward", max_vectors=6, random_state=0),
    KernelBBLRClassifier(sparsity="gauss-laplace", laplace_share=0.5),
    KernelBBLRClassifier(max_centers=30, random_state=0),
    KernelBBLRClassifier(prior="learned", random_state=0),
    KernelBBLRClassifierCV(
        cv=3, kernel_gammas=(0.2, 1.0), l2s=(1.0, 0.1), sparsity="backward", random_state=0
    ),
]


@pytest.mark.parametrize("name", ["heart", "liver"])
@pytest.mark.parametrize("prior", ["robust", "empirical"])
@pytest.mark.parametrize("gamma_max", [1.0, 8.0])
def test_a_linear_kernel_is_the_linear_model(name, prior, gamma_max):
    X, y = load_uci(name, return_X_y=True)
    X = StandardScaler().fit_transform(X)
    options = {"prior": prior, "l2": 3.0, "gamma_max": gamma_max, **EXACT}
    linear = BBLRClassifier(solver="fisher", leverage=None, **options).fit(X, y)
    kernel = KernelBBLRClassifier("linear", **options).fit(X, y)
    expected = linear.decision_function(X)
    np.testing.assert_allclose(kernel.decision_function(X), expected, rtol=1e-6, atol=1e-5)
    np.testing.assert_allclose(
        kernel.dual_coef_ @ kernel.support_vectors_, linear.coef_, rtol=1e-6, atol=1e-5
    )


@pytest.mark.parametrize("sparsity", [None, "backward"])
@pytest.mark.parametrize("penalty", ["rkhs", "ridge"])
def test_precomputed_and_callable_are_the_named_kernel(pima, sparsity, penalty):
    X, y = pima
    X, y, new = X[:300], y[:300], X[300:]
    K, K_new = rbf_kernel(X, gamma=0.1), rbf_kernel(new, X, gamma=0.1)
    options = {"sparsity": sparsity, "penalty": penalty, "random_state": 0, **EXACT}
    named = KernelBBLRClassifier(kernel_gamma=0.1, **options).fit(X, y)
    called = KernelBBLRClassifier(lambda A, B: rbf_kernel(A, B, gamma=0.1), **options).fit(X, y)
    expected = named.predict_proba(new)
    np.testing.assert_allclose(called.predict_proba(new), expected, atol=1e-6)
    if sparsity is None:  # the draws of a pool follow the order of the columns of X
        given = KernelBBLRClassifier("precomputed", **options).fit(K, y)
        np.testing.assert_allclose(given.predict_proba(K_new), expected, atol=1e-6)
        assert given.support_vectors_.shape == (0, 0)


def test_without_plateaus_and_penalty_it_is_logistic_regression_on_features(moons):
    X, y = moons
    model = KernelBBLRClassifier(
        "poly", degree=2, coef0=1.0, kernel_gamma=1.0, prior=Plateaus.binary(1e-12, 1 - 2e-12),
        l2=0.5, **EXACT,
    ).fit(X, y)  # fmt: skip
    # (x'z + 1)^2 is the inner product of these.
    a, b = X.T
    root = np.sqrt(2.0)
    features = np.column_stack([a**2, b**2, root * a * b, root * a, root * b, np.ones(len(X))])
    reference = LogisticRegression(C=2.0, tol=1e-10, max_iter=10_000).fit(features, y)
    np.testing.assert_allclose(
        model.decision_function(X), reference.decision_function(features), atol=1e-4
    )


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_attributes_make_the_decision(model, moons):
    X, y = moons
    fitted = clone(model).fit(X, y)
    options = {"degree": fitted.degree, "coef0": fitted.coef0}
    function = KernelFunction(fitted.kernel, fitted.kernel_gamma_, **options)
    direct = function(X, fitted.support_vectors_) @ fitted.dual_coef_[0] + fitted.intercept_[0]
    np.testing.assert_allclose(fitted.decision_function(X), direct, rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(fitted.support_vectors_, X[fitted.support_])
    assert np.all(np.diff(fitted.support_) > 0)
    assert fitted.n_support_.tolist() == [np.sum(y[fitted.support_] == k) for k in (0, 1)]
    assert np.all(fitted.dual_coef_ != 0)
    probability = fitted.predict_proba(X)
    np.testing.assert_array_equal(fitted.predict(X), np.argmax(probability, axis=1))
    np.testing.assert_array_equal(fitted.predict(X), direct > 0)
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csc_matrix])
def test_storage_does_not_matter(model, container, moons):
    X, y = moons
    dense = clone(model).fit(X, y)
    stored = clone(model).fit(container(X), y)
    np.testing.assert_allclose(
        stored.decision_function(container(X)), dense.decision_function(X), atol=1e-5
    )
    assert sparse.issparse(stored.support_vectors_)


@pytest.mark.parametrize(
    "model", [m for m in MODELS if m.get_params().get("prior") != "learned"][:7], ids=str
)
def test_weight_two_is_a_duplicate_and_zero_is_absence(model, moons):
    X, y = moons
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = clone(model).fit(X, y, sample_weight=weight)
    repeated = clone(model).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(
        weighted.decision_function(X), repeated.decision_function(X), rtol=1e-6, atol=1e-7
    )
    assert np.all(weight[weighted.support_] > 0)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_pickling_and_determinism(model, moons):
    X, y = moons
    first = clone(model).set_params(random_state=0).fit(X, y)
    second = clone(model).set_params(random_state=0).fit(X, y)
    np.testing.assert_array_equal(first.decision_function(X), second.decision_function(X))
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(first)).predict_proba(X), first.predict_proba(X)
    )


@pytest.mark.parametrize("size", [1, 5, 12])
def test_backward_keeps_no_more_than_asked(moons, size):
    X, y = moons
    model = KernelBBLRClassifier(sparsity="backward", max_vectors=size, random_state=0).fit(X, y)
    assert len(model.support_) == size == model.n_support_.sum()
    assert len(model.dense_dual_coef_) == len(X)


def test_a_few_vectors_do_the_work_of_all(moons):
    X, y = moons
    dense = KernelBBLRClassifier(kernel_gamma=1.0).fit(X, y)
    few = KernelBBLRClassifier(kernel_gamma=1.0, sparsity="backward", random_state=0).fit(X, y)
    assert len(few.support_) < 40
    assert few.path_[-1].value <= 1.01 * dense.path_[-1].value
    assert np.mean(few.predict(X) != dense.predict(X)) < 0.02


def test_dropped_vectors_truly_vanish():
    # On fewer rows the share that is chosen on a tenth of them may leave a single vector.
    X, y = make_moons(300, noise=0.2, random_state=0)
    model = KernelBBLRClassifier(kernel_gamma=1.0, sparsity="gauss-laplace", random_state=0).fit(
        X, y
    )
    assert 0 < len(model.support_) < 200
    capped = clone(model).set_params(max_vectors=3).fit(X, y)
    assert len(capped.support_) <= 3
    assert model.score(X, y) > 0.9


@pytest.mark.parametrize("penalty", ["rkhs", "ridge"])
@pytest.mark.parametrize("max_centers", [None, 40])
def test_a_small_cache_changes_nothing(pima, penalty, max_centers):
    X, y = pima
    options = {"penalty": penalty, "max_centers": max_centers, "random_state": 0}
    whole = KernelBBLRClassifier(**options).fit(X, y).decision_function(X)
    for cache_size in (0, 0.1):
        part = KernelBBLRClassifier(cache_size=cache_size, **options).fit(X, y)
        np.testing.assert_allclose(part.decision_function(X), whole, atol=1e-6)


def test_centres_are_no_more_than_allowed(pima):
    X, y = pima
    model = KernelBBLRClassifier(max_centers=25, random_state=0).fit(X, y)
    assert len(model.support_) == 25
    assert model.score(X, y) > 0.76


def test_many_rows_get_some_centres():
    X, y = make_moons(2500, noise=0.2, random_state=0)
    model = KernelBBLRClassifier(random_state=0).fit(X, y)
    assert len(model.support_) <= 1000
    few = KernelBBLRClassifier(sparsity="backward", random_state=0).fit(X, y)
    assert len(few.support_) < 60
    assert abs(few.score(X, y) - model.score(X, y)) < 0.01


def test_outliers_bend_it_less(noisy_data):
    X, y = noisy_data
    y_true = y.copy()
    y_true[:20] = 1 - y_true[:20]
    right = {
        prior: np.mean(
            KernelBBLRClassifier("linear", prior=prior, l2=1.0, gamma_max=8.0).fit(X, y).predict(X)
            == y_true
        )
        for prior in ("robust", "weak")
    }
    assert right["robust"] >= right["weak"]
    assert right["robust"] > 0.9


def test_scikit_learn_tools_work_with_a_precomputed_kernel(moons):
    X, y = moons
    K = rbf_kernel(X, gamma=1.0)
    named = cross_val_score(KernelBBLRClassifier(kernel_gamma=1.0), X, y, cv=3)
    given = cross_val_score(KernelBBLRClassifier("precomputed"), K, y, cv=3)
    np.testing.assert_allclose(given, named)


@pytest.mark.parametrize("frame", ["pandas", "polars"])
def test_frames(frame, moons):
    X, y = moons
    library = pytest.importorskip(frame)
    table = library.DataFrame({"left": X[:, 0], "right": X[:, 1]})
    model = KernelBBLRClassifier().fit(table, np.where(y == 1, "yes", "no"))
    assert model.feature_names_in_.tolist() == ["left", "right"]
    assert set(model.predict(table)) == {"yes", "no"}
