"""Research data in little, and in full where they are available."""

from __future__ import annotations

import hashlib
import lzma
from inspect import signature

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bblr import datasets
from bblr.datasets import (
    DATASETS,
    REVIEW_DOMAINS,
    _registry,
    fetch_reviews,
    fetch_trec07p,
    fetch_uci_original,
    fetch_web8,
    fetch_webspam,
    load_uci,
    uci,
    webspam,
)

SHAPES = {"breast": (683, 10), "heart": (270, 13), "liver": (345, 6), "pima": (768, 8)}
NGUYEN_SANNER = {
    "breast": "breast-cancer-wisconsin",
    "heart": "heart",
    "liver": "bupa",
    "pima": "pima-indians-diabetes",
}
FEATURES = {"books": 28234, "dvd": 28310, "electronics": 14943, "kitchen": 12130}
LOADERS = [
    (fetch_web8, {}),
    (fetch_trec07p, {}),
    (fetch_webspam, {}),
    (fetch_reviews, {"domain": "dvd"}),
    *((fetch_uci_original, {"name": name}) for name in SHAPES),
]


# Those that read research data, as the list of data sets has them.
FETCHED = {
    name: load
    for name, load in DATASETS.items()
    if "download_if_missing" in signature(load).parameters
}


@pytest.fixture
def available(data_home):
    """Load the data themselves, or skip."""

    def load(fetch, *arguments, **settings):
        try:
            return fetch(*arguments, data_home=data_home, download_if_missing=False, **settings)
        except FileNotFoundError as missing:
            pytest.skip(str(missing))

    return load


def test_the_list_has_every_loader_that_the_package_exports():
    listed = {getattr(load, "func", load).__name__ for load in DATASETS.values()}
    exported = {n for n in datasets.__all__ if n.startswith(("load_", "fetch_", "make_"))}
    assert listed == exported and len(listed) >= 8
    for name in listed:
        assert getattr(datasets, name).__module__.startswith("bblr.datasets.")
    assert {"uci/heart", "reviews/dvd", "web8", "entity_resolution/dblp-acm"} <= set(DATASETS)


def test_a_loader_is_listed_by_being_defined(monkeypatch):
    monkeypatch.setattr(_registry, "DATASETS", {})

    @_registry.dataset()
    def load_toy():
        return "toy"

    @_registry.dataset("red", "blue")
    def load_balls(name):
        return name

    found = _registry.DATASETS
    assert {name: load() for name, load in found.items()} == {
        "toy": "toy",
        "balls/red": "red",
        "balls/blue": "blue",
    }


@pytest.mark.parametrize("name", FETCHED)
def test_a_missing_file_says_what_to_put_where(name, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"is not there.*put .*there.*BBLR_DATA_HOME") as e:
        FETCHED[name](data_home=tmp_path, download_if_missing=False)
    assert str(tmp_path) in str(e.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("fetch", "which"), LOADERS)
def test_the_parts_of_a_bunch(little, fetch, which):
    bunch = fetch(**which, data_home=little, download_if_missing=False)
    X, y = fetch(**which, data_home=little, return_X_y=True)
    assert (bunch.data != X).sum() == 0
    assert_array_equal(bunch.target, y)
    assert y.dtype == np.int64 and X.dtype == np.float64 and X.shape[0] == len(y)
    assert fetch.__doc__ == bunch.DESCR
    assert all(isinstance(count, int) for count in bunch.duplicates.values())
    if "feature_names" in bunch:
        assert len(bunch.feature_names) == X.shape[1]


@pytest.mark.parametrize(("fetch", "which"), LOADERS)
def test_the_variable_names_the_folder_and_an_argument_goes_before(
    little, monkeypatch, fetch, which
):
    monkeypatch.setenv("BBLR_DATA_HOME", str(little))
    assert len(fetch(**which).target) > 1
    monkeypatch.setenv("BBLR_DATA_HOME", str(little / "nothing"))
    assert len(fetch(**which, data_home=str(little)).target) > 1
    with pytest.raises(FileNotFoundError, match=r"nothing.*is not there.*put .*BBLR_DATA_HOME"):
        fetch(**which, download_if_missing=False)


def test_web8_drops_rows_of_zeros(little):
    train, test = (fetch_web8(subset=part, data_home=little) for part in ("train", "test"))
    assert train.data.format == test.data.format == "csr"
    assert train.data.shape == (4, 300) and test.data.shape == (1, 300)
    assert train.target.tolist() == [-1, 1, -1, 1] and test.target.tolist() == [-1]
    assert train.data[0].nonzero()[1].tolist() == [1, 299]
    assert train.duplicates == test.duplicates == {"train": 1, "test": 0, "across": 1}


def test_web8_leak_free_drops_equal_features_whatever_the_label(little):
    whole = fetch_web8(data_home=little)
    rest = fetch_web8(leak_free=True, data_home=little)
    assert_array_equal(rest.data.toarray(), whole.data[:2].toarray())
    assert rest.target.tolist() == [-1, 1]
    assert rest.duplicates == {"train": 0, "test": 0, "across": 0}
    everything = fetch_web8(subset="all", leak_free=True, data_home=little)
    assert everything.target.tolist() == [-1, 1, -1]
    assert everything.data.format == "csr"


