"""The claim about label audits, on little data."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from research.claims import CLAIMS, audit
from research.core.cases import Run
from research.studies import audit as study
from research.studies.audit import Found


@pytest.fixture
def run():
    return Run(repeats=2)


@pytest.fixture
def little(monkeypatch):
    """Two small sets, the large one missing."""
    monkeypatch.setattr(audit, "DATA", ("heart", "liver", audit.LARGE))
    monkeypatch.setenv("BBLR_DATA_HOME", "/nowhere")


def test_the_claim_runs(run, little):
    pytest.importorskip("cleanlab")
    outcome = CLAIMS["audit"].run(run)
    assert outcome.failure == "" and outcome.measured is not None
    cells = outcome.measured.details["cells"]
    assert [cell["data"] for cell in cells] == ["heart", "heart", "liver", "liver"]
    for cell in cells:
        assert cell["flips"] == {"heart": 27, "liver": 34}[cell["data"]]
        assert all(0 < cell[who] < 1 for who in ("own", "baseline", "clean"))
    assert any("trec07p left out" in note for note in outcome.measured.notes)


def test_without_cleanlab_it_is_skipped(run, little, monkeypatch):
    monkeypatch.setitem(sys.modules, "cleanlab.filter", None)
    assert "pip install 'bblr[bench]'" in CLAIMS["audit"].run(run).skipped


def test_wins_are_counted_by_mean_precision(run, little, monkeypatch):
    def known(share, y):
        """Rank a share of the flips first and the others last."""
        name = names[len(y)]
        flipped = np.flatnonzero(y != study.load_audited(name)[1])
        first = flipped[: int(share[name] * len(flipped))]
        others = np.setdiff1d(np.arange(len(y)), flipped)
        return Found(np.concatenate([first, others, flipped[len(first) :]]), len(first))

    def own(model, X, y, random_state):
        found = known({"heart": 0.5, "liver": 0.5}, y)
        nothing = np.zeros(len(y), dtype=bool)
        return SimpleNamespace(
            ranking=found.ranking, n_errors=found.named, indices=[], wrong_plateau=nothing,
            probability=np.zeros(len(y)),
        )  # fmt: skip

    names = {len(study.load_audited(name)[1]): name for name in ("heart", "liver")}
    monkeypatch.setattr(audit, "cleanlab", lambda: None)
    monkeypatch.setattr(study, "find_label_errors", own)
    monkeypatch.setattr(
        study, "baseline_ranking", lambda X, y, *_: known({"heart": 0.5, "liver": 0.8}, y)
    )
    outcome = CLAIMS["audit"].run(run)
    assert outcome.failure == ""
    assert list(outcome.measured.figures.values()) == [0.5]
    assert outcome.missed
    cell = outcome.measured.details["cells"][0]
    assert cell["own"] == pytest.approx(13 / 27) and cell["own named"] == 13
