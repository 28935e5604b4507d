"""A constant column has no parameter: it moves no fit, whatever the constant and the storage."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from bblr import (
    BBLRClassifier,
    BBLRClassifierCV,
    GeneralizedLinearClassifier,
    RobustClassifier,
    SLAClassifier,
)
from bblr.designs import ScaledDesign, make_design

MODELS = [
    BBLRClassifier(),
    BBLRClassifier(prior="learned", solver="lbfgs"),
    BBLRClassifier(prior="mild", l2=1.0, gamma_max=4.0),
    BBLRClassifier(solver="sla", l2=1.0),
    BBLRClassifierCV(cv=2, l2s=[0.1, 1.0], random_state=0),
    GeneralizedLinearClassifier(),
    SLAClassifier(),
    RobustClassifier(BBLRClassifier(), random_state=0),
]
WITH_CONSTANTS = {
    "a one": lambda X: np.insert(X, 1, 1.0, axis=1),
    "three zeros": lambda X: np.hstack([np.zeros((len(X), 3)), X]),
    "far off": lambda X: np.column_stack([X, np.full(len(X), 1e6)]),
    "sparse": lambda X: sparse.csr_matrix(np.column_stack([X, np.full(len(X), -3.7)])),
}


def rows_of(n_classes):
    rng = np.random.default_rng(3)
    y = rng.integers(n_classes, size=90)
    X = rng.normal(size=(90, 4)) + 1.5 * np.eye(4)[y]
    X[:5] *= 8.0
    y[:9] = rng.integers(n_classes, size=9)
    return X, y


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_a_constant_column_moves_no_fit(model, n_classes):
    if n_classes > 2 and isinstance(model, GeneralizedLinearClassifier | SLAClassifier):
        pytest.skip("two classes only")
    X, y = rows_of(n_classes)
    expected = clone(model).fit(X, y).decision_function(X)
    for name, put in WITH_CONSTANTS.items():
        other = put(X)
        found = clone(model).fit(other, y).decision_function(other)
        # L-BFGS ends near a minimum, and rounding decides where; other descents go on to it.
        descends = getattr(model, "solver", None) == "lbfgs"
        most = (1e-6 if descends else 1e-8) * np.abs(expected).max()
        np.testing.assert_allclose(found, expected, rtol=0, atol=most, err_msg=name)


def test_a_constant_among_rare_columns_is_no_reason_to_search_for_bounds():
    X, y = rows_of(2)
    X = X * (np.random.default_rng(0).random(X.shape) < 0.3)
    model = BBLRClassifierCV(cv=2, l2s=[0.1, 1.0], random_state=0)
    expected = [trial.path for trial in clone(model).fit(X, y).trials_]
    found = clone(model).fit(np.insert(X, 1, 1.0, axis=1), y).trials_
    assert [trial.path for trial in found] == expected


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
def test_a_constant_column_has_no_parameter(make, fit_intercept):
    X, _ = rows_of(2)
    weight, zeros = np.ones(len(X)), np.zeros((len(X), 1))
    plain = ScaledDesign(make_design(make(X)), weight, fit_intercept)
    more = ScaledDesign(make_design(make(np.hstack([zeros, X, zeros]))), weight, fit_intercept)
    assert more.size == plain.size == 4 + fit_intercept
    theta = np.arange(1.0, plain.size + 1.0)[None]
    coef, intercepts = more.unpack(theta)
    assert coef.shape == (1, 6) and coef[0, 0] == coef[0, 5] == 0.0
    np.testing.assert_allclose(more.pack(coef, intercepts), theta)
    np.testing.assert_allclose(more.scores(theta), plain.scores(theta))
    np.testing.assert_allclose(more.curvature(weight, 90), plain.curvature(weight, 90), atol=1e-9)
    np.testing.assert_allclose(more.column_squares(weight), plain.column_squares(weight))
    np.testing.assert_allclose(more.rmatvec(weight), plain.rmatvec(weight), atol=1e-9)


def test_a_table_without_information_is_fitted_all_the_same():
    X, y = np.full((30, 2), 7.0), np.arange(30) % 3 > 0
    model = BBLRClassifier().fit(X, y)
    assert not model.coef_.any() and model.predict(X).all()


@pytest.mark.parametrize("make", [sparse.csr_matrix, np.asarray])
def test_matrices_are_of_the_columns_that_vary(make):
    """Hashed words have many columns, and few that occur: moments of all would fill a disk."""
    X, y = rows_of(2)
    few = BBLRClassifier(l2=1.0).fit(make(X), y)
    # The matrix of all columns would take 500 GB.
    wide = sparse.csr_matrix((len(X), 250_000 if make is sparse.csr_matrix else 20_000))
    at = np.linspace(0, wide.shape[1] - 1, X.shape[1]).astype(int)
    wide = wide.tolil()
    wide[:, at] = X
    wide = sparse.csr_matrix(wide)
    model = BBLRClassifier(l2=1.0).fit(wide if make is sparse.csr_matrix else wide.toarray(), y)
    np.testing.assert_allclose(model.coef_[0, at], few.coef_[0], rtol=1e-6)
    design = ScaledDesign(make_design(wide), np.ones(len(y)), True)
    again = ScaledDesign(make_design(sparse.csr_matrix(X)), np.ones(len(y)), True)
    np.testing.assert_allclose(
        design.curvature(np.ones(len(y)), 100), again.curvature(np.ones(len(y)), 100), rtol=1e-12
    )
