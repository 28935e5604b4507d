"""A run does what is missing or stale, and nothing twice."""

from collections import Counter
from pathlib import Path

import pytest

from bblr.comparison.records import read_records
from bblr.comparison.tasks import run_tasks
from research.panorama import cells, methods
from research.panorama.methods import METHODS, fingerprint
from research.panorama.plan import make_plan
from research.panorama.results import Results
from tests.research.panorama.made import MADE, Failing, Nearest


@pytest.fixture
def fits(few_methods):
    """Count the fits of BBLR and LR."""
    counts: Counter[str] = Counter()

    def counted(name):
        def build():
            counts[name] += 1
            return Nearest()

        return build

    few_methods(BBLR=counted("BBLR"), LR=counted("LR"))
    return counts


def known(plan, path):
    """The records that are up to date."""
    found = read_records(path)
    return [found[cell.key] for cell in plan.cells if cell.key in found]


def test_plan(made, fits):
    plan = make_plan(list(made.values()), ["clean", "flip20", "outliers"])
    folds = Counter((cell.data, cell.condition) for cell in plan.cells if cell.method == "LR")
    assert folds == {
        **{
            (name, condition): 3
            for name in ("small", "third")
            for condition in ("clean", "flip20", "outliers")
        },
        **{("large", condition): 1 for condition in ("clean", "flip20", "outliers")},
        **{("broad", condition): 3 for condition in ("clean", "flip20")},
    }
    assert len({cell.key for cell in plan.cells}) == len(plan.cells)
    assert plan.cells[0].data == max(plan.cells, key=lambda cell: cell.expected_seconds).data
    order = list(dict.fromkeys(cell.data for cell in plan.cells))
    assert order == ["large", "third", "broad", "small"]
    quick = make_plan(list(made.values()), ["clean", "flip10", "flip20"], quick=True)
    found = {(cell.data, cell.condition, cell.fold) for cell in quick.cells}
    assert found == {(n, c, 0) for n in ("small", "third") for c in ("clean", "flip20")}
    assert {cell.key for cell in quick.cells} <= {cell.key for cell in plan.cells}


def test_table_out_of_reach_is_left_out(made, fits, monkeypatch):
    table = made["small"]
    missing = type(table)("gone", "two", "choose")
    plan = make_plan([missing, table], ["clean"])
    assert set(plan.unread) == {missing}
    assert {cell.data for cell in plan.cells} == {"small"}
    results = Results(plan.cells, {}, plan.unread)
    assert not results.is_run(["LR"], "clean", "two")


def test_resume_runs_what_is_missing(made, fits, tmp_path):
    path = tmp_path / "records.jsonl"
    part = make_plan([made["small"]], ["clean"])
    run_tasks(part.cells, path)
    assert fits == {"BBLR": 3, "LR": 3}
    whole = make_plan([made["small"]], ["clean", "flip20"])
    records = run_tasks(whole.cells, path)
    assert fits == {"BBLR": 6, "LR": 6}
    assert len(records) == len(path.read_text().splitlines()) == 12
    run_tasks(whole.cells, path)
    assert fits == {"BBLR": 6, "LR": 6}


def test_half_written_line_is_ignored(made, fits, tmp_path):
    path = tmp_path / "records.jsonl"
    plan = make_plan([made["small"]], ["clean"])
    run_tasks(plan.cells, path)
    text = path.read_text()
    path.write_text(text[:-40])
    assert len(known(plan, path)) == 5
    run_tasks(plan.cells, path)
    assert sum(fits.values()) == 7
    assert len(known(plan, path)) == 6


def test_changed_source_of_ours_spares_the_baselines(made, fits, tmp_path, monkeypatch):
    path = tmp_path / "records.jsonl"
    run_tasks(make_plan([made["small"]], ["clean"]).cells, path)
    (tmp_path / "source.py").write_text("version = 2\n")
    plan = make_plan([made["small"]], ["clean"])
    assert {r["method"] for r in known(plan, path)} == {"LR"}
    # This process still has the old source: its results must not pass for those of the new.
    stale = [record for record in run_tasks(plan.cells, path) if "failure" in record]
    assert {record["method"] for record in stale} == {"BBLR"}
    own = next(cell for cell in plan.cells if cell.method == "BBLR")
    source = own.fingerprint["source"]
    monkeypatch.setattr(cells, "LOADED_SOURCE", source)
    run_tasks(plan.cells, path)
    assert fits == {"BBLR": 6, "LR": 3}


def test_changed_data_are_run_again(made, fits, tmp_path, monkeypatch):
    before = make_plan([made["small"]], ["clean"])
    table, X, y = MADE["small"]
    monkeypatch.setitem(MADE, "small", (table, X + 1.0, y))
    after = make_plan([made["small"]], ["clean"])
    assert not {cell.key for cell in before.cells} & {cell.key for cell in after.cells}


def test_fingerprints_name_what_results_hang_on():
    ours, theirs = fingerprint(METHODS["BBLR"]), fingerprint(METHODS["LR"])
    common = {"python", "numpy", "scipy", "scikit-learn", "source"}
    assert set(ours) == {*common, "numba", "bblr"}
    assert set(theirs) == common
    here = Path(methods.__file__).parent
    names = {path.name for path in methods.own_sources() if path.parent == here}
    assert {"methods.py", "cells.py", "tables.py", "scores.py"} <= names
    assert not {"report.py", "results.py", "targets.py"} & names
    assert Path(cells.__file__).parents[2] / "src/bblr/__init__.py" in methods.own_sources()


def test_failure_is_recorded_and_tried_again(made, few_methods, tmp_path):
    few_methods(BBLR=Failing, LR=Nearest)
    path = tmp_path / "records.jsonl"
    plan = make_plan([made["small"]], ["clean"])
    records = run_tasks(plan.cells, path)
    failures = [record["failure"] for record in records if "failure" in record]
    assert failures == ["RuntimeError: it never works"] * 3
    results = Results(plan.cells, read_records(path))
    assert results.n_failed(["BBLR"], "clean") == 3
    assert results.of("BBLR", "clean").empty
    assert list(results.of("LR", "clean").index) == ["small"]
    assert results.is_run(["BBLR", "LR"], "clean")
    run_tasks(plan.cells, path)
    assert len(path.read_text().splitlines()) == 9


def test_method_for_dense_rows_skips_sparse_ones_once(made, few_methods, tmp_path):
    few_methods(HGB=Nearest)
    path = tmp_path / "records.jsonl"
    plan = make_plan([made["broad"]], ["clean"])
    records = run_tasks(plan.cells, path)
    assert {record["skipped"] for record in records} == {"takes no sparse rows"}
    run_tasks(plan.cells, path)
    assert len(path.read_text().splitlines()) == 3
