import math

import numpy as np
import pytest

from bblr.comparison.cells import CLEAN
from bblr.comparison.summary import findings, format_p, summarise
from bblr.evaluation import mcnemar, pooled_mcnemar

NOISE = {"noise": 0.1, "protocol": "label-flip", "place": "training"}


@pytest.fixture
def records(make_record):
    """Two repeats of two folds; BBLR is right where LR errs on rows 1 and 2."""
    return [
        make_record(method, wrong, repeat=repeat, fold=fold)
        for repeat in range(2)
        for fold in range(2)
        for method, wrong in (("LR", (0, 1, 2)), ("SVM", (0, 3)), ("BBLR", (0,)))
    ]


def row(records, method, data="tiny"):
    summary = summarise(records)
    group = summary.totals[0] if data is None else summary.group(data, summary.conditions[0])
    return group.row(method)


def test_table_is_worked_out_from_the_records(tmp_path, make_comparison):
    records = make_comparison().run(tmp_path / "r.jsonl")
    for group in summarise(records).groups:
        for line in group.rows:
            mine = [
                r
                for r in records
                if r["method"] == line.method and r["condition"]["noise"] == group.condition.noise
            ]
            wrong = np.concatenate([np.not_equal(r["truth"], r["predictions"]) for r in mine])
            assert line.rate == pytest.approx(100 * wrong.mean())
            assert line.errors == wrong.sum() / 2
            assert line.interval.low < wrong.mean() < line.interval.high
            assert line.train_errors == np.mean([r["train_errors"] for r in mine])
            assert line.seconds == np.median([r["seconds"] for r in mine])
            assert (line.done, line.planned) == (6, 6)
        assert group.n_rows == 60


def test_a_changed_record_changes_the_table(records, make_record):
    assert row(records, "LR").rate == pytest.approx(30)
    records[0] = make_record("LR", tuple(range(10)))
    assert row(records, "LR").rate == pytest.approx(47.5)


def test_mcnemar_counts_each_row_once_however_many_repeats(records):
    one = [record for record in records if record["repeat"] == 0]
    expected = pooled_mcnemar(
        [mcnemar(b["truth"], b["predictions"], a["predictions"])
         for a, b in zip(one[::3], one[2::3], strict=True)]
    )  # fmt: skip
    for some in (one, records):
        test = row(some, "BBLR").versus["LR"]
        assert (test.better, test.worse) == (4, 0)
        assert test.z == pytest.approx(expected.z) and test.z > 0
        assert test.p == pytest.approx(expected.p_value)
    assert row(records, "LR").versus["SVM"].z == pytest.approx(-math.sqrt(2 / 3), rel=0.5)
    assert "LR" not in row(records, "LR").versus


def test_totals_add_up_over_data_sets(records):
    other = [{**record, "data": "other"} for record in records]
    total = row([*records, *other], "LR", data=None)
    single = row(records, "LR")
    assert total.errors == 2 * single.errors
    assert total.rate == single.rate
    assert total.seconds == 2 * single.seconds
    assert total.train_errors == 2 * single.train_errors
    assert total.interval.high - total.rate / 100 < single.interval.high - single.rate / 100


def test_a_method_without_probabilities_has_no_log_loss(records):
    assert row(records, "SVM").log_loss is None
    assert row(records, "LR").log_loss == 0.5


def test_missing_folds_are_shown_and_compared_only_where_both_are_there(records):
    failed = {**records[2], "failure": "ValueError: no"}
    summary = summarise([*records[:2], failed, *records[3:]])
    line = summary.groups[0].row("BBLR")
    assert (line.done, line.planned) == (3, 4)
    assert line.versus["LR"].better == 3
    assert summary.failures == (failed,)
    assert "some folds have no result" in findings(summary)[0].claim


def test_a_method_that_always_fails_has_no_row(records, make_record):
    failed = [make_record("BBLR4", failure="ValueError: no")]
    summary = summarise([*records, *failed])
    assert summary.groups[0].row("BBLR4") is None
    assert "some folds have no result" in findings(summary)[0].claim


def test_no_discordant_rows_is_no_evidence(make_record):
    test = row([make_record("LR", (1,)), make_record("BBLR", (1,))], "BBLR").versus["LR"]
    assert (test.z, test.p) == (0, 1)


@pytest.mark.parametrize(
    ("ours", "theirs", "words"),
    [
        (
            (0,),
            (0, 1),
            "BBLR makes 1 test errors on the 10 rows of tiny: 50.0 % fewer than LR (2)",
        ),
        (
            (0, 1, 2),
            (0, 1),
            "BBLR makes 3 test errors on the 10 rows of tiny: 50.0 % more than LR",
        ),
        ((0,), (1,), "BBLR makes 1 test errors on the 10 rows of tiny: as many as LR."),
        ((0,), (), "BBLR makes 1 test errors on the 10 rows of tiny: more than LR (0)"),
    ],
)
def test_headline_follows_the_records_either_way(make_record, ours, theirs, words):
    (finding,) = findings(summarise([make_record("LR", theirs), make_record("BBLR", ours)]))
    assert finding.claim.startswith("On clean data, " + words)
    assert "McNemar" in finding.evidence


def test_headline_speaks_of_noise_first(make_record):
    records = [
        make_record(method, condition=condition)
        for method in ("LR", "BBLR")
        for condition in ({"noise": 0.0, "protocol": None, "place": None}, NOISE)
    ]
    noisy, clean = findings(summarise(records))
    assert noisy.claim.startswith("With 10 % label-flip noise in training, BBLR")
    assert clean.claim.startswith("On clean data, BBLR")


def test_headline_without_bblr_or_without_baselines(make_record):
    for names in (["LR", "SVM"], ["BBLR"], ["SLA"]):
        (finding,) = findings(summarise([make_record(name, (0,)) for name in names]))
        assert all(f"{name} 1" in finding.claim for name in names)


def test_conditions_are_read_back(records):
    assert summarise(records).conditions == (CLEAN,)


@pytest.mark.parametrize(
    ("p", "plain", "signed"),
    [(0.0004, "<.001", "< .001"), (0.0123, ".012", "= .012"), (1.0, "1.000", "= 1.000")],
)
def test_p_values_are_short(p, plain, signed):
    assert format_p(p) == plain
    assert format_p(p, sign=True) == signed
