"""What the Displays share: axes, scales and styles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bblr.plotting._arguments import Floats, check_axes, check_style, check_text

# Labels of an axis closer to each other than this share of it would overlap.
_APART = 0.1


def axes_and_figure(display: Any, ax: Any, name: Any, given: dict[str, Any]) -> tuple[Any, Any]:
    """Return the axes to draw on, new ones where none are given, and their figure.

    The other arguments of ``plot`` are checked first, so that none leaves an empty figure behind.
    """
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            f"{type(display).__name__}.plot needs Matplotlib, which is not installed; "
            "pip install 'bblr[plot]' brings it."
        ) from error
    check_text("name", name)
    check_style(given)
    check_axes(ax)
    if ax is None:
        # Room for the labels of both sides, also where the figure is saved as it is.
        _, ax = plt.subplots(layout="constrained")
    return ax, ax.figure


def style(defaults: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """Return the style of a line, what the user gives before the defaults, under any alias."""
    return {**defaults, **check_style(given)}


def right_axes(ax: Any) -> Any:
    """Return the axes with a scale of its own on the right, the same for every drawing on ax."""
    right = existing_right_axes(ax)
    if right is None:
        right = ax.twinx()
        right.set_label(f"right of {id(ax)}")
        right.grid(False)
    return right


def existing_right_axes(ax: Any) -> Any:
    """Return the same where something was drawn there, or else None."""
    siblings = ax.get_shared_x_axes().get_siblings(ax)
    return next((one for one in siblings if one.get_label() == f"right of {id(ax)}"), None)


def logarithmic(ax: Any, places: Sequence[float] | Floats) -> None:
    """Make the lower axis logarithmic, with labels at these places and those of before."""
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
    """Leave fractions off the left axis where there are none among the values."""
    from matplotlib.ticker import MaxNLocator

    if np.all(values == np.round(values)):
        ax.yaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10], min_n_ticks=1))


def draw_errors_and_loss(
    ax: Any, x: Floats, errors: Floats, losses: Floats | None, name: str | None, given: Any
) -> tuple[Any, Any, Any]:
    """Draw errors on the left scale and the loss, dashed, on the right one.

    Returns the line of the errors, the axes on the right and the line of the loss, which are None
    where there is no loss.
    """
    look = style({"marker": "o", "linestyle": "-"}, {"label": name, **given})
    (line,) = ax.plot(x, errors, **look)
    right = loss_line = None
    if losses is not None:
        look |= {"linestyle": "--", "marker": "s", "markerfacecolor": "none", "label": None}
        right = right_axes(ax)
        (loss_line,) = right.plot(x, losses, **{**look, "color": line.get_color()})
    return line, right, loss_line


def add_legend(ax: Any) -> None:
    """Put a legend for the lines of the left scale into the emptiest corner of both."""
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
    # The axes on the right are drawn last, over a legend on the left.
    (right or ax).legend(handles=handles, loc=min(crowd, key=lambda corner: crowd[corner]))


def _drawn(ax: Any) -> Floats:
    """Return places along all lines of the axes, as shares of its width and height."""
    ax.autoscale_view()  # Matplotlib puts off what a new line does to the limits.
    found = []
    for line in ax.get_lines():
        points = (line.get_transform() + ax.transAxes.inverted()).transform(line.get_xydata())
        along = np.linspace(0, len(points) - 1, 100)
        found.append([np.interp(along, range(len(points)), column) for column in points.T])
    return np.concatenate(found, axis=1).T


def shown_label(line: Any) -> str:
    """Return the label of a line, nothing where Matplotlib made one up."""
    label = str(line.get_label())
    return "" if label.startswith("_") else label


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
