"""Noise does what a condition says, always the same, in the training part only."""

import numpy as np
import pytest

from research.panorama.cells import (
    CONDITIONS,
    NOISY,
    conditions_of,
    folds_of,
    make_part,
    noise_seed,
    scaled,
)
from research.panorama.tables import LISTS, TABLES, Table


def test_lists_are_disjoint_and_whole():
    names = {listed: {table.name for table in tables} for listed, tables in LISTS.items()}
    assert set(names) == {"choose", "report"}
    assert not names["choose"] & names["report"]
    assert len(names["choose"]) + len(names["report"]) == len(TABLES) == 68
    assert {table.kind for table in TABLES.values()} == {"two", "rare", "many", "wide"}


def test_seven_conditions_and_five_for_wide_tables():
    assert len(CONDITIONS) == 7
    assert len(NOISY) == 6
    wide = conditions_of(Table("w", "wide", "choose"))
    assert wide == ["clean", "flip10", "flip20", "flip40", "oneway30"]
    assert len(conditions_of(Table("m", "many", "choose"))) == 7


def test_seed_is_stable_and_differs():
    assert noise_seed("iris", "flip20", 0) == 118_935_985
    seeds = {noise_seed(t, c, f) for t in "ab" for c in CONDITIONS for f in range(3)}
    assert len(seeds) == 2 * 7 * 3


@pytest.mark.parametrize("table", ["small", "third"])
@pytest.mark.parametrize("condition", CONDITIONS)
def test_noise_is_the_same_each_time_and_spares_the_test_part(made, table, condition):
    clean = make_part(table, "clean", 1)
    first, second = (make_part(table, condition, 1) for _ in range(2))
    assert first.digest == second.digest
    np.testing.assert_array_equal(first.X_test, clean.X_test)
    np.testing.assert_array_equal(first.y_test, clean.y_test)
    np.testing.assert_array_equal(first.X_train[: len(clean.X_train)], clean.X_train)
    assert (first.digest == clean.digest) == (condition == "clean")


@pytest.mark.parametrize("table", ["small", "third"])
@pytest.mark.parametrize("condition", ["flip10", "flip20", "flip40"])
def test_flips_turn_their_share_of_labels(made, table, condition):
    clean, noisy = make_part(table, "clean", 0), make_part(table, condition, 0)
    share = CONDITIONS[condition].noise
    assert np.sum(noisy.y_train != clean.y_train) == int(share * len(clean.y_train) + 1e-9)


@pytest.mark.parametrize("table", ["small", "third"])
def test_one_way_noise_moves_the_largest_class_to_the_next(made, table):
    clean, noisy = make_part(table, "clean", 0), make_part(table, "oneway30", 0)
    counts = np.bincount(clean.y_train)
    largest = int(np.argmax(counts))
    changed = np.flatnonzero(noisy.y_train != clean.y_train)
    assert len(changed) == int(0.3 * counts[largest] + 1e-9)
    assert set(clean.y_train[changed]) == {largest}
    assert set(noisy.y_train[changed]) == {(largest + 1) % len(counts)}


@pytest.mark.parametrize("table", ["small", "third"])
@pytest.mark.parametrize("condition", ["outliers", "random-outliers"])
def test_outliers_are_appended(made, table, condition):
    clean, noisy = make_part(table, "clean", 0), make_part(table, condition, 0)
    n_clean = len(clean.y_train)
    added = noisy.y_train[n_clean:]
    assert len(added) == n_clean // 10
    np.testing.assert_array_equal(noisy.y_train[:n_clean], clean.y_train)
    assert set(added) <= set(clean.y_train)
    if condition == "outliers":
        assert set(added) == {clean.n_classes - 1}


def test_folds_share_no_test_rows(made):
    assert (folds_of(999), folds_of(1000)) == (3, 1)
    rows = np.vstack([make_part("small", "clean", fold).X_test for fold in range(5)])
    assert len(np.unique(rows, axis=0)) == len(rows) == 90


def test_training_part_is_scaled_with_its_noise_unless_sparse(made):
    part = scaled(make_part("small", "flip20", 0))
    np.testing.assert_allclose(part.X_train.std(axis=0), 1.0)
    np.testing.assert_allclose(part.X_train.mean(axis=0), 0.0, atol=1e-12)
    sparse = make_part("broad", "flip20", 0)
    assert scaled(sparse) is sparse
