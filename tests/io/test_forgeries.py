"""Forged model files whose sums fit: each is refused in one line."""

from __future__ import annotations

import io
import subprocess
import sys
import tracemalloc
import warnings
from functools import cache
from pathlib import Path
from time import process_time
from typing import Any
from zipfile import ZIP_DEFLATED

import numpy as np
import pytest
import scipy.sparse as sp

from bblr import BBLRClassifier, KernelBBLRClassifier
from bblr.io import ModelFileError, load_model, save_model
from bblr.io.registry import TYPES
from tests.cli.conftest import fitted as fitted_file
from tests.io.forging import (
    JSON,
    changed,
    content_of,
    members,
    npy,
    packed,
    saved,
    sealed,
    tree_of,
    with_tree,
)
from tests.io.models import fitted


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


ROOT = Path(__file__).resolve().parents[2]
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
    assert "is not a sound model" in told


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
    for name in kind.required.split():
        forged = tree_of(content_of(model))
        del forged["model"]["fitted"][name]
        assert "is not a sound model" in refusal(with_tree(content_of(model), forged), path)


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
    assert "is not a sound model" in refusal(with_array(LINEAR, COEF, ARRAYS[name]), path)


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
    for support in ([0, 1, 2, 4], [-1, 1, 2, 3]):
        forged = {**members(content), f"arrays/{number}.npy": npy(np.array(support))}
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


@pytest.mark.parametrize("name", [name for name in ARRAYS if "promise" in name or "end" in name])
def test_promises_take_no_memory(name, path):
    forged = with_array(LINEAR, COEF, ARRAYS[name])
    tracemalloc.start()
    try:
        refusal(forged, path)
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()


def test_texts_ask_for_no_more_memory_than_arrays(path):
    """Each place of an array of texts has room for the longest of them."""
    place = ("model", "params", "prior")
    bombs = {"texts": ["a" * 500_000, *map(str, range(5_000))]}
    few = {"tuple": [{"texts": ["a" * 5_000, *map(str, range(500))]}] * 20}
    for texts in (bombs, few):
        forged = changed(content_of(LINEAR), *place, to=texts)
        tracemalloc.start()
        try:
            assert "letters" in refusal(forged, path)
            assert tracemalloc.get_traced_memory()[1] < 200_000_000
        finally:
            tracemalloc.stop()


def test_keys_of_one_hash_take_no_time(path):
    """Python's numbers that differ by a multiple of 2**61 - 1 have one hash."""
    keys = [[k * (2**61 - 1), 1] for k in range(20_000)]
    forged = changed(content_of(LINEAR), "model", "params", "class_weight", to={"dict": keys})
    start = process_time()
    assert "one hash" in refusal(forged, path)
    assert process_time() - start < 1.0
    model = BBLRClassifier(class_weight={-1: 1.0, -2: 2.0}).fit(
        [[0.0], [1.0], [2.0]], [-1, -2, -2]
    )
    path.write_bytes(saved(model))
    assert load_model(path).class_weight == {-1: 1.0, -2: 2.0}


def test_json_of_the_greatest_length_takes_less_than_a_gigabyte(path):
    body = b'{"format": 1, "written_by": "", "model": [' + b"[]," * 5_500_000 + b"[]]}"
    assert 15 * 2**20 < len(body) < 16 * 2**20
    code = (
        "import resource, sys\n"
        "from bblr.io import ModelFileError, load_model\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "try:\n    load_model(sys.argv[1])\nexcept ModelFileError:\n"
        "    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    path.write_bytes(packed({JSON: body}))
    run = [sys.executable, "-c", code, str(path)]
    done = subprocess.run(run, capture_output=True, text=True, check=True, cwd=ROOT / "src")
    assert int(done.stdout) < 1_000_000  # kilobytes


def test_a_file_takes_its_length_a_few_times_over(path):
    X = np.random.default_rng(0).normal(size=(300, 5000))
    save_model(KernelBBLRClassifier("linear").fit(X, (X[:, 0] > 0).astype(int)), path)
    length = path.stat().st_size
    tracemalloc.start()
    try:
        load_model(path)
        assert tracemalloc.get_traced_memory()[1] < 4 * length
    finally:
        tracemalloc.stop()


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
    with pytest.raises(ModelFileError, match="is not a model"):
        load_model(path)


def test_layouts_that_do_not_fit_the_classifier_are_refused(folder):
    content = Path(fitted_file()).read_bytes()
    columns = ("model", "params", "layout", "params", "columns", "tuple")
    column = (*columns, 2, "params")
    for name, value in (
        ("levels", {"tuple": ["a", "b", "c"]}),
        ("levels", {"tuple": ["long", "long"]}),
        ("levels", ["long", "short"]),
        ("fill", 3.0),
        ("fill", "unheard of"),
        ("kind", "flag"),
        ("name", "weight"),
        ("missing", True),
    ):
        refusal(changed(content, *column, name, to=value), folder / "model.bblr")
    for place, value in (((2, "type"), "NumberColumn"), ((0, "params", "kind"), "image")):
        refusal(changed(content, *columns, *place, to=value), folder / "model.bblr")
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
