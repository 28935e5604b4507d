"""The claim about label audits, on little data."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from rich.console import Console

from research.claims import CLAIMS, ClaimRun, audit
from research.claims.audit import Cell, Found


@pytest.fixture
def run():
    return ClaimRun(1, 2, 0, None, Console(quiet=True))


@pytest.fixture
def little(monkeypatch):
    """Two small sets, the large one missing."""
    monkeypatch.setattr(audit, "DATA", ("heart", "liver", audit.LARGE))
    monkeypatch.setenv("BBLR_DATA_HOME", "/nowhere")


def test_the_claim_runs(run, little):
    pytest.importorskip("cleanlab")
    outcome = CLAIMS["audit"].run(run)
    assert outcome.failure == "" and outcome.measured is not None
    cells = [Cell(**cell) for cell in outcome.measured.details["cells"]]
    assert [cell.data for cell in cells] == ["heart", "heart", "liver", "liver"]
    for cell in cells:
        assert cell.flips == {"heart": 27, "liver": 34}[cell.data]
        assert all(0 < value < 1 for value in (cell.own, cell.rival, cell.clean))
    assert any("trec07p left out" in note for note in outcome.measured.notes)


def test_without_cleanlab_it_is_skipped(run, little, monkeypatch):
    monkeypatch.setitem(sys.modules, "cleanlab.filter", None)
    assert "pip install 'bblr[bench]'" in CLAIMS["audit"].run(run).skipped


def test_wins_are_counted_by_mean_precision(run, little, monkeypatch):
    def knowing(share):
        def ranking(X, y, seed, n_jobs=None):
            # Knows a share of the flips.
            flipped = np.flatnonzero(y != audit.load_audited(names[len(y)])[1])
            known = flipped[: int(share[names[len(y)]] * len(flipped))]
            others = np.setdiff1d(np.arange(len(y)), flipped)
            return Found(np.concatenate([known, others, flipped[len(known) :]]), len(known))

        return ranking

    names = {len(audit.load_audited(name)[1]): name for name in ("heart", "liver")}
    monkeypatch.setattr(audit, "own_ranking", knowing({"heart": 0.5, "liver": 0.5}))
    monkeypatch.setattr(audit, "rival_ranking", knowing({"heart": 0.5, "liver": 0.8}))
    outcome = CLAIMS["audit"].run(run)
    assert list(outcome.measured.figures.values()) == [0.5]
    assert outcome.missed
    cell = Cell(**outcome.measured.details["cells"][0])
    assert cell.own == pytest.approx(13 / 27)
    assert cell.own_named == (13, 1.0, pytest.approx(13 / 27))
