"""Model files: what is written, and what is refused."""

from __future__ import annotations

import io
import json
import os
import pickle
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest

from bblr import BBLRClassifier, Plateaus, __version__
from bblr._atomic import whole_file
from bblr.io import ModelFileError, load_model, save_model
from tests.cli.conftest import bblr, fitted
from tests.io.forging import JSON, changed, members, packed, spoiled_bytes, tree_of


@pytest.fixture
def saved(folder):
    return folder / fitted()


def test_the_header_can_be_read_by_people(saved):
    tree = json.loads(ZipFile(saved).read("model.json"))
    assert tree["format"] == 1 and tree["written_by"] == f"bblr {__version__}"
    model = tree["model"]["params"]
    assert model["classifier"]["type"] == "BBLRClassifier"
    assert model["classifier"]["fitted"]["classes_"] == {"texts": ["cat", "dog", "owl"]}
    columns = model["layout"]["params"]["columns"]["tuple"]
    assert [column["params"]["name"] for column in columns][:2] == ["weight", "legs"]
    versions = {name for name, _ in model["versions"]["dict"]}
    assert versions == {"bblr", "python", "numpy", "scipy", "scikit-learn"}


def test_numpy_and_zip_read_the_file(saved):
    coef = load_model(saved).classifier.coef_
    with ZipFile(saved) as file:
        assert file.testzip() is None
        number = tree_of(saved.read_bytes())["model"]["params"]["classifier"]["fitted"]["coef_"]
        again = np.load(io.BytesIO(file.read(f"arrays/{number['array']}.npy")))
    assert np.array_equal(again, coef)


def test_equal_models_are_equal_files(saved):
    save_model(load_model(str(saved)), "again.bblr")
    assert Path("again.bblr").read_bytes() == saved.read_bytes()


def test_a_file_cut_short_is_refused(saved):
    content = saved.read_bytes()
    for cut in {*range(0, 200), *range(200, len(content), 37), len(content) - 1}:
        saved.write_bytes(content[:cut])
        with pytest.raises(
            ModelFileError, match=r"model\.bblr is (not a model|damaged or cut short)"
        ):
            load_model(saved)


def test_a_flipped_byte_is_noticed(saved):
    content = bytearray(saved.read_bytes())
    content[len(content) // 2] ^= 1
    saved.write_bytes(content)
    result = bblr("predict", saved, "test.csv")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("Error: MODEL cannot be used: ")
    assert "damaged" in result.stderr and result.stderr.count("\n") == 1


def test_no_damage_goes_unnoticed(saved):
    content = saved.read_bytes()
    tried = 0
    for seed in range(1000):
        spoiled = spoiled_bytes(content, np.random.default_rng(seed))
        if spoiled == content:
            continue
        saved.write_bytes(spoiled)
        with pytest.raises(
            ModelFileError, match=r"model\.bblr is (not a model|damaged or cut short)"
        ):
            load_model(saved)
        tried += 1
    assert tried > 950


def test_a_later_format_is_refused(saved):
    saved.write_bytes(changed(saved.read_bytes(), "format", to=2))
    with pytest.raises(ModelFileError, match=r"has format 2.* install a later bblr"):
        load_model(saved)


def with_version(path: Path, version: str) -> None:
    content = path.read_bytes()
    pairs = [["bblr", version], ["python", "3.99"]]
    path.write_bytes(changed(content, "model", "params", "versions", to={"dict": pairs}))


@pytest.mark.parametrize("version", [f"{__version__}.post1", "99.0.1"])
def test_other_versions_are_warned_of(saved, version):
    with_version(saved, version)
    result = bblr("predict", saved, "test.csv")
    assert result.exit_code == 0
    assert result.stderr.startswith(f"Warning: the model was fitted with bblr {version} (here ")
    assert "python" not in result.stderr


class Own:
    """A solver of a user."""

    def minimise(self, *_, **__):
        os.mkdir("harm")


def test_what_could_not_be_loaded_is_not_saved(saved, tmp_path):
    model = load_model(saved)
    model.classifier.solver = Own()
    with pytest.raises(ModelFileError, match=r"solver: it holds an object of type Own; .*joblib"):
        save_model(model, tmp_path / "other.bblr")
    assert not (tmp_path / "other.bblr").exists()


def test_fit_says_what_a_file_cannot_hold(folder):
    options = ("--classifier", "BBLRClassifierCV", "--param", "l2s={0.1, 1.0}")
    result = bblr("fit", "train.csv", "--model", "new.bblr", *options)
    assert result.exit_code == 2 and not Path("new.bblr").exists()
    assert "--model cannot be written: " in result.stderr and "type set" in result.stderr


def test_estimators_without_columns_are_for_python(saved):
    save_model(load_model(saved).classifier, "alone.bblr")
    assert load_model("alone.bblr").n_features_in_ > 0
    result = bblr("predict", "alone.bblr", "test.csv")
    assert result.exit_code == 2 and result.stderr.count("\n") == 1
    assert "knows no columns; name a file that bblr fit wrote" in result.stderr


ODD = {
    "empty": b"",
    "a line": b"\n",
    "text": b"some text of a person\n",
    "a pickle": pickle.dumps([1, 2, 3]),
    "an archive": b"PK\x03\x04" + bytes(100),
    "an empty archive": b"PK\x05\x06" + bytes(18),
    "another archive": packed({"a.txt": b"a"})[:-71],
    "a sealed archive": packed({"a.txt": b"a"}),
    "no member": packed({}),
    "zeros": bytes(5000),
    "a file of before": b"bblr-model 1 " + b"0" * 64 + b"\n{}\n",
}


@pytest.mark.parametrize("content", ODD.values(), ids=ODD)
def test_other_files_are_refused(tmp_path, content):
    path = tmp_path / "model.bblr"
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=r"model\.bblr is .*(name|copy|fit|trust)") as told:
        load_model(path)
    assert "\n" not in str(told.value)


