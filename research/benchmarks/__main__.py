"""The command line of the benchmarks."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from research.benchmarks import records
from research.benchmarks.cases import CASES, Case, Settings, absent, run_case
from research.benchmarks.machine import machine, stolen
from research.core.targets import Outcome, figure_width, tally

THEMES = (
    "passes",
    "fits",
    "faster",
    "scaling",
    "growth",
    "out_of_core",
    "start",
    "panorama",
    "zero_one",
    "kernel",
    "structured",
    "audit",
    "gpu",
    "distributed",
)
OWN = {"bblr", "benchmarks"}


def load_cases(themes: Sequence[str] = THEMES) -> dict[str, Case]:
    """Import the themes, which register their cases.

    A theme may need what is not installed, such as Dask or torch: then one case that says so
    stands for all of its cases.
    """
    for theme in themes:
        try:
            importlib.import_module(f"benchmarks.{theme}")
        except ModuleNotFoundError as error:
            package = (error.name or "").partition(".")[0]
            if package in OWN:
                raise
            if theme not in CASES:
                absent(theme, f"{package} is not installed (pip install {package})")
    return CASES


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m research.benchmarks",
        description="Time bblr beside its rivals and print ratios.",
    )
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help="cases to run: a name, a pattern such as 'fit-*', or a theme; all by default",
    )
    parser.add_argument("--list", action="store_true", help="name the cases and their bars")
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="put figures, machine and versions in here"
    )
    parser.add_argument("--quick", action="store_true", help="little data: only to try the cases")
    parser.add_argument("--seed", type=int, default=0, help="decides the made-up data")
    parser.add_argument("--strict", action="store_true", help="exit with 1 where a bar is missed")
    return parser


def _pick(names: Sequence[str], cases: Mapping[str, Case]) -> list[Case]:
    """Return the named cases in their order; ValueError where a name stands for none."""
    picked = set() if names else set(cases)
    for name in names:
        found = {c.name for c in cases.values() if fnmatchcase(c.name, name) or c.theme == name}
        if not found:
            raise ValueError(f"unknown case {name!r}; choose from {', '.join(cases)}")
        picked |= found
    return [case for name, case in cases.items() if name in picked]


def _earlier(path: Path | None, quick: bool) -> records.Record:
    """Read the record a run will go into; ValueError where that would do harm."""
    if path is None or not path.exists():
        if path is not None and not path.absolute().parent.is_dir():
            raise ValueError(f"--json needs a folder that exists; create {path.parent} first")
        return records.empty()
    before = records.read(path)
    if quick and any(not run["settings"]["quick"] for run in before["runs"].values()):
        raise ValueError(f"--quick would replace measured figures in {path}; name another file")
    return before


def _show(cases: Sequence[Case]) -> None:
    for case in cases:
        bars = "; ".join(f"{bar.figure} {bar.label}" for bar in case.bars) or "reported, no bar"
        print(f"{case.name} ({case.theme})\n  {case.description}\n  {bars}")


def main(arguments: Sequence[str] | None = None, cases: Mapping[str, Case] | None = None) -> int:
    """Run the chosen cases; returns the exit status."""
    parser = _parser()
    chosen = parser.parse_args(arguments)
    cases = load_cases() if cases is None else cases
    try:
        picked = _pick(chosen.names, cases)
        before = _earlier(chosen.json, chosen.quick)
    except ValueError as error:
        parser.error(str(error))
    if chosen.list:
        _show(picked)
        return 0
    settings = Settings(quick=chosen.quick, seed=chosen.seed)
    where, start, share = machine(), stolen(), 0.0
    outcomes: list[Outcome] = []
    width = figure_width(bar for case in picked for bar in case.bars)
    for number, case in enumerate(picked, 1):
        print(f"[{number}/{len(picked)}] {case.name} ...", file=sys.stderr, flush=True)
        outcomes.append(run_case(case, settings))
        print(*outcomes[-1].lines(width), sep="\n", flush=True)
        share = _share(start, stolen())
        if chosen.json is not None:
            stamp = {**where, "stolen": round(share, 4)}
            records.write(chosen.json, records.merged(before, stamp, settings, cases, outcomes))
    print(tally(outcomes))
    print(_disturbance(where, share))
    if chosen.quick:
        print("Quick run on little data: these figures say nothing about the bars.")
    failed = any(outcome.failure for outcome in outcomes)
    return int(failed or (chosen.strict and any(outcome.missed for outcome in outcomes)))


def _disturbance(where: Mapping[str, Any], share: float) -> str:
    load = f"{where['load'][0]:.1f}" if where["load"] else "unknown"
    return (
        f"Load before the run: {load} on {where['cores']} cores; processor time taken by others "
        f"on the host: {100 * share:.0f} %"
    )


def _share(before: tuple[int, int], after: tuple[int, int]) -> float:
    return (after[0] - before[0]) / max(after[1] - before[1], 1)


if __name__ == "__main__":
    sys.exit(main())
