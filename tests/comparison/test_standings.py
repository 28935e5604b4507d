import numpy as np
import pytest

from bblr.comparison.methods import FILE_METHODS, select_methods
from bblr.comparison.verdict.metrics import METRICS, Metric
from bblr.comparison.verdict.paired import Interval
from bblr.comparison.verdict.standings import _own_interval, decide, judge
from bblr.comparison.verdict.wording import _either_way, change, remarks, sentence, table

ROWS = 1_000


def lost(wrong, seed=0):
    """Errors on a share of the rows, the first ones shared by all methods."""
    rng = np.random.default_rng(seed)
    values = np.zeros(ROWS)
    values[: int(wrong * ROWS * 0.8)] = 1
    free = np.arange(int(wrong * ROWS * 0.8), ROWS)
    values[rng.choice(free, int(wrong * ROWS) - int(wrong * ROWS * 0.8), replace=False)] = 1
    return values


def test_the_best_of_those_that_are_better_is_used_and_equals_are_named():
    found = decide(
        {
            "majority": lost(0.5, 1),
            "LR": lost(0.3, 2),
            "BBLR0": lost(0.102, 3),
            "BBLR": lost(0.1, 4),
            "HGB": lost(0.2, 5),
        },
        5,
    )
    assert (found.kind, found.method, found.alike) == ("use", "BBLR", ("BBLR0",))
    assert found.gains["BBLR"].low > 0 and found.gains["majority"].high < 0
    assert found.gains["BBLR"].value == pytest.approx(0.2)


def test_what_is_not_detectably_better_is_not_used():
    values = {"majority": lost(0.5, 1), "LR": lost(0.2, 2), "HGB": lost(0.195, 3)}
    found = decide(values, 5)
    assert (found.kind, found.method, found.alike) == ("keep", "LR", ("HGB",))
    worse = decide({**values, "HGB": lost(0.4, 3)}, 5)
    assert (worse.kind, worse.alike) == ("keep", ())


def test_what_is_better_than_the_baseline_must_beat_the_majority_too():
    values = {"majority": lost(0.1, 1), "LR": lost(0.3, 2), "HGB": lost(0.105, 3)}
    found = decide(values, 5)
    assert found.gains["HGB"].low > 0
    assert (found.kind, found.method) == ("majority", "majority")


def test_without_a_baseline_nothing_is_said():
    assert decide({"HGB": lost(0.1), "BBLR": lost(0.5)}, 5).kind == "open"
    assert decide({"LR": lost(0.1)}, 5).kind == "open"


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    """A table on which boosting is far ahead, with and without a failed fold."""
    from bblr.comparison.compare import Comparison
    from bblr.comparison.sources import make_table

    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = np.where(X[:, 0] * X[:, 1] > 0, "yes", "no")
    names = [name for name in FILE_METHODS if not name.startswith("robust")]
    methods = select_methods([*names, "SVM"])
    comparison = Comparison((make_table("xor", X, y),), methods, repeats=2, folds=3)
    return comparison.run(tmp_path_factory.mktemp("xor") / "r.jsonl")


@pytest.mark.parametrize("name", [name for name in METRICS if name != "cost"])
def test_lines_stand_best_first_and_the_verdict_is_right(records, name):
    (standing,) = judge(records, Metric(name))
    assert (standing.decision.kind, standing.decision.method) == ("use", "HGB")
    assert sentence(standing).startswith("Use gradient boosting: ")
    assert sentence(standing).endswith(" than with logistic regression (95 %).")
    values = [line.value.value for line in standing.lines if line.value is not None]
    assert values == sorted(values, reverse=Metric(name).higher)
    frame = table(standing)
    assert len(frame) == 6 and frame["Method"].iloc[0] == "HGB"
    missing = [line.label for line in standing.lines if line.value is None]
    assert missing == (["SVM"] if name == "log-loss" else [])


