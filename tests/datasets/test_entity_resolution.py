"""Pairs of records as groups, in little and in full."""

import hashlib

import numpy as np
import pytest

from bblr.datasets import ENTITY_RESOLUTION_NAMES, entity_resolution, fetch_entity_resolution
from bblr.datasets._remote import RemoteFile

PARTS = {
    "train": [("zip 4.0", "acme", "10.0", "acme zip 4", "", "9.9", 1)],
    "valid": [
        ("zip 4.0", "acme", "10.0", "acme zip 5", "", "", 0),
        ("photo pro", "", "", "photo pro mac", "", "30", 0),
        ("zip 4.0", "acme", "10.0", "acme zip 4", "", "9.9", 0),
    ],
    "test": [
        ("photo pro", "", "", "acme zip 4", "", "9.9", 0),
        ("photo pro", "", "", "photo pro mac", "", "30", 1),
        ("photo pro", "", "", "photo pro pc", "", "30", 1),
    ],
}


def line(a, b, c, d, e, f, label):
    left = f"COL title VAL {a} COL manufacturer VAL {b} COL price VAL {c} "
    return f"{left}\tCOL title VAL {d} COL manufacturer VAL {e} COL price VAL {f} \t{label}\n"


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A folder with pairs of the same form, in little."""
    files = []
    for part, rows in PARTS.items():
        path = tmp_path / "entity_resolution" / "Amazon-Google" / f"{part}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(line(*row) for row in rows), encoding="utf-8")
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        name = f"entity_resolution/Amazon-Google/{part}.txt"
        files.append(RemoteFile(name, "http://nowhere.invalid", digest))
    monkeypatch.setitem(entity_resolution._FILES, "amazon-google", files)
    return tmp_path


def test_groups_gather_a_record_from_all_files(home):
    found = fetch_entity_resolution("amazon-google", data_home=home)
    assert [len(group) for group in found.groups] == [2, 3]
    first, second = found.groups
    assert found.left[0] == {"title": "zip 4.0", "manufacturer": "acme", "price": "10.0"}
    assert [found.right[k]["title"] for k in second.candidates] == [
        "photo pro mac",
        "acme zip 4",
        "photo pro pc",
    ]
    assert found.right[first.candidates[0]] is found.right[second.candidates[1]]


def test_a_pair_is_a_match_if_any_of_its_labels_says_so(home):
    first, second = fetch_entity_resolution("amazon-google", data_home=home).groups
    assert first.labels.tolist() == [1, 0] and second.labels.tolist() == [1, 0, 1]


def test_features_tell_matches_from_others(home):
    found = fetch_entity_resolution("amazon-google", data_home=home)
    names = found.feature_names
    first, second = found.groups
    assert first.X.shape[1] == len(names) == len(set(names))
    by_name = dict(zip(names, first.X.T, strict=True))
    assert by_name["numbers: shared"].tolist() == [1.0, 0.0]
    assert by_name["numbers: all different"].tolist() == [0.0, 1.0]
    assert by_name["manufacturer: contained"].tolist() == [1.0, 1.0]
    assert by_name["price: missing"].tolist() == [0.0, 1.0]
    assert by_name["price: same"].tolist() == [1.0, 0.0]
    assert dict(zip(names, second.X.T, strict=True))["manufacturer: missing"].min() == 1.0
    # Two editions of one programme are more alike than either is to another.
    pairs = {tuple(p): s for p, s in zip(second.pairs.tolist(), second.similarities, strict=True)}
    assert pairs[0, 2] > pairs[0, 1] and pairs[0, 2] > pairs[1, 2]


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match=r"name must be one of 'dblp-acm', .*got 'walmart'"):
        fetch_entity_resolution("walmart")


@pytest.mark.parametrize("name", ENTITY_RESOLUTION_NAMES)
def test_the_data_themselves(data_home, name):
    found = fetch_entity_resolution(name, data_home=data_home, download_if_missing=False)
    groups = found.groups
    counts = np.bincount(np.minimum([int(group.labels.sum()) for group in groups], 2), minlength=3)
    facts = {
        "dblp-acm": (2436, 12103, [221, 2215, 0], 1241),
        "amazon-google": (1288, 10959, [291, 877, 120], 606),
    }
    n_groups, n_pairs, matches, few = facts[name]
    assert len(groups) == len(found.left) == n_groups
    assert sum(map(len, groups)) == n_pairs and counts.tolist() == matches
    assert sum(2 <= len(group) <= 7 for group in groups) == few
    X = np.concatenate([group.X for group in groups])
    y = np.concatenate([group.labels for group in groups])
    assert np.isfinite(X).all() and X.shape[1] == len(found.feature_names)
    shared = found.feature_names.index("title: words shared")
    assert X[y == 1, shared].mean() > X[y == 0, shared].mean() + 0.2
