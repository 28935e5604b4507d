"""The loss inside LightGBM and XGBoost: by their own training calls, and by our classifiers."""

import pickle
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, softmax
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV

from bblr.datasets import load_uci
from bblr.losses import BetaBernoulli, Plateaus

lightgbm = pytest.importorskip("lightgbm", reason="LightGBM is not installed")
xgboost = pytest.importorskip("xgboost", reason="XGBoost is not installed")

from bblr import lightgbm as for_lightgbm  # noqa: E402
from bblr import xgboost as for_xgboost  # noqa: E402

RHO = {2: 0.3, 3: (0.1, 0.5, 2.0)}


def lgbm(**settings):
    return lightgbm.LGBMClassifier(n_estimators=15, n_jobs=1, verbosity=-1, **settings)


def xgb(**settings):
    return xgboost.XGBClassifier(n_estimators=15, n_jobs=1, **settings)


OURS = {
    "lightgbm": for_lightgbm.BetaBernoulliLGBMClassifier,
    "xgboost": for_xgboost.BetaBernoulliXGBClassifier,
}
PLAIN = {"lightgbm": lgbm, "xgboost": xgb}
MODULES = {"lightgbm": for_lightgbm, "xgboost": for_xgboost}


@pytest.fixture(params=list(OURS))
def library(request):
    return request.param


@pytest.fixture(scope="module", params=[2, 3])
def table(request):
    """Rows with classes of different shares, in words, and weights."""
    X, y = load_uci("heart", return_X_y=True) if request.param == 2 else load_iris(return_X_y=True)
    kept = np.r_[: len(y) - 20]
    X, codes = X[kept], np.unique(y[kept], return_inverse=True)[1]
    return X, np.array(["ah", "be", "ce"])[codes], codes, 1.0 + (np.arange(len(codes)) % 3)


def make(library, rho=1.0, **settings):
    return OURS[library](PLAIN[library](**settings), rho=rho)


def held(library, X, y, weight=None, **settings):
    """Rows as a library holds them."""
    if library == "lightgbm":
        return lightgbm.Dataset(X, y, weight=weight, free_raw_data=False, **settings).construct()
    return xgboost.DMatrix(X, y, weight=weight, **settings)


def far_scores(codes, n_classes, size=3.0):
    shape = (len(codes), n_classes) if n_classes > 2 else len(codes)
    return size * np.random.default_rng(0).standard_normal(shape)


def raw(model, X):
    if isinstance(model, lightgbm.LGBMClassifier):
        return model.predict(X, raw_score=True)
    return model.predict(X, output_margin=True)


def as_table(p):
    return p if p.ndim > 1 else np.column_stack([1 - p, p])


# Objectives and metrics.


@pytest.mark.parametrize("weighted", [False, True])
def test_objective_and_metric_are_the_loss(library, table, weighted):
    X, _, codes, weight = table
    n_classes = codes.max() + 1
    rho, scores = RHO[n_classes], far_scores(codes, n_classes)
    data = held(library, X, codes, weight if weighted else None)
    loss = BetaBernoulli(Plateaus.from_ratio(rho, n_classes))
    labels = 2 * codes - 1 if n_classes == 2 else codes
    factor = weight if weighted else np.ones(len(codes))
    name, value, *rest = MODULES[library].metric(scores, data, rho=rho)
    assert name == "beta-bernoulli" and rest in ([], [False])
    assert value == pytest.approx(
        np.average(loss.value(labels, scores), weights=factor), rel=1e-12
    )
    gradient, curvature = MODULES[library].objective(scores, data, rho=rho)
    expected = loss.value_gradient(labels, scores)[1]
    np.testing.assert_allclose(gradient.T, (expected.T * factor), rtol=1e-12)
    assert (curvature >= 0).all() and curvature.shape == scores.shape
    # The metric is what the objective goes down: the mean, so its derivative is over the weights.
    change = 1e-6 * np.random.default_rng(1).standard_normal(scores.shape)
    up, down = (MODULES[library].metric(scores + s * change, data, rho)[1] for s in (1, -1))
    slope = (gradient * change).sum() / factor.sum()
    assert (up - down) / 2 == pytest.approx(slope, rel=1e-5)


@pytest.mark.parametrize("weighted", [False, True])
def test_without_plateaus_it_is_log_loss(library, table, weighted):
    X, _, codes, weight = table
    n_classes = codes.max() + 1
    scores = far_scores(codes, n_classes, 10.0)
    data = held(library, X, codes, weight if weighted else None)
    s = softmax(scores, 1) if n_classes > 2 else expit(scores)
    own = np.eye(n_classes)[codes] if n_classes > 2 else codes
    several = 1.0 if n_classes == 2 else {"lightgbm": 1.5, "xgboost": 2.0}[library]
    factor = weight.reshape(-1, *[1] * (s.ndim - 1)) if weighted else 1.0
    gradient, curvature = MODULES[library].objective(scores, data, rho=0.0)
    np.testing.assert_allclose(gradient, factor * (s - own), atol=1e-10)
    np.testing.assert_allclose(curvature, factor * several * s * (1 - s), atol=1e-10)


