"""Models of tables with dates, many levels, free text and ids: saved, loaded, applied."""

from __future__ import annotations

import gzip
import io
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from typer.testing import CliRunner

from bblr.cli import app
from bblr.io import load_model
from bblr.io.tables import blocks
from bblr.io.tables.blocks import Reader
from bblr.io.tables.training_table import ColumnChoices, read_training
from tests.cli.conftest import FAST, bblr
from tests.io.forging import changed, members, npy, packed, tree_of
from tests.io.test_forgeries import refusal

KINDS = {"number": "amount", "flag": "new", "category": "region", "date": "since", "text": "town"}


def shop(n, seed):
    rng = np.random.default_rng(seed)
    days = pd.Timestamp("2023-01-01") + pd.to_timedelta(rng.integers(0, 700, n), unit="D")
    town = rng.choice([f"{a}{b}" for a in ("North", "South") for b in range(60)], n)
    words = rng.choice(["late", "broken", "fine", "friendly", "cheap"], (n, 4))
    score = (town.astype("U5") == "North") + (words == "broken").sum(axis=1) + days.month / 6
    return pd.DataFrame(
        {
            "id": [f"c-{seed}-{i}" for i in range(n)],
            "amount": rng.normal(size=n).round(3),
            "new": rng.random(n) < 0.5,
            "region": rng.choice(["east", "mid", "west"], n),
            "since": days.strftime("%d.%m.%Y"),
            "town": town,
            "said": [" ".join(each) for each in words],
            "left": np.where(score + rng.normal(0, 0.3, n) > 2.3, "yes", "no"),
        }
    )


@pytest.fixture
def model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shop(300, 0).to_csv("train.csv", index=False)
    shop(80, 1).to_csv("test.csv", index=False)
    result = bblr("fit", "train.csv", "--model", "model.bblr", *FAST)
    assert result.exit_code == 0, result.stderr
    notes = result.stderr.splitlines()
    assert (
        "'id' has a different text in every row and is left out; to keep it, use --text 'id'"
        in notes[2]
    )
    assert "dates in column 'since' (%d.%m.%Y) became days, year, month, day, weekday" in notes[0]
    assert "columns 'town', 'said' treated as free text" in notes[1]
    assert notes[1].endswith("; --category 'town' makes a feature of each level")
    return Path("model.bblr")


def predicted(data):
    result = bblr("predict", "model.bblr", data, "--proba")
    assert result.exit_code == 0, result.stderr
    return pd.read_csv(io.StringIO(result.stdout)).iloc[:, 1:].to_numpy()


def test_a_loaded_model_predicts_as_in_memory(model, monkeypatch):
    table = read_training(Path("train.csv"), ColumnChoices("left"))
    saved = load_model(model)
    assert saved.layout.feature_names == table.layout.feature_names
    assert np.mean(saved.predict(table.X) == table.y) > 0.85
    assert_allclose(predicted("train.csv"), saved.predict_proba(table.X), rtol=1e-12)
    for rows in (1, 7):
        monkeypatch.setattr(blocks, "_LEAST_ROWS", rows)
        monkeypatch.setattr(blocks, "_MOST_ROWS", rows)
        assert_allclose(predicted("train.csv"), saved.predict_proba(table.X), rtol=1e-9)
    assert len(Path("model.bblr").read_bytes()) < 500_000


def test_every_format_predicts_the_same(model, monkeypatch):
    expected = predicted("test.csv")
    frame = pd.read_csv("test.csv")
    Path("test.csv.gz").write_bytes(gzip.compress(Path("test.csv").read_bytes()))
    frame.to_csv("wide.csv", index=False, encoding="utf-16", sep="\t")
    frame.to_feather("test.feather")
    real = frame.assign(since=pd.to_datetime(frame["since"], format="%d.%m.%Y"))
    real.to_parquet("real.parquet")
    files = ["test.csv.gz", "wide.csv", "test.feather", "real.parquet"]
    if find_spec("openpyxl"):
        real.to_excel("real.xlsx", index=False)
        files.append("real.xlsx")
    for file in files:
        assert_allclose(predicted(file), expected, rtol=1e-12)
        result = bblr("evaluate", "model.bblr", file)
        assert result.exit_code == 0 and "rows               80" in result.stdout
    arguments = ["predict", "model.bblr", "-", "--proba"]
    told = CliRunner().invoke(app, arguments, input=Path("test.csv").read_bytes())
    assert_allclose(pd.read_csv(io.StringIO(told.stdout)).iloc[:, 1:], expected, rtol=1e-12)


def test_new_texts_gaps_and_left_out_columns(model):
    frame = pd.read_csv("test.csv").drop(columns="id")
    frame.loc[:4, "town"] = "Nowhere at all"
    frame.loc[5:9, ["town", "said", "since", "amount"]] = None
    frame.to_csv("new.csv", index=False)
    result = bblr("predict", "model.bblr", "new.csv")
    assert result.exit_code == 0
    assert "'since' (5), 'town' (5), 'said' (5)" in result.stderr


WRONG = {
    "no date": ({"since": "soon"}, "'since' holds 'soon' in data row 1", "format %d.%m.%Y"),
    "another format": ({"since": "2024-02-01"}, "'2024-02-01' in data row 1", "learned dates"),
    "number for date": ({"since": 7.5}, "'7.5' in data row 1", "learned dates"),
    "text for number": ({"amount": "much"}, "'much' in data row 1", "learned numbers"),
    "unseen": ({"region": "south"}, "'south' in data row 1", "--unseen error"),
}


