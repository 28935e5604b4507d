"""web8: keywords of web pages, LIBSVM's w8a."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

from bblr._checks import check_choice
from bblr.datasets._duplicates import across, not_in
from bblr.datasets._registry import dataset, packed
from bblr.datasets._remote import Home, RemoteFile, local_copies

__all__ = ["fetch_web8"]

_HOME = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary"
_SUMS = {
    "w8a": "6a9fa8fd5f524303240a5db07d4b3d4a51e8b7b4b20a914105d8e3e8c81640f2",
    "w8a.t": "618929ecb01bebb841daec4cae4aa07b97832d29b08652452775598929547fde",
}
_FILES = {
    name: RemoteFile(f"web8/{name}", f"{_HOME}/{name}", digest) for name, digest in _SUMS.items()
}
_FEATURES = 300
_SUBSETS = ("train", "test", "all")


@dataset()
def fetch_web8(
    *,
    subset: Literal["train", "test", "all"] = "train",
    leak_free: bool = False,
    data_home: Home = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
) -> Any:
    """Load web8: which of 300 keywords occur on a web page (LIBSVM's w8a).

    Rows without any keyword are left out, as in the paper: 45,546 rows to train and 13,699 to
    test remain, 3 % of them positive. Every test row stands in the training part too, label
    included, so an error on this official split is a training error; see `leak_free`.

    Parameters
    ----------
    subset : {"train", "test", "all"}, default="train"
        Which part. With "all" the training rows stand first.
    leak_free : bool, default=False
        Drop the training rows whose features also occur in the test part, whatever their labels:
        25,264 are left.
    data_home : path-like or None, default=None
        Folder with ``web8/w8a`` and ``web8/w8a.t``; ``$BBLR_DATA_HOME`` when None, and a cache in
        the user's home where that is not set. Missing files are downloaded to it.
    download_if_missing : bool, default=True
        Raise an error instead of downloading when False.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.

    Returns
    -------
    Bunch or tuple (data, target)
        The Bunch has `data` (CSR matrix of 0 and 1, rows × 300), `target` (int64, −1 or +1),
        `duplicates` and `DESCR`. `duplicates` counts the rows of each part that repeat an earlier
        row of it (`train`, `test`) and the test rows that stand in the training part (`across`),
        by their features; the training part is the one without leaks if `leak_free`. The keywords
        have no names.

    Raises
    ------
    ValueError
        If there is no subset of that name.
    OSError
        If a file is missing and cannot be downloaded, or is not the file expected.

    References
    ----------
    J. Platt (1999). Fast training of support vector machines using sequential minimal
    optimization.

    Examples
    --------
    >>> from bblr.datasets import fetch_web8
    >>> train = fetch_web8()  # doctest: +SKIP
    >>> train.data.shape, train.duplicates["across"]  # doctest: +SKIP
    ((45546, 300), 13699)
    >>> X, y = fetch_web8(leak_free=True, return_X_y=True)  # doctest: +SKIP
    >>> X.shape  # doctest: +SKIP
    (25264, 300)
    """
    check_choice("subset", subset, _SUBSETS)
    paths = local_copies(_FILES.values(), data_home, download_if_missing)
    (X_train, y_train), (X_test, y_test) = map(_read, paths)
    if leak_free:
        kept = not_in(X_train, X_test)
        X_train, y_train = X_train[kept], y_train[kept]
    if subset == "all":
        data, target = sp.vstack([X_train, X_test], "csr"), np.append(y_train, y_test)
    else:
        data, target = (X_train, y_train) if subset == "train" else (X_test, y_test)
    return packed(fetch_web8, data, target, return_X_y, lambda: across(X_train, X_test))


def _read(path: Path) -> tuple[Any, Any]:
    X, y = load_svmlight_file(str(path), n_features=_FEATURES)
    filled = X.getnnz(axis=1) > 0
    return X[filled], y[filled].astype(np.int64)
