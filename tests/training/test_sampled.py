"""Early stages on a sample of rows: the same end, sooner."""

import re

import numpy as np
import pytest

from bblr import BBLRClassifier
from bblr.training import sampled as _sampled


@pytest.fixture
def small_samples(monkeypatch):
    """Let samples begin at some thousand rows."""
    monkeypatch.setattr(_sampled, "_MIN_ROWS", 1000)


# Several stages, the same with and without a sample.
FIXED = {"prior": "robust", "l2": 3.0, "gamma_max": 4.0}


def data(n, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    scores = X @ rng.normal(size=(5, classes)) + 0.5 * rng.gumbel(size=(n, classes))
    return X, scores.argmax(axis=1)


@pytest.fixture
def unsampled(monkeypatch):
    def fit(model, X, y, **options):
        with monkeypatch.context() as patch:
            patch.setattr(_sampled, "_TIMES", 10**9)
            return model.fit(X, y, **options)

    return fit


@pytest.mark.parametrize("classes", [2, 3])
def test_the_last_stage_ends_where_all_rows_say(small_samples, unsampled, classes):
    X, y = data(8000, classes)
    found = BBLRClassifier(**FIXED, tol=1e-6).fit(X, y)
    whole = unsampled(BBLRClassifier(**FIXED, tol=1e-6), X, y)
    last, expected = found.path_[-1], whole.path_[-1]
    assert last.value == pytest.approx(expected.value, rel=1e-4)
    assert np.mean(found.predict(X) != whole.predict(X)) < 0.005
    assert last.errors == np.sum(found.predict(X) != y)
    assert [stage.gamma for stage in found.path_] == [stage.gamma for stage in whole.path_]
    assert re.fullmatch(r"converged, on 1,\d{3} rows", found.path_[0].reason)
    assert "rows" not in last.reason and "rows" not in whole.path_[0].reason
    # Figures of the sample are scaled up.
    assert found.path_[0].value == pytest.approx(whole.path_[0].value, rel=0.1)


def test_fits_repeat_and_see_weights(small_samples):
    X, y = data(6000)
    weight = np.where(np.arange(6000) % 3 == 0, 0.0, 2.0)
    one = BBLRClassifier(**FIXED, tol=1e-6).fit(X, y, sample_weight=weight)
    two = BBLRClassifier(**FIXED, tol=1e-6).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(one.coef_, two.coef_)
    kept = weight > 0
    without = BBLRClassifier(**{**FIXED, "l2": 1.5}, tol=1e-6).fit(X[kept], y[kept])
    np.testing.assert_allclose(one.coef_, without.coef_, rtol=0.02, atol=0.01)


@pytest.mark.parametrize("classes", [2, 3])
def test_penalty_and_plateaus_of_a_sample_serve_all_rows(small_samples, unsampled, classes):
    X, y = data(8000, classes)
    found = BBLRClassifier().fit(X, y)
    whole = unsampled(BBLRClassifier(), X, y)
    assert np.log(found.l2_ / whole.l2_) == pytest.approx(0.0, abs=0.7)
    assert found.prior_.w == pytest.approx(whole.prior_.w, abs=0.05)
    assert np.mean(found.predict(X) != whole.predict(X)) < 0.01


@pytest.mark.filterwarnings("ignore::bblr.exceptions.ConstantScoresWarning")
@pytest.mark.parametrize("rare", [30, 0])
def test_a_class_the_sample_hardly_sees_is_not_left_to_it(small_samples, rare):
    X, y = data(6000)
    y[:] = 0
    y[-max(rare, 1) :] = 1
    found = BBLRClassifier("robust", l2=3.0).fit(X, y)
    assert all("rows" not in stage.reason for stage in found.path_)


def test_few_rows_searches_and_warm_starts_know_no_sample(small_samples):
    X, y = data(3000)
    few = BBLRClassifier().fit(X, y)
    X, y = data(6000)
    sla = BBLRClassifier(solver="sla", gamma_max=2).fit(X, y)
    again = BBLRClassifier(warm_start=True).fit(X, y).fit(X, y)
    for model in (few, sla, again):
        assert all("rows" not in stage.reason for stage in model.path_)


def test_weight_in_few_rows_takes_all_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(70_000, 3))
    y = X[:, 0] > rng.normal(size=len(X))
    even = BBLRClassifier(**FIXED).fit(X, y)
    assert "rows" in even.path_[0].reason
    heavy = BBLRClassifier(**FIXED).fit(X, y, np.exp(3 * rng.normal(size=len(X))))
    assert "rows" not in heavy.path_[0].reason
