"""A long run loses nothing: what failed is written down at once, and a run can go on."""

import json
import signal
from collections import Counter
from pathlib import Path

import pytest

from tests.fuzz import chunks
from tests.fuzz.everything import EVERYTHING
from tests.fuzz.record import Record
from tests.fuzz.refusals import Wrong

WHAT = {"cases": 300, "seed": 7, "families": None}


def test_a_run_goes_on_where_it_was_stopped(tmp_path):
    path = tmp_path / "fuzz.json"
    record = Record(WHAT, path)
    record.counts += Counter({("A", "fitted"): 90, ("A", "failed"): 1})
    record.done.add(0)
    assert record.add("it broke", "Case(n=1)", 0)
    assert not record.add("it broke", "Case(n=1)", 0)
    record.add("it broke, too", "Case(n=2)", 1)  # of a chunk that is not done
    record.write()
    assert [case for _, case, _ in json.loads(path.read_text())["failures"]] == [
        "Case(n=1)",
        "Case(n=2)",
    ]
    again = Record(WHAT, path)
    again.resume()
    assert (again.counts, again.done) == (record.counts, {0})
    assert list(again.failures) == [("it broke", "Case(n=1)")]
    assert again.last_line().startswith("91 cases, 1 reports, seed 7, commit ")
    assert [file.name for file in tmp_path.iterdir()] == ["fuzz.json"]
    with pytest.raises(SystemExit, match="another run"):
        Record({**WHAT, "seed": 8}, path).resume()


def test_a_failure_is_written_before_the_chunk_ends(tmp_path, monkeypatch):
    seen = []

    def check(case):
        written = [file.read_text() for file in Path(tmp_path).glob("*.jsonl")]
        seen.append("".join(written).count("\n"))
        raise Wrong("always")

    monkeypatch.setitem(chunks.EVERYTHING, "sla", EVERYTHING["sla"]._replace(check=check))
    before = signal.getsignal(signal.SIGALRM)
    try:
        done = chunks.run_chunk(3, "sla", 5, 0, str(tmp_path))
    finally:
        signal.signal(signal.SIGALRM, before)
    assert seen == [0, 1, 2, 3, 4]
    assert done.number == 3 and done.counts == {("SLAClassifier", "failed"): 5}
