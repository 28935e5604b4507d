"""The results under docs/results/ are what their records say."""

import pytest

from bblr.comparison.records import read_records
from bblr.comparison.tasks import versions
from research.paper.exhibit import select
from research.paper.job import make_plan
from research.paper.library import Library
from research.paper.report import document
from tests.conftest import ROOT

RESULTS = ROOT / "docs" / "results"


def test_the_committed_tables_are_what_the_records_say(data_home, monkeypatch):
    monkeypatch.setenv("BBLR_DATA_HOME", str(data_home))
    known = read_records(RESULTS / "records.jsonl")
    decisive = ("bblr", "numpy", "scipy", "scikit-learn")
    made = {tuple(record["versions"][name] for name in decisive) for record in known.values()}
    if made != {tuple(versions()[name] for name in decisive)}:
        pytest.skip("the records are of other versions of bblr or its libraries")
    plan = make_plan(select(()), "full", 0, Library(), known=known)
    records = [known[key] for key in plan.tasks if key in known]
    committed = (RESULTS / "tables.md").read_text(encoding="utf-8")
    assert document(plan.reproduction(records)).markdown() == committed


def test_the_records_do_not_tell_where_they_were_made():
    text = (RESULTS / "records.jsonl").read_text(encoding="utf-8")
    assert "/home/" not in text and "/tmp/" not in text and "/work/" not in text
