"""What the tables say together."""

import pytest

from bblr.comparison.summary import Versus
from research.core.thresholds import MET, MISSED, NOT_JUDGED
from research.paper.exhibit import Entry, Result
from research.paper.findings import findings


def table(name, entries):
    return Result(
        name, name, "", "", "error %", 2, "lower",
        tuple(dict.fromkeys(e.row for e in entries)),
        tuple(dict.fromkeys(e.column for e in entries)), tuple(entries),
    )  # fmt: skip


def only(results):
    (finding,) = findings(results, "full")
    return finding


@pytest.mark.parametrize(("ours", "met"), [(16.0, True), (17.79, True), (17.81, False)])
def test_baselines_within_a_point(ours, met):
    finding = only([table("table-errors", [Entry("Heart", "LR", 16.8, ours)])])
    assert (finding.status == MET) is met and bool(finding.notes) is not met
    why = Entry("Heart", "LR", 16.8, ours, remark="Because.")
    explained = only([table("table-errors", [why])])
    assert explained.status == MET and (met or "Because." in explained.notes[0])


@pytest.mark.parametrize(("ours", "met"), [(15.94, True), (15.96, False), (12.0, True)])
def test_equal_to_the_last_printed_decimal_is_equal(ours, met):
    finding = only([table("table-errors", [Entry("Heart", "BBLR3", 15.9, ours)])])
    assert (finding.status == MET) is met
    assert met or finding.notes == ("table-errors, Heart, BBLR3: 15.96 against 15.9 printed",)


def test_half_is_no_majority():
    entries = [Entry("A", "BBLR3", 1.0, 0.5), Entry("B", "BBLR3", 1.0, 2.0)]
    assert only([table("table-errors", entries)]).status == MISSED


def test_the_second_reading_is_not_counted():
    first = table("table-noisy-errors", [Entry("A", "BBLR3", 1.0, 0.5)])
    second = table("table-noisy-errors", [Entry("A", "BBLR3", 1.0, 2.0)])
    assert only([first, second]).status == MET


@pytest.mark.parametrize(("default", "official", "leak_free"), [(0.88, 1, 1), (0.95, 0, 0)])
def test_web8(default, official, leak_free):
    entries = [
        Entry(row, column, None, value)
        for row in ("web8, official split", "web8, leak-free")
        for column, value in (("LR", 0.9), ("SVM", 1.0), ("BBLR", default))
    ]
    found = findings([table("table-large", entries)], "full")
    assert [finding.status == MET for finding in found] == [bool(official), bool(leak_free)]


@pytest.mark.parametrize(("errors", "met"), [(1.8, True), (1.85, False)])
def test_trec(errors, met):
    row = "TREC07p, delivery order"
    test = (Versus("LR", 0.0, 0.0, 2.5, 0.01),)
    entries = [Entry(row, "LR", None, 2.0), Entry(row, "BBLR", None, errors, test)]
    finding = only([table("table-large", entries)])
    assert (finding.status == MET) is met and "z = 2.5" in finding.figure


@pytest.mark.parametrize(("ours", "met"), [(17.3, True), (17.35, False)])
def test_reviews(ours, met):
    entries = [Entry("Books", "LR", 17.0, 17.0), Entry("Books", "BBLR4", 20.0, ours)]
    finding = findings([table("table-reviews", entries)], "full")[-1]
    assert (finding.status == MET) is met and bool(finding.notes) is not met


def test_pooled_tests_are_judged_by_each_row_once():
    entries = [
        Entry("Noisy", "BBLR3 vs LR", 4.3, 12.0),
        Entry("Noisy", "BBLR3 vs LR, each row once", None, 2.0),
    ]
    assert only([table("table-mcnemar", entries)]).status == MISSED


def test_nothing_is_found_in_nothing():
    assert findings([], "full") == []


def test_a_quick_run_judges_nothing():
    entries = [Entry("Heart", "LR", 16.8, 16.8)]
    (finding,) = findings([table("table-errors", entries)], "quick")
    assert finding.status == NOT_JUDGED and finding.figure


def test_data_of_the_user_are_not_counted():
    entries = [
        Entry("Books", "LR", 19.75, 17.0), Entry("Books", "BBLR4", 18.15, 17.0),
        Entry("Mine", "LR", None, 1.0), Entry("Mine", "BBLR4", None, 9.0),
    ]  # fmt: skip
    reviews = findings([table("table-reviews", entries)], "full")[-1]
    assert reviews.status == MET and reviews.figure.startswith("1 of 1")
