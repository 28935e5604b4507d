"""What the fuzz found: numbers at the ends of their range, and input that contradicts itself."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from bblr import (
    BBLRClassifier,
    BBLRClassifierCV,
    KernelBBLRClassifier,
    KernelBBLRClassifierCV,
    Plateaus,
    Shards,
    SLAClassifier,
    ZeroOneClassifier,
)
from bblr.designs import SparseDesign
from bblr.solvers import geometric
from bblr.structured import Group
from bblr.training.link import Link


def data(n=40, d=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.normal(size=(n, d)) + y[:, None], y


LINEAR = [
    BBLRClassifier(),
    BBLRClassifier(solver="lbfgs"),
    BBLRClassifierCV(cv=2, l2s=(1.0,), random_state=0),
    SLAClassifier(),
]


@pytest.mark.parametrize("model", LINEAR, ids=str)
@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sparse.csr_matrix])
@pytest.mark.parametrize("factor", [1e155, 1e300])
def test_columns_that_cannot_be_squared_are_refused(model, form, factor):
    X, y = data()
    X[:, 1] *= factor
    with pytest.raises(ValueError, match=r"X holds numbers too large.*column 1 first"):
        model.fit(form(X), y)


def test_many_classes_refuse_them_too():
    X, _ = data()
    with pytest.raises(ValueError, match="X holds numbers too large"):
        BBLRClassifier().fit(X * 1e200, np.arange(40) % 3)


@pytest.mark.parametrize("model", LINEAR, ids=str)
def test_columns_too_small_to_be_squared_count_as_constant(model):
    X, y = data()
    tiny = np.c_[X, 1e-200 * X[:, 0]]
    expected = model.fit(np.c_[X, np.zeros(40)], y).decision_function(tiny)
    np.testing.assert_array_equal(model.fit(tiny, y).decision_function(tiny), expected)


def test_large_but_not_too_large_columns_are_fitted():
    X, y = data()
    near = BBLRClassifier().fit(X, y).decision_function(X)
    far = BBLRClassifier().fit(X * 1e100, y).decision_function(X * 1e100)
    np.testing.assert_allclose(far, near, rtol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_that_are_not_finite_are_refused(n_classes):
    X, _ = data()
    model = BBLRClassifier().fit(1e-100 * X, np.arange(40) % n_classes)
    with pytest.raises(ValueError, match="X holds numbers so large that its scores"):
        model.predict(np.full((2, 3), 1e300))


KERNELS = ("rbf", "poly", "linear", "laplacian", "cosine")


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("factor", [1e-300, 1e-155, 1e155, 1e300])
def test_kernels_of_extreme_features(kernel, form, factor):
    X, y = data()
    model = KernelBBLRClassifier(kernel)
    try:
        p = model.fit(form(factor * X), y).predict_proba(form(factor * X))
    except ValueError as error:
        assert factor > 1 and "too large" in str(error)
    else:
        assert np.isfinite(p).all()


@pytest.mark.parametrize(
    "model",
    [
        BBLRClassifier(gamma_max=1e300),
        BBLRClassifier(gamma_min=1e-300),
        BBLRClassifierCV(gamma_limit=1e300),
        KernelBBLRClassifier(gamma_max=1e300),
        KernelBBLRClassifierCV(gamma_limit=1e300),
        SLAClassifier(gamma_max=1e300),
    ],
    ids=str,
)
def test_gammas_that_cannot_be_squared_are_refused(model):
    with pytest.raises(ValueError, match=r"'gamma_\w+' parameter .*1e\+100"):
        model.fit(*data())


@pytest.mark.parametrize("gamma", [1e-12, 1e12])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_gammas_that_can_give_finite_answers(gamma, n_classes):
    X, _ = data()
    model = BBLRClassifier(gamma_min=gamma, gamma_max=gamma).fit(X, np.arange(40) % n_classes)
    assert np.isfinite(model.predict_proba(X)).all()


def test_a_plateau_at_zero_has_an_infinite_logarithm():
    X, y = data()
    model = BBLRClassifier(noise_free_proba=True).fit(X, y)
    assert np.isneginf(model.predict_log_proba(1e6 * X)).any()


def test_schedules_without_end_are_refused():
    with pytest.raises(ValueError, match=r"gamma_growth .* larger"):
        geometric(1.0, 8.0, 1.0 + 1e-9)
    with pytest.raises(ValueError, match="spacing must be at least"):
        SLAClassifier(radius=1e12).fit(*data())


@pytest.mark.parametrize("weight", [1e150, 1e-150])
@pytest.mark.parametrize(
    "model", [BBLRClassifier(), ZeroOneClassifier("bnb"), KernelBBLRClassifier()], ids=str
)
def test_weights_that_cannot_be_squared_are_refused(model, weight):
    with pytest.raises(ValueError, match="divide them by their mean"):
        model.fit(*data(), sample_weight=np.full(40, weight))


@pytest.mark.parametrize("factor", [2.0**-10, 2.0**-40, 2.0**-100])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "model",
    [
        BBLRClassifier(l2=3.0, prior="robust", solver="fisher"),
        BBLRClassifier(l2=3.0, prior="robust", solver="lbfgs"),
        KernelBBLRClassifier(),
    ],
    ids=str,
)
def test_light_rows_under_a_light_penalty_are_fitted_as_well(model, n_classes, factor):
    X, _ = data(90)
    y = (X + np.random.default_rng(1).normal(size=X.shape)).argmax(axis=1) % n_classes
    expected = clone(model).fit(X, y).decision_function(X)
    lighter = clone(model).set_params(l2=factor * model.l2)
    found = lighter.fit(X, y, np.full(90, factor))
    np.testing.assert_allclose(found.decision_function(X), expected, rtol=1e-6, atol=1e-9)


def test_heavy_examples_keep_the_link_between_its_plateaus():
    decision = np.array([-2.0, -1.0, 1.0, 2.0, 3.0])
    y = np.array([-1.0, -1.0, 1.0, 1.0, 1.0])
    for heaviest in (1e13, 1e60, 1e100):
        link = Link.fit(decision, y, np.array([heaviest, 1.0, heaviest, 1e-12, 1.0]))
        assert np.isfinite(link.probability(decision)).all()
        assert link.plateaus.every_class_can_win


def test_a_constant_column_of_a_sparse_matrix_has_no_variance():
    X, y = data(200)
    X[:, 1] = 3.7
    weight = np.random.default_rng(1).random(200)
    moments = SparseDesign(sparse.csr_matrix(X)).moments(weight)
    assert moments.variance[1] < 1e-28
    np.testing.assert_allclose(
        moments.variance[[0, 2]], np.cov(X.T, aweights=weight, ddof=0).diagonal()[[0, 2]]
    )
    dense = BBLRClassifier().fit(X, y).decision_function(X)
    found = BBLRClassifier().fit(sparse.csr_matrix(X), y).decision_function(X)
    np.testing.assert_allclose(found, dense, atol=1e-6)


def test_a_column_far_from_zero_keeps_its_variance_when_sparse():
    X, _ = data(200)
    X[:, 0] += 1e7
    moments = SparseDesign(sparse.csr_matrix(X)).moments(np.ones(200))
    np.testing.assert_allclose(moments.variance, X.var(axis=0), rtol=1e-6)


@pytest.mark.parametrize("model", [BBLRClassifier(), KernelBBLRClassifier()], ids=str)
@pytest.mark.parametrize("shift", [1000, -1000])
def test_a_sparse_matrix_that_contradicts_itself_is_refused(model, shift):
    X, y = data()
    broken = sparse.csr_matrix(X)
    broken.indices = broken.indices + shift
    with pytest.raises(ValueError, match="X is a sparse matrix that contradicts itself"):
        model.fit(broken, y)
    model.fit(X, y)
    with pytest.raises(ValueError, match="X is a sparse matrix that contradicts itself"):
        model.predict(broken)


@pytest.mark.parametrize("model", [BBLRClassifier(), KernelBBLRClassifier()], ids=str)
@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_array])
def test_row_pointers_that_go_down_again_are_refused(model, form):
    """SciPy's own check lets them pass, and compiled code would read what lies before the rows."""
    X, y = data()
    broken = form(X)
    broken.indptr = broken.indptr.copy()
    broken.indptr[1] = broken.indptr[-1] + 3
    with pytest.raises(ValueError, match="X is a sparse matrix that contradicts itself"):
        model.fit(broken, y)


