from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from typer.testing import CliRunner

from bblr.cli import app
from bblr.comparison.methods import Method
from bblr.comparison.records import read_records
from bblr.comparison.sources import load_table
from bblr.datasets import UCI_NAMES
from research import claims
from research.claims import CLAIMS, embedded, held_out, zero_one
from research.core.cases import Case, Measured, Run, Unavailable
from research.core.thresholds import Threshold

NAMES = {
    "verdict-files",
    "verdict-coverage",
    "training-errors",
    "uci-clean",
    "uci-noisy",
    "web8",
    "web8-leak-free",
    "web8-default",
    "trec07p-random",
    "trec07p-delivery",
    "zero-one-search",
    "zero-one-published",
    "zero-one-proof",
    "zero-one-web8",
    "kernel-uci",
    "kernel-uci-noisy",
    "kernel-growth",
    "kernel-centres",
    "many-classes",
    "structured-pages",
    "structured-linkage",
    "structured-flips",
    "onnx",
    "audit",
    "boosting-log-loss",
    "boosting-saved",
    "boosting-noise",
    "torch-derivatives",
    "torch-halves",
    "torch-digits",
    "encoding",
}
RESEARCH = {name for name in NAMES if name.startswith(("web8", "trec07p"))}


def weighted(shares: dict[str, float]) -> dict[str, Method]:
    """Methods that err on a known share of the test rows, the same rows for a smaller share."""

    def method(name: str, share: float) -> Method:
        def build(random_state: int, *, sparse: bool = False) -> Any:
            return Liar(share)

        return Method(name, name, f"Stand-in for {name}.", build)

    return {name: method(name, share) for name, share in shares.items()}


class Liar:
    """Knows the embedded data by heart, and errs on the first rows of what it is asked."""

    def __init__(self, share: float) -> None:
        self.share = share

    def fit(self, X: Any, y: Any) -> Liar:
        self.answers = {
            tuple(x): int(label)
            for name in UCI_NAMES
            for x, label in zip(load_table(name).X.tolist(), load_table(name).y, strict=True)
        }
        return self

    def predict(self, X: Any) -> Any:
        right = np.array([self.answers.get(tuple(x), 0) for x in np.asarray(X).tolist()])
        wrong = np.arange(len(right)) < round(self.share * len(right))
        return np.where(wrong, 1 - right, right)

    def predict_proba(self, X: Any) -> Any:
        positive = np.where(self.predict(X) == 1, 0.9, 0.1)
        return np.column_stack([1 - positive, positive])


@pytest.fixture
def run(tmp_path):
    return Run(repeats=1, records=tmp_path / "records.jsonl")


@pytest.fixture
def methods(monkeypatch):
    shares = {"LR": 0.4, "SVM": 0.36, "BBLR3": 0.2, "BBLR4": 0.3, "BBLR": 0.2}
    registry = weighted(shares)
    monkeypatch.setattr("bblr.comparison.methods.METHODS", registry)
    return registry


def bblr(*arguments):
    return CliRunner().invoke(app, ["claims", *map(str, arguments)])


def test_every_claim_has_a_name_and_thresholds():
    assert set(CLAIMS) == NAMES
    for name, claim in CLAIMS.items():
        assert claim.name == name and claim.description and claim.thresholds
        assert len({t.figure for t in claim.thresholds}) == len(claim.thresholds)


def test_list_names_every_claim_with_its_thresholds():
    result = bblr("--list")
    assert result.exit_code == 0
    for claim in CLAIMS.values():
        assert f"{claim.name} ({claim.theme})\n" in result.stdout
        assert all(f"{t.figure} {t.label}" in result.stdout for t in claim.thresholds)


def test_clean_claim_is_worked_out_from_the_comparison(run, methods):
    outcome = CLAIMS["uci-clean"].run(run)
    assert outcome.failure == "" and outcome.measured is not None
    figures = outcome.measured.figures
    assert set(figures) == {t.figure for t in outcome.case.thresholds}
    assert figures["BBLR3, total, errors % below LR"] == pytest.approx(50, abs=2)
    assert figures["BBLR4, total, errors % below SVM"] == pytest.approx(100 / 6, abs=2)
    excess = figures["BBLR3 on pima, points above the better of LR and SVM"]
    assert excess == pytest.approx(-16, abs=1)
    assert outcome.missed == []
    assert len(read_records(run.records)) == 5 * 4 * 5
    assert any(line.startswith("BBLR3") for line in outcome.measured.notes)
    json.dumps(outcome.as_record())


