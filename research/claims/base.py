"""What a claim is, and what it is given to run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from research.core.targets import Bar, Measured, Outcome, attempt

__all__ = ["Claim", "ClaimRun"]


@dataclass(frozen=True)
class ClaimRun:
    """How to run a claim.

    Parameters
    ----------
    jobs : int
        Fits to run at the same time.
    repeats : int
        Repeats of a cross-validation.
    seed : int
        Decides folds, noise and whatever is random in a method.
    records : Path or None
        Where the cells of a comparison are kept, so that a run that was stopped can go on;
        nowhere when None.
    console : Console
        For progress.
    """

    jobs: int
    repeats: int
    seed: int
    records: Path | None
    console: Console


@dataclass(frozen=True)
class Claim:
    """A statement about the classifiers that can be measured.

    Parameters
    ----------
    name : str
        What the user types.
    description : str
        What is measured on what.
    bars : tuple of Bar
        The figures and their limits.
    work : callable
        ``work(run)`` measures a value for each bar.
    """

    name: str
    description: str
    bars: tuple[Bar, ...]
    work: Callable[[ClaimRun], Measured]

    def run(self, run: ClaimRun) -> Outcome:
        """Measure every figure of the claim."""
        return attempt(self.name, self.bars, lambda: self.work(run))
