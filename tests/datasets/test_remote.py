"""Downloads from a server that fails in every way, and files that are at hand."""

from __future__ import annotations

import hashlib
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from bblr.datasets._remote import RemoteFile, default_home, local_copy

CONTENT = b"left\tright\t1\n" * 400
DIGEST = hashlib.sha256(CONTENT).hexdigest()


class Handler(BaseHTTPRequestHandler):
    """Serves the content whole, cut short, spoilt, or not at all."""

    def do_GET(self):
        self.server.asked += 1
        if self.path == "/gone":
            self.send_error(404)
            return
        body = CONTENT if self.path != "/spoilt" else CONTENT.replace(b"left", b"lost")
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if self.path == "/short" else body)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server():
    pytest.importorskip("pooch", reason="downloads need pooch: pip install 'bblr[data]'")
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    httpd.asked = 0
    thread = threading.Thread(target=httpd.serve_forever, daemon=True)
    thread.start()
    yield httpd
    httpd.shutdown()
    httpd.server_close()


def remote(server, path):
    url = f"http://127.0.0.1:{server.server_address[1]}/{path}"
    return RemoteFile("er/pairs.txt", url, DIGEST)


def test_download_once_then_from_disk(server, tmp_path):
    path = local_copy(remote(server, "whole"), tmp_path)
    assert path == tmp_path / "er" / "pairs.txt" and path.read_bytes() == CONTENT
    assert local_copy(remote(server, "whole"), tmp_path) == path
    assert server.asked == 1
    assert [p.name for p in path.parent.iterdir()] == ["pairs.txt"]


@pytest.mark.parametrize(
    ("path", "reason"),
    [("short", "only 2,600 of 5,200 bytes"), ("spoilt", "SHA-256 differs"), ("gone", "404")],
)
def test_a_failed_download_is_explained_and_leaves_nothing(server, tmp_path, path, reason):
    with pytest.raises(OSError, match=f"could not be downloaded: .*{reason}.*put it at") as caught:
        local_copy(remote(server, path), tmp_path)
    assert str(tmp_path / "er" / "pairs.txt") in str(caught.value)
    assert list(tmp_path.rglob("*")) == []


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


def test_without_pooch_the_file_can_be_put_there_by_hand(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    file = RemoteFile("er/pairs.txt", "http://nowhere.invalid", DIGEST)
    with pytest.raises(ImportError, match=r"pip install 'bblr\[data\]', or download"):
        local_copy(file, tmp_path)
    (tmp_path / "er").mkdir()
    (tmp_path / "er" / "pairs.txt").write_bytes(CONTENT)
    assert local_copy(file, tmp_path).read_bytes() == CONTENT


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
