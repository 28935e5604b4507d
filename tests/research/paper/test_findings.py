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
    z = 2.0 if leak_free else 1.9
    tests = tuple(Versus(name, 0.0, 0.0, z, 0.05) for name in ("LR", "SVM"))
    entries = [
        Entry(row, column, None, value, tests if column == "BBLR" else ())
        for row in ("web8, official split", "web8, leak-free")
        for column, value in (("LR", 0.9), ("SVM", 1.0), ("BBLR", default))
    ]
    found = findings([table("table-large", entries)], "full")
    assert [finding.status == MET for finding in found] == [bool(official), bool(leak_free)]


@pytest.mark.parametrize(("errors", "met"), [(1.7, True), (1.75, False)])
def test_trec(errors, met):
    row = "TREC07p, delivery order"
    test = (Versus("LR", 0.0, 0.0, 2.5, 0.01),)
    entries = [Entry(row, "LR", None, 2.0), Entry(row, "BBLR", None, errors, test)]
    finding = only([table("table-large", entries)])
    assert (finding.status == MET) is met and "z = 2.5" in finding.figure


@pytest.mark.parametrize(("ours", "met"), [(17.0, True), (17.05, False)])
def test_reviews(ours, met):
    entries = [Entry("Books", "LR", 17.0, 17.0), Entry("Books", "BBLR", None, ours)]
    finding = findings([table("table-reviews", entries)], "full")[-1]
    assert (finding.status == MET) is met and bool(finding.notes) is not met


def test_pooled_tests_are_judged_by_each_row_once():
    entries = [
        Entry("Noisy", "BBLR3 vs LR", 4.3, 12.0),
        Entry("Noisy", "BBLR3 vs LR, each row once", None, 2.0),
    ]
    assert only([table("table-mcnemar", entries)]).status == MISSED


@pytest.mark.parametrize(
    ("name", "ours", "met"),
    [
        ("table-sums", 340.0, True), ("table-sums", 340.5, False),
        ("table-noisy-sums", 272.0, True), ("table-noisy-sums", 273.0, False),
    ],
)  # fmt: skip
def test_totals_beside_the_better_baseline(name, ours, met):
    entries = [
        Entry("Total", "LR", 348.0, 340.0), Entry("Total", "SVM", 348.0, 350.0),
        Entry("Total", "BBLR", None, ours),
    ]  # fmt: skip
    assert (only([table(name, entries)]).status == MET) is met


@pytest.mark.parametrize(("least", "met"), [(5.0, True), (4.9, False)])
def test_the_tuned_classifier_needs_a_larger_z(least, met):
    entries = [
        Entry("Noisy", "BBLR vs LR, each row once", None, least),
        Entry("Noisy", "BBLR vs SVM, each row once", None, 7.0),
    ]
    assert (only([table("table-mcnemar-tuned", entries)]).status == MET) is met


@pytest.mark.parametrize(("z", "met"), [(-1.9, True), (-2.0, False)])
def test_joint_decisions_beside_those_around_lr(z, met):
    entries = [
        Entry("Pages", "LR joint", 76.0, 76.0),
        Entry("Pages", "BBLR joint", None, 76.0, (Versus("LR", 1.0, 1.0, z, 0.5),)),
    ]
    assert (only([table("table-structured", entries)]).status == MET) is met


def test_nothing_is_found_in_nothing():
    assert findings([], "full") == []


def test_a_quick_run_judges_nothing():
    entries = [Entry("Heart", "LR", 16.8, 16.8)]
    (finding,) = findings([table("table-errors", entries)], "quick")
    assert finding.status == NOT_JUDGED and finding.figure


def test_data_of_the_user_are_not_counted():
    entries = [
        Entry("Books", "LR", 19.75, 17.0), Entry("Books", "BBLR", None, 17.0),
        Entry("Mine", "LR", None, 1.0), Entry("Mine", "BBLR", None, 9.0),
    ]  # fmt: skip
    reviews = findings([table("table-reviews", entries)], "full")[-1]
    assert reviews.status == MET and reviews.figure == "So it is in 1 of 1."
