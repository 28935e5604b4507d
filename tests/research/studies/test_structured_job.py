"""``bblr structured`` and its claims: what is decided, printed, written and refused."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from typer.testing import CliRunner

from bblr.cli import app
from bblr.comparison.methods import Method
from bblr.comparison.records import read_records
from bblr.structured import Group
from research.claims import CLAIMS
from research.core.cases import Run
from research.studies import structured
from research.studies.structured import Decisions, Source, decide


def link(rng: np.random.Generator, n: int = 40) -> list[Group]:
    groups = []
    for k in range(n):
        labels = np.eye(3, dtype=int)[rng.integers(3)]
        X = 1.5 * labels[:, None] + rng.normal(size=(3, 2))
        pairs, similar = [[0, 1], [0, 2], [1, 2]], rng.random(3)
        groups.append(Group(X, None, pairs, similar, labels, [k, k + 1, k + 2]))
    return groups


@pytest.fixture
def little(monkeypatch, tmp_path):
    """Few pages, made-up records, and one quick classifier under three names."""

    def build(random_state: int, *, sparse: bool = False) -> Any:
        return LogisticRegression(C=0.5)

    registry = {name: Method(name, name, "Stand-in.", build) for name in structured.LOCALS}
    monkeypatch.setattr(structured, "METHODS", registry)
    structured.load_source.cache_clear()
    monkeypatch.setattr(structured, "PAGES", 40)
    monkeypatch.setattr(
        "bblr.datasets.fetch_entity_resolution",
        lambda name, **_: type("Bunch", (), {"groups": link(np.random.default_rng(0))}),
    )
    monkeypatch.setenv("BBLR_DATA_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def bblr(*arguments):
    return CliRunner().invoke(app, ["structured", *map(str, arguments)])


def test_table_and_record(little):
    result = bblr("amazon-google", "pages", "--jobs", 1, "--folds", 3, "--records", "out.jsonl")
    assert result.exit_code == 0, result.stderr
    text = result.stdout
    assert "amazon-google: 40 groups of 2 to 7, 120 candidates, clean" in text
    assert "pages (drawn faces): 40 groups" in text and "12 % outliers" in text
    for word in ("alone", "joint", "one-to-one", "BBLR4", "63.4", "81.5"):
        assert word in text
    records = list(read_records(little / "out.jsonl").values())
    assert len(records) == 2 * 3 * 3
    assert {record["outliers"] for record in records if record["data"] == "pages"} == {0.12}
    assert all(record["calibration"] for record in records)


def test_what_a_claim_keeps_of_decisions(little):
    found = decide(Run(), "amazon-google", ("LR", "BBLR4"), folds=3).record()
    ways = [row["way"] for row in found["rows"]]
    assert ways == ["alone", "joint", "one-to-one"] * 2 and found["condition"] == "clean"
    assert found["rows"][1]["group McNemar against alone"]["n10"] >= 0
    assert "group McNemar against LR" in found["rows"][4]
    assert len(found["calibrations"]["LR"]) == 3


def test_the_same_seed_gives_the_same_figures(little):
    runs = [
        decide(Run(seed), "pages", ("LR",), outliers=0.1, flips=0.1, folds=2) for seed in (3, 3, 4)
    ]
    right = [found.right["LR", "joint"][0] for found in runs]
    assert right[0].tolist() == right[1].tolist() != right[2].tolist()


def test_training_never_sees_test_groups_nor_flips_their_labels(little, monkeypatch):
    """Each group is decided once by a model fitted on others; the truth stays as it was."""
    seen: list[tuple[set[int], set[int]]] = []

    class Spy:
        def __init__(self, local, random_state):
            pass

        def fit(self, groups):
            self.train = {int(group.candidates[0]) for group in groups}
            self.flipped = sum(int(group.labels.sum() != 1) for group in groups)
            self.calibration_ = SimpleNamespace(slope=1.0)
            return self

        def predict(self, groups):
            seen.append((self.train, {int(group.candidates[0]) for group in groups}))
            assert self.flipped > 0
            return [group.labels for group in groups]

        predict_independent = decision_function = predict

    monkeypatch.setattr(structured, "JointModel", Spy)
    results = decide(Run(), "amazon-google", ("LR",), flips=0.2, folds=4)
    assert all(not train & test and len(train | test) == 40 for train, test in seen)
    assert results.accuracy("LR", "joint", "group") == 100.0


@pytest.fixture
def results():
    """Two groups of two; BBLR4 decides one more of them right than LR."""
    lr, mine = np.array([True, False, True, True]), np.array([True, True, True, True])
    none = np.zeros(4, dtype=bool)
    right = {
        ("LR", "alone"): [none],
        ("LR", "joint"): [lr],
        ("BBLR4", "alone"): [none],
        ("BBLR4", "joint"): [mine],
    }
    source = Source("pages", "pages (drawn faces)", link(np.random.default_rng(0), 2))
    return Decisions(source, "clean", right, [np.array([0, 2, 4])])


def test_members_and_groups_are_counted(results):
    assert results.accuracy("LR", "joint", "member") == 75.0
    assert results.accuracy("LR", "joint", "group") == 50.0
    assert results.correct("BBLR4", "joint", "group") == 2
    found = results.test(("BBLR4", "joint"), ("LR", "joint"), "group")
    assert (found.n01, found.n10) == (0, 1) and found.z == 1.0


def test_table_shows_both_tests_and_the_paper(results):
    last = results.frame().iloc[-1].tolist()
    assert last[:4] == ["BBLR4", "joint", "100.00", "100.00"] and last[-1] == "81.5"
    assert last[4].startswith("+1.4") and last[5].startswith("+1.0")


MISUSE = {
    "data": (["dblp"], "DATA 'dblp' is unknown; choose from dblp-acm, amazon-google, pages"),
    "methods": (["--methods", "SVM"], "--methods 'SVM' is unknown; choose from LR, BBLR3, BBLR4"),
    "folds": (["--folds", 1], "folds must be at least 2, got 1"),
    "repeats": (["--repeats", 0], "repeats must be at least 1, got 0"),
    "jobs": (["--jobs", 0], "jobs must be at least 1, got 0"),
    "seed": (["--seed", -1], "seed must be at least 0, got -1"),
    "outliers": (["--outliers", 0.5], "outliers must be at least 0 and below 0.5, got 0.5"),
    "flips": (["--flips", -0.1], "flips must be at least 0 and below 0.5, got -0.1"),
    "records": (["--records", "no/r.jsonl"], "records needs a folder that exists"),
}


@pytest.mark.parametrize(("arguments", "message"), MISUSE.values(), ids=MISUSE)
def test_misuse_is_one_line(tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    result = bblr(*arguments)
    assert result.exit_code == 2 and result.stdout == ""
    assert message in result.stderr and result.stderr.count("\n") == 1


def test_data_that_cannot_be_had_are_explained(tmp_path, monkeypatch):
    def missing(name, **options):
        raise OSError("train.txt could not be downloaded: no network; put it there")

    monkeypatch.setattr("bblr.datasets.fetch_entity_resolution", missing)
    result = bblr("dblp-acm", "--jobs", 1)
    assert result.exit_code == 2
    assert "Error: train.txt could not be downloaded" in result.stderr
    outcome = CLAIMS["structured-linkage"].run(Run(repeats=1))
    assert "could not be downloaded" in outcome.skipped


@pytest.mark.parametrize("name", ["structured-pages", "structured-linkage", "structured-flips"])
def test_claims_run_on_little_data(little, name):
    outcome = CLAIMS[name].run(Run(repeats=1))
    assert outcome.failure == "" and outcome.measured is not None
    assert {t.figure for t in CLAIMS[name].thresholds} <= set(outcome.measured.figures)
    json.dumps(outcome.as_record(), default=float)
    # Three names for one classifier: nobody can be ahead.
    ahead = [v for k, v in outcome.measured.figures.items() if " LR" in k and "BBLR4" in k]
    assert ahead and set(ahead) == {0.0}
