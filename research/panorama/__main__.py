"""The command line of the panorama."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from bblr.comparison.records import Record, RecordsError, read_records
from bblr.comparison.session import DONE, FAILED, MISUSED, Stopped, choose, run_session, say
from research.core.thresholds import MISSED, Verdict
from research.panorama.cells import CONDITIONS, SCALING
from research.panorama.methods import METHODS, QUICK_METHODS, fingerprint
from research.panorama.plan import QUICK_ROWS, Plan, make_plan
from research.panorama.report import pooled_section, report, target_section
from research.panorama.results import Results
from research.panorama.tables import LISTS, TABLES, Table
from research.panorama.targets import TARGETS

RECORDS = "records.jsonl"
DEFAULT_LIST = "report"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m research.panorama",
        description="Compare the classifiers with baselines on many tables, clean and noisy. "
        "Results are kept as they come; run again, only what is missing or stale is run.",
    )
    add = parser.add_argument
    add("names", nargs="*", metavar="NAME", help="tables; all of the list by default")
    add("--list", choices=sorted(LISTS), dest="listed", help=f"default: {DEFAULT_LIST}")
    add("--quick", action="store_true", help="small tables, one fold, few conditions and methods")
    add("--conditions", metavar="A,B", help=f"of {', '.join(CONDITIONS)}")
    add("--methods", metavar="A,B", help=f"methods to run, of {', '.join(METHODS)}")
    add("--jobs", type=int, default=2, metavar="N", help="fits at a time (default: 2)")
    add("--out", type=Path, default=Path("build/panorama"), metavar="DIR", help="for the results")
    add("--strict", action="store_true", help="exit with 1 where a target is missed")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is missing and report; returns the exit status."""
    parser = _parser()
    chosen = parser.parse_args(arguments)
    try:
        tables = _tables(chosen.names, chosen.listed)
        conditions = _picked("condition", chosen.conditions, CONDITIONS, CONDITIONS)
        usual = QUICK_METHODS if chosen.quick else METHODS
        methods = _picked("method", chosen.methods, METHODS, usual)
        if chosen.jobs < 1:
            raise ValueError(f"--jobs must be at least 1, got {chosen.jobs}")
    except ValueError as error:
        parser.error(str(error))
    messages = Console(stderr=True)
    plan = _read(tables, conditions, methods, chosen.quick, messages)
    records = chosen.out / RECORDS
    try:
        chosen.out.mkdir(parents=True, exist_ok=True)
        _run(plan, methods, records, chosen.jobs, messages)
        known = read_records(records)
    except Stopped as stop:
        return stop.status
    except (RecordsError, OSError) as error:
        say(messages, f"Error: {error}")
        return MISUSED
    part = chosen.quick or bool(chosen.names) or len(conditions) < len(CONDITIONS)
    verdicts = _report(plan, known, part, chosen.out)
    say(messages, f"The whole report is in {chosen.out}: report.md and report.html.")
    missed = any(verdict.status == MISSED for verdict in verdicts)
    return FAILED if chosen.strict and missed else DONE


def _tables(names: Sequence[str], listed: str | None) -> list[Table]:
    """Return the tables of a list, or those that are named."""
    chosen = [TABLES[name] for name in choose("table", names, TABLES)]
    for table in chosen:
        if listed and table.listed != listed:
            raise ValueError(f"table {table.name!r} is not on the list {listed!r}")
    return chosen or list(LISTS[listed or DEFAULT_LIST])


def _picked(
    kind: str, text: str | None, known: Collection[str], usual: Collection[str]
) -> list[str]:
    """Return what is named in a list with commas, in the usual order."""
    named = usual if text is None else choose(kind, text.split(","), known)
    return [name for name in known if name in named]


def _read(
    tables: Sequence[Table],
    conditions: Collection[str],
    methods: Collection[str],
    quick: bool,
    messages: Console,
) -> Plan:
    """Read the tables under a line that says so, and say what is left out."""
    with messages.status("Reading tables") as status:
        plan = make_plan(
            tables,
            conditions,
            quick=quick,
            on_table=lambda table: status.update(f"Reading {table.name}"),
        )
    for table, reason in plan.unread.items():
        say(messages, f"Left out: table {table.name}: {reason}")
    for name in methods:
        if METHODS[name].absent:
            say(messages, f"Left out: method {name}: {METHODS[name].absent}")
    return plan


def _run(
    plan: Plan, methods: Collection[str], records: Path, jobs: int, messages: Console
) -> None:
    """Run the cells that have no up-to-date record, and report failures."""
    cells = [cell for cell in plan.cells if cell.method in methods]
    found = run_session(cells, records, jobs=jobs, messages=messages, verb="Fitting")
    failed = [record for record in found if "failure" in record]
    for record in failed:
        place = f"{record['method']} on {record['data']}, {record['condition']}"
        say(messages, f"Failed: {place}, fold {record['fold']}: {record['failure']}")
    prints = {cell.method: cell.fingerprint for cell in cells}
    if any(fingerprint(METHODS[name]) != own for name, own in prints.items()):
        say(messages, "The source has changed during the run: run it again for current figures.")


def _report(plan: Plan, known: dict[str, Record], part: bool, folder: Path) -> list[Verdict]:
    """Write the report, print its main parts, and return the verdicts."""
    results = Results(plan.cells, known, plan.unread)
    verdicts = [target.judge(results) for target in TARGETS]
    notes = _notes(plan, results, part)
    whole = report(results, verdicts, notes)
    whole.write(folder / "report.html", folder / "report.md")
    main_parts = [pooled_section(results), target_section(verdicts)]
    print(replace(whole, sections=main_parts).markdown())
    return verdicts


def _notes(plan: Plan, results: Results, part: bool) -> list[str]:
    lists = sorted({cell.listed for cell in plan.cells})
    notes = [
        f"{len(results.kinds)} tables of the list {' and '.join(lists) or 'none'}, "
        f"{len(results.records)} of {len(plan.cells)} fits done.",
        f"Noise in the training part only. Features scaled on the training part: {SCALING}.",
    ]
    if part:
        notes.append(
            "A part of the panorama only (tables or conditions were chosen, or at most "
            f"{QUICK_ROWS} rows with --quick): these figures say nothing about the targets."
        )
    if plan.unread:
        missing = ", ".join(table.name for table in plan.unread)
        notes.append(f"Tables that could not be read: {missing}.")
    versions = {
        f"{name} {number}"
        for record in results.records
        for name, number in record["fingerprint"].items()
        if name != "source"
    }
    return [*notes, f"Versions: {', '.join(sorted(versions))}."] if versions else notes


if __name__ == "__main__":
    sys.exit(main())
