"""Errors for feature columns that cannot be turned into numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bblr.io.tables.commas import has_comma, perhaps_thousands

_POINTS = (
    "in Excel choose the point as decimal separator under File > Options > Advanced and save "
    "again; pandas: read_csv(..., decimal=',') and to_csv"
)


class UnusableColumn(ValueError):
    """A feature column that cannot be turned into numbers.

    Parameters
    ----------
    message : str
        All there is to say where it is the only one.
    name : str
        Its name.
    reason : str
        What is wrong, in a few words.
    spare : bool, default=True
        Whether leaving it out is a remedy; numbers that are only written amiss are needed.
    """

    def __init__(self, message: str, name: str, reason: str, *, spare: bool = True) -> None:
        super().__init__(message)
        self.name = name
        self.reason = reason
        self.spare = spare


def all_unusable(errors: Sequence[UnusableColumn], path: Path) -> ValueError:
    """Return one error for several columns, with a list to leave out."""
    shown = ", ".join(f"{error.name!r} ({error.reason})" for error in errors[:10])
    dots = ", …" if len(errors) > 10 else ""
    remedies = []
    if any(not error.spare for error in errors):
        remedies.append(f"write numbers with a decimal point ({_POINTS})")
    spare = [error.name for error in errors if error.spare]
    if spare:
        these = "them" if len(spare) == len(errors) else "the others"
        remedies.append(f"turn {these} into numbers, or leave {these} out by drop={spare!r}")
    return ValueError(
        f"{path}: {len(errors)} columns cannot be used: {shown}{dots}; {'; '.join(remedies)}"
    )


def leave_out(name: str) -> str:
    """Say how to leave a column out."""
    return f"leave it out by drop={name!r}"


def check_finite(values: np.ndarray, name: str, path: Path) -> None:
    """Raise an error where values are infinite."""
    n_infinite = int(np.isinf(values).sum())
    if n_infinite:
        raise UnusableColumn(
            f"{path}: column {name!r} has {n_infinite} infinite value(s); replace them with "
            f"numbers or remove those rows, or {leave_out(name)}",
            name,
            f"{n_infinite} infinite",
        )


def misspelt(
    text: np.ndarray, rows: np.ndarray, odd: list[str], name: str, path: Path
) -> UnusableColumn:
    """Return the error for numbers of which some, the odd ones, cannot be read."""
    first = int(np.flatnonzero(np.isin(text, odd))[0])
    cell = f"{str(text[first])!r} (first in data row {rows[first]})"
    where = f"{path}: column {name!r} looks like numbers, but {cell} is none; "
    if all(map(has_comma, odd)):
        doubtful = all(map(perhaps_thousands, odd))
        commas = "commas of decimals or of thousands" if doubtful else "decimal commas"
        return UnusableColumn(
            f"{where}write numbers with a decimal point (found {commas}; {_POINTS})",
            name,
            f"{commas}, {cell}",
            spare=False,
        )
    return UnusableColumn(
        f"{where}correct it (numbers are written with a decimal point, missing ones as ? or not "
        f"at all), or {leave_out(name)}",
        name,
        f"numbers, but {cell} is none",
    )
