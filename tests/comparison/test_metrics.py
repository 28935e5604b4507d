import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, f1_score, log_loss, roc_auc_score

from bblr._settings import SettingError
from bblr.comparison.verdict.metrics import (
    METRICS,
    Metric,
    OutOfFold,
    auc_values,
    make_metric,
    parse_costs,
)

CASES = [(2, 0.5), (2, 0.05), (4, 0.4)]


def made(n_classes, share, seed=0, rows=400):
    """Classes, probabilities and what was predicted; the last class is as rare as is said."""
    rng = np.random.default_rng(seed)
    shares = np.append(np.full(n_classes - 1, (1 - share) / (n_classes - 1)), share)
    truth = rng.choice(n_classes, rows, p=shares)
    scores = rng.normal(size=(rows, n_classes)).round(1) + 1.5 * np.eye(n_classes)[truth]
    probabilities = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    return truth, probabilities, probabilities.argmax(axis=1)


def out_of_fold(truth, probabilities, guess):
    losses = -np.log(probabilities[np.arange(len(truth)), truth])
    return OutOfFold(truth, guess, losses, auc_values(truth, probabilities))


def expected(name, truth, probabilities, guess):
    if name == "error":
        return np.mean(truth != guess)
    if name == "balanced":
        return balanced_accuracy_score(truth, guess)
    if name == "log-loss":
        return log_loss(truth, probabilities)
    many = probabilities.shape[1] > 2
    if name == "f1":
        rare = int(np.argmin(np.bincount(truth)))
        if many:
            return f1_score(truth, guess, average="macro")
        return f1_score(truth == rare, guess == rare)
    return roc_auc_score(truth, probabilities if many else probabilities[:, 1], multi_class="ovr")


@pytest.mark.parametrize("name", [name for name in METRICS if name != "cost"])
@pytest.mark.parametrize(("n_classes", "share"), CASES)
def test_the_mean_of_the_values_is_what_scikit_learn_says(name, n_classes, share):
    found = made(n_classes, share)
    values = Metric(name).values(out_of_fold(*found))
    assert values.shape == (400,)
    assert values.mean() == pytest.approx(expected(name, *found))


@pytest.mark.parametrize("name", ["balanced", "f1", "auc"])
@pytest.mark.parametrize(("n_classes", "share"), CASES)
def test_the_spread_of_the_values_is_that_of_the_metric(name, n_classes, share):
    """Of metrics that are no means, over tables drawn anew; the influence of a row is a limit."""
    found = [made(n_classes, share, seed, 2_000) for seed in range(60)]
    values = [Metric(name).values(out_of_fold(*one)) for one in found]
    said = np.mean([np.std(one) / np.sqrt(len(one)) for one in values])
    assert np.std([one.mean() for one in values]) == pytest.approx(said, rel=0.25)


@pytest.mark.parametrize("name", METRICS)
def test_the_order_of_rows_does_not_matter(name):
    truth, probabilities, guess = made(2, 0.3)
    metric = Metric(name, ((0.0, 1.0), (5.0, 0.0)) if name == "cost" else None)
    order = np.random.default_rng(1).permutation(len(truth))
    one = metric.values(out_of_fold(truth, probabilities, guess))
    other = metric.values(out_of_fold(truth[order], probabilities[order], guess[order]))
    np.testing.assert_allclose(one[order], other, atol=1e-12)


def test_auc_of_one_column_is_that_of_two():
    truth, probabilities, _ = made(2, 0.3)
    np.testing.assert_array_equal(
        auc_values(truth, probabilities), auc_values(truth, probabilities[:, 1])
    )
    assert np.isnan(auc_values(np.zeros(4, int), np.arange(4.0))).all()


def test_costs_are_read_by_class():
    assert parse_costs("yes:no=5", ["no", "yes"]) == ((0.0, 1.0), (5.0, 0.0))
    costs = parse_costs("a:b=0, c:a=2.5", ["a", "b", "c"])
    assert costs == ((0.0, 0.0, 1.0), (1.0, 0.0, 1.0), (2.5, 1.0, 0.0))
    # A name may hold the signs themselves.
    assert parse_costs("x:1:y=2=3", ["x:1", "y=2"]) == ((0.0, 3.0), (1.0, 0.0))
    metric = make_metric(None, "yes:no=5", ["no", "yes"])
    values = metric.values(OutOfFold(np.array([0, 1, 1]), np.array([1, 0, 1])))
    assert values.tolist() == [1.0, 5.0, 0.0]


@pytest.mark.parametrize(
    "text", ["", "yes", "yes:no", "yes:no=x", "yes:no=inf", "yes:yes=0", "a:no=1"]
)
def test_senseless_costs_are_refused(text):
    with pytest.raises(SettingError, match="cost"):
        parse_costs(text, ["no", "yes"])


@pytest.mark.parametrize("name", ["error", "balanced", "f1", "cost"])
def test_a_scorer_likes_what_the_metric_likes(name):
    metric = Metric(name, ((0.0, 1.0), (5.0, 0.0)) if name == "cost" else None)
    assert metric.decides
    truth = np.repeat([0, 1], [8, 4])
    better, worse = truth.copy(), truth.copy()
    better[0], worse[-2:] = 1, 0
    score = metric.scorer()._score_func
    assert score(truth, truth) > score(truth, better) > score(truth, worse)
