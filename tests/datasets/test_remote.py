"""Downloads from a server that fails in every way, and files that are available."""

from __future__ import annotations

import hashlib

import pytest

from bblr.datasets._remote import RemoteFile, default_home, local_copy

CONTENT = b"left\tright\t1\n" * 400
DIGEST = hashlib.sha256(CONTENT).hexdigest()


def remote(server, mode):
    server.mode, server.contents = mode, {"pairs": CONTENT}
    return RemoteFile("er/pairs.txt", f"{server.address}/pairs", DIGEST)


def test_download_once_then_from_disk(server, tmp_path):
    path = local_copy(remote(server, "whole"), tmp_path)
    assert path == tmp_path / "er" / "pairs.txt" and path.read_bytes() == CONTENT
    assert local_copy(remote(server, "whole"), tmp_path) == path
    assert server.asked == [None]
    assert [p.name for p in path.parent.iterdir()] == ["pairs.txt"]


@pytest.mark.parametrize(
    ("mode", "reason"),
    [("short", "only 2,600 of 5,200 bytes"), ("spoilt", "SHA-256 differs"), ("gone", "404")],
)
def test_a_failed_download_is_explained_and_leaves_nothing(server, tmp_path, mode, reason):
    with pytest.raises(OSError, match=f"could not be downloaded: .*{reason}.*put it at") as caught:
        local_copy(remote(server, mode), tmp_path)
    assert str(tmp_path / "er" / "pairs.txt") in str(caught.value)
    assert list(tmp_path.rglob("*")) == []


def test_an_interrupted_download_goes_on_where_it_was(server, tmp_path):
    server.ranges = True
    with pytest.raises(OSError, match=r"only 2,600 of 5,200 bytes came; call again to go on"):
        local_copy(remote(server, "short"), tmp_path)
    assert [path.name for path in (tmp_path / "er").iterdir()] == [".pairs.txt.partial"]
    with pytest.raises(OSError, match=r"only 3,900 of 5,200 bytes came"):
        local_copy(remote(server, "short"), tmp_path)
    path = local_copy(remote(server, "whole"), tmp_path)
    assert path.read_bytes() == CONTENT
    assert server.asked == [None, "bytes=2600-", "bytes=3900-"]
    assert [path.name for path in (tmp_path / "er").iterdir()] == ["pairs.txt"]


@pytest.mark.parametrize("ranges", [False, True])
def test_ctrl_c_keeps_a_beginning_that_can_be_gone_on_with(server, tmp_path, monkeypatch, ranges):
    def interrupted(source, target):
        target.write(source.read(100))
        raise KeyboardInterrupt

    server.ranges = ranges
    with monkeypatch.context() as patch:
        patch.setattr("bblr.datasets._remote.copyfileobj", interrupted)
        with pytest.raises(KeyboardInterrupt):
            local_copy(remote(server, "whole"), tmp_path)
    left = [path.name for path in tmp_path.rglob("*") if path.is_file()]
    assert left == ([".pairs.txt.partial"] if ranges else [])
    assert local_copy(remote(server, "whole"), tmp_path).read_bytes() == CONTENT
    assert server.asked == [None, "bytes=100-" if ranges else None]


def test_a_beginning_is_kept_while_the_server_is_away(server, tmp_path):
    server.ranges = True
    for mode in ("short", "gone"):
        with pytest.raises(OSError, match="call again to go on"):
            local_copy(remote(server, mode), tmp_path)
    local_copy(remote(server, "whole"), tmp_path)
    assert server.asked[-1] == "bytes=2600-"


@pytest.mark.parametrize(
    ("beginning", "ranges", "asked"),
    [
        (b"another version", True, ["bytes=15-", None]),
        (CONTENT[:99], False, ["bytes=99-"]),
        (CONTENT, True, ["bytes=5200-"]),
        (CONTENT + b"and more", True, ["bytes=5208-", None]),
    ],
)
def test_a_beginning_that_does_not_fit_is_thrown_away(server, tmp_path, beginning, ranges, asked):
    server.ranges = ranges
    (tmp_path / "er").mkdir()
    (tmp_path / "er" / ".pairs.txt.partial").write_bytes(beginning)
    assert local_copy(remote(server, "whole"), tmp_path).read_bytes() == CONTENT
    assert server.asked == asked
    assert [path.name for path in (tmp_path / "er").iterdir()] == ["pairs.txt"]


def test_a_spoilt_download_is_not_gone_on_with(server, tmp_path):
    server.ranges = True
    with pytest.raises(OSError, match="SHA-256 differs"):
        local_copy(remote(server, "spoilt"), tmp_path)
    assert list(tmp_path.rglob("*")) == []


def test_two_downloads_at_once_do_not_meet(server, tmp_path):
    fcntl = pytest.importorskip("fcntl", reason="files are locked on POSIX only")
    (tmp_path / "er").mkdir()
    with (tmp_path / "er" / ".pairs.txt.partial").open("wb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        other.write(b"half")
        other.flush()
        assert local_copy(remote(server, "whole"), tmp_path).read_bytes() == CONTENT
    assert server.asked == [None]


def test_no_network_says_what_to_put_where(server, tmp_path):
    file = remote(server, "whole")
    server.shutdown()
    server.server_close()
    with pytest.raises(OSError, match=f"download {file.url} yourself and put it at"):
        local_copy(file, tmp_path)
    assert list(tmp_path.rglob("*")) == []


def test_a_damaged_file_at_hand_is_refused_and_kept(tmp_path):
    (tmp_path / "er").mkdir()
    (tmp_path / "er" / "pairs.txt").write_bytes(CONTENT[:-1])
    file = RemoteFile("er/pairs.txt", "http://nowhere.invalid", DIGEST)
    with pytest.raises(OSError, match=r"pairs.txt is not the file expected.*remove it"):
        local_copy(file, tmp_path)
    assert (tmp_path / "er" / "pairs.txt").read_bytes() == CONTENT[:-1]


def test_downloads_can_be_forbidden(tmp_path):
    file = RemoteFile("er/pairs.txt", "http://nowhere.invalid", "0")
    with pytest.raises(FileNotFoundError, match=r"download_if_missing is False.*BBLR_DATA_HOME"):
        local_copy(file, tmp_path, download_if_missing=False)


def test_the_folder_is_named_by_argument_variable_or_cache(tmp_path, monkeypatch):
    file = RemoteFile("pairs.txt", "http://nowhere.invalid", DIGEST)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert default_home() == tmp_path / "cache" / "bblr"
    for name in ("given", "named", "cache/bblr"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "pairs.txt").write_bytes(CONTENT)
    monkeypatch.setenv("BBLR_DATA_HOME", str(tmp_path / "named"))
    assert local_copy(file, tmp_path / "given").parent == tmp_path / "given"
    assert local_copy(file).parent == tmp_path / "named"
    monkeypatch.delenv("BBLR_DATA_HOME")
    assert local_copy(file).parent == tmp_path / "cache" / "bblr"


def test_no_file_goes_unchecked():
    with pytest.raises(ValueError, match="give it a sha256 or a check"):
        RemoteFile("er/pairs.txt", "http://nowhere.invalid")
