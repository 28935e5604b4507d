"""The report of a reproduction: one HTML file that needs nothing beside it."""

from __future__ import annotations

import hashlib
import os
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from jinja2 import Environment
from markupsafe import Markup

from bblr._atomic import whole_file
from bblr.experiments.pages import environment
from bblr.experiments.panel import Panel
from bblr.experiments.paper.layout import sections
from bblr.experiments.paper.markdown import render_markdown
from bblr.experiments.paper.results import FigureResult, Finding, TableResult
from bblr.experiments.paper.wording import MOST_FAILURES, capital, counts, scope, tally

__all__ = ["render_markdown", "render_report", "write_report"]

_ANCHORS = ("contents", "failures", "findings", "measured", "unavailable")


def render_report(
    results: Sequence[TableResult | FigureResult],
    *,
    findings: Sequence[Finding],
    level: str,
    seed: int,
    versions: Sequence[Mapping[str, str]],
    unavailable: Mapping[str, str],
    failures: Sequence[str],
) -> str:
    """Turn the results of a reproduction into an HTML page.

    Parameters
    ----------
    results : sequence of TableResult or FigureResult
        What to show, in this order; those of one name stand under one heading.
    findings : sequence of Finding
        What the figures bear out, and what not.
    level : {"quick", "full"}
        How much of the protocols was run.
    seed : int
        The seed of the whole reproduction.
    versions : sequence of dict of str to str
        Versions of whatever made the figures.
    unavailable : dict of str to str
        Why each data set, by its title, could not be had.
    failures : sequence of str
        What failed, a sentence each.

    Returns
    -------
    str
        A page with its style, figures and script inside; it loads nothing, and equal arguments
        give equal pages.

    Examples
    --------
    >>> page = render_report(
    ...     [], findings=[], level="quick", seed=0, versions=[], unavailable={}, failures=[]
    ... )
    >>> page[:15]
    '<!doctype html>'
    """
    templates = environment()
    templates.filters["capital"] = capital
    templates.filters["drawing"] = _drawing
    script, script_hash = _script(templates)
    page = templates.get_template("reproduce.html.j2").render(
        sections=sections(results, _ANCHORS),
        findings=findings,
        tally=tally(findings),
        level=level,
        scope=scope(level),
        counts=counts(results),
        seed=seed,
        versions=versions,
        unavailable=unavailable,
        failures=failures,
        most=MOST_FAILURES,
        script=script,
        script_hash=script_hash,
    )
    return page.lstrip() + "\n"


def write_report(
    path: str | os.PathLike[str],
    results: Sequence[TableResult | FigureResult],
    *,
    findings: Sequence[Finding],
    level: str,
    seed: int,
    versions: Sequence[Mapping[str, str]],
    unavailable: Mapping[str, str],
    failures: Sequence[str],
) -> Path:
    """Render the report and write it to ``path``, whole or not at all.

    The parameters are those of :func:`render_report`; what was at ``path`` is replaced.
    """
    page = render_report(
        results,
        findings=findings,
        level=level,
        seed=seed,
        versions=versions,
        unavailable=unavailable,
        failures=failures,
    )
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
