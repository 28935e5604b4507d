"""The figure of sparsity: vectors and error as data grow, error by vectors, and the weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.ticker import FuncFormatter, NullFormatter

from bblr.plotting import SparsityDisplay
from research.core.charts import COLOURS, GREY, Chart
from research.studies.sparsity import Growth, Weights

__all__ = ["draw"]

_OWN, _THIRD, _SVC = COLOURS["blue"], COLOURS["green"], COLOURS["vermilion"]
_BINS = 40


def draw(growth: Growth, title: str, path: Path) -> None:
    """Draw the figure and write it as PNG or SVG, by the suffix.

    Parameters
    ----------
    growth : Growth
        What was measured.
    title : str
        Name of the data.
    path : Path
        The file; what was there is replaced.
    """
    with Chart(path, 11.0, 7.0) as figure:
        figure.suptitle(title, x=0.01, ha="left", fontsize=13)
        grid = figure.add_gridspec(2, 6)
        svm, own = ("s-", _SVC, "SVM"), ("o-", _OWN, "sparse KBBLR")
        third = ("^--", _THIRD, "KBBLR, ⅓ of the SVM's vectors")
        _curves(
            figure.add_subplot(grid[0, :2]),
            growth,
            "Support vectors",
            svc_vectors=svm,
            vectors=own,
        )
        _curves(
            figure.add_subplot(grid[0, 2:4]), growth, "Test error, %", svc_error=svm, error=own,
            third_error=third,
        )  # fmt: skip
        _path(figure.add_subplot(grid[0, 4:]), growth)
        for k, weights in enumerate(growth.weights):
            _histogram(figure.add_subplot(grid[1, 3 * k : 3 * k + 3]), weights)


def _curves(axis: Any, growth: Growth, title: str, **looks: tuple[str, str, str]) -> None:
    """Draw fields of the points against the rows: each with its marks, colour and label."""
    n = [point.n for point in growth.points]
    for name, (marks, colour, label) in looks.items():
        values = [getattr(point, name) for point in growth.points]
        axis.plot(n, values, marks, color=colour, label=label)
    axis.set_xscale("log", base=2)
    axis.set_xticks(n)
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axis.xaxis.set_minor_formatter(NullFormatter())
    axis.margins(y=0.3)
    axis.set_ylim(bottom=0)
    axis.set(xlabel="training rows", title=title)
    axis.legend()


def _path(axis: Any, growth: Growth) -> None:
    sizes, errors = zip(*growth.path, strict=True)
    SparsityDisplay(sizes, errors).plot(axis, name="sparse KBBLR", color=_OWN)
    axis.axhline(growth.dense_error, color=GREY, ls=(0, (3, 2)), label="KBBLR, all centres")
    axis.plot(*growth.svc, "s", color=_SVC, label="SVM")
    # The smallest sizes may be hopeless; they must not flatten the rest.
    top = max(*sorted(errors)[: -len(errors) // 3], growth.dense_error, growth.svc[1])
    axis.set_ylim(0.0, 1.3 * top)
    title = f"Test error, %, of {growth.points[-1].n:,} rows"
    axis.set(xlabel="support vectors", ylabel="", title=title)
    axis.legend()


def _histogram(axis: Any, weights: Weights) -> None:
    reach = float(max(np.abs(weights.dense).max(), np.abs(weights.sparse).max()))
    bins = np.linspace(-reach, reach, _BINS + 1)
    kept = len(weights.sparse)
    label = f"before: {len(weights.dense):,} weights"
    axis.hist(weights.dense, bins, color=_OWN, alpha=0.55, label=label)
    axis.hist(weights.sparse, bins, color=_SVC, alpha=0.75, label=f"after: {kept:,}")
    axis.set_yscale("symlog", linthresh=10)
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axis.set(xlabel="weight", title=f"Weights, {weights.label}")
    axis.legend()
