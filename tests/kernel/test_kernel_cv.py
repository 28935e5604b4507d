"""The kernel classifier that tunes itself: its folds, its choices, and what it tells of them."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_moons

from bblr import KernelBBLRClassifierCV, Plateaus
from bblr.designs.gram.kernel_function import Gram, KernelFunction
from bblr.kernel.fit import KernelProblem
from bblr.kernel.kernel_search import KernelSearch, fold_fit
from bblr.kernel.sparsify import Sparsify, smallest_adequate_size
from bblr.solvers import LBFGS
from bblr.training.cross_validation import Path
from bblr.training.folds import Fold
from bblr.training.monitor import FitMonitor


def test_held_out_rows_of_weight_zero_are_rows_that_are_not_there(pima):
    X, y = pima[0][:200], np.where(pima[1][:200] == 1, 1.0, -1.0)
    gram = Gram(KernelFunction("rbf", 0.05), X)
    descent = LBFGS(tol=1e-13, max_iter=2500)
    problem = KernelProblem(gram, y, np.ones(200), True, True, 1e9, descent)
    fold = Fold(np.arange(40, 200), np.arange(40))
    search = KernelSearch(problem, [fold], None, 0)
    path = Path(Plateaus.binary(0.05, 0.9), 0.3, (1.0,), None)
    (cell,) = search.grid((0.05,), (0.3,), path.prior)
    problem, _, alone = fold_fit(search, fold, 0.05, path)
    found = problem.held_out(fold, alone)
    assert cell.error == pytest.approx(found.errors / 40, abs=1e-12)
    assert cell.loss == pytest.approx(found.loss / 40, rel=1e-5)


@pytest.mark.parametrize(
    ("losses", "size"),
    [((1, 1, 1, 1), 8), ((1, 1, 1.004, 1.02), 16), ((1, 1.02, 1, 1), 32), ((1, 0.9, 0.9, 2), 16)],
)
def test_size_is_the_smallest_that_loses_little(losses, size):
    assert smallest_adequate_size((32, 16, 8), losses) == size


def _sparsify(problem, most, said, n_rows=None):
    folds = [Fold(np.arange(k % 2, 120, 2), np.arange(1 - k % 2, 120, 2)) for k in range(4)]
    monitor = FitMonitor()
    monitor.log = said.append
    search = KernelSearch(problem, folds, None, 0, monitor=monitor)
    return Sparsify(search, "backward", most, n_rows or len(problem.y), None)


def test_width_and_penalty_suit_the_number_of_vectors(moons):
    X, y = moons
    X, t = X[:120], np.where(y[:120] == y.max(), 1.0, -1.0)
    ones = np.ones(120)
    problem = KernelProblem(Gram(KernelFunction("rbf", 1.0), X), t, ones, True, True, 1e9)
    widths, l2s = (0.25, 0.5, 1.0, 8.0, 64.0), (1.0, 0.1, 0.01)
    path = Path(Plateaus.binary(0.05, 0.9), 0.1, (1.0,), None)
    sparsify = _sparsify(problem, 5, said := [])
    width, chosen = sparsify.suited_to_size(8.0, path, widths, l2s)
    once = replace(sparsify.search, folds=sparsify.search.folds[:2])
    losses = {
        (w, l2): once.sizes(w, path._replace(l2=l2), (5,))[1].loss
        for w in widths[:4]
        for l2 in l2s[1:]
    }
    assert (width, chosen.l2) == min(losses, key=losses.get)
    assert width < 8.0
    assert "5 vectors: 8 trials" in said[0]
    # A sample says nothing about all rows, and without a number there is nothing to suit.
    for other in (_sparsify(problem, 5, said, 400), _sparsify(problem, None, said)):
        assert other.suited_to_size(8.0, path, widths, l2s) == (8.0, path)


def test_cv_chooses_from_what_it_is_given(moons, capsys):
    X, y = moons
    model = KernelBBLRClassifierCV(
        cv=3, kernel_gammas=(0.01, 1.0), l2s=(0.1, 10.0), random_state=0, verbose=1
    ).fit(X, y)
    assert model.kernel_gamma_ == 1.0
    assert len(model.grid_) == 4
    assert {cell.l2 for cell in model.grid_} == {0.1, 10.0}
    assert model.score(X, y) > 0.9
    assert "width and penalty: 4 trials" in capsys.readouterr().out


@pytest.mark.parametrize("sparsity", ["backward", "gauss-laplace"])
def test_cv_tells_the_path_of_sparsity(moons, sparsity):
    X, y = moons
    model = KernelBBLRClassifierCV(
        cv=3, kernel_gammas=(1.0,), l2s=(0.3,), sparsity=sparsity, max_vectors=30, random_state=0
    ).fit(X, y)
    assert len(model.support_) <= 30
    assert all(len(entry) == 3 for entry in model.sparsity_path_)
    assert model.score(X, y) > 0.9


def test_cv_takes_splits_weights_and_jobs(moons):
    X, y = moons
    splits = [(np.arange(50, 150), np.arange(50)), (np.arange(100), np.arange(100, 150))]
    options = {"kernel_gammas": (0.5, 1.0), "l2s": (0.3,), "random_state": 0}
    weight = np.ones(150)
    weight[::7] = 0.0
    one = KernelBBLRClassifierCV(cv=splits, **options).fit(X, y, sample_weight=weight)
    two = KernelBBLRClassifierCV(cv=splits, n_jobs=2, **options).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))
    assert not np.isin(np.arange(0, 150, 7), one.support_).any()


@pytest.mark.parametrize("prior", ["weak", "learned", "empirical", Plateaus.binary(0.1, 0.8)])
def test_cv_with_other_plateaus(moons, prior):
    X, y = moons
    model = KernelBBLRClassifierCV(
        prior=prior, cv=3, kernel_gammas=(1.0,), l2s=(0.3,), random_state=0
    ).fit(X, y)
    assert model.score(X, y) > 0.9


def test_cv_samples_many_rows():
    X, y = make_moons(4000, noise=0.2, random_state=0)
    model = KernelBBLRClassifierCV(
        kernel_gammas=(0.1, 1.0), l2s=(0.3,), prior="mild", gamma_limit=1.0, sparsity="backward",
        random_state=0,
    ).fit(X, y)  # fmt: skip
    assert model.score(X, y) > 0.96
    assert len(model.support_) < 100
