"""Time rivals fairly on a noisy machine: in turns, several times, the best of each."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Timing", "race", "seconds", "show", "shown_ratio", "shown_seconds"]


@dataclass
class Timing:
    """The times of one rival, and what its last run returned."""

    seconds: list[float] = field(default_factory=list)
    result: Any = None

    @property
    def best(self) -> float:
        """The time least disturbed by others."""
        return min(self.seconds)


def race(
    rivals: Mapping[str, Callable[[], Any]], repeats: int, *, warm_up: bool = False
) -> dict[str, Timing]:
    """Run the rivals in turns, so that a disturbance of the machine hits all of them alike.

    Parameters
    ----------
    rivals : mapping of str to callable
        What to time.
    repeats : int
        Runs of each.
    warm_up : bool, default=False
        Run each once before, untimed, so that nothing is compiled or loaded on the clock.

    Returns
    -------
    dict of str to Timing
        The times by name.
    """
    if warm_up:
        for run in rivals.values():
            run()
    timings = {name: Timing() for name in rivals}
    names = list(rivals)
    for repeat in range(repeats):
        # Every other round runs backwards: nobody always follows the same rival.
        for name in names if repeat % 2 == 0 else reversed(names):
            gc.collect()
            started = time.perf_counter()
            timings[name].result = rivals[name]()
            timings[name].seconds.append(time.perf_counter() - started)
    return timings


def show(timings: Mapping[str, Timing]) -> str:
    """Return the best times in one line."""
    return ", ".join(f"{name} {shown_seconds(timing.best)}" for name, timing in timings.items())


def seconds(timings: Mapping[str, Timing]) -> dict[str, list[float]]:
    """Return all times, for the record."""
    return {name: [round(s, 6) for s in timing.seconds] for name, timing in timings.items()}


def shown_ratio(value: float) -> str:
    """Return a ratio as text, with two digits where it is small."""
    return f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"


def shown_seconds(value: float) -> str:
    """Return a time as text: ``12.3 ms`` or ``1.23 s``."""
    return f"{value:.2f} s" if value >= 1 else f"{1000 * value:.3g} ms"
