"""Each loader from a server that truncates, corrupts and refuses."""

from __future__ import annotations

import pytest

from bblr.datasets import fetch_reviews, fetch_uci_original, fetch_web8, fetch_webspam, reviews

LOADERS = [
    (fetch_web8, {}, "web8/w8a"),
    (fetch_webspam, {}, "webspam/webspam_wc_normalized_unigram.svm.xz"),
    (fetch_reviews, {"domain": "kitchen"}, "reviews/processed_acl.tar.gz"),
    (fetch_uci_original, {"name": "breast"}, "uci/raw/breast-cancer-wisconsin.data"),
    (fetch_uci_original, {"name": "heart"}, "uci/raw/heart.csv"),
    (fetch_uci_original, {"name": "liver"}, "uci/raw/bupa.data"),
]


@pytest.mark.parametrize(("fetch", "which", "name"), LOADERS)
def test_downloaded_once_then_from_disk(served, little, tmp_path, fetch, which, name):
    home = tmp_path / "home"
    first = fetch(**which, data_home=home)
    asked = len(served.asked)
    assert asked >= 1
    again = fetch(**which, data_home=home, download_if_missing=False)
    assert len(served.asked) == asked
    direct = fetch(**which, data_home=little)
    for other in (again, direct):
        assert (first.data != other.data).sum() == 0
        assert first.target.tolist() == other.target.tolist()
    assert not [path for path in home.rglob("*") if path.name.startswith((".", "tmp"))]


# Servers that cannot resume are for test_remote.py: no loader sees the difference.
@pytest.mark.parametrize("mode", ["short", "spoilt", "gone"])
@pytest.mark.parametrize(("fetch", "which", "name"), LOADERS)
def test_a_failed_download_says_what_to_put_where(served, tmp_path, fetch, which, name, mode):
    served.mode, served.ranges = mode, True
    home = tmp_path / "home"
    with pytest.raises(OSError, match=r"could not be downloaded") as caught:
        fetch(**which, data_home=home)
    assert f"download {served.address}/{name} yourself" in str(caught.value)
    assert f"put it at {home / name}" in str(caught.value)
    left = [path.name for path in home.rglob("*") if path.is_file()]
    kept = [f".{name.rpartition('/')[2]}.partial"] if mode == "short" else []
    assert left == kept
    served.mode = "whole"
    assert len(fetch(**which, data_home=home).target) > 1
    assert (served.asked[1] is not None) == bool(kept)


@pytest.mark.parametrize(("fetch", "which", "name"), LOADERS)
def test_no_network(served, tmp_path, fetch, which, name):
    served.shutdown()
    served.server_close()
    home = tmp_path / "home"
    with pytest.raises(OSError, match=f"yourself and put it at {home / name}"):
        fetch(**which, data_home=home)
    assert not home.exists()


def test_one_archive_has_all_reviews_and_goes(served, tmp_path):
    fetch_reviews("kitchen", data_home=tmp_path / "home")
    fetch_reviews("books", data_home=tmp_path / "home")
    assert len(served.asked) == 1
    assert not (tmp_path / "home" / reviews._ARCHIVE.name).exists()


def test_an_archive_put_there_by_hand_is_taken_and_kept(served, tmp_path):
    path = tmp_path / "home" / reviews._ARCHIVE.name
    path.parent.mkdir(parents=True)
    path.write_bytes(served.contents[reviews._ARCHIVE.name])
    fetch_reviews("dvd", data_home=tmp_path / "home", download_if_missing=False)
    assert served.asked == [] and path.exists()


def test_an_archive_with_other_reviews_is_refused(served, tmp_path, monkeypatch):
    from dataclasses import replace

    file = reviews._FILES["dvd/negative"]
    monkeypatch.setitem(reviews._FILES, "dvd/negative", replace(file, sha256="0"))
    with pytest.raises(OSError, match=r"SHA-256 of its dvd/negative.review differs"):
        fetch_reviews("books", data_home=tmp_path / "home")
    monkeypatch.setitem(reviews._FILES, "music/negative", file)
    monkeypatch.setitem(reviews._FILES, "dvd/negative", file)
    with pytest.raises(OSError, match=r"it has no music/negative.review"):
        fetch_reviews("books", data_home=tmp_path / "home")
    assert not (tmp_path / "home").exists()
