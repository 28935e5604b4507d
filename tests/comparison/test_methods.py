import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.dummy
import sklearn.ensemble
import sklearn.linear_model
import sklearn.svm
from sklearn.base import clone
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

import bblr
from bblr.comparison.methods import (
    FILE_METHODS,
    METHODS,
    Method,
    _best,
    _scores,
    select_file_methods,
    select_methods,
    tune_for,
)


def test_names_are_found_in_any_case_and_order():
    assert [m.name for m in select_methods(["bblr4", " SVM ", "Lr"])] == ["BBLR4", "SVM", "LR"]
    assert select_methods() == tuple(m for m in METHODS.values() if m.usual)
    assert "SVC" not in {method.name for method in select_methods()}
    assert "HGB" in FILE_METHODS
    names = {name.removeprefix("robust:") for name in FILE_METHODS}
    assert names <= set(METHODS)
    assert [m.name for m in select_file_methods(["SVM", "lr"])] == ["majority", "LR", "SVM"]
    assert {m.name for m in select_file_methods()} >= names
    # As the paper writes them, and as tables do.
    assert [m.name for m in select_methods(["BBLR³", "sparse kbblr"])] == ["BBLR3", "KBBLR-B"]


def test_every_name_that_is_printed_can_be_typed():
    assert select_methods([m.label for m in METHODS.values()]) == tuple(METHODS.values())


@pytest.mark.parametrize("name", METHODS)
def test_a_method_is_the_estimator_it_says(name):
    """The call that is shown, with what tuning chooses left out, has the parameters it has."""
    shown = re.sub(r"(, )?\w+=\.\.\.", "", METHODS[name].estimator)
    # Names of bblr are loaded when they are used.
    ours = {name: getattr(bblr, name) for name in bblr.__all__}
    expected = eval(
        shown.replace("(, ", "("),
        {
            **vars(sklearn.linear_model),
            **vars(sklearn.svm),
            **vars(sklearn.dummy),
            **vars(sklearn.ensemble),
            **ours,
        },
    )
    built = METHODS[name].build(3)
    built = getattr(built, "estimator", built)
    built = built.steps[-1][1] if hasattr(built, "steps") else built
    assert type(built) is type(expected)
    limits = {"random_state": None, "max_iter": None, "dual": None, "cache_size": None}
    assert {**built.get_params(), **limits} == {**expected.get_params(), **limits}


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["LR", "RF"], "unknown method 'RF'; choose from LR, SVM"),
        (["LR", "lr"], "twice"),
        ([], "no"),
    ],
)
def test_bad_names_are_refused(names, message):
    with pytest.raises(ValueError, match=message):
        select_methods(names)


def test_registry_describes_itself():
    for name, method in METHODS.items():
        assert isinstance(method, Method) and method.name == name
        assert method.description.endswith(".") and len(method.description) < 99


def scaler_of(estimator):
    return getattr(estimator, "estimator", estimator).steps[0][1]


UNSCALED = ("HGB", "majority")


@pytest.mark.parametrize("name", [name for name in METHODS if name not in UNSCALED])
def test_methods_build_what_scikit_learn_can_clone(name):
    dense, sparse = (METHODS[name].build(3, sparse=flag) for flag in (False, True))
    clone(dense)
    assert isinstance(scaler_of(dense), StandardScaler)
    assert isinstance(scaler_of(sparse), MaxAbsScaler)


@pytest.mark.parametrize("name", [name for name in METHODS if name != "majority"])
def test_methods_separate_easy_data(name):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 2)) + 4 * y[:, None]
    estimator = METHODS[name].build(0).fit(X, y)
    assert np.mean(estimator.predict(X) == y) >= 0.95


@pytest.mark.parametrize("name", ["LR", "SVM"])
def test_baselines_take_sparse_features(name):
    y = np.arange(40) % 2
    X = sp.csr_matrix(np.column_stack([y, np.zeros(40)]))
    assert np.all(METHODS[name].build(0, sparse=True).fit(X, y).predict(X) == y)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", ["LR", "SVM"])
