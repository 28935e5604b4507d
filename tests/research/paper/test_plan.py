"""What is to be run, with and without the data."""

import pytest

from research.paper.exhibit import select
from research.paper.job import make_plan
from research.paper.library import Library
from research.paper.other_tables import Describe


@pytest.fixture(autouse=True)
def no_research_data(monkeypatch, tmp_path):
    monkeypatch.setenv("BBLR_DATA_HOME", str(tmp_path / "nothing"))


def test_records_are_shown_without_the_data_they_were_made_from():
    task = Describe(data="web8", fingerprint="known", seed=0, library=Library())
    counts = {"Examples": 59245, "Dimensions": 300, "Non-zeros, %": 4.24}
    record = {"key": task.key, **task.settings, "counts": counts}
    plan = make_plan(select(["table-large-data"]), "quick", 0, Library(), known={task.key: record})
    assert list(plan.tasks) == [task.key]
    assert set(plan.given.missing) == {"web8-leak-free", "webspam", "trec07p-random"}
    (result,) = plan.results([record])
    assert result.entry("web8, official split", "Examples").ours == 59245


def test_what_has_neither_data_nor_records_is_left_out_with_a_reason():
    plan = make_plan(select(["table-reviews", "table-uci-data"]), "quick", 0, Library())
    assert {task.data for task in plan.tasks.values()} == {"breast", "heart", "liver", "pima"}
    reason = plan.given.missing["books"]
    assert reason.startswith("$BBLR_DATA_HOME") and "download_if_missing" not in reason


def test_tasks_that_exhibits_share_are_planned_once_and_long_ones_first():
    alone = make_plan(select(["table-sums"]), "quick", 0, Library())
    both = make_plan(select(["table-sums", "table-mcnemar"]), "quick", 0, Library())
    assert {key for key, t in both.tasks.items() if not t.condition.noise} == set(alone.tasks)
    guesses = [task.expected_seconds for task in both.tasks.values()]
    assert guesses == sorted(guesses, reverse=True)
    expected = sum(task.expected_seconds for task in alone.tasks.values())
    assert expected == pytest.approx(120 * select(["table-sums"])[0].minutes[0])


def test_a_full_run_builds_on_a_quick_one():
    names = ["table-sums", "table-kernel", "table-uci-data"]
    quick, full = (make_plan(select(names), level, 0, Library()) for level in ("quick", "full"))
    assert set(quick.tasks) < set(full.tasks)
