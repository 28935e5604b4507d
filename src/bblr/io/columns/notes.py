"""What is wrong with a column, or was perhaps not meant as it was read, with the remedy."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterator, Sequence

from bblr.io.columns.cell_values import has_comma, is_number, perhaps_thousands

_MOST = 10
# 2026-11-16, 16.11.2026, 11/16/26, with or without a time of day.
_DATE = re.compile(r"\d{1,4}([-./])\d{1,2}\1\d{1,4}([T ]\d{1,2}:.*)?$")
_POINTS = (
    "in Excel choose the point as decimal separator under File > Options > Advanced and save "
    "again; pandas: read_csv(..., decimal=',') and to_csv"
)


class ColumnError(ValueError):
    """A column that cannot be used.

    Parameters
    ----------
    name : str
        Its name.
    problem : str
        What is wrong and the remedy, worded to follow the name.
    reason : str
        The same in a few words.
    spare : bool, default=True
        Whether leaving it out is a remedy; numbers that are only written amiss are needed.
    """

    def __init__(self, name: str, problem: str, reason: str, *, spare: bool = True) -> None:
        super().__init__(f"column {name!r} {problem}")
        self.name = name
        self.reason = reason
        self.spare = spare


def all_unusable(errors: Sequence[ColumnError]) -> ValueError:
    """Return one error for several columns, with a list to leave out."""
    if len(errors) == 1:
        return errors[0]
    shown = ", ".join(f"{error.name!r} ({error.reason})" for error in errors[:_MOST])
    dots = ", …" if len(errors) > _MOST else ""
    remedies = []
    if any(not error.spare for error in errors):
        remedies.append(f"write numbers with a decimal point ({_POINTS})")
    spare = [error.name for error in errors if error.spare]
    if spare:
        these = "them" if len(spare) == len(errors) else "the others"
        remedies.append(f"turn {these} into numbers, or leave {these} out by drop={spare!r}")
    return ValueError(
        f"{len(errors)} columns cannot be used: {shown}{dots}; {'; '.join(remedies)}"
    )


def misspelt(cell: str, row: int, odd: Sequence[str], name: str) -> ColumnError:
    """Return the error for numbers of which some, the odd ones, cannot be read.

    Parameters
    ----------
    cell : str
        The first of them.
    row : int
        Where it stands.
    odd : sequence of str
        All of them.
    name : str
        The column.
    """
    where = f"{cell!r} (first in data row {row})"
    looks = f"looks like numbers, but {where} is not one; "
    if all(map(has_comma, odd)):
        doubtful = all(map(perhaps_thousands, odd))
        commas = "commas of decimals or of thousands" if doubtful else "decimal commas"
        problem = f"{looks}write numbers with a decimal point (found {commas}; {_POINTS})"
        return ColumnError(name, problem, f"{commas}, {where}", spare=False)
    return ColumnError(
        name,
        f"{looks}correct it (numbers are written with a decimal point, missing ones as ? or not "
        f"at all), treat all as texts by category={name!r}, or leave it out by drop={name!r}",
        f"numbers, but {where} is none",
    )


def no_such_column(name: str, columns: Sequence[str], role: str, path: str) -> ValueError:
    """Say that the target, or another column, is not there, and which columns are."""
    lower = {column.lower(): column for column in columns}
    close = [lower[match] for match in difflib.get_close_matches(name.lower(), list(lower))]
    hint = f"did you mean {' or '.join(repr(c) for c in close)}? " if close else ""
    return ValueError(
        f"{role}={name!r} is not a column of {path}; {hint}its columns are {listed(columns)}"
    )


def listed(names: Sequence[str], most: int = 20) -> str:
    """Return names with commas between, the first of many."""
    shown = ", ".join(repr(name) for name in names[:most])
    return shown + (f", … ({len(names)} in all)" if len(names) > most else "")


def columns_listed(names: Sequence[str]) -> str:
    """Return the names of columns after the word."""
    return f"{'column' if len(names) == 1 else 'columns'} {listed(names, _MOST)}"


def alike_notes(levels: Sequence[str], what: str) -> Iterator[str]:
    """Name texts that differ in letter case or blanks only.

    Parameters
    ----------
    levels : sequence of str
        Different texts.
    what : str
        What they are, in the plural.
    """
    groups: dict[str, list[str]] = {}
    for level in levels:
        plain = " ".join(unicodedata.normalize("NFKC", level).split()).casefold()
        groups.setdefault(plain, []).append(level)
    alike = [group for group in groups.values() if len(group) > 1]
    if alike:
        shown = "; ".join(" and ".join(map(repr, group[:_MOST])) for group in alike[:_MOST])
        yield (
            f"{what} that differ only in letter case or blanks are treated as different: "
            f"{shown}; write them alike in the file if they are the same"
        )


def sign_notes(levels: Sequence[str], name: str) -> Iterator[str]:
    """Say that numbers with a sign of a unit, or dates, were taken for categories."""
    if len(levels) <= 2:
        return
    found = (
        f"column {name!r} is treated as text, with a category for each of its {len(levels)} "
        f"values (such as {levels[0]!r}); "
    )
    if all(map(_is_amount, levels)):
        yield f"{found}write the bare numbers if numbers are meant"
    if all(map(_DATE.match, levels)):
        yield f"{found}write all dates in one format, or leave it out by drop={name!r}"


def _is_amount(text: str) -> bool:
    """Whether a text is a number beside a percent or currency sign."""
    rest = "".join(c for c in text if c != "%" and unicodedata.category(c) != "Sc")
    return rest != text and is_number(rest.replace(",", "."))