def test_tiny_plateaus_are_nearly_none(library, table):
    X, _, codes, _ = table
    scores, data = far_scores(codes, codes.max() + 1), held(library, X, codes)
    objective = MODULES[library].objective
    pairs = zip(objective(scores, data, 1e-12), objective(scores, data, 0.0), strict=True)
    for near, none in pairs:
        np.testing.assert_allclose(near, none, atol=1e-8)


def test_objectives_can_be_pickled(library):
    again = pickle.loads(pickle.dumps(partial(MODULES[library].objective, rho=0.3)))
    assert again.func is MODULES[library].objective


# Trained models.


@pytest.mark.parametrize("weighted", [False, True])
def test_models_without_plateaus_are_those_of_log_loss(library, table, weighted):
    X, y, codes, weight = table
    weight = weight if weighted else None
    model = make(library, 0.0).fit(X, y, weight)
    plain = PLAIN[library]().fit(X, codes, sample_weight=weight)
    # XGBoost works out its own gradients in single precision.
    atol = {"lightgbm": 1e-10, "xgboost": 1e-5}[library]
    np.testing.assert_allclose(model.decision_function(X), raw(plain, X), atol=atol)
    np.testing.assert_allclose(model.predict_proba(X), plain.predict_proba(X), atol=atol)
    np.testing.assert_array_equal(model.predict(X), model.classes_[plain.predict(X)])


@pytest.mark.parametrize("weighted", [False, True])
def test_own_training_call_gives_the_same_model(library, table, weighted):
    X, y, codes, weight = table
    n_classes, weight = codes.max() + 1, weight if weighted else None
    rho = RHO[n_classes]
    model = make(library, rho).fit(X, y, weight)
    module = MODULES[library]
    objective = partial(module.objective, rho=rho)
    classes = {"num_class": int(n_classes)} if n_classes > 2 else {}
    if library == "lightgbm":
        start = module.init_score(codes, weight)
        first = np.tile(start, (len(y), 1)) if n_classes > 2 else np.repeat(start, len(y))
        rows = lightgbm.Dataset(X, codes, weight=weight, init_score=first)
        settings = {"objective": objective, "verbosity": -1, "num_threads": 1, **classes}
        booster = module.complete(lightgbm.train(settings, rows, 15), start)
        found = booster.predict(X)
    else:
        link = "multi:softprob" if n_classes > 2 else "binary:logistic"
        base = module.base_score(codes, weight)
        settings = {"objective": link, "base_score": base, "nthread": 1, **classes}
        rows = xgboost.DMatrix(X, codes, weight=weight)
        found = xgboost.train(settings, rows, 15, obj=objective).predict(rows)
    np.testing.assert_allclose(as_table(found), model.predict_proba(X), atol=1e-6)


def test_saved_models_predict_the_same(library, table, tmp_path):
    X, y, *_ = table
    model = make(library).fit(X, y)
    path = str(tmp_path / ("model.txt" if library == "lightgbm" else "model.json"))
    if library == "lightgbm":
        model.estimator_.booster_.save_model(path)
        found = lightgbm.Booster(model_file=path).predict(X)
    else:
        model.estimator_.save_model(path)
        found = xgboost.Booster(model_file=path).predict(xgboost.DMatrix(X))
        loaded = xgboost.XGBClassifier()
        loaded.load_model(path)
        np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(as_table(found), model.predict_proba(X))
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_weights_are_repeats(library, table):
    X, y, *_ = table
    # LightGBM counts rows for bins and leaves, and so sees a row twice differently.
    settings = {"min_child_samples": 1, "min_data_in_bin": 1} if library == "lightgbm" else {}
    zero = np.where(np.arange(len(y)) % 5 == 0, 0.0, 2.0)
    rows = np.repeat(np.arange(len(y)), zero.astype(int))
    model = make(library, **settings).fit(X, y, zero)
    kept = make(library, **settings).fit(X[zero > 0], y[zero > 0], zero[zero > 0])
    np.testing.assert_array_equal(model.decision_function(X), kept.decision_function(X))
    twice = make(library, **settings).fit(X[rows], y[rows])
    np.testing.assert_allclose(model.decision_function(X), twice.decision_function(X), atol=1e-5)


