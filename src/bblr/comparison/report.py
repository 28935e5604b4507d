"""The report of a comparison: one HTML file that needs nothing beside it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from bblr.comparison.figures import error_panels, reliability_panels, train_test_panels
from bblr.comparison.headline import champion, findings
from bblr.comparison.methods import BASELINES, METHODS
from bblr.comparison.pages import environment
from bblr.comparison.records import Record
from bblr.comparison.summary import Group, summarise

__all__ = ["render_report", "write_report"]


def render_report(records: Sequence[Record]) -> str:
    """Turn the records of a comparison into an HTML page.

    Parameters
    ----------
    records : sequence of dict
        As :meth:`bblr.comparison.Comparison.run` returns them.

    Returns
    -------
    str
        A page with its style and figures inside; it loads nothing.
    """
    summary = summarise(records)
    spoilt = max(summary.conditions, key=lambda condition: condition.noise)
    pair = [name for name in ("LR", champion(summary)) if name and name in summary.methods]
    templates = environment()
    templates.filters["fewest"] = _fewest
    page = templates.get_template("report.html.j2").render(
        summary=summary,
        findings=findings(summary),
        spoilt=spoilt,
        baselines=[name for name in BASELINES if name in summary.methods],
        known=METHODS,
        errors=error_panels(summary),
        training=train_test_panels(summary, spoilt),
        reliability=reliability_panels(records, summary, spoilt, pair),
        n_cells=len(records),
    )
    return page.lstrip()


def write_report(records: Sequence[Record], path: str | os.PathLike[str]) -> Path:
    """Render the report and write it to ``path``, replacing what was there."""
    path = Path(path)
    path.write_text(render_report(records), encoding="utf-8")
    return path


def _fewest(group: Group) -> float:
    """Find the lowest error rate of a table, to set it in bold whoever holds it."""
    return min((row.rate for row in group.rows if row.done == row.planned), default=-1.0)
