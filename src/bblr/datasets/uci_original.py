"""The four UCI tables as UCI offers them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from bblr.datasets._duplicates import within
from bblr.datasets._remote import Home, RemoteFile, local_copy
from bblr.datasets.uci import UCI_NAMES, load_uci

__all__ = ["fetch_uci_original"]

_HOME = "https://archive.ics.uci.edu/ml/machine-learning-databases"
_MISSING = "?"
# What the last column holds where Nguyen & Sanner have +1.
_POSITIVE = {"breast": 2, "heart": 1, "liver": 1, "pima": 1}


def _complete_rows(path: Path) -> list[str]:
    rows = (" ".join(line.split()) for line in path.read_text("latin-1").splitlines())
    return [row for row in rows if row and _MISSING not in row]


def _holds(sha256: str) -> Callable[[Path], str]:
    """Check the complete rows: copies differ in line ends and in the incomplete rows they keep."""

    def check(path: Path) -> str:
        text = "".join(f"{row}\n" for row in _complete_rows(path))
        same = hashlib.sha256(text.encode("latin-1")).hexdigest() == sha256
        return "" if same else "the SHA-256 of its complete rows differs"

    return check


_FILES = {
    "breast": RemoteFile(
        "uci/raw/breast-cancer-wisconsin.data",
        f"{_HOME}/breast-cancer-wisconsin/breast-cancer-wisconsin.data",
        check=_holds("8dd10506afb1373096abb0236e9baae840a44b2703153e0f13ff9f7a011c819b"),
    ),
    "heart": RemoteFile(
        "uci/raw/heart.csv",
        f"{_HOME}/statlog/heart/heart.dat",
        check=_holds("f5f3b4204c285bafadd85cb735f38b47689f2be7047feb172dcbeab648110bf9"),
    ),
    "liver": RemoteFile(
        "uci/raw/bupa.data",
        f"{_HOME}/liver-disorders/bupa.data",
        check=_holds("a166a3e7a6f4dc41aaaedc59a107e57d8adcaeb8821f0873d756982f1ea74c92"),
    ),
    "pima": RemoteFile(
        "uci/raw/pima-indians-diabetes.data",
        None,
        check=_holds("06f5b7c2cd7bca686fda4f92eab5f61e7ff6426a9acefa2e3dda04fc54293cf5"),
        origin='UCI has withdrawn it; load_uci("pima") has the same rows',
    ),
}


def fetch_uci_original(
    name: str,
    *,
    with_id: bool = True,
    data_home: Home = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
) -> Any:
    """Load one of four UCI tables from the file that UCI offers, in its order and units.

    ========  ==============  ====================================  ===================
    name      rows, features  file                                  target 1
    ========  ==============  ====================================  ===================
    breast    683, 10         uci/raw/breast-cancer-wisconsin.data  benign (444)
    heart     270, 13         uci/raw/heart.csv (UCI: heart.dat)    absence (150)
    liver     345, 6          uci/raw/bupa.data                     selector 1 (145)
    pima      768, 8          uci/raw/pima-indians-diabetes.data    positive (268)
    ========  ==============  ====================================  ===================

    They serve to compare with published figures: breast has ten features in the paper because the
    patient's ID was left among them, and so it is here. For work, take :func:`load_uci`, which
    needs no file, leaves the ID out and has the same rows otherwise (heart's scaled).

    Rows with a missing value (16 of breast) are left out. A file is known by the checksum of its
    complete rows. UCI no longer offers pima: put the file there yourself.

    Parameters
    ----------
    name : {"breast", "heart", "liver", "pima"}
        Which table.
    with_id : bool, default=True
        Keep the patient's ID as breast's first feature, exactly (Nguyen & Sanner's file rounds it
        to five digits). It says nothing about new patients. The other tables have none.
    data_home : path-like or None, default=None
        Folder with the files; ``$BBLR_DATA_HOME`` when None, and a cache in the user's home where
        that is not set. Missing files are downloaded to it.
    download_if_missing : bool, default=True
        Raise an error instead of downloading when False. A download needs pooch:
        ``pip install 'bblr[data]'``.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.

    Returns
    -------
    Bunch or tuple (data, target)
        The Bunch has `data` (float64, rows × features), `target` (int64, 0 or 1; 1 is what
        Nguyen & Sanner label +1), `feature_names`, `target_names` (of 0 and 1, in this order),
        `duplicates` and `DESCR`. There is no split: `duplicates` counts under `all` the rows that
        repeat the features of an earlier one.

    Raises
    ------
    ValueError
        If there is no table of that name.
    OSError
        If the file is missing and cannot be downloaded, or is not the file expected.

    Examples
    --------
    >>> from bblr.datasets import fetch_uci_original
    >>> breast = fetch_uci_original("breast")  # doctest: +SKIP
    >>> breast.data.shape, breast.feature_names[0]  # doctest: +SKIP
    ((683, 10), 'id')
    >>> fetch_uci_original("breast", with_id=False).duplicates  # doctest: +SKIP
    {'all': 234}
    """
    if not isinstance(name, str) or name not in _FILES:
        choices = ", ".join(map(repr, UCI_NAMES))
        raise ValueError(f"name={name!r} is not known; choose one of {choices}")
    path = local_copy(_FILES[name], data_home, download_if_missing=download_if_missing)
    table = np.array([row.replace(",", " ").split() for row in _complete_rows(path)], dtype=float)
    embedded = load_uci(name)
    feature_names = list(embedded.feature_names)
    first = 0
    if name == "breast":
        first = 0 if with_id else 1
        feature_names = ["id", *feature_names][first:]
    data = np.ascontiguousarray(table[:, first:-1])
    target = (table[:, -1] == _POSITIVE[name]).astype(np.int64)
    if return_X_y:
        return data, target
    return Bunch(
        data=data,
        target=target,
        feature_names=feature_names,
        target_names=embedded.target_names,
        duplicates={"all": within(data)},
        DESCR=fetch_uci_original.__doc__,
    )
