"""Forged model files, sealed: each is refused in one line, and none runs anything.

Whatever loads all the same must predict without a crash; those tests run in a process of their
own, where a crash is a failed test.
"""

from __future__ import annotations

import copy
import io
import os
import subprocess
import sys
import tempfile
import warnings
from functools import cache
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED

import numpy as np
import pytest
import scipy.sparse as sp

from bblr import BBLRClassifier, KernelBBLRClassifier
from bblr.io import ModelFileError, load_model, save_model
from bblr.io.registry import TYPES
from bblr.structured import JointModel
from tests.files.conftest import bblr
from tests.files.conftest import fitted as fitted_file
from tests.files.forging import (
    JSON,
    changed,
    forged,
    members,
    npy,
    packed,
    sealed,
    tree_of,
    with_tree,
)
from tests.interchange.models import fitted, rows
from tests.interchange.test_skops import groups

ROOT = Path(__file__).resolve().parents[2]


@cache
def content_of(model: str) -> bytes:
    """The file of a fitted model."""
    if model == "joint":
        return saved(JointModel(BBLRClassifier(), random_state=0).fit(groups()))
    name, _, sparse = model.partition(" | ")
    return saved(fitted(name, text=True, sparse=bool(sparse)))


def saved(model: Any) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.bblr")
        save_model(model, path)
        return path.read_bytes()


def refusal(content: bytes, path: Path) -> str:
    path.write_bytes(content)
    with pytest.raises(ModelFileError) as told:
        load_model(path)
    message = str(told.value)
    assert "\n" not in message and "fit the model again" in message
    return message


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.bblr"


