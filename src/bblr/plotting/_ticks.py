"""Plain tick labels on a logarithmic axis, however short. Needs Matplotlib."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.ticker import Formatter, Locator, LogLocator, MaxNLocator, NullFormatter
from numpy.typing import NDArray

# Least number of tick labels.
_ENOUGH = 3
_STEPS = ((1.0,), (1.0, 2.0, 5.0), tuple(np.arange(1.0, 10.0)))


class PlainLocator(Locator):
    """Ticks at powers of ten, or at finer steps where there are too few."""

    def __call__(self) -> Any:
        """Return the ticks of the axis."""
        low, high = self.axis.get_view_interval()  # type: ignore[union-attr]
        return self.tick_values(low, high)

    def tick_values(self, vmin: float, vmax: float) -> Any:
        """Return the ticks in an interval."""
        low, high = min(vmin, vmax), max(vmin, vmax)
        for steps in _STEPS:
            inside = _between(LogLocator(subs=steps).tick_values(low, high), low, high)
            if len(inside) >= _ENOUGH:
                return inside
        return _between(MaxNLocator(4).tick_values(low, high), low, high)


class PlainFormatter(Formatter):
    """Plain decimal numbers."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        """Return the label of a tick."""
        return f"{x:,.7g}"


def plain_logarithmic(ax: Any) -> None:
    """Make the x axis logarithmic, with plain numbers as tick labels."""
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(PlainLocator())
    ax.xaxis.set_major_formatter(PlainFormatter())
    ax.xaxis.set_minor_formatter(NullFormatter())


def _between(ticks: Any, low: float, high: float) -> NDArray[np.float64]:
    ticks = np.asarray(ticks, dtype=np.float64)
    return ticks[(ticks >= low) & (ticks <= high)]
