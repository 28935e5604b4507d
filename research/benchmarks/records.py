"""Records: what was measured, where and when; a case that runs again replaces its figures."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bblr._atomic import whole_file
from research.benchmarks.cases import Case, Settings
from research.core.targets import Outcome

__all__ = ["empty", "merged", "read", "write"]

Record = dict[str, Any]


def empty() -> Record:
    """Return a record of nothing."""
    return {"runs": {}, "cases": {}}


def read(path: Path) -> Record:
    """Read a record; ValueError where a file is something else."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        if record["runs"].keys() >= {found["run"] for found in record["cases"].values()}:
            return record
    except (ValueError, KeyError, TypeError, AttributeError):
        pass
    raise ValueError(f"{path} is no record of benchmarks; name another file")


def merged(
    before: Mapping[str, Any],
    machine: Mapping[str, Any],
    settings: Settings,
    cases: Mapping[str, Case],
    outcomes: Sequence[Outcome],
) -> Record:
    """Put the outcomes of a run into a record.

    A case that ran replaces its earlier figures and points to this run: its date, machine and
    versions. A case that could not run here leaves what was measured elsewhere.

    Parameters
    ----------
    before : mapping
        The record so far.
    machine, settings : mapping, Settings
        The run; its date names it.
    cases : mapping of str to Case
        All cases, in their order.
    outcomes : sequence of Outcome
        What the run found.
    """
    name = str(machine["date"])
    found = dict(before["cases"])
    for outcome in outcomes:
        if outcome.skipped and "skipped" not in found.get(outcome.name, {"skipped": ""}):
            continue
        case = cases[outcome.name]
        about = {"run": name, "theme": case.theme, "description": case.description}
        found[outcome.name] = {**about, **outcome.as_record()}
    order = [*(case for case in cases if case in found), *(c for c in found if c not in cases)]
    runs = {**before["runs"], name: {**machine, "settings": asdict(settings)}}
    used = {found[case]["run"] for case in order}
    return {
        "runs": {run: runs[run] for run in runs if run in used},
        "cases": {case: found[case] for case in order},
    }


def write(path: Path, record: Mapping[str, Any]) -> None:
    """Write a record, whole or not at all."""
    with whole_file(path) as file:
        file.write((json.dumps(record, indent=1, ensure_ascii=False) + "\n").encode())