def test_noisy_claim_covers_both_protocols(run, methods):
    outcome = CLAIMS["uci-noisy"].run(run)
    assert outcome.failure == "" and outcome.measured is not None
    figures = outcome.measured.figures
    assert set(figures) == {t.figure for t in outcome.case.thresholds}
    gains = [
        figures[f"BBLR4, {where}, errors % below LR"]
        for where in (*embedded.PROTOCOLS, embedded.BOTH)
    ]
    assert gains == pytest.approx([25, 25, 25], abs=2)
    # LR errs wherever BBLR4 does, so every row on which they differ counts for BBLR4.
    one = figures["BBLR4, uniform-random, McNemar z against LR"]
    assert one == pytest.approx(np.sqrt(0.1 * 2066), rel=0.05)
    assert figures["BBLR4, both protocols, McNemar z against LR"] == pytest.approx(
        np.sqrt(2) * one
    )
    assert figures["BBLR4, uniform-one-class, sets with lower log-loss than LR"] == 4
    assert any("as in the paper" in line for line in outcome.measured.notes)


def test_a_failing_fit_fails_the_claim(run, methods, failing):
    methods["BBLR3"] = failing
    outcome = CLAIMS["uci-clean"].run(run)
    assert "20 of 100 fits failed" in outcome.failure
    assert outcome.missed == [t.figure for t in outcome.case.thresholds]


def test_training_claim_takes_the_worst_seed(run, monkeypatch):
    class Fixed:
        def __init__(self, random_state: int) -> None:
            self.share = random_state % 2

        def fit(self, X: Any, y: Any) -> Fixed:
            return self

        def predict(self, X: Any) -> Any:
            return np.zeros(len(X), dtype=int)

        def decision_function(self, X: Any) -> Any:
            return np.full(len(X), -float(self.share))  # a score of 0 is an error

    def build(random_state: int, *, sparse: bool = False) -> Any:
        return Fixed(random_state)

    monkeypatch.setattr(embedded, "TRAINER", Method("fixed", "Fixed", "", build))
    measured = CLAIMS["training-errors"].run(run).measured
    assert measured is not None
    assert list(measured.figures.values()) == [683 + 270 + 345 + 768]
    assert "seed 0: 683 + 270 + 345 + 768 = 2066" in measured.notes or any(
        note.startswith("seed 1: 683") for note in measured.notes
    )


def test_many_classes_are_compared_on_the_same_rows(run, monkeypatch):
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB

    models = {"LR": GaussianNB(), "BBLR": LogisticRegression(max_iter=2000, C=0.01)}

    def method(name: str) -> Method:
        return Method(name, name, "", lambda random_state, *, sparse=False: models[name])

    monkeypatch.setattr("bblr.comparison.methods.METHODS", {name: method(name) for name in models})
    monkeypatch.setattr(embedded, "MANY_SETS", ("iris", "wine"))
    outcome = CLAIMS["many-classes"].run(run)
    assert outcome.failure == "" and outcome.measured is not None
    cells = outcome.measured.details["cells"]
    assert len(cells) == 2 * 4 * 5 * 2
    errors = {
        name: sum(c["errors"] for c in cells if (c["method"], c["noise"]) == (name, "clean"))
        for name in models
    }
    figure = outcome.measured.figures["clean: errors / LR's"]
    assert figure == pytest.approx(errors["BBLR"] / max(errors["LR"], 1))
    # More errors than LR is a negative z.
    noisy = outcome.measured.figures
    assert (noisy["noisy: errors / LR's"] < 1) == (noisy["noisy: pooled McNemar z"] > 0)


