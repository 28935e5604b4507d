"""webspam: bytes of web pages, spam or not."""

from __future__ import annotations

import lzma
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.utils import Bunch

from bblr.datasets._duplicates import within
from bblr.datasets._remote import Home, RemoteFile, local_copy

__all__ = ["fetch_webspam"]

_SHAPE = (350_000, 254)
_CHUNK = 1 << 20


def _unsound(path: Path) -> str:
    """Say whether an archive's own checksums fail: that is all that can be told of it."""
    try:
        with lzma.open(path) as stream:
            while stream.read(_CHUNK):
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
        Raise an error instead of downloading when False. A download needs pooch:
        ``pip install 'bblr[data]'``.
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
    path = local_copy(
        _FILES["data"], data_home, download_if_missing=download_if_missing, verify=False
    )
    X, y = _read(path)
    if return_X_y:
        return X, y
    return Bunch(data=X, target=y, duplicates={"all": within(X)}, DESCR=fetch_webspam.__doc__)


def _read(path: Path) -> tuple[Any, Any]:
    try:
        with lzma.open(path) as stream:
            X, y = load_svmlight_file(stream)
    except (lzma.LZMAError, EOFError, ValueError) as error:
        raise _refused(path, str(error)) from error
    labels = np.unique(y)
    if X.shape != _SHAPE or labels.tolist() != [-1.0, 1.0]:
        found = f"{X.shape[0]:,} rows of {X.shape[1]:,} features with labels {labels.tolist()}"
        wanted = f"{_SHAPE[0]:,} of {_SHAPE[1]:,} with −1 and 1"
        raise _refused(path, f"{found} instead of {wanted}")
    return X, y.astype(np.int64)


def _refused(path: Path, reason: str) -> OSError:
    return OSError(
        f"{path} is not the file expected ({reason}): it is damaged or another version; remove it "
        "to have it downloaded again"
    )
