"""BBLRClassifier: what users rely on, as properties."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bblr import BBLRClassifier, BBLRClassifierCV, Plateaus, SLAClassifier
from bblr.datasets import load_uci
from bblr.solvers import LBFGS

ALL = [
    BBLRClassifier(),
    BBLRClassifier("learned"),
    BBLRClassifier("empirical", solver="lbfgs"),
    BBLRClassifierCV(cv=3, random_state=0),
    SLAClassifier(),
]


@pytest.mark.parametrize("model", ALL, ids=str)
def test_units_do_not_matter(model, noisy_data):
    X, y = noisy_data
    factors = np.array([1e-3, 1.0, 1e4, 50.0])
    offsets = np.array([0.0, 100.0, -3.0, 0.0])
    first = clone(model).fit(X, y).decision_function(X)
    second = clone(model).fit(X * factors + offsets, y).decision_function(X * factors + offsets)
    np.testing.assert_allclose(first, second, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("model", ALL, ids=str)
@pytest.mark.parametrize("convert", [sp.csr_matrix, sp.csc_array, np.asfortranarray], ids=str)
def test_storage_does_not_matter(model, convert, noisy_data):
    X, y = noisy_data
    X = np.where(np.abs(X) > 1, X, 0.0)
    first = clone(model).fit(X, y).decision_function(X)
    second = clone(model).fit(convert(X), y).decision_function(convert(X))
    np.testing.assert_allclose(first, second, rtol=1e-5, atol=1e-7)


def test_float32_agrees_and_x_is_neither_copied_nor_changed(noisy_data):
    X, y = noisy_data
    narrow = X.astype(np.float32)
    before = narrow.tobytes()
    narrow.flags.writeable = False
    first = BBLRClassifier().fit(X, y).decision_function(X)
    second = BBLRClassifier().fit(narrow, y).decision_function(narrow)
    np.testing.assert_allclose(first, second, rtol=1e-3, atol=1e-3)
    assert narrow.tobytes() == before


@pytest.mark.parametrize("model", ALL[:3], ids=str)
def test_weight_two_is_a_duplicate_and_zero_is_absence(model, noisy_data):
    X, y = noisy_data
    weight = np.random.default_rng(1).integers(0, 3, len(y))
    repeated = np.repeat(np.arange(len(y)), weight)
    first = clone(model).fit(X, y, sample_weight=weight).decision_function(X)
    second = clone(model).fit(X[repeated], y[repeated]).decision_function(X)
    np.testing.assert_allclose(first, second, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("model", ALL[:4], ids=str)
def test_predict_is_the_argmax_and_the_sign(model, noisy_data):
    X, y = noisy_data
    labels = np.array(["ham", "spam"])[y]
    fitted = clone(model).fit(X, labels)
    predicted = fitted.predict(X)
    probability = fitted.predict_proba(X)
    decision = fitted.decision_function(X)
    assert set(predicted) <= {"ham", "spam"}
    np.testing.assert_array_equal(predicted, fitted.classes_[probability.argmax(axis=1)])
    np.testing.assert_array_equal(predicted == "spam", decision > 0)
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)
    prior = fitted.link_.plateaus
    assert prior.a <= probability[:, 1].min() <= probability[:, 1].max() <= prior.a + prior.b
    np.testing.assert_allclose(
        decision, X @ fitted.coef_[0] + fitted.intercept_[0], rtol=1e-9, atol=1e-9
    )


def test_outliers_bend_logistic_regression_more(noisy_data):
    X, y = noisy_data
    clean = slice(20, None)
    ours = BBLRClassifier().fit(X, y).score(X[clean], y[clean])
    theirs = LogisticRegression().fit(X, y).score(X[clean], y[clean])
    assert ours > theirs


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_frames(frame, noisy_data):
    X, y = noisy_data
    columns = ["a", "b", "c", "d"]
    table = frame(dict(zip(columns, X.T, strict=True)))
    model = BBLRClassifier().fit(table, y)
    assert list(model.feature_names_in_) == columns
    np.testing.assert_allclose(
        model.decision_function(table), BBLRClassifier().fit(X, y).decision_function(X)
    )


def test_memory_map(tmp_path, noisy_data):
    X, y = noisy_data
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    np.testing.assert_array_equal(
        BBLRClassifier().fit(mapped, y).coef_, BBLRClassifier().fit(X, y).coef_
    )


@pytest.mark.parametrize("model", ALL, ids=str)
def test_pickling_and_determinism(model, noisy_data):
    X, y = noisy_data
    fitted = clone(model).fit(X, y)
    again = clone(model).fit(X, y)
    np.testing.assert_array_equal(fitted.coef_, again.coef_)
    thawed = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(thawed.predict(X), fitted.predict(X))


def test_metadata_routing(noisy_data):
    X, y = noisy_data
    weight = np.where(np.arange(len(y)) < 10, 0.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        model = make_pipeline(
            StandardScaler().set_fit_request(sample_weight=True),
            BBLRClassifier().set_fit_request(sample_weight=True),
        )
        accuracy = make_scorer(accuracy_score).set_score_request(sample_weight=True)
        given = {"sample_weight": weight}
        scores = cross_validate(model, X, y, params=given, cv=3, scoring=accuracy)
        # A pipeline of scikit-learn 1.7 asks for no weights to score by, a classifier does.
        alone = BBLRClassifier().set_fit_request(sample_weight=True)
        alone.set_score_request(sample_weight=True)
        own = cross_validate(alone, X, y, params=given, cv=3)
    np.testing.assert_array_equal(scores["test_score"], own["test_score"])


def test_path_tells_each_gamma(noisy_data, capsys):
    X, y = noisy_data
    model = BBLRClassifier(gamma_min=0.5, gamma_max=8, gamma_growth=4, verbose=1).fit(X, y)
    assert [stage.gamma for stage in model.path_] == [0.5, 2.0, 8.0]
    signs = np.where(y == 1, 1, -1)
    wrong = (signs * model.decision_function(X) <= 0).sum()
    assert model.path_[-1].errors == wrong
    assert all(stage.reason for stage in model.path_)
    assert model.n_iter_ == sum(stage.n_iter for stage in model.path_)
    assert model.gamma_ == 8.0
    assert capsys.readouterr().out.count("[BBLRClassifier] gamma") == 3


def test_search_lowers_the_training_loss():
    X, y = load_uci("heart", return_X_y=True)
    signs = np.where(y == 1, 1, -1)

    def errors(model):
        return int((signs * model.fit(X, y).decision_function(X) <= 0).sum())

    smooth = errors(BBLRClassifier("empirical", l2=1e-3, solver="fisher"))
    searched = errors(BBLRClassifier("empirical", l2=1e-3, random_state=0))
    assert searched <= min(smooth, 28)


def test_learned_plateaus_reflect_the_error_rate():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((4000, 3))
    y = X[:, 0] > 0
    flipped = rng.random(4000) < 0.15
    model = BBLRClassifier("learned").fit(X, y ^ flipped)
    assert model.prior_.a == pytest.approx(0.15, abs=0.04)
    assert model.prior_.a + model.prior_.b == pytest.approx(0.85, abs=0.04)


def test_warm_start_continues(noisy_data):
    X, y = noisy_data
    model = BBLRClassifier("robust", l2=3.0, warm_start=True, gamma_max=1.0, tol=1e-8)
    model.fit(X, y)
    first = model.coef_.copy()
    model.fit(X, y)
    assert model.path_[0].n_iter <= 1
    np.testing.assert_allclose(model.coef_, first, rtol=1e-3, atol=1e-5)


def test_own_prior_solver_and_class_weight(noisy_data):
    X, y = noisy_data
    model = BBLRClassifier(Plateaus.binary(0.1, 0.7), solver=LBFGS(), class_weight={0: 5.0}).fit(
        X, y
    )
    plain = BBLRClassifier(Plateaus.binary(0.1, 0.7), solver=LBFGS()).fit(X, y)
    assert model.predict(X).mean() < plain.predict(X).mean()


def test_without_an_intercept(noisy_data):
    X, y = noisy_data
    model = BBLRClassifier(fit_intercept=False).fit(X, y)
    assert model.intercept_[0] == 0.0


def test_weaker_penalties_follow_while_the_weakest_is_best(noisy_data):
    """One strong penalty is only where the search begins, if a weaker one predicts better."""
    X, y = noisy_data
    strong = BBLRClassifierCV(l2s=(1e4,), cv=3, random_state=0).fit(X, y)
    tried = {trial.path.l2 for trial in strong.trials_}
    assert min(tried) < 1e3
    enough = BBLRClassifierCV(l2s=(1.0, 1e-3), cv=3, random_state=0).fit(X, y)
    assert min(trial.path.l2 for trial in enough.trials_) > 0.99e-3 / 9