def test_class_weights_go_by_label(table):
    X, y, *_ = table
    factors = {"ah": 1.0, "be": 3.0, "ce": 2.0}
    by_class = make("lightgbm", class_weight={k: factors[k] for k in set(y)}).fit(X, y)
    by_row = make("lightgbm").fit(X, y, np.array([factors[label] for label in y]))
    np.testing.assert_array_equal(by_class.decision_function(X), by_row.decision_function(X))


def test_labels_of_any_kind_and_frames(library, table):
    X, y, codes, _ = table
    model = make(library).fit(X, y)
    frame = pd.DataFrame(X, columns=[f"column {k}" for k in range(X.shape[1])])
    by_frame = make(library).fit(frame, pd.Series(codes == 1))
    assert set(model.predict(X)) <= set(y)
    assert by_frame.predict(frame).dtype == bool
    assert list(by_frame.feature_names_in_) == list(frame)
    with pytest.raises(ValueError, match="feature names"):
        by_frame.predict(frame[frame.columns[::-1]])


def test_rows_that_contradict_the_model_lose_their_say(library):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 3))
    y = (X[:, 0] > 0).astype(int)
    given = np.where(rng.random(600) < 0.3, 1 - y, y)
    # Enough rounds to memorise the labels.
    trees = PLAIN[library]().set_params(n_estimators=60, learning_rate=0.3)
    rates = [OURS[library](trees, rho=rho).fit(X, given).score(X, y) for rho in (0.0, 1.0)]
    assert rates[1] > rates[0] + 0.03


def test_early_stopping_follows_the_loss(library, table):
    X, y, codes, weight = table
    n_classes = codes.max() + 1
    rho = RHO[n_classes]
    train, test = slice(None, None, 2), slice(1, None, 2)
    # Wrong labels end the training early.
    y = np.where(np.arange(len(y)) % 7 < 2, np.roll(y, 50), y)
    codes = np.unique(y, return_inverse=True)[1]
    watched = {"eval_set": [(X[test], y[test])], "eval_sample_weight": [weight[test]]}
    if library == "lightgbm":
        model = OURS[library](lgbm().set_params(n_estimators=300), rho=rho)
        stop = lightgbm.early_stopping(5, verbose=False)
        model.fit(X[train], y[train], **watched, callbacks=[stop])
        best = model.estimator_.best_iteration_
        followed = model.estimator_.evals_result_["valid_0"]["beta-bernoulli"]
        assert model.estimator_.booster_.num_trees() == best * (n_classes if n_classes > 2 else 1)
    else:
        trees = xgb(early_stopping_rounds=5).set_params(n_estimators=300)
        model = OURS[library](trees, rho=rho).fit(X[train], y[train], **watched)
        best = model.estimator_.best_iteration + 1
        followed = model.estimator_.evals_result()["validation_0"]["beta-bernoulli"]
    assert best == 1 + int(np.argmin(followed)) and best < 295
    loss = BetaBernoulli(Plateaus.from_ratio(rho, n_classes))
    labels = 2 * codes - 1 if n_classes == 2 else codes
    value = loss.value(labels[test], model.decision_function(X[test]))
    # The base score is in the scores that the metric sees.
    assert np.average(value, weights=weight[test]) == pytest.approx(min(followed), rel=1e-5)


def test_search_and_clone(library, table):
    X, y, *_ = table
    name = "estimator__num_leaves" if library == "lightgbm" else "estimator__max_depth"
    search = GridSearchCV(make(library), {"rho": [0.0, 1.0], name: [2, 3]}, cv=2).fit(X, y)
    assert search.best_score_ > 0.7
    assert clone(make(library, 0.5)).rho == 0.5


def test_the_given_estimator_is_left_alone(library, table):
    X, y, *_ = table
    trees = PLAIN[library]()
    before = repr(sorted(trees.get_params().items(), key=str))
    OURS[library](trees).fit(X, y)
    assert repr(sorted(trees.get_params().items(), key=str)) == before
    assert not trees.__sklearn_is_fitted__()


def test_a_table_that_cannot_be_split_gives_the_shares(library):
    X, y = np.zeros((30, 2)), np.repeat([0, 1], [10, 20])
    proba = make(library, 0.0).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(proba, np.tile([1 / 3, 2 / 3], (30, 1)), atol=1e-3)


# Mistakes.


def test_completing_what_is_complete_is_refused(table):
    X, y, codes, _ = table
    booster = make("lightgbm").fit(X, y).estimator_.booster_
    with pytest.raises(ValueError, match="not complete"):
        for_lightgbm.complete(booster, for_lightgbm.init_score(codes))


