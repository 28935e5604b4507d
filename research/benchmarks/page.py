"""The page of a record, in Markdown: ``python -m research.benchmarks.page RECORD PAGE``.

The plots go into the folder of the record.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from bblr._atomic import whole_file
from bblr._settings import SettingError
from bblr.comparison.document import markdown_table
from research.benchmarks.timing import shown_ratio, shown_seconds, slope
from research.benchmarks.tournaments import OURS
from research.core.cases import read_cases
from research.core.charts import COLOURS, chart
from research.core.thresholds import Threshold, number

__all__ = ["draw", "main", "render"]

TITLE = """# Benchmarks

<!-- Written by `python -m research.benchmarks.page` from {record}; change that, not this. -->"""
CHART = (
    "![Times relative to bblr by kind of work: baselines take longer on dense tables, some take "
    "less on text and in searches by cross-validation]({folder}/overview.svg)"
)
INTRO = """\
Times of `bblr` against its baselines, from `python -m research.benchmarks --json {record}`.
Baselines run in the same process, in turns, and the best of several runs counts; every method has
its own defaults. Errors stand next to times, so that stopping early wins nothing. † marks methods
that stopped at their own limit of iterations. [Machines, versions](#where-and-when) come last."""
# docs/benchmarks_chart.py draws the records that have this and its kin.
DRAWN = "baselines-dense"
QUICK = "**A run on little data, to try the cases: its figures say nothing.**"

Found = Mapping[str, Mapping[str, Any]]


def _runs(record: Mapping[str, Any]) -> Iterator[str]:
    """Where the figures come from, each run with the cases it measured last."""
    yield "## Where and when"
    for name, run in record["runs"].items():
        cases = [case for case, found in record["cases"].items() if found["run"] == name]
        versions = ", ".join(f"{package} {number}" for package, number in run["versions"].items())
        load = f"{run['load'][0]:.1f}" if run["load"] else "unknown"
        if run["settings"]["quick"]:
            yield QUICK
        yield (
            f"**{name}**: {run['processor']}, {run['cores']} cores, {run['threads']} threads, "
            f"{run['memory']} of memory, {run['system']}. Load before the run: {load}; processor "
            f"time taken by others on the host: {100 * run['stolen']:.0f} %. "
            f"Seed {run['settings']['seed']}. "
            f"{versions}.\n\nCases: {', '.join(f'`{case}`' for case in cases)}."
        )


def _figures(found: Found) -> Iterator[str]:
    """Yield the figures with thresholds, then the others that do not grow with something."""
    rows = [
        (f"`{name}`: {case['description']}", f["figure"], number(f["value"]), _threshold(f))
        for name, case in found.items()
        for f in case.get("figures", ())
    ]
    if rows:
        yield "## Figures with a threshold"
        yield markdown_table(pd.DataFrame(rows, columns=["case", "figure", "measured", "limit"]))


def _threshold(figure: Mapping[str, Any]) -> str:
    label = Threshold(figure["figure"], figure["relation"], figure["limit"]).label
    return label + ("" if figure["met"] else ": *missed*")


def _tournaments(found: Found) -> Iterator[str]:
    """Yield an overview, baselines down and kinds of work across, and one table per kind."""
    frames = {name: pd.DataFrame(case["details"]["table"]) for name, case in found.items()}
    for frame in frames.values():
        frame["shown"] = frame["ratio"].map(shown_ratio) + frame["stopped"].map(
            {True: " †"}
        ).fillna("")
    columns = [
        frame.set_index("baseline")["shown"].rename(name.removeprefix("baselines-"))
        for name, frame in frames.items()
    ]
    overview = pd.concat(columns, axis=1).fillna("")
    yield "## Against the baselines"
    yield (
        "Time over ours: above 1 we are faster. Where a cell is empty, a baseline cannot do the "
        "work or was not installed."
    )
    yield markdown_table(overview.reset_index(names=""))
    for name, frame in frames.items():
        details = found[name]["details"]
        yield f"### `{name}`: {found[name]['description']}"
        yield markdown_table(
            pd.DataFrame(
                {
                    "": frame["baseline"],
                    "settings": [f"`{text}`" if text else "" for text in frame["settings"]],
                    "time": frame["seconds"].map(shown_seconds),
                    f"time / {OURS}": frame["shown"],
                    details["score"]: frame["error"].map("{:.2f}".format),
                }
            )
        )
        missing = "".join(f" {who}: {why}." for who, why in details["missing"].items())
        yield "{:,} × {:,} rows to fit.".format(*details["shape"]) + missing


def _growth(found: Found, folder: str) -> Iterator[str]:
    """Yield a plot and a table per series."""
    yield "## Growth"
    for name, case in found.items():
        series = case["details"]["series"]
        sizes = [f"{size:,}" for size, _ in next(iter(series["points"].values()))]
        rows = [
            [who, *(shown_seconds(s) for _, s in times), f"{slope(times):.2f}"]
            for who, times in series["points"].items()
        ]
        yield f"### `{name}`: {case['description']}"
        what = f"{name}: time by {series['axis']}, {series['what']}"
        yield f"![{what}]({folder}/{name}.svg)"
        yield markdown_table(pd.DataFrame(rows, columns=[series["axis"], *sizes, "slope"]))
        yield f"{series['what']}."


def _others(found: Found) -> Iterator[str]:
    rows = [
        (f"`{name}`: {case['description']}", figure, number(value))
        for name, case in found.items()
        for figure, value in case.get("reported", {}).items()
        if "series" not in case.get("details", ())
    ]
    if rows:
        yield "## Other figures"
        yield markdown_table(pd.DataFrame(rows, columns=["case", "figure", "measured"]))
    lacking = {name: case for name, case in found.items() if "details" not in case}
    if lacking:
        yield "## Not measured"
        yield "\n".join(
            f"- `{name}`: {case.get('skipped') or 'failed: ' + case['failure']}"
            for name, case in lacking.items()
        )


def _with(cases: Found, detail: str) -> Found:
    return {name: case for name, case in cases.items() if case.get("details", {}).get(detail)}


def render(record: Mapping[str, Any], source: str) -> str:
    """Return the page of a record; the same for the same record, byte for byte.

    Parameters
    ----------
    record : mapping
        As `research.core.cases` keeps it.
    source : str
        Where the record lies, seen from the page.
    """
    cases = record["cases"]
    measured = {record["runs"][case["run"]]["versions"]["bblr"] for case in cases.values()}
    which = f"**Measured with bblr {' and '.join(sorted(measured))}**; other versions differ."
    folder = os.path.dirname(source) or "."
    blocks = [TITLE.format(record=source), which, INTRO.format(record=source)]
    if DRAWN in cases:
        blocks.insert(1, CHART.format(folder=folder))
    if tables := _with(cases, "table"):
        blocks += _tournaments(tables)
    if series := _with(cases, "series"):
        blocks += _growth(series, folder)
    return "\n\n".join([*blocks, *_figures(cases), *_others(cases), *_runs(record)]) + "\n"


def draw(series: Mapping[str, Any], path: Path) -> None:
    """Draw times by size, both on logarithmic axes."""
    with chart(path, 6.4, 4.2) as figure:
        axes = figure.add_subplot()
        for colour, mark, (name, points) in zip(
            COLOURS.values(), "osD^vPX", series["points"].items(), strict=False
        ):
            axes.plot(*zip(*points, strict=True), marker=mark, color=colour, label=name)
        sizes = [size for size, _ in next(iter(series["points"].values()))]
        axes.set(xscale="log", yscale="log", xlabel=series["axis"], ylabel="seconds")
        axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
        axes.set_xticks([], minor=True)
        axes.legend()


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page of a record and its plots; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m research.benchmarks.page", description=__doc__
    )
    parser.add_argument("record", type=Path, help="what the benchmarks wrote with --json")
    parser.add_argument("page", type=Path, help="the Markdown file to write")
    chosen = parser.parse_args(arguments)
    try:
        record = read_cases(chosen.record)
        if not record["cases"]:
            raise SettingError("record", f"{str(chosen.record)!r} holds no cases")
    except SettingError as error:
        parser.error(error.problem)
    source = os.path.relpath(chosen.record, chosen.page.parent).replace(os.sep, "/")
    with whole_file(chosen.page) as file:
        file.write(render(record, source).encode())
    for name, case in _with(record["cases"], "series").items():
        draw(case["details"]["series"], chosen.record.parent / f"{name}.svg")
    return 0


if __name__ == "__main__":
    sys.exit(main())