def test_hyperplanes_of_denormal_and_huge_columns_are_finite():
    X, y = data()
    X[:, 0] = np.round(100 * X[:, 0]) * 5e-324
    X[:, 1] *= 1e300
    model = ZeroOneClassifier("csa", random_state=0).fit(X, y)
    assert np.isfinite(model.coef_).all() and np.isfinite(model.intercept_).all()


def test_the_spread_of_a_denormal_column_is_no_part_of_the_least_float():
    X, y = data()
    X[:, 0] = 5e-324 * (X[:, 0] > 0)
    weight = np.where(X[:, 0] > 0, 1e-12, 1e12)
    model = ZeroOneClassifier("sla", random_state=0).fit(X, y, weight)
    assert np.isfinite(model.coef_).all() and np.isfinite(model.intercept_).all()


def test_labels_are_named_where_they_are_wrong():
    X, y = data()
    with pytest.raises(ValueError, match="y contains NaN"):
        BBLRClassifier().fit(X, np.array([np.nan, "a"] * 20, dtype=object))
    with pytest.raises(ValueError, match="y must hold labels of one kind"):
        BBLRClassifier().fit(X, np.array(["a", 1] * 20, dtype=object))
    with pytest.raises(ValueError, match="class_weight must hold numbers"):
        BBLRClassifier(class_weight={0: "heavy"}).fit(X, y)
    with pytest.raises(ValueError, match=r"0 feature\(s\).*without columns"):
        BBLRClassifier().fit(pd.DataFrame(index=range(40)), y)


