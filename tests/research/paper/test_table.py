"""Tables: from tasks to figures, tests and totals."""

from dataclasses import replace

import numpy as np
import pytest

from bblr.comparison.cells import Condition
from research.paper.fits import Protocol
from research.paper.library import Library
from research.paper.other_tables import PooledTests
from research.paper.table import Column, Gain, Reading, Remark
from tests.research.paper.conftest import make_table


def run(exhibit, given):
    tasks = {task.key: task for task in exhibit.tasks(given)}
    return {key: task.run() for key, task in tasks.items()}


def test_figures_are_those_of_a_cross_validation_by_hand(given):
    from sklearn.model_selection import StratifiedKFold

    table = make_table()
    records = run(table, given)
    first, second = table.results(given, records)
    assert (first.part, second.part) == ("First", "Second")
    assert first.rows == ("Small", "Large") and first.columns == ("Linear", "Tree")
    tasks = [t for t in table.tasks(given) if (t.data, t.method, t.folds) == ("small", "tree", 4)]
    assert len(tasks) == 12
    small, method = given.library.table("small"), given.library.method("tree")
    wrong = 0
    for task in tasks:
        seed = np.random.SeedSequence([0, task.repeat, *b"folds"]).generate_state(1)[0]
        folds = StratifiedKFold(4, shuffle=True, random_state=int(seed) & 0x7FFFFFFF)
        train, test = list(folds.split(small.X, small.y))[task.fold]
        model = method.build(0).fit(small.X[train], small.y[train])
        wrong += int(np.sum(model.predict(small.X[test]) != small.y[test]))
    assert first.entry("Small", "Tree").ours == pytest.approx(100 * wrong / (3 * 60))


def test_quick_runs_a_part_whose_records_serve_the_full_run(given):
    table = make_table()
    quick = replace(given, level="quick")
    few, many = ({t.key for t in table.tasks(g)} for g in (quick, given))
    assert few < many and len(few) == 2 * 2 * 2
    results = table.results(quick, run(table, quick))
    assert [result.part for result in results] == ["First"]


def test_a_baseline_with_the_same_errors_has_z_zero_and_the_sign_says_who_is_better(given):
    table = make_table(columns=(Column("tree"),), baselines=("tree",), data=())
    (first, _) = table.results(given, run(table, given))
    entry = first.entry("Small", "Linear")
    (test,) = entry.tests
    better = entry.ours < first.entry("Small", "Tree").ours
    assert test.baseline == "Tree" and (test.z > 0) == better and 0 <= test.p <= 1
    assert first.entry("Small", "Tree").tests == ()


def test_totals_add_up_and_gains_follow(given):
    given = replace(given, library=Library(given.library.files))
    table = make_table(
        metric="errors",
        data=("small", "large"),
        columns=(Column("tree"), Column("linear")),
        total=True,
        gain=Gain("linear", "tree", {"small": 10, "Total": 5}),
        printed={"small": (3, 4), "Total": (7, 8)},
    )
    table_only = replace(given, library=_without_additions(given.library))
    results = table.results(table_only, run(table, table_only))
    first, gain = results[0], results[1]
    for column in first.columns:
        parts = [first.entry(row, column).ours for row in ("Small", "Large")]
        assert first.entry("Total", column).ours == pytest.approx(sum(parts))
    assert first.entry("Total", "Tree").printed == 7
    assert first.entry("Small", "Linear").difference == pytest.approx(
        first.entry("Small", "Linear").ours - 4
    )
    ratio = first.entry("Total", "Linear").ours / first.entry("Total", "Tree").ours
    assert gain.entry("Total", gain.columns[0]).ours == pytest.approx(100 * (1 - ratio))
    assert gain.entry("Small", gain.columns[0]).printed == 10


def _without_additions(library):
    """The same names, but no rows or columns added to a table that has them already."""

    class Quiet(Library):
        added_sources = property(lambda self: {})
        added_methods = property(lambda self: {})
        sources = property(lambda self: library.sources)

        def method(self, name):
            return library.method(name)

        def digest(self, method):
            return ""

        def table(self, data, *, download=False):
            return library.table(data)

    return Quiet(library.files)


def test_missing_data_leave_a_reason_and_no_figure(given):
    prints = {"large": given.fingerprints["large"]}
    without = replace(given, fingerprints=prints, missing={"small": "no file"})
    table = make_table(total=True)
    first = table.results(without, run(table, without))[0]
    entry = first.entry("Small", "Tree")
    assert entry.ours is None and entry.remark == "no file" and entry.difference is None


