"""What classifiers that tune themselves choose for, and folds that respect order and groups."""

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_moons
from sklearn.metrics import balanced_accuracy_score, brier_score_loss, log_loss, roc_auc_score
from sklearn.model_selection import GroupKFold, KFold, TimeSeriesSplit

from bblr import BBLRClassifierCV, KernelBBLRClassifierCV
from bblr.training.probabilities import SCORINGS, fit_link, row_losses


def _scores(classes, seed=0):
    rng = np.random.default_rng(seed)
    codes = rng.integers(classes, size=300)
    decision = rng.normal(size=(300, classes))
    decision[np.arange(300), codes] += 1.0
    if classes == 2:
        return decision[:, 1] - decision[:, 0], 2.0 * codes - 1.0, codes
    return decision, codes, codes


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("seed", range(2))
def test_losses_are_scikit_learns(classes, seed):
    decision, y, codes = _scores(classes, seed)
    weight = np.ones(300)
    predicted = decision.argmax(axis=1) if classes > 2 else (decision > 0).astype(int)

    def mean(scoring):
        return float(row_losses(scoring, decision, y, weight).mean())

    assert mean("accuracy") == pytest.approx(np.mean(predicted != codes))
    expected = 1.0 - balanced_accuracy_score(codes, predicted)
    assert mean("balanced_accuracy") == pytest.approx(expected)
    p = fit_link(decision, y, weight).link.probability(decision)
    assert mean("neg_log_loss") == pytest.approx(log_loss(codes, p))
    if classes == 2:
        assert mean("neg_brier_score") == pytest.approx(brier_score_loss(codes, p))
        assert mean("roc_auc") == pytest.approx(1.0 - roc_auc_score(codes, decision))
    else:
        against = decision - np.sort(decision, axis=1)[:, -1:]
        second = np.sort(decision, axis=1)[:, -2]
        best = decision.argmax(axis=1)
        against[np.arange(300), best] = decision.max(axis=1) - second
        each = [roc_auc_score(codes == k, against[:, k]) for k in range(classes)]
        assert mean("roc_auc") == pytest.approx(1.0 - np.mean(each))


@pytest.mark.parametrize("scoring", SCORINGS)
def test_a_row_of_weight_two_is_two_rows(scoring):
    decision, y, _ = _scores(2)
    weight = np.random.default_rng(1).integers(1, 4, size=300)
    once = row_losses(scoring, decision, y, weight.astype(float)) @ weight / weight.sum()
    copies = row_losses(scoring, decision.repeat(weight), y.repeat(weight), np.ones(weight.sum()))
    assert once == pytest.approx(copies.mean(), rel=1e-9)


@pytest.mark.parametrize("scoring", SCORINGS)
def test_every_scoring_chooses(scoring):
    X, y = make_classification(200, 5, weights=[0.8], random_state=0)
    model = BBLRClassifierCV(scoring=scoring, cv=2, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.8
    assert all(np.isfinite(trial.error) for trial in model.trials_)
    X, y = make_moons(80, noise=0.2, random_state=0)
    kernel = KernelBBLRClassifierCV(
        kernel_gammas=(0.3, 1.0), l2s=(1.0, 0.1), scoring=scoring, cv=2, random_state=0
    ).fit(X, y)
    assert kernel.score(X, y) > 0.8


@pytest.mark.parametrize("make", [BBLRClassifierCV, KernelBBLRClassifierCV])
def test_an_unknown_scoring_is_named(make):
    with pytest.raises(ValueError, match=r"'scoring' parameter .* among .*'accuracy'"):
        make(scoring="f1").fit([[0.0], [1.0]] * 10, [0, 1] * 10)


def test_groups_reach_the_splitter():
    X, y = make_classification(120, 4, random_state=0)
    groups = np.arange(120) % 6
    splitter = GroupKFold(3)
    by_groups = BBLRClassifierCV(cv=splitter).fit(X, y, groups=groups)
    given = BBLRClassifierCV(cv=list(splitter.split(X, y, groups))).fit(X, y)
    assert by_groups.trials_ == given.trials_
    kernel = KernelBBLRClassifierCV(kernel_gammas=(0.3,), l2s=(1.0, 0.1), cv=splitter).fit(
        X, y, groups=groups
    )
    assert kernel.score(X, y) > 0.7
    with pytest.raises(ValueError, match="groups are used by splitters"):
        BBLRClassifierCV(cv=3).fit(X, y, groups=groups)


@pytest.mark.filterwarnings("ignore::bblr.exceptions.ConstantScoresWarning")
@pytest.mark.parametrize("scoring", SCORINGS)
@pytest.mark.parametrize("classes", [2, 3])
def test_a_class_that_is_never_held_out_does_no_harm(scoring, classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = (X[:, 0] > 0).astype(int) * (classes - 2)
    y[:20:2] = classes - 1
    model = BBLRClassifierCV(cv=TimeSeriesSplit(5), scoring=scoring).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()
    assert all(np.isfinite(trial.error) for trial in model.trials_)


@pytest.mark.parametrize("cv", [TimeSeriesSplit(3), KFold(3)])
def test_folds_in_order_do_not_depend_on_the_seed(cv):
    X, y = make_classification(240, 4, random_state=0)
    chosen = [BBLRClassifierCV(cv=cv, random_state=seed).fit(X, y).trials_ for seed in (0, 1)]
    assert chosen[0] == chosen[1]
