"""Model files taken apart, changed and put together again, with sums that fit."""

from __future__ import annotations

import copy
import hashlib
import io
import json
import tempfile
from functools import cache
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED, ZipFile, ZipInfo

import numpy as np

from bblr import BBLRClassifier
from bblr.io import save_model
from bblr.structured import JointModel
from tests.io.models import fitted, groups

JSON = "model.json"


@cache
def content_of(model: str) -> bytes:
    """Return the file of a fitted model, fitted to sparse rows where its name says so."""
    if model == "joint":
        return saved(JointModel(BBLRClassifier(), random_state=0).fit(groups()))
    name, _, sparse = model.partition(" | ")
    return saved(fitted(name, text=True, sparse=bool(sparse)))


def saved(model: Any) -> bytes:
    """Return the file of a model."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.bblr")
        save_model(model, path)
        return path.read_bytes()


def members(content: bytes) -> dict[str, bytes]:
    """Return what a model file holds, by name."""
    with ZipFile(io.BytesIO(content)) as file:
        return {name: file.read(name) for name in file.namelist()}


def packed(parts: dict[str, bytes] | list[tuple[str, bytes]], how: int = ZIP_STORED) -> bytes:
    """Return a model file of these members, sealed."""
    file = io.BytesIO()
    with ZipFile(file, "w", how) as zipped:
        for name, part in parts.items() if isinstance(parts, dict) else parts:
            zipped.writestr(ZipInfo(name), part, how)
        zipped.comment = b"sha256:" + b"0" * 64
    return sealed(file.getvalue())


def sealed(content: bytes) -> bytes:
    """Return the content with the checksum made anew."""
    return content[:-64] + hashlib.sha256(content[:-64]).hexdigest().encode()


def tree_of(content: bytes) -> Any:
    """Return model.json."""
    return json.loads(members(content)[JSON])


def with_tree(content: bytes, tree: Any) -> bytes:
    """Return the file with another model.json."""
    return packed({**members(content), JSON: json.dumps(tree).encode()})


def changed(content: bytes, *steps: Any, to: Any) -> bytes:
    """Return the file with another value at a place in model.json."""
    tree = tree_of(content)
    place = tree
    for step in steps[:-1]:
        place = place[step]
    place[steps[-1]] = to
    return with_tree(content, tree)


def npy(array: Any) -> bytes:
    """Return an array as its file."""
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


def places(tree: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the way to every value in a tree."""
    found = [path] if path else []
    items = tree.items() if isinstance(tree, dict) else enumerate(tree)
    for key, value in items:
        deeper = (*path, key)
        found += places(value, deeper) if isinstance(value, dict | list) else [deeper]
    return found


def at(tree: Any, path: tuple[Any, ...]) -> Any:
    """Return the value at a place."""
    for step in path:
        tree = tree[step]
    return tree


ODD: tuple[Any, ...] = (
    None, True, 0, -1, 1, 2, 3, 7, 2**31, 2**63, -(2**63), 10**30, 0.5, -0.5, 1e-320, 1e308, "",
    "x", "__class__", "\ud800", "precomputed", "poly", [], {}, [[]], {"float": "nan"},
    {"float": "inf"},
    {"tuple": []}, {"dict": []}, {"array": 0}, {"array": 1}, {"array": -1}, {"scalar": 0},
    {"texts": ["a", "b"]}, {"objects": ["a", "b"]}, {"type": "Stage"}, {"type": "os.system"},
    {"type": "BBLRClassifier", "params": {}}, {"csr_array": [[1, 1], 0, 1, 2]},
    {"csr_matrix": [[2**40, 2**40], 0, 1, 2]},
)  # fmt: skip


def spoiled_tree(content: bytes, rng: np.random.Generator) -> bytes:
    """Return the file with a value of model.json gone, odd, or from another place."""
    tree = tree_of(content)
    ways = places(tree["model"])
    *path, last = ways[rng.integers(len(ways))]
    holder = at(tree["model"], tuple(path))
    match int(rng.integers(4)):
        case 0:
            del holder[last]
        case 1:
            holder[last] = copy.deepcopy(at(tree["model"], ways[rng.integers(len(ways))]))
        case 2 if isinstance(holder, dict):
            name = str(rng.choice(["__class__", "predict", "__dict__", "coef_", "x", "gamma"]))
            holder[name] = holder.pop(last)
        case _:
            holder[last] = ODD[rng.integers(len(ODD))]
    return with_tree(content, tree)


def spoiled_array(content: bytes, rng: np.random.Generator) -> bytes:
    """Return the file with an array of other numbers, another shape or type, or none."""
    parts = members(content)
    name = str(rng.choice([name for name in parts if name != JSON]))
    array = np.load(io.BytesIO(parts[name]))
    flat = array.ravel().copy()
    where = rng.integers(max(flat.size, 1))
    match int(rng.integers(8)):
        case 0 if flat.size and array.dtype.kind == "f":
            flat[where] = rng.choice([np.nan, np.inf, -1e308, 1e-320, 0.0])
        case 1 if flat.size and array.dtype.kind in "iu":
            flat[where] = rng.choice([-1, 2, 1000, 2**31 - 1, -(2**31)])
        case 2 if flat.size:
            array = flat = flat[:where]
        case 3:
            array = flat = np.append(flat, flat[:1])
        case 4:
            array = array.T
            flat = array.ravel()
        case 5:
            array = array.astype(
                rng.choice(["f4", ">f8", "i1", "?", "u8", "i4", "c16", "O", "U3"])
            )
            flat = array.ravel()
        case 6:
            other = str(rng.choice([name for name in parts if name != JSON]))
            return packed({**parts, name: parts[other]})
        case _:
            return packed({**parts, name: spoiled_bytes(parts[name], rng)})
    return packed({**parts, name: npy(flat.reshape(array.shape))})


def spoiled_bytes(content: bytes, rng: np.random.Generator) -> bytes:
    """Return the content cut, or with bytes changed, dropped, doubled, or in another order."""
    spoiled = bytearray(content)
    where = int(rng.integers(len(content)))
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


def spoiled_member(content: bytes, rng: np.random.Generator) -> bytes:
    """Return the file with bytes of a member changed; the sums of the zip fit."""
    parts = members(content)
    name = str(rng.choice(list(parts)))
    return packed({**parts, name: spoiled_bytes(parts[name], rng)})


def spoiled_file(content: bytes, rng: np.random.Generator) -> bytes:
    """Return the file with bytes changed anywhere before its checksum, which fits."""
    return sealed(spoiled_bytes(content[:-64], rng) + bytes(64))


FORGERS = (spoiled_tree, spoiled_array, spoiled_member, spoiled_file)


def forged(content: bytes, seed: int) -> bytes:
    """Return a forgery of a model file, the same for the same seed."""
    rng = np.random.default_rng(seed)
    return FORGERS[seed % len(FORGERS)](content, rng)
