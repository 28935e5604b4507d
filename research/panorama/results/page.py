"""The report as one HTML page that needs no other file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from matplotlib.figure import Figure

from bblr import _pages
from bblr.comparison.figures import BBLR, LR, MUTED, PAGE, SLA, SVM, render
from research.panorama.methods import BASELINE, METHODS
from research.panorama.results.markdown import COLUMNS, LEGEND, TITLES, conditions, pooled_rows
from research.panorama.results.pooled import Row
from research.panorama.results.sets import GROUPS, Results
from research.panorama.results.targets import Verdict, tally

__all__ = ["report_page"]

_CHARTED = ("two", "many")
# Colour, marker and whether it is filled.
_LOOKS: dict[str, tuple[str, str, bool]] = {
    "BBLR": (BBLR, "o", False),
    "BBLRCV": (BBLR, "o", True),
    "SVM": (SVM, "s", False),
    "CL": (LR, "^", False),
    "HGB": (SLA, "D", False),
    "RF": (SLA, "v", False),
}


def report_page(results: Results, verdicts: Sequence[Verdict], notes: Sequence[str]) -> str:
    """Return the page."""
    pooled = {
        group: {name: pooled_rows(results, group, name) for name in conditions(results)}
        for group in GROUPS
        if results.tables(group)
    }
    charts = [
        chart
        for group in _CHARTED
        if group in pooled
        for chart in (
            _chart(f"{TITLES[group]}: errors over {BASELINE}'s", pooled[group], _relative, 1.0),
            _chart(
                f"{TITLES[group]}: mean log-loss less {BASELINE}'s", pooled[group], _excess, 0.0
            ),
        )
    ]
    template = _pages.environment("research.panorama.results").get_template("panorama.html.j2")
    return template.render(
        notes=notes,
        verdicts=verdicts,
        tally=tally(verdicts),
        charts=charts,
        pooled=pooled,
        titles=TITLES,
        columns=COLUMNS,
        legend=LEGEND,
        methods=[METHODS[name] for name in METHODS if name in results.methods],
    ).lstrip()


def _relative(row: Row, baseline: Row) -> float | None:
    return row.relative


def _excess(row: Row, baseline: Row) -> float | None:
    """Return the difference of log-loss, where both are about the same tables."""
    return row.log_loss - baseline.log_loss if row.sets == baseline.sets else None


def _chart(
    title: str,
    rows: dict[str, list[Row]],
    figure_of: Callable[[Row, Row], float | None],
    reference: float,
) -> tuple[str, str]:
    """Return a title and a drawing: conditions downwards, a mark a method."""
    points: dict[str, list[tuple[float, int]]] = {}
    for place, found in enumerate(rows.values()):
        baseline = next((row for row in found if row.method == BASELINE), None)
        for row in found:
            value = None if baseline is None else figure_of(row, baseline)
            if value is not None and row.method in _LOOKS:
                points.setdefault(row.method, []).append((value, place))

    def draw(figure: Figure) -> None:
        _draw(figure.add_subplot(), list(rows), points, reference)

    words = "; ".join(
        f"{method}: {', '.join(f'{list(rows)[place]} {value:.3f}' for value, place in own)}"
        for method, own in points.items()
    )
    return title, render(draw, height=0.42 * len(rows) + 1.2, text=f"{title}. {words}.")


def _draw(
    axes: Any,
    names: Sequence[str],
    points: dict[str, list[tuple[float, int]]],
    reference: float,
) -> None:
    axes.axvline(reference, color=MUTED, lw=1.2, zorder=1)
    for method, own in points.items():
        colour, marker, filled = _LOOKS[method]
        axes.plot(
            [value for value, _ in own],
            [place for _, place in own],
            marker,
            ms=7,
            mec=colour,
            mfc=colour if filled else PAGE,
            mew=1.6,
            label=method,
            zorder=3 if METHODS[method].ours else 2,
        )
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    if points:
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=3)
