"""The same data in another form give the same kernel model: columns, signs, copies, constants."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification, make_moons

from bblr import KernelBBLRClassifier, KernelBBLRClassifierCV
from bblr._numeric.arrays import by_distances, column_variances
from bblr.kernel.kernel_setup import kernel_training

MODELS = [
    KernelBBLRClassifier(random_state=0),
    KernelBBLRClassifier(kernel="laplacian", random_state=0),
    KernelBBLRClassifier(sparsity="backward", random_state=0),
    KernelBBLRClassifier(sparsity="gauss-laplace", random_state=0),
    KernelBBLRClassifier(max_centers=40, random_state=0),
    KernelBBLRClassifierCV(l2s=[0.1, 1.0], random_state=0),
]


@pytest.fixture(scope="module")
def data():
    X, y = make_moons(120, noise=0.3, random_state=0)
    rng = np.random.default_rng(0)
    return np.column_stack([X, 2 + rng.normal(size=(120, 2)), rng.integers(2, size=120)]), y


@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("change", ["columns", "signs", "constant", "rows", "copies", "labels"])
def test_the_same_data_in_another_form(data, model, change):
    X, y = data
    expected = clone(model).fit(X, y).decision_function(X)
    other, to_fit, weight, sign = X, slice(None), None, 1
    labels = y
    if change == "columns":
        other = X[:, [3, 0, 4, 2, 1]]
    elif change == "signs":
        other = X * [-1, 1, -1, -1, 1]
    elif change == "constant":
        other = np.column_stack([X[:, :2], np.full(len(X), 3.0), X[:, 2:]])
    elif change == "rows":
        to_fit = np.random.default_rng(1).permutation(len(X))
    elif change == "copies":
        if isinstance(model, KernelBBLRClassifierCV):
            pytest.skip("folds are drawn by row")
        other, labels = np.vstack([X, X[:30]]), np.append(y, y[:30])
        weight = np.r_[np.full(30, 0.5), np.ones(90), np.full(30, 0.5)]
    else:
        labels, sign = 1 - y, -1
    fitted = clone(model).fit(other[to_fit], labels[to_fit], weight)
    found = sign * fitted.decision_function(other[: len(X)])
    np.testing.assert_allclose(found, expected, atol=1e-8 * np.abs(expected).max())


@pytest.mark.parametrize("penalty", ["rkhs", "ridge"])
def test_centres_do_not_ask_which_label_of_equal_rows_comes_first(penalty):
    rng = np.random.default_rng(2)
    y = rng.permutation(np.arange(90) % 3)
    X = (rng.normal(size=(90, 3)) + np.eye(3)[y]) * (rng.random((90, 3)) < 0.3)
    order = np.array([2, 0, 1])
    model = KernelBBLRClassifier(
        max_centers=8, penalty=penalty, class_weight="balanced", random_state=0
    )
    expected = clone(model).fit(X, y).decision_function(X)
    found = clone(model).fit(X, order[y]).decision_function(X)[:, order]
    np.testing.assert_allclose(found, expected, atol=1e-8 * np.abs(expected).max())


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("options", [{"prior": "learned"}, {"sparsity": "gauss-laplace"}], ids=str)
def test_held_out_rows_do_not_ask_which_label_of_equal_rows_comes_first(classes, options):
    rng = np.random.default_rng(2)
    y = np.arange(90) % classes
    X = np.round(rng.normal(size=(90, 2)) + 0.7 * y[:, None])
    order = np.roll(np.arange(classes), 1)
    model = KernelBBLRClassifier(l2=0.3, random_state=0, **options)
    one, two = (clone(model).fit(X, labels).decision_function(X) for labels in (y, order[y]))
    back = -two if classes == 2 else two[:, order]
    np.testing.assert_allclose(one, back, atol=1e-8 * np.abs(one).max())


def test_centres_of_given_folds_do_not_ask_for_the_order_of_rows():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 2
    X[y == 1] += 1.0
    folds, order = np.arange(60) // 4 % 3, rng.permutation(60)
    scores = []
    for rows in (np.arange(60), order):
        own = folds[rows]
        cv = [(np.flatnonzero(own != k), np.flatnonzero(own == k)) for k in range(3)]
        model = KernelBBLRClassifierCV(
            cv=cv, max_centers=9, l2s=[1.0], kernel_gammas=[0.3], random_state=0
        )
        scores.append(model.fit(X[rows], y[rows]).decision_function(X))
    np.testing.assert_allclose(scores[0], scores[1], atol=1e-8 * np.abs(scores[0]).max())


@pytest.mark.parametrize("sparsity", [None, "backward"])
@pytest.mark.parametrize("penalty", ["rkhs", "ridge"])
def test_copies_in_the_same_given_folds_are_weights(penalty, sparsity):
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    X, times = rng.normal(size=(80, 3)) + y[:, None], rng.integers(1, 4, 80)
    X[::9] *= 20.0
    each = np.repeat(np.arange(80), times)
    own, scores = rng.integers(0, 3, 80), []
    for rows, weight in ((np.arange(80), times), (each, None), (rng.permutation(each), None)):
        cv = [(np.flatnonzero(own[rows] != k), np.flatnonzero(own[rows] == k)) for k in range(3)]
        model = KernelBBLRClassifierCV(
            cv=cv, l2s=(1.0, 0.1), penalty=penalty, sparsity=sparsity, random_state=0
        )
        scores.append(model.fit(X[rows], y[rows], weight).decision_function(X))
    for found in scores[1:]:
        np.testing.assert_allclose(found, scores[0], atol=1e-10 * np.abs(scores[0]).max())


def test_copies_in_different_given_folds_stay_apart():
    rng = np.random.default_rng(1)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 2)) + y[:, None]
    rows = np.r_[np.arange(60), np.arange(20)]
    own = rng.integers(0, 3, 80)
    cv = [(np.flatnonzero(own != k), np.flatnonzero(own == k)) for k in range(3)]
    model = KernelBBLRClassifierCV(cv=cv, l2s=[1.0], kernel_gammas=[0.3], random_state=0)
    training = kernel_training(model, X[rows], y[rows], None)
    given = model._given_folds(training, None)
    problem, kept = model._make_problem(training, given)
    places = set(zip(rows.tolist(), own.tolist(), strict=True))
    assert len(kept) == len(places) < 80
    assert problem.weight.sum() == 80.0
    model.fit(X[rows], y[rows])


def test_an_order_by_distances_is_one_of_the_rows_alone(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 4)) * (rng.random((50, 4)) < 0.7)
    expected = X[by_distances(X)]
    columns, signs, rows = rng.permutation(4), np.array([-1, 1, -1, 1]), rng.permutation(50)
    np.testing.assert_array_equal(X[rows][by_distances(X[rows])], expected)
    np.testing.assert_array_equal(X[by_distances((X * signs)[:, columns])], expected)
    np.testing.assert_array_equal(X[by_distances(sparse.csr_matrix(X))], expected)
    monkeypatch.setattr("bblr._numeric.arrays._MOST_ENTRIES", 0)
    wide = X[by_distances(sparse.csr_matrix(X))]
    moved = by_distances(sparse.csr_matrix((X * signs)[rows][:, columns]))
    np.testing.assert_array_equal(X[rows][moved], wide)


def test_variances_of_columns():
    rng = np.random.default_rng(0)
    X, weight = rng.normal(3, 2, size=(40, 3)) * (rng.random((40, 3)) < 0.6), rng.random(40)
    mean = np.average(X, axis=0, weights=weight)
    expected = np.average((X - mean) ** 2, axis=0, weights=weight)
    np.testing.assert_allclose(column_variances(X, weight), expected)
    np.testing.assert_allclose(column_variances(sparse.csr_matrix(X), weight), expected)


MIXTURES = [
    KernelBBLRClassifier(sparsity="gauss-laplace", random_state=0),
    KernelBBLRClassifierCV(
        kernel_gammas=[0.5],
        l2s=[0.3],
        prior="mild",
        sparsity="gauss-laplace",
        cv=3,
        random_state=0,
    ),
]


@pytest.mark.parametrize("model", MIXTURES, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("seed", [0, 2, 4])
def test_the_mixture_keeps_its_promise_and_asks_for_no_names(model, seed):
    """It left a single vector on these rows, or other vectors where the labels were swapped."""
    X, y = make_classification(
        120, 5, n_informative=3, n_redundant=0, flip_y=0.1, random_state=seed
    )
    fitted = clone(model).fit(X, y)
    assert len(fitted.support_) > 10 and fitted.score(X, y) > 0.75
    expected = fitted.decision_function(X)
    found = -clone(model).fit(X, 1 - y).decision_function(X)
    np.testing.assert_allclose(found, expected, atol=1e-8 * np.abs(expected).max())
