"""What an audit of labels promises."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import bsr_array, coo_matrix, csr_array, csr_matrix, dia_array
from scipy.special import expit
from sklearn.datasets import load_iris, load_wine, make_classification
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import (
    GroupKFold,
    KFold,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import bblr
from bblr import (
    BBLRClassifier,
    BBLRClassifierCV,
    KernelBBLRClassifier,
    KernelBBLRClassifierCV,
    SLAClassifier,
    ZeroOneClassifier,
    find_label_errors,
)
from bblr.audit.held_out import Labelled, held_out_scores, make_folds
from bblr.evaluation import add_noise

OWN = BBLRClassifier()


def noisy(n=200, seed=0):
    X, y = make_classification(
        n, 6, n_informative=4, n_clusters_per_class=1, class_sep=1.5, flip_y=0, random_state=seed
    )
    return add_noise(
        X, y, protocol="label-flip", fraction=0.1, random_state=seed, return_index=True
    )


def labelled(X, y, weight=None):
    classes, codes = np.unique(y, return_inverse=True)
    return Labelled(X, y, classes, codes, weight)


def given_folds(n, seed=0, k=5):
    return list(KFold(k, shuffle=True, random_state=seed).split(np.zeros((n, 1))))


def same(a, b, rtol=0.0):
    np.testing.assert_allclose(a.scores, b.scores, rtol=rtol, atol=rtol)
    np.testing.assert_array_equal(a.suggested, b.suggested)


@pytest.mark.parametrize("in_sample", [False, True])
def test_the_one_flip_among_separate_classes_comes_first(in_sample):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 60)
    X = rng.normal(size=(120, 2)) + 8.0 * y[:, None]
    y[17] = 1
    found = find_label_errors(OWN, X, y, in_sample=in_sample, random_state=0)
    assert found.ranking[0] == 17
    assert found.wrong_plateau.nonzero()[0].tolist() == [17]
    assert found.suggested[17] == 0
    assert found.n_errors in (1, 2)


@pytest.mark.parametrize("row", [0, 33, 149])
def test_turning_a_label_raises_its_score(row):
    X, y = load_iris(return_X_y=True)
    folds = given_folds(len(y))
    before = find_label_errors(OWN, X, y, cv=folds)
    y[row] = (y[row] + 1) % 3
    after = find_label_errors(OWN, X, y, cv=folds)
    assert after.scores[row] > before.scores[row]


@pytest.mark.parametrize("row", [5, 60])
def test_a_row_is_scored_without_its_own_label(row):
    X, y, _ = noisy()
    folds = given_folds(len(y))
    before = held_out_scores(OWN, labelled(X, y), make_folds(folds, labelled(X, y), 0), None)
    y[row] = 1 - y[row]
    after = held_out_scores(OWN, labelled(X, y), make_folds(folds, labelled(X, y), 0), None)
    np.testing.assert_array_equal(after[row], before[row])
    assert not np.array_equal(after, before)


def test_permuted_rows_give_permuted_results():
    X, y, _ = noisy()
    folds = given_folds(len(y))
    order = np.random.default_rng(1).permutation(len(y))
    back = np.argsort(order)
    plain = find_label_errors(OWN, X, y, cv=folds)
    moved = find_label_errors(
        OWN, X[order], y[order], cv=[(back[train], back[test]) for train, test in folds]
    )
    np.testing.assert_allclose(moved.scores, plain.scores[order], rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(moved.suggested, plain.suggested[order])


def test_units_and_shifts_of_features_do_not_matter():
    X, y, _ = noisy()
    other = X * np.array([1e-6, 1, 1e3, 7, 1e5, 0.1]) + 10.0
    found, again = (find_label_errors(OWN, Z, y, random_state=0) for Z in (X, other))
    np.testing.assert_allclose(again.scores, found.scores, rtol=1e-3, atol=1e-3)


def test_scores_whose_squares_overflow_are_ranked_as_others():
    # ZeroOneClassifier takes such columns; its scores are distances in their units.
    X, y, _ = noisy()
    model = ZeroOneClassifier("csa", max_steps=3, random_state=0)
    plain = find_label_errors(model, X, y, random_state=0)
    for unit in (2.0**980, 2.0**-400):
        huge = find_label_errors(model, X * unit, y, random_state=0)
        np.testing.assert_allclose(huge.scores, plain.scores, rtol=1e-6, atol=1e-9)


def test_names_of_classes_do_not_matter():
    X, y, _ = noisy()
    words = np.array(["ham", "spam"])[y]
    found = find_label_errors(OWN, X, y, random_state=0)
    named = find_label_errors(OWN, X, words, random_state=0)
    np.testing.assert_array_equal(named.scores, found.scores)
    np.testing.assert_array_equal(named.suggested, np.array(["ham", "spam"])[found.suggested])
    # The other way round: the same model with its sign turned.
    turned = find_label_errors(OWN, X, 1 - y, cv=given_folds(len(y)))
    plain = find_label_errors(OWN, X, y, cv=given_folds(len(y)))
    np.testing.assert_allclose(turned.scores, plain.scores, rtol=1e-4, atol=1e-4)


def test_two_of_many_columns_agree_with_one():
    X, y, _ = noisy()

    class TwoColumns(LogisticRegression):
        def decision_function(self, X):
            raw = super().decision_function(X)
            return np.column_stack([np.zeros(len(raw)), raw])

    same(
        find_label_errors(TwoColumns(), X, y, random_state=0),
        find_label_errors(LogisticRegression(), X, y, random_state=0),
        rtol=1e-6,
    )


def test_probabilities_serve_where_there_is_no_decision_function():
    X, y, _ = noisy()

    only = VotingClassifier([("lr", LogisticRegression())], voting="soft")
    assert not hasattr(only, "decision_function")
    same(
        find_label_errors(only, X, y, random_state=0),
        find_label_errors(LogisticRegression(), X, y, random_state=0),
        rtol=1e-4,
    )


@pytest.mark.parametrize("in_sample", [False, True])
def test_workers_change_nothing(in_sample):
    X, y = load_wine(return_X_y=True)
    alone, two = (
        find_label_errors(OWN, X, y, random_state=3, n_jobs=n, in_sample=in_sample)
        for n in (None, 2)
    )
    same(alone, two)


def test_the_seed_decides():
    X, y, _ = noisy()
    one, two, other = (find_label_errors(OWN, X, y, random_state=s) for s in (0, 0, 1))
    same(one, two)
    assert not np.array_equal(one.scores, other.scores)


CLASSIFIERS = [
    BBLRClassifier(),
    BBLRClassifierCV(cv=2, l2s=(1.0, 3.0), random_state=0),
    KernelBBLRClassifier(random_state=0),
    KernelBBLRClassifierCV(kernel_gammas=(0.1,), l2s=(1.0,), cv=2, random_state=0),
    KernelBBLRClassifierCV(
        kernel_gammas=(0.1,), l2s=(1.0,), cv=2, sparsity="backward", random_state=0
    ),
    ZeroOneClassifier(random_state=0, time_limit=None),
    SLAClassifier(),
    LogisticRegression(),
    LinearSVC(),
    GaussianNB(),
    RandomForestClassifier(50, random_state=0),
    make_pipeline(StandardScaler(), BBLRClassifierCV(cv=2, l2s=(1.0,), random_state=0)),
]


@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda m: type(m).__name__)
def test_flips_are_found_by_any_classifier(model):
    X, y, flipped = noisy(120)
    folds = given_folds(len(y), k=3)
    found = find_label_errors(model, X, y, cv=folds, random_state=0)
    hits = np.isin(found.ranking[: len(flipped)], flipped).mean()
    assert hits >= 0.6
    assert 0.5 * len(flipped) <= found.n_errors <= 2.0 * len(flipped)
    assert not hasattr(model, "classes_") or model.classes_ is None


def test_a_self_tuning_classifier_is_fitted_as_it_has_chosen():
    X, y, _ = noisy()
    tuned = BBLRClassifierCV(random_state=0, l2s=(0.3, 3.0), cv=3)
    chosen = tuned.fit(X, y)
    plain = BBLRClassifier(
        chosen.prior_, l2=chosen.l2_, gamma_max=chosen.gamma_, leverage=chosen.leverage_,
        gamma_growth=chosen.path_[1].gamma / chosen.path_[0].gamma,
        gamma_min=chosen.path_[0].gamma,
    )  # fmt: skip
    same(
        find_label_errors(BBLRClassifierCV(random_state=0, l2s=(0.3, 3.0), cv=3), X, y,
                          random_state=0),
        find_label_errors(plain, X, y, random_state=0),
    )  # fmt: skip


@pytest.mark.filterwarnings("ignore:Constructing a DIA")
def test_containers():
    X, y, _ = noisy()
    plain = find_label_errors(OWN, X, y, random_state=0)
    same(find_label_errors(OWN, X.tolist(), y.tolist(), random_state=0), plain)
    frame = pd.DataFrame(X, columns=list("abcdef"), index=np.arange(len(y))[::-1])
    same(
        find_label_errors(OWN, frame, pd.Series(y, index=frame.index), random_state=0),
        plain,
        rtol=1e-9,
    )
    for kind in (csr_array, csr_matrix, bsr_array, coo_matrix, dia_array):
        same(find_label_errors(OWN, kind(X), y, random_state=0), plain, rtol=1e-3)
    torch = pytest.importorskip("torch")
    same(find_label_errors(OWN, torch.as_tensor(X), torch.as_tensor(y), random_state=0), plain)


def test_a_precomputed_kernel_is_cut_on_both_sides():
    X, y, _ = noisy(80)
    named = KernelBBLRClassifier(kernel_gamma=0.1, random_state=0)
    given = KernelBBLRClassifier("precomputed", random_state=0)
    kernel = rbf_kernel(X, gamma=0.1)
    found = find_label_errors(given, kernel, y, cv=given_folds(80))
    pair = []
    for model, rows in ((given, kernel), (named, X)):
        data = Labelled(rows, y, np.unique(y), y, None)
        pair.append(held_out_scores(model, data, make_folds(given_folds(80), data, 0), None))
    np.testing.assert_allclose(*pair, atol=0.02)
    names = [f"row {i}" for i in range(80)]
    frame = pd.DataFrame(kernel, index=names, columns=names)
    same(find_label_errors(given, frame, y, cv=given_folds(80)), found)


def test_a_row_of_weight_zero_is_scored_and_no_more():
    X, y, _ = noisy()
    weight = np.ones(len(y))
    weight[-20:] = 0.0
    found = find_label_errors(OWN, X, y, sample_weight=weight, random_state=0)
    part = find_label_errors(OWN, X[:-20], y[:-20], random_state=0)
    assert np.isfinite(found.scores[-20:]).all()
    np.testing.assert_allclose(found.scores[:-20], part.scores, rtol=1e-3, atol=1e-3)
    pipe = make_pipeline(StandardScaler(with_mean=False, with_std=False), OWN)
    same(find_label_errors(pipe, X, y, sample_weight=weight, random_state=0), found, rtol=1e-6)


def test_small_classes_are_held_out_row_by_row():
    X, y = load_iris(return_X_y=True)
    keep = np.r_[0:50, 50:100, 100:103]
    data = labelled(X[keep], y[keep])
    for train, test in make_folds(5, data, 0):
        assert np.array_equal(np.unique(data.y[train]), data.classes)
        assert np.sum(data.y[test] == 2) <= 1
    found = find_label_errors(OWN, X[keep], y[keep], random_state=0)
    assert np.isfinite(found.scores).all()


def test_folds_are_stratified_and_cover_each_row():
    rng = np.random.default_rng(0)
    data = labelled(np.zeros((3000, 1)), rng.choice(4, p=[0.7, 0.2, 0.09, 0.01], size=3000))
    folds = make_folds(5, data, 0)
    assert len(folds) == 5
    np.testing.assert_array_equal(np.sort(np.concatenate([f.test for f in folds])), range(3000))
    for train, test in folds:
        assert np.intersect1d(train, test).size == 0 and len(train) + len(test) == 3000
        share = np.bincount(data.codes[test], minlength=4) - np.bincount(data.codes) / 5
        assert np.abs(share).max() <= 1


def test_folds_may_be_masks_or_hold_out_nothing():
    X, y, _ = noisy()
    folds = given_folds(len(y))
    masks = [tuple(np.isin(np.arange(len(y)), part) for part in fold) for fold in folds]
    idle = (np.arange(len(y)), [])
    plain = find_label_errors(OWN, X, y, cv=folds)
    same(find_label_errors(OWN, X, y, cv=[*masks, idle]), plain)
    groups = np.arange(len(y)) % 7
    listed = list(GroupKFold(3).split(X, y, groups))
    assert np.isfinite(find_label_errors(OWN, X, y, cv=listed).scores).all()


def test_the_result_hangs_together():
    X, y, _ = noisy()
    found = find_label_errors(OWN, X, y, random_state=0)
    assert isinstance(found, bblr.audit.LabelErrors)
    assert (np.diff(found.scores[found.ranking]) <= 0).all()
    np.testing.assert_array_equal(np.sort(found.ranking), np.arange(len(y)))
    np.testing.assert_allclose(found.probability, expit(found.scores))
    assert found.n_errors == round(found.probability.sum()) == len(found.indices)
    assert (found.suggested != y).all()
    assert repr(found).startswith(f"LabelErrors({found.n_errors} of 200")
    with pytest.raises(AttributeError):
        found.scores = y


def test_each_class_gets_as_many_as_are_estimated_wrong():
    # Two certain errors among the labels "b", and doubt of half a row among the labels "a".
    given = np.repeat(["a", "b"], 10)
    scores = np.full(20, -9.0)
    scores[:10], scores[[11, 13]] = np.log(0.06 / 0.94), [9.0, 2.0]
    found = bblr.audit.LabelErrors(scores, given[::-1], None, np.array(["a", "b"]), given)
    assert found.n_errors == 2 and found.class_errors.tolist() == [0, 2]
    assert found.indices.tolist() == [11, 13]
    X, y, _ = noisy()
    found = find_label_errors(OWN, X, np.array(["no", "yes"])[y], random_state=0)
    assert found.class_errors.sum() == found.n_errors
    assert np.bincount(y[found.indices]).tolist() == found.class_errors.tolist()
    assert (np.diff(found.scores[found.indices]) <= 0).all()
    expected = [found.probability[y == k].sum() for k in (0, 1)]
    assert np.abs(found.class_errors - expected).max() <= 1


def test_rates_between_classes():
    X, y = load_iris(return_X_y=True)
    y[:15] = 2
    found = find_label_errors(OWN, X, y, random_state=0)
    assert found.classes.tolist() == [0, 1, 2]
    assert found.flip_rates[0, 2] == pytest.approx(0.3, abs=0.1)
    np.testing.assert_allclose(found.flip_rates.sum(axis=1), 1.0)
    assert np.diag(found.flip_rates)[1:].min() > 0.95
    assert set(found.ranking[:15]) == set(range(15)) and (found.suggested[:15] == 0).all()


def test_the_positives_of_a_rare_class_are_left_alone():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 10))
    y = (rng.random(3000) < expit(X @ rng.normal(size=10) * 0.7 - 4.0)).astype(int)
    assert 0.03 < y.mean() < 0.09
    for model in (OWN, BBLRClassifier(), LogisticRegression()):
        found = find_label_errors(model, X, y, random_state=0)
        assert found.n_errors <= 0.01 * len(y)
        assert found.wrong_plateau[y == 1].mean() <= 0.1


def test_clean_labels_raise_few_doubts():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 80)
    X = rng.normal(size=(240, 2)) + np.array([[0, 0], [9, 0], [0, 9]])[y]
    found = find_label_errors(OWN, X, y, random_state=0)
    assert found.n_errors <= 2 and not found.wrong_plateau.any()
