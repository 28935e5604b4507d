"""The four UCI tables of Nguyen & Sanner (2013): embedded ones, and as UCI offers them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from bblr._checks import check_choice
from bblr.datasets._registry import dataset, packed
from bblr.datasets._remote import Home, RemoteFile, local_copy

__all__ = ["UCI_NAMES", "fetch_uci_original", "load_uci"]

_DATA_MODULE = "bblr.datasets.data"

# Names of target 0 and target 1; target 1 is what Nguyen & Sanner label +1.
_TARGET_NAMES = {
    "breast": ("malignant", "benign"),
    "heart": ("presence", "absence"),
    "liver": ("selector 2", "selector 1"),
    "pima": ("negative", "positive"),
}

UCI_NAMES = tuple(_TARGET_NAMES)
"""The names `load_uci` knows."""


@dataset(*_TARGET_NAMES)
def load_uci(name: str, *, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load one of the four embedded UCI tables (binary classification).

    ========  ==============  ===================  ===================
    name      rows, features  target 1             target 0
    ========  ==============  ===================  ===================
    breast    683, 9          benign (444)         malignant (239)
    heart     270, 13         absence (150)        presence (120)
    liver     345, 6          selector 1 (145)     selector 2 (200)
    pima      768, 8          positive (268)       negative (500)
    ========  ==============  ===================  ===================

    Target 1 is the class that Nguyen & Sanner (2013) label +1. Heart's features come scaled to
    [−1, 1]; the others are in their own units. Nothing else is done to them: standardise them
    before fitting a regularised model.

    Parameters
    ----------
    name : {"breast", "heart", "liver", "pima"}
        Which table.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        Give the data as a pandas DataFrame and the target as a Series. Needs pandas.

    Returns
    -------
    Bunch or tuple (data, target)
        The Bunch has `data` (float64, rows × features), `target` (int64, 0 or 1),
        `feature_names`, `target_names` (of 0 and 1, in this order), `DESCR` (with source,
        licence and references), `frame` (features and target together if `as_frame`, else
        None), `filename` and `data_module` (where the table lies, for
        `importlib.resources`).

    Raises
    ------
    ValueError
        If there is no table of that name.
    ImportError
        If `as_frame` is asked for and pandas is missing.

    Examples
    --------
    >>> from bblr.datasets import load_uci
    >>> liver = load_uci("liver")
    >>> liver.data.shape, liver.feature_names[-1]
    ((345, 6), 'drinks')
    >>> X, y = load_uci("heart", return_X_y=True)
    >>> X.shape, y.sum()
    ((270, 13), np.int64(150))
    """
    check_choice("name", name, UCI_NAMES)
    folder = resources.files(_DATA_MODULE)
    with (folder / f"{name}.csv").open(encoding="utf-8") as lines:
        *feature_names, target_name = next(lines).strip().split(",")
        table = np.loadtxt(lines, delimiter=",")
    data: Any = np.ascontiguousarray(table[:, :-1])
    target: Any = table[:, -1].astype(np.int64)
    frame = None
    if as_frame:
        data, target, frame = _as_frame(data, target, feature_names, target_name)
    if return_X_y:
        return data, target
    return Bunch(
        data=data,
        target=target,
        frame=frame,
        feature_names=feature_names,
        target_names=np.array(_TARGET_NAMES[name]),
        DESCR=(folder / f"{name}.rst").read_text(encoding="utf-8"),
        filename=f"{name}.csv",
        data_module=_DATA_MODULE,
    )


def _as_frame(
    data: np.ndarray, target: np.ndarray, feature_names: list[str], target_name: str
) -> tuple[Any, Any, Any]:
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(
            "as_frame=True needs pandas; install it (pip install pandas) or leave as_frame=False"
        ) from error
    frame = pd.DataFrame(data, columns=feature_names)
    frame[target_name] = target
    return frame[feature_names], frame[target_name], frame


_UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
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
        f"{_UCI}/breast-cancer-wisconsin/breast-cancer-wisconsin.data",
        check=_holds("8dd10506afb1373096abb0236e9baae840a44b2703153e0f13ff9f7a011c819b"),
    ),
    "heart": RemoteFile(
        "uci/raw/heart.csv",
        f"{_UCI}/statlog/heart/heart.dat",
        check=_holds("f5f3b4204c285bafadd85cb735f38b47689f2be7047feb172dcbeab648110bf9"),
    ),
    "liver": RemoteFile(
        "uci/raw/bupa.data",
        f"{_UCI}/liver-disorders/bupa.data",
        check=_holds("a166a3e7a6f4dc41aaaedc59a107e57d8adcaeb8821f0873d756982f1ea74c92"),
    ),
    "pima": RemoteFile(
        "uci/raw/pima-indians-diabetes.data",
        None,
        check=_holds("06f5b7c2cd7bca686fda4f92eab5f61e7ff6426a9acefa2e3dda04fc54293cf5"),
        origin='UCI has withdrawn it; load_uci("pima") has the same rows',
    ),
}


@dataset(*UCI_NAMES)
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
        Raise an error instead of downloading when False.
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
    check_choice("name", name, UCI_NAMES)
    path = local_copy(_FILES[name], data_home, download_if_missing=download_if_missing)
    table = np.array([row.replace(",", " ").split() for row in _complete_rows(path)], dtype=float)
    embedded = load_uci(name)
    ids = ["id"] if name == "breast" else []
    first = 0 if with_id else len(ids)
    return packed(
        fetch_uci_original,
        np.ascontiguousarray(table[:, first:-1]),
        (table[:, -1] == _POSITIVE[name]).astype(np.int64),
        return_X_y,
        feature_names=[*ids, *embedded.feature_names][first:],
        target_names=embedded.target_names,
    )
