"""What the estimate of flip rates promises."""

from __future__ import annotations

import time

import numpy as np
import pytest
from scipy.special import expit, softmax

from bblr.audit.flips import estimate_flips
from bblr.audit.mixture import Mixture

UNIFORM = np.array([[0.9, 0.1], [0.1, 0.9]])
ONE_SIDED = np.array([[0.7, 0.3], [0.0, 1.0]])
THREE = np.array([[0.8, 0.15, 0.05], [0.0, 1.0, 0.0], [0.02, 0.1, 0.88]])
RING = 0.85 * np.eye(3) + 0.15 * np.roll(np.eye(3), 1, axis=1)


def drawn(n, shares, sharpness, flips=None, seed=0):
    """Return scores whose softmax are the classes' probabilities, labels and true classes."""
    rng = np.random.default_rng(seed)
    k = len(shares)
    centres = sharpness * rng.permutation(np.eye(k))
    middle = centres[rng.choice(k, size=n, p=shares)]
    scores = middle + rng.normal(size=(n, k))
    scores += np.log(shares)
    truth = np.array([rng.choice(k, p=p) for p in softmax(scores, axis=1)])
    flips = np.eye(k) if flips is None else flips
    codes = np.array([rng.choice(k, p=flips[t]) for t in truth])
    return scores, codes, truth


def found(scores, codes, weight=None):
    return estimate_flips(scores, codes, np.ones(len(codes)) if weight is None else weight)


@pytest.mark.parametrize("sharpness", [0.5, 1.5, 3.0, 6.0])
@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.94, 0.06), (0.4, 0.3, 0.3), (0.8, 0.15, 0.05)])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_overlap_is_not_taken_for_noise(sharpness, shares, seed):
    scores, codes, _ = drawn(1500, np.array(shares), sharpness, seed=seed)
    flips = found(scores, codes)
    wrong = expit(flips.log_odds)
    assert wrong.mean() <= 0.03 and np.mean(flips.log_odds > 0) <= 0.03
    for k in range(len(shares)):
        assert np.mean(flips.log_odds[codes == k] > 0) <= 0.1
        assert wrong[codes == k].mean() <= 0.1
    size = softmax(scores, axis=1).sum(axis=0)
    assert ((1 - np.diag(flips.rates)) * size).sum() <= 0.03 * len(codes)


@pytest.mark.parametrize("true", [UNIFORM, ONE_SIDED, THREE, RING], ids=str)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_known_rates_are_recovered(true, seed):
    k = len(true)
    scores, codes, truth = drawn(6000, np.full(k, 1 / k), 9.0, true, seed)
    flips = found(scores, codes)
    error = np.sqrt(true * (1 - true) / (6000 / k))
    assert (np.abs(flips.rates - true) <= 4 * error + 0.01).all()
    wrong = codes != truth
    assert expit(flips.log_odds).sum() == pytest.approx(wrong.sum(), rel=0.08)
    top = np.argsort(-flips.log_odds)[: wrong.sum()]
    assert wrong[top].mean() > 0.9
    assert np.mean(flips.suggested[wrong] == truth[wrong]) > 0.9


def test_one_sided_noise_is_seen_by_a_classifier_that_followed_it():
    # Trained on such labels, a classifier of log-odds has moved its boundary with them.
    scores, codes, _ = drawn(4000, np.array([0.6, 0.4]), 6.0, ONE_SIDED)
    scores = 0.3 * scores + np.array([0.0, 0.8])
    flips = found(scores, codes)
    assert flips.rates[0, 1] == pytest.approx(0.3, abs=0.05)
    assert flips.rates[1, 0] < 0.02
    accused = flips.log_odds > 0
    assert not accused[codes == 0].any() or accused[codes == 0].mean() < 0.01


@pytest.mark.parametrize("flips", [None, THREE], ids=["clean", "noisy"])
def test_permuted_classes_give_permuted_rates(flips):
    scores, codes, _ = drawn(1500, np.array([0.5, 0.3, 0.2]), 5.0, flips)
    order = np.array([2, 0, 1])
    plain, moved = found(scores, codes), found(scores[:, order], np.argsort(order)[codes])
    np.testing.assert_allclose(moved.rates, plain.rates[np.ix_(order, order)], atol=1e-3)
    np.testing.assert_allclose(moved.log_odds, plain.log_odds, rtol=0.01, atol=0.01)
    assert np.mean(order[moved.suggested] == plain.suggested) > 0.995


