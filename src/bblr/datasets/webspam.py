"""webspam: bytes of web pages, spam or not."""

from __future__ import annotations

import lzma
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_svmlight_file

from bblr.datasets._registry import dataset, packed
from bblr.datasets._remote import Home, RemoteFile, local_copy

__all__ = ["fetch_webspam"]

_SHAPE = (350_000, 254)


def _unsound(path: Path) -> str:
    """Say whether an archive's own checksums fail: that is all that can be told of it."""
    try:
        with lzma.open(path) as stream:
            for _ in stream:
                pass
    except (lzma.LZMAError, EOFError):
        return "it is not a whole xz archive"
    return ""


_FILES = {
    "data": RemoteFile(
        "webspam/webspam_wc_normalized_unigram.svm.xz",
        "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary/"
        "webspam_wc_normalized_unigram.svm.xz",
        check=_unsound,
    )
}


@dataset()
def fetch_webspam(
    *,
    data_home: Home = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
) -> Any:
    """Load webspam-unigram: how often each byte occurs on a web page, scaled to length 1.

    No checksum of the archive is published. It is known by its own checksums and by what it
    holds: 350,000 rows of 254 features with both labels. Reading takes some minutes.

    Parameters
    ----------
    data_home : path-like or None, default=None
        Folder with ``webspam/webspam_wc_normalized_unigram.svm.xz``; ``$BBLR_DATA_HOME`` when
        None, and a cache in the user's home where that is not set. A missing file is downloaded
        to it, and an interrupted download goes on where it was.
    download_if_missing : bool, default=True
        Raise an error instead of downloading when False.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.

    Returns
    -------
    Bunch or tuple (data, target)
        The Bunch has `data` (CSR matrix, 350,000 × 254), `target` (int64, +1 for spam and −1 for
        the rest), `duplicates` and `DESCR`. There is no official split: `duplicates` counts under
        `all` the rows that repeat an earlier one. The features have no names.

    Raises
    ------
    OSError
        If the file is missing and cannot be downloaded, or is not the file expected.

    References
    ----------
    S. Webb, J. Caverlee, C. Pu (2006). Introducing the Webb spam corpus: using email spam to
    identify web spam automatically.

    Examples
    --------
    >>> from bblr.datasets import fetch_webspam
    >>> X, y = fetch_webspam(return_X_y=True)  # doctest: +SKIP
    >>> X.shape  # doctest: +SKIP
    (350000, 254)
    """
    # To read it is to check it, and takes long enough once.
    file = _FILES["data"]
    path = local_copy(file, data_home, download_if_missing=download_if_missing, verify=False)
    try:
        with lzma.open(path) as stream:
            X, y = load_svmlight_file(stream)
    except (lzma.LZMAError, EOFError, ValueError) as error:
        raise file.refusal(path, str(error)) from error
    labels = np.unique(y)
    if X.shape != _SHAPE or labels.tolist() != [-1.0, 1.0]:
        found = f"{X.shape[0]:,} rows of {X.shape[1]:,} features with labels {labels.tolist()}"
        wanted = f"{_SHAPE[0]:,} of {_SHAPE[1]:,} with −1 and 1"
        raise file.refusal(path, f"{found} instead of {wanted}")
    return packed(fetch_webspam, X, y.astype(np.int64), return_X_y)
