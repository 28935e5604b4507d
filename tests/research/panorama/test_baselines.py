"""The baselines are tuned, and take what the panorama gives them."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegressionCV

from research.panorama.baselines import (
    STRENGTHS,
    CleanedLogistic,
    TunedLogistic,
    TunedSVM,
    inner_folds,
)
from research.panorama.methods import BASELINE, LINEAR, METHODS, OURS


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 5))
    return X, np.digitize(X[:, 0] + rng.normal(size=120), [-0.5, 0.5])


def test_methods():
    assert OURS == ("BBLR", "BBLRCV")
    assert LINEAR == ("BBLR", "BBLRCV", "LR", "SVM", "CL")
    assert set(METHODS) == {*LINEAR, "HGB", "RF"}
    assert BASELINE == "LR"


@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("build", [TunedLogistic, TunedSVM])
def test_tuned_baselines(rows, build, as_sparse):
    X, y = rows
    X = sparse.csr_matrix(X) if as_sparse else X
    model = build().fit(X, y)
    assert np.mean(model.predict(X) == y) > 0.55
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_cleaned_logistic(rows):
    pytest.importorskip("cleanlab")
    X, y = rows
    model = CleanedLogistic().fit(X, y)
    assert np.mean(model.predict(X) == y) > 0.55
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_strength_is_that_of_scikit_learn_or_as_accurate(rows):
    X, y = rows
    theirs = LogisticRegressionCV(
        Cs=STRENGTHS,
        cv=inner_folds(y),
        scoring="accuracy",
        max_iter=10_000,
        l1_ratios=(0.0,),
        use_legacy_attributes=False,
    ).fit(X, y)
    means = theirs.scores_.mean(axis=0).ravel()
    chosen = TunedLogistic().fit(X, y).model_.C
    assert means[STRENGTHS.index(chosen)] == pytest.approx(means.max())


def test_fewer_folds_for_a_small_class():
    assert inner_folds(np.repeat([0, 1], [20, 3])).get_n_splits() == 3
    assert inner_folds(np.repeat([0, 1], [20, 30])).get_n_splits() == 5
    assert inner_folds(np.repeat([0, 1], [20, 1])).get_n_splits() == 2
