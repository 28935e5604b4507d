from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from bblr import KernelBBLRClassifier, KernelBBLRClassifierCV
from bblr.plotting import SparsityDisplay


def test_curve_is_that_of_the_estimator(sparse):
    display = SparsityDisplay.from_estimator(sparse)
    table = np.array(sparse.sparsity_path_)
    np.testing.assert_array_equal(display.line_.get_xydata(), table[:, :2])
    np.testing.assert_array_equal(display.loss_line_.get_xydata(), table[:, [0, 2]])
    assert display.chosen == sparse.n_support_.sum() == 7
    assert "Training" in display.ax_.get_ylabel()
    assert list(display.chosen_line_.get_xdata()) == [7, 7]


def test_path_tells_what_the_fits_do(sparse, moons):
    X, y = moons
    sizes, errors, losses = zip(*sparse.sparsity_path_, strict=True)
    assert sizes[0] == len(y) and sizes[-1] == 7
    assert list(sizes) == sorted(sizes, reverse=True)
    assert errors[-1] == pytest.approx(1 - sparse.score(X, y))
    own = sparse.predict_proba(X)[np.arange(len(y)), y]
    assert losses[-1] == pytest.approx(-np.log(own).mean(), rel=1e-6)
    dense = clone(sparse).set_params(sparsity=None).fit(X, y)
    assert errors[0] == pytest.approx(1 - dense.score(X, y))


def test_weights_count_as_rows(moons):
    X, y = moons[0][:60], moons[1][:60]
    twice = KernelBBLRClassifier(sparsity="backward", max_vectors=5, random_state=0)
    weighted = clone(twice).fit(X, y, sample_weight=np.full(60, 2.0))
    twice.fit(np.tile(X, (2, 1)), np.tile(y, 2))
    np.testing.assert_allclose(weighted.sparsity_path_, twice.sparsity_path_, rtol=1e-9)


def test_without_a_number_the_path_goes_to_where_it_ended(moons):
    model = KernelBBLRClassifier(sparsity="backward", random_state=0).fit(*moons)
    sizes = [size for size, _, _ in model.sparsity_path_]
    assert model.n_support_.sum() in sizes
    # The last fit may have cost too much; then the one before it stands.
    assert model.n_support_.sum() in sizes[-2:]


def test_held_out_sizes_of_cross_validation(moons):
    model = KernelBBLRClassifierCV(
        kernel_gammas=[1.0], l2s=[0.3], sparsity="backward", cv=2, random_state=0
    ).fit(*moons)
    display = SparsityDisplay.from_estimator(model)
    np.testing.assert_array_equal(display.errors, [row[1] for row in model.sparsity_path_])
    assert display.chosen in display.n_vectors
    assert "Held-out" in display.ax_.get_ylabel()


@pytest.mark.parametrize("sparsity", [None, "gauss-laplace"])
def test_other_fits_are_refused_with_a_remedy(moons, sparsity):
    model = KernelBBLRClassifier(sparsity=sparsity, laplace_share=0.5, random_state=0).fit(*moons)
    with pytest.raises(TypeError, match="sparsity='backward'"):
        SparsityDisplay.from_estimator(model)


def test_shares_are_no_numbers_of_vectors(moons):
    model = KernelBBLRClassifierCV(
        kernel_gammas=[1.0], l2s=[0.3], sparsity="gauss-laplace", cv=2, random_state=0
    ).fit(*moons)
    with pytest.raises(TypeError, match=r"fit a KernelBBLRClassifier or .*'backward'"):
        SparsityDisplay.from_estimator(model)


def test_a_fit_without_sparsity_forgets_the_path_of_the_last(moons):
    model = KernelBBLRClassifier(sparsity="backward", max_vectors=5, random_state=0).fit(*moons)
    assert not hasattr(model.set_params(sparsity=None).fit(*moons), "sparsity_path_")
