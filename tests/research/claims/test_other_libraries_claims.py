"""The claims about other libraries, on little data."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sklearn.datasets import load_iris

from bblr.datasets import load_uci
from research.claims import CLAIMS, boosting, networks
from research.core.cases import Run


def outcome(name: str) -> Any:
    found = CLAIMS[name].run(Run())
    assert found.failure == "" and found.measured is not None
    json.dumps(found.as_record())
    return found


@pytest.fixture
def little(monkeypatch):
    """Two small tables in the place of all."""
    pytest.importorskip("lightgbm")
    pytest.importorskip("xgboost")

    def problems(seed: int) -> Any:
        yield "heart", *load_uci("heart", return_X_y=True), None
        yield "iris", *load_iris(return_X_y=True), None

    monkeypatch.setattr(boosting, "problems", problems)
    monkeypatch.setattr(boosting.tables, "load", lambda name: load_iris(return_X_y=True))
    monkeypatch.setattr(boosting, "SETS", {"two": ("iris",), "many": ()})
    monkeypatch.setattr(boosting, "FOLDS", 1)
    monkeypatch.setattr(boosting, "MOST_ROUNDS", 20)


@pytest.fixture
def small_nets(monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setattr(networks, "ROWS", 4)
    monkeypatch.setattr(networks, "NETS", 1)
    monkeypatch.setattr(networks, "EPOCHS", 1)
    monkeypatch.setattr(networks, "FLIPS", (0.0, 0.2, 0.4))


@pytest.mark.parametrize("name", ["boosting-log-loss", "boosting-saved"])
def test_boosting_claims_are_met(little, name):
    assert outcome(name).missed == []


def test_another_loss_is_noticed(little, monkeypatch):
    own = boosting.log_loss_step

    def wrong(*arguments: Any) -> Any:
        gradient, curvature = own(*arguments)
        return gradient, 1.001 * curvature

    monkeypatch.setattr(boosting, "log_loss_step", wrong)
    missed = set(outcome("boosting-log-loss").missed)
    assert len(missed) == 3 and not any("its own" in name for name in missed)


def test_noise_is_reported_for_each_library(little):
    found = outcome("boosting-noise")
    assert found.missed == []
    assert len(found.measured.figures) == 12
    assert len(found.measured.details["cells"]) == 36


@pytest.mark.parametrize("name", ["torch-derivatives", "torch-halves"])
def test_torch_claims_are_met(small_nets, name):
    assert outcome(name).missed == []


def test_wrong_derivatives_are_noticed(small_nets, monkeypatch):
    import torch

    own = torch.func.grad
    monkeypatch.setattr(torch.func, "grad", lambda loss: lambda s: 1.001 * own(loss)(s))
    assert outcome("torch-derivatives").missed


def test_digits_claim_compares_the_losses(small_nets):
    found = outcome("torch-digits")
    assert len(found.measured.figures) == 2
    assert len(found.measured.details["cells"]) == 3 * len(networks.LOSSES)
