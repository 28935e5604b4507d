"""A frame as a table: one way to show it on a terminal, one in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd
from rich.box import SIMPLE_HEAD
from rich.table import Table as RichTable
from rich.text import Text

__all__ = ["DASH", "markdown_table", "shown", "terminal_table"]

DASH = "–"


def shown(value: float | None, pattern: str = "{:.2f}") -> str:
    """Write a number; a dash where there is none."""
    return DASH if value is None or pd.isna(value) else pattern.format(value)


def terminal_table(
    frame: pd.DataFrame, *, bold: Iterable[bool] = (), wrap: Sequence[str] = ()
) -> RichTable:
    """Lay out a frame of texts for the terminal: the first column left, the others right.

    Parameters
    ----------
    frame : DataFrame
        Texts; its columns are the headings.
    bold : iterable of bool
        Which rows stand out; none by default.
    wrap : sequence of str
        Columns of words, which are set left and may be broken.
    """
    table = RichTable(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    for place, name in enumerate(frame.columns):
        left = not place or name in wrap
        table.add_column(Text(name), justify="left" if left else "right", no_wrap=name not in wrap)
    marks = [*bold, *[False] * len(frame)]
    for row, mark in zip(frame.itertuples(index=False), marks, strict=False):
        table.add_row(*(Text(str(cell)) for cell in row), style="bold" if mark else None)
    return table


def markdown_table(frame: pd.DataFrame) -> str:
    """Write a frame of texts as a Markdown table whose columns line up, numbers to the right."""
    cells = [[str(c).replace("|", "\\|") for c in row] for row in frame.itertuples(index=False)]
    lines = [list(map(str, frame.columns)), *cells]
    widths = [max(3, *(len(line[k]) for line in lines)) for k in range(len(lines[0]))]
    rules = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    lines.insert(1, rules)
    padded = (
        [
            c.rjust(w) if k else c.ljust(w)
            for k, (c, w) in enumerate(zip(line, widths, strict=True))
        ]
        for line in lines
    )
    return "\n".join(f"| {' | '.join(line)} |" for line in padded)
