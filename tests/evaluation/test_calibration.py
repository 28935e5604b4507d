import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bblr.evaluation import expected_calibration_error as ece


def by_loop(y, table, n_bins):
    """The definition, bin by bin."""
    confidence, correct = table.max(axis=1), table.argmax(axis=1) == y
    total = 0.0
    for m in range(n_bins):
        low, high = np.linspace(0, 1, n_bins + 1)[[m, m + 1]]
        inside = (confidence > low) & (confidence <= high)
        if inside.any():
            total += inside.mean() * abs(correct[inside].mean() - confidence[inside].mean())
    return total


@settings(max_examples=60)
@given(
    n=st.integers(4, 80),
    k=st.integers(2, 4),
    n_bins=st.integers(1, 30),
    seed=st.integers(0, 10**6),
)
def test_against_the_definition(n, k, n_bins, seed):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(k), rng.integers(0, k, size=n - k)]) if n >= k else np.arange(k)
    table = rng.dirichlet(np.ones(k), size=n)
    value = ece(y, table, n_bins)
    assert value == pytest.approx(by_loop(y, table, n_bins), abs=1e-12)
    assert 0.0 <= value <= 1.0
    order = rng.permutation(n)
    assert ece(y[order], table[order], n_bins) == pytest.approx(value, abs=1e-12)
    assert ece(np.tile(y, 2), np.tile(table, (2, 1)), n_bins) == pytest.approx(value, abs=1e-12)


def test_one_column_equals_two():
    rng = np.random.default_rng(0)
    p = rng.uniform(size=200)
    y = np.where(rng.uniform(size=200) < p, "yes", "no")
    assert ece(y, p) == ece(y, np.column_stack([1 - p, p]))


def test_turning_the_classes_over_changes_nothing():
    rng = np.random.default_rng(0)
    p, y = rng.uniform(size=200), rng.integers(0, 2, size=200)
    assert ece(y, p) == pytest.approx(ece(1 - y, 1 - p), abs=1e-12)


def test_true_probabilities_are_calibrated_and_sharpened_ones_are_not():
    rng = np.random.default_rng(0)
    p = rng.uniform(size=50_000)
    y = (rng.uniform(size=50_000) < p).astype(int)
    sharp = p**3 / (p**3 + (1 - p) ** 3)
    assert ece(y, p) < 0.01
    assert ece(y, sharp) > 0.1


def test_extremes():
    assert ece([0, 1], [0.0, 1.0]) == 0.0
    assert ece([0, 1], [1.0, 0.0]) == 1.0


def test_a_missing_class_needs_labels():
    with pytest.raises(ValueError, match="labels="):
        ece([1, 1], [0.5, 0.75])
    assert ece([1, 1], [0.75, 0.75], labels=[0, 1]) == pytest.approx(0.25)
    assert ece([0, 0], [0.75, 0.75], labels=[0, 1]) == pytest.approx(0.75)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 1], [0.5, 1.5]), "proba holds values outside"),
        (([0, 1], [0.5, np.nan]), "proba holds values outside"),
        (([0, 1], [0.5]), r"proba has shape \(1,\) for 2"),
        (([0, 1], [[0.5, 0.4], [1.0, 0.0]]), "do not sum to 1"),
        (([0, 1, 2], [0.1, 0.2, 0.3]), r"2 classes, and there are 3.*give it shape \(n, 3\)"),
        (([], []), "y_true is empty"),
        (([0, 1], [0.1, 0.2], 0), "n_bins=0"),
        (([0, 1], [0.1, 0.2], 2.5), r"n_bins=2\.5"),
    ],
)
def test_errors(arguments, message):
    with pytest.raises(ValueError, match=message):
        ece(*arguments)


def test_label_outside_labels():
    with pytest.raises(ValueError, match="not among labels"):
        ece([0, 3], [0.1, 0.2], labels=[0, 1])
