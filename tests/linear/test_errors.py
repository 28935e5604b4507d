"""Bad input: an error that names the parameter, and an estimator that is left as it was."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from bblr import (
    BBLRClassifier,
    BBLRClassifierCV,
    KernelBBLRClassifier,
    KernelBBLRClassifierCV,
    Plateaus,
    SLAClassifier,
    ZeroOneClassifier,
)

X = np.random.default_rng(0).standard_normal((20, 2))
Y = np.arange(20) % 2

BAD_PARAMETERS = [
    (BBLRClassifier(prior="strong"), "prior"),
    (BBLRClassifier(prior=3), "prior"),
    (BBLRClassifier(prior=Plateaus.binary(0.6, 0.3)), "prior"),
    (BBLRClassifier(l2=-1), "l2"),
    (BBLRClassifier(l2=np.nan), "l2"),
    (BBLRClassifier(gamma_min=0), "gamma_min"),
    (BBLRClassifier(gamma_max=-2), "gamma_max"),
    (BBLRClassifier(gamma_min=5, gamma_max=4), "gamma_min"),
    (BBLRClassifier(gamma_growth=1), "gamma_growth"),
    (BBLRClassifier(solver="newton"), "solver"),
    (BBLRClassifier(solver=3), "solver"),
    (BBLRClassifier(tol=0), "tol"),
    (BBLRClassifier(max_iter=0), "max_iter"),
    (BBLRClassifier(max_iter=10**30), "max_iter"),
    (BBLRClassifier(leverage=1e-300), "leverage"),
    (BBLRClassifier(fit_intercept="no"), "fit_intercept"),
    (BBLRClassifier(warm_start="no"), "warm_start"),
    (BBLRClassifier(noise_free_proba="no"), "noise_free_proba"),
    (BBLRClassifier(random_state="seven"), "random_state"),
    (BBLRClassifier(verbose="much"), "verbose"),
    (KernelBBLRClassifier(max_centers=10**30), "max_centers"),
    (BBLRClassifier(class_weight="heavy"), "class_weight"),
    (BBLRClassifier(class_weight={7: 1.0}), "class_weight"),
    (BBLRClassifierCV(prior="weakish"), "prior"),
    (BBLRClassifierCV(l2s=()), "l2s"),
    (BBLRClassifierCV(l2s=(1.0, -1.0)), "l2s"),
    (BBLRClassifierCV(l2s="many"), "l2s"),
    (BBLRClassifierCV(cv=1), "cv"),
    (BBLRClassifierCV(gamma_limit=0.5), "gamma_limit"),
    (BBLRClassifierCV(solver="sla"), "solver"),
    (KernelBBLRClassifier("gauss"), "kernel"),
    (KernelBBLRClassifier(3), "kernel"),
    (KernelBBLRClassifier(kernel_gamma="wide"), "kernel_gamma"),
    (KernelBBLRClassifier(kernel_gamma=0), "kernel_gamma"),
    (KernelBBLRClassifier(degree=0), "degree"),
    (KernelBBLRClassifier(coef0=np.inf), "coef0"),
    (KernelBBLRClassifier(penalty="lasso"), "penalty"),
    (KernelBBLRClassifier(sparsity="forward"), "sparsity"),
    (KernelBBLRClassifier(max_vectors=0), "max_vectors"),
    (KernelBBLRClassifier(max_centers="few"), "max_centers"),
    (KernelBBLRClassifier(max_centers=0), "max_centers"),
    (KernelBBLRClassifier(laplace_share=1.0), "laplace_share"),
    (KernelBBLRClassifier(laplace_share="half"), "laplace_share"),
    (KernelBBLRClassifier(cache_size=-1), "cache_size"),
    (KernelBBLRClassifier(prior="strong"), "prior"),
    (KernelBBLRClassifier(l2=-1), "l2"),
    (KernelBBLRClassifier(gamma_min=2), "gamma_min"),
    (KernelBBLRClassifier("precomputed"), "X must be the square matrix"),
    (KernelBBLRClassifierCV(kernel_gammas="many"), "kernel_gammas"),
    (KernelBBLRClassifierCV(kernel_gammas=(1.0, 0.0)), "kernel_gammas"),
    (KernelBBLRClassifierCV(l2s=()), "l2s"),
    (KernelBBLRClassifierCV(l2s=3), "l2s"),
    (KernelBBLRClassifierCV(cv=1), "cv"),
    (KernelBBLRClassifierCV(gamma_limit=0.5), "gamma_limit"),
    (KernelBBLRClassifierCV(prior="weakish"), "prior"),
    (BBLRClassifier(Plateaus.weak(3)), "prior must have a plateau for each class"),
    (SLAClassifier(gamma_min=-1), "gamma_min"),
    (SLAClassifier(gamma_min=10, gamma_max=2), "gamma_min"),
    (SLAClassifier(spacing=0), "spacing"),
    (ZeroOneClassifier(solver="best"), "solver"),
    (ZeroOneClassifier(time_limit=0), "time_limit"),
    (ZeroOneClassifier(n_jobs=0), "n_jobs"),
    (ZeroOneClassifier(n_jobs=1.5), "n_jobs"),
    (ZeroOneClassifier(class_weight={7: 1.0}), "class_weight"),
]


@pytest.mark.parametrize(("model", "name"), BAD_PARAMETERS, ids=lambda value: str(value))
def test_bad_parameters_are_named(model, name):
    with pytest.raises(ValueError, match=name):
        model.fit(X, Y)


MODELS = [
    BBLRClassifier(),
    BBLRClassifierCV(cv=2),
    SLAClassifier(),
    ZeroOneClassifier(),
    KernelBBLRClassifier(),
    KernelBBLRClassifierCV(cv=2, l2s=(1.0,), kernel_gammas=(0.5,)),
]

BAD_DATA = {
    "NaN": (np.where(np.eye(20, 2), np.nan, X), Y, None, "NaN"),
    "infinity": (np.where(np.eye(20, 2), np.inf, X), Y, None, "infinity"),
    "one class": (X, np.zeros(20), None, "one class"),
    "empty": (X[:0], Y[:0], None, "minimum of 1 is required"),
    "lengths": (X, Y[:19], None, "inconsistent numbers of samples"),
    "negative weight": (X, Y, -np.ones(20), "sample_weight"),
    "zero weights": (X, Y, np.zeros(20), "sample_weight"),
    "weight lengths": (X, Y, np.ones(19), "sample_weight"),
    "weight of one class": (X, Y, Y.astype(float), "one class"),
}


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("case", BAD_DATA)
def test_bad_data_change_nothing(model, case):
    features, labels, weight, message = BAD_DATA[case]
    fitted = type(model)(**model.get_params()).fit(X, Y)
    before = fitted.decision_function(X)
    with pytest.raises(ValueError, match=message):
        fitted.fit(features, labels, sample_weight=weight)
    np.testing.assert_array_equal(fitted.decision_function(X), before)
    assert fitted.n_features_in_ == 2


@pytest.mark.parametrize("model", [SLAClassifier(), ZeroOneClassifier()], ids=str)
def test_two_classes_only(model):
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        model.fit(X, np.arange(20) % 3)


def test_too_few_examples_to_hold_out():
    labels = np.zeros(20)
    labels[3] = 1
    with pytest.raises(ValueError, match="cv needs at least 2 examples"):
        BBLRClassifierCV().fit(X, labels)


@pytest.mark.parametrize("model", MODELS, ids=lambda value: type(value).__name__)
def test_a_failed_fit_leaves_a_fitted_model_as_it_was(model):
    fitted = clone(model).fit(X, Y)
    before = dict(vars(fitted))
    with pytest.raises(ValueError, match="one class"):
        fitted.fit(np.ones((20, 5)), np.zeros(20))
    assert vars(fitted) == before
    fitted.predict(X)


def test_enumeration_refuses_without_a_trace():
    fitted = ZeroOneClassifier("exact").fit(X, Y)
    with pytest.raises(ValueError, match="one or two features"):
        fitted.fit(np.random.default_rng(1).normal(size=(20, 5)), Y)
    assert fitted.n_features_in_ == 2


@pytest.mark.parametrize("weight", [np.inf, np.nan, -1.0])
def test_class_weights_are_finite_and_not_negative(weight):
    with pytest.raises(ValueError, match="class_weight must hold finite weights of at least 0"):
        BBLRClassifier(class_weight={0: weight}).fit(X, Y)


FRAME = pd.DataFrame(
    {
        "number": X[:, 0],
        "kind": ["u", "v"] * 10,
        "level": pd.Categorical(["low", "high"] * 10),
        "day": pd.date_range("2020-01-01", periods=20),
        "wait": pd.timedelta_range("1 day", periods=20, unit="ns"),
        "moment": pd.date_range("2020-01-01", periods=20).astype("datetime64[ns]"),
        "digits": ["1.5", "2"] * 10,
        "mixed": [1, "x"] * 10,
    }
)


@pytest.mark.parametrize(
    ("columns", "named"),
    [
        (["number", "kind"], ["'kind' (such as 'u')"]),
        (["level"], ["'level' (such as 'low')"]),
        (["number", "day"], ["'day' (such as '2020-01-01 00:00:00')"]),
        (["number", "moment"], ["'moment' (such as '2020-01-01 00:00:00')"]),
        (list(FRAME), ["'kind'", "'level'", "'day'", "'wait'", "'mixed' (such as 'x')"]),
    ],
)
@pytest.mark.parametrize("estimator", [BBLRClassifier(), KernelBBLRClassifier(), SLAClassifier()])
def test_columns_of_a_frame_that_are_no_numbers_are_named(estimator, columns, named):
    with pytest.raises(
        ValueError, match=r"X must hold numbers.*OneHotEncoder.*drop them"
    ) as error:
        clone(estimator).fit(FRAME[columns], Y)
    assert all(name in str(error.value) for name in named)
    assert "'number'" not in str(error.value) and "'digits'" not in str(error.value)
    model = clone(estimator).fit(
        pd.DataFrame(0.0, FRAME.index, columns).assign(**{columns[0]: Y}), Y
    )
    with pytest.raises(ValueError, match="X must hold numbers"):
        model.predict(FRAME[columns])
    with pytest.raises(ValueError, match="feature names"):
        model.predict(FRAME[columns].assign(other="v"))


def test_the_remedy_for_text_columns_works():
    columns = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["kind"]), remainder="passthrough"
    )
    model = make_pipeline(columns, BBLRClassifier()).fit(FRAME[["number", "kind"]], Y)
    assert model.score(FRAME[["number", "kind"]], Y) == 1


def test_gaps_in_a_frame_are_told_as_such():
    with pytest.raises(ValueError, match="Input X contains NaN"):
        BBLRClassifier().fit(pd.DataFrame({"a": [None, *range(19)]}, dtype=object), Y)


def test_parameters_are_checked_again_once_they_change(monkeypatch):
    checks = []
    check = BBLRClassifier._validate_params
    monkeypatch.setattr(
        BBLRClassifier, "_validate_params", lambda self: (checks.append(1), check(self))
    )
    model = BBLRClassifier(max_iter=7).fit(X, Y)
    clone(model).fit(X, Y)
    assert len(checks) <= 1
    for name, value in (("max_iter", 7.5), ("max_iter", 0), ("tol", -1.0), ("prior", "strong")):
        with pytest.raises(ValueError, match=name):
            clone(model).set_params(**{name: value}).fit(X, Y)
    changing = {0: 1.0, 1: 1.0}
    model = BBLRClassifier(class_weight=changing).fit(X, Y)
    changing[1] = -1.0
    with pytest.raises(ValueError, match="class_weight"):
        model.fit(X, Y)
