"""TREC07p: bytes of mail, spam or not."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from bblr.datasets._duplicates import within
from bblr.datasets._registry import dataset, packed
from bblr.datasets._remote import Home, RemoteFile, local_copies

__all__ = ["fetch_trec07p"]

_ORIGIN = (
    "byte counts derived from the TREC 2007 public spam corpus, "
    "https://plg.uwaterloo.ca/~gvcormac/treccorpus07/"
)
_SUMS = {
    "X.npz": "9757ea52db936fbc6ac0aa46ffaffcbe8a22a430dd077e7e5251bc042fa963c8",
    "y.npy": "36b843abba8998f78f554b269c51a2b26a1ebf410efacde7061318f76f938f75",
}
_FILES = {
    name: RemoteFile(f"trec07p/{name}", None, digest, origin=_ORIGIN)
    for name, digest in _SUMS.items()
}


@dataset()
def fetch_trec07p(
    *,
    data_home: Home = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
) -> Any:
    """Load the byte counts of the TREC 2007 spam corpus, each message scaled to length 1.

    The 75,399 messages stand in the order of delivery; 50,179 are spam. The counts are derived
    data that nobody offers for download: put ``trec07p/X.npz`` (how often each of the 256 bytes
    occurs in each message, for `scipy.sparse.load_npz`) and ``trec07p/y.npy`` (+1 for spam, −1
    for the rest) into the data folder. Other files of these names are refused by their checksums.

    Parameters
    ----------
    data_home : path-like or None, default=None
        Folder with the two files; ``$BBLR_DATA_HOME`` when None, and a cache in the user's home
        where that is not set.
    download_if_missing : bool, default=True
        For uniformity with the other loaders; there is nothing to download.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.

    Returns
    -------
    Bunch or tuple (data, target)
        The Bunch has `data` (CSR matrix, 75,399 × 256), `target` (int64, +1 for spam and −1 for
        the rest), `feature_names`, `duplicates` and `DESCR`. There is no official split:
        `duplicates` counts under `all` the messages with the counts of an earlier one.

    Raises
    ------
    FileNotFoundError
        If a file is missing; the message says what to put where.
    OSError
        If a file is not the one expected.

    References
    ----------
    G. V. Cormack (2007). TREC 2007 spam track overview.

    Examples
    --------
    >>> from bblr.datasets import fetch_trec07p
    >>> mail = fetch_trec07p()  # doctest: +SKIP
    >>> mail.data.shape, mail.feature_names[32]  # doctest: +SKIP
    ((75399, 256), 'byte 0x20')
    """
    data, target = local_copies(_FILES.values(), data_home, download_if_missing)
    counts: Any = sp.load_npz(data)
    X = normalize(counts.tocsr().astype(np.float64), copy=False)
    y = np.load(target).astype(np.int64)
    return packed(
        fetch_trec07p,
        X,
        y,
        return_X_y,
        # By their counts: once scaled, a message equals its own text twice over.
        duplicates=lambda: {"all": within(counts)},
        feature_names=[f"byte 0x{byte:02x}" for byte in range(X.shape[1])],
    )
