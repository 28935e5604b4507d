"""Saved models: what is written, and what is refused."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
from pathlib import Path

import pytest

from bblr._atomic import whole_file
from bblr.files import ModelFileError, load_model
from tests.files.conftest import bblr, fitted


@pytest.fixture
def saved(folder):
    return folder / fitted()


def rewritten(path: Path, payload: bytes | None = None, **changes) -> None:
    first, header, old = path.read_bytes().split(b"\n", 2)
    payload = old if payload is None else payload
    sums = {"bytes": len(payload), "sha256": hashlib.sha256(payload).hexdigest()}
    fresh = {**json.loads(header), **sums, **changes}
    path.write_bytes(first + b"\n" + json.dumps(fresh).encode() + b"\n" + payload)


def test_the_header_can_be_read_by_people(saved):
    first, header, _ = saved.read_bytes().split(b"\n", 2)
    assert first == b"bblr-model 1"
    stored = json.loads(header)
    assert stored["classifier"] == "BBLRClassifier"
    assert stored["classes"] == ["cat", "dog", "owl"]
    assert [column["name"] for column in stored["layout"]["columns"]][:2] == ["weight", "legs"]
    assert set(stored["versions"]) == {"bblr", "python", "numpy", "scipy", "scikit-learn"}


@pytest.mark.parametrize("cut", [0, 5, 13, 40, 900, -1])
def test_a_file_cut_short_is_refused(saved, cut):
    saved.write_bytes(saved.read_bytes()[:cut])
    with pytest.raises(ModelFileError, match=r"model\.bblr"):
        load_model(saved)


def test_a_flipped_byte_is_noticed(saved):
    content = bytearray(saved.read_bytes())
    content[-50] ^= 1
    saved.write_bytes(content)
    result = bblr("predict", saved, "test.csv")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("Error: MODEL cannot be used: ")
    assert "damaged" in result.stderr


class Evil:
    def __init__(self, call):
        self.call = call

    def __reduce__(self):
        return self.call


@pytest.mark.parametrize(
    "call",
    [
        (os.mkdir, ("harm",)),
        (eval, ("1",)),
        (getattr, (1, "real")),
        (load_model, (Path("model.bblr"),)),
    ],
)
def test_code_in_a_model_is_not_run(saved, call):
    rewritten(saved, pickle.dumps((Evil(call), None)))
    with pytest.raises(ModelFileError, match="no part of a model"):
        load_model(saved)
    assert not Path("harm").exists()


def test_a_pickle_that_is_no_model_is_refused(saved):
    rewritten(saved, pickle.dumps(("text", None)))
    with pytest.raises(ModelFileError, match="fit the model again"):
        load_model(saved)


def test_a_later_format_is_refused(saved):
    saved.write_bytes(saved.read_bytes().replace(b"bblr-model 1", b"bblr-model 2", 1))
    with pytest.raises(ModelFileError, match="install a later bblr"):
        load_model(saved)


def test_other_versions_are_warned_of(saved):
    header = json.loads(saved.read_bytes().split(b"\n", 2)[1])
    rewritten(saved, versions={**header["versions"], "bblr": "0.0.1", "python": "3.99"})
    result = bblr("predict", saved, "test.csv")
    assert result.exit_code == 0
    assert result.stderr.startswith("Warning: the model was fitted with bblr 0.0.1 (here ")
    assert "python" not in result.stderr


def test_a_table_is_no_model(folder):
    result = bblr("predict", "train.csv", "test.csv")
    assert result.exit_code == 2
    assert "is no model; name a file that bblr fit wrote" in result.stderr


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
