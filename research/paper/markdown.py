"""The tables of a reproduction as GitHub Markdown, to be kept beside the code."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from research.paper.layout import Cell, Line, Part, Section, Sheet, sections
from research.paper.results import Finding, Reproduction
from research.paper.wording import MOST_FAILURES, capital, counts, scope, tally

__all__ = ["render_markdown"]

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|~$&])")
# What begins a heading, a list or a rule where it comes first.
_OPENING = re.compile(r"^(\d*)([#+\-=.):])")


def render_markdown(found: Reproduction) -> str:
    """Turn a reproduction into Markdown, equal for equal arguments; of drawings only the words."""
    how_much = scope(found.level)
    blocks = [
        f"# The paper’s tables and figures, run anew: {how_much.heading}",
        how_much.meaning,
        counts(found.results),
    ]
    if found.findings:
        said = _bullets(map(_said, found.findings))
        blocks += ["## What the figures bear out", tally(found.findings), said]
    if found.unavailable:
        why = (f"{_plain(title)}: {_plain(why)}" for title, why in found.unavailable.items())
        blocks += ["## What could not be run", _bullets(why)]
    for section in sections(found.results):
        blocks += _section(section)
    blocks += ["## How this was measured", _measured(found.seed, found.versions)]
    failures = found.failures
    if failures:
        blocks += ["### What failed", _bullets(_plain(text) for text in failures[:MOST_FAILURES])]
    if len(failures) > MOST_FAILURES:
        blocks.append(f"And {len(failures) - MOST_FAILURES} more, in the records file.")
    return "\n\n".join(filter(None, blocks)) + "\n"


def _said(finding: Finding) -> str:
    verdict = {None: "○ Not judged", True: "✓ Met", False: "✗ Not met"}[finding.met]
    against = f"Against it: {'; '.join(finding.rows)}." if finding.rows else ""
    rest = filter(None, [finding.claim, finding.evidence, against])
    return f"**{verdict}.** {_plain(' '.join(rest))}"


def _section(section: Section) -> list[str]:
    blocks = [f"## {_plain(section.title)}", _plain(section.about), _reading(section.reading)]
    for part in section.parts:
        blocks += _part(part)
    if section.notes:
        blocks += ["On all of these:", _bullets(map(_plain, section.notes))]
    return blocks


def _part(part: Part) -> list[str]:
    heading = f"### {_plain(part.heading)}" if part.heading else ""
    blocks = [heading, _plain(part.about), _reading(part.reading)]
    below = [_plain(note) for note in part.notes]
    if part.sheet is not None:
        blocks += [_legend(part.sheet), _matrix(part.sheet)]
        below = [*_remarks(part.sheet), *below]
    elif part.panels:
        blocks.append("Drawn, in words:")
        drawn = [
            f"**{_plain(panel.title)}.** {_plain(panel.text.removeprefix(f'{panel.title}. '))}"
            for panel in part.panels
        ]
        below = [*drawn, *below]
    else:
        blocks.append("Not drawn: there is nothing to draw it from.")
    return [*blocks, _bullets(below)]


def _legend(sheet: Sheet) -> str:
    shown = {
        (True, True): "ours (printed)",
        (True, False): "ours; the paper has no such figures",
        (False, True): "none of ours (printed)",
        (False, False): "no figures",
    }[sheet.has_ours, sheet.has_printed]
    best = " **Bold**: best of ours in its row." if sheet.has_best else ""
    return f"{_plain(capital(sheet.unit))}: {shown}.{best}"


def _matrix(sheet: Sheet) -> str:
    lines = [["", *map(_plain, sheet.columns)], ["---", *["---:"] * len(sheet.columns)]]
    lines += [[_plain(row), *map(_cell, cells)] for row, cells in sheet.rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(cell: Cell) -> str:
    ours = "–" if cell.ours is None else f"**{cell.ours}**" if cell.best else cell.ours
    return ours if cell.printed is None else f"{ours} ({cell.printed})"


def _remarks(sheet: Sheet) -> Iterable[str]:
    for remark, lines in sheet.remarks.items():
        yield f"{_plain(_where(sheet, lines))}: {_plain(remark)}"


def _where(sheet: Sheet, lines: Sequence[Line]) -> str:
    """Name the figures a remark is about, by row or column alone where it is about all of it."""
    rows = dict.fromkeys(line.row for line in lines)
    columns = dict.fromkeys(line.column for line in lines)
    if len(rows) == 1 and len(lines) > len(sheet.columns) / 2:
        return next(iter(rows))
    if len(columns) == 1 and len(lines) > len(sheet.rows) / 2:
        return next(iter(columns))
    return ", ".join(f"{line.row} {line.column}" for line in lines)


def _measured(seed: int, versions: Sequence[Mapping[str, str]]) -> str:
    made = [", ".join(f"{name} {version}" for name, version in v.items()) for v in versions]
    return " ".join([f"Seed {seed}.", *(f"{_plain(text)}." for text in made if text)])


def _reading(text: str) -> str:
    return f"**Our reading.** {_plain(text)}" if text else ""


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _plain(text: str) -> str:
    """Keep text on one line, and its signs from being taken for Markdown."""
    line = _SPECIAL.sub(r"\\\1", " ".join(text.split()))
    return _OPENING.sub(r"\1\\\2", line)
