"""What a benchmark case is, and the register of all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bblr.experiments.bars import Bar, Measured, Outcome, Unavailable, attempt

__all__ = ["CASES", "Bar", "Case", "Measured", "Settings", "Unavailable", "case", "run_case"]


@dataclass(frozen=True)
class Settings:
    """How to run the cases.

    Parameters
    ----------
    quick : bool
        Small data and few repeats: shows that a case works, says nothing about its figure.
    seed : int
        Decides all data that are made up.
    """

    quick: bool = False
    seed: int = 0

    def repeats(self, full: int) -> int:
        """How often to run each rival."""
        return min(full, 2) if self.quick else full

    def rows(self, full: int) -> int:
        """How many rows of data to take."""
        return min(full, max(2_000, full // 20)) if self.quick else full


Work = Callable[[Settings], Measured]


@dataclass(frozen=True)
class Case:
    """A named measurement with the bars its figures must keep."""

    name: str
    description: str
    bars: tuple[Bar, ...]
    work: Work


CASES: dict[str, Case] = {}


def case(
    name: str, description: str, *bars: Bar, register: dict[str, Case] = CASES
) -> Callable[[Work], Work]:
    """Register a function as the case of that name."""

    def decorate(work: Work) -> Work:
        if name in register:
            raise ValueError(f"two cases are named {name!r}; rename one")
        register[name] = Case(name, description, bars, work)
        return work

    return decorate


def run_case(chosen: Case, settings: Settings) -> Outcome:
    """Measure every figure of a case."""
    return attempt(chosen.name, chosen.bars, lambda: chosen.work(settings))
