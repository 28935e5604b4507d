"""The page of a record, in Markdown: ``python -m research.benchmarks.page RECORD PAGE``.

The plots go into the folder of the record. The same record gives the same page, byte for byte.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bblr._atomic import whole_file
from research.benchmarks import records
from research.benchmarks.drawing import plot
from research.benchmarks.rivals import OURS
from research.benchmarks.series import slope
from research.benchmarks.timing import shown_ratio, shown_seconds

__all__ = ["main", "render"]

INTRO = """# Benchmarks

<!-- Written by `python -m research.benchmarks.page` from {record}; change that, not this. -->

Times of `bblr` against its baselines, from `python -m research.benchmarks --json {record}`.
Baselines run in the same process, in turns, and the best of several runs counts; every method has
its own defaults. Errors stand next to times, so that stopping early wins nothing. † marks methods
that stopped at their own limit of iterations."""
QUICK = "**A run on little data, to try the cases: its figures say nothing.**"

Found = Mapping[str, Mapping[str, Any]]


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines
    )


def _number(value: float) -> str:
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"


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


def _overview(found: Found) -> Iterator[str]:
    """Rivals down, kinds of work across: time over ours."""
    tables = {name: case["details"]["table"] for name, case in found.items()}
    rivals = list(dict.fromkeys(row["rival"] for table in tables.values() for row in table))
    rows = []
    for rival in rivals:
        cells = [rival]
        for table in tables.values():
            row = next((row for row in table if row["rival"] == rival), None)
            cells.append("" if row is None else _ratio(row))
        rows.append(cells)
    yield "## Beside the rivals"
    yield (
        "Time over ours: above 1 we are faster. Where a cell is empty, a rival cannot do the work "
        "or was not installed."
    )
    yield _table(["", *(name.removeprefix("rivals-") for name in tables)], rows)


def _ratio(row: Mapping[str, Any]) -> str:
    return shown_ratio(row["ratio"]) + (" †" if row["stopped"] else "")


def _tournaments(found: Found) -> Iterator[str]:
    """Yield a table a kind of work."""
    for name, case in found.items():
        details = case["details"]
        rows, features = details["shape"]
        yield f"### `{name}`: {case['description']}"
        yield _table(
            ["", "settings", "time", f"time / {OURS}", details["score"]],
            [
                [
                    row["rival"],
                    f"`{row['settings']}`" if row["settings"] else "",
                    shown_seconds(row["seconds"]),
                    _ratio(row),
                    f"{row['error']:.2f}",
                ]
                for row in details["table"]
            ],
        )
        missing = "".join(f" {who}: {why}." for who, why in details["missing"].items())
        yield f"{rows:,} × {features:,} rows to fit.{missing}"


def _growth(found: Found, folder: str) -> Iterator[str]:
    """A plot and a table a series."""
    yield "## Growth"
    for name, case in found.items():
        series = case["details"]["series"]
        points = series["points"]
        sizes = [size for size, _ in next(iter(points.values()))]
        yield f"### `{name}`: {case['description']}"
        yield f"![{_words(name, series)}]({folder}/{name}.svg)"
        rows = [
            [who, *(shown_seconds(s) for _, s in times), f"{slope(times):.2f}"]
            for who, times in points.items()
        ]
        yield _table([series["axis"], *(f"{size:,}" for size in sizes), "slope"], rows)
        yield f"{series['what']}."


def _words(name: str, series: Mapping[str, Any]) -> str:
    return f"{name}: time by {series['axis']}, {series['what']}"


def _bars(found: Found) -> Iterator[str]:
    """Figures that must be kept."""
    rows = [
        [f"`{name}`: {case['description']}", bar["figure"], _number(bar["value"]), _bar(bar)]
        for name, case in found.items()
        for bar in case["figures"]
    ]
    yield "## Figures with a bar"
    yield _table(["case", "figure", "measured", "bar"], rows)


def _bar(bar: Mapping[str, Any]) -> str:
    sign = {"<=": "≤", ">=": "≥"}.get(bar["relation"], bar["relation"])
    return f"{sign} {bar['bar']:g}" + ("" if bar["pass"] else ": *missed*")


def _reported(found: Found) -> Iterator[str]:
    """Figures without a bar."""
    rows = [
        [f"`{name}`: {case['description']}", figure, _number(value)]
        for name, case in found.items()
        for figure, value in case["reported"].items()
    ]
    yield "## Other figures"
    yield _table(["case", "figure", "measured"], rows)


def _lacking(found: Found) -> Iterator[str]:
    yield "## Not measured"
    yield "\n".join(
        f"- `{name}`: {case.get('skipped') or 'failed: ' + case['failure']}"
        for name, case in found.items()
    )


def _with(cases: Found, *keys: str) -> dict[str, Mapping[str, Any]]:
    """Return the cases that have something at a path of keys."""
    chosen = {}
    for name, case in cases.items():
        value: Any = case
        for key in keys:
            value = value.get(key) if isinstance(value, Mapping) else None
        if value:
            chosen[name] = case
    return chosen


def render(record: Mapping[str, Any], source: str) -> tuple[str, dict[str, str]]:
    """Return the page of a record, and its plots by file name.

    Parameters
    ----------
    record : mapping
        As `research.benchmarks.records` keeps it.
    source : str
        Where the record lies, seen from the page.
    """
    cases = record["cases"]
    tables, series = _with(cases, "details", "table"), _with(cases, "details", "series")
    others = {n: c for n, c in _with(cases, "reported").items() if n not in series}
    failed = {n: c for n, c in cases.items() if "details" not in c}
    blocks = [INTRO.format(record=source), *_runs(record)]
    blocks += _bars(bars) if (bars := _with(cases, "figures")) else ()
    if tables:
        blocks += [*_overview(tables), *_tournaments(tables)]
    blocks += _growth(series, os.path.dirname(source) or ".") if series else ()
    blocks += _reported(others) if others else ()
    blocks += _lacking(failed) if failed else ()
    plots = {
        f"{name}.svg": plot(found["points"], found["axis"], _words(name, found))
        for name, case in series.items()
        for found in [case["details"]["series"]]
    }
    return "\n\n".join(blocks) + "\n", plots


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page of a record; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m research.benchmarks.page", description=__doc__
    )
    parser.add_argument("record", type=Path, help="what the benchmarks wrote with --json")
    parser.add_argument("page", type=Path, help="the Markdown file to write")
    chosen = parser.parse_args(arguments)
    try:
        record = records.read(chosen.record)
    except (OSError, ValueError) as error:
        parser.error(str(error))
    source = os.path.relpath(chosen.record, chosen.page.parent).replace(os.sep, "/")
    page, plots = render(record, source)
    texts = {chosen.page: page, **{chosen.record.parent / name: p for name, p in plots.items()}}
    for path, text in texts.items():
        with whole_file(path) as file:
            file.write(text.encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
