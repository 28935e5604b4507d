"""What was read, but perhaps not as it was meant: a sentence for each, with the remedy."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

import numpy as np

from bblr.io.tables.commas import is_number
from bblr.io.tables.unusable import leave_out

_MOST = 10
# With fewer rows a plain feature may happen to look like numbers of rows.
_LEAST_ROWS = 30
# 2026-11-16, 16.11.2026, 11/16/26, with or without a time of day.
_DATE = re.compile(r"\d{1,4}([-./])\d{1,2}\1\d{1,4}([T ]\d{1,2}:.*)?$")


def comma_note(names: Sequence[str]) -> str:
    """Say where decimal commas were read."""
    return f"decimal commas read as such in {_columns(names)}"


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
            f"{what} that differ only in letter case or blanks are taken for different ones: "
            f"{shown}; write them alike in the file if they are the same"
        )


def sign_notes(levels: Sequence[str], name: str) -> Iterator[str]:
    """Say that numbers with a sign of a unit, or dates, were taken for categories."""
    if len(levels) <= 2:
        return
    found = (
        f"column {name!r} is text, a category for each of its {len(levels)} values (such as "
        f"{levels[0]!r}); "
    )
    if all(map(_is_amount, levels)):
        yield f"{found}write the numbers alone if they are meant"
    if all(map(_DATE.match, levels)):
        yield f"{found}turn dates into numbers, such as days, or {leave_out(name)}"


def _is_amount(text: str) -> bool:
    """Whether a text is a number beside a percent or currency sign."""
    rest = "".join(c for c in text if c != "%" and unicodedata.category(c) != "Sc")
    return rest != text and is_number(rest.replace(",", "."))


def numbered_note(names: Sequence[str]) -> str:
    """Say which columns seem to number the rows."""
    if len(names) == 1:
        return f"column {names[0]!r} seems to number the rows; if it does, {leave_out(names[0])}"
    return f"{_columns(names)} seem to number the rows; if so, leave them out by drop={names!r}"


def numbers_rows(values: np.ndarray) -> bool:
    """Whether whole numbers look like those of rows.

    All differ, and they rise or fall all the way or fill at least half of their range. Of other
    whole numbers so dense, some would be equal.
    """
    if len(values) < _LEAST_ROWS:
        return False
    # Python's integers: a difference may leave the range of 64 bits.
    span = int(values.max()) - int(values.min())
    if span < len(values) - 1:
        return False
    up = values[1:] > values[:-1]
    if up.all() or bool(np.all(values[1:] < values[:-1])):
        return True
    return span < 2 * len(values) and len(np.unique(values)) == len(values)


def _columns(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:_MOST])
    more = f", … ({len(names)} in all)" if len(names) > _MOST else ""
    return f"{'column' if len(names) == 1 else 'columns'} {shown}{more}"
