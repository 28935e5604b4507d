"""Time baselines fairly on a noisy machine: in turns, several times, the best of each."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from research.core.cases import Measured

__all__ = [
    "Timing", "Work", "as_measured", "race", "run_python", "seconds", "series", "show",
    "shown_ratio", "shown_seconds", "slope", "time_series",
]  # fmt: skip

Work = Callable[[], Any]
Points = Mapping[str, Sequence[tuple[int, float]]]


@dataclass
class Timing:
    """The times of one piece of work, and what its last run returned."""

    seconds: list[float] = field(default_factory=list)
    result: Any = None

    @property
    def best(self) -> float:
        """The time least disturbed by others."""
        return min(self.seconds)

    def __truediv__(self, other: Timing) -> float:
        """Compare the best times."""
        return self.best / other.best


def race(works: Mapping[str, Work], repeats: int, *, warm_up: bool = False) -> dict[str, Timing]:
    """Run works in turns, so that a disturbance of the machine hits all of them alike.

    Parameters
    ----------
    works : mapping of str to callable
        What to time.
    repeats : int
        Runs of each.
    warm_up : bool, default=False
        Run each once before, untimed, so that nothing is compiled or loaded on the clock.
    """
    if warm_up:
        for work in works.values():
            work()
    timings = {name: Timing() for name in works}
    for repeat in range(repeats):
        # Every other round runs backwards, so that none always follows the same one.
        for name in works if repeat % 2 == 0 else reversed(list(works)):
            gc.collect()
            started = time.perf_counter()
            timings[name].result = works[name]()
            timings[name].seconds.append(time.perf_counter() - started)
    return timings


def as_measured(
    timings: Mapping[str, Timing], figures: Mapping[str, float], *notes: str, **details: Any
) -> Measured:
    """Return figures with the times that they come from."""
    return Measured(figures, [show(timings), *notes], {**details, "seconds": seconds(timings)})


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


def time_series(fits: Mapping[str, Mapping[int, Work]], repeats: int) -> Points:
    """Time fits by name and size, all in turns, and keep the best of each."""
    runs = {(name, size): run for name, sizes in fits.items() for size, run in sizes.items()}
    timings = race({f"{name} {size}": run for (name, size), run in runs.items()}, repeats)
    found: dict[str, list[tuple[int, float]]] = {name: [] for name in fits}
    for name, size in runs:
        found[name].append((size, timings[f"{name} {size}"].best))
    return found


def slope(points: Sequence[tuple[int, float]]) -> float:
    """Return the slope of log time by log size; NaN for a single size."""
    if len(points) < 2:
        return float("nan")
    sizes, times = np.log(np.array(points, dtype=float)).T
    return float(np.polyfit(sizes, times, 1)[0])


def series(figures: Mapping[str, float], points: Points, axis: str, what: str) -> Measured:
    """Return times by size: ``axis`` is what grows, ``what`` the rest of the shape."""
    width = max(map(len, points))
    notes = [
        f"{name:<{width}}  " + ", ".join(f"{size:,}: {shown_seconds(s)}" for size, s in found)
        for name, found in points.items()
    ]
    rounded = {n: [[size, round(s, 6)] for size, s in found] for n, found in points.items()}
    return Measured(figures, notes, {"series": {"axis": axis, "what": what, "points": rounded}})


def run_python(code: str, *arguments: object, environment: Mapping[str, str] | None = None) -> str:
    """Run code in a fresh process, with variables of its own, and return what it printed."""
    places = os.pathsep.join(path or os.getcwd() for path in sys.path)
    run = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        env={**os.environ, **(environment or {}), "PYTHONPATH": places},
        capture_output=True,
        text=True,
    )
    if run.returncode:
        raise RuntimeError(f"a fresh process failed: {run.stderr.strip()[-500:]}")
    return run.stdout
