"""What the cells of a column are: texts, numbers, and numbers written with decimal commas."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from datetime import date
from numbers import Number
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

_COMMA = re.compile(r"[-+]?(?:\d+|\d{1,3}(?:\.\d{3})+),\d+(?:[eE][-+]?\d+)?", re.ASCII)
_THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2},\d{3}", re.ASCII)
_LEADING_ZERO = re.compile(r"[-+]?0\d")
# What begins a formula in a spreadsheet, after blanks too.
_RUN = {"=", "+", "-", "@"}
_TRUTH = {"true": True, "false": False}
# What may stand among texts.
_CELLS = (str, Number, bool, date, np.generic)
# What Python objects may be that are numbers all the same.
_NUMBERS = {"integer", "floating", "decimal", "mixed-integer-float"}


def present_cells(column: pd.Series) -> tuple[pd.Series, np.ndarray]:
    """Return the cells of a column that are not missing, as what they are, and the gaps."""
    import pandas as pd

    gaps = column.isna().to_numpy(dtype=bool, copy=True)
    present = column[~gaps] if gaps.any() else column
    if isinstance(present.dtype, pd.CategoricalDtype):
        present = present.astype(present.cat.categories.dtype)
    if present.dtype == object:
        present = present.infer_objects()  # true, false and gaps are read as objects
        kind = pd.api.types.infer_dtype(present) if present.dtype == object else ""
        if kind in _NUMBERS:
            present = present.astype(np.float64)
        elif kind == "date":
            present = pd.to_datetime(present)
    return present, gaps


def is_text(column: pd.Series) -> bool:
    """Whether cells hold text."""
    import pandas as pd

    if column.dtype == object:
        kinds = set(map(type, column))  # perhaps numbers and dates too, as Excel has them
        return str in kinds and all(issubclass(kind, _CELLS) for kind in kinds)
    return isinstance(column.dtype, pd.StringDtype) or pd.api.types.is_string_dtype(column.dtype)


def texts(column: pd.Series) -> pd.Series:
    """Return cells as texts without blanks around them, whole numbers without a point."""
    values = column
    if values.dtype.kind == "f":
        whole = values.to_numpy(dtype=np.float64)
        if np.all((whole == np.rint(whole)) & (np.abs(whole) < 2.0**53)):
            values = values.astype(np.int64)
    return values.astype(str).str.strip()


def read_classes(column: pd.Series) -> pd.Series:
    """Return cells read as texts as the numbers or truth values they are, if that tells as much.

    ``7`` and ``007`` are one number and two classes, and floats merge integers beyond 2**53.
    """
    import pandas as pd

    codes, different = column.factorize()
    cells = [str(cell).strip() for cell in different]
    if any(map(_LEADING_ZERO.match, cells)):
        return column
    if {cell.lower() for cell in cells} <= _TRUTH.keys():
        values = pd.Series([_TRUTH[cell.lower()] for cell in cells], dtype=object)
    else:
        try:
            values = pd.to_numeric(pd.Series(cells, dtype=object))
        except ValueError:
            return column
        if not _tells_apart(values):
            return column
    return values.reindex(codes).set_axis(column.index).infer_objects()


def _tells_apart(values: pd.Series) -> bool:
    """Whether numbers read from different texts differ as the texts do, as int64 or floats."""
    if values.dtype.kind != "f":
        return values.dtype == np.int64
    return not values[values.abs() >= 2.0**53].duplicated().any()


def inert(cell: Any) -> Any:
    """Return a cell for a CSV file, with an apostrophe before what a spreadsheet would run.

    Numbers such as -3.5 and lone signs are no formulas.
    """
    text = cell.strip() if isinstance(cell, str) else ""
    sign = unicodedata.normalize("NFKC", text[:1])
    return f"'{cell}" if sign in _RUN and len(text) > 1 and not is_number(text) else cell


def is_number(text: str) -> bool:
    """Whether pandas reads a text as a number, which Python does of ``1_000`` and ``１２`` too."""
    if "_" in text or not text.isascii():
        return False
    try:
        return float(text) == float(text)
    except ValueError:
        return False


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
    import pandas as pd

    found: dict[str, pd.Series] = {}
    for name in names:
        present, _ = present_cells(frame[name])
        if present.dtype.kind == "f" and np.any(present % 1 != 0):
            return {}
        if not is_text(present):
            continue
        cells = texts(present)
        different = cells.unique().tolist()
        if not all(has_comma(cell) or is_number(cell) for cell in different):
            continue
        commas = [cell for cell in different if has_comma(cell)]
        if not commas:
            continue
        if any("." in cell and is_number(cell) for cell in different):
            return {}
        known = known or not all(map(perhaps_thousands, commas))
        pointed = cells.str.replace(".", "", regex=False).str.replace(",", ".", regex=False)
        found[name] = pd.to_numeric(pointed).astype(np.float64).reindex(frame.index)
    return found if known else {}
