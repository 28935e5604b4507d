"""Reports of text, tables and drawings: one way to write HTML, one Markdown, one a terminal."""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

import numpy as np
import pandas as pd
from jinja2 import Environment
from markupsafe import Markup
from rich.box import SIMPLE_HEAD
from rich.table import Table as RichTable
from rich.text import Text

from bblr import _pages
from bblr._atomic import whole_file
from bblr._settings import escaped
from bblr.comparison.figures import Panel

__all__ = [
    "DASH", "Bullets", "Code", "Document", "Grid", "Heading", "Panels", "Section",
    "markdown_table", "plain", "shown", "terminal_table",
]  # fmt: skip

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
        table.add_column(
            Text(escaped(name)), justify="left" if left else "right", no_wrap=name not in wrap
        )
    marks = [*bold, *[False] * len(frame)]
    for row, mark in zip(frame.itertuples(index=False), marks, strict=False):
        table.add_row(*(Text(escaped(str(cell))) for cell in row), style="bold" if mark else None)
    return table


def markdown_table(frame: pd.DataFrame, bold: np.ndarray | None = None) -> str:
    """Write a frame of texts as a Markdown table whose columns line up, numbers to the right.

    Parameters
    ----------
    frame : DataFrame
        Texts; its columns are the headings.
    bold : ndarray of bool or None
        Which cells stand out, in the shape of the frame.
    """
    cells = frame.astype(str).to_numpy(dtype=object)
    if bold is not None:
        cells = np.where(bold, "**" + cells + "**", cells)
    lines = [[*map(str, frame.columns)], *cells.tolist()]
    lines = [[re.sub(r"(?<!\\)\|", r"\|", cell) for cell in line] for line in lines]
    widths = [max(3, *map(len, column)) for column in zip(*lines, strict=True)]
    lines.insert(1, ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])])
    for line in lines:
        line[:] = [line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|~$&])")
# What begins a heading, a list or a rule where it comes first.
_OPENING = re.compile(r"^(\d*)([#+\-=.):])")


def plain(text: str) -> str:
    """Keep text on one line, and its signs from being taken for Markdown."""
    return _OPENING.sub(r"\1\\\2", _cell(text))


def _cell(text: object) -> str:
    return _SPECIAL.sub(r"\\\1", " ".join(str(text).split()))


def _environment() -> Environment:
    """Return the templates of pages; what is put into them is escaped."""
    found = _pages.environment("bblr.comparison")
    found.filters["tied"] = _tied
    found.filters["drawing"] = _drawing
    return found


def _tied(text: str) -> str:
    """Keep numbers on one line with what belongs to them, minus signs included."""
    text = text.replace("= -", "= −")
    return re.sub(r"(?<=\d) (?=%)|(?<=[zp]) (?=[=<])|(?<=[=<]) ", "\u00a0", text)


def _drawing(panel: Panel) -> Markup:
    """Take a drawing as it is, and see to it that it can be read aloud."""
    start = re.search(r"<svg\b[^>]*", panel.svg)
    if start is None:
        raise ValueError(f"svg of panel {panel.title!r} has no <svg> element: draw it as one")
    label = {"role": "img", "aria-label": escape(panel.text)}
    missing = [f' {name}="{text}"' for name, text in label.items() if f" {name}=" not in start[0]]
    return Markup(start[0] + "".join(missing) + panel.svg[start.end() :])


@dataclass(frozen=True)
class Heading:
    """A heading inside a section."""

    text: str
    kind = "heading"

    def markdown(self) -> str:
        """Write it."""
        return f"### {plain(self.text)}"