def test_failed_fits_are_counted(given, added):
    added.write_text(added.read_text() + "\nMETHODS.append(FAILING)\n")
    library = Library((str(added.rename(added.with_name("failing.py"))),))
    given = replace(given, library=library)
    table = make_table()
    records = run(table, given)
    first = table.results(given, records)[0]
    entry = first.entry("Small", "Broken")
    assert entry.ours is None and "only 0 of 12 fits ended well" in entry.remark
    assert first.entry("Small", "Tree").ours is not None


def test_a_figure_over_some_of_the_folds_is_no_figure(given):
    table = make_table(total=True, data=("small", "large"), columns=(Column("tree"),))
    plain = replace(given, library=_without_additions(given.library))
    records = run(table, plain)
    tasks = [t for t in table.tasks(plain) if (t.data, t.folds) == ("small", 4)]
    records[tasks[0].key] = {"key": tasks[0].key, "failure": "ValueError: no", "seconds": 0.0}
    first = table.results(plain, records)[0]
    assert first.entry("Small", "Tree").ours is None
    assert "only 11 of 12" in first.entry("Small", "Tree").remark
    assert first.entry("Total", "Tree").ours is None
    assert first.entry("Total", "Tree").remark == "a row is missing"
    assert first.entry("Large", "Tree").ours is not None


def test_counts_of_some_folds_are_scaled_to_all(given):
    quick = replace(given, level="quick")
    counts = make_table(metric="errors").results(quick, run(make_table(metric="errors"), quick))
    rates = make_table().results(quick, run(make_table(), quick))
    for row, n in (("Small", 60), ("Large", 120)):
        count = counts[0].entry(row, "Tree").ours
        assert count == pytest.approx(rates[0].entry(row, "Tree").ours * n / 100)


def test_the_given_split_and_the_whole(given):
    def sizes(folds):
        table = make_table(readings=(Reading(*2 * (Protocol(folds=folds, words="once"),)),))
        records = run(table, given)
        return table, {(r["data"], r["n_train"], r["n_test"]) for r in records.values()}

    assert sizes(1)[1] == {("small", 60, 60), ("large", 120, 120)}
    table, found = sizes(0)
    assert found == {("small", 40, 20)}
    (result,) = table.results(given, {})
    assert result.entry("Large", "Tree").remark == "it has no test rows of its own"


@pytest.mark.parametrize(
    ("when", "printed", "shown"),
    [("lower", 99.0, True), ("lower", 0.0, False), ("higher", 0.0, True), ("always", None, True)],
)
def test_a_remark_stands_only_where_it_holds(given, when, printed, shown):
    table = make_table(
        data=("small",), columns=(Column("tree"),), printed={"small": (printed,)},
        remarks={("small", "tree"): Remark("Because.", when)},
    )  # fmt: skip
    plain = replace(given, library=_without_additions(given.library))
    first = table.results(plain, run(table, plain))[0]
    assert (first.entry("Small", "Tree").remark == "Because.") is shown


def test_data_that_differ_each_time_fail(given):
    task = replace(make_table().tasks(given)[0], fingerprint="other")
    assert "not the same each time" in task.run()["failure"]


def test_keys_tell_everything_apart_that_decides_a_result(given, library):
    table = make_table(readings=(Reading(Protocol(2, 3), None),))
    noisy = make_table(
        readings=(Reading(Protocol(2, 3, Condition(0.1, "label-flip", "training")), None),)
    )
    keys = [t.key for t in (*table.tasks(given), *noisy.tasks(given))]
    other_seed = [t.key for t in table.tasks(replace(given, seed=1))]
    other_data = [t.key for t in table.tasks(replace(given, fingerprints={"small": "x"}))]
    everything = keys + other_seed + other_data
    assert len(set(everything)) == len(everything)


def test_editing_the_file_of_a_method_runs_it_again(given, added):
    table = make_table()
    before = {t.key for t in table.tasks(given)}
    added.write_text(added.read_text() + "\n# changed\n")
    assert before == {t.key for t in table.tasks(given)}, "a run keeps the file it began with"
    later = replace(given, library=Library(given.library.files))
    assert not before & {t.key for t in table.tasks(later)}


def test_pooled_tests_count_rows_once_in_the_second_half(given):
    exhibit = PooledTests(
        name="table-z", place=1, title="z", about="", reading="", data=("small", "large"),
        method="linear", baselines=("tree",),
        readings=(Reading(Protocol(4, 3), None, "Clean"),), printed={"Clean": (1.5,)},
    )  # fmt: skip
    (result,) = exhibit.results(given, run(exhibit, given))
    pooled, once = (entry.ours for entry in result.entries)
    assert once == pytest.approx(pooled / 2) and pooled != 0
    assert result.entries[0].printed == 1.5 and result.entries[1].printed is None
