"""Dirty files: what the commands make of them, and what they say."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from bblr.io.tables import blocks
from tests.cli.conftest import FAST, bblr, fitted, make_frame


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(blocks, "_LEAST_ROWS", 8)
    monkeypatch.setattr(blocks, "_MOST_ROWS", 8)


def notes(result):
    assert result.exit_code == 0, result.stderr
    return [line for line in result.stderr.splitlines() if line.startswith("Note: ")]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_gaps_where_training_had_none_are_filled(folder, small_blocks, ending):
    fitted()
    train, frame = make_frame(90, 0), make_frame(70, 1)
    gaps = {"weight": [3, 41], "legs": [0], "fur": [69], "home": [12, 13], "tame": [5]}
    by_hand, gappy = frame.copy(), frame.astype({"legs": float, "tame": object})
    for name, rows in gaps.items():
        usual = train[name].mode()[0] if name in ("fur", "home") else train[name].median()
        by_hand[name] = by_hand[name].astype(gappy[name].dtype)
        by_hand.loc[rows, name] = usual if name != "tame" else bool(usual)
        gappy.loc[rows, name] = None
    by_hand = by_hand.astype({"tame": bool})
    answers = []
    for name, table in {"full": by_hand, "gappy": gappy}.items():
        path = f"{name}.{ending}"
        table.to_csv(path, index=False) if ending == "csv" else table.to_parquet(path)
        answers.append(bblr("predict", "model.bblr", path, "--proba"))
    assert answers[0].stdout == answers[1].stdout
    assert notes(answers[0]) == []
    (note,) = notes(answers[1])
    found = "'weight' (2), 'legs' (1), 'tame' (1), 'home' (2), 'fur' (1)"
    assert sorted(note.split("missing in ")[1].split(", where")[0].split(", ")) == sorted(
        found.split(", ")
    )
    assert notes(bblr("evaluate", "model.bblr", f"gappy.{ending}")) == [note]


def test_marks_of_gaps_mean_the_same_in_every_format(folder, small_blocks):
    frame = make_frame(90, 0)
    frame.loc[[4, 50], "home"] = "?"
    frame.to_csv("marks.csv", index=False)
    frame.to_parquet("marks.parquet")
    assert bblr("fit", "marks.csv", "--model", "marks.bblr", *FAST).exit_code == 0
    one, two = (bblr("predict", "marks.bblr", f"marks.{e}", "--proba") for e in ("csv", "parquet"))
    assert one.exit_code == 0 and one.stdout == two.stdout


def test_a_model_of_a_file_with_decimal_commas(folder, small_blocks):
    """It predicts the same for commas and points; new files tell by themselves."""
    make_frame(90, 0).to_csv("commas.csv", sep=";", decimal=",", index=False)
    result = bblr("fit", "commas.csv", "--model", "commas.bblr", *FAST)
    assert notes(result) == ["Note: decimal commas found in column 'weight'"]
    make_frame(70, 1).to_csv("new.csv", sep=";", decimal=",", index=False)
    fitted()
    expected = bblr("predict", "model.bblr", "test.csv").stdout
    for model in ("commas.bblr", "model.bblr"):
        for data in ("new.csv", "test.csv", "test.parquet"):
            assert bblr("predict", model, data).stdout == expected


def test_commas_of_a_new_file_that_may_be_of_thousands(folder, small_blocks):
    fitted()
    frame = make_frame(16, 1).assign(weight="1,250")
    frame.to_csv("new.csv", sep=";", index=False)
    result = bblr("predict", "model.bblr", "new.csv")
    assert result.exit_code == 2 and "'weight' holds '1,250' in data row 1" in result.stderr
    # Known by the training file, or by an earlier row.
    make_frame(90, 0).to_csv("commas.csv", sep=";", decimal=",", index=False)
    bblr("fit", "commas.csv", "--model", "commas.bblr", *FAST)
    told = bblr("predict", "commas.bblr", "new.csv")
    frame.assign(weight=["1,25"] * 8 + ["1,250"] * 8).to_csv("new.csv", sep=";", index=False)
    assert told.stdout == bblr("predict", "model.bblr", "new.csv").stdout != ""


def test_blanks_around_texts_and_letter_case(folder):
    frame = make_frame(90, 0)
    odd = frame.assign(fur=frame["fur"] + " ", kind=frame["kind"] + " ")
    for table, model in ((frame, "one.bblr"), (odd, "two.bblr")):
        table.to_csv("new.csv", index=False)
        assert notes(bblr("fit", "new.csv", "--model", model, *FAST)) == []
    odd.to_csv("new.csv", index=False)
    outputs = [bblr("evaluate", model, "new.csv").stdout for model in ("one.bblr", "two.bblr")]
    assert outputs[0] == outputs[1] != ""
    odd["kind"] = np.where(np.arange(90) % 2, frame["kind"], frame["kind"].str.upper())
    odd.to_csv("new.csv", index=False)
    (note,) = notes(bblr("fit", "new.csv", "--model", "three.bblr", *FAST))
    assert "'CAT' and 'cat'; 'DOG' and 'dog'; 'OWL' and 'owl'" in note


@pytest.mark.parametrize("command", ["fit", "audit", "compare", "zero-one"])
def test_a_column_that_numbers_the_rows(folder, command):
    frame = make_frame(90, 0)
    frame = frame[frame["kind"] != "owl"].reset_index(drop=True)
    frame.assign(no=range(len(frame)))[["no", "weight", "kind"]].to_csv("new.csv", index=False)
    options = {
        "fit": ("--model", "new.bblr", *FAST),
        "audit": (),
        "compare": ("--methods", "BBLR0", "--noise", 0, "--folds", 2, "--jobs", 1),
        "zero-one": ("--solvers", "sla"),
    }[command]
    (note,) = notes(bblr(command, "new.csv", *options))
    found = "'no' seems to number the rows and is left out; to keep it, use --number 'no'"
    assert note.endswith(found)


@pytest.mark.parametrize("command", ["fit", "audit", "compare"])
def test_labels_that_are_a_quantity(folder, command):
    pd.DataFrame({"a": range(20), "y": [1, 2.5] * 10}).to_csv("new.csv", index=False)
    options = ("--model", "new.bblr") if command == "fit" else ()
    result = bblr(command, "new.csv", *options)
    assert result.exit_code == 2 and result.stderr.count("\n") == 1
    assert "'y'" in result.stderr and "not whole (2.5)" in result.stderr
    assert "name the column with --target" in result.stderr


def test_a_class_with_a_single_row(folder):
    frame = make_frame(90, 0)
    frame.loc[7, "kind"] = "yak"
    frame.to_csv("new.csv", index=False)
    result = bblr("fit", "new.csv", "--model", "new.bblr")
    assert result.exit_code == 2 and result.stderr.count("\n") == 1
    assert "class 'yak' has a single row, data row 8" in result.stderr
    remedy = result.stderr.split("or give ")[1].split()
    assert bblr("fit", "new.csv", "--model", "new.bblr", *remedy).exit_code == 0
