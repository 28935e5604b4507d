import numpy as np
import pytest
import scipy.sparse as sp

from bblr._settings import SettingError
from bblr.comparison.cells import CLEAN, Condition
from bblr.comparison.records import read_records
from bblr.comparison.sources import make_table

TIMELESS = ("seconds",)


def timeless(records):
    return [{k: v for k, v in record.items() if k not in TIMELESS} for record in records]


def test_every_cell_is_run_once_and_recorded(tmp_path, make_comparison, calls):
    comparison = make_comparison()
    seen = []
    records = comparison.run(tmp_path / "r.jsonl", on_record=seen.append)
    assert len(records) == len(calls) == len(seen) == 2 * 3 * 2 * 3
    assert [record["key"] for record in records] == [cell.key for cell in comparison.cells()]
    assert list(read_records(tmp_path / "r.jsonl").values()) == records


def test_running_again_repeats_nothing(tmp_path, make_comparison, calls):
    first = make_comparison().run(tmp_path / "r.jsonl")
    before = (tmp_path / "r.jsonl").read_bytes()
    calls.clear()
    assert make_comparison().run(tmp_path / "r.jsonl") == first
    assert calls == []
    assert (tmp_path / "r.jsonl").read_bytes() == before


@pytest.mark.parametrize("stop", [1, 11])
@pytest.mark.parametrize("torn", [0, 1, 40])
def test_resuming_after_a_kill_repeats_and_loses_nothing(
    tmp_path, make_comparison, calls, stop, torn
):
    whole = make_comparison(repeats=1).run(tmp_path / "whole.jsonl")
    path = tmp_path / "r.jsonl"
    n_done = 0

    def interrupt(record):
        nonlocal n_done
        n_done += 1
        if n_done == stop:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make_comparison(repeats=1).run(path, on_record=interrupt)
    if torn:
        path.write_bytes(path.read_bytes()[:-torn])
    calls.clear()
    resumed = make_comparison(repeats=1).run(path)
    assert len(calls) == len(whole) - stop + (torn > 0)
    assert timeless(resumed) == timeless(whole)


def test_more_repeats_build_on_fewer(tmp_path, make_comparison, calls):
    fewer = make_comparison(repeats=1).run(tmp_path / "r.jsonl")
    calls.clear()
    more = make_comparison(repeats=2).run(tmp_path / "r.jsonl")
    assert len(calls) == len(more) - len(fewer)
    assert more[: len(fewer)] == fewer


def test_results_do_not_depend_on_the_number_of_jobs(tmp_path, make_comparison):
    one = make_comparison(repeats=1).run(tmp_path / "1.jsonl", jobs=1)
    two = make_comparison(repeats=1).run(tmp_path / "2.jsonl", jobs=2)
    assert timeless(one) == timeless(two)


def test_the_seed_decides_everything(tmp_path, make_comparison):
    first, again, other = (
        make_comparison(seed=seed, repeats=1).run(tmp_path / name)
        for seed, name in ((1, "a.jsonl"), (1, "b.jsonl"), (2, "c.jsonl"))
    )
    assert timeless(first) == timeless(again)
    assert [r["rows"] for r in first] != [r["rows"] for r in other]


def test_one_failure_does_not_lose_the_others_and_is_tried_again(
    tmp_path, make_comparison, failing, calls
):
    methods = make_comparison().methods
    records = make_comparison(methods=(failing, *methods)).run(tmp_path / "r.jsonl")
    failed = [record for record in records if "failure" in record]
    assert {record["method"] for record in failed} == {failing.name}
    assert len(records) == 4 * len(failed)
    calls.clear()
    started = []
    make_comparison(methods=(failing, *methods)).run(
        tmp_path / "r.jsonl", on_start=lambda cells, missing: started.extend(missing)
    )
    assert len(started) == len(failed) and calls == []


@pytest.mark.parametrize(
    ("setting", "value"),
    [("repeats", 0), ("folds", 1), ("folds", 40), ("seed", -1)],
)
def test_unusable_settings_are_named(make_comparison, setting, value):
    with pytest.raises(SettingError, match=f"{setting} must be .*got {value}"):
        make_comparison(**{setting: value})


@pytest.mark.parametrize("noise", [-0.1, 1.0, float("nan")])
def test_noise_has_a_range(make_comparison, noise):
    with pytest.raises(SettingError, match="noise must be"):
        make_comparison(conditions=(Condition(noise, "label-flip", "training"),))


def test_sparse_data(tmp_path, make_comparison):
    X = sp.random_array((40, 20), density=0.1, rng=np.random.default_rng(0), format="csr")
    table = make_table("sparse", X, np.arange(40) % 2)
    assert table.sparse
    conditions = (CLEAN, Condition(0.1, "label-flip", "training"))
    records = make_comparison(tables=(table,), conditions=conditions, repeats=1).run(
        tmp_path / "r.jsonl"
    )
    assert not any("failure" in record for record in records)
    with pytest.raises(SettingError, match="protocol 'uniform-random' would fill"):
        make_comparison(
            tables=(table,), conditions=(Condition(0.1, "uniform-random", "training"),)
        )


def test_sparse_matrix_without_zeros_is_made_dense():
    assert not make_table("full", sp.csr_array(np.ones((4, 2))), [0, 1, 0, 1]).sparse
