"""Kernels, their coordinates, and the design that computes features as it needs them."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import pairwise

from bblr.designs import DenseDesign
from bblr.designs.gram.algebra import Algebra
from bblr.designs.gram.centres import RANK_TOL, centre_basis, choose_centres, spectral_basis
from bblr.designs.gram.kernel_design import KernelDesign, kernel_design
from bblr.designs.gram.kernel_function import Gram, KernelFunction

RNG = np.random.default_rng(0)
X = RNG.normal(size=(70, 4)) * (RNG.random((70, 4)) < 0.7)
Z = RNG.normal(size=(9, 4))
FUNCTIONS = {
    "rbf": (KernelFunction("rbf", 0.3), lambda A, B: pairwise.rbf_kernel(A, B, gamma=0.3)),
    "laplacian": (
        KernelFunction("laplacian", 0.2),
        lambda A, B: pairwise.laplacian_kernel(A, B, gamma=0.2),
    ),
    "poly": (
        KernelFunction("poly", 0.5, 3, 1.0),
        lambda A, B: pairwise.polynomial_kernel(A, B, degree=3, gamma=0.5, coef0=1.0),
    ),
    "linear": (KernelFunction("linear"), pairwise.linear_kernel),
    "cosine": (KernelFunction("cosine"), pairwise.cosine_similarity),
    "callable": (KernelFunction(lambda A, B: A @ B.T + 1.0), lambda A, B: A @ B.T + 1.0),
}


@pytest.fixture(params=FUNCTIONS)
def function(request):
    return FUNCTIONS[request.param]


def test_values_are_those_of_scikit_learn(function):
    mine, reference = function
    np.testing.assert_allclose(mine(X, Z), reference(X, Z), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(mine.diagonal(X), np.diagonal(mine(X, X)), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - {"callable"}))
def test_sparse_rows_are_the_same_rows(name):
    mine = FUNCTIONS[name][0]
    expected = mine(X, Z)
    for rows, others in ((sparse.csr_array(X), sparse.csr_array(Z)), (sparse.csr_array(X), Z)):
        np.testing.assert_allclose(mine(rows, others), expected, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(mine.diagonal(sparse.csr_array(X)), mine.diagonal(X), rtol=1e-12)


def test_single_precision_rows_lose_no_more_than_their_digits(function):
    mine, _ = function
    np.testing.assert_allclose(mine(np.float32(X), np.float32(Z)), mine(X, Z), atol=3e-5)


def test_equal_rows_far_from_zero_are_as_similar_as_can_be():
    far = 1e6 + X[:5]
    assert np.all(KernelFunction("rbf", 1.0)(far, far) <= 1.0)


@pytest.mark.parametrize(
    ("values", "message"),
    [(np.ones((2, 2)), "shape"), (np.full((70, 9), np.nan), "finite")],
)
def test_a_bad_callable_is_named(values, message):
    with pytest.raises(ValueError, match=f"kernel must return .*{message}"):
        KernelFunction(lambda A, B: values)(X, Z)


def test_gram_of_a_precomputed_kernel():
    K = KernelFunction("rbf", 0.3)(X, X)
    given, direct = Gram(KernelFunction("precomputed"), K), Gram(KernelFunction("rbf", 0.3), X)
    rows, columns = np.array([3, 1, 40]), np.array([7, 3])
    np.testing.assert_allclose(given.block(rows, columns), direct.block(rows, columns))
    np.testing.assert_allclose(given.block(slice(5), columns), K[:5, columns])
    np.testing.assert_allclose(given.diagonal, direct.diagonal)


@pytest.mark.parametrize("rkhs", [True, False])
def test_spectral_coordinates(rkhs):
    gram = Gram(KernelFunction("rbf", 0.3), X)
    rows = np.arange(len(X))
    basis = spectral_basis(gram, rows, rkhs)
    K = gram.block(rows, rows)
    features = K @ basis.transform
    u = RNG.normal(size=features.shape[1])
    weights = basis.transform @ u
    norm = weights @ K @ weights if rkhs else weights @ weights
    assert u @ u == pytest.approx(norm, rel=1e-7)
    products = features.T @ features
    np.testing.assert_allclose(products, np.diag(np.diagonal(products)), atol=1e-8 * len(X))
    if rkhs:
        np.testing.assert_allclose(features @ features.T, K, atol=1e-9)


class Turned(Algebra):
    """Eigenvectors turned as another machine might: within the span of equal eigenvalues."""

    def eigh(self, matrix):
        values, vectors = super().eigh(matrix)
        equal = np.flatnonzero(np.abs(values - 1.0) < 1e-10)
        turn = np.linalg.qr(np.random.default_rng(1).normal(size=(len(equal), len(equal))))[0]
        vectors[:, equal] = vectors[:, equal] @ turn
        return values, vectors


@pytest.mark.parametrize("rkhs", [True, False])
def test_coordinates_do_not_ask_which_eigenvectors_of_equal_eigenvalues_were_found(rkhs):
    far = X.copy()
    far[::7] *= 1e3  # far from all others
    gram, turned = (Gram(KernelFunction("rbf", 0.3), far) for _ in range(2))
    turned.algebra = Turned()
    rows = np.arange(len(X))
    for basis in (spectral_basis, lambda gram, rows, rkhs: centre_basis(gram, rows, rows, rkhs)):
        expected, found = (basis(one, rows, rkhs).transform for one in (gram, turned))
        np.testing.assert_allclose(found, expected, atol=1e-12 * np.abs(expected).max())


def test_an_indefinite_kernel_needs_the_ridge():
    K = np.diag([1.0, 1.0, -0.5])
    gram = Gram(KernelFunction("precomputed"), K)
    with pytest.raises(ValueError, match="penalty='ridge'"):
        spectral_basis(gram, np.arange(3), True)
    assert spectral_basis(gram, np.arange(3), False).transform.shape == (3, 3)


@pytest.mark.parametrize("rkhs", [True, False])
def test_coordinates_over_some_centres(rkhs):
    gram = Gram(KernelFunction("rbf", 0.3), X)
    centres, rows = np.array([5, 2, 60, 33, 5]), np.arange(len(X))
    basis = centre_basis(gram, centres if rkhs else centres[:4], rows, rkhs)
    assert sorted(basis.centres) == [2, 5, 33, 60]
    K = gram.block(basis.centres, basis.centres)
    norm = basis.transform.T @ (K if rkhs else np.eye(4)) @ basis.transform
    np.testing.assert_allclose(norm, np.eye(4), atol=1e-10)
    features = gram.block(rows, basis.centres) @ basis.transform
    products = features.T @ features
    np.testing.assert_allclose(products, np.diag(np.diagonal(products)), atol=1e-9)


def _unexplained(gram, centres):
    K = gram.block(slice(None), centres)
    inner = np.linalg.pinv(gram.block(centres, centres), rcond=1e-12)
    return gram.diagonal - np.einsum("ij,jk,ik->i", K, inner, K)


def test_centres_explain_the_rows():
    gram, rows, weight = Gram(KernelFunction("rbf", 0.3), X), np.arange(70), np.ones(70)
    left = []
    for count in (5, 20, 60):
        centres = choose_centres(gram, rows, weight, count, np.random.default_rng(1))
        assert len(set(centres.tolist())) == len(centres) == count
        left.append(_unexplained(gram, centres).sum())
    assert left[0] > left[1] > left[2]
    assert left[2] < 0.05 * 70


def test_centres_stop_at_the_rank_and_shun_rows_of_no_weight():
    twice = np.vstack([X[:10], X[:10]])
    gram = Gram(KernelFunction("linear"), twice)
    weight = np.ones(20)
    weight[:5] = 0.0
    centres = choose_centres(gram, np.arange(20), weight, 15, np.random.default_rng(0))
    assert len(centres) == 4
    assert centres.min() >= 5
    assert np.all(_unexplained(gram, centres) <= 1e3 * RANK_TOL * gram.diagonal.max())


def test_centres_go_where_the_weight_is():
    gram, rows = Gram(KernelFunction("rbf", 2.0), X), np.arange(70)
    weight = np.where(rows < 20, 100.0, 1.0)
    centres = choose_centres(gram, rows, weight, 10, np.random.default_rng(0))
    assert (centres < 20).sum() >= 8


def test_features_that_fit_are_kept():
    gram = Gram(KernelFunction("rbf", 0.3), X)
    basis = centre_basis(gram, np.arange(0, 70, 7), np.arange(70), True)
    features = gram.block(slice(None), basis.centres) @ basis.transform
    for kept in (70, 69, 0):
        design = kernel_design(gram, basis, kept * 8 * 10)
        assert type(design) is (DenseDesign if kept == 70 else KernelDesign)
        np.testing.assert_allclose(design.table(), features, rtol=1e-9, atol=1e-12)
    assert design.cached.n_rows == 0
