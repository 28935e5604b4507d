"""What the commands refuse: one line that names the column or option, and nothing written."""

from __future__ import annotations

import errno
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bblr.io.tables import blocks
from bblr.io.tables.delimited import DelimitedRows
from tests.cli.conftest import FAST, bblr, fitted


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def check_refusal(folder, arguments, *needles):
    before = contents(folder)
    result = bblr(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ") and result.stderr.count("\n") == 1
    for needle in needles:
        assert needle in result.stderr
    assert contents(folder) == before


NEW_FILES = {
    "missing": (lambda f: f.drop(columns="legs"), "no column 'legs'", "; add 'legs' ("),
    "misspelt": (lambda f: f.rename(columns={"legs": "leg"}), "rename 'leg' to 'legs'"),
    "one for another": (
        lambda f: f.rename(columns={"legs": "id"}),
        "no column 'legs' and has column 'id'",
        "add 'legs' and remove 'id' or",
    ),
    "several": (
        lambda f: f.drop(columns=["legs", "fur"]).assign(x=1, y=2),
        "no columns 'legs', 'fur' and has columns 'x', 'y', which",
    ),
    "extra": (lambda f: f.assign(id=1), "'id'", "does not know", "--ignore-extra"),
    "text for numbers": (lambda f: f.assign(legs="four"), "'legs'", "'four' in data row 1"),
    "flags for numbers": (lambda f: f.assign(legs=True), "'legs'", "true/false", "numbers"),
    "numbers for flags": (lambda f: f.assign(tame=f["weight"]), "'tame'", "true/false"),
    "text for flags": (lambda f: f.assign(tame="maybe"), "'tame'", "'maybe' in data row 1"),
    "unseen": (
        lambda f: f.assign(fur="none at all"),
        "'fur'",
        "'long', 'short'",
        "--unseen error",
    ),
    "infinite": (lambda f: f.assign(weight=[np.inf] * 70), "'weight'", "infinite"),
}


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("case", NEW_FILES)
def test_a_wrong_column_is_named(folder, monkeypatch, ending, case):
    monkeypatch.setattr(blocks, "_LEAST_ROWS", 8)
    monkeypatch.setattr(blocks, "_MOST_ROWS", 8)
    change, *needles = NEW_FILES[case]
    fitted()
    frame = change(pd.read_csv("test.csv"))
    if ending == "csv":
        frame.to_csv("new.csv", index=False)
    else:
        frame.to_parquet("new.parquet")
    arguments = ("predict", "model.bblr", f"new.{ending}", "--out", "out.csv")
    arguments += ("--unseen", "error")
    check_refusal(folder, arguments, "DATA", f"new.{ending}", *needles)


def test_numbers_in_a_text_column_of_parquet(folder):
    fitted()
    pd.read_csv("test.csv").assign(fur=1).to_parquet("new.parquet")
    check_refusal(
        folder,
        ("predict", "model.bblr", "new.parquet", "--unseen", "error"),
        "'fur' holds '1' in data row 1",
    )


def test_leniency(folder):
    fitted()
    frame = pd.read_csv("test.csv")
    frame.to_csv("new.csv", index=False)
    known = bblr("predict", "model.bblr", "new.csv").stdout
    frame.assign(id=range(70)).to_csv("new.csv", index=False)
    assert bblr("predict", "model.bblr", "new.csv", "--ignore-extra").stdout == known
    # Of two levels the first has no feature, so an unseen one counts as the first.
    frame.assign(fur="long").to_csv("new.csv", index=False)
    first = bblr("predict", "model.bblr", "new.csv").stdout
    frame.assign(fur="none").to_csv("new.csv", index=False)
    result = bblr("predict", "model.bblr", "new.csv")
    assert result.stdout == first
    assert "categories not seen in training in 'fur' (70)" in result.stderr


BAD_FILES = {
    "not there": (None, None, "there is no file"),
    "empty": ("new.csv", "", "empty"),
    "header only": ("new.csv", "weight,legs,fur,home,tame\n", "header but no rows"),
    "ragged": ("new.csv", "weight,legs,fur,home,tame\n1,2,long,1,True\n1,2\n", "line 3"),
    "unclosed quote": ("new.csv", 'weight,legs,fur,home,tame\n1,2,"long\n', "quotes"),
    "malformed parquet": ("new.parquet", "PAR1 nonsense", "not a sound Parquet file"),
    "svmlight": ("new.svm", "1 1:2\n", "named columns"),
}


@pytest.mark.parametrize("command", ["predict", "evaluate"])
@pytest.mark.parametrize(("name", "content", "needle"), BAD_FILES.values(), ids=BAD_FILES)
def test_a_bad_file_is_refused(folder, command, name, content, needle):
    fitted()
    if name is not None:
        (folder / name).write_text(content)
    if command == "evaluate" and name == "new.csv" and content:
        (folder / name).write_text(
            content.replace("tame", "tame,kind").replace("True", "True,owl")
        )
    check_refusal(folder, (command, "model.bblr", name or "new.csv"), "DATA", needle)


SVMLIGHT = {
    "extra feature": ("1 1:2 4:1\n", "index 4", "1 to 3"),
    "index 0": ("1 0:2 3:1\n", "index 0", "1 to 3"),
    "malformed": ("1 1:2\n# a\n1 x:2\n", "line 3"),
    "no rows": ("# nothing\n", "no rows"),
    "infinite": ("1 1:inf\n", "x1", "infinite"),
}


@pytest.mark.parametrize(("content", "needles"), [(c, n) for c, *n in SVMLIGHT.values()])
def test_bad_svmlight_is_refused(folder, content, needles):
    fitted("train.svm")
    (folder / "new.svm").write_text(content)
    check_refusal(folder, ("predict", "model.bblr", "new.svm"), "DATA", *needles)


def test_a_table_for_an_svmlight_model(folder):
    fitted("train.svm")
    check_refusal(folder, ("predict", "model.bblr", "test.csv"), "fitted to an svmlight file")
    arguments = ("evaluate", "model.bblr", "test.svm", "--target", "kind")
    check_refusal(folder, arguments, "--target", "svmlight")


def test_labels_the_model_does_not_know(folder):
    fitted()
    frame = pd.read_csv("test.csv")
    frame.assign(kind=["cat"] * 60 + ["yak"] * 10).to_csv("new.csv", index=False)
    arguments = ("evaluate", "model.bblr", "new.csv")
    check_refusal(folder, arguments, "'yak' in data row 61", "'cat', 'dog', 'owl'")
    frame.assign(kind=1).to_csv("new.csv", index=False)
    check_refusal(folder, arguments, "'1' in data row 1")
    frame.assign(kind=1).to_parquet("new.parquet")
    check_refusal(folder, ("evaluate", "model.bblr", "new.parquet"), "the label 1 in data row 1")
    (folder / "new.svm").write_text("5 1:2\n")
    fitted("train.svm")
    check_refusal(folder, ("evaluate", "model.bblr", "new.svm"), "label 5", "-1, 0, 7")


def test_the_target_of_an_evaluation(folder):
    fitted()
    frame = pd.read_csv("test.csv")
    same = bblr("evaluate", "model.bblr", "test.csv").stdout
    frame.rename(columns={"kind": "species"}).to_csv("new.csv", index=False)
    arguments = ("evaluate", "model.bblr", "new.csv")
    assert bblr(*arguments, "--target", "species").stdout == same
    refused = ("DATA", "no column 'kind', the target of the model (it has 'species'")
    check_refusal(folder, arguments, *refused, "by --target", "bblr predict")
    check_refusal(folder, (*arguments, "--target", "specie"), "did you mean 'species'")
    check_refusal(folder, (*arguments, "--target", "fur"), "is a feature of the model")


def test_missing_labels_of_a_later_block(folder, monkeypatch):
    monkeypatch.setattr(blocks, "_LEAST_ROWS", 8)
    monkeypatch.setattr(blocks, "_MOST_ROWS", 8)
    fitted()
    frame = pd.read_csv("test.csv")
    frame.assign(kind=frame["kind"].mask(frame.index.isin([20, 22]))).to_csv("new.csv")
    check_refusal(folder, ("evaluate", "model.bblr", "new.csv"), "DATA", "data rows 21, 23")


FIT_MISUSE = {
    "unknown classifier": (["--classifier", "LR"], "--classifier 'LR'", "BBLRClassifierCV"),
    "unknown parameter": (["--param", "l3=1"], "--param 'l3'", "gamma_max, gamma_min, l2"),
    "no value": (["--param", "l2"], "--param 'l2'", "NAME=VALUE"),
    "twice": (["--param", "l2=1", "--param", "l2=2"], "--param 'l2'", "twice"),
    "bad value": (["--param", "l2=-1"], "--param l2"),
    "bad text": (["--param", "prior=strange"], "--param prior"),
    "seed as parameter": (["--param", "random_state=1"], "--seed"),
    "negative seed": (["--seed", "-1"], "--seed"),
    "model suffix": (["--model", "model.pkl"], "--model", ".bblr"),
    "model folder": (["--model", "no/model.bblr"], "--model", "create 'no'"),
    "wrong target": (["--target", "kid"], "--target 'kid'", "did you mean 'kind'"),
    "target is a quantity": (["--target", "weight"], "DATA", "numbers that are not whole"),
    "two classes only": (["--classifier", "SLAClassifier"], "--classifier", "cannot be fitted"),
}


@pytest.mark.parametrize(("arguments", "needles"), [(a, n) for a, *n in FIT_MISUSE.values()])
def test_misuse_of_fit(folder, arguments, needles):
    base = ["fit", "train.csv", "--model", "model.bblr", "--classifier", "BBLRClassifier"]
    check_refusal(folder, [*base, *arguments], *needles)


def test_one_class_and_bad_data(folder):
    (folder / "one.csv").write_text("a,y\n1,x\n2,x\n")
    check_refusal(folder, ("fit", "one.csv", "--model", "m.bblr"), "DATA", "one class only")
    (folder / "gap.csv").write_text("a,b,y\n1,,x\n1,,z\n")
    check_refusal(folder, ("fit", "gap.csv", "--model", "m.bblr"), "no column is left", "'b'")
    arguments = ("fit", "gap.csv", "--model", "m.bblr", "--drop", "c")
    check_refusal(folder, arguments, "--drop 'c' is not a column")
    (folder / "bare.svm").write_text("1\n0\n1\n0\n")
    check_refusal(folder, ("fit", "bare.svm", "--model", "m.bblr"), "labels alone")
    check_refusal(folder, ("fit", "train.svm", "--model", "m.bblr", "--target", "y"), "--target")


def test_a_model_is_only_replaced_by_force(folder):
    fitted()
    arguments = ("fit", "train.csv", "--model", "model.bblr", *FAST)
    check_refusal(folder, arguments, "--model", "--force")
    assert bblr(*arguments, "--force").exit_code == 0


def test_misuse_of_predict(folder):
    fitted()
    base = ("predict", "model.bblr", "test.csv")
    check_refusal(folder, (*base, "--out", "test.csv"), "--out", "is read from")
    check_refusal(folder, (*base, "--out", "out.txt"), "--out", ".csv")
    check_refusal(folder, (*base, "--unseen", "skip"), "--unseen", "error, zero")
    check_refusal(folder, ("predict", "none.bblr", "test.csv"), "MODEL 'none.bblr'")
    frame = pd.read_csv("train.csv")
    frame[frame["kind"] != "owl"].to_csv("two.csv", index=False)
    sla = ("--classifier", "SLAClassifier", "--force")
    assert bblr("fit", "two.csv", "--model", "model.bblr", *sla).exit_code == 0
    check_refusal(folder, ("predict", "model.bblr", "two.csv", "--proba"), "--proba", "leave it")
    assert "log-loss" not in bblr("evaluate", "model.bblr", "two.csv").stdout


@pytest.mark.parametrize("command", ["fit", "predict", "evaluate"])
def test_a_full_disk_is_one_line_and_leaves_nothing(folder, monkeypatch, command):
    fitted()

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    arguments, option = {
        "fit": (("fit", "train.csv", "--model", "new.bblr", *FAST), "--model"),
        "predict": (("predict", "model.bblr", "test.csv", "--out", "out.csv"), "--out"),
        "evaluate": (("evaluate", "model.bblr", "test.csv", "--json", "out.json"), "--json"),
    }[command]
    before = contents(folder)
    result = bblr(*arguments)
    assert result.exit_code == 2
    assert f"Error: {option} cannot be written: No space left" in result.stderr
    assert contents(folder) == before


@pytest.mark.parametrize("command", ["fit", "predict"])
def test_interruption_leaves_nothing(folder, monkeypatch, command):
    fitted()
    before = contents(folder)

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("bblr.BBLRClassifier.fit", interrupt)
    monkeypatch.setattr("bblr.BBLRClassifier.predict", interrupt)
    arguments = {
        "fit": ("fit", "train.csv", "--model", "new.bblr", *FAST),
        "predict": ("predict", "model.bblr", "test.csv", "--out", "out.csv"),
    }[command]
    result = bblr(*arguments)
    assert result.exit_code == 130
    assert "Stopped; nothing was written." in result.stderr
    assert contents(folder) == before


def test_what_fit_tells(folder):
    result = bblr("fit", "train.csv", "--model", "model.bblr", *FAST, "--param", "prior=weak")
    assert "90 rows, 7 features, target 'kind'" in result.stdout
    assert "3 classes: cat (" in result.stdout
    assert re.search(r"l2 [0-9.]+, plateaus", result.stdout)
    assert "training errors (" in result.stdout
    assert result.stdout.splitlines()[-1] == "Wrote model.bblr"


@pytest.mark.parametrize("command", ["fit", "predict", "evaluate", "audit", "compare"])
def test_want_of_memory_is_told_in_one_line(folder, monkeypatch, command):
    def read(*_):
        raise MemoryError("Unable to allocate 44.7 GiB for an array")

    model = fitted()
    monkeypatch.setattr(DelimitedRows, "_taken", read)
    given = [model, "train.csv"] if command in ("predict", "evaluate") else ["train.csv"]
    result = bblr(command, *given, *(["--model", "new.bblr"] if command == "fit" else []))
    assert result.exit_code == 2
    assert result.stderr == (
        "Error: not enough memory: Unable to allocate 44.7 GiB for an array; take fewer rows, "
        "columns or classes\n"
    )
    assert not Path("new.bblr").exists()