def test_trec07p_rows_have_length_one_and_repeat_by_their_counts(little):
    mail = fetch_trec07p(data_home=little)
    assert mail.data.format == "csr"
    assert_allclose(mail.data.toarray(), [[0.6, 0.0, 0.8], [0.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
    assert mail.target.tolist() == [1, -1, 1]
    assert mail.duplicates == {"all": 0}


def test_reviews_are_single_words(little):
    found = fetch_reviews("books", data_home=little)
    assert found.feature_names == ["a:b", "bad\u2028ly", "good"]
    assert found.data.toarray().tolist() == [[1, 0, 2], [1, 0, 2], [0, 1, 1]]
    assert found.target.tolist() == [1, 1, -1]
    assert found.duplicates == {"all": 1}


def test_uci_original_drops_incomplete_rows(little):
    breast = fetch_uci_original("breast", data_home=little)
    assert breast.data[:, 0].tolist() == [101, 103] and breast.feature_names[0] == "id"
    assert breast.target.tolist() == [1, 0] and breast.duplicates == {"all": 0}
    bare = fetch_uci_original("breast", with_id=False, data_home=little)
    assert bare.feature_names == breast.feature_names[1:] == load_uci("breast").feature_names
    assert_array_equal(bare.data, breast.data[:, 1:])
    assert bare.duplicates == {"all": 1}
    heart = fetch_uci_original("heart", with_id=False, data_home=little)
    assert heart.data.shape == (2, 13) and heart.target.tolist() == [0, 1]


def test_a_copy_of_a_table_may_differ_in_line_ends_and_incomplete_rows(tmp_path):
    check = uci._holds(hashlib.sha256(b"1,2\n3,4\n").hexdigest())
    path = tmp_path / "table"
    for text, fine in ((b"1,2\r\n3,4 \n5,?\n\n", True), (b"1,2\n", False), (b"3,4\n1,2\n", False)):
        path.write_bytes(text)
        assert (check(path) == "") == fine


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fetch_web8(subset="valid"), r"subset must be one of 'train', 'test', 'all'"),
        (lambda: fetch_reviews("music"), r"domain must be one of 'books', 'dvd'"),
        (lambda: fetch_uci_original("iris"), r"name must be one of 'breast', 'heart'"),
        (lambda: fetch_uci_original(3), r"name must be .*got 3"),
    ],
)
def test_what_is_not_known_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    ("shape", "reason"),
    [((4, 3), "3 rows of 3 features"), ((3, 254), "instead of 3 of 254")],
)
def test_webspam_is_known_by_its_counts(little, monkeypatch, shape, reason):
    monkeypatch.setattr(webspam, "_SHAPE", shape)
    with pytest.raises(OSError, match=f"not the file expected .*{reason}.*remove it"):
        fetch_webspam(data_home=little)


def test_webspam_damaged_at_hand(little):
    path = little / webspam._FILES["data"].name
    whole = path.read_bytes()
    for damaged in (whole[: len(whole) // 2], whole[:-8], b"no archive", lzma.compress(b"1 2:x")):
        path.write_bytes(damaged)
        with pytest.raises(OSError, match=r"not the file expected .*: it is damaged"):
            fetch_webspam(data_home=little)


@pytest.mark.parametrize("name", ["trec07p/X.npz", "uci/raw/pima-indians-diabetes.data"])
def test_what_has_no_address_says_where_it_comes_from(little, name):
    (little / name).unlink()
    fetch = fetch_trec07p if "trec" in name else lambda **k: fetch_uci_original("pima", **k)
    origin = "treccorpus07" if "trec" in name else "withdrawn"
    with pytest.raises(FileNotFoundError, match=f"{name} is not there.*{origin}.*put it there"):
        fetch(data_home=little)


def test_web8_itself(available):
    train, test = (available(fetch_web8, subset=part) for part in ("train", "test"))
    assert train.data.shape == (45546, 300) and test.data.shape == (13699, 300)
    assert train.duplicates == {"train": 10843, "test": 2067, "across": 13699}
    everything, _ = available(fetch_web8, subset="all", return_X_y=True)
    assert everything.shape == (59245, 300)
    rest = available(fetch_web8, leak_free=True)
    assert rest.data.shape == (25264, 300) and rest.target.shape == (25264,)
    assert rest.duplicates["across"] == 0


def test_trec07p_itself(available):
    mail = available(fetch_trec07p)
    assert mail.data.shape == (75399, 256)
    assert np.bincount(mail.target + 1).tolist() == [25220, 0, 50179]
    assert_allclose(np.asarray(mail.data.multiply(mail.data).sum(axis=1)).ravel(), 1.0)


def test_webspam_itself(available):
    assert available(fetch_webspam, return_X_y=True)[0].shape == (350_000, 254)


@pytest.mark.parametrize("domain", REVIEW_DOMAINS)
def test_reviews_themselves(domain, available):
    found = available(fetch_reviews, domain)
    assert found.data.shape == (2000, FEATURES[domain])
    assert np.bincount(found.target + 1).tolist() == [1000, 0, 1000]
    assert not any("_" in word for word in found.feature_names)
    assert found.data.min() == 0 and found.data.sum(axis=0).min() >= 1


@pytest.mark.parametrize("name", SHAPES)
def test_uci_originals_are_nguyen_and_sanners(name, available, data_home):
    found = available(fetch_uci_original, name)
    assert found.data.shape == SHAPES[name]
    path = data_home / "uci/nguyen_sanner" / f"{NGUYEN_SANNER[name]}.csv"
    theirs = np.loadtxt(path, delimiter=",")
    # Their file has five digits of each number, which only the ID needs more of.
    assert_allclose(found.data, theirs[:, 1:], rtol=5e-5)
    assert (found.data != theirs[:, 1:]).any(axis=0).tolist().count(True) == (name == "breast")
    assert_array_equal(2 * found.target - 1, theirs[:, 0])
    assert (found.target == 1).sum() == (load_uci(name).target == 1).sum()