LINEAR, KERNEL, SPARSE = "linear", "kernel, rbf", "kernel, rbf | sparse"
FITTED = ("model", "fitted")
VALUES: dict[str, tuple[str, tuple[Any, ...], Any]] = {
    "a foreign type": (LINEAR, ("model", "type"), "os.system"),
    "a type by its module": (LINEAR, ("model", "type"), "bblr.linear.classifier.BBLRClassifier"),
    "a type that is no text": (LINEAR, ("model", "type"), ["BBLRClassifier"]),
    "a foreign type inside": (LINEAR, (*FITTED, "link_", "type"), "Popen"),
    "another type inside": (LINEAR, (*FITTED, "link_"), {"type": "LBFGS", "params": {}}),
    "a class": (LINEAR, (*FITTED, "__class__"), "JointModel"),
    "a dictionary": (LINEAR, (*FITTED, "__dict__"), {"dict": []}),
    "a method": (LINEAR, (*FITTED, "predict"), "me"),
    "a private name": (LINEAR, (*FITTED, "_many"), False),
    "an unknown attribute": (LINEAR, (*FITTED, "extra_"), 1),
    "an unknown parameter": (LINEAR, ("model", "params", "extra"), 1),
    "a dunder as parameter": (LINEAR, ("model", "params", "__init__"), 1),
    "a fitted link": (LINEAR, (*FITTED, "link_", "fitted"), {"gamma": 1.0}),
    "more than its parts": (LINEAR, ("model", "state"), {}),
    "parameters in a list": (LINEAR, ("model", "params"), []),
    "a tag that is unknown": (LINEAR, (*FITTED, "coef_"), {"pickle": 0}),
    "two tags": (LINEAR, (*FITTED, "coef_"), {"array": 0, "scalar": 1}),
    "no tag": (LINEAR, (*FITTED, "coef_"), {}),
    "no array": (LINEAR, (*FITTED, "coef_"), {"array": 99}),
    "an array by its path": (LINEAR, (*FITTED, "coef_"), {"array": "../../etc/passwd"}),
    "an array before the first": (LINEAR, (*FITTED, "coef_"), {"array": -1}),
    "an array twice": (LINEAR, (*FITTED, "coef_"), {"array": 1}),
    "a list for an array": (LINEAR, (*FITTED, "coef_"), [[1.0] * 5]),
    "features below one": (LINEAR, (*FITTED, "n_features_in_"), 0),
    "more features": (LINEAR, (*FITTED, "n_features_in_"), 6),
    "features without end": (LINEAR, (*FITTED, "n_features_in_"), 10**30),
    "half a feature": (LINEAR, (*FITTED, "n_features_in_"), 5.0),
    "one class": (LINEAR, (*FITTED, "classes_"), {"texts": ["a"]}),
    "classes in disorder": (LINEAR, (*FITTED, "classes_"), {"texts": ["b", "a"]}),
    "a class twice": (LINEAR, (*FITTED, "classes_"), {"texts": ["a", "a"]}),
    "more classes": (LINEAR, (*FITTED, "classes_"), {"texts": ["a", "b", "c"]}),
    "a class of half a letter": (LINEAR, (*FITTED, "classes_"), {"texts": ["a", "\ud800"]}),
    "classes that are objects": (LINEAR, (*FITTED, "classes_"), {"objects": ["a", {"array": 0}]}),
    "a link of no sharpness": (LINEAR, (*FITTED, "link_", "params", "gamma"), {"float": "nan"}),
    "a link of text": (LINEAR, (*FITTED, "link_", "params", "gamma"), "1"),
    "a link of many classes": ("many", (*FITTED, "classes_"), {"texts": ["a", "b", "c", "d"]}),
    "a history of text": (LINEAR, (*FITTED, "path_"), ["stage"]),
    "a history of links": (LINEAR, (*FITTED, "path_"), [{"type": "LBFGS", "params": {}}]),
    "an unknown kernel": (KERNEL, (*FITTED, "_function", "params", "name"), "os.system"),
    "a kernel without width": (KERNEL, (*FITTED, "_function", "params", "gamma"), 0.0),
    "a kernel elsewhere": (KERNEL, (*FITTED, "_function", "params", "name"), "precomputed"),
    "evidence of text": ("joint", (*FITTED, "evidence_"), "none"),
    "a calibration of infinity": (
        "joint", (*FITTED, "calibration_", "params", "slope"), {"float": "inf"},
    ),
    "a local model that is not fitted": (
        "joint", (*FITTED, "local_"), {"type": "BBLRClassifier", "params": {}},
    ),
    "a local model of groups": (
        "joint", (*FITTED, "local_"), {"type": "JointModel", "params": {}, "fitted": {}},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", VALUES)
def test_values_that_training_does_not_make_are_refused(name, path):
    model, place, value = VALUES[name]
    told = refusal(changed(content_of(model), *place, to=value), path)
    assert "is no sound model" in told


def test_classes_that_are_not_finite_are_refused(path):
    X, y = np.arange(4.0)[:, None], np.array([0.0, 0.0, 1.0, 1.0])
    content = saved(BBLRClassifier().fit(X, y))
    number = tree_of(content)["model"]["fitted"]["classes_"]["array"]
    for classes in ([0.0, np.inf], [np.nan, 1.0], [1.0, 0.0], [0.0]):
        forged = {**members(content), f"arrays/{number}.npy": npy(np.array(classes))}
        refusal(packed(forged), path)


@pytest.mark.parametrize("model", [LINEAR, KERNEL, SPARSE, "many", "zero-one", "joint"])
def test_nothing_that_is_needed_may_be_missing(model, path):
    tree = tree_of(content_of(model))
    kind = TYPES[tree["model"]["type"]]
    for name in kind.needed.split():
        forged = tree_of(content_of(model))
        del forged["model"]["fitted"][name]
        assert "is no sound model" in refusal(with_tree(content_of(model), forged), path)


def number_of(model: str, *place: Any) -> str:
    """The name of the member that an attribute's array is."""
    found = tree_of(content_of(model))
    for step in (*FITTED, *place):
        found = found[step]
    return f"arrays/{found}.npy"


def with_array(model: str, place: tuple[Any, ...], array: Any) -> bytes:
    name = number_of(model, *place)
    new = array if isinstance(array, bytes) else npy(array)
    return packed({**members(content_of(model)), name: new})


def array_at(model: str, *place: Any) -> Any:
    return np.load(io.BytesIO(members(content_of(model))[number_of(model, *place)]))


def header(shape: str, descr: str = "'<f8'") -> bytes:
    """The beginning of an array that promises a shape."""
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}"
    text = text.ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


COEF = ("coef_", "array")
ARRAYS: dict[str, Any] = {
    "NaN": [[np.nan, 1, 1, 1, 1]],
    "infinity": [[np.inf, 1, 1, 1, 1]],
    "too few": np.ones((1, 4)),
    "too many": np.ones((2, 5)),
    "flat": np.ones(5),
    "deep": np.ones((1, 5, 1)),
    "whole numbers": np.ones((1, 5), dtype=np.int64),
    "single precision": np.ones((1, 5), dtype=np.float32),
    "complex": np.ones((1, 5), dtype=complex),
    "objects": np.array([[print] + [1.0] * 4], dtype=object),
    "text": np.array([["a"] * 5]),
    "records": np.zeros((1, 5), dtype=[("a", "f8")]),
    "dates": np.zeros((1, 5), dtype="M8[s]"),
    "bytes": b"text",
    "nothing": b"",
    "a header alone": header("(1, 5)"),
    "a promise of memory": header("(1, 1152921504606846976)") + bytes(40),
    "a promise beyond 64 bits": header("(4611686018427387904, 4, 5)") + bytes(40),
    "a negative promise": header("(-1, -5)") + bytes(40),
    "numbers of no length": header("(1, 5)", "'|V0'"),
    "arrays in arrays": header("(1,)", "('<f8', (5,))") + bytes(40),
    "a call": header("print(1)") + bytes(40),
    "a header without end": b"\x93NUMPY\x01\x00\xff\xff" + b"(" * 65535,
    "another version": b"\x93NUMPY\x02\x00" + header("(1, 5)")[8:],
}


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_that_training_does_not_make_are_refused(name, path):
    assert "is no sound model" in refusal(with_array(LINEAR, COEF, ARRAYS[name]), path)


# data, indices and row pointers of two rows and three columns
BAD_ROWS: dict[str, tuple[list[float], list[int], list[int]]] = {
    "a column beyond the last": ([1.0, 1.0], [0, 3], [0, 1, 2]),
    "a column far beyond": ([1.0, 1.0], [0, 2**31 - 1], [0, 1, 2]),
    "a column before the first": ([1.0, 1.0], [-1, 0], [0, 1, 2]),
    "pointers beyond the entries": ([1.0, 1.0], [0, 1], [0, 1, 9]),
    "pointers that fall": ([1.0, 1.0], [0, 1], [0, 9, 2]),
    "pointers that fall without entries": ([], [], [0, 9, 0]),
    "pointers from elsewhere": ([1.0, 1.0], [0, 1], [1, 1, 2]),
    "negative pointers": ([1.0, 1.0], [0, 1], [0, -5, 2]),
    "too few pointers": ([1.0, 1.0], [0, 1], [0, 2]),
    "too many pointers": ([1.0, 1.0], [0, 1], [0, 1, 2, 2]),
    "fewer entries than columns": ([1.0], [0, 1], [0, 1, 2]),
    "NaN": ([1.0, np.nan], [0, 1], [0, 1, 2]),
}


@cache
def sparse_content() -> bytes:
    """A model of two support vectors of three columns."""
    model = KernelBBLRClassifier().fit(sp.csr_array([[0.0, 1, 0], [2.0, 0, 0]]), [0, 1])
    return saved(model)


def with_rows(data: Any, indices: Any, pointers: Any, kind: str = "int32") -> bytes:
    tree = tree_of(sparse_content())
    _, *numbers = tree["model"]["fitted"]["support_vectors_"]["csr_array"]
    parts = members(sparse_content())
    new = (np.array(data, dtype=float), np.array(indices, kind), np.array(pointers, kind))
    for number, array in zip(numbers, new, strict=True):
        parts[f"arrays/{number}.npy"] = npy(array)
    return packed(parts)


@pytest.mark.parametrize("kind", ["int32", "int64"])
@pytest.mark.parametrize("name", BAD_ROWS)
def test_sparse_vectors_that_lead_out_are_refused(name, kind, path):
    refusal(with_rows(*BAD_ROWS[name], kind), path)


def test_sound_sparse_vectors_are_taken(path):
    path.write_bytes(with_rows([1.0, 2.0], [1, 0], [0, 1, 2]))
    assert load_model(path).predict([[0.0, 1, 0], [2.0, 0, 0]]).tolist() == [0, 1]


@pytest.mark.parametrize("shape", [[2, 4], [3, 3], [2, 2**40], [-2, -3], [2], [2, 3, 1], [2.0, 3]])
def test_sparse_vectors_of_another_shape_are_refused(shape, path):
    rows = tree_of(sparse_content())["model"]["fitted"]["support_vectors_"]["csr_array"]
    place = (*FITTED, "support_vectors_", "csr_array")
    refusal(changed(sparse_content(), *place, to=[shape, *rows[1:]]), path)


def test_precomputed_columns_beyond_the_last_are_refused(path):
    X = np.eye(4)
    save_model(KernelBBLRClassifier("precomputed").fit(X, [0, 0, 1, 1]), path)
    content = path.read_bytes()
    number = tree_of(content)["model"]["fitted"]["support_"]["array"]
    assert np.isfinite(load_model(path).decision_function(X)).all()
    forged = {**members(content), f"arrays/{number}.npy": npy(np.array([0, 1, 2, 4]))}
    assert "contradict" in refusal(packed(forged), path)


def test_zips_of_other_forms_are_refused(path):
    whole = content_of(LINEAR)
    parts = list(members(whole).items())
    pressed = packed(parts, ZIP_DEFLATED)
    assert "compressed" in refusal(pressed, path)
    bomb = packed([*parts, ("arrays/9.npy", bytes(50_000_000))], ZIP_DEFLATED)
    assert "compressed" in refusal(bomb, path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert "one name" in refusal(packed([*parts, parts[-1]]), path)
        assert "one name" in refusal(packed([parts[0], *parts]), path)
    for name in ("../../evil", "/etc/evil", "arrays/../evil.npy", "arrays/7.npy", "model.pkl", ""):
        refusal(packed([*parts, (name, b"evil")]), path)
    assert "longer than 16" in refusal(packed({JSON: b" " * (16 * 2**20 + 1)}), path)
    refusal(packed(parts[1:]), path)  # no model.json
    refusal(packed(parts[:-1]), path)  # an array less
    assert not any(found.name != path.name for found in path.parent.iterdir())


def test_members_that_say_another_length_or_place_change_nothing(path):
    content = content_of(LINEAR)
    coef, taken = fitted(LINEAR, text=True).coef_, set()
    # The directory at the end: flags, the way of packing, lengths, and where members begin.
    first = content.index(b"PK\x01\x02")
    for entry in (first, content.index(b"PK\x01\x02", first + 4)):
        for place, size in ((8, 2), (10, 2), (20, 4), (24, 4), (42, 4)):
            for value in (1, 8, 99, 2**16 - 1, 2**31 - 1, 2**32 - 1):
                forged = bytearray(content)
                forged[entry + place : entry + place + size] = value.to_bytes(4, "little")[:size]
                path.write_bytes(sealed(bytes(forged)))
                try:
                    assert np.array_equal(load_model(path).coef_, coef)
                    taken.add(place)
                except ModelFileError:
                    pass
    # Flags and lengths of what is not pressed say nothing.
    assert taken <= {8, 20}


def test_what_stands_before_a_zip_does_not_count(path):
    # A file may be two things at once, but is read as one; it must begin as a zip.
    path.write_bytes(sealed(b"#!/bin/sh\n" + content_of(LINEAR)))
    with pytest.raises(ModelFileError, match="is no model"):
        load_model(path)


def attack(folder: str, seeds: int) -> None:
    """Load forgeries, and predict by those that load; a process may die of this."""
    events: set[str] = set()
    watching = False

    def note(event: str, _: Any) -> None:
        if watching:
            events.add(event)

    sys.addaudithook(note)
    path, taken, refused = Path(folder, "model.bblr"), 0, 0
    for model in ATTACKED:
        content = content_of(model)
        X: Any = groups(5) if model == "joint" else rows(model.split(" | ")[0])[:20]
        path.write_bytes(content)
        load_model(path).predict(X)
        before = {kind: dict(vars(entry.cls)) for kind, entry in TYPES.items()}
        for seed in range(seeds):
            path.write_bytes(forged(content, seed))
            watching = True
            try:
                found = load_model(path)
            except ModelFileError as error:
                assert "\n" not in str(error)
                refused += 1
                continue
            finally:
                watching = False
            taken += 1
            try:
                found.predict(X)
            except ValueError as error:
                # What predict says of any model: weights so large that scores overflow, and rows
                # or a device that do not go with its parameters.
                known = ("not finite", "device must be", "candidates are missing")
                assert any(words in str(error) for words in known), (model, seed, error)
        assert before == {kind: dict(vars(entry.cls)) for kind, entry in TYPES.items()}
    # Reading a header of NumPy parses it (compile), and runs none of it (exec).
    assert events <= {"open", "compile"}, events
    assert not [each for each in Path(folder).iterdir() if each != path]
    print(taken, refused)


ATTACKED = (
    "linear", "linear, cv", "zero-one", "sla", "many", "kernel, rbf", "kernel, laplacian | sparse",
    "kernel, cosine | sparse", "many, backward", SPARSE, "many, kernel, rbf | sparse",
    "kernel, backward | sparse", "joint",
)  # fmt: skip


def test_random_forgeries_are_refused_or_predict(tmp_path):
    code = (
        "import resource, warnings\n"
        "warnings.simplefilter('ignore')\n"
        # What a forger asks for beyond this is an error, and not one of ours.
        "resource.setrlimit(resource.RLIMIT_AS, (2**33, 2**33))\n"
        "from tests.files.test_forgeries import attack\n"
        f"attack({str(tmp_path)!r}, 100)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    taken, refused = map(int, done.stdout.split())
    assert taken > 100 and taken + refused == 100 * len(ATTACKED)


def test_commands_refuse_forgeries_in_one_line(folder):
    content = Path(fitted_file()).read_bytes()
    told = set()
    for seed in range(100):
        Path("model.bblr").write_bytes(forged(content, seed))
        result = bblr("predict", "model.bblr", "test.csv")
        assert result.exit_code in (0, 2), result.exception
        if result.exit_code == 2:
            assert result.stderr.count("\n") == 1
            told.add(result.stderr)
    assert len(told) > 20


def test_layouts_that_do_not_fit_the_classifier_are_refused(folder):
    content = Path(fitted_file()).read_bytes()
    column = ("model", "params", "layout", "params", "columns", "tuple", 2, "params")
    for name, value in (
        ("levels", {"tuple": ["a", "b", "c"]}),
        ("levels", {"tuple": ["long", "long"]}),
        ("levels", ["long", "short"]),
        ("fill", 3.0),
        ("fill", "unheard of"),
        ("kind", "number"),
        ("kind", "image"),
        ("name", "weight"),
        ("missing", True),
    ):
        refusal(changed(content, *column, name, to=value), folder / "model.bblr")
    for place, value in (
        (("rows",), 0),
        (("scaling",), "none"),
        (("versions",), {"dict": [["bblr", 1]]}),
        (("versions",), {"dict": [["bblr", "\x1b[2J"]]}),
        (("layout",), {"type": "SvmlightLayout", "params": {"n_features": 5, "zero_based": 1}}),
        (("layout",), {"type": "SvmlightLayout", "params": {"n_features": 9, "zero_based": True}}),
        (("classifier",), {"type": "BBLRClassifier", "params": {}, "fitted": {}}),
        (("classifier",), {"type": "LBFGS", "params": {}}),
    ):
        refusal(changed(content, "model", "params", *place, to=value), folder / "model.bblr")


def test_pickles_and_skops_files_check_sparse_vectors_too():
    model = KernelBBLRClassifier().fit(sp.csr_array([[0.0, 1, 0], [2.0, 0, 0]]), [0, 1])
    model.support_vectors_.indices[0] = 7
    with pytest.raises(ValueError, match="lead out"):
        copy.deepcopy(model)
    sio = pytest.importorskip("skops.io")
    from bblr.skops import TRUSTED_TYPES

    with pytest.raises(ValueError, match="lead out"):
        sio.loads(sio.dumps(model), trusted=TRUSTED_TYPES)