@pytest.fixture
def home(tmp_path, monkeypatch, trust):
    """Research data in little."""
    rng = np.random.default_rng(0)
    (tmp_path / "web8").mkdir()
    monkeypatch.setattr("bblr.datasets.web8._FEATURES", 12)
    for name, n in (("w8a", 150), ("w8a.t", 60)):
        X = rng.random((n, 12)) < 0.4
        X[:, 0] = True
        y = np.where(X[:, 1] ^ (rng.random(n) < 0.1), 1, -1)
        rows = (
            f"{label:+d} " + " ".join(f"{j + 1}:1" for j in np.flatnonzero(x))
            for x, label in zip(X, y, strict=True)
        )
        (tmp_path / "web8" / name).write_text("\n".join(rows) + "\n")
    (tmp_path / "trec07p").mkdir()
    counts = rng.poisson(2, size=(200, 6)).astype(np.int32) + np.int32(1)
    sp.save_npz(tmp_path / "trec07p" / "X.npz", sp.csr_matrix(counts))
    labels = np.where(counts[:, 0] + rng.normal(size=200) > 3, 1, -1).astype(np.int8)
    np.save(tmp_path / "trec07p" / "y.npy", labels)
    trust("web8", tmp_path)
    trust("trec07p", tmp_path)
    monkeypatch.setenv("BBLR_DATA_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def quick_methods(monkeypatch):
    def build(random_state: int, *, sparse: bool = False) -> Any:
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression()

    names = ("LR", "SVM", "BBLR", "BBLR0")
    registry = {name: Method(name, name, "Stand-in.", build) for name in names}
    monkeypatch.setattr("research.paper.library.METHODS", registry)


@pytest.mark.parametrize("name", sorted(RESEARCH))
def test_research_claims_run_on_little_data(run, home, quick_methods, name):
    outcome = CLAIMS[name].run(run)
    assert outcome.failure == "" and outcome.measured is not None
    record = outcome.as_record()
    assert record["details"]["n_test"] == {"web8": 60, "trec07": 40}[name[:6].split("-")[0]]
    assert record["details"]["seed"] == 0
    json.dumps(record, default=float)


@pytest.mark.parametrize("name", sorted(RESEARCH))
def test_research_claims_are_skipped_without_data(run, tmp_path, monkeypatch, name):
    monkeypatch.setenv("BBLR_DATA_HOME", str(tmp_path))
    outcome = CLAIMS[name].run(run)
    assert "BBLR_DATA_HOME" in outcome.skipped and not outcome.failure


def test_zero_one_claims_run_in_little_time(run, home, monkeypatch):
    for name in ("SEARCH_SECONDS", "PUBLISHED_SECONDS", "PROOF_SECONDS", "WEB8_SECONDS"):
        monkeypatch.setattr(zero_one, name, 0.2)
    monkeypatch.setattr(zero_one, "SEEDS", (0,))
    for name in sorted(NAMES):
        if name.startswith("zero-one"):
            outcome = CLAIMS[name].run(run)
            assert outcome.failure == "" and outcome.measured is not None
            assert set(outcome.measured.figures) == {t.figure for t in CLAIMS[name].thresholds}
            json.dumps(outcome.as_record(), default=float)


def test_delivery_order_keeps_the_last_rows_for_testing(home):
    table = held_out.load("trec07p-delivery")
    whole = np.load(home / "trec07p" / "y.npy")
    assert table.y[table.test].tolist() == (whole[160:] > 0).astype(int).tolist()
    assert held_out.load("trec07p-random").test.tolist() != table.test.tolist()


@pytest.fixture
def fake_claims(monkeypatch):
    def missing(run: Run) -> Measured:
        raise Unavailable("set BBLR_DATA_HOME")

    limits = (Threshold("error, %", "<=", 1.0),)
    fakes = {
        "kept": Case("kept", "Keeps it.", limits, lambda run: Measured({"error, %": 0.5})),
        "lost": Case("lost", "Misses it.", limits, lambda run: Measured({"error, %": 2.0})),
        "gone": Case("gone", "Needs data.", limits, missing),
    }
    monkeypatch.setattr(claims, "CLAIMS", fakes)


def test_command_prints_figures_and_thresholds(fake_claims, tmp_path):
    path = tmp_path / "claims.json"
    result = bblr("--json", path, "--repeats", 3, "--seed", 5)
    assert result.exit_code == 0, result.stderr
    lines = [line.split() for line in result.stdout.splitlines()]
    assert ["error,", "%", "0.5", "≤", "1", "met"] in lines
    assert ["error,", "%", "2", "≤", "1", "missed"] in lines
    assert "gone: skipped: set BBLR_DATA_HOME" in result.stdout
    assert "1 met, 1 missed, 1 not run." in result.stdout
    record = json.loads(path.read_text(encoding="utf-8"))
    (stamp,) = record["runs"].values()
    assert stamp["settings"] == {"quick": False, "seed": 5, "repeats": 3}
    assert "numpy" in stamp["versions"]
    assert list(record["cases"]) == ["kept", "lost", "gone"]


def test_strict_decides_the_exit_status(fake_claims):
    assert bblr("lost").exit_code == 0
    assert bblr("lost", "--strict").exit_code == 1
    assert bblr("kept", "gone", "--strict").exit_code == 0


MISUSE = {
    "unknown": (["nothing"], "NAME 'nothing' is no case; choose from kept, lost, gone"),
    "jobs": (["--jobs", 0], "--jobs must be at least 1, got 0"),
    "repeats": (["--repeats", 0], "--repeats must be at least 1, got 0"),
    "seed": (["--seed", -1], "--seed must be at least 0, got -1"),
    "json": (["--json", "no/such.json"], "--json needs a folder that exists"),
    "records": (["--records", "notes.jsonl"], "does not end with a record"),
}


@pytest.mark.parametrize(("arguments", "message"), MISUSE.values(), ids=MISUSE)
def test_misuse_is_one_line(fake_claims, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.jsonl").write_text("my notes")
    result = bblr(*arguments)
    assert result.exit_code == 2 and result.stdout == ""
    assert message in result.stderr and result.stderr.count("\n") == 1
