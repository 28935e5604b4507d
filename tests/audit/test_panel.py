"""The classifiers that score rows beside the one of the user."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_circles
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_info, threadpool_limits

from bblr import BBLRClassifier, KernelBBLRClassifier
from bblr.audit import panel
from bblr.audit.flips import estimate_flips
from bblr.audit.held_out import labelled, make_folds

TREE = DecisionTreeClassifier(max_depth=4, random_state=0)


def problem(n=120, columns=3, classes=3, seed=0, weight=None):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, columns))
    y = np.digitize(X[:, 0] + 0.5 * rng.normal(size=n), np.linspace(-0.5, 0.5, classes - 1))
    return labelled(X, y, weight, TREE)


def by_each_fold(Z, data, weight, folds, penalty):
    """Least squares on the training rows of each fold, with an intercept that is free."""
    shares = np.eye(len(data.classes))[data.codes]
    Z = np.column_stack([np.ones(len(Z)), Z])
    found = np.zeros(shares.shape)
    for train, test in folds:
        ridge = penalty * weight[train].sum() * np.diag([1e-9] + [1.0] * (Z.shape[1] - 1))
        gram = (Z[train] * weight[train, None]).T @ Z[train]
        sums = (Z[train] * weight[train, None]).T @ shares[train]
        found[test] = Z[test] @ np.linalg.solve(gram + ridge, sums)
    return found


@pytest.mark.parametrize("weighted", [False, True])
def test_each_fold_is_fitted_to_its_own_rows(weighted):
    data = problem()
    rng = np.random.default_rng(1)
    weight = rng.uniform(0.1, 1.0, 120) if weighted else np.ones(120)
    folds = make_folds(4, data, 0)
    got = panel.least_squares_scores(data.X, data, weight, folds)
    shares = np.eye(3)[data.codes]
    each = [by_each_fold(data.X, data, weight, folds, one) for one in panel._PENALTIES]
    best = min(each, key=lambda found: ((found - shares) ** 2).sum(axis=1) @ weight)
    np.testing.assert_allclose(got, best, atol=1e-8)


@pytest.mark.parametrize("unit", [2.0**-400, 2.0**60])
def test_units_do_not_matter(unit):
    data = problem()
    folds = make_folds(3, data, 0)
    plain = panel.panel_scores(TREE, data, folds, None)
    other = panel.panel_scores(TREE, data._replace(X=data.X * unit), folds, None)
    for a, b in zip(plain[1:], other[1:], strict=True):
        np.testing.assert_allclose(a, b, atol=1e-9)


def test_dense_and_sparse_rows_are_scored_alike():
    data = problem()
    folds = make_folds(3, data, 0)
    dense = panel.panel_scores(TREE, data, folds, None)
    sparse = panel.panel_scores(TREE, data._replace(X=sp.csr_array(data.X)), folds, None)
    np.testing.assert_allclose(dense, sparse, atol=1e-9)


@pytest.mark.parametrize(
    ("limit", "count"), [({}, 3), ({"_MOST_COLUMNS": 2}, 2), ({"_MOST_ROWS": 100}, 2)]
)
def test_who_scores_what(monkeypatch, limit, count):
    for name, value in limit.items():
        monkeypatch.setattr(panel, name, value)
    data = problem()
    folds = make_folds(3, data, 0)
    found = panel.panel_scores(TREE, data, folds, None)
    assert len(found) == count and all(one.shape == (120, 3) for one in found)
    own = [BBLRClassifier(), KernelBBLRClassifier(kernel="precomputed")]
    assert len(panel.panel_scores(own[0], data, folds, None)) == 1
    kernel = data._replace(X=data.X @ data.X.T)
    assert len(panel.panel_scores(own[1], kernel, folds, None)) == 1


def test_a_smooth_classifier_sees_noise_where_no_line_divides_the_classes():
    X, truth = make_circles(600, noise=0.15, factor=0.4, random_state=0)
    rng = np.random.default_rng(0)
    flipped = rng.random(600) < 0.35
    given = np.where(flipped, 1 - truth, truth)
    tree = DecisionTreeClassifier(min_samples_leaf=5, random_state=0)
    data = labelled(X, given, None, tree)
    scores = panel.panel_scores(tree, data, make_folds(5, data, 0), None)
    right = [
        np.mean((estimate_flips(part, given, np.ones(600)).log_odds > 0) == flipped)
        for part in (scores[:2], scores)
    ]
    assert right[1] > 0.85 > right[0]


def test_the_search_for_rates_keeps_to_one_thread(monkeypatch):
    """Matrices of forty classes gain nothing by more, and wait for them where cores are busy."""
    seen, eigh = [], np.linalg.eigh

    def watched(matrix):
        pools = threadpool_info()
        seen.extend(pool["num_threads"] for pool in pools if pool["user_api"] == "blas")
        return eigh(matrix)

    monkeypatch.setattr(np.linalg, "eigh", watched)
    rng = np.random.default_rng(0)
    codes = np.arange(200) % 40
    with threadpool_limits(2, user_api="blas"):
        estimate_flips(3.0 * np.eye(40)[codes] + rng.normal(size=(200, 40)), codes, np.ones(200))
    assert seen and set(seen) == {1}
