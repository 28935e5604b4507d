"""The exhibits as they are declared."""

import pytest

from bblr._settings import SettingError
from research.paper.exhibit import Given, Result, all_exhibits, select
from research.paper.fits import METRICS
from research.paper.library import Library
from research.paper.other_tables import COUNTS, Details, JointTable
from research.paper.table import TOTAL, Table
from research.studies.structured import WAYS

TABLES = [
    "table-solvers", "table-uci-data", "table-training-loss", "table-sums", "table-errors",
    "table-noisy-sums", "table-noisy-errors", "table-mcnemar", "table-large-data", "table-large",
    "table-reviews-data", "table-reviews", "table-structured", "table-kernel",
    "table-sparse-kernel",
]  # fmt: skip


def given(level, exhibit):
    return Given(level, 0, dict.fromkeys(exhibit.needs, "x"), {})


def test_every_table_of_the_paper_is_there():
    assert set(TABLES) <= set(all_exhibits())


@pytest.mark.parametrize("name", sorted(all_exhibits()))
def test_an_exhibit_is_well_declared(name):
    exhibit = all_exhibits()[name]
    assert exhibit.name == name and name.startswith(("table-", "figure-"))
    assert exhibit.title and exhibit.about and exhibit.reading
    library = Library()
    for data in exhibit.needs:
        assert library.title(data)
    for level in ("quick", "full"):
        tasks = exhibit.tasks(given(level, exhibit))
        for task in tasks[:3]:
            assert task.label and task.key
        assert len({task.key for task in tasks}) == len({repr(task) for task in tasks}), (
            "two tasks share a key"
        )
    quick, full = exhibit.minutes
    assert 0 <= quick <= full


@pytest.mark.parametrize("name", TABLES)
def test_printed_figures_have_a_place(name):
    exhibit = all_exhibits()[name]
    if isinstance(exhibit, Table):
        rows, width = {*exhibit.data, *([TOTAL] if exhibit.total else [])}, len(exhibit.columns)
        assert {*(c.metric or exhibit.metric for c in exhibit.columns)} <= set(METRICS)
    elif isinstance(exhibit, Details):
        rows, width = set(exhibit.data), len(exhibit.columns)
        assert set(exhibit.columns) <= set(COUNTS)
    elif isinstance(exhibit, JointTable):
        rows, width = set(exhibit.data), len(exhibit.locals_) * len(WAYS)
    else:
        rows, width = {reading.part for reading in exhibit.readings}, len(exhibit.baselines)
    assert exhibit.printed and set(exhibit.printed) <= rows
    assert all(len(figures) <= width for figures in exhibit.printed.values())


@pytest.mark.parametrize("name", TABLES)
def test_without_any_record_a_table_still_shows_what_was_printed(name):
    exhibit = all_exhibits()[name]
    nothing = Given("full", 0, {}, dict.fromkeys(exhibit.needs, "not here"))
    assert list(exhibit.tasks(nothing)) == []
    for result in exhibit.results(nothing, {}):
        assert isinstance(result, Result) and result.is_table
        assert len(result.entries) == len(result.rows) * len(result.columns)
        assert all(entry.ours is None for entry in result.entries)
    assert any(e.printed is not None for e in exhibit.results(nothing, {})[0].entries)


@pytest.mark.parametrize(
    ("name", "column"),
    [("table-training-loss", None), ("table-sums", None), ("table-noisy-sums", 3)],
)
def test_printed_totals_add_up_but_for_rounding_and_the_known_slip(name, column):
    printed = dict(all_exhibits()[name].printed)
    total = printed.pop(TOTAL)
    for place, figure in enumerate(total):
        added = sum(row[place] for row in printed.values())
        if place == column:
            assert abs(added - 32 - figure) <= 1, "149 should be 117"
        else:
            assert abs(added - figure) <= 2


def test_names_are_looked_up_and_unknown_ones_named():
    assert [e.name for e in select(())] == list(all_exhibits())
    assert [e.name for e in select(("Table-Errors", "table-sums"))] == [
        "table-sums",
        "table-errors",
    ]
    with pytest.raises(SettingError, match="'table-x' is unknown"):
        select(("table-x",))