@pytest.mark.parametrize("n_jobs", [0, 1.5, "all"])
def test_jobs_are_counted(n_jobs):
    for model in (BBLRClassifierCV(n_jobs=n_jobs), KernelBBLRClassifierCV(n_jobs=n_jobs)):
        with pytest.raises(ValueError, match="'n_jobs' parameter"):
            model.fit(*data())


def test_a_column_is_a_feature_once(tmp_path):
    X, y = data()
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(kind=y)
    frame.to_parquet(tmp_path / "rows.parquet")
    with pytest.raises(ValueError, match="columns must name each column once"):
        Shards(tmp_path, columns=["a", "a"])
    with pytest.raises(ValueError, match="columns must not name 'kind'"):
        Shards(tmp_path, label="kind", columns=["a", "kind"])


def test_a_directory_is_scored_by_the_name_of_its_labels(tmp_path):
    X, y = data()
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(kind=y)
    frame.to_parquet(tmp_path / "rows.parquet")
    model = BBLRClassifier().fit(tmp_path, "kind")
    expected = float((model.predict(tmp_path) == y).mean())
    assert model.score(tmp_path, "kind") == expected
    assert model.score(Shards(tmp_path, label="kind"), "kind") == expected
    with pytest.raises(ValueError, match="only a directory of Parquet files"):
        model.score(frame[["a", "b", "c"]], "kind")


def test_no_rows_are_picked_from_shards(tmp_path):
    X, y = data()
    np.save(tmp_path / "rows.npy", X)
    with pytest.raises(TypeError, match="BBLRClassifierCV makes its own folds"):
        cross_val_score(BBLRClassifier(), Shards(tmp_path), y, error_score="raise")


def test_similarities_can_be_squared():
    with pytest.raises(ValueError, match="similarities must be at most"):
        Group(np.ones((2, 1)), pairs=[[0, 1]], similarities=[1e300])


SEARCH = {"solver": "search", "l2": 3.0, "prior": Plateaus.binary(0.2, 0.6)}


@pytest.mark.parametrize("size", [3.7, 3.7 * 2.0**27, 3.7e15, -1e-9])
@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("options", [{}, {"solver": "lbfgs"}, SEARCH])
def test_a_constant_column_changes_nothing(size, stored, options):
    """Rounding leaves a little of it, which in a large column would outweigh the others."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    X[:, 2] *= rng.random(60) < 0.3
    y = X @ [1, -1, 2] + rng.normal(size=60) > 0
    without = BBLRClassifier(random_state=0, **options).fit(stored(X), y)
    wide = stored(np.column_stack([np.full(60, size), X]))
    model = BBLRClassifier(random_state=0, **options).fit(wide, y)
    assert model.coef_[0, 0] == 0
    # Where a descent stops hangs a little on the number of columns.
    np.testing.assert_allclose(model.coef_[:, 1:], without.coef_, rtol=1e-3)
    np.testing.assert_allclose(model.intercept_, without.intercept_, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("factor", [5e37, 1e20, 1e-20, 1e-37])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_single_precision_keeps_its_range(factor, n_classes):
    rng = np.random.default_rng(0)
    y = np.arange(60) % n_classes
    X = (rng.normal(size=(60, 3)) + y[:, None]).astype(np.float32)
    expected = BBLRClassifier().fit(X, y).predict_proba(X)
    large = X * np.float32(factor) / np.float32(8)
    found = BBLRClassifier().fit(large, y).predict_proba(large)
    np.testing.assert_allclose(found, expected, atol=2e-3)


@pytest.mark.parametrize("leverage", [3.0, 1e308])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_a_row_that_does_not_count_may_lie_anywhere(leverage, form):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = X[:, 0] + rng.normal(size=60) > 0
    far, weight = X.copy(), np.ones(60)
    far[0, 0], weight[0] = 1e200, 0.0
    model = BBLRClassifier(leverage=leverage)
    coef = model.fit(form(far), y, weight).coef_
    np.testing.assert_allclose(coef, model.fit(form(X), y, weight).coef_, rtol=1e-9)


def test_heavy_weights_do_not_make_the_paper_s_descent_endless():
    X, y = np.arange(12.0)[:, None] % 5, np.arange(12) % 2
    model = SLAClassifier(gamma_min=1e-12, class_weight={0: 1e12, 1: 1e-12}).fit(X, y)
    assert max(stage.n_iter for stage in model.path_) <= 20_000
    assert np.isfinite(model.decision_function(X)).all()
