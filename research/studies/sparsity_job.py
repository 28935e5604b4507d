"""``bblr sparsity`` from end to end: check the settings, measure, show, draw, write."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from bblr._settings import SettingError
from bblr.comparison.document import terminal_table
from bblr.comparison.session import check_least, say
from bblr.comparison.sources import Table, load_two_classes
from research.core.study import Study
from research.studies.sparsity import GrowthPoint, Parts, trec07p_parts
from research.studies.sparsity_plot import draw

__all__ = ["chosen_sizes", "points_table", "run_sparsity", "split_table"]

_TEST_SHARE = 1 / 3
_MOST_TEST_ROWS = 10_000
_SMALLEST = 60
# Without --rows: up to so many training rows, and so many sizes.
_LARGEST = 16_000
_MOST_SIZES = 7
RESEARCH = "trec07p"


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
    from sklearn.model_selection import train_test_split
    from sklearn.preprocessing import MaxAbsScaler, StandardScaler

    count = min(_MOST_TEST_ROWS, round(_TEST_SHARE * len(table.y)))
    X, X_test, y, y_test = train_test_split(
        table.X, table.y, test_size=count, stratify=table.y, random_state=seed
    )
    scaler = (MaxAbsScaler() if table.sparse else StandardScaler()).fit(X)
    return Parts(scaler.transform(X), y, scaler.transform(X_test), y_test)


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
