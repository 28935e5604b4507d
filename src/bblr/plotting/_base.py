"""What the Displays share: axes, scales, styles and legends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bblr.plotting._arguments import Floats, check_axes, check_style, check_text

# Least distance of tick labels, as a share of the axis; closer ones would overlap.
_APART = 0.1
# Added to the label of the errors where there is a second scale.
SOLID = " (solid)"


class BaseDisplay:
    """A name for the legend, and the axes and figure of the last drawing."""

    estimator_name: str | None
    ax_: Any
    figure_: Any

    def _begin(self, ax: Any, name: Any, given: dict[str, Any]) -> str | None:
        """Set the axes to draw on, new ones where none are given; return the name to use.

        All arguments of ``plot`` are checked first, so that none leaves an empty figure behind.
        """
        try:
            import matplotlib.pyplot as plt
        except ImportError as error:
            raise ImportError(
                f"{type(self).__name__}.plot needs Matplotlib, which is not installed; "
                "pip install 'bblr[plot]' brings it."
            ) from error
        check_text("name", name)
        check_style(given)
        check_axes(ax)
        if ax is None:
            # The constrained layout leaves room for the labels of both sides.
            _, ax = plt.subplots(layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
        return self.estimator_name if name is None else name


class ErrorCurve(BaseDisplay):
    """Errors on the left scale and a loss, dashed, on the right one, along a logarithmic axis."""

    subset: str | None

    def _draw(
        self, x: Floats, errors: Floats, losses: Floats | None, name: str | None, given: Any
    ) -> None:
        look = style({"marker": "o", "linestyle": "-"}, {"label": name, **given})
        (self.line_,) = self.ax_.plot(x, errors, **look)
        self.loss_ax_ = self.loss_line_ = None
        if losses is not None:
            look |= {"linestyle": "--", "marker": "s", "markerfacecolor": "none", "label": None}
            look["color"] = self.line_.get_color()
            self.loss_ax_ = right_axes(self.ax_)
            (self.loss_line_,) = self.loss_ax_.plot(x, losses, **look)

    def _label(self, x: str, errors: str, loss: str) -> None:
        """Label the scales, and say which line belongs to which where there are two."""
        right = existing_right_axes(self.ax_)
        self.ax_.set(xlabel=x, ylabel=errors if right is None else errors + SOLID)
        if right is not None:
            right.set_ylabel(f"{loss} (dashed)")
        add_legend(self.ax_)


def style(defaults: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """Return the style of a line: defaults, overridden by what the user gives."""
    return {**defaults, **check_style(given)}


def right_axes(ax: Any) -> Any:
    """Return the twin axes on the right, shared by all drawings on ax."""
    right = existing_right_axes(ax)
    if right is None:
        right = ax.twinx()
        right.set_label(f"right of {id(ax)}")
        right.grid(False)
    return right


def existing_right_axes(ax: Any) -> Any:
    """Return the twin axes on the right if there are any, or else None."""
    siblings = ax.get_shared_x_axes().get_siblings(ax)
    return next((one for one in siblings if one.get_label() == f"right of {id(ax)}"), None)


def logarithmic(ax: Any, places: Sequence[float] | Floats) -> None:
    """Make the x axis logarithmic, with ticks at these places and at earlier ones."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    before = ax.xaxis.get_major_locator()
    old = before() if isinstance(before, FixedLocator) else ()
    every = sorted({*map(float, places), *map(float, old)})
    apart = (every[-1] / every[0]) ** _APART if every else 1.0
    ticks: list[float] = []
    for place in every:
        if not ticks or place >= apart * ticks[-1]:
            ticks.append(place)
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(FixedLocator(ticks))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: _short(value)))
    ax.xaxis.set_minor_locator(NullLocator())


def whole_numbers(ax: Any, values: Floats) -> None:
    """Use integer ticks on the y axis if all values are integers."""
    from matplotlib.ticker import MaxNLocator

    if np.all(values == np.round(values)):
        ax.yaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10], min_n_ticks=1))


def add_legend(ax: Any) -> None:
    """Put a legend for the lines of the left axes into the emptiest corner of both axes."""
    handles = [line for line in ax.get_lines() if shown_label(line)]
    if not handles:
        return
    right = existing_right_axes(ax)
    x, y = np.concatenate([_drawn(one) for one in (ax, right) if one is not None]).T
    crowd = {
        "upper right": np.sum((x > 0.5) & (y > 0.7)),
        "upper left": np.sum((x < 0.5) & (y > 0.7)),
        "lower left": np.sum((x < 0.5) & (y < 0.3)),
        "lower right": np.sum((x > 0.5) & (y < 0.3)),
    }
    # The right axes are drawn last, over a legend of the left axes.
    (right or ax).legend(handles=handles, loc=min(crowd, key=lambda corner: crowd[corner]))


def _drawn(ax: Any) -> Floats:
    """Return points along all lines, in axes coordinates."""
    ax.autoscale_view()  # Matplotlib updates the limits lazily.
    found = []
    for line in ax.get_lines():
        points = (line.get_transform() + ax.transAxes.inverted()).transform(line.get_xydata())
        along = np.linspace(0, len(points) - 1, 100)
        found.append([np.interp(along, range(len(points)), column) for column in points.T])
    return np.concatenate(found, axis=1).T


def shown_label(line: Any) -> str:
    """Return the label of a line, or an empty string if Matplotlib chose it."""
    label = str(line.get_label())
    return "" if label.startswith("_") else label


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
