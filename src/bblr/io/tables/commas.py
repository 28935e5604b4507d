"""Numbers written with a decimal comma, read where nothing else can be meant."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from bblr.io.tables.labels_in import is_text, texts

if TYPE_CHECKING:
    import pandas as pd

_COMMA = re.compile(r"[-+]?(?:\d+|\d{1,3}(?:\.\d{3})+),\d+(?:[eE][-+]?\d+)?")
_THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2},\d{3}")


def is_number(text: str) -> bool:
    """Whether a text reads as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def has_comma(text: str) -> bool:
    """Whether a text is a number with a decimal comma; points may separate its thousands."""
    return _COMMA.fullmatch(text) is not None


def perhaps_thousands(text: str) -> bool:
    """Whether the comma of a number may as well separate thousands."""
    return _THOUSANDS.fullmatch(text) is not None


def comma_numbers(
    frame: pd.DataFrame, names: Iterable[str], *, known: bool = False
) -> dict[str, pd.Series]:
    """Return the columns that hold numbers with a decimal comma, as numbers.

    None are returned where the commas may mean something else: where every one of them may
    separate thousands (``1,234``), unless decimal commas are `known` to be meant, and where other
    numbers of the frame are written with a decimal point.

    Parameters
    ----------
    frame : DataFrame
        Columns of a file that is not separated by commas.
    names : iterable of str
        The columns that may hold numbers.
    known : bool, default=False
        Whether the file is known to have decimal commas.
    """
    found: dict[str, pd.Series] = {}
    for name in names:
        column = frame[name]
        if column.dtype.kind == "f" and _has_fractions(column.to_numpy(dtype=np.float64)):
            return {}
        if not is_text(column):
            continue
        gaps = column.isna().to_numpy()
        cells = texts(column[~gaps]).tolist()
        commas = [cell for cell in cells if not is_number(cell)]
        if not commas or not all(map(has_comma, commas)):
            continue
        if any("." in cell and is_number(cell) for cell in cells):
            return {}
        known = known or not all(map(perhaps_thousands, commas))
        values = np.full(len(gaps), np.nan)
        values[~gaps] = [float(cell.replace(".", "").replace(",", ".")) for cell in cells]
        found[name] = _series(values, column)
    return found if known else {}


def _has_fractions(values: np.ndarray) -> bool:
    finite = values[np.isfinite(values)]
    return bool(np.any(finite != np.rint(finite)))


def _series(values: np.ndarray, like: pd.Series) -> pd.Series:
    import pandas as pd

    return pd.Series(values, index=like.index)