def test_linear_trees_are_refused():
    X, y = np.random.default_rng(0).standard_normal((100, 2)), np.repeat([0, 1], 50)
    start = for_lightgbm.init_score(y)
    rows = lightgbm.Dataset(X, y, init_score=np.repeat(start, 100), params={"linear_tree": True})
    settings = {"objective": for_lightgbm.objective, "verbosity": -1, "linear_tree": True}
    booster = lightgbm.train(settings, rows, 2)
    with pytest.raises(ValueError, match="linear_tree"):
        for_lightgbm.complete(booster, start)


@pytest.mark.parametrize("start", [[0.0, 0.0], []])
def test_a_start_of_another_number_of_scores_is_refused(start):
    X, y = np.arange(100.0)[:, None], np.repeat([0, 1], 50)
    rows = lightgbm.Dataset(X, y)
    settings = {"objective": for_lightgbm.objective, "verbosity": -1}
    with pytest.raises(ValueError, match="start must hold 1"):
        for_lightgbm.complete(lightgbm.train(settings, rows, 2), start)


@pytest.mark.parametrize("y", [[0, 0], [0, 2], [1, 2]])
def test_class_numbers_have_no_gaps(y):
    with pytest.raises(ValueError, match="y must hold the numbers"):
        for_lightgbm.init_score(y)
    with pytest.raises(ValueError, match="y must hold the numbers"):
        for_xgboost.base_score(y)


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"objective": "regression"}, "objective"),
        ({"scale_pos_weight": 3.0}, "scale_pos_weight"),
        ({"metric": "auc"}, "metric"),
        ({"eval_metric": "auc"}, "eval_metric"),
        ({"base_score": 0.5}, "base_score"),
        ({"linear_tree": True}, "linear_tree"),
    ],
)
def test_settings_that_would_be_overruled_are_refused(table, settings, named):
    X, y, *_ = table
    libraries = {"metric": ["lightgbm"], "eval_metric": ["xgboost"], "base_score": ["xgboost"],
                 "linear_tree": ["lightgbm"]}.get(named, list(OURS))  # fmt: skip
    for library in libraries:
        with pytest.raises(ValueError, match=f"estimator must leave {named} alone"):
            make(library, **settings).fit(X, y)


def test_a_fit_that_fails_changes_nothing(library, table):
    X, y, *_ = table
    model = make(library).fit(X, y)
    before = model.decision_function(X)
    with pytest.raises(ValueError, match="eval_set"):
        model.fit(X[:, :2], np.where(y == y[0], "one", "two"), eval_set=[(X[:, :2], y)])
    np.testing.assert_array_equal(model.decision_function(X), before)
    assert set(model.classes_) == set(y)


def test_parts_may_be_watched_with_and_without_weights(library, table):
    X, y, _, weight = table
    parts = [(X, y), (X[::2], y[::2])]
    model = make(library).fit(X, y, eval_set=parts, eval_sample_weight=[weight, None])
    assert model.score(X, y) > 0.7


def test_bad_arguments_are_named(library, table):
    X, y, *_ = table
    with pytest.raises(ValueError, match="rho must be"):
        make(library, -1.0).fit(X, y)
    with pytest.raises(ValueError, match="rho must be"):
        make(library, (1.0, 1.0, 1.0, 1.0)).fit(X, y)
    with pytest.raises(TypeError, match="estimator must be a"):
        OURS[library](42).fit(X, y)
    with pytest.raises(ValueError, match="eval_set must hold no class"):
        make(library).fit(X, y, eval_set=[(X, np.repeat("zz", len(y)))])
    with pytest.raises(ValueError, match="eval_sample_weight must hold"):
        make(library).fit(X, y, eval_set=[(X, y)], eval_sample_weight=[None, None])
    own = "init_score" if library == "lightgbm" else "base_margin"
    with pytest.raises(ValueError, match=f"{own} must be left out"):
        make(library).fit(X, y, **{own: np.zeros(len(y))})
    with pytest.raises(ValueError, match="sample_weight must hold a positive weight"):
        make(library).fit(X, y, np.zeros(len(y)))
    with pytest.raises(ValueError, match="sample_weight must hold a number for each row"):
        make(library).fit(X, y, ["a"] * len(y))


@pytest.mark.parametrize("size", [1e300, 1e-300])
def test_weights_beyond_single_precision_are_refused(library, size):
    """LightGBM gave probabilities that are no numbers, XGBoost a stack trace."""
    with pytest.raises(ValueError, match="sample_weight and class_weight must come to"):
        make(library).fit(np.eye(20), np.arange(20) % 2, np.full(20, size))


def test_rows_beyond_single_precision_are_refused():
    with pytest.raises(ValueError, match="X contains infinity or a value too large"):
        make("xgboost").fit(1e300 * np.eye(20), np.arange(20) % 2)