@dataclass(frozen=True)
class Bullets:
    """A list; of each pair the first stands out."""

    items: Sequence[str | tuple[str, str]]
    kind = "bullets"

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The items, an empty text first where nothing stands out."""
        return [item if isinstance(item, tuple) else ("", item) for item in self.items]

    def markdown(self) -> str:
        """Write it."""
        return "\n".join(
            f"- **{plain(first)}** {plain(text)}" if first else f"- {plain(text)}"
            for first, text in self.pairs
        )


@dataclass(frozen=True)
class Code:
    """Code to copy."""

    text: str
    kind = "code"

    def markdown(self) -> str:
        """Write it."""
        return f"```python\n{self.text}\n```"


@dataclass(frozen=True, eq=False)
class Grid:
    """A table.

    Parameters
    ----------
    frame : DataFrame
        Texts; its columns are the headings and its first column names the rows.
    name : str
        What it shows, for those who cannot see it.
    bold : ndarray of bool or None
        Which cells stand out, in the shape of the frame.
    lines : bool, default=False
        Whether it goes figure by figure: a page sorts it by any column and may hide it, and
        Markdown does without it.
    """

    frame: pd.DataFrame
    name: str
    bold: np.ndarray | None = None
    lines: bool = False
    kind = "grid"

    @property
    def rows(self) -> list[list[tuple[str, bool]]]:
        """The cells row by row, each with whether it stands out."""
        marks = np.zeros(self.frame.shape, bool) if self.bold is None else self.bold
        texts = self.frame.astype(str).to_numpy(dtype=object)
        return [list(zip(*pair, strict=True)) for pair in zip(texts, marks, strict=True)]

    def markdown(self) -> str:
        """Write it."""
        if self.lines:
            return ""
        frame = self.frame.astype(object).map(_cell).rename(columns=_cell)
        return markdown_table(frame, self.bold)


@dataclass(frozen=True)
class Panels:
    """Drawings side by side."""

    panels: Sequence[Panel]
    kind = "panels"

    def markdown(self) -> str:
        """Write what they show, in words."""
        pairs = [(f"{p.title}.", p.text.removeprefix(f"{p.title}. ")) for p in self.panels]
        return "Drawn, in words:\n\n" + Bullets(pairs).markdown()


Block = str | Heading | Bullets | Code | Grid | Panels


@dataclass(frozen=True)
class Section:
    """A heading and what stands under it; a text is a paragraph."""

    title: str
    blocks: Sequence[Block]
    anchor: str = ""


@dataclass(frozen=True)
class Document:
    """A report.

    Parameters
    ----------
    kicker, title : str
        The command, and the heading of all.
    lead : sequence of str
        Paragraphs below it.
    sections : sequence of Section
        The rest; a page lists them first where they are many.
    """

    kicker: str
    title: str
    lead: Sequence[str]
    sections: Sequence[Section] = field(default_factory=list)

    def markdown(self) -> str:
        """Write GitHub Markdown, equal for equal documents; of drawings only the words."""
        blocks = [f"# {plain(self.title)}", *map(plain, self.lead)]
        for section in self.sections:
            blocks.append(f"## {plain(section.title)}")
            for block in section.blocks:
                blocks.append(plain(block) if isinstance(block, str) else block.markdown())
        return "\n\n".join(filter(None, blocks)) + "\n"

    def html(self) -> str:
        """Write a page with its style, drawings and script inside: it loads nothing."""
        templates = _environment()
        script = templates.get_template("page.js").render()
        digest = b64encode(hashlib.sha256(script.encode()).digest()).decode()
        anchors = _anchors([section.anchor or section.title for section in self.sections])
        page = templates.get_template("page.html.j2").render(
            document=self,
            sections=list(zip(anchors, self.sections, strict=True)),
            script=Markup(script),
            script_hash=f"sha256-{digest}",
        )
        return page.lstrip() + "\n"

    def write(self, page: Path, markdown: Path) -> None:
        """Write both forms, each a whole file or none."""
        for path, text in ((page, self.html()), (markdown, self.markdown())):
            with whole_file(path) as file:
                file.write(text.encode())


def _anchors(names: Iterable[str]) -> list[str]:
    """Make an id of each name, no two alike."""
    taken = {"contents", ""}
    found = []
    for name in names:
        start = anchor = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "section"
        number = 2
        while anchor in taken:
            anchor, number = f"{start}-{number}", number + 1
        taken.add(anchor)
        found.append(anchor)
    return found
