"""What a benchmark case is, and the register of all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from research.core.targets import Bar, Measured, Outcome, Unavailable, attempt

__all__ = [
    "CASES",
    "Bar",
    "Case",
    "Measured",
    "Settings",
    "Unavailable",
    "absent",
    "case",
    "run_case",
]


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
    """A named measurement with the bars its figures must keep; without bars it only reports."""

    name: str
    description: str
    bars: tuple[Bar, ...]
    work: Work

    @property
    def theme(self) -> str:
        """The module of `benchmarks` that registered it."""
        return self.work.__module__.rpartition(".")[2]


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


def absent(theme: str, reason: str, register: dict[str, Case] = CASES) -> None:
    """Register, in place of the cases of a theme, why they cannot run here."""

    def work(settings: Settings) -> Measured:
        raise Unavailable(reason)

    work.__module__ = f"benchmarks.{theme}"
    case(theme, f"cannot run here: {reason}", register=register)(work)


def run_case(chosen: Case, settings: Settings) -> Outcome:
    """Measure every figure of a case."""
    return attempt(chosen.name, chosen.bars, lambda: chosen.work(settings))
