"""Saved models: what is written, and what is refused."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
from pathlib import Path

import numpy as np
import pytest

from bblr import BBLRClassifier, Plateaus, __version__
from bblr._atomic import whole_file
from bblr.io import ModelFileError, load_model, save_model
from tests.files.conftest import bblr, fitted


@pytest.fixture
def saved(folder):
    return folder / fitted()


def rewritten(path: Path, payload: bytes | None = None, **changes) -> None:
    _, header, old = path.read_bytes().split(b"\n", 2)
    payload = old if payload is None else payload
    rest = json.dumps({**json.loads(header), **changes}).encode() + b"\n" + payload
    sealed(path, rest)


def sealed(path: Path, rest: bytes) -> None:
    path.write_bytes(f"bblr-model 1 {hashlib.sha256(rest).hexdigest()}\n".encode() + rest)


def test_the_header_can_be_read_by_people(saved):
    first, header, _ = saved.read_bytes().split(b"\n", 2)
    assert first.startswith(b"bblr-model 1 ")
    stored = json.loads(header)
    assert stored["classifier"] == "BBLRClassifier"
    assert stored["classes"] == ["cat", "dog", "owl"]
    assert [column["name"] for column in stored["layout"]["columns"]][:2] == ["weight", "legs"]
    assert set(stored["versions"]) == {"bblr", "python", "numpy", "scipy", "scikit-learn"}


def test_a_path_may_be_text(saved):
    save_model(load_model(str(saved)), "again.bblr")
    assert load_model("again.bblr").layout == load_model(saved).layout


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


def test_a_later_format_is_refused(saved):
    saved.write_bytes(saved.read_bytes().replace(b"bblr-model 1", b"bblr-model 2", 1))
    with pytest.raises(ModelFileError, match="install a later bblr"):
        load_model(saved)


def versions_in(path: Path) -> dict[str, str]:
    return json.loads(path.read_bytes().split(b"\n", 2)[1])["versions"]


def test_other_versions_are_warned_of(saved):
    later = f"{__version__}.post1"
    rewritten(saved, versions={**versions_in(saved), "bblr": later, "python": "3.99"})
    result = bblr("predict", saved, "test.csv")
    assert result.exit_code == 0
    assert result.stderr.startswith(f"Warning: the model was fitted with bblr {later} (here ")
    assert "python" not in result.stderr


@pytest.mark.parametrize(
    ("version", "told"),
    [
        ("99.0.1", f"saved by bblr 99.0.1, which is later than bblr {__version__} here"),
        ("0.0.1", f"saved by bblr 0.0.1, and bblr {__version__} here reads those of 0.1"),
    ],
)
def test_models_of_other_minor_versions_are_refused(saved, version, told):
    rewritten(saved, versions={**versions_in(saved), "bblr": version})
    result = bblr("predict", saved, "test.csv")
    assert (result.exit_code, result.stdout) == (2, "")
    assert told in result.stderr and "fit the model again" in result.stderr


def test_the_model_itself_says_its_version(saved):
    # Whatever the header says.
    _, _, payload = saved.read_bytes().split(b"\n", 2)
    spoiled = payload.replace(__version__.encode(), b"9.9.9")
    assert spoiled != payload
    rewritten(saved, spoiled)
    with pytest.raises(ModelFileError, match=r"saved by bblr 9\.9\.9, which is later"):
        load_model(saved)


def test_what_could_not_be_loaded_is_not_saved(saved, tmp_path):
    model = load_model(saved)
    model.classifier.solver = Evil((os.mkdir, ("harm",)))
    with pytest.raises(ModelFileError, match=r"the classifier holds \w+\.mkdir"):
        save_model(model, tmp_path / "other.bblr")
    assert not (tmp_path / "other.bblr").exists() and not Path("harm").exists()


ODD = {
    "empty": b"",
    "a line": b"\n",
    "text": b"some text of a person\n",
    "a pickle": pickle.dumps([1, 2, 3]),
    "an archive": b"PK\x03\x04" + bytes(100),
    "zeros": bytes(5000),
    "magic alone": b"bblr-model",
    "no checksum": b"bblr-model 1\n{}\n",
    "format 0": b"bblr-model 0 00\n{}\n",
    "a long number": b"bblr-model " + b"9" * 5000,
    "no line": b"bblr-model 1 " + b"0" * 5000,
}


@pytest.mark.parametrize("content", ODD.values(), ids=ODD)
def test_other_files_are_refused(tmp_path, content):
    path = tmp_path / "model.bblr"
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=r"model\.bblr (is|has) "):
        load_model(path)


HEADERS = {
    "no JSON": b"{",
    "a list": b"[]",
    "empty": b"{}",
    "deep": b"[" * 100_000,
    "no layout": json.dumps({"rows": 3, "versions": {"bblr": __version__}}).encode(),
    "no version": json.dumps({"rows": 3, "layout": {}, "versions": {}}).encode(),
    "null": b'{"layout": null, "rows": null, "versions": null}',
}


@pytest.mark.parametrize("header", HEADERS.values(), ids=HEADERS)
def test_a_header_that_says_nothing_is_refused(saved, header):
    sealed(saved, header + b"\n" + saved.read_bytes().split(b"\n", 2)[2])
    with pytest.raises(ModelFileError, match="damaged"):
        load_model(saved)


PAYLOADS = {
    "nothing": b"",
    "text": pickle.dumps(("text", None)),
    "a number": pickle.dumps(3),
    "three": pickle.dumps((1, 2, 3)),
    "a prior": pickle.dumps((Plateaus.weak(), None)),
    "not fitted": pickle.dumps((BBLRClassifier(), None)),
    "a class": pickle.dumps((BBLRClassifier, None)),
}


@pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS)
def test_a_payload_that_is_no_classifier_is_refused(saved, payload):
    rewritten(saved, payload)
    with pytest.raises(ModelFileError, match="cannot be read here"):
        load_model(saved)


def damaged(content: bytes, rng: np.random.Generator) -> bytes:
    """Return the content cut, with bytes changed, dropped, doubled, or in another order."""
    spoiled = bytearray(content)
    # The lines that are read before the checksum is known get as much as the long payload.
    most = len(content) if rng.random() < 0.5 else 1200
    where = int(rng.integers(min(most, len(content))))
    match int(rng.integers(6)):
        case 0:
            return bytes(spoiled[:where])
        case 1:
            spoiled[where] ^= 1 << int(rng.integers(8))
        case 2:
            for place in rng.integers(len(spoiled), size=20):
                spoiled[place] = int(rng.integers(256))
        case 3:
            del spoiled[where : where + int(rng.integers(1, 50))]
        case 4:
            spoiled[where:where] = rng.bytes(int(rng.integers(1, 50)))
        case 5:
            spoiled[:] = spoiled[where:] + spoiled[:where]
    return bytes(spoiled)


def test_no_damage_goes_unnoticed(saved):
    content = saved.read_bytes()
    tried = 0
    for seed in range(1500):
        spoiled = damaged(content, np.random.default_rng(seed))
        if spoiled == content:
            continue
        saved.write_bytes(spoiled)
        with pytest.raises(ModelFileError, match=r"model\.bblr (is|has|was) "):
            load_model(saved)
        tried += 1
    assert tried > 1400


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
