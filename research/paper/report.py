"""The report of a reproduction: one HTML file that needs nothing beside it."""

from __future__ import annotations

import hashlib
import os
import re
from base64 import b64encode
from html import escape
from pathlib import Path

from jinja2 import Environment
from markupsafe import Markup

from bblr._atomic import whole_file
from bblr.comparison.figures import Panel
from bblr.comparison.report import environment
from research.paper.layout import sections
from research.paper.markdown import render_markdown
from research.paper.results import Reproduction
from research.paper.wording import MOST_FAILURES, capital, counts, scope, tally

__all__ = ["render_markdown", "render_report", "write_report"]

_ANCHORS = ("contents", "failures", "findings", "measured", "unavailable")


def render_report(found: Reproduction) -> str:
    """Turn a reproduction into an HTML page.

    Returns
    -------
    str
        A page with its style, figures and script inside; it loads nothing, and equal arguments
        give equal pages.

    Examples
    --------
    >>> render_report(Reproduction([]))[:15]
    '<!doctype html>'
    """
    templates = environment("research.paper")
    templates.filters["capital"] = capital
    templates.filters["drawing"] = _drawing
    script, script_hash = _script(templates)
    page = templates.get_template("reproduce.html.j2").render(
        sections=sections(found.results, _ANCHORS),
        findings=found.findings,
        tally=tally(found.findings),
        level=found.level,
        scope=scope(found.level),
        counts=counts(found.results),
        seed=found.seed,
        versions=found.versions,
        unavailable=found.unavailable,
        failures=found.failures,
        most=MOST_FAILURES,
        script=script,
        script_hash=script_hash,
    )
    return page.lstrip() + "\n"


def write_report(path: str | os.PathLike[str], found: Reproduction) -> Path:
    """Render the report and write it to ``path``, whole or not at all."""
    page = render_report(found)
    path = Path(path)
    with whole_file(path) as file:
        file.write(page.encode())
    return path


def _script(templates: Environment) -> tuple[Markup, str]:
    """Read the script of the page, and the hash that lets it run and no other."""
    text = templates.get_template("reproduce.js").render()
    digest = hashlib.sha256(text.encode()).digest()
    return Markup(text), f"sha256-{b64encode(digest).decode()}"


def _drawing(panel: Panel) -> Markup:
    """Take a drawing as it is, and see to it that it can be read aloud."""
    start = re.search(r"<svg\b[^>]*", panel.svg)
    if start is None:
        raise ValueError(f"svg of panel {panel.title!r} has no <svg> element: draw it as one")
    label = {"role": "img", "aria-label": escape(panel.text)}
    missing = [f' {name}="{text}"' for name, text in label.items() if f" {name}=" not in start[0]]
    return Markup(start[0] + "".join(missing) + panel.svg[start.end() :])
