import numpy as np
import pytest
from scipy.stats import norm

from bblr.comparison.verdict.paired import Interval, intervals


def test_with_many_rows_an_interval_is_the_normal_one_corrected_for_folds():
    values = np.random.default_rng(0).normal(0.3, 2.0, size=(40_000, 1))
    (plain,) = intervals(values, 1, simultaneous=False)
    (folded,) = intervals(values, 5, simultaneous=False)
    half = norm.isf(0.025) * values.std() / 200
    assert plain.value == folded.value == values.mean()
    assert (plain.high - plain.low) / 2 == pytest.approx(half, rel=1e-3)
    # 1/K + 1/(K − 1) instead of 1/K.
    assert (folded.high - folded.low) / 2 == pytest.approx(1.5 * half, rel=1e-3)


@pytest.mark.parametrize("folds", [2, 5, 10])
def test_more_columns_widen_and_copies_do_not(folds):
    rng = np.random.default_rng(1)
    column = rng.normal(size=(2_000, 1))
    (alone,) = intervals(column, folds, simultaneous=True)
    copies = intervals(np.repeat(column, 6, axis=1), folds, simultaneous=True)
    others = intervals(
        np.column_stack([column, rng.normal(size=(2_000, 5))]), folds, simultaneous=True
    )
    width = alone.high - alone.low
    assert copies[0].high - copies[0].low == pytest.approx(width, rel=0.02)
    # Of six independent ones, the limit is that of Šidák.
    sidak = norm.isf((1 - 0.95 ** (1 / 6)) / 2) / norm.isf(0.025)
    assert others[0].high - others[0].low == pytest.approx(sidak * width, rel=0.02)


def test_the_limit_holds_for_the_largest_of_several():
    """Five columns that share a part, of no difference: one interval of 20 sets misses 0."""
    rng, missed = np.random.default_rng(2), 0
    for _ in range(600):
        values = rng.normal(size=(60, 5)) + rng.normal(size=(60, 1))
        found = intervals(values, 1, simultaneous=True)
        missed += any(one.low > 0 or one.high < 0 for one in found)
    assert 0.02 < missed / 600 < 0.07


def test_a_few_rows_are_no_evidence():
    values = np.zeros((1_000, 1))
    values[:4] = 1.0
    (few,) = intervals(values, 5, simultaneous=False)
    assert few.low < 0 < few.high
    values[:40] = 1.0
    (many,) = intervals(values, 5, simultaneous=False)
    assert many.low > 0


def test_no_difference_at_all_is_an_interval_of_no_width():
    found = intervals(np.zeros((50, 3)), 5, simultaneous=True)
    assert found == [Interval(0.0, 0.0, 0.0)] * 3
    assert Interval(1.0, -1.0, 2.0).flipped() == Interval(-1.0, -2.0, 1.0)


def test_the_same_rows_give_the_same_intervals():
    values = np.random.default_rng(3).normal(size=(100, 4))
    again = intervals(values.copy(), 5, simultaneous=True)
    assert intervals(values, 5, simultaneous=True) == again