def test_the_order_of_rows_does_not_matter():
    scores, codes, _ = drawn(1000, np.array([0.5, 0.3, 0.2]), 4.0, THREE)
    order = np.random.default_rng(1).permutation(1000)
    plain, moved = found(scores, codes), found(scores[order], codes[order])
    np.testing.assert_allclose(moved.rates, plain.rates, atol=1e-5)
    np.testing.assert_allclose(moved.log_odds, plain.log_odds[order], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("seed", range(4))
def test_rounding_errors_of_scores_do_not_grow(seed):
    """Few rows of many classes: there are about as many rates as rows."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 10, 170)
    scores = np.eye(10)[truth] + 0.7 * rng.normal(size=(170, 10))
    codes = np.where(rng.random(170) < 0.25, rng.integers(0, 10, 170), truth)
    moved = scores * (1.0 + 1e-15 * rng.standard_normal(scores.shape))
    one, two = (estimate_flips(some, codes, np.ones(170)) for some in (scores, moved))
    np.testing.assert_allclose(one.posterior, two.posterior, rtol=0.0, atol=1e-9)


def test_units_and_origins_of_scores_do_not_matter():
    scores, codes, _ = drawn(1000, np.array([0.6, 0.4]), 4.0, UNIFORM)
    plain = found(scores, codes)
    for unit in (2.0**-600, 2.0**980):
        other = found(scores * unit, codes)
        np.testing.assert_allclose(other.log_odds, plain.log_odds, rtol=1e-9, atol=1e-9)
    offset = np.random.default_rng(1).normal(size=(1000, 1))
    np.testing.assert_allclose(found(scores + offset, codes).rates, plain.rates, atol=1e-6)


def test_weights_repeat_rows_and_zero_leaves_them_out():
    scores, codes, _ = drawn(600, np.array([0.6, 0.4]), 5.0, ONE_SIDED)
    times = np.random.default_rng(1).integers(0, 4, size=600)
    weighted = found(scores, codes, times.astype(float))
    repeated = found(np.repeat(scores, times, axis=0), np.repeat(codes, times))
    np.testing.assert_allclose(weighted.rates, repeated.rates, atol=1e-4)
    odds = np.repeat(weighted.log_odds, times)
    np.testing.assert_allclose(odds, repeated.log_odds, rtol=1e-3, atol=1e-3)
    assert np.isfinite(weighted.log_odds[times == 0]).all()


@pytest.mark.parametrize("unit", [1e-300, 1e-9, 1e300])
def test_odd_weights_are_borne(unit):
    scores, codes, _ = drawn(200, np.array([0.6, 0.4]), 5.0, ONE_SIDED)
    flips = found(scores, codes, np.full(200, unit))
    assert np.isfinite(flips.log_odds).all()
    np.testing.assert_allclose(flips.rates.sum(axis=1), 1.0)


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("kind", ["flat", "apart", "against", "tiny"])
def test_odd_scores_are_borne(k, kind):
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(k), 2 if kind == "tiny" else 40)
    scores = {
        "flat": np.zeros((len(codes), k)),
        "apart": 1e8 * np.eye(k)[codes],
        "against": -50.0 * np.eye(k)[codes],
        "tiny": rng.normal(size=(len(codes), k)),
    }[kind]
    flips = found(scores, codes)
    assert np.isfinite(flips.log_odds).all() and np.isfinite(flips.rates).all()
    assert (flips.rates >= 0).all()
    np.testing.assert_allclose(flips.rates.sum(axis=1), 1.0)
    assert (flips.suggested != codes).all()


def test_a_rare_class_is_never_flagged_as_a_whole():
    for seed in range(5):
        scores, codes, _ = drawn(3000, np.array([0.943, 0.057]), 2.0, seed=seed)
        # A classifier that has given the class up still ranks by the right direction.
        for scale, shift in ((1.0, 0.0), (0.3, -3.0), (3.0, -3.0)):
            flips = found(scale * scores + np.array([0.0, shift]), codes)
            assert np.mean(flips.log_odds[codes == 1] > 0) <= 0.1


def test_ten_classes_take_a_moment():
    flips = 0.9 * np.eye(10) + 0.1 * np.roll(np.eye(10), 1, axis=1)
    scores, codes, _ = drawn(3000, np.full(10, 0.1), 8.0, flips)
    found(scores, codes)
    start = time.process_time()
    rates = found(scores, codes).rates
    assert time.process_time() - start < 1.0
    assert np.abs(rates - flips).max() < 0.09


def test_more_classes_than_pairs_can_tell_share_one_rate():
    scores, codes, _ = drawn(1500, np.full(101, 1 / 101), 12.0, 0.9 * np.eye(101) + 0.1 / 101)
    rates = found(scores, codes).rates
    assert 0.03 < 1 - np.diag(rates).mean() < 0.13


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("k", [2, 4])
def test_slopes_and_counts_of_a_pass(k, weighted):
    scores, codes, _ = drawn(150, np.full(k, 1 / k), 2.0)
    rng = np.random.default_rng(2)
    weight = rng.random(150) if weighted else np.ones(150)
    rows = Mixture.of(scores, codes, weight).by_class(np.zeros(2 * k))
    flips = rng.dirichlet(np.full(k, 2.0), size=k)
    free = rng.normal(size=2 * k)
    sums = rows.sums(flips, free)
    step = 1e-6 * np.eye(2 * k)
    slopes = [(rows.sums(flips, free + e).value - rows.sums(flips, free - e).value) / 2e-6
              for e in step]  # fmt: skip
    np.testing.assert_allclose(sums.gradient, slopes, rtol=1e-5, atol=1e-4)
    joint = flips.T[codes] * softmax(rows.logits(free), axis=1)
    p = joint.sum(axis=1)
    # The prior expects a sharpness of e^0.4 in units of the spread.
    away = np.r_[free[:k] + rows.unit - 0.4, free[k:]]
    prior = 0.5 * away @ rows.precision @ away
    assert sums.value == pytest.approx(rows.weight @ np.log(p) - prior)
    expected = np.zeros((k, k))
    np.add.at(expected.T, codes, rows.weight[:, None] * joint / p[:, None])
    np.testing.assert_allclose(sums.moved, expected)
    bends = [(rows.sums(flips, free - e).gradient - rows.sums(flips, free + e).gradient) / 2e-6
             for e in step]  # fmt: skip
    np.testing.assert_allclose(sums.information, bends, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("k", [2, 3])
def test_posteriors_by_brute_force(k):
    # With the rates known and scores of a known unit, every row is a sum over the true classes.
    flips = np.random.default_rng(0).dirichlet(np.full(k, 2.0), size=k) + 2 * np.eye(k)
    flips /= flips.sum(axis=1, keepdims=True)
    scores, codes, truth = drawn(20_000, np.full(k, 1 / k), 3.0, flips)
    known = estimate_flips(scores, codes, np.ones(len(codes)), flips)
    np.testing.assert_array_equal(known.rates, flips)
    share = softmax(scores, axis=1)
    for row in range(50):
        joint = [share[row, t] * flips[t, codes[row]] for t in range(k)]
        # The link is fitted: sharpness 1 and no shifts are found but for chance.
        np.testing.assert_allclose(known.posterior[row], joint / np.sum(joint), atol=0.04)
        assert known.posterior[row].sum() == pytest.approx(1.0)
    np.testing.assert_allclose(
        expit(-known.log_odds), known.posterior[np.arange(len(codes)), codes], atol=1e-12
    )
    # Posteriors are calibrated: they say how often each class is true.
    assert known.posterior[:, 0].mean() == pytest.approx(np.mean(truth == 0), abs=0.01)


def test_a_class_that_is_often_confused_is_not_taken_for_a_noisy_one():
    # Two of four classes look alike; one sharpness for all would need flips to explain it.
    rng = np.random.default_rng(0)
    truth = rng.integers(4, size=1500)
    apart = 6.0 * np.eye(4)[truth]
    apart[:, 2:] = np.where(truth[:, None] >= 2, 6.0 + 0.6 * np.eye(4)[truth][:, 2:], 0.0)
    scores = apart + rng.normal(size=apart.shape)
    assert not found(scores, truth).found


def test_rates_are_no_richer_than_the_evidence():
    uniform = 0.8 * np.eye(4) + 0.05
    rates = found(*drawn(3000, np.full(4, 0.25), 8.0, uniform)[:2]).rates
    assert np.abs(rates - uniform).max() < 0.03
    one = np.eye(4)
    one[1] = [0.0, 0.7, 0.3, 0.0]
    scores, codes, _ = drawn(3000, np.full(4, 0.25), 8.0, one)
    flips = found(scores, codes)
    assert flips.found and np.abs(flips.rates - one).max() < 0.05
    assert flips.rates[[0, 2, 3]].diagonal(0).min() >= 0.0
    assert np.abs(flips.rates[[0, 2, 3]] - np.eye(4)[[0, 2, 3]]).max() < 0.01


@pytest.mark.parametrize("true", [UNIFORM, ONE_SIDED, THREE], ids=str)
def test_of_two_classifiers_the_labels_decide(true):
    k = len(true)
    scores, codes, _ = drawn(2000, np.full(k, 1 / k), 9.0, true)
    useless = np.random.default_rng(1).normal(size=scores.shape)
    alone, ones = found(scores, codes), np.ones(len(codes))
    for one, two in ((scores, useless), (useless, scores)):
        both = estimate_flips([one, two], codes, ones)
        np.testing.assert_allclose(both.rates, alone.rates, atol=0.01)
        assert np.mean((both.log_odds > 0) == (alone.log_odds > 0)) > 0.99
    again = estimate_flips([scores, 7.0 * scores], codes, ones)
    np.testing.assert_allclose(again.log_odds, alone.log_odds, rtol=1e-3, atol=1e-3)


def test_two_classifiers_know_more_than_either():
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=3000)
    codes = np.where(rng.random(3000) < 0.3, 1 - truth, truth)
    signs = np.array([-1.0, 1.0]) * (2 * truth - 1)[:, None]
    one, two = (signs + rng.normal(size=(3000, 1)) * [-1, 1] for _ in range(2))
    both = estimate_flips([one, two], codes, np.ones(3000))
    right = np.mean(both.posterior.argmax(axis=1) == truth)
    assert right > 0.03 + max(
        np.mean(found(each, codes).posterior.argmax(axis=1) == truth) for each in (one, two)
    )
