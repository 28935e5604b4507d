"""Kernel classifiers on awkward data: an answer or a clear error, never a hang."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import log_loss

from bblr import KernelBBLRClassifier, KernelBBLRClassifierCV


def data(n=120, d=3, seed=0, noise=0.3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X[:, 0] * X[:, -1] + noise * rng.normal(size=n) > 0).astype(int)


def tanh(A, B):
    return np.tanh(A @ B.T - 1)


def minus_distance(A, B):
    return -((A[:, None] - B[None]) ** 2).sum(-1)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "cosine"])
@pytest.mark.parametrize(("shift", "dtype"), [(0, np.float32), (100, np.float64)])
def test_rounding_does_not_keep_the_draw_of_centres_going(kernel, shift, dtype):
    X, y = data(2100, 2)
    model = KernelBBLRClassifier(kernel, random_state=0).fit((X + shift).astype(dtype), y)
    assert len(model.support_) <= 1000


@pytest.mark.parametrize("max_centers", [None, 50])
@pytest.mark.parametrize(("shift", "dtype"), [(1e6, np.float64), (100, np.float32)])
def test_the_origin_does_not_matter_to_distances(shift, dtype, max_centers):
    X, y = data()
    X = X.astype(np.float32).astype(np.float64).round(2)
    options = {"kernel_gamma": 0.3, "max_centers": max_centers, "random_state": 0}
    near = KernelBBLRClassifier(**options).fit(X, y)
    far = KernelBBLRClassifier(**options).fit((X + shift).astype(dtype), y)
    moved = far.decision_function((X + shift).astype(dtype))
    if max_centers is None:
        np.testing.assert_allclose(moved, near.decision_function(X), atol=2e-3)
    assert np.mean((moved > 0) == y) > 0.7


@pytest.mark.parametrize("n", [3001, 3002])
def test_any_number_of_rows_can_be_sampled(n):
    X, y = data(n, 2)
    options = {"kernel_gammas": (1.0,), "l2s": (1.0,), "prior": "mild", "gamma_limit": 1.0}
    assert KernelBBLRClassifierCV(cv=2, random_state=0, **options).fit(X, y).score(X, y) > 0.7


def test_a_rare_class_is_in_the_sample():
    X, y = data(6500, 2)
    y[:] = 0
    y[:3] = 1
    X[:3] += 8.0
    options = {"kernel_gammas": (1.0,), "l2s": (0.1,), "prior": "mild", "gamma_limit": 1.0}
    model = KernelBBLRClassifierCV(cv=2, random_state=0, **options).fit(X, y)
    assert model.classes_.tolist() == [0, 1]
    y[1:3] = 0
    with pytest.raises(ValueError, match="cv needs at least 2 examples"):
        KernelBBLRClassifierCV(cv=2, **options).fit(X, y)


def test_a_class_of_one_row_many_times_can_be_held_out():
    X, y = data(20, 2)
    y[:] = np.arange(20) < 10
    X[:10] = 3.0
    options = {"kernel_gammas": (1.0,), "l2s": (0.1,), "gamma_limit": 1.0, "prior": "mild"}
    assert KernelBBLRClassifierCV(cv=3, random_state=0, **options).fit(X, y).score(X, y) == 1.0


@pytest.mark.parametrize(
    "model",
    [
        KernelBBLRClassifier("poly", kernel_gamma=1e80, degree=5),
        KernelBBLRClassifier("linear"),
    ],
    ids=str,
)
def test_kernels_that_overflow_are_refused(model):
    X, y = data()
    with pytest.raises(ValueError, match=r"not finite.*StandardScaler"):
        model.fit(X * 1e160 if model.kernel == "linear" else X, y)


def test_a_degree_is_a_whole_number():
    with pytest.raises(ValueError, match="'degree' parameter"):
        KernelBBLRClassifier("poly", degree=2.5).fit(*data())


@pytest.mark.parametrize("max_centers", [None, 50])
def test_indefinite_kernels_are_refused_or_penalised_by_weights(max_centers):
    X, y = data()
    options = {"max_centers": max_centers, "random_state": 0}
    with pytest.raises(ValueError, match="positive semi-definite"):
        KernelBBLRClassifier(tanh, **options).fit(X, y)
    for kernel in (tanh, minus_distance):
        for sparsity in (None, "backward"):
            model = KernelBBLRClassifier(kernel, penalty="ridge", sparsity=sparsity, **options)
            assert len(model.fit(X, y).support_) > 0


def test_the_link_is_that_of_the_vectors_left():
    X, y = data(300, 2, noise=0.1)
    X_new, y_new = data(3000, 2, 5, 0.1)
    options = {"kernel_gammas": (1.0,), "l2s": (0.1,), "gamma_limit": 1.0, "prior": "mild"}
    for count in (2, 30):
        model = KernelBBLRClassifierCV(
            sparsity="backward", max_vectors=count, cv=3, random_state=0, **options
        ).fit(X, y)
        assert len(model.support_) <= count
        assert log_loss(y_new, model.predict_proba(X_new)) < 0.70


def test_backward_rises_from_the_dense_fit():
    X, y = data(300, 5)
    dense = KernelBBLRClassifier(kernel_gamma=2.0).fit(X, y)
    few = KernelBBLRClassifier(kernel_gamma=2.0, sparsity="backward", random_state=0).fit(X, y)
    assert few.path_[-1].value <= 1.011 * dense.path_[-1].value


@pytest.mark.parametrize(("n", "asked"), [(100, 1000), (100, 80), (300, 200)])
def test_as_many_vectors_as_asked_for_and_can_be(n, asked):
    X, y = data(n)
    model = KernelBBLRClassifier(
        kernel_gamma=1.0, sparsity="backward", max_vectors=asked, random_state=0
    ).fit(X, y)
    assert len(model.support_) == min(n, asked)


def test_four_rows():
    X, y = data()
    rows = np.r_[np.flatnonzero(y == 0)[:2], np.flatnonzero(y == 1)[:2]]
    KernelBBLRClassifier(sparsity="gauss-laplace", random_state=0).fit(X[rows], y[rows])


def test_a_float_is_no_count():
    with pytest.raises(ValueError, match=r"'max_vectors' parameter .* must be an int"):
        KernelBBLRClassifier(sparsity="gauss-laplace", max_vectors=10.0).fit(*data())


def test_wide_sparse_rows_stay_sparse():
    rng = np.random.default_rng(0)
    X = sparse.random(100, 250_000, 1e-4, "csr", random_state=rng)
    X = sparse.vstack([X, X[:5]]).tocsr()
    y = rng.integers(0, 2, 105)
    y[100:] = y[:5]
    model = KernelBBLRClassifier("cosine").fit(X, y)
    assert len(model.support_) <= 100


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        ([], "at least one division"),
        ([(np.arange(40), np.array([], dtype=int))], "rows to hold out"),
        ([(np.arange(40), np.array([500]))], "beyond the 120"),
    ],
)
def test_bad_divisions_are_named(cv, message):
    with pytest.raises(ValueError, match=f"cv .*{message}"):
        KernelBBLRClassifierCV(cv=cv).fit(*data())


def test_units_do_not_matter_to_the_laplacian():
    X, y = data()
    one = KernelBBLRClassifier("laplacian").fit(X, y).decision_function(X)
    other = KernelBBLRClassifier("laplacian").fit(1024 * X, y).decision_function(1024 * X)
    np.testing.assert_allclose(other, one, atol=1e-6)


def test_arrays_of_a_callable_are_left_alone():
    X, y = data(100)
    memory = []

    def kernel(A, B):
        memory.append((K := np.exp(minus_distance(A, B)), K.copy()))
        return K

    KernelBBLRClassifier(kernel, max_centers=60, random_state=0).fit(X, y)
    for now, then in memory:
        np.testing.assert_array_equal(now, then)


@pytest.mark.parametrize("returned", ["text", np.array([[1j]]), None], ids=str)
def test_what_a_callable_returns_is_named(returned):
    with pytest.raises(ValueError, match="kernel must return"):
        KernelBBLRClassifier(lambda A, B: returned).fit(*data())


def test_a_callable_gets_rows_as_in_training():
    X, y = data()
    seen = []

    def kernel(A, B):
        seen.append((sparse.issparse(A), sparse.issparse(B)))
        return np.asarray((A @ B.T).todense()) if sparse.issparse(A) else A @ B.T

    for fit_on, ask in ((X, sparse.csr_array(X)), (sparse.csr_array(X), X)):
        seen.clear()
        model = KernelBBLRClassifier(kernel).fit(fit_on, y)
        model.predict(ask)
        assert set(seen) == {(sparse.issparse(fit_on),) * 2}


def test_a_precomputed_kernel_is_symmetric():
    X, y = data()
    K = np.exp(minus_distance(X, X))
    with pytest.raises(ValueError, match="X must be symmetric"):
        KernelBBLRClassifier("precomputed").fit(np.triu(K), y)
    KernelBBLRClassifier("precomputed", sparsity="backward").fit(np.zeros((120, 120)), y)


def test_attributes_of_an_earlier_fit_are_gone():
    X, y = data()
    options = {"kernel_gammas": (1.0,), "l2s": (0.3,), "cv": 3, "gamma_limit": 1.0}
    for model in (KernelBBLRClassifier(), KernelBBLRClassifierCV(**options)):
        model.set_params(sparsity="backward").fit(X, y)
        model.set_params(sparsity=None).fit(X, y)
        assert not hasattr(model, "dense_dual_coef_")
        assert not hasattr(model, "sparsity_path_")


def test_predictions_are_those_of_the_fit():
    X, y = data()
    model = KernelBBLRClassifier("poly", degree=3, coef0=1.0).fit(X, y)
    before = model.decision_function(X)
    model.set_params(degree=2, kernel="rbf")
    np.testing.assert_array_equal(model.decision_function(X), before)


def test_a_huge_penalty_under_the_mixture():
    KernelBBLRClassifier(l2=1e200, sparsity="gauss-laplace", laplace_share=0.5).fit(*data())


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "cosine"])
def test_indices_may_have_64_bits(kernel):
    X, y = data()
    few = sparse.csr_array(np.where(np.abs(X) > 0.5, X, 0.0))
    long = sparse.csr_array((few.data, few.indices.astype(np.int64), few.indptr.astype(np.int64)))
    model = KernelBBLRClassifier(kernel=kernel).fit(long, y)
    assert model.support_vectors_.indices.dtype == np.int64
    expected = KernelBBLRClassifier(kernel=kernel).fit(few, y).decision_function(few)
    for rows in (few, long, few.toarray()):
        np.testing.assert_allclose(model.decision_function(rows), expected, rtol=1e-9)