TEXTS = {
    "no JSON": b"{",
    "no text": b"\xff\xfe",
    "a list": b"[]",
    "empty": b"{}",
    "deep": b"[" * 100_000,
    "deeper": b'{"tuple":' * 50_000,
    "no model": b'{"format": 1, "written_by": "bblr"}',
    "no format": b'{"written_by": "bblr", "model": null}',
    "format 0": b'{"format": 0, "written_by": "bblr", "model": null}',
    "format true": b'{"format": "1", "written_by": "bblr", "model": null}',
    "null": b'{"format": 1, "written_by": "bblr", "model": null}',
    "more": b'{"format": 1, "written_by": "bblr", "model": null, "run": "me"}',
    "twice": b'{"format": 1, "written_by": "bblr", "model": 1, "model": null}',
    "NaN": b'{"format": 1, "written_by": "bblr", "model": NaN}',
    "a long number": b'{"format": 1, "written_by": "", "model": ' + b"9" * 9999 + b"}",
    "a class": b'{"format": 1, "written_by": "", "model": {"type": "BBLRClassifier"}}',
    "not fitted": b'{"format": 1, "written_by": "", "model": '
    b'{"type": "BBLRClassifier", "params": {}, "fitted": {}}}',
    "a prior": b'{"format": 1, "written_by": "", "model": '
    b'{"type": "Plateaus", "params": {"low": [0.1, 0.1]}}}',
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_texts_that_hold_no_model_are_refused(saved, text):
    saved.write_bytes(packed({**members(saved.read_bytes()), JSON: text}))
    with pytest.raises(ModelFileError, match=r"is not a sound model \(.*\); do not trust it"):
        load_model(saved)


@pytest.mark.parametrize("model", [BBLRClassifier(), Plateaus.weak(), None, 3, "text", object()])
def test_only_fitted_models_are_saved(tmp_path, model):
    with pytest.raises(ModelFileError, match="the model cannot be saved: it "):
        save_model(model, tmp_path / "model.bblr")
    assert not list(tmp_path.iterdir())


def test_a_table_is_no_model(folder):
    result = bblr("predict", "train.csv", "test.csv")
    assert result.exit_code == 2
    assert "is not a model; name a file that bblr fit or save_model wrote" in result.stderr


def test_a_file_is_whole_or_not_there(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("before")

    def fail():
        with whole_file(path) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]
    assert path.read_text() == "before"
