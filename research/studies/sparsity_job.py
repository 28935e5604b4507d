"""``bblr sparsity``: vectors and errors as data grow, error by vectors, and the weights."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.ticker import FuncFormatter, NullFormatter
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from bblr._settings import SettingError
from bblr.comparison.document import terminal_table
from bblr.comparison.session import check_least, say
from bblr.comparison.sources import Table, load_two_classes
from bblr.plotting import SparsityDisplay
from research.core.charts import COLOURS, GREY, chart
from research.core.parts import Parts, divide
from research.core.study import Study
from research.studies.sparsity import GrowthPoint, trec07p_parts

__all__ = ["chosen_sizes", "draw", "points_table", "run_sparsity", "split_table"]

_TEST_SHARE = 1 / 3
_MOST_TEST_ROWS = 10_000
_SMALLEST = 60
# Without --rows: up to so many training rows, and so many sizes.
_LARGEST = 16_000
_MOST_SIZES = 7
RESEARCH = "trec07p"
_OWN, _THIRD, _SVC = COLOURS["blue"], COLOURS["green"], COLOURS["vermilion"]
_BINS = 40
_WHOLE = FuncFormatter(lambda value, _: f"{value:,.0f}")


def load_parts(
    data: str, target: str | None, drop: Sequence[str], seed: int
) -> tuple[Table, Parts]:
    """Load a data set, or TREC07p, and divide it."""
    if data == RESEARCH and target is None:
        try:
            return trec07p_parts(seed)
        except FileNotFoundError as error:
            raise SettingError("data", f"cannot be read: {error}") from error
    table = load_two_classes(data, target, drop)
    return table, split_table(table, seed)


def chosen_sizes(rows: str | None, most: int) -> list[int]:
    """Return the numbers of training rows that are named, or else half as many again and again."""
    if rows is None:
        sizes = [min(most, _LARGEST)]
        while sizes[0] // 2 >= _SMALLEST and len(sizes) < _MOST_SIZES:
            sizes.insert(0, sizes[0] // 2)
        return sizes
    try:
        sizes = sorted({int(text) for text in rows.split(",")})
    except ValueError:
        raise SettingError(
            "rows", f"must be whole numbers with commas between, got {rows!r}"
        ) from None
    if not _SMALLEST <= sizes[0] <= sizes[-1] <= most:
        raise SettingError(
            "rows", f"must lie between {_SMALLEST} and {most}, the training rows of these data"
        )
    return sizes


def split_table(table: Table, seed: int) -> Parts:
    """Shuffle, hold a third out to test on, and standardise by the training part."""
    parts = divide(table, min(_MOST_TEST_ROWS, round(_TEST_SHARE * len(table.y))), seed)
    return parts.scaled(MaxAbsScaler() if table.sparse else StandardScaler())


def run_sparsity(
    data: str,
    target: str | None,
    drop: Sequence[str],
    rows: str | None,
    jobs: int | None,
    seed: int,
    plot: Path,
    records: Path | None,
) -> int:
    """Carry out ``bblr sparsity``; see its help. Returns 1 where a fit failed."""
    check_least(jobs=(jobs, 1), seed=(seed, 0))
    study = Study(records or plot.with_suffix(".jsonl"), jobs, plot)
    table, parts = load_parts(data, target, drop, seed)
    sizes = chosen_sizes(rows, len(parts.y_train))
    for note in table.notes:
        say(study.messages, f"Note: {note}")
    about = {"data": table.name, "fingerprint": table.fingerprint}
    shared: dict[str, Any] = {**about, "parts": parts, "seed": seed}
    # The largest first, which takes longest.
    tasks = [GrowthPoint(n=n, whole=n == sizes[-1], **shared) for n in reversed(sizes)]
    found, status = study.run(tasks)
    if found.empty:
        return status
    n, d = parts.X_train.shape
    say(
        study.console,
        f"{table.name}: {n:,} training rows of {d} features, {len(parts.y_test):,} test rows",
    )
    found = found.sort_values("n")
    study.console.print(terminal_table(points_table(found)))
    if status:  # the panels are about the largest size
        return status
    return study.draw(lambda path: draw(found, f"Sparsity on {table.name}", path))


def points_table(found: pd.DataFrame) -> pd.DataFrame:
    """Lay the points out as texts: vectors and test error of each, a line a size."""
    texts = {"rows": found["n"].map("{:,.0f}".format)}
    for prefix, who in (("svc_", "SVM"), ("", "sparse KBBLR"), ("third_", "a third of SVM")):
        texts[f"{who}\nvectors"] = found[f"{prefix}vectors"].map("{:,.0f}".format)
        texts[f"{who}\nerror %"] = found[f"{prefix}error"].map("{:.2f}".format)
    return pd.DataFrame(texts)


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
