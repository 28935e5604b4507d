"""Penalty and plateaus by marginal likelihood, and the link fitted to leave-one-out scores."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score

import bblr.linear.classifier as classifier
import bblr.training.marginal as marginal
from bblr import BBLRClassifier, BBLRClassifierCV, Plateaus
from bblr.designs import ScaledDesign, make_design
from bblr.exceptions import ConstantScoresWarning
from bblr.solvers import LBFGS, FisherScoring
from bblr.training.laplace import draw_rows, laplace, leave_one_out
from bblr.training.marginal import leverage_limit
from bblr.training.probabilities import fit_link, one_scale
from bblr.training.start import centred_plateaus, make_objective


def _linear(n, d, seed, *, slope=1.5, shift=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    weights = rng.normal(size=d) * slope / np.sqrt(d)
    return X, (rng.random(n) < expit(X @ weights + shift)).astype(int), rng


def _objective(X, y, l2=2.0, w=0.2, weight=None):
    weight = np.ones(len(y)) if weight is None else weight
    classes = int(y.max()) + 1
    shares = np.bincount(y, weight, classes) / weight.sum()
    design = ScaledDesign(make_design(X), weight, True)
    labels = np.where(y == 1, 1.0, -1.0) if classes == 2 else y
    return make_objective(centred_plateaus(w, shares), 1.0, l2, design, labels, weight)


@pytest.mark.parametrize("seed", range(3))
def test_leave_one_out_scores_are_those_of_fits_without_the_row(seed):
    X, y, _ = _linear(80, 4, seed)
    objective = _objective(X, y)
    descent = FisherScoring(tol=1e-13, max_iter=200)
    found = descent.minimise(objective, np.zeros(objective.size))
    about = laplace(objective, found.theta, found.raw)
    alone = leave_one_out(objective, found.theta, draw_rows(objective), about)
    exact = np.empty(len(y))
    for i in range(len(y)):
        weight = objective.weight.copy()
        weight[i] = 0.0
        without = descent.minimise(replace(objective, weight=weight), found.theta)
        exact[i] = objective.scores(without.theta)[i]
    # Much nearer to the truth than the scores of the fit itself, row by row.
    assert np.abs(alone - exact).mean() < 0.25 * np.abs(found.raw - exact).mean()
    assert np.corrcoef(alone - found.raw, exact - found.raw)[0, 1] > 0.95


def test_leave_one_out_scores_of_many_classes_point_the_same_way():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = np.argmax(X @ rng.normal(size=(3, 3)) + rng.gumbel(size=(120, 3)), axis=1)
    objective = _objective(X, y)
    descent = LBFGS(tol=1e-12, max_iter=2000)
    found = descent.minimise(objective, np.zeros(objective.size))
    about = laplace(objective, found.theta, found.raw)
    alone = leave_one_out(objective, found.theta, draw_rows(objective), about)
    exact = np.empty_like(alone)
    for i in range(len(y)):
        weight = objective.weight.copy()
        weight[i] = 0.0
        without = descent.minimise(replace(objective, weight=weight), found.theta)
        exact[i] = objective.scores(without.theta)[i]
    assert np.corrcoef((alone - found.raw).ravel(), (exact - found.raw).ravel())[0, 1] > 0.9


def test_effective_parameters_lie_between_none_and_all():
    X, y, _ = _linear(200, 6, 0)
    counts = []
    for l2 in (1e-6, 1.0, 1e6):
        objective = _objective(X, y, l2)
        found = FisherScoring(tol=1e-10).minimise(objective, np.zeros(objective.size))
        counts.append(laplace(objective, found.theta, found.raw).effective)
    assert counts[0] == pytest.approx(6, abs=0.01)
    assert counts[2] == pytest.approx(0, abs=0.01)
    assert counts[0] > counts[1] > counts[2]


@pytest.mark.parametrize("seed", range(3))
def test_the_penalty_grows_with_the_noise_and_the_plateaus_show_it(seed):
    X, y, rng = _linear(3000, 5, seed, slope=6.0)
    clean = BBLRClassifier().fit(X, y)
    flipped = np.where(rng.random(3000) < 0.25, 1 - y, y)
    noisy = BBLRClassifier().fit(X, flipped)
    assert clean.prior_.w < 0.1
    assert noisy.prior_.w == pytest.approx(0.5, abs=0.12)
    assert noisy.prior_.a == pytest.approx(0.25, abs=0.08)
    assert noisy.score(X, y) > LogisticRegression().fit(X, flipped).score(X, y) - 0.01


def test_one_sided_noise_has_a_plateau_on_one_side():
    X, y, rng = _linear(4000, 4, 0, slope=6.0)
    flipped = np.where((y == 0) & (rng.random(4000) < 0.3), 1, y)
    model = BBLRClassifier().fit(X, flipped)
    assert model.prior_.a == pytest.approx(0.3, abs=0.08)
    assert 1.0 - model.prior_.a - model.prior_.b < 0.08


def test_pure_noise_is_penalised_to_next_to_nothing():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 20)), rng.integers(2, size=500)
    weak = BBLRClassifier(l2=1.0, gamma_max=1).fit(X, y)
    model = BBLRClassifier().fit(X, y)
    assert np.abs(model.coef_).max() < 0.3 * np.abs(weak.coef_).max()
    assert np.abs(model.predict_proba(X)[:, 1] - 0.5).max() < 0.2


@pytest.mark.parametrize("dense", [True, False])
def test_compiled_and_general_steps_settle_alike(monkeypatch, dense):
    X, y, rng = _linear(400, 5, 3, slope=4.0)
    y = np.where(rng.random(400) < 0.1, 1 - y, y)
    if not dense:
        from scipy.sparse import csr_matrix

        X = csr_matrix(X * (rng.random(X.shape) < 0.3))
    compiled = BBLRClassifier().fit(X, y)
    monkeypatch.setattr(marginal, "COMPILED", 0)
    general = BBLRClassifier().fit(X, y)
    assert np.log(compiled.l2_ / general.l2_) == pytest.approx(0.0, abs=0.2)
    assert compiled.prior_.a == pytest.approx(general.prior_.a, abs=0.02)
    assert compiled.prior_.b == pytest.approx(general.prior_.b, abs=0.03)


@pytest.mark.parametrize("classes", [2, 3])
def test_order_units_names_and_copies_of_rows_do_not_matter(classes):
    rng = np.random.default_rng(classes)
    X = rng.normal(size=(150, 3))
    y = np.argmax(X @ rng.normal(size=(3, classes)) + rng.gumbel(size=(150, classes)), axis=1)
    model = BBLRClassifier(tol=1e-10).fit(X, y)
    expected = model.predict_proba(X)
    order = rng.permutation(150)
    again = BBLRClassifier(tol=1e-10).fit(X[order], y[order])
    np.testing.assert_allclose(again.predict_proba(X), expected, atol=1e-6)
    scaled = BBLRClassifier(tol=1e-10).fit(X * [1e3, 1e-2, 7.0], y)
    np.testing.assert_allclose(scaled.predict_proba(X * [1e3, 1e-2, 7.0]), expected, atol=1e-6)
    turned = BBLRClassifier(tol=1e-10).fit(X, classes - 1 - y)
    np.testing.assert_allclose(turned.predict_proba(X)[:, ::-1], expected, atol=1e-5)
    weight = rng.integers(3, size=150)
    weighted = BBLRClassifier(tol=1e-10).fit(X, y, sample_weight=weight)
    copied = BBLRClassifier(tol=1e-10).fit(X.repeat(weight, 0), y.repeat(weight))
    np.testing.assert_allclose(weighted.predict_proba(X), copied.predict_proba(X), atol=2e-4)


@pytest.mark.parametrize("share", [0.02, 0.06])
@pytest.mark.parametrize("make", [BBLRClassifier, lambda: BBLRClassifierCV(cv=3, random_state=0)])
def test_rare_classes_do_not_collapse(make, share):
    shift = {0.02: -5.2, 0.06: -3.9}[share]
    X, y, _ = _linear(3000, 6, 1, slope=1.5, shift=shift)
    model = make().fit(X[:2000], y[:2000])
    p = model.predict_proba(X[2000:])[:, 1]
    baseline = LogisticRegression().fit(X[:2000], y[:2000]).predict_proba(X[2000:])[:, 1]
    assert roc_auc_score(y[2000:], p) > roc_auc_score(y[2000:], baseline) - 0.03
    base_rate = np.full(1000, y[:2000].mean())
    assert log_loss(y[2000:], p) < log_loss(y[2000:], base_rate) + 0.005
    assert p.mean() == pytest.approx(y.mean(), abs=0.03)


def test_plateaus_of_a_name_are_centred_on_the_classes():
    X, y, _ = _linear(400, 3, 0, shift=-2.0)
    for name, w in (("robust", 0.4), ("mild", 0.1), ("empirical", 0.5)):
        prior = BBLRClassifier(prior=name).fit(X, y).prior_
        assert prior.w == pytest.approx(w)
        assert prior.theta[1] == pytest.approx(y.mean())


@pytest.mark.parametrize("share", [0.001, 0.03, 0.5, 0.97])
@pytest.mark.parametrize("w", [0.02, 0.4, 0.6])
def test_centred_plateaus_let_either_class_win(w, share):
    prior = centred_plateaus(w, np.array([1.0 - share, share]))
    assert prior.every_class_can_win
    assert prior.w <= w + 1e-12


def test_the_bound_on_leverage_knows_heavy_tails():
    X, y, rng = _linear(600, 4, 0)
    assert leverage_limit(_objective(X, y)) == 3.0
    heavy = X * np.where(rng.random(600) < 0.3, 5.0, 1.0)[:, None]
    limit = leverage_limit(_objective(heavy, y))
    assert limit > 3.0
    objective = _objective(heavy, y)
    assert np.mean(objective.bounded(limit).weight < 1.0) == pytest.approx(0.15, abs=0.01)


def test_a_fit_that_ranks_nothing_says_so():
    X, y, _ = _linear(500, 3, 0, shift=-3.5)
    with pytest.warns(ConstantScoresWarning, match="nearly the same score"):
        BBLRClassifier(prior=Plateaus.binary(0.2, 0.6), l2=30.0).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        BBLRClassifier().fit(X, y)
        BBLRClassifier().fit(np.ones((20, 2)), np.arange(20) % 2)
        # A strong penalty makes weights small, but they rank.
        strong = BBLRClassifier(l2=1e9).fit(X, y)
    assert roc_auc_score(y, strong.decision_function(X)) > 0.7


@pytest.mark.parametrize("classes", [2, 4])
def test_a_link_is_never_worse_than_the_base_rate(classes):
    rng = np.random.default_rng(classes)
    n = 400
    codes = rng.choice(classes, n, p=np.r_[0.7, np.full(classes - 1, 0.3 / (classes - 1))])
    decision = rng.normal(size=(n, classes)) if classes > 2 else rng.normal(size=n)
    y = codes if classes > 2 else 2.0 * codes - 1.0
    weight = rng.random(n)
    link, shift = fit_link(decision, y, weight)
    p = link.probability(decision + shift)
    own = p[np.arange(n), codes] if classes > 2 else np.where(codes == 1, p, 1.0 - p)
    shares = np.bincount(codes, weight) / weight.sum()
    assert weight @ -np.log(own) <= weight @ -np.log(shares[codes]) * (1 + 1e-4)


@pytest.mark.parametrize(("classes", "seed"), [(2, 1), (2, 5), (4, 3), (4, 7)])
def test_a_link_from_the_base_rate_asks_for_no_order(classes, seed):
    """A minimum is known to half the digits only, and its place moved by 1e-6 of gamma."""
    rng = np.random.default_rng(seed)
    shares = np.r_[0.7, np.full(classes - 1, 0.3 / (classes - 1))]
    codes = rng.choice(classes, 300, p=shares)
    decision = rng.normal(size=(300, classes) if classes > 2 else 300)
    weight = rng.random(300)
    y = codes if classes > 2 else 2.0 * codes - 1.0
    link, shift = fit_link(decision, y, weight)
    assert not any(link.plateaus.low)
    for order in (rng.permutation(300) for _ in range(5)):
        again, moved = fit_link(decision[order], y[order], weight[order])
        assert again.gamma == pytest.approx(link.gamma, rel=1e-11)
        np.testing.assert_allclose(moved, shift, rtol=1e-11)


def test_probability_and_decision_name_the_same_class():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = np.minimum(np.argmax(X @ rng.normal(size=(4, 5)) + rng.gumbel(size=(300, 5)), axis=1), 2)
    for prior in ("auto", "robust", "empirical"):
        model = BBLRClassifier(prior=prior).fit(X, y)
        decision, p = model.decision_function(X), model.predict_proba(X)
        np.testing.assert_array_equal(decision.argmax(axis=1), p.argmax(axis=1))
        np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(X))
        np.testing.assert_allclose(decision, X @ model.coef_.T + model.intercept_)


def test_folds_are_brought_to_one_scale_and_flat_ones_left_alone():
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=50), 7.0 * rng.normal(size=60)
    flat = np.full(40, -9.0)
    scaled = one_scale([first, second, flat], [np.ones(50), np.ones(60), np.ones(40)])
    assert scaled[0].std() == pytest.approx(scaled[1].std())
    np.testing.assert_array_equal(scaled[2], flat)
    np.testing.assert_array_equal(np.sign(scaled[0]), np.sign(first))


def test_probability_of_the_true_class_has_no_plateaus():
    X, y, rng = _linear(2000, 3, 0, slope=8.0)
    flipped = np.where(rng.random(2000) < 0.2, 1 - y, y)
    given = BBLRClassifier().fit(X, flipped)
    true = BBLRClassifier(noise_free_proba=True).fit(X, flipped)
    np.testing.assert_array_equal(given.predict(X), true.predict(X))
    assert given.predict_proba(X).max() < 0.9
    assert true.predict_proba(X).max() > 0.97
    assert log_loss(y, true.predict_proba(X)) < log_loss(y, given.predict_proba(X))


def test_wide_rows_get_a_penalty_by_their_length():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 1600))
    y = (X[:, :40].sum(axis=1) > 0).astype(int)
    model = BBLRClassifier().fit(X, y)
    assert model.l2_ == pytest.approx(200, rel=0.05)
    assert model.prior_.w == pytest.approx(0.2)
    assert model.score(X, y) > 0.9


@pytest.mark.parametrize("seed", range(3))
def test_going_ahead_ends_where_plain_updates_end_in_fewer_rounds(seed, monkeypatch):
    X, y, rng = _linear(400, 6, seed)
    y = np.where(rng.random(400) < 0.15, 1 - y, y)
    objective, shares = _objective(X, y), np.bincount(y) / 400
    unknown = marginal.Unknown(True, True, True)
    for name, value in (("_STEADY", 1e-4), ("_STEADY_LOW", 1e-5), ("_ROUNDS", 300)):
        monkeypatch.setattr(marginal, name, value)
    monkeypatch.setattr(marginal, "_NEWTON", FisherScoring(tol=1e-12, max_iter=20))
    start = np.zeros(objective.size)
    ahead = marginal.settle(objective, start, unknown, shares, 1e-4)
    monkeypatch.setattr(marginal, "_STRIDE", 1.0)
    plain = marginal.settle(objective, start, unknown, shares, 1e-4)
    assert ahead.rounds < 0.7 * plain.rounds
    assert ahead.objective.l2 == pytest.approx(plain.objective.l2, rel=5e-3)
    assert np.allclose(ahead.objective.loss.low, plain.objective.loss.low, atol=1e-3)


def test_going_ahead_changes_no_penalty_that_is_given():
    X, y, _ = _linear(200, 3, 0)
    for l2 in (0.0, 1e-4, 5.0):
        assert BBLRClassifier(l2=l2, gamma_max=1.0, solver="fisher").fit(X, y).l2_ == l2


def test_the_information_of_an_earlier_round_serves_until_nothing_moves(monkeypatch):
    X, y, _ = _linear(700, 140, 0)
    objective, formed, shares = _objective(X, y), [], np.bincount(y) / 700
    theta, form = np.zeros(objective.size), ScaledDesign.curvature
    raw = objective.scores(theta)
    about = laplace(objective, theta, raw)
    again = laplace(objective, theta, raw, about)
    assert again.effective == pytest.approx(about.effective, rel=1e-12)
    monkeypatch.setattr(
        ScaledDesign,
        "curvature",
        lambda self, *at, **kw: formed.append(1) or form(self, *at, **kw),
    )
    # Newton steps form their own.
    monkeypatch.setattr(marginal, "takes_newton", lambda *_: False)
    found = marginal.settle(objective, theta, marginal.Unknown(True, True, True), shares, 1e-4)
    assert len(formed) < 0.7 * found.rounds
    last = laplace(found.objective, found.theta, found.objective.scores(found.theta))
    l2 = last.effective / float(found.theta[:140] @ found.theta[:140])
    assert found.objective.l2 == pytest.approx(l2, rel=0.05)


def test_beyond_newton_steps_a_matrix_is_formed_only_where_settling_needs_it(monkeypatch):
    """The descents to the minimum and the link go on with what settling knows."""
    X, y, _ = _linear(1_200, 520, 1)
    formed, where = [], []
    curvature, settle = ScaledDesign.curvature, classifier.settled

    def counted(design, *arguments, **named):
        formed.append(bool(where))
        return curvature(design, *arguments, **named)

    def within(*arguments):
        where.append(True)
        found = settle(*arguments)
        where.clear()
        return found

    monkeypatch.setattr(ScaledDesign, "curvature", counted)
    monkeypatch.setattr(classifier, "settled", within)
    BBLRClassifier().fit(X, y)
    # The first is that of the starting point.
    assert formed[0] is False and all(formed[1:])
