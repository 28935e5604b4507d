"""The figure of sparsity: vectors and error as data grow, error by vectors, and the weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.ticker import FuncFormatter, NullFormatter

from bblr.plotting import SparsityDisplay
from research.core.charts import COLOURS, GREY, chart

__all__ = ["draw"]

_OWN, _THIRD, _SVC = COLOURS["blue"], COLOURS["green"], COLOURS["vermilion"]
_BINS = 40
_WHOLE = FuncFormatter(lambda value, _: f"{value:,.0f}")


def draw(found: pd.DataFrame, title: str, path: Path) -> None:
    """Draw the figure and write it as PNG or SVG, by the suffix.

    Parameters
    ----------
    found : DataFrame
        Records of growth points by size; the last is a whole one.
    title : str
        Name of the data.
    path : Path
        The file; what was there is replaced.
    """
    with chart(path, 11.0, 7.0) as figure:
        figure.suptitle(title, x=0.01, ha="left", fontsize=13)
        grid = figure.add_gridspec(2, 6)
        svm, own = ("s-", _SVC, "SVM"), ("o-", _OWN, "sparse KBBLR")
        third = ("^--", _THIRD, "KBBLR, ⅓ of the SVM's vectors")
        vectors, errors = (figure.add_subplot(grid[0, place]) for place in (np.s_[:2], np.s_[2:4]))
        _curves(vectors, found, "Support vectors", svc_vectors=svm, vectors=own)
        _curves(errors, found, "Test error, %", svc_error=svm, error=own, third_error=third)
        last = found.iloc[-1]
        _path(figure.add_subplot(grid[0, 4:]), last)
        for k, (label, weights) in enumerate(last["weights"].items()):
            _histogram(figure.add_subplot(grid[1, 3 * k : 3 * k + 3]), label, weights)


def _curves(axis: Any, found: pd.DataFrame, title: str, **looks: tuple[str, str, str]) -> None:
    """Draw columns against the rows: each with its marks, colour and label."""
    for name, (marks, colour, label) in looks.items():
        axis.plot(found["n"], found[name], marks, color=colour, label=label)
    axis.set_xscale("log", base=2)
    axis.set_xticks(found["n"])
    axis.xaxis.set_major_formatter(_WHOLE)
    axis.xaxis.set_minor_formatter(NullFormatter())
    axis.margins(y=0.3)
    axis.set_ylim(bottom=0)
    axis.set(xlabel="training rows", title=title)
    axis.legend()


def _path(axis: Any, last: Any) -> None:
    sizes, errors = zip(*last["path"], strict=True)
    SparsityDisplay(sizes, errors).plot(axis, name="sparse KBBLR", color=_OWN)
    axis.axhline(last["dense_error"], color=GREY, ls=(0, (3, 2)), label="KBBLR, all centres")
    axis.plot(last["svc_vectors"], last["svc_error"], "s", color=_SVC, label="SVM")
    # The smallest sizes may be hopeless; they must not flatten the rest.
    top = max(*sorted(errors)[: -len(errors) // 3], last["dense_error"], last["svc_error"])
    axis.set_ylim(0.0, 1.3 * top)
    axis.set(xlabel="support vectors", ylabel="", title=f"Test error, %, of {last['n']:,} rows")
    axis.legend()


def _histogram(axis: Any, label: str, weights: dict[str, list[float]]) -> None:
    before, after = (np.array(weights[name]) for name in ("before", "after"))
    reach = float(max(np.abs(before).max(), np.abs(after).max()))
    bins = np.linspace(-reach, reach, _BINS + 1)
    shown = f"before: {len(before):,} weights"
    axis.hist(before, bins, color=_OWN, alpha=0.55, label=shown)
    axis.hist(after, bins, color=_SVC, alpha=0.75, label=f"after: {len(after):,}")
    axis.set_yscale("symlog", linthresh=10)
    axis.yaxis.set_major_formatter(_WHOLE)
    axis.set(xlabel="weight", title=f"Weights, {label}")
    axis.legend()
