"""The command line of the benchmarks."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console

from bblr._settings import SettingError
from research.benchmarks import CASES, benchmark
from research.core.cases import Case, Measured, Run, Unavailable, pick, run_cases, show_cases

THEMES = (
    "passes", "fits", "small", "memory", "growth", "tournaments", "families", "devices",
    "comparing",
)  # fmt: skip


def load_cases(themes: Sequence[str] = THEMES) -> dict[str, Case]:
    """Import the themes, which register their cases.

    A theme may need what is not installed: then one case that says so stands for all of its own.
    """
    for theme in themes:
        try:
            importlib.import_module(f"research.benchmarks.{theme}")
        except ModuleNotFoundError as error:
            package = (error.name or "").partition(".")[0]
            if package in ("bblr", "research"):
                raise
            if theme not in CASES:
                _stand_in(theme, f"{package} is not installed (pip install {package})")
    return CASES


def _stand_in(theme: str, reason: str) -> None:
    def work(run: Run) -> Measured:
        raise Unavailable(reason)

    benchmark(theme, f"cannot run here: {reason}")(work)


def main(arguments: Sequence[str] | None = None, cases: Mapping[str, Case] | None = None) -> int:
    """Run the chosen cases; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m research.benchmarks",
        description="Time bblr against baselines and print ratios.",
    )
    add = parser.add_argument
    add(
        "names", nargs="*", metavar="NAME",
        help="cases to run: a name, a pattern such as 'fit-*', or a theme; all by default",
    )  # fmt: skip
    add("--list", action="store_true", help="name the cases and their thresholds")
    add("--json", type=Path, metavar="FILE", help="put figures, machine and versions in here")
    add("--quick", action="store_true", help="little data: only to try the cases")
    add("--seed", type=int, default=0, help="decides the made-up data")
    add("--strict", action="store_true", help="exit with 1 where a threshold is missed")
    chosen = parser.parse_args(arguments)
    cases = load_cases() if cases is None else cases
    try:
        picked = pick(chosen.names, cases)
        if chosen.list:
            show_cases(picked)
            return 0
        run = Run(chosen.seed, chosen.quick, console=Console(stderr=True))
        return run_cases(picked, run, cases=cases, out=chosen.json, strict=chosen.strict)
    except SettingError as error:
        parser.error(f"--{error}" if error.setting == "json" else error.problem)


if __name__ == "__main__":
    sys.exit(main())
