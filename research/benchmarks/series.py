"""Series: a time for each size, and how it grows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from research.benchmarks.timing import race, shown_seconds

__all__ = ["Points", "as_record", "notes", "slope", "time_series"]

Points = Mapping[str, Sequence[tuple[int, float]]]


def time_series(
    fits: Mapping[str, Mapping[int, Callable[[], Any]]], repeats: int, *, warm_up: bool = False
) -> Points:
    """Time fits by name and size, all in turns, and keep the best of each."""
    runs = {(name, size): run for name, sizes in fits.items() for size, run in sizes.items()}
    timings = race(
        {f"{name} {size}": run for (name, size), run in runs.items()}, repeats, warm_up=warm_up
    )
    found: dict[str, list[tuple[int, float]]] = {name: [] for name in fits}
    for name, size in runs:
        found[name].append((size, timings[f"{name} {size}"].best))
    return found


def slope(points: Sequence[tuple[int, float]]) -> float:
    """Return the slope of log time by log size; NaN for a single size."""
    if len(points) < 2:
        return float("nan")
    sizes, seconds = np.log(np.array(points, dtype=float)).T
    return float(np.polyfit(sizes, seconds, 1)[0])


def as_record(axis: str, what: str, points: Points) -> dict[str, Any]:
    """Return a series as JSON values: ``axis`` is what grows, ``what`` the rest of the shape."""
    rounded = {n: [[size, round(s, 6)] for size, s in found] for n, found in points.items()}
    return {"axis": axis, "what": what, "points": rounded}


def notes(points: Points) -> list[str]:
    """Return a line for each name: sizes with their times."""
    width = max(map(len, points))
    return [
        f"{name:<{width}}  " + ", ".join(f"{size:,}: {shown_seconds(s)}" for size, s in found)
        for name, found in points.items()
    ]
