"""`bblr explain`: what columns add, where a decision turns, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bblr import BBLRClassifier
from bblr.io import SavedModel, load_model, save_model
from bblr.io.tables.blocks import Reader
from bblr.io.tables.table_layout import SvmlightLayout
from tests.cli.conftest import FAST, bblr, fitted, make_frame


def explained(*arguments):
    result = bblr("explain", *arguments, "--json", "found.json")
    assert result.exit_code == 0, result.stderr
    return json.loads(Path("found.json").read_text()), result.stdout


@pytest.fixture
def two(folder):
    frame = make_frame(120, 5)
    frame = frame[frame["kind"] != "dog"].reset_index(drop=True)
    frame.loc[3, "weight"] = None
    frame.to_csv("two.csv", index=False)
    result = bblr("fit", "two.csv", "--target", "kind", "--model", "two.bblr", *FAST)
    assert result.exit_code == 0, result.stderr
    return frame


@pytest.mark.parametrize("data", ["train.csv", "train.parquet", "train.svm", "two.csv"])
def test_parts_add_up_to_the_score(two, data):
    model = "two.bblr" if data == "two.csv" else fitted(data)
    found, told = explained(model, data, "--row", 4, "--row", 2)
    # Not log-odds of the probability in the line above, which plateaus cap.
    assert "\nscore +" in told and "log-odds" not in told
    assert [row["row"] for row in found["explained"]] == [4, 2]
    saved = load_model(model)
    block = next(Reader(saved.layout, "zero").blocks(Path(data)))
    decision = saved.decision_function(block.X)
    for row in found["explained"]:
        own = decision[row["row"] - 1]
        scores = np.sort([-own, own] if np.ndim(own) == 0 else own)
        scale = saved.classifier.link_.gamma * (0.5 if np.ndim(own) == 0 else 1.0)
        assert row["margin"] == pytest.approx(scale * (scores[-1] - scores[-2]))
        parts = sum(each["contribution"] for each in row["contributions"])
        assert row["average_margin"] + parts == pytest.approx(row["margin"])
        assert row["predicted"] == saved.predict(block.X)[row["row"] - 1]


def test_a_decision_turns_where_it_says(two):
    found, told = explained("two.bblr", "two.csv", "--row", 1, "--row", 8)
    for row in found["explained"]:
        (turn,) = [each for each in row["turning_points"] if each["column"] == "weight"]
        for off in (-1e-6, 1e-6):
            cells = two.iloc[[row["row"] - 1]].assign(weight=turn["then"] + off)
            cells.to_csv("moved.csv", index=False)
            moved, _ = explained("two.bblr", "moved.csv")
            assert abs(moved["explained"][0]["margin"]) < 1e-4
        assert f"it would be {row['runner_up']} at weight = {turn['then']:.4g}" in told


def test_the_weight_in_training_is_that_of_the_classifier(two):
    found, told = explained("two.bblr", "two.csv", "--row", 7)
    saved = load_model("two.bblr")
    block = next(Reader(saved.layout, "zero").blocks(Path("two.csv")))
    weights = saved.classifier.training_weights(block.X, two["kind"].to_numpy())
    (row,) = found["explained"]
    assert row["training_weight"] == pytest.approx(weights[6])
    assert row["label"] == two["kind"][6]
    assert f"it would count {weights[6]:.2f} of a row in training" in told


def test_rows_without_a_label_or_with_gaps(two):
    two.drop(columns="kind").to_csv("bare.csv", index=False)
    found, told = explained("two.bblr", "bare.csv", "--row", 4)
    (row,) = found["explained"]
    assert row["label"] is None and row["training_weight"] is None and "labelled" not in told
    assert {"column": "weight", "value": "missing"}.items() <= max(
        (each for each in row["contributions"] if each["column"] == "weight"), key=len
    ).items()
    assert all(turn["column"] != "weight" for turn in row["turning_points"])


def test_a_kernel_is_asked_column_by_column(two):
    kernel = ("--classifier", "KernelBBLRClassifier", "--model", "kernel.bblr")
    assert bblr("fit", "two.csv", "--target", "kind", *kernel).exit_code == 0
    found, told = explained("kernel.bblr", "two.csv")
    (row,) = found["explained"]
    assert not row["adds_up"] and "need not add up" in told
    # Weight tells them apart, and the sign is that of the class.
    assert row["contributions"][0]["column"] == "weight"
    assert row["contributions"][0]["contribution"] > 0
    assert found["coefficients"] == [] and row["turning_points"] == []
    assert "no coefficients" in bblr("explain", "kernel.bblr").stdout


def test_a_model_alone(two):
    found, told = explained("two.bblr")
    assert "explained" not in found
    saved = load_model("two.bblr")
    effects = np.abs(saved.classifier.coef_[0]) * saved.typical.spread
    names = np.array(saved.layout.feature_names)[np.argsort(-effects)]
    assert [each["feature"] for each in found["coefficients"]] == names.tolist()
    assert all(f"  {name}" in told for name in names)
    units = {each["feature"]: each["unit"] for each in found["coefficients"]}
    assert units["weight"] == "per unit"
    assert units["weight missing"] == units["fur=short"] == "if true"


@pytest.mark.parametrize(
    ("arguments", "needles"),
    [
        (("two.bblr", "--row", "3"), ("--row", "needs a file")),
        (("two.bblr", "two.csv", "--row", "0"), ("--row", "counts from 1")),
        (("two.bblr", "two.csv", "--row", "999"), ("--row 999 is not there", "rows")),
        (("two.bblr", "two.csv", "--top", "0"), ("--top", "at least 1")),
        (("two.bblr", "nothing.csv"), ("DATA cannot be used", "no file")),
        (("none.bblr",), ("MODEL 'none.bblr' cannot be read",)),
        (("old.bblr",), ("MODEL 'old.bblr'", "fit it again")),
        (("two.bblr", "--json", "found.txt"), ("--json", ".json")),
    ],
)
def test_what_is_refused(two, arguments, needles):
    classifier = BBLRClassifier().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    save_model(SavedModel(classifier, SvmlightLayout(1, False), rows=4), "old.bblr")
    result = bblr("explain", *arguments)
    assert result.exit_code == 2 and result.stdout == ""
    assert result.stderr.startswith("Error: ") and result.stderr.count("\n") == 1
    for needle in needles:
        assert needle in result.stderr


def test_many_classes_are_told_against_the_runner_up(folder):
    found, _ = explained(fitted(), "test.csv", "--row", 3)
    (row,) = found["explained"]
    probability = np.array(row["probability"])
    order = probability.argsort()[::-1]
    assert [row["predicted"], row["runner_up"]] == [found["classes"][k] for k in order[:2]]
    values = {each["column"]: each["value"] for each in row["contributions"]}
    assert values["fur"] == pd.read_csv("test.csv")["fur"][2]


def test_huge_numbers_stay_short(two):
    """A value of 1e300 was told by three hundred digits, or ended in a traceback."""
    row = two.head(1).assign(weight=1e300)
    row.to_csv("labelled.csv", index=False)
    row.drop(columns="kind").to_csv("huge.csv", index=False)
    result = bblr("explain", "two.bblr", "huge.csv", "--row", 1)
    assert result.exit_code == 0 and max(map(len, result.stdout.splitlines())) < 200
    result = bblr("explain", "two.bblr", "labelled.csv", "--row", 1)
    assert result.exit_code == 2 and "Error: DATA cannot be used: " in result.stderr
    result = bblr("predict", "two.bblr", "huge.csv", "--out", "one.csv")
    assert "1 row in" in result.stderr
