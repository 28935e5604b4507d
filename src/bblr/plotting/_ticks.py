"""Labels of a logarithmic axis as plain numbers, however short it is. Needs Matplotlib."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.ticker import Formatter, Locator, LogLocator, MaxNLocator, NullFormatter
from numpy.typing import NDArray

# As many labels tell how an axis runs.
_ENOUGH = 3
_STEPS = ((1.0,), (1.0, 2.0, 5.0), tuple(np.arange(1.0, 10.0)))


class PlainLocator(Locator):
    """Powers of ten where an axis has enough of them, or else finer steps."""

    def __call__(self) -> Any:
        """Return the places of the labels of the axis."""
        low, high = self.axis.get_view_interval()  # type: ignore[union-attr]
        return self.tick_values(low, high)

    def tick_values(self, vmin: float, vmax: float) -> Any:
        """Return the places between two others."""
        low, high = min(vmin, vmax), max(vmin, vmax)
        for steps in _STEPS:
            inside = _between(LogLocator(subs=steps).tick_values(low, high), low, high)
            if len(inside) >= _ENOUGH:
                return inside
        return _between(MaxNLocator(4).tick_values(low, high), low, high)


class PlainFormatter(Formatter):
    """Numbers as people write them."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        """Return the label of a number."""
        return f"{x:,.7g}"


def plain_logarithmic(ax: Any) -> None:
    """Make the lower axis logarithmic, with plain numbers for labels."""
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(PlainLocator())
    ax.xaxis.set_major_formatter(PlainFormatter())
    ax.xaxis.set_minor_formatter(NullFormatter())


def _between(ticks: Any, low: float, high: float) -> NDArray[np.float64]:
    ticks = np.asarray(ticks, dtype=np.float64)
    return ticks[(ticks >= low) & (ticks <= high)]
