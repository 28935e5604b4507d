"""Pooled figures of records made by hand."""

import numpy as np
import pytest

from research.panorama.results import Results, pooled_z, significant
from tests.research.panorama.made import cell_of, hand_made_record

KINDS = {"a": "two", "b": "rare", "c": "many", "d": "wide"}


def vectors(only_mine, only_theirs, both, neither):
    """Errors of two methods that agree and differ so often."""
    mine = [1] * only_mine + [0] * only_theirs + [1] * both + [0] * neither
    theirs = [0] * only_mine + [1] * only_theirs + [1] * both + [0] * neither
    return mine, theirs


@pytest.fixture
def results(results_of):
    errors = {}
    for table, counts in {"a": (1, 5, 2, 12), "b": (3, 3, 0, 4), "c": (20, 2, 0, 78)}.items():
        mine, theirs = vectors(*counts)
        errors[table, "clean", "BBLR"] = mine
        errors[table, "clean", "LR"] = theirs
    errors["a", "clean", "HGB"] = [0] * 20
    return results_of(errors, KINDS)


def test_groups(results):
    assert results.tables("two") == ["a", "b"]
    assert results.tables("rare") == ["b"]
    assert results.tables("many") == ["c"]
    assert results.tables("all") == ["a", "b", "c"]


def test_z_adds_up_counts(results):
    pairs = results.pairs("BBLR", "LR", "clean", "two")
    assert pooled_z(pairs) == pytest.approx(((5 - 1) + (3 - 3)) / np.sqrt(6 + 6))
    pairs = results.pairs("BBLR", "LR", "clean")
    assert pooled_z(pairs) == pytest.approx((10 - 24) / np.sqrt(34))
    assert pooled_z(results.pairs("BBLR", "RF", "clean")) is None


def test_significance_is_of_the_exact_test(results):
    assert significant(results.pairs("BBLR", "LR", "clean")) == (1, 0)
    assert significant(results.pairs("LR", "BBLR", "clean")) == (0, 1)
    assert significant(results.pairs("BBLR", "LR", "clean", "two")) == (0, 0)


def test_ranks_share_ties_and_leave_out_who_is_missing(results):
    ranks = results.ranks(["BBLR", "LR", "HGB"], "clean").to_dict()
    # a: HGB 0, BBLR 3 and LR 7 of 20; b: 3 each; c: LR 2, BBLR 20.
    assert ranks == pytest.approx({"HGB": 1.0, "BBLR": (2 + 1.5 + 2) / 3, "LR": (3 + 1.5 + 1) / 3})


def test_pooled_figures(results):
    pooled = results.pooled("clean", "two")
    assert list(pooled.index) == ["BBLR", "LR", "HGB"]
    row = pooled.loc["BBLR"]
    assert (row["sets"], row["worse"], row["better"]) == (2, 0, 0)
    assert row["error_sum"] == pytest.approx(15.0 + 30.0)
    assert row["relative"] == pytest.approx(45 / 65)
    assert row["fit_seconds"] == 2.0
    assert tuple(pooled.loc["LR", ["relative", "z"]]) == (1.0, 0.0)
    assert pooled.loc["HGB", "relative"] == 0.0  # against LR on the table they share


def test_folds_are_joined():
    cells = [cell_of("a", "clean", "LR", fold=fold, part=f"part {fold}") for fold in (1, 0)]
    made = {1: [1, 1, 0], 0: [0, 0, 1, 0]}
    records = {
        cell.key: hand_made_record(cell, made[cell.fold], log_loss=float(cell.fold), auc=None)
        for cell in cells
    }
    one = Results(cells, records).of("LR", "clean").loc["a"]
    np.testing.assert_array_equal(one["wrong"], [0, 0, 1, 0, 1, 1, 0])
    assert one["log_loss"] == 0.5
    assert np.isnan(one["auc"])
    assert one["rate"] == pytest.approx(300 / 7)
    half = Results(cells, {cells[0].key: records[cells[0].key]})
    assert half.of("LR", "clean").empty
    assert not half.is_run(["LR"], "clean")
