"""The command line of the benchmarks."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bblr.experiments.bars import Outcome, figure_width, tally
from benchmarks.cases import CASES, Case, Settings, run_case
from benchmarks.machine import machine, stolen

THEMES = (
    "passes", "fits", "faster", "scaling", "start", "zero_one", "kernel", "structured", "gpu",
)


def load_cases() -> dict[str, Case]:
    """Import the themes, which register their cases."""
    for theme in THEMES:
        importlib.import_module(f"benchmarks.{theme}")
    return CASES


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Time bblr beside its rivals and print ratios."
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="cases to run; all by default")
    parser.add_argument("--list", action="store_true", help="name the cases and their bars")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write figures and machine here")
    parser.add_argument("--quick", action="store_true", help="little data: only to try the cases")
    parser.add_argument("--seed", type=int, default=0, help="decides the made-up data")
    parser.add_argument("--strict", action="store_true", help="exit with 1 where a bar is missed")
    return parser


def main(arguments: Sequence[str] | None = None, cases: Mapping[str, Case] | None = None) -> int:
    """Run the chosen cases; returns the exit status."""
    parser = _parser()
    chosen = parser.parse_args(arguments)
    cases = load_cases() if cases is None else cases
    unknown = [name for name in chosen.names if name not in cases]
    if unknown:
        parser.error(f"unknown case {unknown[0]!r}; choose from {', '.join(cases)}")
    if chosen.json is not None and not chosen.json.absolute().parent.is_dir():
        parser.error(f"--json needs a folder that exists; create {chosen.json.parent} first")
    picked = [cases[name] for name in chosen.names or cases]
    if chosen.list:
        for case in picked:
            bars = "; ".join(f"{bar.figure} {bar.label}" for bar in case.bars)
            print(f"{case.name}\n  {case.description}\n  {bars}")
        return 0
    settings = Settings(quick=chosen.quick, seed=chosen.seed)
    where, before, share = machine(), stolen(), 0.0
    outcomes: list[Outcome] = []
    width = figure_width(bar for case in picked for bar in case.bars)
    for case in picked:
        print(f"{case.name} ...", file=sys.stderr, flush=True)
        outcomes.append(run_case(case, settings))
        print(*outcomes[-1].lines(width), sep="\n", flush=True)
        share = _share(before, stolen())
        if chosen.json is not None:
            _write(chosen.json, settings, {**where, "stolen": share}, outcomes)
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


def _write(
    path: Path, settings: Settings, where: Mapping[str, Any], outcomes: Sequence[Outcome]
) -> None:
    record = {
        "machine": dict(where),
        "settings": {"quick": settings.quick, "seed": settings.seed},
        "cases": [outcome.as_record() for outcome in outcomes],
    }
    path.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
