from __future__ import annotations

import pytest

from research.claims import CLAIMS
from research.claims.encoding import TABLES
from research.core.cases import Run


def test_the_claim_runs_on_little_data():
    pytest.importorskip("skrub")
    outcome = CLAIMS["encoding"].run(Run(quick=True, repeats=1))
    assert outcome.failure == "" and outcome.measured is not None
    assert set(outcome.measured.details) == set(TABLES)
    for found in outcome.measured.details.values():
        # Both learn, or figures that are alike would say nothing.
        assert found["rows"] == 200 and max(found["own"], found["skrub"]) < 70


def test_without_skrub_it_is_skipped(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "skrub", None)
    outcome = CLAIMS["encoding"].run(Run(quick=True, repeats=1))
    assert "pip install skrub" in outcome.skipped