@pytest.mark.parametrize(("change", "needles"), [(c, n) for c, *n in WRONG.values()], ids=WRONG)
def test_what_a_column_did_not_hold_is_named(model, change, needles):
    pd.read_csv("test.csv").assign(**change).to_csv("new.csv", index=False)
    result = bblr("predict", "model.bblr", "new.csv", "--unseen", "error")
    assert result.exit_code == 2 and result.stderr.count("\n") == 1
    assert all(needle in result.stderr for needle in ("new.csv", *needles)), result.stderr


@pytest.mark.parametrize("command", ["fit", "audit", "compare"])
def test_columns_are_said_on_the_command_line(model, command):
    options = {
        "fit": ("--model", "new.bblr", *FAST),
        "audit": ("--in-sample",),
        "compare": ("--methods", "BBLR0", "--noise", 0, "--folds", 2, "--jobs", 1, "--repeats", 1),
    }[command]
    said = ("--target", "left", "--drop", "since,id", "--category", "town", "--text", "region")
    result = bblr(command, "train.csv", *options, *said)
    assert result.exit_code == 0, result.stderr
    assert "columns 'region', 'said' treated as free text" in result.stderr
    assert "a feature of each level" not in result.stderr
    assert "'since'" not in result.stderr and "left out" not in result.stderr
    result = bblr(command, "train.csv", *options, "--force", "--text", "toon")
    if command == "fit":
        assert "Error: --text 'toon' is not a column" in result.stderr


def test_several_files(model):
    frame = pd.read_csv("train.csv")
    frame[:100].to_csv("a.csv", index=False)
    frame[100:].to_parquet("b.parquet")
    result = bblr("fit", "a.csv", "b.parquet", "--target", "left", "--model", "new.bblr", *FAST)
    assert result.exit_code == 0, result.stderr
    expected = predicted("test.csv")
    Path("new.bblr").replace("model.bblr")
    assert_allclose(predicted("test.csv"), expected, rtol=1e-9)


def test_audit_keeps_the_columns_of_the_file(model):
    result = bblr("audit", "train.csv", "--target", "left", "--in-sample", "--with-columns")
    assert result.exit_code == 0, result.stderr
    assert list(pd.read_csv("audit.csv"))[5:] == list(shop(1, 0))[:-1]


COLUMNS = ("model", "params", "layout", "params", "columns", "tuple")
FORGED = {
    "an unknown part": ("since", ("parts", "tuple", 0), "century"),
    "a part twice": ("since", ("parts", "tuple", 0), "year"),
    "a format": ("since", ("form",), "%Q\x1b"),
    "fewer medians": ("since", ("fill",), {"tuple": [1.0]}),
    "no medians": ("since", ("fill", "tuple", 0), {"float": "nan"}),
    "text of nothing": ("town", ("learned",), None),
    "text of levels": ("town", ("learned",), {"tuple": ["a", "b"]}),
    "text of another type": ("town", ("learned", "type"), "Scaling"),
    "an array too few": ("town", ("learned", "params", "idf"), {"array": 99}),
    "a median that is none": ("amount", ("fill",), {"float": "inf"}),
    "an unknown kind": ("new", ("kind",), "category"),
}


def place(content, name):
    tree = tree_of(content)
    for step in COLUMNS:
        tree = tree[step]
    (found,) = [k for k, each in enumerate(tree) if each["params"]["name"] == name]
    return (*COLUMNS, found, "params"), tree[found]["params"]


def test_forged_columns_are_refused(model):
    content = model.read_bytes()
    for column, steps, value in FORGED.values():
        forged = changed(content, *place(content, column)[0], *steps, to=value)
        assert "is not a sound model" in refusal(forged, Path("forged.bblr"))


def test_forged_text_features_are_refused(model):
    content = model.read_bytes()
    learned = place(content, "town")[1]["learned"]["params"]
    arrays = {key: f"arrays/{learned[key]['array']}.npy" for key in learned}
    held = {key: np.load(io.BytesIO(members(content)[name])) for key, name in arrays.items()}
    spoiled = [
        ("buckets", held["buckets"][::-1]),
        ("buckets", held["buckets"] + 2**14),
        ("buckets", held["buckets"] - held["buckets"][0] - 1),
        ("buckets", held["buckets"][1:]),
        ("buckets", held["buckets"].astype(float)),
        ("idf", held["idf"] * np.nan),
        ("idf", held["idf"][:0]),
        ("components", held["components"][1:]),
        ("components", held["components"].astype(np.float64)),
        ("components", held["components"].reshape(30, -1)),
        ("components", held["components"][: len(held["idf"])]),
        ("components", np.where(held["components"] > 0, np.inf, 0).astype(np.float32)),
    ]
    for key, array in spoiled:
        forged = packed({**members(content), arrays[key]: npy(array)})
        assert "is not a sound model" in refusal(forged, Path("forged.bblr"))


def test_memory_of_blocks_with_texts(model):
    reader = Reader(load_model(model).layout, rows=50)
    sizes = [block.X.shape for block in reader.blocks(Path("train.csv"))]
    assert sizes == [(50, load_model(model).layout.n_features)] * 6
