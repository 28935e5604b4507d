import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from bblr.evaluation import McNemarResult, mcnemar, pooled_mcnemar

counts = st.integers(0, 120)


def single(n01, n10, exact="auto"):
    return pooled_mcnemar([(n01, n10)], exact=exact)


def brute_force_p(n01, n10):
    """Two-sided: the share of the 2^n sign patterns at least as lopsided as this one."""
    total = n01 + n10
    far = abs(n01 - n10)
    return sum(math.comb(total, k) for k in range(total + 1) if abs(total - 2 * k) >= far) / (
        2**total
    )


def test_counts_from_predictions():
    y = np.array([1, 1, 1, 0, 0, 0])
    a = np.array([1, 0, 0, 0, 1, 1])
    b = np.array([1, 1, 0, 1, 0, 1])
    result = mcnemar(y, a, b)
    assert (result.n01, result.n10) == (2, 1)
    assert result.z == pytest.approx(-1 / math.sqrt(3))


@settings(max_examples=100)
@given(
    st.lists(
        st.tuples(*[st.sampled_from(["cat", "dog", "emu"])] * 3),
        min_size=1,
        max_size=60,
    )
)
def test_predictions_against_a_loop_with_three_text_classes(triples):
    n01 = sum(a != y and b == y for y, a, b in triples)
    n10 = sum(a == y and b != y for y, a, b in triples)
    assert mcnemar(*zip(*triples, strict=True)) == single(n01, n10)


@settings(max_examples=200)
@given(counts, counts)
def test_exact_against_brute_force(n01, n10):
    result = single(n01, n10, exact=True)
    assert result.p_value == pytest.approx(brute_force_p(n01, n10), rel=1e-9)
    assert result.method == "exact"
    assert result.statistic == min(n01, n10)


@settings(max_examples=100)
@given(counts, counts, st.sampled_from([True, False, "auto"]))
def test_swapping_the_methods_turns_the_sign_only(n01, n10, exact):
    one, other = single(n01, n10, exact), single(n10, n01, exact)
    assert one.z == -other.z
    assert (one.p_value, one.statistic, one.method) == (
        other.p_value,
        other.statistic,
        other.method,
    )


@settings(max_examples=100)
@given(counts, counts)
def test_z_is_positive_where_a_errs_less(n01, n10):
    assert np.sign(single(n01, n10).z) == np.sign(n10 - n01)


def test_chi2_is_the_square_of_the_corrected_z():
    result = single(30, 50, exact=False)
    corrected = (50 - 30 - 1) / math.sqrt(80)
    assert result.statistic == pytest.approx(corrected**2)
    assert result.p_value == pytest.approx(2 * norm.sf(corrected))
    assert result.z == pytest.approx(20 / math.sqrt(80))
    assert result.method == "chi2"


@settings(max_examples=100)
@given(st.integers(200, 2000), st.floats(0.4, 0.6))
def test_chi2_comes_near_the_exact_test(total, share):
    n01 = round(total * share)
    approximate = single(n01, total - n01, exact=False).p_value
    assert approximate == pytest.approx(brute_force_p(n01, total - n01), abs=0.01)


def test_auto_takes_the_exact_test_for_few():
    assert single(10, 14).method == "exact"
    assert single(10, 15).method == "chi2"


@pytest.mark.parametrize("exact", [True, False, "auto"])
def test_no_difference_at_all(exact):
    result = mcnemar([0, 1, 1], [0, 0, 1], [0, 0, 1], exact=exact)
    assert (result.n01, result.n10, result.z, result.p_value) == (0, 0, 0.0, 1.0)


@pytest.mark.parametrize(("n01", "n10"), [(40, 40), (40, 41)])
def test_correction_does_not_go_below_zero(n01, n10):
    result = single(n01, n10, exact=False)
    assert result.statistic == 0.0
    assert result.p_value == 1.0


@settings(max_examples=100)
@given(st.lists(st.tuples(counts, counts), min_size=1, max_size=8))
def test_pooling_adds_up(pairs):
    n01, n10 = (sum(column) for column in zip(*pairs, strict=True))
    pooled = pooled_mcnemar(pairs)
    assert (pooled.n01, pooled.n10) == (n01, n10)
    expected = (n10 - n01) / math.sqrt(n01 + n10) if n01 + n10 else 0.0
    assert pooled.z == pytest.approx(expected)
    assert pooled == pooled_mcnemar([single(*pair) for pair in pairs])
    assert pooled == pooled_mcnemar(np.array(pairs))
    assert pooled == pooled_mcnemar(iter(pairs[::-1]))


def test_pooling_folds_equals_testing_all_at_once():
    rng = np.random.default_rng(0)
    y, a, b = rng.integers(0, 2, size=(3, 500))
    folds = np.array_split(rng.permutation(500), 5)
    assert pooled_mcnemar(mcnemar(y[f], a[f], b[f]) for f in folds) == mcnemar(y, a, b)


def test_false_alarms_are_as_rare_as_promised():
    rng = np.random.default_rng(0)
    draws = rng.binomial(200, 0.5, size=4000)
    alarms = np.mean([single(int(k), 200 - int(k)).p_value <= 0.05 for k in draws])
    assert 0.02 < alarms < 0.06


def test_result_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        single(1, 2).z = 3.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 1], [0], [0, 1]), "pred_a: 1"),
        (([], [], []), "y_true is empty"),
        (([0, 1], 1, [0, 1]), r"pred_a must have shape \(n,\), got \(\)"),
        (([0, 1], [0, 1], [[0, 1], [1, 0]]), r"pred_b must have shape \(n,\), got \(2, 2\)"),
        (([0, 1], [0, 1], [0, np.nan]), "pred_b holds missing"),
        ((["0", "1"], [0, 1], [0, 1]), "y_true holds text"),
    ],
)
def test_bad_labels(arguments, message):
    with pytest.raises(ValueError, match=message):
        mcnemar(*arguments)


@pytest.mark.parametrize(
    ("given_counts", "message"),
    [
        ([], "results_or_counts is empty"),
        ([(1, 2), (1, -2)], r"results_or_counts\[1\].*negative"),
        ([(1, 2, 3)], r"results_or_counts\[0\].*pair"),
        ([(1.5, 2)], "pair of counts"),
        ([7], "pair of counts"),
    ],
)
def test_bad_counts(given_counts, message):
    with pytest.raises(ValueError, match=message):
        pooled_mcnemar(given_counts)


@pytest.mark.parametrize("exact", ["never", 1, None])
def test_bad_exact(exact):
    with pytest.raises(ValueError, match="exact="):
        single(1, 2, exact=exact)


def test_result_can_be_made_by_hand():
    made = McNemarResult(n01=3, n10=9, z=0.0, statistic=0.0, p_value=1.0, method="exact")
    assert pooled_mcnemar([made, (1, 1)]) == single(4, 10)
