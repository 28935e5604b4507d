"""What a long run has found, written down as it goes."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections import Counter
from importlib.metadata import version
from pathlib import Path
from typing import Any

BAR = 20_000
_OUTCOMES = ("fitted", "refused", "failed")
_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "hypothesis")


class Record:
    """Counts and failures of a run; a file has them at any time, whatever ends the run.

    Parameters
    ----------
    what : dict
        Seed, cases and families: what makes another run the same.
    path : Path or None
        The file.
    """

    def __init__(self, what: dict[str, Any], path: Path | None) -> None:
        self.what = what
        self.path = path
        self.counts: Counter[tuple[str, str]] = Counter()
        self.failures: dict[tuple[str, str], int] = {}
        self.done: set[int] = set()
        self.seconds = 0.0

    def resume(self) -> None:
        """Take over what the file has of the same run."""
        if self.path is None or not self.path.is_file():
            return
        old = json.loads(self.path.read_text())
        if {name: old.get(name) for name in self.what} != self.what or old["made"] != made_of():
            raise SystemExit(f"{self.path} is of another run, commit or version: start anew.")
        self.done, self.seconds = set(old["done"]), old["seconds"]
        for name, outcomes in old["counts"].items():
            self.counts.update({(name, outcome): k for outcome, k in outcomes.items()})
        # Chunks that were not finished come again, and their failures with them.
        self.failures = {
            (message, case): chunk
            for message, case, chunk in old["failures"]
            if chunk in self.done
        }

    def add(self, message: str, case: str, chunk: int) -> bool:
        """Note a failure; say whether it is new."""
        new = (message, case) not in self.failures
        self.failures.setdefault((message, case), chunk)
        return new

    def write(self) -> None:
        """Write the file, whole or not at all."""
        if self.path is None:
            return
        counts: dict[str, dict[str, int]] = {}
        for name in sorted({name for name, _ in self.counts}):
            counts[name] = {outcome: self.counts[name, outcome] for outcome in _OUTCOMES}
        record = {
            **self.what, "made": made_of(), "bar": BAR, "cases_done": self.counts.total(),
            "seconds": round(self.seconds), "counts": counts, "done": sorted(self.done),
            "failures": [[*known, chunk] for known, chunk in self.failures.items()],
        }  # fmt: skip
        part = self.path.with_name(self.path.name + ".part")
        part.write_text(json.dumps(record, indent=1) + "\n")
        os.replace(part, self.path)

    def table(self) -> str:
        """Return a line for each estimator."""
        lines = [f"{'estimator':40} {'cases':>7} {'fitted':>7} {'refused':>8} {'failed':>7}"]
        for name in sorted({name for name, _ in self.counts}):
            fitted, refused, failed = (self.counts[name, outcome] for outcome in _OUTCOMES)
            lines.append(
                f"{name:40} {fitted + refused + failed:7,} {fitted:7,} {refused:8,} {failed:7,}"
            )
        return "\n".join(lines)

    def last_line(self) -> str:
        """Return what the run comes to."""
        total, failed = self.counts.total(), len(self.failures)
        versions = ", ".join(f"{name} {number}" for name, number in made_of().items())
        met = "met" if total >= BAR and not failed else "not met"
        return (
            f"{total:,} cases, {failed} reports, seed {self.what['seed']}, {versions}; "
            f"{self.seconds:,.0f} s, bar of {BAR:,} cases without a report: {met}"
        )


def made_of() -> dict[str, str]:
    """Return the commit and the versions that a run tests."""
    try:
        said = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--exclude=*"],
            capture_output=True, text=True, check=True,
        ).stdout.strip()  # fmt: skip
    except (OSError, subprocess.CalledProcessError):
        said = "unknown"
    known = {name: version(name) for name in _PACKAGES}
    return {"commit": said, "Python": platform.python_version(), **known}
