"""What a classifier around another one promises of wrong labels."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_digits, make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC

from bblr import BBLRClassifier, RobustClassifier, find_label_errors
from bblr.audit.refits import METHODS, Refit, with_all_classes

LR = LogisticRegression()
BOOSTING = HistGradientBoostingClassifier(max_iter=15, random_state=0)
UNIFORM = np.array([[0.75, 0.25], [0.25, 0.75]])
ONE_SIDED = np.array([[0.7, 0.3], [0.0, 1.0]])
THREE = np.array([[0.8, 0.2, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])


def blobs(flips, n=900, apart=5.0, seed=0):
    """Return rows, labels given at known rates, and true classes."""
    rng = np.random.default_rng(seed)
    k = len(flips)
    truth = np.arange(n) % k
    X = rng.normal(size=(n, 4))
    X[:, :k] += apart * np.eye(k)[truth][:, :4]
    given = np.array([rng.choice(k, p=flips[t]) for t in truth])
    return X, given, truth


def same(a, b, X, tol=0.0):
    np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X), rtol=tol, atol=tol)
    np.testing.assert_allclose(a.flip_matrix_, b.flip_matrix_, rtol=tol, atol=tol)
    np.testing.assert_allclose(a.label_quality_, b.label_quality_, rtol=tol, atol=tol)


@pytest.mark.parametrize("flips", [UNIFORM, ONE_SIDED, THREE], ids=["even", "one", "three"])
@pytest.mark.parametrize("inner", [LR, BOOSTING], ids=["linear", "boosting"])
def test_planted_noise_is_found_and_allowed_for(flips, inner):
    X, given, truth = blobs(flips)
    fresh, _, right = blobs(flips, seed=1)
    model = RobustClassifier(inner, random_state=0).fit(X, given)
    assert np.abs(model.flip_matrix_ - flips).max() < 0.06
    wrong = given != truth
    assert np.mean(model.kept_[wrong]) < 0.1 and np.mean(model.kept_[~wrong]) > 0.97
    assert model.label_quality_[wrong].mean() < 0.2 < 0.8 < model.label_quality_[~wrong].mean()
    plain = clone(inner).fit(X, given)
    assert model.score(fresh, right) >= max(0.97, plain.score(fresh, right))


def test_a_linear_classifier_steadies_one_that_follows_wrong_labels():
    rng = np.random.default_rng(0)
    X, fresh = rng.normal(size=(2, 600, 4))
    truth, right = (rows.sum(axis=1) > 0 for rows in (X, fresh))
    given = truth ^ (rng.random(600) < 0.4)
    model = RobustClassifier(BOOSTING, random_state=0).fit(X, given)
    plain = clone(BOOSTING).fit(X, given)
    # Alone, boosting takes almost all labels for guesses, and gains nothing.
    assert model.score(fresh, right) > plain.score(fresh, right) + 0.05
    assert model.flip_matrix_[0, 1] == pytest.approx(0.4, abs=0.1)


def test_rows_that_a_linear_classifier_cannot_read():
    X, given, truth = blobs(UNIFORM, n=300)
    X[::7, 0] = np.nan
    filled = make_pipeline(SimpleImputer(), LR)
    assert RobustClassifier(filled, random_state=0).fit(X, given).score(X, truth) > 0.95
    words = np.where(X[:, :1] > 2.5, "high", "low")
    coded = make_pipeline(OneHotEncoder(), LR)
    assert RobustClassifier(coded, random_state=0).fit(words, given).score(words, truth) > 0.8


def test_a_classifier_without_weights_leaves_rows_out():
    X, given, truth = blobs(UNIFORM)
    fresh, _, right = blobs(UNIFORM, seed=1)
    inner = KNeighborsClassifier(15)
    model = RobustClassifier(inner, random_state=0).fit(X, given)
    assert model.method_ == "leave_out" and np.mean(model.kept_ == (given == truth)) > 0.95
    assert model.score(fresh, right) >= max(0.97, inner.fit(X, given).score(fresh, right))


@pytest.mark.parametrize("apart", [1.0, 2.0, 5.0])
@pytest.mark.parametrize("k", [2, 3])
def test_clean_data_are_left_untouched(apart, k):
    X, given, _ = blobs(np.eye(k), apart=apart)
    model = RobustClassifier(LR, random_state=0).fit(X, given)
    assert model.method_ == "none" and model.kept_.all()
    np.testing.assert_array_equal(model.flip_matrix_, np.eye(k))
    np.testing.assert_array_equal(model.predict_proba(X), LR.fit(X, given).predict_proba(X))


def test_it_is_the_estimate_of_the_audit():
    X, given, _ = blobs(THREE)
    model = RobustClassifier(LR, random_state=0).fit(X, given)
    found = find_label_errors(LR, X, given, random_state=0)
    np.testing.assert_array_equal(model.flip_matrix_, found.flip_rates)
    np.testing.assert_allclose(model.label_quality_, 1.0 - found.probability, atol=1e-12)


@pytest.mark.parametrize("method", ["auto", *METHODS])
def test_names_and_order_of_classes_do_not_matter(method):
    X, given, _ = blobs(THREE, n=300)
    folds = list(GroupKFold(3).split(X, groups=np.arange(300) // 5))
    model = RobustClassifier(LR, method=method, cv=folds).fit(X, given)
    names = np.array(["c", "a", "b"])
    named = RobustClassifier(LR, method=method, cv=folds).fit(X, names[given])
    assert named.classes_.tolist() == ["a", "b", "c"]
    order = [1, 2, 0]
    np.testing.assert_allclose(
        named.flip_matrix_, model.flip_matrix_[np.ix_(order, order)], atol=1e-3
    )
    np.testing.assert_allclose(named.predict_proba(X), model.predict_proba(X)[:, order], atol=0.01)
    assert np.mean(named.predict(X) == names[model.predict(X)]) > 0.99


def test_the_order_of_rows_does_not_matter():
    X, given, _ = blobs(ONE_SIDED, n=300)
    folds = list(GroupKFold(3).split(X, groups=np.arange(300) // 5))
    order = np.random.default_rng(1).permutation(300)
    back = np.argsort(order)
    moved_folds = [(back[train], back[test]) for train, test in folds]
    model = RobustClassifier(LR, cv=folds).fit(X, given)
    moved = RobustClassifier(LR, cv=moved_folds).fit(X[order], given[order])
    np.testing.assert_allclose(moved.predict_proba(X), model.predict_proba(X), atol=1e-3)
    np.testing.assert_allclose(moved.label_quality_, model.label_quality_[order], atol=1e-3)


@pytest.mark.parametrize("rounds", [1, 2])
def test_workers_change_nothing(rounds):
    X, y = load_digits(return_X_y=True)
    X, y = X[:300], y[:300].copy()
    y[::4] = (y[::4] + 1) % 10
    inner = RandomForestClassifier(10, random_state=0)
    alone, two = (
        RobustClassifier(inner, n_rounds=rounds, n_jobs=n, random_state=0).fit(X, y)
        for n in (None, 2)
    )
    same(alone, two, X)


@pytest.mark.parametrize("method", METHODS)
def test_weights_repeat_rows(method):
    X, given, _ = blobs(ONE_SIDED, n=200)
    times = np.random.default_rng(0).integers(1, 4, size=200)
    groups = np.arange(200) % 4
    rows = np.repeat(np.arange(200), times)
    weighted = RobustClassifier(LR, method=method, cv=GroupKFold(4))
    weighted = weighted.fit(X, given, sample_weight=times, groups=groups)
    repeated = RobustClassifier(LR, method=method, cv=[
        (np.flatnonzero(groups[rows] != g), np.flatnonzero(groups[rows] == g)) for g in range(4)
    ]).fit(X[rows], given[rows])  # fmt: skip
    assert weighted.method_ == method
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=0.01)
    np.testing.assert_allclose(weighted.flip_matrix_, repeated.flip_matrix_, atol=0.005)


def test_rows_of_weight_zero_are_not_there():
    X, given, _ = blobs(UNIFORM, n=300)
    weight = np.ones(300)
    weight[200:] = 0.0
    model = RobustClassifier(LR, random_state=0).fit(X, given, sample_weight=weight)
    part = RobustClassifier(LR, random_state=0).fit(X[:200], given[:200])
    np.testing.assert_allclose(model.predict_proba(X), part.predict_proba(X), atol=1e-3)


@pytest.mark.parametrize("noise", [0.25, UNIFORM, UNIFORM.tolist()], ids=["rate", "array", "list"])
def test_known_noise_needs_no_estimate(noise):
    X, given, truth = blobs(UNIFORM, apart=2.5)
    model = RobustClassifier(LR, noise=noise, random_state=0).fit(X, given)
    np.testing.assert_allclose(model.flip_matrix_, UNIFORM)
    assert np.mean(model.kept_ == (given == truth)) > 0.9
    clean = RobustClassifier(LR, noise=0.0, random_state=0).fit(X, given)
    np.testing.assert_array_equal(clean.label_quality_, 1.0)
    np.testing.assert_array_equal(clean.predict(X), LR.fit(X, given).predict(X))


def test_probabilities_are_of_the_true_class():
    # The given labels follow from the true ones by the flip matrix.
    X, given, truth = blobs(ONE_SIDED, n=4000, apart=1.5)
    model = RobustClassifier(LR, method="soft", noise=ONE_SIDED, random_state=0).fit(X, given)
    p = model.predict_proba(X)
    assert p[:, 1].mean() == pytest.approx(truth.mean(), abs=0.04)
    np.testing.assert_allclose((p @ model.flip_matrix_)[:, 1].mean(), given.mean(), atol=0.04)


def test_pipelines_frames_and_searches():
    X, given, truth = blobs(UNIFORM, n=400)
    frame = pd.DataFrame(X, columns=list("abcd"), index=np.arange(400)[::-1])
    y = pd.Series(np.array(["no", "yes"])[given], index=frame.index)
    pipe = make_pipeline(StandardScaler(), LR)
    model = RobustClassifier(pipe, random_state=0).fit(frame, y)
    assert model.feature_names_in_.tolist() == list("abcd") and model.n_features_in_ == 4
    assert model.method_ == "leave_out" and np.mean(model.predict(frame) == "yes") > 0.3
    outer = make_pipeline(StandardScaler(), RobustClassifier(LR, random_state=0)).fit(X, given)
    assert outer.score(X, truth) > 0.97
    search = GridSearchCV(
        RobustClassifier(LR, random_state=0), {"estimator__C": [0.1, 1.0]}, cv=2
    ).fit(X, given)
    assert search.best_estimator_.score(X, truth) > 0.97
    searched = RobustClassifier(GridSearchCV(LR, {"C": [0.1, 1.0]}, cv=2), random_state=0)
    assert searched.fit(X, given).method_ == "leave_out"


def test_sparse_rows_and_kernels():
    X, given, truth = blobs(UNIFORM, n=300)
    dense = RobustClassifier(LR, random_state=0).fit(X, given)
    sparse = RobustClassifier(LR, random_state=0).fit(csr_array(X), given)
    same(dense, sparse, X, 1e-4)
    kernel = rbf_kernel(X, gamma=0.1)
    named, by_rows = SVC(kernel="precomputed"), SVC(gamma=0.1)
    for method in METHODS:
        pair = [RobustClassifier(m, method=method, random_state=0) for m in (named, by_rows)]
        ours, theirs = pair[0].fit(kernel, given), pair[1].fit(X, given)
        assert not hasattr(ours, "predict_proba") or ours.method_ == method
        np.testing.assert_allclose(ours.flip_matrix_, theirs.flip_matrix_, atol=0.05)
        if method == "weights":
            assert ours.score(kernel, truth) > 0.95


def test_only_scores_are_needed():
    X, given, truth = blobs(UNIFORM, n=300)
    model = RobustClassifier(LinearSVC(), random_state=0).fit(X, given)
    assert not hasattr(model, "predict_proba")
    assert model.decision_function(X).shape == (300,) and model.score(X, truth) > 0.97


class Recording(LogisticRegression):
    """Notes what its fit was given."""

    def fit(self, X, y, sample_weight=None, tags=None):
        self.seen_ = (len(y), None if tags is None else np.array(tags))
        return super().fit(X, y, sample_weight)


def test_fit_parameters_are_divided_with_the_rows():
    X, given, _ = blobs(UNIFORM, n=200)
    model = RobustClassifier(Recording(), method="leave_out", random_state=0)
    model.fit(X, given, tags=np.arange(200))
    n, tags = model.estimator_.seen_
    assert n == len(tags) < 200 and set(tags) == set(np.flatnonzero(model.kept_))


def test_requests_are_routed():
    X, given, _ = blobs(UNIFORM, n=300)
    weight = np.random.default_rng(0).random(300) + 0.5
    groups = np.arange(300) % 6
    plain = RobustClassifier(LR, cv=GroupKFold(3)).fit(X, given, weight, groups=groups)
    with config_context(enable_metadata_routing=True):
        asks = LogisticRegression().set_fit_request(sample_weight=True)
        routed = RobustClassifier(asks, cv=GroupKFold(3))
        routed.fit(X, given, sample_weight=weight, groups=groups)
        same(plain, routed, X)
        other = LogisticRegression().set_fit_request(sample_weight="w")
        same(plain, RobustClassifier(other, cv=GroupKFold(3)).fit(X, given, w=weight,
                                                                  groups=groups), X)  # fmt: skip
        pipe = make_pipeline(StandardScaler(with_mean=False, with_std=False), asks)
        pipe.steps[0][1].set_fit_request(sample_weight=False)
        piped = RobustClassifier(pipe, cv=GroupKFold(3))
        same(plain, piped.fit(X, given, sample_weight=weight, groups=groups), X)
        silent = RobustClassifier(LogisticRegression(), random_state=0).fit(X, given)
        assert silent.method_ == "leave_out"
        with pytest.raises(Exception, match="sample_weight"):
            RobustClassifier(LogisticRegression()).fit(X, given, sample_weight=weight)


def test_a_class_is_never_lost():
    # Nine in ten rows of the last class look like another one.
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(size=(200, 2)), rng.normal(size=(200, 2)) + 8, rng.normal(size=(10, 2))]
    y = np.repeat([0, 1, 2], [200, 200, 10])
    y[:60] = 1
    for method in METHODS:
        model = RobustClassifier(LR, method=method, noise=0.3, random_state=0).fit(X, y)
        assert model.estimator_.classes_.tolist() == [0, 1, 2]


def test_many_classes_and_our_own_classifiers():
    X, y = load_digits(return_X_y=True)
    X, y, truth = X[:600], y[:600].copy(), y[:600]
    y[::5] = (y[::5] + 3) % 10
    model = RobustClassifier(BBLRClassifier(), random_state=0).fit(X, y)
    assert model.flip_matrix_.shape == (10, 10)
    np.testing.assert_allclose(model.flip_matrix_.sum(axis=1), 1.0)
    assert np.mean(model.kept_[y != truth]) < 0.2


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"estimator": LogisticRegression}, TypeError, "estimator must be a classifier"),
        ({"method": "drop"}, ValueError, "method"),
        ({"method": "soft", "estimator": KNeighborsClassifier()}, ValueError, "sample_weight"),
        ({"noise": 0.5}, ValueError, "noise must be less than 0.5 with 2 classes"),
        ({"noise": -0.1}, ValueError, "noise"),
        ({"noise": [[0.5, 0.6], [0, 1]]}, ValueError, "which sum to 1 in each row"),
        ({"noise": np.eye(3)}, ValueError, "a matrix of 2 rows and columns"),
        ({"n_rounds": 0}, ValueError, "n_rounds"),
        ({"cv": 1}, ValueError, "cv must be an integer of at least 2"),
        ({"n_jobs": 0}, ValueError, "n_jobs"),
        ({"noise": [[0.5, 0.5], [0.5, 0.5]]}, ValueError, "or labels say nothing"),
        ({"noise": [[1, 0], [1]]}, ValueError, "noise must be a rate, or a matrix"),
        ({"noise": [[1, 0], [0, "a"]]}, ValueError, "noise must be a rate, or a matrix"),
        ({"noise": {}}, ValueError, "noise must be a rate, or a matrix"),
        ({"cv": [(1, 2, 3)]}, ValueError, "cv must name two sets of rows"),
        ({"cv": GroupKFold(3)}, ValueError, r"needs groups; pass them to fit"),
    ],
)
def test_what_is_refused(change, error, words):
    X, y = make_classification(60, 4, random_state=0)
    estimator = change.get("estimator", LR)
    rest = {name: value for name, value in change.items() if name != "estimator"}
    with pytest.raises(error, match=words):
        RobustClassifier(estimator, **rest).fit(X, y)


@pytest.mark.parametrize(
    ("groups", "cv", "words"),
    [
        (np.arange(60) % 4, 5, r"groups would be ignored: cv=5.*or leave groups out"),
        ([1, 2], GroupKFold(3), "one group for each of the 60 rows"),
        (3, GroupKFold(3), "one group for each of the 60 rows"),
        ([[0]] * 60, GroupKFold(3), "one group for each of the 60 rows"),
        ([None, *"abc" * 20][:60], GroupKFold(3), "groups must not be missing, but row 0"),
    ],
)
def test_groups_that_are_refused(groups, cv, words):
    X, y = make_classification(60, 4, random_state=0)
    with pytest.raises(ValueError, match=words):
        RobustClassifier(LR, cv=cv).fit(X, y, groups=groups)


def test_one_row_that_weighs_more_than_all_others_together():
    """Equations of the other rows, by subtraction, are rounding."""
    X, y = make_classification(60, 4, random_state=0)
    model = RobustClassifier(LR, random_state=0).fit(X, y, np.r_[1e18, np.ones(59)])
    assert np.isfinite(model.label_quality_).all()


@pytest.mark.parametrize(
    ("y", "weight", "words"),
    [
        ([0, 1, 1, 1, 1, 1], None, "y holds 0 once only.*, or leave the row out.$"),
        ([0, 0, 0, 1, 1, 1], 1e300, "sample_weight and class_weight must"),
        ([], None, "got no rows"),
    ],
)
def test_remedies_are_its_own(y, weight, words):
    """They named in_sample, which it lacks, and weights that fit takes as none that it takes."""
    X = np.arange(len(y), dtype=float)[:, None]
    given = None if weight is None else np.full(len(y), weight)
    with pytest.raises(ValueError, match=words):
        RobustClassifier(BBLRClassifier(), cv=2).fit(X, y, given)
    split = [([0, 1, 4, 5], [2, 3])]
    with pytest.raises(ValueError, match=r"use an integer\.$"):
        RobustClassifier(BBLRClassifier(), cv=split).fit(np.eye(6), [0, 1] * 3)
    with pytest.raises(ValueError, match=r"Pass the classifier itself\.$"):
        RobustClassifier(FrozenEstimator(BBLRClassifier())).fit(np.eye(6), [0, 1] * 3)


def test_no_class_is_lost_whatever_the_new_labels():
    # Rows of class 1 were given the label 0, rows of class 2 the label 1, and so on.
    rng = np.random.default_rng(0)
    for _ in range(200):
        codes = np.append(np.arange(4), rng.integers(4, size=6))
        new = rng.integers(4, size=10)
        weight = None if rng.random() < 0.5 else rng.random(10)
        refit = with_all_classes(Refit(np.arange(10), new, weight), codes, weight, np.arange(10))
        assert set(refit.codes) == {0, 1, 2, 3}
        assert sorted(refit.rows) == list(range(10))
