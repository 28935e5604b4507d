from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from rich.console import Console
from typer.testing import CliRunner

from bblr.cli import app
from bblr.comparison import claims
from bblr.comparison.methods import Method
from bblr.comparison.records import read_records
from bblr.comparison.sources import EMBEDDED, load_table
from research.claims import CLAIMS, Claim, ClaimRun, embedded, research, zero_one
from research.core.targets import Bar, Measured, Unavailable

NAMES = {
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
            for name in EMBEDDED
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
    return ClaimRun(1, 1, 0, tmp_path / "records.jsonl", Console(quiet=True))


@pytest.fixture
def methods(monkeypatch):
    shares = {"LR": 0.4, "SVM": 0.36, "BBLR3": 0.2, "BBLR4": 0.3, "BBLR": 0.2}
    registry = weighted(shares)
    monkeypatch.setattr("bblr.comparison.methods.METHODS", registry)
    return registry


def bblr(*arguments):
    return CliRunner().invoke(app, ["claims", *map(str, arguments)])


def test_every_claim_has_a_name_and_bars():
    assert set(CLAIMS) == NAMES
    for name, claim in CLAIMS.items():
        assert claim.name == name and claim.description and claim.bars
        assert len({bar.figure for bar in claim.bars}) == len(claim.bars)


def test_list_names_every_claim_with_its_bars():
    result = bblr("--list")
    assert result.exit_code == 0
    for claim in CLAIMS.values():
        assert f"{claim.name}\n" in result.stdout
        assert all(f"{bar.figure} {bar.label}" in result.stdout for bar in claim.bars)


def test_clean_claim_is_worked_out_from_the_comparison(run, methods):
    outcome = CLAIMS["uci-clean"].run(run)
    assert outcome.failure == "" and outcome.measured is not None
    figures = outcome.measured.figures
    assert set(figures) == {bar.figure for bar in outcome.bars}
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
    assert set(figures) == {bar.figure for bar in outcome.bars}
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
    assert outcome.missed == list(outcome.bars)


def test_training_errors_are_counted_strictly(monkeypatch):
    class Zero:
        def __init__(self, **options: Any) -> None:
            assert options == {"prior": "empirical", "l2": 1e-3, "random_state": 3}

        def fit(self, X: Any, y: Any) -> Zero:
            np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-12)
            return self

        def decision_function(self, X: Any) -> Any:
            return np.zeros(len(X))

    monkeypatch.setattr("bblr.BBLRClassifier", Zero)
    assert embedded.training_errors(load_table("heart"), 3) == 270


def test_training_claim_takes_the_worst_seed(run, monkeypatch):
    monkeypatch.setattr(embedded, "training_errors", lambda table, seed: 70 - seed % 2)
    measured = CLAIMS["training-errors"].run(run).measured
    assert measured is not None
    assert list(measured.figures.values()) == [280]
    assert "seed 1: 69 + 69 + 69 + 69 = 276" in measured.notes


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
def quick_rivals(monkeypatch):
    def build(random_state: int, *, sparse: bool = False) -> Any:
        from sklearn.linear_model import LogisticRegression
        from sklearn.model_selection import GridSearchCV

        return GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=2)

    def mine(run: ClaimRun) -> dict[str, Any]:
        from bblr import BBLRClassifierCV

        return {"BBLRClassifierCV": BBLRClassifierCV(l2s=(1.0,), gamma_limit=2.0, cv=2)}

    monkeypatch.setattr(research, "_mine", mine)
    registry = {name: Method(name, name, "Stand-in.", build) for name in ("LR", "SVM")}
    monkeypatch.setattr("bblr.comparison.methods.METHODS", registry)


@pytest.mark.parametrize("name", sorted(RESEARCH))
def test_research_claims_run_on_little_data(run, home, quick_rivals, name):
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
            assert set(outcome.measured.figures) == {bar.figure for bar in CLAIMS[name].bars}
            json.dumps(outcome.as_record(), default=float)


def test_delivery_order_keeps_the_last_rows_for_testing(home):
    parts = research.trec07p(0, in_order=True)
    whole = np.load(home / "trec07p" / "y.npy")
    assert parts.y_test.tolist() == whole[160:].tolist()
    np.testing.assert_allclose(parts.X_train.mean(axis=0), 0, atol=1e-12)
    assert np.abs(parts.X_test.mean(axis=0)).max() > 1e-6
    shuffled = research.trec07p(0, in_order=False)
    assert shuffled.y_test.tolist() != parts.y_test.tolist()


@pytest.fixture
def fake_claims(monkeypatch):
    def missing(run: ClaimRun) -> Measured:
        raise Unavailable("set BBLR_DATA_HOME")

    bars = (Bar("error, %", "<=", 1.0),)
    fakes = {
        "kept": Claim("kept", "Keeps it.", bars, lambda run: Measured({"error, %": 0.5})),
        "lost": Claim("lost", "Misses it.", bars, lambda run: Measured({"error, %": 2.0})),
        "gone": Claim("gone", "Needs data.", bars, missing),
    }
    monkeypatch.setattr(claims, "CLAIMS", fakes)


def test_command_prints_figures_and_bars(fake_claims, tmp_path):
    path = tmp_path / "claims.json"
    result = bblr("--json", path, "--repeats", 3, "--seed", 5)
    assert result.exit_code == 0, result.stderr
    assert "0.5  ≤ 1       pass" in result.stdout and "2  ≤ 1       MISS" in result.stdout
    assert "gone: skipped: set BBLR_DATA_HOME" in result.stdout
    assert "1 of 2 figures pass; 1 skipped" in result.stdout
    record = json.loads(path.read_text(encoding="utf-8"))
    assert record["settings"] == {"seed": 5, "repeats": 3}
    assert "numpy" in record["versions"]
    assert [claim["name"] for claim in record["claims"]] == ["kept", "lost", "gone"]


def test_strict_decides_the_exit_status(fake_claims):
    assert bblr("lost").exit_code == 0
    assert bblr("lost", "--strict").exit_code == 1
    assert bblr("kept", "gone", "--strict").exit_code == 0


MISUSE = {
    "unknown": (["nothing"], "NAME 'nothing' is no claim; choose from kept, lost, gone"),
    "jobs": (["--jobs", 0], "--jobs must be at least 1, got 0"),
    "repeats": (["--repeats", 0], "--repeats must be at least 1, got 0"),
    "seed": (["--seed", -1], "--seed must be at least 0, got -1"),
    "json": (["--json", "no/such.json"], "--json must name a file in a folder that exists"),
    "records": (["--records", "notes.txt"], "does not end with a record"),
}


@pytest.mark.parametrize(("arguments", "message"), MISUSE.values(), ids=MISUSE)
def test_misuse_is_one_line(fake_claims, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("my notes")
    result = bblr(*arguments)
    assert result.exit_code == 2 and result.stdout == ""
    assert message in result.stderr and result.stderr.count("\n") == 1
