"""Product reviews of four kinds, praise or complaint."""

from __future__ import annotations

import hashlib
import tarfile
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction import DictVectorizer

from bblr._atomic import whole_file
from bblr._checks import check_choice
from bblr.datasets._registry import dataset, packed
from bblr.datasets._remote import Home, RemoteFile, local_copies, local_copy, place

__all__ = ["REVIEW_DOMAINS", "fetch_reviews"]

_URL = "https://www.cs.jhu.edu/~mdredze/datasets/sentiment/processed_acl.tar.gz"
_SUMS = {
    "books/positive": "d27a35a59e99b2c2d56731cad8d63870f8a3b9063a70bf8c18862e0a107cdd02",
    "books/negative": "42e4d7e63f429e396de0db87b814f8c6a4b4948d34c94524725b0fe2944a0ff4",
    "dvd/positive": "7e3a2655f9afd141bba569d0df6a4444f6bfa3c28daf243f21125c757940b563",
    "dvd/negative": "9f0c977cf863f361f1f9961dc9e8c2b88630902da3eb5fd880146445144c355d",
    "electronics/positive": "38d0ee5fd4147cfaff427b7f8c1ea9aacbb1fd383d51676288b7af5947fe039f",
    "electronics/negative": "497d95c1ce079d2db672f9d2efa9cc02ba4ebd2a525f7b2495233305def11616",
    "kitchen/positive": "30fd84894433ee9dd7f7aa3da6f858811104e364528719be2d77372295c7d3b3",
    "kitchen/negative": "674510d22f8f0b27790d323ef8633408777e92c122e801ee4ba02bb001d1d798",
}
_FILES = {
    member: RemoteFile(f"reviews/{member}.review", _URL, digest)
    for member, digest in _SUMS.items()
}
REVIEW_DOMAINS = ("books", "dvd", "electronics", "kitchen")
"""The domains `fetch_reviews` knows."""

_LABEL = "#label#"
_LABELS = {"positive": 1, "negative": -1}
# Keys of two words are joined by this.
_JOINT = "_"


def _members(archive: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the reviews of an archive by domain and label."""
    with tarfile.open(archive, "r:gz") as tar:
        for entry in tar:
            member = "/".join(PurePosixPath(entry.name).parts[-2:]).removesuffix(".review")
            stream = tar.extractfile(entry) if member in _FILES else None
            if stream is not None:
                yield member, stream.read()


def _unsound(archive: Path) -> str:
    """Say which reviews an archive lacks: its own checksum is not known, theirs are."""
    try:
        found = {member: hashlib.sha256(text).hexdigest() for member, text in _members(archive)}
    except (tarfile.TarError, EOFError, OSError, zlib.error):
        return "it is not a whole tar archive"
    for member, file in _FILES.items():
        if member not in found:
            return f"it has no {member}.review"
        if found[member] != file.sha256:
            return f"the SHA-256 of its {member}.review differs"
    return ""


_ARCHIVE = RemoteFile("reviews/processed_acl.tar.gz", _URL, check=_unsound)


@dataset(*REVIEW_DOMAINS)
def fetch_reviews(
    domain: str,
    *,
    data_home: Home = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
) -> Any:
    """Load the product reviews of one domain: how often each word occurs in a review.

    ===========  =============  ========
    domain       rows           features
    ===========  =============  ========
    books        1,000 + 1,000  28,234
    dvd          1,000 + 1,000  28,310
    electronics  1,000 + 1,000  14,943
    kitchen      1,000 + 1,000  12,130
    ===========  =============  ========

    The words are those of the processed files, pairs of words left out, as in the paper. Words
    are sorted; the positive reviews stand first. The archive's checksum is not published: what is
    checked are the eight files taken from it, for all four domains at once. A downloaded archive
    is removed when they are.

    Parameters
    ----------
    domain : {"books", "dvd", "electronics", "kitchen"}
        What the reviews are about.
    data_home : path-like or None, default=None
        Folder with ``reviews/books/positive.review`` and so on, or with
        ``reviews/processed_acl.tar.gz``; ``$BBLR_DATA_HOME`` when None, and a cache in the user's
        home where that is not set. A missing archive is downloaded to it.
    download_if_missing : bool, default=True
        Raise an error instead of downloading when False.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.

    Returns
    -------
    Bunch or tuple (data, target)
        The Bunch has `data` (CSR matrix of counts, float64), `target` (int64, +1 for praise and
        −1 for complaint), `feature_names`, `duplicates` and `DESCR`. There is no official split:
        `duplicates` counts under `all` the reviews with the counts of an earlier one.

    Raises
    ------
    ValueError
        If there is no domain of that name.
    OSError
        If a file is missing and cannot be downloaded, or is not the file expected.

    References
    ----------
    J. Blitzer, M. Dredze, F. Pereira (2007). Biographies, Bollywood, boom-boxes and blenders:
    domain adaptation for sentiment classification.

    Examples
    --------
    >>> from bblr.datasets import fetch_reviews
    >>> kitchen = fetch_reviews("kitchen")  # doctest: +SKIP
    >>> kitchen.data.shape, kitchen.target.sum()  # doctest: +SKIP
    ((2000, 12130), np.int64(0))
    """
    check_choice("domain", domain, REVIEW_DOMAINS)
    files = [_FILES[f"{domain}/{label}"] for label in _LABELS]
    if not all(place(file.name, data_home).is_file() for file in files):
        _unpack(data_home, download_if_missing=download_if_missing)
    reviews, labels = [], []
    for path in local_copies(files, data_home, download_if_missing=False):
        # Words may hold any character but a space, those that end a line elsewhere included.
        for line in path.read_bytes().decode("utf-8").rstrip("\n").split("\n"):
            *fields, last = line.split(" ")
            counts: Counter[str] = Counter()
            for key, _, count in (field.rpartition(":") for field in fields):
                if _JOINT not in key:
                    counts[key] += int(count)
            reviews.append(counts)
            labels.append(_LABELS[last.removeprefix(f"{_LABEL}:")])
    words = DictVectorizer()
    X = words.fit_transform(reviews)
    # Made anew, its indices are as short as they can be.
    X = sp.csr_matrix((X.data, X.indices, X.indptr), X.shape)
    X.sort_indices()
    y = np.array(labels, dtype=np.int64)
    return packed(fetch_reviews, X, y, return_X_y, feature_names=words.feature_names_)


def _unpack(data_home: Home, *, download_if_missing: bool) -> None:
    """Write the reviews of all domains where they are missing."""
    kept = place(_ARCHIVE.name, data_home).is_file()
    archive = local_copy(_ARCHIVE, data_home, download_if_missing=download_if_missing)
    for member, text in _members(archive):
        target = place(_FILES[member].name, data_home)
        if not target.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            with whole_file(target) as stream:
                stream.write(text)
    if not kept:
        archive.unlink()
