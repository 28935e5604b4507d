"""The four UCI tables of Nguyen & Sanner (2013), embedded in the package."""

from __future__ import annotations

from importlib import resources
from typing import Any

import numpy as np
from sklearn.utils import Bunch

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
    if not isinstance(name, str) or name not in _TARGET_NAMES:
        choices = ", ".join(repr(choice) for choice in UCI_NAMES)
        raise ValueError(f"name={name!r} is not an embedded table; choose one of {choices}")
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
