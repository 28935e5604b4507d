"""A server that fails in every way, and research data in little."""

from __future__ import annotations

import gzip
import io
import lzma
import tarfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
import scipy.sparse as sp

REVIEWS = {
    "positive": "good:2 very_good:1 a:b:1 #label#:positive\ngood:2 a:b:1 #label#:positive\n",
    "negative": "bad\u2028ly:1 good:1 #label#:negative\n",
}
TABLES = {
    "breast-cancer-wisconsin.data": "101,5,1,1,1,2,1,3,1,1,2\n102,5,1,1,1,2,?,3,1,1,4\r\n"
    "103,5,1,1,1,2,1,3,1,1,4\n",
    "heart.csv": "70.0 1 4 130 322 0 2 109 0 2.4 2 3 3 2\n"
    "67.0 0 3 115 564 0 2 160 0 1.6 2 0 7 1 \n",
    "bupa.data": "85,92,45,27,31,0.0,1\n85,64,59,32,23,0.0,2\n",
    "pima-indians-diabetes.data": "6,148,72,35,0,33.6,0.627,50,1\n1,85,66,29,0,26.6,0.351,31,0\n",
}


class Handler(BaseHTTPRequestHandler):
    """Serves files whole, cut short, spoilt, or not at all; from a byte on if it does ranges."""

    def do_GET(self):
        self.server.asked.append(self.headers.get("Range"))
        if self.server.mode == "gone":
            self.send_error(404)
            return
        body = self.server.contents[self.path.lstrip("/")]
        if self.server.mode == "spoilt":
            middle = len(body) // 2
            body = body[:middle] + bytes(byte ^ 1 for byte in body[middle:])
        start = 0
        if self.server.ranges and self.headers.get("Range"):
            start = int(self.headers["Range"].removeprefix("bytes=").removesuffix("-"))
        self._answer(body, start)

    def _answer(self, body, start):
        if start >= len(body):
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{len(body)}")
            self.end_headers()
            return
        self.send_response(206 if start else 200)
        if self.server.ranges:
            self.send_header("Accept-Ranges", "bytes")
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
        rest = body[start:]
        self.send_header("Content-Length", str(len(rest)))
        self.end_headers()
        self.wfile.write(rest[: len(rest) // 2] if self.server.mode == "short" else rest)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server():
    """A local server: set `contents`, `mode` and `ranges`; `asked` notes each request's Range."""
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    httpd.asked, httpd.contents, httpd.mode, httpd.ranges = [], {}, "whole", False
    httpd.address = f"http://127.0.0.1:{httpd.server_address[1]}"
    thread = threading.Thread(target=httpd.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield httpd
    httpd.shutdown()
    httpd.server_close()


def _archive(folder) -> bytes:
    """The reviews as they are published; the same bytes each time, so that a fault is the same."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        for path in sorted(folder.glob("*/*.review")):
            member = tarfile.TarInfo(f"processed_acl/{path.relative_to(folder)}")
            member.size = path.stat().st_size
            tar.addfile(member, io.BytesIO(path.read_bytes()))
    return gzip.compress(stream.getvalue(), mtime=0)


@pytest.fixture
def little(tmp_path, trust, monkeypatch):
    """A folder with data of the form of each loader, in little, which the loaders trust."""
    home = tmp_path / "little"
    for name in ("web8", "trec07p", "webspam", "uci/raw"):
        (home / name).mkdir(parents=True)
    (home / "web8" / "w8a").write_text("-1 2:1 300:1\n+1 \n+1 5:1\n-1 7:1\n+1 7:1\n")
    (home / "web8" / "w8a.t").write_text("-1 7:1\n-1 \n")
    counts = sp.csr_matrix(np.array([[3, 0, 4], [0, 2, 0], [0, 4, 0]], dtype=np.int32))
    sp.save_npz(home / "trec07p" / "X.npz", counts)
    np.save(home / "trec07p" / "y.npy", np.array([1, -1, 1], dtype=np.int8))
    rows = b"1 1:0.5 3:0.5\n-1 2:1\n1 1:0.5 3:0.5\n"
    spam = home / "webspam" / "webspam_wc_normalized_unigram.svm.xz"
    spam.write_bytes(lzma.compress(rows))
    monkeypatch.setattr("bblr.datasets.webspam._SHAPE", (3, 3))
    for name, text in TABLES.items():
        (home / "uci/raw" / name).write_bytes(text.encode())
    for domain in ("books", "dvd", "electronics", "kitchen"):
        (home / "reviews" / domain).mkdir(parents=True)
        for label, text in REVIEWS.items():
            (home / "reviews" / domain / f"{label}.review").write_bytes(text.encode())
    for name in ("web8", "trec07p", "uci", "reviews"):
        trust(name, home)
    return home


@pytest.fixture
def served(little, server, trust, monkeypatch):
    """The same data on a server; the archive of reviews in place of its members."""
    from dataclasses import replace

    from bblr.datasets import reviews, webspam

    for name in ("web8", "trec07p", "uci"):
        trust(name, little, server.address)
    files = [path for path in little.rglob("*") if path.is_file()]
    server.contents = {str(path.relative_to(little)): path.read_bytes() for path in files}
    archive = reviews._ARCHIVE.name
    server.contents[archive] = _archive(little / "reviews")
    url = f"{server.address}/{archive}"
    monkeypatch.setattr(reviews, "_ARCHIVE", replace(reviews._ARCHIVE, url=url))
    spam = webspam._FILES["data"]
    monkeypatch.setitem(webspam._FILES, "data", replace(spam, url=f"{server.address}/{spam.name}"))
    return server
