import io

import pytest
from rich.console import Console

from bblr.comparison.report import print_summary
from bblr.comparison.session import LiveProgress, TimeLeft
from bblr.comparison.summary import summarise


@pytest.fixture
def console():
    return Console(file=io.StringIO(), width=80)


def test_tables_fit_eighty_columns(console, make_record):
    records = [
        make_record(method, wrong, data=data, label=label)
        for data in ("breast", "pima")
        for method, label, wrong in (
            ("LR", "LR", range(9)),
            ("SVM", "SVM", range(9)),
            ("BBLR0", "BBLR0", ()),
        )
    ]
    print_summary(summarise(records), console)
    text = console.file.getvalue()
    assert "…" not in text
    assert "BBLR0" in text and "All 2 data sets, clean (20 rows)" in text
    assert "90.00" in text and "+3.0 (.004)" in text and "+4.2 (<.001)" in text


def test_missing_folds_are_marked(console, make_record):
    records = [make_record("LR"), make_record("LR", fold=1, failure="ValueError: no")]
    print_summary(summarise(records), console)
    assert "LR (1/2)" in console.file.getvalue()


def test_time_left_counts_each_method_at_its_own_pace(make_comparison, make_record):
    cells = make_comparison(repeats=1, conditions=make_comparison().conditions[:1]).cells()
    estimate = TimeLeft(cells, jobs=2)
    assert estimate.seconds is None
    for cell, seconds in zip(cells[:3], (1.0, 2.0, 30.0), strict=True):
        estimate.finished(make_record(cell.method, key=cell.key, seconds=seconds))
    assert estimate.seconds == pytest.approx(2 * 33 / 2)
    for cell in cells[3:]:
        estimate.finished(make_record(cell.method, key=cell.key, seconds=1.0))
    assert estimate.seconds == 0


def test_time_left_of_an_unknown_method_is_the_mean(make_comparison, make_record):
    cells = make_comparison(repeats=1).cells()
    estimate = TimeLeft(cells[:2], jobs=1)
    estimate.finished(make_record(cells[0].method, key=cells[0].key, seconds=3.0))
    assert estimate.seconds == pytest.approx(3)


def test_progress_shows_what_was_known(console, tmp_path, make_comparison):
    make_comparison(repeats=1).run(tmp_path / "r.jsonl")
    with LiveProgress(console, jobs=1) as progress:
        make_comparison(repeats=2).run(
            tmp_path / "r.jsonl", on_start=progress.begin, on_record=progress.count
        )
    assert progress.known == 18
    assert "36/36" in console.file.getvalue()
