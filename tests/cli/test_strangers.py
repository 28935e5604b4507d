"""Ten strangers' files through every command: nothing is refused, and every output is checked."""

from __future__ import annotations

import json
import re
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bblr.io import load_model
from research.studies.strangers import STRANGERS
from tests.cli.conftest import bblr

# What fit must say of each: parts of its notes and warnings.
SAID = {
    "churn": ("'joined' (ISO8601) became days", "'city' treated as free text",
              "'customer' has a different text in every row",
              "class 'yes' is rare (34 rows, 5.7 %)"),
    "european": ("read as Windows (cp1252)", "decimal commas found in columns 'Druck'"),
    "utf-16": (),
    "gz": ("'unit' has only one value",),
    "xlsx": ("'Date' (ISO8601) became days", "'Invoice' seems to number the rows"),
    "wide parquet": (),
    "ten classes": (),
    "id, dates, text": ("'opened' (%d/%m/%Y %H:%M) became days", "'message' treated as free text",
                        "'ticket' has a different text in every row"),
    "leakage": ("column 'closing_reason' alone determines the class",),
    "1 % positives": ("class 1 is rare (15 rows, 1.0 %)",),
}  # fmt: skip
WARNED = {"churn": ["rare"], "leakage": ["leakage"], "1 % positives": ["rare"]}


@pytest.fixture(scope="module", params=STRANGERS)
def case(request, tmp_path_factory):
    """A stranger's file in a folder of its own, with a model of it."""
    stranger = STRANGERS[request.param]
    if stranger.name.endswith("xlsx") and find_spec("openpyxl") is None:
        pytest.skip("needs openpyxl")
    folder = tmp_path_factory.mktemp("stranger")
    train, new = stranger.written(folder)
    model = folder / "model.bblr"
    result = bblr(
        "fit", train, "--target", stranger.target, "--model", model, "--json", folder / "fit.json"
    )
    assert result.exit_code == 0, result.stderr
    return request.param, stranger, folder, train, new, result


def record(folder, command):
    found = json.loads((folder / f"{command}.json").read_text())
    assert found["command"] == command
    return found


def test_fit(case):
    name, stranger, folder, _, _, result = case
    said = " ".join(result.stderr.split())
    for part in SAID[name]:
        assert part in said
    told = [line for line in result.stderr.splitlines() if line.startswith(("Note", "Warning"))]
    assert len(told) == len(SAID[name])
    found = record(folder, "fit")
    assert [caution["kind"] for caution in found["warnings"]] == WARNED.get(name, [])
    assert found["rows"] == stranger.rows == found["held_out"]["rows"]
    assert found["held_out"]["error"] < found["held_out"]["majority"]["error"]
    assert found["held_out"]["auc"] > 0.8
    assert 0 < len(found["coefficients"]) <= 10
    # No feature is made of rounding errors, whose weights would be huge.
    assert max(abs(each["coefficient"] or 0.0) for each in found["coefficients"]) < 1e3


def test_predict_and_evaluate(case):
    _name, stranger, folder, _, new, _ = case
    out = folder / "scored.csv"
    result = bblr("predict", folder / "model.bblr", new, "--proba", "--out", out)
    assert result.exit_code == 0, result.stderr
    assert "values are missing in" in result.stderr
    unseen = "categories not seen in training in" in result.stderr
    assert unseen == (stranger.category is not None)
    scored = pd.read_csv(out)
    proba = scored.iloc[:, 1:].to_numpy()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    classes = load_model(folder / "model.bblr").classes
    labels = scored["label"].to_numpy().astype(classes.dtype)
    np.testing.assert_array_equal(labels, classes[proba.argmax(axis=1)])
    result = bblr("evaluate", folder / "model.bblr", new, "--json", folder / "evaluate.json")
    assert result.exit_code == 0, result.stderr
    found = record(folder, "evaluate")
    assert found["rows"] == len(scored) == 60
    assert sum(map(sum, found["confusion"])) == 60
    made = np.array(found["confusion"]).sum(axis=0)
    assert made.tolist() == [int((labels == label).sum()) for label in classes]
    assert found["auc"] > 0.75


def test_audit(case):
    _name, stranger, folder, train, _, _ = case
    out = folder / "audit.csv"
    result = bblr("audit", train, "--target", stranger.target, "--out", out,
                  "--json", folder / "audit.json")  # fmt: skip
    assert result.exit_code == 0, result.stderr
    table = pd.read_csv(out)
    assert list(table) == ["row", "label", "suggested", "probability", "against"]
    assert sorted(table["row"]) == list(range(1, stranger.rows + 1))
    assert (table["label"] != table["suggested"]).all()
    assert table["probability"].is_monotonic_decreasing
    found = record(folder, "audit")
    # Nobody has flipped a label.
    assert found["wrong_labels"] <= 0.02 * stranger.rows
    assert len(found["suspects"]) == found["wrong_labels"]
    page = (folder / "audit.html").read_text(encoding="utf-8")
    assert page.count("<section>") == 5 and "src=" not in page and "href=" not in page


def test_explain(case):
    _name, stranger, folder, _, new, _ = case
    result = bblr("explain", folder / "model.bblr", new, "--row", 6, "--row", 20,
                  "--json", folder / "explain.json")  # fmt: skip
    assert result.exit_code == 0, result.stderr
    for row in record(folder, "explain")["explained"]:
        parts = [each["contribution"] for each in row["contributions"]]
        assert sum(parts) == pytest.approx(row["margin"] - row["average_margin"], abs=1e-6)
        assert row["margin"] >= 0 and 0 <= row["training_weight"] <= 1
        assert {each["column"] for each in row["contributions"]} <= set(
            stranger.make(np.random.default_rng(0), 40).columns
        )
        assert f"data row {row['row']}: {row['predicted']}, probability" in result.stdout


def test_compare(case, monkeypatch):
    _name, stranger, folder, train, _, _ = case
    monkeypatch.chdir(folder)
    few = ("--methods", "LR,BBLR0", "--folds", 2, "--repeats", 1, "--jobs", 1, "--noise", 0)
    result = bblr("compare", Path(train).name, "--target", stranger.target, *few)
    assert result.exit_code == 0, result.stderr
    assert (folder / "report.html").stat().st_size > 5_000
    assert "BBLR0" in result.stdout
    # The numbered features of a text mean nothing one by one.
    assert not re.search(r"\w text \d", (folder / "report.html").read_text(encoding="utf-8"))
