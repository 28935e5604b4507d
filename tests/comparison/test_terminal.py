import io
from dataclasses import replace

import pytest
from rich.console import Console

from bblr.comparison import session
from bblr.comparison.report import print_summary
from bblr.comparison.session import LiveProgress, WorkLeft
from bblr.comparison.summary import summarise


@pytest.fixture
def console():
    return Console(file=io.StringIO(), width=80, force_terminal=True)


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


@pytest.fixture
def clock(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(session.time, "monotonic", lambda: now[0])
    return now


def test_time_left_counts_each_method_at_its_own_pace(make_comparison, make_record, clock):
    cells = make_comparison(repeats=1, conditions=make_comparison().conditions[:1]).cells()
    work = WorkLeft(cells, jobs=2)
    assert work.seconds is None
    for cell, seconds in zip(cells[:3], (1.0, 2.0, 30.0), strict=True):
        work.finished(make_record(cell.method, key=cell.key, seconds=seconds))
    assert work.seconds == pytest.approx(2 * 33 / 2)
    assert work.share == pytest.approx(1 / 3)
    for cell in cells[3:]:
        work.finished(make_record(cell.method, key=cell.key, seconds=1.0))
    assert work.seconds == 0 and work.share == 1


def test_an_unknown_method_counts_with_what_it_expects(make_comparison, make_record, clock):
    methods = [
        replace(m, weight=w) for m, w in zip(make_comparison().methods, (1, 4, 1), strict=True)
    ]
    cells = make_comparison(repeats=1, methods=tuple(methods)).cells()[:2]
    work = WorkLeft(cells, jobs=1)
    slow = WorkLeft(cells, jobs=1)
    for each, seconds in ((work, 1.0), (slow, 100.0)):
        each.finished(make_record(cells[0].method, key=cells[0].key, seconds=seconds))
    assert work.seconds < 10 < 100 < slow.seconds < 400


def test_the_share_grows_while_a_fit_goes_on_and_never_back(make_comparison, make_record, clock):
    cells = make_comparison(repeats=1).cells()
    work = WorkLeft(cells, jobs=1)
    for cell in cells[:3]:
        work.finished(make_record(cell.method, key=cell.key, seconds=20.0))
    shares = [work.share]
    for second in range(100):
        clock[0] = float(second)
        shares.append(work.share)
    assert shares == sorted(shares) and shares[0] < shares[10] < shares[17]
    assert shares[-1] < 4 / len(cells)
    work.finished(make_record(cells[3].method, key=cells[3].key, seconds=400.0))
    assert work.share >= shares[-1]


def test_progress_shows_what_was_known(console, tmp_path, make_comparison):
    make_comparison(repeats=1).run(tmp_path / "r.jsonl")
    with LiveProgress(console, jobs=1) as progress:
        make_comparison(repeats=2).run(
            tmp_path / "r.jsonl", on_start=progress.begin, on_record=progress.count
        )
    assert progress.known == 18
    assert "36 of 36" in console.file.getvalue()


def test_there_is_no_bar_in_a_log(tmp_path, make_comparison):
    plain = Console(file=io.StringIO(), width=80)
    with LiveProgress(plain, jobs=1) as progress:
        make_comparison(repeats=1).run(
            tmp_path / "r.jsonl", on_start=progress.begin, on_record=progress.count
        )
    assert plain.file.getvalue() == ""


def test_a_share_is_told_only_once_a_fit_is_done(make_comparison, clock):
    plain = Console(file=io.StringIO(), width=80)
    cells = make_comparison(repeats=1).cells()
    with LiveProgress(plain, jobs=1) as progress:
        clock[0] = 40.0
        progress.begin(cells, cells)
    told = plain.file.getvalue().splitlines()[0]
    assert told == f"Comparing: 0 of {len(cells)}, the time left is not known yet, after 40 s"