def test_values_are_averaged_over_repeats_and_paired_by_row(records):
    (standing,) = judge(records, Metric())
    for line in standing.lines:
        mine = [record for record in records if record["method"] == line.method]
        assert line.value.value == pytest.approx(sum(r["errors"] for r in mine) / 600)
        assert line.metrics["error"] == pytest.approx(line.value.value)
    ours, base = standing.line("HGB"), standing.line("LR")
    assert ours.gain.value == pytest.approx(base.value.value - ours.value.value)
    assert (standing.n_rows, standing.repeats, standing.folds) == (300, 2, 3)


def test_a_method_with_a_failed_fold_is_not_compared(records):
    broken = [
        {**r, "failure": "ValueError: no"} if (r["method"], r["fold"]) == ("HGB", 1) else r
        for r in records
    ]
    (standing,) = judge(broken, Metric())
    assert standing.decision.method != "HGB"
    assert standing.line("HGB").value is None
    assert "Not compared, as a result is missing: HGB." in remarks(standing)
    (standing,) = judge([r for r in broken if r["method"] != "LR"], Metric())
    assert "nothing is compared" in sentence(standing)


@pytest.mark.parametrize(
    ("share", "advice"), [(0.5, "More rows"), (0.05, "Error rates say little")]
)
def test_where_nothing_beats_the_majority_the_advice_suits_its_share(tmp_path, share, advice):
    from bblr.comparison.compare import Comparison
    from bblr.comparison.sources import make_table

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)), np.where(np.arange(200) < 200 * share, "yes", "no")
    comparison = Comparison((make_table("chance", X, y),), select_methods(["majority", "LR"]))
    (standing,) = judge(comparison.run(tmp_path / "r.jsonl"), Metric())
    assert standing.decision.kind == "majority"
    assert remarks(standing)[0].startswith(advice)


@pytest.mark.parametrize(
    ("metric", "ends", "words"),
    [
        ("error", (0.018, 0.031), "18 to 31 fewer errors in 1,000"),
        ("error", (0.0004, 0.0021), "4 to 21 fewer errors in 10,000"),
        ("error", (0.0004, 0.031), "0.4 to 31 fewer errors in 1,000"),
        ("balanced", (0.012, 0.034), "balanced accuracy 1.2 to 3.4 points higher"),
        ("auc", (0.012, 0.034), "AUC 0.012 to 0.034 higher"),
        ("log-loss", (0.012, 0.034), "log-loss 0.012 to 0.034 lower"),
        ("cost", (0.1, 0.34), "a cost 100 to 340 lower per 1,000 rows"),
    ],
)
def test_gains_are_said_in_units_one_can_picture(records, metric, ends, words):
    (standing,) = judge(records, Metric("error"))
    spoken = replace_metric(standing, metric)
    assert change(spoken, Interval(sum(ends) / 2, *ends)) == words


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        ("error", "between 12 more and 34 fewer errors in 1,000"),
        ("balanced", "balanced accuracy between 1.2 points lower and 3.4 higher"),
        ("log-loss", "log-loss between 0.012 higher and 0.034 lower"),
        ("cost", "a cost between 12 higher and 34 lower per 1,000 rows"),
    ],
)
def test_intervals_that_hold_nought_are_said_both_ways(records, metric, words):
    (standing,) = judge(records, Metric("error"))
    assert _either_way(replace_metric(standing, metric), Interval(0.011, -0.012, 0.034)) == words


def test_differences_too_small_for_three_digits_have_more(records):
    (standing,) = judge(records, Metric("error"))
    words = _either_way(replace_metric(standing, "auc"), Interval(0.0, -4e-5, 2e-4))
    assert words == "AUC between 0.0000 lower and 0.0002 higher"


def test_an_interval_holds_no_value_that_the_metric_cannot_have():
    """Few rows and hardly an error: the interval of the mean would leave the range."""
    found = _own_interval(np.array([1.0] * 29 + [0.5]), 5, Metric("auc"))
    assert found.high == 1.0 and found.low < found.value < 1.0
    assert _own_interval(np.array([0.0] * 29 + [1.0]), 5, Metric("error")).low == 0.0
    assert _own_interval(np.array([0.0] * 29 + [50.0]), 5, Metric("log-loss")).high > 1.0


def replace_metric(standing, name):
    from dataclasses import replace

    return replace(standing, metric=Metric(name))