def test_tuning_scores_are_those_of_scikit_learn(name, classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 2))
    codes = (X[:, 0] + rng.normal(size=90) > 0.5) + (classes > 2) * (X[:, 1] > 0)
    y = np.array(["a", "b", "c"])[codes.astype(int)]
    estimator = METHODS[name].build(0).estimator.fit(X, y)
    known = {s: get_scorer(s) for s in ("accuracy", "balanced_accuracy")}
    if name == "LR":
        known |= {"neg_log_loss": get_scorer("neg_log_loss"), "roc_auc": get_scorer("roc_auc_ovr")}
    elif classes == 2:
        known["roc_auc"] = get_scorer("roc_auc")
    for scoring, scorer in known.items():
        found = _scores(estimator, X, y, scoring)
        assert found["score"] == pytest.approx(scorer(estimator, X, y)), scoring
        assert found.get("log_loss") == (
            pytest.approx(known["neg_log_loss"](estimator, X, y)) if name == "LR" else None
        )


def test_the_score_decides_and_log_loss_breaks_ties():
    score = np.array([0.7, 0.8, 0.8, 0.8 - 1e-15])
    log_loss = np.array([-0.1, -0.9, -0.5, -0.6])
    results = {"mean_test_score": score}
    assert _best(results) == 1
    assert _best({**results, "mean_test_log_loss": log_loss}) == 2


SCORING = ("balanced_accuracy", "roc_auc", "neg_log_loss")


@pytest.mark.parametrize("scoring", SCORING)
@pytest.mark.parametrize("name", METHODS)
def test_methods_that_tune_are_tuned_for_the_same_score(name, scoring):
    plain, built = METHODS[name].build(0), tune_for(METHODS[name].build(0), scoring)
    before, after = (
        {k: v for k, v in m.get_params().items() if k.endswith("scoring")} for m in (plain, built)
    )
    changed = [value for key, value in after.items() if repr(value) != repr(before[key])]
    # Of what a method holds, one thing searches, if anything does.
    assert len(changed) == METHODS[name].tunes
    assert all(value == scoring or value.keywords == {"scoring": scoring} for value in changed)


def test_the_search_of_logistic_regression_chooses_by_the_score():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 4))
    y = (X[:, 0] + rng.normal(size=300) > 2).astype(int)  # few are positive
    found = {s: tune_for(METHODS["LR"].build(0), s).fit(X, y) for s in SCORING}
    for scoring, search in found.items():
        named = {"roc_auc": "roc_auc_ovr"}.get(scoring, scoring)
        by_hand = GridSearchCV(search.estimator, search.param_grid, scoring=named, cv=search.cv)
        best = by_hand.fit(X, y).cv_results_["mean_test_score"].max()
        assert search.cv_results_["mean_test_score"][search.best_index_] == pytest.approx(best)
    chosen = [str(search.best_params_) for search in found.values()]
    assert len(set(chosen)) > 1


def test_importing_the_registry_is_light():
    code = (
        "import sys, bblr; own = set(sys.modules); import bblr.comparison.methods;"
        "print({name.split('.')[0] for name in set(sys.modules) - own})"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(bblr.__file__).parents[1])}
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment
    )
    assert result.returncode == 0, result.stderr
    for heavy in ("sklearn", "matplotlib", "jinja2", "joblib", "rich"):
        assert heavy not in result.stdout


def test_robust_before_a_name_is_a_method_around_a_method():
    boosting, logistic = select_methods(["robust:hgb", " Robust:LR"])
    assert (boosting.name, boosting.label) == ("robust:HGB", "robust:HGB")
    assert logistic.name == "robust:LR" and logistic.weight > METHODS["LR"].weight
    with pytest.raises(ValueError, match="unknown method 'robust:RF'"):
        select_methods(["robust:RF"])
    with pytest.raises(ValueError, match="twice"):
        select_methods(["robust:LR", "ROBUST:lr"])


def test_robust_methods_are_fitted():
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    X = rng.normal(size=(80, 2)) + 4 * y[:, None]
    (method,) = select_methods(["robust:LR"])
    assert np.mean(method.build(0).fit(X, y).predict(X) == y) >= 0.95
