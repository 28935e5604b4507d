"""Bars: figures that the project must reach, and how they are shown beside what was measured."""

from __future__ import annotations

import operator
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

__all__ = ["Bar", "Measured", "Outcome", "Unavailable", "attempt", "figure_width", "tally"]

_RELATIONS = {"<=": operator.le, "<": operator.lt, ">=": operator.ge, ">": operator.gt}
_SIGNS = {"<=": "≤", ">=": "≥"}


class Unavailable(Exception):
    """A case cannot run here; the message says what is missing and how to get it."""


@dataclass(frozen=True)
class Bar:
    """A figure and the limit it must keep.

    Parameters
    ----------
    figure : str
        What is measured, as tables show it.
    relation : {"<=", "<", ">=", ">"}
        How the figure must stand to the limit.
    limit : float
        The limit.
    """

    figure: str
    relation: Literal["<=", "<", ">=", ">"]
    limit: float

    def met(self, value: float) -> bool:
        """Whether a measured value keeps the bar; NaN never does."""
        return bool(_RELATIONS[self.relation](value, self.limit))

    @property
    def label(self) -> str:
        """The bar in words: ``≤ 0.8``."""
        return f"{_SIGNS.get(self.relation, self.relation)} {self.limit:g}"


@dataclass(frozen=True)
class Measured:
    """What a case found.

    Parameters
    ----------
    figures : dict of str to float
        A value for each bar of the case, by its figure. All figures of a case without bars are
        reported.
    notes : list of str
        Lines to show below the figures.
    details : dict
        Whatever else the record should hold; JSON values only.
    """

    figures: Mapping[str, float]
    notes: Sequence[str] = ()
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """A case that was run, or could not be.

    Parameters
    ----------
    name : str
        The case.
    bars : tuple of Bar
        Its bars.
    measured : Measured or None
        What it found; None where it did not run.
    skipped, failure : str
        Why it did not run, or the error that stopped it; empty otherwise.
    seconds : float
        How long it took.
    """

    name: str
    bars: tuple[Bar, ...]
    measured: Measured | None = None
    skipped: str = ""
    failure: str = ""
    seconds: float = 0.0

    @property
    def missed(self) -> list[Bar]:
        """Bars that the figures do not keep; all of them where an error stopped the case."""
        if self.measured is None:
            return list(self.bars) if self.failure else []
        return [bar for bar in self.bars if not bar.met(self.measured.figures[bar.figure])]

    def as_record(self) -> dict[str, Any]:
        """Return the outcome as JSON values."""
        record: dict[str, Any] = {"name": self.name, "seconds": round(self.seconds, 3)}
        if self.measured is None:
            return {**record, "skipped" if self.skipped else "failure": self._reason}
        found = self.measured
        record["figures"] = [
            {
                "figure": bar.figure,
                "value": float(found.figures[bar.figure]),
                "relation": bar.relation,
                "bar": bar.limit,
                "pass": bar.met(found.figures[bar.figure]),
            }
            for bar in self.bars
        ]
        if not self.bars:
            record["reported"] = {name: float(value) for name, value in found.figures.items()}
        return {**record, "notes": list(found.notes), "details": dict(found.details)}

    @property
    def _reason(self) -> str:
        return self.skipped or self.failure

    def lines(self, width: int = 0) -> list[str]:
        """Return the outcome as text: a line a figure, then the notes."""
        if self.measured is None:
            return [f"{self.name}: {'skipped' if self.skipped else 'FAILED'}: {self._reason}"]
        rows = [
            f"  {bar.figure:<{width}}  {_number(self.measured.figures[bar.figure]):>9}"
            f"  {bar.label:<9} {'pass' if bar not in self.missed else 'MISS'}"
            for bar in self.bars
        ]
        if not self.bars:
            rows = [
                f"  {figure:<{width}}  {_number(value):>9}  reported"
                for figure, value in self.measured.figures.items()
            ]
        notes = [f"    {note}" for note in self.measured.notes]
        return [f"{self.name} ({self.seconds:.1f} s)", *rows, *notes]


def attempt(name: str, bars: tuple[Bar, ...], work: Callable[[], Measured]) -> Outcome:
    """Run a case; data that are missing or an error in it must not lose the other cases."""
    started = time.perf_counter()
    measured, skipped, failure = None, "", ""
    try:
        measured = work()
        without = [bar.figure for bar in bars if bar.figure not in measured.figures]
        if without:
            measured, failure = None, f"no value was measured for {', '.join(without)}"
    except Unavailable as reason:
        skipped = str(reason)
    except Exception as error:
        failure = f"{type(error).__name__}: {' '.join(str(error).split())}"
    return Outcome(name, bars, measured, skipped, failure, time.perf_counter() - started)


def figure_width(bars: Iterable[Bar]) -> int:
    """Return the width that lines up the figures of all these bars."""
    return max((len(bar.figure) for bar in bars), default=0)


def tally(outcomes: Iterable[Outcome]) -> str:
    """Return a line that counts the figures that pass."""
    outcomes = list(outcomes)
    bars = [bar for outcome in outcomes if not outcome.skipped for bar in outcome.bars]
    missed = sum(len(outcome.missed) for outcome in outcomes)
    skipped = sum(bool(outcome.skipped) for outcome in outcomes)
    count = f"{len(bars) - missed} of {len(bars)} figures pass"
    return count + (f"; {skipped} skipped" if skipped else "")


def _number(value: float) -> str:
    return f"{value:.4g}" if abs(value) < 1000 else f"{value:,.0f}"
