"""What a zero-one solver did, and the plot of several of them: losses and bounds over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, NullFormatter

from bblr.plotting.certificate import EARLIEST, CertificateDisplay
from bblr.solvers.zero_one import Moment
from research.core.charts import COLOURS, GREY, Chart

__all__ = ["Run", "draw"]

_SOLVERS = ("search", "sla", "csa", "pcs", "bnb", "mip", "exact")
_COLOURS = dict(zip(_SOLVERS, COLOURS.values(), strict=True))
_DASHES = (0, (3, 2))


@dataclass(frozen=True)
class Run:
    """One solver on one data set.

    Parameters
    ----------
    solver : str
        Its name.
    seconds : float
        How long the fit took.
    loss, lower_bound, gap : float
        Training errors, the proved bound on them, and their relative distance.
    optimal : bool
        Whether the loss is proved to be the least.
    reason : str
        Why the solver stopped.
    trace : tuple of Moment
        Seconds, loss and bound at every improvement.
    warnings : tuple of str
        What it warned of.
    failure : str
        The error that stopped it; then the other results mean nothing.
    """

    solver: str
    seconds: float
    loss: float = np.inf
    lower_bound: float = 0.0
    gap: float = 1.0
    optimal: bool = False
    reason: str = ""
    trace: tuple[Moment, ...] = ()
    warnings: tuple[str, ...] = ()
    failure: str = ""

    @property
    def curve(self) -> Any:
        """Seconds, loss and bound as columns, up to the end of the run."""
        last = self.trace[-1].seconds if self.trace else 0.0
        end = Moment(max(self.seconds, last), self.loss, self.lower_bound)
        curve = np.array([*self.trace, end], dtype=np.float64)
        curve[:, 0] = np.maximum(curve[:, 0], EARLIEST)
        return curve

    @property
    def proved(self) -> Any:
        """The rows of the curve from the first bound above zero, which needs no proof."""
        curve = self.curve
        return curve[curve[:, 2] > 0]

    def found(self, value: float) -> float | None:
        """Return a result; None where the solver failed."""
        return None if self.failure else value

    def as_record(self) -> dict[str, Any]:
        """Return what a file keeps of it."""
        if self.failure:
            return {"solver": self.solver, "seconds": self.seconds, "failure": self.failure}
        return {**asdict(self), "trace": [moment._asdict() for moment in self.trace]}


def draw(runs: Sequence[Run], title: str, path: Path) -> None:
    """Draw incumbents and bounds over time and write them as PNG or SVG, by the suffix.

    Parameters
    ----------
    runs : sequence of Run
        At least one, none of them failed.
    title : str
        Name of the data.
    path : Path
        The file; what was there is replaced.
    """
    with Chart(path, 8.4, 4.6) as figure:
        axes = figure.add_subplot()
        for place, run in enumerate(runs):
            _add(axes, run, place, len(runs))
        _scale(axes, runs)
        # A name with dollar signs in it is no formula.
        axes.set_title(title, parse_math=False)
        axes.set_xlabel("seconds (log scale)")
        axes.set_ylabel("zero-one loss (training errors)")
        figure.legend(handles=_legend(runs), loc="outside right upper", handlelength=2.6)


def _add(axes: Any, run: Run, place: int, count: int) -> None:
    # The later the thinner and the higher: where curves lie on each other, all can be seen.
    look: Any = {"color": _COLOURS[run.solver], "lw": 1.5 + 0.5 * (count - 1 - place)}
    display = CertificateDisplay(*run.curve.T, optimal=run.optimal)
    display.plot(axes, zorder=3 + place, bound_kwargs={"lw": 1.5, "ls": _DASHES}, **look)


def _scale(axes: Any, runs: Sequence[Run]) -> None:
    curves = [run.curve for run in runs]
    first = min(curve[0, 0] for curve in curves)
    last = max(curve[-1, 0] for curve in curves)
    # Ten times at least, or there would be no power of ten to label.
    axes.set_xlim(min(first, last / 10) / 1.15, 1.25 * last)
    axes.xaxis.set_minor_formatter(NullFormatter())
    low = min(value for run in runs for value in (run.loss, *run.proved[:, 2]))
    high = max(curve[:, 1].max() for curve in curves)
    high = max(high, low + 1.0)
    margin = 0.06 * (high - low)
    axes.set_ylim(low - margin, high + margin)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))


def _legend(runs: Sequence[Run]) -> list[Line2D]:
    handles = []
    for run in runs:
        bound = f", bound {run.lower_bound:.0f}" if run.lower_bound > 0 else ""
        label = f"{run.solver}: loss {run.loss:.0f}{bound}"
        handles.append(Line2D([], [], color=_COLOURS[run.solver], lw=3, label=label))
    grey: dict[str, Any] = {"color": GREY, "lw": 1.5}
    handles.append(Line2D([], [], ls="none", label=""))
    handles.append(Line2D([], [], label="loss", **grey))
    if any(len(run.proved) for run in runs):
        handles.append(Line2D([], [], ls=_DASHES, label="lower bound", **grey))
    dot: dict[str, Any] = {"marker": "o", "ls": "none", "mec": GREY, "mew": 1.5}
    if not all(run.optimal for run in runs):
        handles.append(Line2D([], [], mfc="white", label="end, not proved optimal", **dot))
    if any(run.optimal for run in runs):
        handles.append(Line2D([], [], mfc=GREY, label="end, proved optimal", **dot))
    return handles
